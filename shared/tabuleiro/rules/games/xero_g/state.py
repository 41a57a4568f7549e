"""A position of Xero-G: whose turn it is, what is legal, and how it ends. Source: RULES.md, "Xero-G".

The targets of ships are computed in ``moves``; the numbers and texts of actions are in ``actions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from tabuleiro.errors import NotationError
from tabuleiro.ids import PLAYERS, Player, opponent
from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.games.xero_g.actions import (
    DROP_COUNT,
    NO_DROP,
    Move,
    Placement,
    action_of,
    format_action,
    move_number,
    parse_action,
    placement_number,
    target_name,
)
from tabuleiro.rules.games.xero_g.moves import (
    BASE,
    BASE_BIT,
    BOARD,
    ROWS,
    SIDE,
    VALUES,
    boost_reach,
    can_leave,
    home_row,
    loose_reach,
    reach,
    shortest_route,
    target_indexes,
    unreached_stop,
)
from tabuleiro.rules.games.xero_g.view import PIECES, base_view, home_note, supply_note
from tabuleiro.rules.options import OptionValue
from tabuleiro.rules.view import EMPTY, BoardView, Choice, Mark, Piece, Target, cell_views

SHIPS_PER_PLAYER_AND_VALUE = 2
SHIPS_PER_PLAYER = SHIPS_PER_PLAYER_AND_VALUE * len(VALUES)
SHIP_COUNT = 2 * SHIPS_PER_PLAYER
REPETITIONS_TO_DRAW = 3
NO_PAST: tuple[tuple[bytes, ...], None] = ((), None)
"""The past of a state that no move led to."""

_NOT_BEYOND = (
    tuple(sum(ROWS[: row + 1]) for row in range(SIDE)),
    tuple(sum(ROWS[row:]) for row in range(SIDE)),
)
"""By mover and home row of the other player: the squares not nearer to the other than that row."""


class XeroGRules(Game):
    """The rules as a position asks for them: the variant."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options)
        self.is_gyges = options["variant"] == "gyges"


class ShipMoves(NamedTuple):
    """The moves of one ship."""

    start: int
    targets: int
    """Squares, occupied or not, and maybe the base, as a bit set."""
    drops: int
    """The squares for a ship that was landed on, as a bit set."""


@dataclass(frozen=True, slots=True)
class Landing:
    """One place where the turn of a ship may end.

    ``action`` is the action that ends it on an empty square or in the base (``target`` is then ``BASE``), and
    ``None`` when there is a ship: then ``drops`` pairs every square that ship may be put on with the action that
    does it, and :meth:`XeroGState.boost_targets` tells where the ship there may boost the mover to.
    """

    target: int
    name: str
    action: int | None
    drops: tuple[tuple[int, int], ...] = ()


