"""All positions of a match up to now, its turns, and the cells that each turn changed; the last pictures are kept.

A timeline is kept in step with a mirror: it plays by the rules what the mirror holds already, and decides nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.notation.record import RecordTurn, parted_turns
from tabuleiro.rules import Game, State
from tabuleiro.rules.view import BoardView

_KEPT_COUNT: Final = 8
_KEPT: Final[deque[tuple[State, BoardView]]] = deque(maxlen=_KEPT_COUNT)


def picture_of(state: State) -> BoardView:
    """Return the view of ``state``: the last one made for this very object, if it is still kept.

    Not of an equal one: what was played last is in the picture, and not in what makes positions equal.
    """
    for known, view in _KEPT:
        if known is state:
            return view
    view = state.view()
    _KEPT.append((state, view))
    return view


_ACTION: Final = re.compile(r"a(?:ction)?\s*([0-9]{1,9})", re.ASCII)


class Timeline:
    """The positions of a match: ``states[n]`` is the one after ``n`` actions, ``actions`` their canonical texts.

    Raises: NotationError or IllegalActionError for actions that the rules refuse.
    """

    def __init__(self, game: Game, actions: Sequence[str] = ()) -> None:
        self.game = game
        self.states: list[State] = [game.initial_state()]
        self.actions: list[str] = []
        self._last_change: tuple[State, frozenset[int]] | None = None
        self.follow(game, actions)

    @property
    def last_ply(self) -> int:
        """The number of actions played."""
        return len(self.actions)

    def follow(self, game: Game, actions: Sequence[str]) -> None:
        """Take in the actions of a match from its start on, keeping the positions that are still the same."""
        if game != self.game:
            self.game, self.states, self.actions = game, [game.initial_state()], []
        same = 0
        for known, text in zip(self.actions, actions, strict=False):
            if known != text:
                break
            same += 1
        del self.actions[same:], self.states[same + 1 :]
        for text in actions[same:]:
            state = self.states[-1]
            action = state.string_to_action(text)
            self.states.append(state.apply(action))
            self.actions.append(state.action_to_string(action))

    def turns(self) -> tuple[RecordTurn, ...]:
        """Return the turns played, the one in progress included."""
        return parted_turns(self.actions, self.states)

    def turn_start(self, ply: int) -> int:
        """Return the ply at which the turn of the action before ``ply`` began; 0 at the start."""
        start = ply
        while start > 0 and self.states[start - 1].turn_number == self.states[ply - 1].turn_number:
            start -= 1
        return start

    def next_turn_start(self, ply: int) -> int:
        """Return the ply after the turn that is being played at ``ply``; the last one at the end."""
        end = ply
        while end < self.last_ply:
            end += 1
            if self.states[end].turn_number != self.states[ply].turn_number:
                break
        return end

    def ply_of(self, text: str) -> int:
        """Return the ply that ``text`` names: ``5`` after turn 5, ``a34`` after action 34, ``start`` or ``end``.

        Raises: NotationError that says which there are.
        """
        word = text.strip().lower()
        ends = {"start": 0, "end": self.last_ply}
        to_action = _ACTION.fullmatch(word)
        if word in ends:
            return ends[word]
        if to_action is not None and int(to_action[1]) <= self.last_ply:
            return int(to_action[1])
        turns = {str(turn.number): turn.ply + len(turn.actions) for turn in self.turns()}
        if word.lstrip("0") in turns:
            return turns[word.lstrip("0")]
        of_turns = f"a turn from 1 to {next(reversed(turns))}, " if turns else ""
        raise NotationError(text, f"{of_turns}an action from a0 to a{self.last_ply}, start or end")

    def changed_by_last_turn(self, ply: int) -> frozenset[int]:
        """Return the cells that the turn of the action before ``ply`` has changed up to there."""
        after = self.states[ply]
        if self._last_change is None or self._last_change[0] is not after:
            # Kept, because this is asked at every move of a cursor, and takes two whole pictures.
            before = self.states[self.turn_start(ply)]
            changed = changed_cells(picture_of(before), picture_of(after)) if before is not after else frozenset()
            self._last_change = (after, changed)
        return self._last_change[1]


def changed_cells(before: BoardView, after: BoardView) -> frozenset[int]:
    """Return the indexes of the cells that hold something else."""
    pairs = zip(before.cells, after.cells, strict=True)
    return frozenset(old.index for old, new in pairs if old.piece != new.piece)
