"""Notes beside a board as text: about a cell, about its groups, the list of turns, a match in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tabuleiro.notation.record import RecordTurn
from tabuleiro.rules import State
from tabuleiro.rules.view import BoardView, Mark, Note
from tabuleiro_client.models.records import Match
from tabuleiro_client.text.board import scores_text
from tabuleiro_client.text.sentences import reach_lines


def notes_of_cell(view: BoardView, cell: int) -> list[Note]:
    """Return the notes about one cell: first those that forbid or require it, then those it is part of."""
    about = [note for note in view.notes if note.target == cell]
    return about + [note for note in view.notes if note.target != cell and cell in note.cells]


def cell_note(view: BoardView, cell: int) -> str:
    """Return a cell in a few words: its name, its piece, its colour, and the first note about it."""
    there = view.cells[cell]
    words = [there.name]
    if there.piece != ".":
        asleep = " asleep" if Mark.ASLEEP in there.marks else ""
        words.append(view.piece_names.get(there.piece, there.piece) + asleep)
    elif Mark.FORBIDDEN in there.marks:
        words.append("forbidden (F3: why)" if notes_of_cell(view, cell) else "forbidden")
    if there.ground:
        words.append(there.ground)
    groups = [note for note in notes_of_cell(view, cell) if note.target is None and note.kind != "ban"]
    if groups:
        words.append(groups[0].text)
    return ", ".join(words)


def facts(state: State, view: BoardView, sides: tuple[str, str]) -> str:
    """Return the facts beside the board: group scores, the cells reached, or the compass; empty for none."""
    if view.scores is None:
        return "\n".join(reach_lines(state)) or compass(view, sides)
    width = max(map(len, sides))
    return "\n".join(
        f"{side:<{width}}  groups {scores_text(scores)}" for side, scores in zip(sides, view.scores, strict=True)
    )


def compass(view: BoardView, sides: tuple[str, str]) -> str:
    """Return a compass of three lines with the goals of both sides; empty where edges mean something else."""
    aims = {edge.side: sides[edge.owner] for edge in view.edges}
    if aims.keys() != {"top", "bottom"} or aims["top"] == aims["bottom"]:
        return ""
    return f"  N    {aims['top']} goes up, to win there\nW + E\n  S    {aims['bottom']} goes down, to win there"


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A line of the list; ``is_shown`` marks the turn whose position is on the board."""

    text: str
    ply: int
    is_shown: bool


def move_rows(
    turns: Sequence[RecordTurn],
    glyphs: tuple[str, str],
    ply: int,
    width: int,
    marks: Mapping[int, str] = MappingProxyType({}),
) -> list[MoveRow]:
    """Return one line a turn, wrapped at ``width`` columns; ``ply`` is the position on the board.

    ``marks`` are signs behind turns, by their numbers.
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
        mark = marks.get(turn.number)
        for action in (*turn.actions, mark) if mark else turn.actions:
            if len(line) + len(action) > width and line.strip():
                rows.append(MoveRow(line.rstrip(), end, is_shown))
                line = " " * len(indent)
            line += f"{action} "
        rows.append(MoveRow(line.rstrip(), end, is_shown))
    return rows


def match_text(number: int, match: Match | None) -> str:
    """Return a match of a room or file in a line; ``match`` is ``None`` when no more than its number is known."""
    if match is None:
        return f"match {number}"
    first, second = (player.name for player in match.record.players)
    return f"match {number}: {first} {match.record.result} {second}, {match.record.termination}"
