"""A turn in the making: actions are chosen one by one, can be undone, and go to the server together.

What is legal, and where a turn ends, is asked of the position; here actions are only collected. Games whose
actions are not cells have a composer of their own: see :mod:`tabuleiro_client.tui.ship_composer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import IllegalActionError, MatchOverError, NotationError, TurnError, shown
from tabuleiro.notation.actions import format_turn, parse_turn
from tabuleiro.rules import State
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.view import BoardView
from tabuleiro_client.models.timeline import changed_cells, picture_of
from tabuleiro_client.tui.present.overlay import Overlay, Target


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to press beside the board: the ``key`` that does it, what it says, and the screen's action."""

    key: str
    label: str
    action: str


UNDO: Final = Choice("u", "undo", "undo")
SEND: Final = Choice("s", "send now", "send")
SEND_TURN: Final = Choice("Enter", "send", "send")
PASS: Final = Choice("p", "pass", "pass_turn")
PASS_TEXT: Final = "pass"


class TurnComposer:
    """The turn being composed on top of ``base``, the position that the server knows.

    ``state`` is the position with the actions composed so far, ``message`` what is to be said about the last
    choice (empty: nothing). ``column`` (from 1) is the place in the typed line that it is
    about, ``None`` for none.
    """

    def __init__(self, base: State) -> None:
        self.base = base
        self.state = base
        self.actions: list[int] = []
        self.message = ""
        self.column: int | None = None

    @property
    def view(self) -> BoardView:
        """The picture of ``state``."""
        return picture_of(self.state)

    @property
    def base_view(self) -> BoardView:
        """The picture of ``base``."""
        return picture_of(self.base)

    @property
    def is_complete(self) -> bool:
        """Whether the turn has nothing left to choose."""
        is_over = self.state.is_terminal or self.state.turn_number != self.base.turn_number
        return bool(self.actions) and is_over

    @property
    def is_single(self) -> bool:
        """Whether the turn at ``base`` is a single action, so that there is nothing to compose."""
        return self.base_view.actions_left in (None, 1)

    @property
    def can_step_back(self) -> bool:
        """Whether :meth:`step_back` would do something."""
        return bool(self.actions)

    def texts(self) -> list[str]:
        """The canonical texts of the actions composed so far."""
        return format_turn(self.base, self.actions).split()

    def rebase(self, base: State) -> bool:
        """Start anew from another position; return whether actions were dropped by it."""
        if base == self.base:
            return False
        had_actions = bool(self.actions)
        self.base, self.actions, self.message = base, [], ""
        self._replay()
        return had_actions

    def drop(self) -> None:
        """Forget everything composed so far."""
        self.actions, self.message = [], ""
        self._replay()

    def choose(self, target: Target) -> bool:
        """Choose a cell or an edge; return whether something came of it. ``message`` says why not."""
        self.message = ""
        if self.is_complete:
            self.message = "the turn is complete: send it, or undo"
            return False
        return isinstance(target, int) and self.add_text(self.view.cells[target].name)

    def add_text(self, text: str) -> bool:
        """Add one action by its text; return whether it was legal. ``message`` says why not."""
        self.message = ""
        try:
            action = self.state.string_to_action(text)
            after = self.state.apply(action)
        except IllegalActionError as error:
            self.message = f"{text}: {error.reason}"
            return False
        except (NotationError, MatchOverError) as error:
            self.message = str(error)
            return False
        self.actions.append(action)
        self.state = after
        return True

    def add_turn(self, text: str) -> bool:
        """Add typed actions, all or none; return whether they were legal. ``message`` says why not."""
        self.message, self.column = "", None
        try:
            actions = parse_turn(self.state, text)
        except TurnError as error:
            self.message, self.column = f"{shown(error.text)}: {error.expected}", error.column
            return False
        if not actions:
            self.message = f"{shown(text)}: there is no action in it"
        self.actions += actions
        self._replay()
        return bool(actions)

    def step_back(self) -> bool:
        """Undo the last choice; return whether there was one."""
        self.message = ""
        if not self.actions:
            return False
        self.actions.pop()
        self._replay()
        return True

    def can_pass(self) -> bool:
        """Whether the game has a pass, and it is legal now."""
        if self.is_complete:
            return False
        try:
            return self.state.is_legal(self.state.string_to_action(PASS_TEXT))
        except NotationError:
            return False

    def choices(self) -> Sequence[Choice]:
        """What can be pressed beside the board now."""
        offered = [SEND_TURN] if self.is_complete else [SEND] if self.actions else []
        if self.can_pass():
            offered.append(PASS)
        return [*offered, UNDO] if self.can_step_back else offered

    def targets(self) -> frozenset[Target] | None:
        """What may be chosen next; ``None``: what the view marks as legal."""
        return frozenset() if self.is_complete else None

    def prompt(self) -> str:
        """What is to be done next, as a sentence."""
        if self.is_complete:
            return f"turn complete: {' '.join(self.texts())} - Enter sends it, u undoes"
        if not self.actions:
            return "choose a cell"
        return f"{' '.join(self.texts())} - go on, or s sends it now"

    def overlay(self, cursor: Target | None, hover: Target | None) -> Overlay:
        """What the turn in the making adds to the picture of ``state``."""
        return Overlay(
            cursor=cursor,
            hover=hover,
            targets=self.targets(),
            picked=self.picked(),
            opposite=self._opposite(hover if hover is not None else cursor),
        )

    def picked(self) -> frozenset[int]:
        """The cells that the composed actions changed."""
        return changed_cells(self.base_view, self.view) if self.actions else frozenset()

    def _opposite(self, target: Target | None) -> int | None:
        """In Iris, the cell that lies opposite through the centre."""
        if isinstance(self.state, IrisState) and isinstance(target, int):
            return self.state.game.board.opposite(target)
        return None

    def _replay(self) -> None:
        state = self.base
        for action in self.actions:
            state = state.apply(action)
        self.state = state
