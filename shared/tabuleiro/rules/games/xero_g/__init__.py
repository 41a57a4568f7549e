"""Xero-G: run, boost, reprogram, reach the base beyond. Source: RULES.md, "Xero-G"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Self, TypeVar

from tabuleiro.descriptors import ChoiceSetting, GameOption, NumberSetting, PositionSetting
from tabuleiro.rules.board import position_error, split_position
from tabuleiro.rules.games.xero_g.moves import BOARD, SIDE, VALUES
from tabuleiro.rules.games.xero_g.page import DIAGRAMS, PAGE
from tabuleiro.rules.games.xero_g.state import (
    NO_PAST,
    SHIP_COUNT,
    SHIPS_PER_PLAYER_AND_VALUE,
    XeroGRules,
    XeroGState,
)
from tabuleiro.rules.options import Options, OptionValue, check_options

__all__ = ["XeroG", "XeroGState"]

Item = TypeVar("Item")

_MASK_64 = (1 << 64) - 1
_NO_SHIPS = bytes(BOARD.cell_count)


class XeroG(XeroGRules):
    """The rules of Xero-G with a variant and a setup."""

    name = "xero-g"
    title = "Xero-G"
    sides = ("south", "north")
    option_specs: ClassVar[tuple[GameOption, ...]] = (
        ChoiceSetting(
            "variant",
            "gyges: no drop beyond the opponent's home row",
            choices=("xero-g", "gyges"),
            default="xero-g",
        ),
        ChoiceSetting(
            "setup",
            "ships placed by the players, or shuffled",
            choices=("manual", "random"),
            default="manual",
        ),
        NumberSetting("seed", "seed of the random setup; a room draws one if left open", low=0, high=2**32 - 1),
        PositionSetting("position", "start from this position, after the setup"),
    )
    presets: ClassVar[Mapping[str, Options]] = {
        "gyges": {"variant": "gyges"},
        "random-setup": {"setup": "random"},
    }
    rules_page = PAGE
    diagrams = DIAGRAMS

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self._start = self._read_start()

    @classmethod
    def from_options(cls, options: Options) -> Self:
        checked = check_options(cls.option_specs, options)
        if cls.needs_seed(checked):
            checked["seed"] = 0
        return cls(checked)

    @classmethod
    def needs_seed(cls, options: Options) -> bool:
        return options.get("setup") == "random" and "seed" not in options and "position" not in options

    def initial_state(self) -> XeroGState:
        return self._start

    def _read_start(self) -> XeroGState:
        position = self.options.get("position")
        if position is not None:
            return self._read_position(str(position))
        ships = _NO_SHIPS
        if self.options["setup"] == "random":
            numbers = iter_splitmix64(int(self.options["seed"]))
            row_1, row_6 = (shuffled(VALUES * SHIPS_PER_PLAYER_AND_VALUE, numbers) for _ in (0, 1))
            ships = bytes(row_1) + bytes(BOARD.cell_count - 2 * SIDE) + bytes(row_6)
        return XeroGState(self, 0, ships, _occupied(ships), 0, 1, NO_PAST, None)

    def _read_position(self, text: str) -> XeroGState:
        """Read a position after the setup. One that was won by entering a base names that ship in a third part.

        Without the player to move, as the Universal Gyges Interface writes positions, that is player 0.
        """
        parts = text.split()
        whole = f"{text} 0" if len(parts) == 1 and "/" in text else text
        base_field = ["value of the ship in the base"] if len(parts) > 2 else []
        cells, mover, fields = split_position(whole, BOARD.row_lengths, "0123", base_field)
        if fields and fields[0] not in ("1", "2", "3"):
            raise position_error(text, f"1, 2 or 3 as the value of the ship in the base, got {fields[0][:9]!a}")
        ships, base_ship = bytes(map(int, cells)), int(fields[0]) if fields else 0
        everything = [value for value in (*ships, base_ship) if value]
        if len(everything) != SHIP_COUNT:
            raise position_error(text, f"{SHIP_COUNT} ships, as there are after the setup, got {len(everything)}")
        for value in VALUES:
            count = everything.count(value)
            if count != 2 * SHIPS_PER_PLAYER_AND_VALUE:
                raise position_error(text, f"{2 * SHIPS_PER_PLAYER_AND_VALUE} ships of value {value}, got {count}")
        return XeroGState(self, mover, ships, _occupied(ships), base_ship, 1, NO_PAST, None)


def _occupied(ships: bytes) -> int:
    return sum(1 << square for square, value in enumerate(ships) if value)


def iter_splitmix64(seed: int) -> Iterator[int]:
    """Yield the numbers (0..2**64-1) of the SplitMix64 generator without end.

    ``seed`` is 0..2**64-1. The algorithm is that of Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators" (2014), with its published constants.

    >>> hex(next(iter_splitmix64(0)))
    '0xe220a8397b1dcdaf'
    """
    state = seed & _MASK_64
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK_64
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & _MASK_64
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK_64
        yield mixed ^ mixed >> 31


def shuffled(items: Iterable[Item], numbers: Iterator[int]) -> tuple[Item, ...]:
    """Return ``items`` in an order that ``numbers`` decide: one is taken for each item but the first.

    >>> shuffled("abcdef", iter_splitmix64(1))
    ('a', 'b', 'd', 'c', 'e', 'f')
    """
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        chosen = next(numbers) % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)