class XeroGState(State):
    """A position of Xero-G; the numbers of actions are those of ``xero_g_actions``.

    ``ships`` holds the value on each square (0 for none), ``occupied`` their squares as a bit set, ``base_ship``
    the value of the ship that has entered a base (0 for none).
    """

    game: XeroGRules

    __slots__ = (
        "_past",
        "_ship_moves",
        "base_ship",
        "last_action",
        "mover",
        "occupied",
        "ships",
    )

    def __init__(
        self,
        game: XeroGRules,
        mover: Player,
        ships: bytes,
        occupied: int,
        base_ship: int,
        turn_number: int,
        past: tuple[tuple[bytes, ...], bytes | None],
        last_action: int | None,
    ) -> None:
        self.game = game
        self.mover = mover
        self.ships = ships
        self.occupied = occupied
        self.base_ship = base_ship
        self._past = past
        self.last_action = last_action
        self._turn_number = turn_number
        self._ship_moves: tuple[ShipMoves, ...] | None = None

    @property
    def is_setup(self) -> bool:
        """True while ships are being placed."""
        return self._placed_count < SHIP_COUNT

    @property
    def _placed_count(self) -> int:
        return self.occupied.bit_count() + bool(self.base_ship)

    @property
    def to_move(self) -> Player | None:
        return None if self.is_terminal else self.mover

    @property
    def outcome(self) -> Outcome | None:
        if self.is_setup or self._ship_moves:
            return None
        if self.base_ship:
            return Outcome(opponent(self.mover), Termination.BASE)
        if self._is_third_time():
            return Outcome(None, Termination.REPETITION)
        return None if self._can_move() else Outcome(opponent(self.mover), Termination.BLOCKED)

    def _can_move(self) -> bool:
        """Return whether a ship has a move; less work than finding all of them."""
        ships, occupied, mover = self.ships, self.occupied, self.mover
        starts = target_indexes(occupied & ROWS[home_row(occupied, mover)])
        return any(can_leave(ships, occupied ^ 1 << start, mover, start) for start in starts)

    @property
    def earlier(self) -> tuple[bytes, ...]:
        """The ``ships`` of all positions from the end of the setup to the one before this, both players' in turn.

        Put together when first asked for: most states are made by a search and soon forgotten.
        """
        earlier, previous = self._past
        if previous is not None:
            earlier = (*earlier, previous)
            self._past = (earlier, None)
        return earlier

    def _is_third_time(self) -> bool:
        earlier, previous = self._past
        count = len(earlier) + (previous is not None)
        same_mover = earlier[count % 2 :: 2]
        return same_mover.count(self.ships) >= REPETITIONS_TO_DRAW - 1

    @property
    def actions_in_turn(self) -> int:
        return self._placed_count % SHIPS_PER_PLAYER if self.is_setup else 0

    def ship_moves(self) -> tuple[ShipMoves, ...]:
        """Return the moves of each ship that can move, by ascending square; empty in the setup and at the end."""
        if self._ship_moves is None:
            is_over = self.is_setup or bool(self.base_ship) or self._is_third_time()
            self._ship_moves = () if is_over else self._find_ship_moves()
        return self._ship_moves

    def _find_ship_moves(self) -> tuple[ShipMoves, ...]:
        ships, occupied, mover = self.ships, self.occupied, self.mover
        allowed = self._not_beyond()
        found = []
        for start in target_indexes(occupied & ROWS[home_row(occupied, mover)]):
            others = occupied ^ 1 << start
            targets = reach(ships, others, mover, start)
            if targets:
                found.append(ShipMoves(start, targets, allowed & ~others))
        return tuple(found)

    def _not_beyond(self) -> int:
        """Return the squares that the variant leaves for reprogrammed ships, empty or not, as a bit set."""
        if not self.game.is_gyges:
            return BOARD.full
        return _NOT_BEYOND[self.mover][home_row(self.occupied, opponent(self.mover))]

    def supply(self) -> tuple[tuple[int, int], ...]:
        """Return the values that the mover still has to place in the setup, each with their number."""
        placed = self.ships[-SIDE:] if self.mover else self.ships[:SIDE]
        left = ((value, SHIPS_PER_PLAYER_AND_VALUE - placed.count(value)) for value in VALUES)
        return tuple((value, count) for value, count in left if count)

    def free_setup_squares(self) -> int:
        """Return the empty squares of the mover's own row in the setup, as a bit set; empty after it."""
        return ROWS[SIDE - 1 if self.mover else 0] & ~self.occupied if self.is_setup else 0

    def legal_actions(self) -> tuple[int, ...]:
        if self.is_setup:
            squares, supply = target_indexes(self.free_setup_squares()), self.supply()
            return tuple(placement_number(value, square) for square in squares for value, _ in supply)
        actions: list[int] = []
        for start, targets, drops in self.ship_moves():
            others, drop_squares = self.occupied ^ 1 << start, target_indexes(drops)
            first_of_ship = move_number(start, 0, 0)
            for target in target_indexes(targets):
                first = first_of_ship + target * DROP_COUNT
                if others >> target & 1:
                    actions += [first + drop for drop in drop_squares]
                else:
                    actions.append(first + NO_DROP)
        return tuple(actions)

    def legal_count(self) -> int:
        if self.is_setup:
            return self.free_setup_squares().bit_count() * len(self.supply())
        count = 0
        for start, targets, drops in self.ship_moves():
            landed_on = targets & self.occupied & ~(1 << start)
            count += (targets ^ landed_on).bit_count() + landed_on.bit_count() * drops.bit_count()
        return count

    def is_legal(self, action: int) -> bool:
        return not self.illegal_reason(action)

    def illegal_reason(self, action: int) -> str:
        """Return the reason why ``action`` is not legal here; empty when it is."""
        try:
            meant = action_of(action)
        except ValueError:
            return "there is no such action"
        return self._why_not_place(meant) if isinstance(meant, Placement) else self._why_not_move(meant)

    def _why_not_place(self, placement: Placement) -> str:
        value, square = placement
        if not self.is_setup:
            return "the setup is over"
        own_row = SIDE - 1 if self.mover else 0
        if square // SIDE != own_row:
            return f"in the setup your ships go on row {own_row + 1}"
        if self.ships[square]:
            return f"{BOARD.names[square]} is taken"
        if value not in dict(self.supply()):
            return f"all your ships of value {value} are placed"
        return ""

    def _why_not_move(self, move: Move) -> str:
        start, target, _ = move
        if self.is_setup:
            return "ships are still being placed, each with a text such as 3@c1"
        for ship in self.ship_moves():
            if ship.start == start and ship.targets >> target & 1:
                return self._why_not_drop(move, ship.drops)
        if self.is_terminal:
            return "the game is over"
        name, home = BOARD.names[start], home_row(self.occupied, self.mover)
        if not self.ships[start]:
            return f"{name} is empty"
        if start // SIDE != home:
            return f"only ships of your home row move, and that is row {home + 1}"
        where = "the base" if target == BASE else BOARD.names[target]
        if loose_reach(self.ships, self.occupied ^ 1 << start, self.mover, start) >> target & 1:
            return f"the ship on {name} could reach {where} only by crossing an edge twice"
        return f"no run of the ship on {name}, boosted or not, ends on {where}"

    def _why_not_drop(self, move: Move, drops: int) -> str:
        """Return the fault in what a move does with the ship on a target in reach; empty when there is none."""
        start, target, drop = move
        others = self.occupied ^ 1 << start
        where = target_name(target)
        if not others >> target & 1:
            return "" if drop == NO_DROP else f"{where} is empty: there is nothing to reprogram"
        if drop == NO_DROP:
            reprogram = f"{BOARD.names[start]}x{where}@SQUARE"
            return f"a ship is on {where}: boost on and name the last square, or reprogram it with {reprogram}"
        if drops >> drop & 1:
            return ""
        if others >> drop & 1:
            return f"{BOARD.names[drop]} is not empty"
        row = home_row(self.occupied, opponent(self.mover))
        return f"{BOARD.names[drop]} is beyond your opponent's home row, row {row + 1}"

    def child(self, action: int) -> Self:
        meant = action_of(action)
        if isinstance(meant, Placement):
            return self._child_by_placing(meant, action)
        start, target, drop = meant
        ships, base_ship = bytearray(self.ships), 0
        value, ships[start] = ships[start], 0
        occupied = self.occupied ^ 1 << start
        if target == BASE:
            base_ship = value
        else:
            if drop != NO_DROP:
                ships[drop] = ships[target]
                occupied |= 1 << drop
            ships[target] = value
            occupied |= 1 << target
        mover, turn, past = opponent(self.mover), self._turn_number + 1, (self.earlier, self.ships)
        return type(self)(self.game, mover, bytes(ships), occupied, base_ship, turn, past, action)

    def _child_by_placing(self, placement: Placement, action: int) -> Self:
        ships = bytearray(self.ships)
        ships[placement.square] = placement.value
        occupied = self.occupied | 1 << placement.square
        is_last = self.actions_in_turn == SHIPS_PER_PLAYER - 1
        mover, turn = (opponent(self.mover), self._turn_number + 1) if is_last else (self.mover, self._turn_number)
        return type(self)(self.game, mover, bytes(ships), occupied, 0, turn, NO_PAST, action)

    def landings_of(self, start: int) -> tuple[Landing, ...]:
        """Return the places where the turn of the ship on ``start`` may end; empty if it cannot move."""
        for ship in self.ship_moves():
            if ship.start == start:
                others, drops = self.occupied ^ 1 << start, target_indexes(ship.drops)
                return tuple(
                    self._landing(start, target, others, drops) for target in target_indexes(ship.targets)
                )
        return ()

    def _landing(self, start: int, target: int, others: int, drop_squares: tuple[int, ...]) -> Landing:
        if not others >> target & 1:
            return Landing(target, target_name(target), move_number(start, target, NO_DROP))
        drops = tuple((drop, move_number(start, target, drop)) for drop in drop_squares)
        return Landing(target, target_name(target), None, drops)

    def boost_targets(self, start: int, booster: int) -> tuple[int, ...]:
        """Return the targets of the ship on ``start`` that are boosted to by the ship on ``booster``, ascending.

        Empty when it cannot move or cannot land there, or when no run goes on from there.
        """
        if all(landing.target != booster or landing.action is not None for landing in self.landings_of(start)):
            return ()
        return target_indexes(boost_reach(self.ships, self.occupied ^ 1 << start, self.mover, start, booster))

    def route(self, action: int) -> tuple[str, ...]:
        """Return the names of the squares on a shortest route of a legal move, first and last included.

        At a name in between that holds another ship, that ship boosts; the last name may be ``base``. Empty for an
        action that is no legal move.

        Source: RULES.md, "Xero-G" (an action is its result; the client shows one shortest route).
        """
        if not self.is_legal(action):
            return ()
        move = action_of(action)
        if isinstance(move, Placement):
            return ()
        start, target, _ = move
        squares = shortest_route(self.ships, self.occupied ^ 1 << start, self.mover, start, target)
        return tuple(target_name(square) for square in squares)

    def action_to_string(self, action: int) -> str:
        return format_action(action)

    def choice(self, action: int) -> Choice:
        move, text = action_of(action), self.action_to_string(action)
        if isinstance(move, Placement):
            return Choice(text, (move.square,), str(move.value))
        target: Target = move.target
        if target == BASE:
            target = "bottom" if self.mover else "top"
        drop = () if move.drop == NO_DROP else (move.drop,)
        return Choice(text, (move.start, target, *drop))

    def string_to_action(self, text: str) -> int:
        action, stops = parse_action(text, self.mover)
        if len(stops) > 2 and self.is_legal(action):
            others = self.occupied ^ 1 << stops[0]
            place = unreached_stop(self.ships, others, self.mover, stops)
            if place is not None:
                before, stop = target_name(stops[place - 1]), target_name(stops[place])
                expected = f"stops that one run after the other leads to: none goes on from {before} to {stop}"
                raise NotationError(text, expected)
        return action

    def pieces(self) -> tuple[tuple[Piece, int], ...]:
        squares = [0] * (len(VALUES) + 1)
        for square, value in enumerate(self.ships):
            squares[value] |= 1 << square
        return tuple(zip(PIECES, squares[1:], strict=True))

    def to_position(self) -> str:
        """Return the position text; ``position`` reads it back unless it is of the setup."""
        rows = self.position_rows(BOARD.row_lengths).replace(EMPTY, "0")
        return f"{rows} {self.mover} {self.base_ship}" if self.base_ship else f"{rows} {self.mover}"

    def key(self) -> tuple[object, ...]:
        return (self.mover, self.ships, self.base_ship)

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self.earlier)

    def view(self) -> BoardView:
        sides, occupied = self.game.sides, self.occupied
        edges, notes, actions_left = [], [], None
        for player in PLAYERS:
            is_target = self.to_move == player and any(ship.targets & BASE_BIT for ship in self.ship_moves())
            entered = self.base_ship if self.mover != player else 0
            edges.append(base_view(sides, player, entered, is_target=is_target))
        if self.is_setup:
            values = [value for value, count in self.supply() for _ in range(count)]
            actions_left = len(values)
            notes.append(supply_note(sides, self.mover, values))
        else:
            actions_left = None if self.is_terminal else 1
            notes += [home_note(sides, player, home_row(occupied, player)) for player in PLAYERS]
        return BoardView(
            topology="square",
            cells=cell_views(BOARD, self.pieces(), self._marks()),
            row_labels=BOARD.row_labels,
            column_labels=BOARD.column_labels,
            to_move=self.to_move,
            actions_left=actions_left,
            edges=tuple(edges),
            notes=tuple(notes),
            piece_names={piece.letter: piece.name for piece in PIECES},
        )

    def _marks(self) -> dict[Mark, int]:
        """Return the squares that have each mark, as bit sets (in which the base may be, too)."""
        marks = {Mark.LAST: 0, Mark.LEGAL: self.free_setup_squares(), Mark.HOME: 0}
        if self.last_action is not None:
            last = action_of(self.last_action)
            squares = (last.square,) if isinstance(last, Placement) else (last.start, last.target, last.drop)
            for square in squares:
                marks[Mark.LAST] |= 1 << square
        for ship in self.ship_moves():
            marks[Mark.LEGAL] |= 1 << ship.start
        if not self.is_setup and not self.is_terminal:
            marks[Mark.HOME] = ROWS[home_row(self.occupied, self.mover)]
        return marks
