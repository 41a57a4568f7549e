"""The rules of the games as pages: text with diagrams, laid out for a number of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Final, TypeVar

from tabuleiro.rules import Game, registry
from tabuleiro.rules.page import diagrams_in, parts_of, words_of
from tabuleiro.rules.view import BoardView
from tabuleiro_client.text.board import TextStyle, board_lines, legend

PAGE_COLUMNS: Final = 78
"""What the rules of the games are written for, and the narrowest usual terminal holds."""

Drawn = TypeVar("Drawn")

DrawnBoard = Sequence[tuple[Drawn, int]]
"""The rows of a board with the columns that each takes."""

_GAP: Final = 3
_CAPTION_MIN_COLUMNS: Final = 20
_INDENT: Final = "    "


def aim_of(game: type[Game]) -> str:
    """Return the aim of a game in a sentence: the first one of its rules.

    >>> aim_of(registry.game_type("virus-wars"))
    'Leave the other player without a move.'
    """
    _, _, aim, *_ = parts_of(game.rules_page)
    return f"{re.split('[.:]', aim.text)[0]}."


def pieces_line(game: Game | type[Game], style: TextStyle) -> str:
    """Return the pieces of a game as they are drawn, and their names."""
    loaded = registry.load(game.name) if isinstance(game, type) else game
    return f"Pieces: {legend(loaded.initial_state().view(), style)}"


def page_lines(game: Game | type[Game], style: TextStyle) -> Sequence[str]:
    """Return the rules of a game as lines, with diagrams and pieces as they are drawn, or in words alone."""
    if style.is_spoken:
        return words_of(game.rules_page, game.diagrams).splitlines()
    lines: list[str] = []
    for line in game.rules_page.rstrip().splitlines():
        names = diagrams_in(line)
        if not names:
            lines.append(line)
        for name in names:
            boards = [_drawn(stage.view, style) for stage in game.stages(name)]
            rows = beside(boards, game.diagrams[name].caption, PAGE_COLUMNS - len(_INDENT))
            lines += [*(f"{_INDENT}{''.join(row)}".rstrip() for row in rows), ""]
        if names:
            lines.pop()
    return [*lines, "", *wrap(pieces_line(game, style), PAGE_COLUMNS)]


def _drawn(view: BoardView, style: TextStyle) -> DrawnBoard[str]:
    plain = TextStyle(color=False, ascii=style.ascii)
    rows, bare = (board_lines(view, each, show_legal=True, show_forbidden=True) for each in (style, plain))
    return [(row, len(characters)) for row, characters in zip(rows, bare, strict=True)]


def beside(boards: Sequence[DrawnBoard[Drawn]], caption: str, width: int) -> list[list[Drawn | str]]:
    """Lay out the boards of a diagram and its caption in ``width`` columns, as rows of things to be joined.

    What fits stands side by side, the caption at the right; other things stand below each other. Boards that do
    not fit at all are left out.

    >>> for row in beside([[("# .", 3), ("#", 1)]], "a picture of two rows", 30): print("".join(row) + "|")
    # .   a picture of two rows|
    #     |
    """
    widths = [max(columns for _, columns in board) for board in boards]
    left = width - sum(columns + _GAP for columns in widths)
    is_beside = left >= _CAPTION_MIN_COLUMNS
    told = wrap(caption, left if is_beside else width)
    rows: list[list[Drawn | str]] = []
    if left + _GAP < 0:
        fitting = [board for board, columns in zip(boards, widths, strict=True) if columns <= width]
        rows += [[drawn] for board in fitting for drawn, _ in board]
    else:
        for y in range(max(len(told) if is_beside else 0, *map(len, boards))):
            rows.append([])
            for board, columns in zip(boards, widths, strict=True):
                drawn, length = board[y] if y < len(board) else ("", 0)
                rows[-1] += [drawn, " " * (columns - length + _GAP)]
    if not is_beside:
        rows += [[] for _ in told]
    for row, line in zip(rows if is_beside else rows[-len(told) :], told, strict=False):
        row.append(line)
    return rows
