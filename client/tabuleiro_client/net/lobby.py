"""The list of rooms of a server, followed over lost connections. Showing it is left to others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tabuleiro.errors import ConnectionLostError
from tabuleiro.ids import Phase
from tabuleiro.protocol.messages import Announcement, LobbyUpdate, RoomList
from tabuleiro_client.net.link import Link
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
