"""The list of rooms of a server, followed over lost connections. Showing it is left to others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

from tabuleiro.errors import CommandError, ConnectionLostError, GameOptionError
from tabuleiro.ids import AccountId, Phase, RoomCode, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import (
    Announcement,
    CreateRoom,
    JoinRoom,
    LobbyUpdate,
    RoomList,
    RoomSummary,
    SeatRequest,
    WatchRoom,
)
from tabuleiro.rules import registry
from tabuleiro_client.net.entering import EntryRequest
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.mirror import seats_of
from tabuleiro_client.net.room import enter
from tabuleiro_client.net.subscription import LinkLost, LinkRestored, Missed, Subscription

LobbyNews = RoomList | LobbyUpdate | Announcement | LinkLost
"""A ``RoomList`` is the whole list anew: at first, and after a lost connection."""


@asynccontextmanager
async def follow_lobby(
    link: Link, game: str | None = None, phases: Sequence[Phase] | None = None
) -> AsyncIterator[AsyncIterator[LobbyNews]]:
    """Follow the listed rooms of ``game``, or of all games, in ``phases``, or all that are unfinished.

    The iterator ends when the link is closed and raises what ended it otherwise.

    Raises: CommandError, ConnectionLostError.
    """
    subscription = link.subscribe()
    try:
        with link.following_lobby():
            listed = await link.follow_lobby(game, phases)
            yield _iter_news(link, subscription, listed, game, phases)
    finally:
        link.unsubscribe(subscription)


async def _iter_news(
    link: Link, subscription: Subscription, listed: RoomList, game: str | None, phases: Sequence[Phase] | None
) -> AsyncIterator[LobbyNews]:
    yield listed
    async for told in subscription:
        if isinstance(told, LobbyUpdate | Announcement | LinkLost):
            yield told
        elif isinstance(told, LinkRestored | Missed):
            try:
                yield await link.follow_lobby(game, phases)
            except ConnectionLostError:
                continue  # the subscription tells what becomes of it


async def own_room(
    link: Link, request: EntryRequest, private: Iterable[tuple[RoomCode, str]] = ()
) -> JoinRoom | None:
    """Return the way back into an unfinished room that such a request of this guest has made; ``None`` for none.

    Somebody whose terminal was closed repeats a command, and wants to be in the same room again. ``private`` are
    the codes and secrets of rooms that the server does not list.

    Raises: CommandError, ConnectionLostError.
    """
    if not isinstance(request, CreateRoom):
        return None
    if request.settings.is_private:
        return await _own_private_room(link, request, private)
    listed = await link.list_rooms(request.game)
    made = [room for room in listed.rooms if _is_made_by(request, room, link.account)]
    return JoinRoom(id=0, room=max(made, key=lambda room: room.created_at_ms).room) if made else None


async def _own_private_room(
    link: Link, request: CreateRoom, private: Iterable[tuple[RoomCode, str]]
) -> JoinRoom | None:
    for code, secret in private:
        with suppress(CommandError):  # the room may be gone
            async with await enter(link, WatchRoom(id=0, room=code, secret=secret)) as room:
                head = room.mirror.head
                is_open = head.phase in ("waiting", "playing") and room.mirror.game.name == request.game
                summary = RoomSummary(
                    head.room,
                    head.phase,
                    room.mirror.game.name,
                    dict(head.options),
                    seats_of(head),
                    TimestampMs(0),
                    head.settings,
                )
            if is_open and _is_made_by(request, summary, link.account):
                return JoinRoom(id=0, room=code, secret=secret)
    return None


def _is_made_by(request: CreateRoom, room: RoomSummary, account: AccountId) -> bool:
    orders = (room.seats, room.seats[::-1]) if request.settings.first == "draw" else (room.seats,)
    is_seated = any(
        all(_is_on_seat(wanted, seat, account) for wanted, seat in zip(request.seats, order, strict=True))
        for order in orders
    )
    return is_seated and room.settings == request.settings and _are_options(request, room)


def _is_on_seat(wanted: SeatRequest, seat: SeatInfo, account: AccountId) -> bool:
    match wanted.kind:
        case "me":
            return seat.account == account
        case "bot":
            return seat.kind == "bot" and seat.level == wanted.level
        case _:
            return seat.kind in ("open", "person") and seat.account != account


def _are_options(request: CreateRoom, room: RoomSummary) -> bool:
    """Return whether the room has the options asked for; a seed that was left out may be any."""
    try:
        wanted = dict(registry.load(request.game, request.options).options)
    except GameOptionError:
        return False
    drawn = set() if "seed" in request.options else {"seed"}
    return {name: wanted[name] for name in wanted.keys() - drawn} == {
        name: room.options[name] for name in room.options.keys() - drawn
    }
