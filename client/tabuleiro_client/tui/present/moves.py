"""The list of turns beside the board, and a match in a list of matches, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabuleiro_client.models.room_matches import RoomMatch
from tabuleiro_client.tui.timeline import TurnLine


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A line of the list; ``is_shown`` marks the turn whose position is on the board."""

    text: str
    ply: int
    is_shown: bool


def move_rows(turns: Sequence[TurnLine], glyphs: tuple[str, str], ply: int, width: int) -> list[MoveRow]:
    """One line a turn, wrapped at ``width`` columns; ``ply`` is the position on the board.

    A game whose pieces belong to nobody has empty glyphs: then the sides are told by where the number stands.
    """
    rows: list[MoveRow] = []
    digits = len(str(turns[-1].number)) if turns else 1
    for turn in turns:
        end = turn.ply + len(turn.actions)
        is_shown = turn.ply < ply <= end
        glyph = glyphs[turn.player] or ("^" if turn.player == 0 else "v")
        indent = f"{turn.number:>{digits}} {glyph} "
        line = indent
        for action in turn.actions:
            if len(line) + len(action) > width and line.strip():
                rows.append(MoveRow(line.rstrip(), end, is_shown))
                line = " " * len(indent)
            line += f"{action} "
        rows.append(MoveRow(line.rstrip(), end, is_shown))
    return rows


def match_text(number: int, match: RoomMatch | None) -> str:
    """A match of a room in a line; ``match`` is ``None`` when no more than its number is known."""
    if match is None:
        return f"match {number}"
    first, second = (player.name for player in match.record.players)
    return f"match {number}: {first} {match.record.result} {second}, {match.record.termination}"
