"""Cells by the names that the reports of the games gave them, for people who know those.

The rules, records and messages have names of their own. With the coordinates of the reports, a typed line is
turned into these before anything reads it, and texts and pictures are turned back before they are shown; nothing
else knows of it. Source: RULES.md, "Words".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.notation.record import RecordTurn
from tabuleiro.rules import Game
from tabuleiro.rules.board import missing, parse_row_and_column
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro.rules.view import BoardView, CellView

_OWN_NAME: Final = re.compile(r"(?<![A-Za-z0-9])[a-z]{1,2}[1-9][0-9]?(?![A-Za-z0-9])")
_OWN_SQUARE: Final = re.compile(r"(?<![A-Za-wyz0-9])[a-f][1-6](?![0-9A-Za-wyz])")
"""The same in Xero-G, where an ``x`` may stand between two cells."""
_TYPED_NAME: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{1,2})\s*([0-9]{1,3})(?![A-Za-z0-9])")
_TYPED_SQUARE: Final = re.compile(r"(?<![A-WYZa-wyz])([A-Wa-wYZyz])\s*([0-9]{1,3})(?![0-9])")
_TYPED_NUMBERS: Final = re.compile(
    r"\([^()]*\)|\[[^\[\]]*\]|(?<![\w-])[0-9]{1,3}\s*[-,]\s*[0-9]{1,3}(?![\w-])", re.ASCII
)
_CAPITAL: Final = re.compile(r"(?<![A-Za-z0-9])([A-Z]{1,2})\s*([0-9]{1,3})(?![0-9])")
_ROW: Final = re.compile(r"\brow ([1-6])\b")


@dataclass(frozen=True, slots=True)
class _Names:
    """Our names of a board's cells by those of the report, a letter and a number.

    ``letters`` says what a letter names, ``numbers`` what a number does: ``row`` or ``column``.
    """

    letters: str
    numbers: str
    own: dict[tuple[str, int], str]

    def find(self, letter: str, number: int, typed: str) -> str:
        """Return our name of a cell. Raises: NotationError with what is missing."""
        name = self.own.get((letter, number))
        if name is not None:
            return name
        known = list(dict.fromkeys(each for each, _ in self.own))
        expected = f"a cell such as {known[0]}{next(iter(self.own))[1]}"
        if letter not in known:
            raise NotationError(typed, expected, missing(self.letters, letter, known))
        there = sorted(each for of, each in self.own if of == letter)
        all_numbers = sorted({each for _, each in self.own})
        if there == all_numbers:
            raise NotationError(typed, expected, missing(self.numbers, number, there))
        fault = f"{self.letters} {letter} has {self.numbers}s {there[0]} to {there[-1]}, not {number}"
        raise NotationError(typed, expected, fault)


class Coordinates:
    """The names of the cells of ``game`` where a person types and sees them.

    Without ``is_report`` they are those of the rules, and everything is left as it is.
    """

    def __init__(self, game: Game, *, is_report: bool) -> None:
        self.is_report = is_report
        self._is_numbered = game.name == Minefield.name
        self._is_ships = game.name == XeroG.name
        self._is_hex = game.name == Iris.name
        self._view = game.initial_state().view()
        self._names = self._read_names()
        self._shown = {own: f"{letter}{number}" for (letter, number), own in self._names.own.items()}
        if self._is_numbered:
            self._shown = {own: f"{own_row}-{column}" for own, own_row, column in self._numbered()}
        self._last: tuple[BoardView, BoardView] | None = None

    def _read_names(self) -> _Names:
        rows: dict[int, list[CellView]] = {}
        for cell in self._view.cells:
            rows.setdefault(cell.y, []).append(cell)
        longest = max(map(len, rows.values()))
        own: dict[tuple[str, int], str] = {}
        for y, row in sorted(rows.items()):
            for place, cell in enumerate(sorted(row, key=lambda each: each.x)):
                letter = cell.name.rstrip("0123456789").upper()
                number = place + 1 + (longest - len(row) + 1) // 2 if self._is_hex else y + self._is_ships
                own[letter, number] = cell.name
        return _Names("row", "column", own) if self._is_hex else _Names("column", "row", own)

    def _numbered(self) -> list[tuple[str, str, int]]:
        columns = [label for _, label in self._view.column_labels]
        found = []
        for cell in self._view.cells:
            letters = cell.name.rstrip("0123456789")
            found.append((cell.name, cell.name[len(letters) :], columns.index(letters) + 1))
        return found

    @property
    def explanation(self) -> str:
        """How cells are named, in a sentence; empty with our own names."""
        if not self.is_report:
            return ""
        if self._is_numbered:
            return "cells as in the report: row-column, both counted from the bottom left, e.g. 3-4"
        letters = list(dict.fromkeys(letter for letter, _ in self._names.own))
        numbers = sorted({number for _, number in self._names.own})
        span = f"{self._names.letters}s {letters[0]} to {letters[-1]}, {self._names.numbers}s"
        how = "with the rows in the middle of them" if self._is_hex else "from the top"
        return f"cells as in the report: {span} {numbers[0]} to {numbers[-1]} {how}"

    def shown(self, text: str) -> str:
        """Return a text with our names of cells turned into those that are shown."""
        if not self.is_report:
            return text
        pattern = _OWN_SQUARE if self._is_ships else _OWN_NAME
        named = pattern.sub(lambda found: self._shown.get(found[0], found[0]), text)
        return _ROW.sub(lambda found: f"row {7 - int(found[1])}", named) if self._is_ships else named

    def typed(self, text: str) -> str:
        """Return a typed line with the names of cells turned into ours.

        Raises: NotationError for the name of a cell that is not there.
        """
        if not self.is_report or self._is_numbered:
            return text
        text = _TYPED_NUMBERS.sub(self._own_of_numbers, text)
        pattern = _TYPED_SQUARE if self._is_ships else _TYPED_NAME
        return pattern.sub(lambda found: self._names.find(found[1].upper(), int(found[2]), found[0]), text)

    def _own_of_numbers(self, found: re.Match[str]) -> str:
        numbers = parse_row_and_column(found[0])
        if numbers is None:
            return found[0]
        letters = list(dict.fromkeys(letter for letter, _ in self._names.own))
        kind, (row, column) = self._names.letters, numbers
        place, number = (row, column) if self._is_hex else (column, row)
        if not 1 <= place <= len(letters):
            raise NotationError(found[0], "a row and a column", missing(kind, place, range(1, len(letters) + 1)))
        return f"{letters[place - 1]}{number}"

    def remark(self, text: str) -> str:
        """Return a word on a typed cell that is another one in the report, if it is written as there."""
        if self.is_report or self._is_numbered:
            return ""
        for found in _CAPITAL.finditer(text):
            meant, name = self._names.own.get((found[1], int(found[2]))), f"{found[1]}{found[2]}"
            if meant is not None and meant != name.lower():
                return (
                    f"{name} is read as {name.lower()}. In the game's report {name} is {meant}: "
                    "the option --coordinates report, or the setting, names cells as there"
                )
        return ""

    def picture(self, view: BoardView) -> BoardView:
        """Return a picture with the names that are shown."""
        if not self.is_report:
            return view
        if self._last is None or self._last[0] is not view:
            self._last = (view, self._renamed(view))
        return self._last[1]

    def _renamed(self, view: BoardView) -> BoardView:
        first = {cell.y: self._shown[cell.name] for cell in reversed(view.cells)}
        rows = {y: name[1:] if self._is_ships or not self._is_hex else name for y, name in first.items()}
        columns = [(x, label.upper()) for x, label in view.column_labels]
        if self._is_numbered:
            rows = {y: name.partition("-")[0] for y, name in first.items()}
            columns = [(x, str(place)) for place, (x, _) in enumerate(view.column_labels, start=1)]
        return replace(
            view,
            cells=tuple(replace(cell, name=self._shown[cell.name]) for cell in view.cells),
            row_labels=tuple(rows[y] for y in range(len(view.row_labels))),
            column_labels=tuple(columns),
            notes=tuple(replace(note, text=self.shown(note.text)) for note in view.notes),
            notices=tuple(map(self.shown, view.notices)),
        )


@lru_cache(maxsize=16)
def coordinates_of(game: Game, *, is_report: bool) -> Coordinates:
    """Return the names of the cells of ``game``."""
    return Coordinates(game, is_report=is_report)


def turns_as_shown(turns: Sequence[RecordTurn], cells: Coordinates) -> tuple[RecordTurn, ...]:
    """Return the turns of a record with the names of cells that are shown."""
    if not cells.is_report:
        return tuple(turns)
    return tuple(replace(turn, actions=tuple(map(cells.shown, turn.actions))) for turn in turns)
