"""A place in a record, and moves tried from there on. No textual, no I/O."""

from __future__ import annotations

from typing import Final

from tabuleiro.notation.match_record import MatchRecord
from tabuleiro.rules import State, registry
from tabuleiro.rules.view import BoardView
from tabuleiro_client.tui.pictures import picture_of
from tabuleiro_client.tui.present.overlay import Overlay, Target
from tabuleiro_client.tui.ship_composer import composer_for
from tabuleiro_client.tui.timeline import Timeline
from tabuleiro_client.tui.turn_composer import TurnComposer

DELAYS_S: Final = (4.0, 2.0, 1.0, 0.5, 0.25)
"""The seconds between two actions of the autoplay, slowest first."""


class ReplayModel:
    """``ply`` actions of the record have been played; ``branch`` holds moves tried from there, ``None`` for none.

    Raises: GameOptionError, NotationError or IllegalActionError for a record that the rules refuse.
    """

    def __init__(self, record: MatchRecord) -> None:
        self.record = record
        self.game = registry.load(record.game, record.options)
        self.timeline = Timeline(self.game, record.actions)
        self.ply = 0
        self.branch: Timeline | None = None
        self.composer: TurnComposer | None = None
        self.speed = 2
        self.message = ""

    @property
    def line(self) -> Timeline:
        """What is stepped through: the record, or the branch."""
        return self.timeline if self.branch is None else self.branch

    @property
    def place(self) -> int:
        """The ply of the position shown, in :attr:`line`."""
        return self.ply if self.branch is None else self.branch.last_ply

    @property
    def state(self) -> State:
        """The position shown."""
        return self.line.states[self.place]

    @property
    def view(self) -> BoardView:
        """The picture of the position shown."""
        return picture_of(self.state if self.composer is None else self.composer.state)

    @property
    def delay_s(self) -> float:
        """The seconds between two actions of the autoplay."""
        return DELAYS_S[self.speed]

    @property
    def is_at_end(self) -> bool:
        """Whether the record has nothing further."""
        return self.ply == self.timeline.last_ply

    def go(self, ply: int) -> None:
        """Go to a place in the record, and out of a branch."""
        self.branch = self.composer = None
        self.ply = max(0, min(ply, self.timeline.last_ply))
        self.message = ""

    def change_speed(self, step: int) -> None:
        """Make the autoplay faster or slower."""
        self.speed = max(0, min(self.speed + step, len(DELAYS_S) - 1))
        self.message = f"autoplay: {self.delay_s:g} s an action"

    def start_branch(self) -> None:
        """Try moves from here on."""
        self.branch = Timeline(self.game, self.timeline.actions[: self.ply])
        self.composer = composer_for(self.branch.states[-1])
        self.message = "" if self.branch.states[-1].to_move is not None else "the game is over here"

    def choose(self, target: Target) -> None:
        """Choose a target for the move tried next."""
        if self.composer is not None:
            self.composer.choose(target)
            self._take_tried()

    def type_actions(self, text: str) -> None:
        """Try typed actions."""
        if self.composer is not None:
            self.composer.add_turn(text)
            self._take_tried()

    def _take_tried(self) -> None:
        composer, branch = self.composer, self.branch
        assert composer is not None
        assert branch is not None
        self.message = composer.message
        if composer.actions:
            branch.follow(self.game, [*branch.actions, *composer.texts()])
            self.composer = composer_for(branch.states[-1])

    def undo(self) -> None:
        """Undo the last choice or move tried."""
        if self.composer is None or self.branch is None:
            return
        if self.composer.can_step_back:
            self.composer.step_back()
        elif self.branch.last_ply > self.ply:
            self.branch.follow(self.game, self.branch.actions[:-1])
            self.composer = composer_for(self.branch.states[-1])

    def overlay(self, cursor: Target | None, hover: Target | None, *, shows_legal: bool) -> Overlay:
        """What is added to the picture for where the person points."""
        last = self.line.changed_by_last_turn(self.place)
        if self.composer is None:
            return Overlay(cursor=cursor, hover=hover, targets=frozenset(), last=last)
        made = self.composer.overlay(cursor, hover)
        return Overlay(
            cursor=cursor,
            hover=hover,
            targets=made.targets,
            picked=made.picked,
            last=last - made.picked,
            route=made.route,
            opposite=made.opposite,
            shows_legal=shows_legal,
            shows_forbidden=True,
        )

    def turn_text(self) -> str:
        """Where we are."""
        mover = self.state.to_move
        whose = "the game is over" if mover is None else f"{self.game.sides[mover]} to move"
        if self.branch is None:
            return f"action {self.ply} of {self.timeline.last_ply}: {whose}"
        tried = self.branch.last_ply - self.ply
        return f"trying moves from action {self.ply}, {tried} tried: {whose}"
