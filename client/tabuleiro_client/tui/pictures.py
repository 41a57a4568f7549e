"""The last few pictures of positions, because one move asks for the same ones several times.

What a picture holds is left to the position.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tabuleiro.rules import State
from tabuleiro.rules.view import BoardView

_KEPT_COUNT: Final = 8
_KEPT: Final[deque[tuple[State, BoardView]]] = deque(maxlen=_KEPT_COUNT)


def picture_of(state: State) -> BoardView:
    """The view of ``state``: the one made last for this very object, if that is not long ago.

    Not of an equal one: what was played last is in the picture, and not in what makes positions equal.
    """
    for known, view in _KEPT:
        if known is state:
            return view
    view = state.view()
    _KEPT.append((state, view))
    return view
