"""The server this user is at: connecting, being told how the connection is, leaving. No textual, no screens.

A task of its own keeps the connection open, so that screens may come and go meanwhile. What connects is loaded
when it is needed, so that the program starts quickly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from tabuleiro.errors import CommandError, TabuleiroError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.net.subscription import LinkLost, LinkRestored

if TYPE_CHECKING:
    from pathlib import Path

    from tabuleiro_client.net.server import Venue

Listener = Callable[[], None]


class Session:
    """The venue this user is at, ``None`` for none; ``on_change`` is called whenever the connection changes.

    ``reason`` is why the connection was lost last, for people; empty while all is well.
    """

    def __init__(self, identities: IdentityFolder, on_change: Listener) -> None:
        self.venue: Venue | None = None
        self.reason = ""
        self._identities = identities
        self._on_change = on_change
        self._keeping: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()
        self._moving = asyncio.Lock()

    @property
    def state(self) -> LinkState:
        """The state of the connection; ``CLOSED`` without a server."""
        return LinkState.CLOSED if self.venue is None else self.venue.link.state

    async def be_online(self, url: str, name: str | None) -> Venue:
        """Be on the server at ``url`` as ``name``, ``None``: as the guest used last; connect only if need be.

        Raises: as :meth:`go_online`.
        """
        return self._present(url, name) or await self.go_online(url, name)

    async def be_local(self, name: str | None, server: str | None = None) -> Venue:
        """Be on the server of this process as ``name``, ``None``: as the guest used last; start it if need be.

        ``server`` is what a match is kept under whose database is needed, ``None`` for any.

        Raises: as :meth:`go_local`.
        """
        from tabuleiro_client.net.server import database_of_key

        database = None if server is None else database_of_key(server)
        venue = self.venue
        is_there = venue is not None and venue.is_local and self._present(venue.server, name) is not None
        if venue is not None and is_there and database in (None, database_of_key(venue.server)):
            return venue
        return await self.go_local(name, database)

    def _present(self, server: str, name: str | None) -> Venue | None:
        venue = self.venue
        if venue is None or self.state is not LinkState.CONNECTED or venue.server != server:
            return None
        return venue if name in (None, venue.link.welcome.name) else None

    async def go_online(self, url: str, name: str | None = None) -> Venue:
        """Leave where we are and connect to ``url`` as ``name``, ``None``: as the guest used last, or a new one.

        Raises: ClientError, CommandError, ConnectionLostError.
        """
        from tabuleiro_client.net.server import remote_venue

        return await self._go(remote_venue(url, self._identities, name, None))

    async def go_looking_on(self, url: str) -> Venue:
        """Leave where we are and connect to ``url`` only to watch. Raises: as :meth:`go_online`."""
        from tabuleiro_client.net.server import remote_gallery

        return await self._go(remote_gallery(url, self._identities))

    async def go_local(self, name: str | None = None, database: Path | None = None) -> Venue:
        """Leave where we are and run a server in this process, on ``database``, ``None``: on the first free one.

        Raises: ModuleNotFoundError when the extra `server` is not installed, StoreError, ClientError.
        """
        from tabuleiro_client.net.server import local_venue

        return await self._go(local_venue(self._identities, name, database))

    async def leave(self) -> None:
        """End the connection, or give up making one; nothing happens without.

        What was begun has ended when this returns, also if an earlier call was cancelled before it had.
        """
        keeping = self._keeping
        if keeping is None:
            return
        if not self._leaving.is_set():
            self._leaving.set()
            if self.venue is None:
                keeping.cancel()  # a server that does not answer would hold us up
        await asyncio.wait([keeping])
        if keeping is self._keeping:
            self._keeping, self.venue, self.reason = None, None, ""
            self._on_change()

    async def _go(self, place: AbstractAsyncContextManager[Venue]) -> Venue:
        # One after the other: a way that is given up must leave its own place, and not that of the next.
        async with self._moving:
            await self.leave()
            self._leaving = asyncio.Event()
            arrived: asyncio.Future[Venue] = asyncio.get_running_loop().create_future()
            self._keeping = asyncio.create_task(self._keep(place, arrived, self._leaving), name="session")
            try:
                return await arrived
            except BaseException:
                await self.leave()
                raise

    async def _keep(
        self,
        place: AbstractAsyncContextManager[Venue],
        arrived: asyncio.Future[Venue],
        leaving: asyncio.Event,
    ) -> None:
        """Stay at ``place`` until told to leave; why we did not get there is the answer of ``arrived``."""
        try:
            async with place as venue:
                self.venue, self.reason = venue, ""
                listening = asyncio.create_task(self._listen(venue), name="session listening")
                if not arrived.done():  # nobody waits any more for a way that was given up
                    arrived.set_result(venue)
                self._on_change()
                try:
                    await leaving.wait()
                finally:
                    listening.cancel()
                    await asyncio.wait([listening])
        except (TabuleiroError, ModuleNotFoundError, OSError) as error:
            if arrived.done():
                self.reason = _reason(error)
            else:
                arrived.set_exception(error)
        finally:
            self._on_change()

    async def _listen(self, venue: Venue) -> None:
        subscription = venue.link.subscribe()
        try:
            async for told in subscription:
                if isinstance(told, LinkLost):
                    self.reason = told.reason
                elif isinstance(told, LinkRestored):
                    self.reason = ""
                else:
                    continue
                self._on_change()
        except TabuleiroError as error:
            self.reason = _reason(error)
        finally:
            venue.link.unsubscribe(subscription)
            self._on_change()


def _reason(error: Exception) -> str:
    """Why the connection ended for good, for people."""
    if isinstance(error, CommandError):
        is_forgotten = error.code == ErrorCode.BAD_TOKEN
        return "this server does not know you any more" if is_forgotten else error.message
    return str(error)
