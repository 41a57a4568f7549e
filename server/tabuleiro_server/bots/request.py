"""What a room asks of a computer player, and the position it asks about. Nothing is thought here."""

from __future__ import annotations

import msgspec

from tabuleiro.rules import State, registry


class ThinkRequest(msgspec.Struct, frozen=True):
    """The wish for the rest of a turn of the player to move.

    ``actions`` holds the canonical texts of everything played since the start of the match. ``budget_ms`` is the
    time for the turn in milliseconds; ``None`` means the level's own limit. With ``is_hint`` the best turn that
    the search of the game finds in that time is wanted, and what it is worth, whatever the level.
    """

    room: str
    game: str
    options: dict[str, int | str]
    actions: list[str]
    level: str
    seed: int
    budget_ms: int | None = None
    is_hint: bool = False


class Worth(msgspec.Struct, frozen=True):
    """What a turn is worth, as in :class:`~tabuleiro.rules.analysis.Candidate`."""

    value: float
    is_proven: bool
    turns_to_end: int | None


def replay(request: ThinkRequest) -> State:
    """Return the position that ``request`` asks about.

    The actions were checked when they were played, so their legality is not checked again.

    Raises: GameOptionError, NotationError for what is no game and no action at all.
    """
    state = registry.load(request.game, request.options).initial_state()
    for text in request.actions:
        state = state.child(state.string_to_action(text))
    return state


def texts_of(state: State, actions: tuple[int, ...]) -> list[str]:
    """Return the canonical texts of ``actions``, played one after the other from ``state``.

    Raises: IllegalActionError when one of them is not legal there.
    """
    texts = []
    for action in actions:
        texts.append(state.action_to_string(action))
        state = state.apply(action)
    return texts
