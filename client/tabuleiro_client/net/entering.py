"""Entering a room wherever it is: by the connection of this client, and on to the node that has the room."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from tabuleiro.errors import CommandError, ConnectionLostError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, QuickPlay, RoomEntered, WatchRoom
from tabuleiro_client.net.link import Backoff, Link, result_of
from tabuleiro_client.net.subscription import Subscription

EntryRequest = CreateRoom | QuickPlay | JoinRoom | WatchRoom
"""The ways into a room: make one, sit down where somebody waits, sit down in this one, watch it."""

REDIRECTS_MAX_COUNT: Final = 3
"""Most nodes in a row that we are sent on to."""

ATTEMPTS: Final = Backoff(attempt_count=6)
"""The waits for a room whose node fails, until another one has taken it over."""

TRY_AGAIN_CODES: Final = frozenset({ErrorCode.BUSY, ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.SHUTTING_DOWN})
"""Refusals that will not last."""

_NOT_THERE_CODES: Final = frozenset({ErrorCode.SEAT_TAKEN, ErrorCode.NO_SUCH_ROOM, ErrorCode.ROOM_DAMAGED})


@dataclass(frozen=True, slots=True)
class Entrance:
    """A room just entered: over which connection of which link, and what it tells from then on.

    ``request`` is the one that was granted.
    """

    link: Link
    subscription: Subscription
    connection_count: int
    request: EntryRequest
    entered: RoomEntered


class NodeFailedError(ConnectionLostError):
    """A node does not let us into its room for now: asking again is safe, and another one may have it soon."""


async def find_entrance(home: Link, request: EntryRequest) -> Entrance:
    """Enter a room, on ``home`` or on the node that has it; unsubscribe from the link at the end.

    Raises: CommandError when the server refuses, ConnectionLostError.
    """
    for delay_s in ATTEMPTS.delays():
        try:
            return await enter_by(home, home, request)
        except NodeFailedError:
            await asyncio.sleep(delay_s)
    return await enter_by(home, home, request)


async def enter_by(
    home: Link, link: Link, request: EntryRequest, listening: Subscription | None = None
) -> Entrance:
    """Enter a room once, beginning at ``link``, and follow the nodes that send us on.

    ``listening`` is a subscription to ``link``; it is kept. Without it there is a new one, as for any other link.

    Raises: NodeFailedError; CommandError and ConnectionLostError by ``home``.
    """
    first, asked = link, request
    for _ in range(REDIRECTS_MAX_COUNT + 1):
        try:
            return await _ask(link, asked, listening if link is first else None)
        except (CommandError, ConnectionLostError) as error:
            link, asked = await _next_hop(home, link, request, asked, error)
    raise NodeFailedError(
        f"the room is not at {link.url} either: we were sent on {REDIRECTS_MAX_COUNT + 1} times; try again"
    )


async def _ask(link: Link, request: EntryRequest, listening: Subscription | None) -> Entrance:
    subscription = listening or link.subscribe()
    try:
        connection_count = link.connection_count
        entered = result_of(await link.request(request), RoomEntered)
    except BaseException:
        if listening is None:
            link.unsubscribe(subscription)
        raise
    return Entrance(link, subscription, connection_count, request, entered)


async def _next_hop(
    home: Link, link: Link, request: EntryRequest, asked: EntryRequest, error: CommandError | ConnectionLostError
) -> tuple[Link, EntryRequest]:
    """Return where to go on after ``link`` did not let us in, and what to ask for there.

    Raises: as :func:`enter_by`, when that is nowhere.
    """
    if isinstance(error, CommandError):
        if error.code == ErrorCode.ELSEWHERE and error.node_url is not None:
            asked = _asked_there(asked, error)
            try:
                return await home.to_node(error.node_url), asked
            except CommandError as refused:
                raise NodeFailedError(f"{error.node_url}: {refused.message}") from refused
            except ConnectionLostError as lost:
                raise NodeFailedError(str(lost)) from lost
        if asked is not request and isinstance(request, QuickPlay) and error.code in _NOT_THERE_CODES:
            return home, request
    # Whoever may have made a room without hearing of it must not make another one.
    is_undone = isinstance(error, CommandError) and error.code in TRY_AGAIN_CODES
    may_repeat = isinstance(asked, JoinRoom | WatchRoom) and isinstance(error, ConnectionLostError)
    if link is not home and (is_undone or may_repeat):
        raise NodeFailedError(str(error)) from error
    raise error


def _asked_there(asked: EntryRequest, error: CommandError) -> EntryRequest:
    """Return what to ask of the node that has the room."""
    if isinstance(asked, QuickPlay) and error.room is not None:
        return JoinRoom(id=0, room=error.room, boards=asked.boards)
    if isinstance(asked, WatchRoom):
        return replace(asked, follow=error.follow)
    return asked
