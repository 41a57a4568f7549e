"""What a game may add to the typing of its actions: what a piece can do, what a text leaves open, routes.

This is the seam only, and the guide of games that need none. Which game has which guide is listed in
:mod:`tabuleiro_client.models.guides`; rules are asked of the position, never worked out in a guide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tabuleiro.rules import State
from tabuleiro.rules.view import BoardView


@dataclass(frozen=True, slots=True)
class Sight:
    """What one piece can do: a picture in which that alone is marked as legal, and ``lines`` that say it."""

    view: BoardView
    lines: tuple[str, ...]


class Question(Protocol):
    """Something to be decided in ``state`` before what was typed is an action."""

    @property
    def state(self) -> State:
        """The position that the question is about: in any other one it is void."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The question for people, with all answers."""

    def answer(self, text: str) -> str | Question:
        """The text of the action decided on, or the next question. Raises: NotationError for no answer."""


class ActionGuide:
    """The guide of a game whose actions are typed as they are."""

    def look_at(self, state: State, text: str) -> Sight | None:
        """What the piece that ``text`` names can do; ``None`` when it names none."""
        return None

    def question(self, state: State, text: str) -> Question | None:
        """What ``text`` leaves open; ``None`` when that is nothing, or it is no action at all.

        Raises: IllegalActionError when no answer could make a legal action of it.
        """
        return None

    def routes(self, state: State, texts: Sequence[str]) -> tuple[str, ...]:
        """How the pieces went in the legal actions ``texts``, a line for each that has something to tell."""
        return ()

    def overview(self, state: State) -> str:
        """How to find out what can be played, where listing every action would be too much; empty otherwise."""
        return ""
