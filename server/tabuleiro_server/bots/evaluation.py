"""Evaluations by name: a position as named terms, each with a weight, and their sum as its value.

They are those of the reports, with weights that may be chosen, and value functions of people's own, from files.
Source: RULES.md, "Computer players of the reports".
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from tabuleiro.errors import BotError, shown
from tabuleiro.ids import Player, opponent
from tabuleiro.rules import registry
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro.rules.games.minefield.connection import connection_distance
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro.rules.games.xero_g.moves import SIDE
from tabuleiro_server.bots.greedy import BASE_WEIGHT, ROW_WEIGHTS
from tabuleiro_server.bots.minimax import END_VALUE as MOBILITY_END_VALUE

Number = int | float

Measure = Callable[[Any, Player], Sequence[Number]]
"""Measure the terms of a state for a player."""

END_VALUE: Final = 10**9
"""The value of a won end, more than any position; that of a lost one is its negative."""

_GROUPS_COUNT: Final = 4
"""The groups of Iris that count; with a hundred times the weight each, the first difference decides."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a position: its measure, and what it counts for in the value."""

    name: str
    measure: Number
    weight: Number


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A way to value positions: terms measured by ``measure``, times ``weights``.

    ``name`` is the path of its file for an own value function. ``about`` says what it counts.
    """

    name: str
    about: str
    term_names: tuple[str, ...]
    weights: tuple[Number, ...]
    measure: Measure
    end_value: Number = END_VALUE

    def terms(self, state: Any, player: Player) -> tuple[Term, ...]:
        """Return the terms of ``state`` for ``player``. Raises: BotError, of an own value function."""
        return tuple(map(Term, self.term_names, self.measure(state, player), self.weights))

    def value(self, state: Any, player: Player) -> Number:
        """Return the value of ``state`` to ``player``, an end being a position like others. Raises: BotError."""
        return sum(
            weight * measure for weight, measure in zip(self.weights, self.measure(state, player), strict=True)
        )

    def value_of_end(self, winner: Player | None, player: Player) -> Number:
        """Return the value to ``player`` of an end won by ``winner``, ``None`` for a draw."""
        return 0 if winner is None else self.end_value if winner == player else -self.end_value


def _mobility(state: VirusWarsState, player: Player) -> tuple[int, int]:
    return state.accessible_to(player).bit_count(), state.accessible_to(opponent(player)).bit_count()


def _pieces(state: VirusWarsState, player: Player) -> tuple[int, ...]:
    other = opponent(player)
    sets = (state.viruses[player], state.zombies[player], state.viruses[other], state.zombies[other])
    return tuple(pieces.bit_count() for pieces in sets)


def _rows(state: XeroGState, player: Player) -> tuple[int, ...]:
    rows = [sum(state.ships[start : start + SIDE]) for start in range(0, len(state.ships), SIDE)]
    outcome = state.outcome if state.base_ship else None
    base = state.base_ship if outcome is not None and outcome.winner == player else 0
    return (*(rows if player == 0 else rows[::-1]), base)


def _groups(state: IrisState, player: Player) -> tuple[int, ...]:
    scores = state.scores()
    leads = [own - other for own, other in zip_longest(scores[player], scores[opponent(player)], fillvalue=0)]
    return tuple((leads + [0] * _GROUPS_COUNT)[:_GROUPS_COUNT])


def _distances(state: MinefieldState, player: Player) -> tuple[int, ...]:
    board = state.game.board
    distances = (connection_distance(board, state.stones, who) for who in (player, opponent(player)))
    return tuple(board.cell_count + 1 if distance is None else distance for distance in distances)


_ORDINALS: Final = ("best", "second", "third", "fourth")

EVALUATIONS: Final[Mapping[str, tuple[Evaluation, ...]]] = {
    VirusWars.name: (
        Evaluation(
            "mobility",
            "the cells that the player could choose",
            ("own choices", "choices of the opponent"),
            (1, 0),
            _mobility,
            MOBILITY_END_VALUE,
        ),
        Evaluation(
            "pieces",
            "own pieces less those of the opponent",
            ("own viruses", "own zombies", "viruses of the opponent", "zombies of the opponent"),
            (1, 1, -1, -1),
            _pieces,
        ),
    ),
    XeroG.name: (
        Evaluation(
            "rows",
            "the ship values on each row, from the player's own side to the far base, times the weight of the row",
            (*(f"row {number}" for number in range(1, SIDE + 1)), "far base"),
            (*ROW_WEIGHTS, BASE_WEIGHT),
            _rows,
        ),
    ),
    Iris.name: (
        Evaluation(
            "groups",
            "the lead of the best group, then that of the second, and so on",
            tuple(f"lead of the {ordinal} group" for ordinal in _ORDINALS),
            tuple(100**exponent for exponent in reversed(range(_GROUPS_COUNT))),
            _groups,
        ),
    ),
    Minefield.name: (
        Evaluation(
            "connection",
            "the stones that the opponent still needs to connect, less those that the player needs",
            ("own stones needed", "stones needed by the opponent"),
            (-1, 1),
            _distances,
        ),
    ),
}
"""The evaluations of each game; the first is used where none is named."""


def find_evaluation(game: str, name: str | None = None, weights: Sequence[Number] | None = None) -> Evaluation:
    """Return the evaluation ``name`` of ``game``, ``None`` for its first, with ``weights`` in place of its own.

    A name that ends with ``.py`` is the path of a file with an own function ``value``.

    Raises: BotError for an unknown name, a wrong number of weights, or a file without such a function;
    GameOptionError for an unknown game.
    """
    known = EVALUATIONS.get(registry.game_type(game).name, ())
    if name is not None and name.endswith(".py"):
        found = own_evaluation(Path(name).expanduser().resolve())
    else:
        chosen = [each for each in known if name in (None, each.name)]
        if not chosen:
            names = ", ".join(each.name for each in known) or "none"
            raise BotError(
                f"{game} has no evaluation {shown(name or 'of its own')}, expected {names} or a file NAME.py"
            )
        found = chosen[0]
    if weights is None:
        return found
    if len(weights) != len(found.weights):
        terms = ", ".join(found.term_names)
        raise BotError(f"{found.name} has {len(found.weights)} weights ({terms}), got {len(weights)}")
    return replace(found, weights=tuple(weights))


def own_evaluation(path: Path) -> Evaluation:
    """Return the evaluation by the function ``value(state, player)`` of the file ``path``, run when it is needed.

    Raises: BotError when there is no such file; what is wrong in it is told when a position is valued.
    """
    if not path.is_file():
        raise BotError(f"there is no file {shown(str(path))} with a function value(state, player)")

    def measure(state: Any, player: Player) -> tuple[Number]:
        function = _own_function(path)
        try:
            found = function(state, player)
        except Exception as error:
            raise BotError(f"{path.name}: value failed: {type(error).__name__}: {error}") from error
        if not isinstance(found, int | float) or not math.isfinite(found):
            raise BotError(f"{path.name}: value returned {shown(repr(found))}, expected a number")
        return (found,)

    return Evaluation(str(path), "the value function of this file", ("value",), (1,), measure)


@cache
def _own_function(path: Path) -> Callable[[Any, Player], object]:
    spec = importlib.util.spec_from_file_location(f"tabuleiro_value_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BotError(f"{path.name} cannot be run: {type(error).__name__}: {error}") from error
    function: object = getattr(module, "value", None)
    if not callable(function):
        raise BotError(f"{path.name} has no function value(state, player)")
    return function
