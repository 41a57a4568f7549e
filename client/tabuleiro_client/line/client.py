"""A person or script in line mode: their input, screen and names, and the ways into a room.

What is played where is chosen by :mod:`tabuleiro_client.line.launch` and :mod:`tabuleiro_client.line.menus`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Self

from tabuleiro.ids import Player, RoomCode
from tabuleiro.protocol.messages import JoinRoom, SeatRequest
from tabuleiro_client.line.match import LineMatch, Stay
from tabuleiro_client.line.questions import Menu
from tabuleiro_client.line.terminal import LineReader, Screen
from tabuleiro_client.models.saved_matches import RoomMemory, SavedMatches
from tabuleiro_client.net.entering import EntryRequest
from tabuleiro_client.net.files import config_folder, kept_setting
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.link import own_now_ms
from tabuleiro_client.net.room import enter
from tabuleiro_client.net.server import Venue, local_venue, remote_gallery, remote_venue
from tabuleiro_client.text.terminal import detect_style

Seats = tuple[SeatRequest, SeatRequest]


def seats_for(mine: Player, me: SeatRequest, other: SeatRequest) -> Seats:
    """Return the seats of a room in which ``me`` is on the seat ``mine``."""
    return (me, other) if mine == 0 else (other, me)


class LineClient:
    """A person or script at a terminal or pipe, with the names kept for them."""

    def __init__(
        self,
        lines: LineReader,
        screen: Screen,
        identities: IdentityFolder,
        name: str | None,
        saved_matches: SavedMatches,
    ) -> None:
        self.lines = lines
        self.screen = screen
        self.menu = Menu(screen, lines)
        self._identities = identities
        self.saved_matches = saved_matches
        self._name = name

    @classmethod
    def of_this_process(
        cls, *, is_ascii: bool, name: str | None, is_spoken: bool = False, has_report_cells: bool = False
    ) -> Self:
        """Return the client at standard input and output, as the guest ``name``; ``None``: the one used last.

        ``is_spoken``: words take the place of pictures.
        """
        # Without a standard input its number may belong to some other file by now.
        lines = LineReader(-1 if sys.stdin is None else sys.stdin.fileno())
        has_width = sys.stdout.isatty() and not is_spoken  # an event is one line to who listens
        width = shutil.get_terminal_size().columns if has_width else None
        style = replace(
            detect_style(sys.stdout, os.environ, force_ascii=is_ascii),
            is_spoken=is_spoken,
            has_report_cells=has_report_cells,
        )
        screen = Screen(sys.stdout, style, has_prompt=lines.is_terminal, width=width)
        folder = config_folder()
        return cls(lines, screen, IdentityFolder(folder), name, SavedMatches(folder))

    @asynccontextmanager
    async def remote(self, url: str) -> AsyncIterator[Venue]:
        """Connect to a server and tell who we are there. Raises: ClientError, CommandError."""
        ask_name = self._ask_name if self.lines.is_terminal else None
        async with remote_venue(url, self._identities, self._name, ask_name) as venue:
            self._tell_notices()
            self.screen.say(f"connected to {url} as {venue.link.welcome.name}")
            yield venue

    @asynccontextmanager
    async def gallery(self, url: str) -> AsyncIterator[Venue]:
        """Connect to a server to look on: as the guest that was named, or as one kept for that alone.

        Raises: ClientError, CommandError.
        """
        if self._name is None:
            async with remote_gallery(url, self._identities) as venue:
                self._tell_notices()
                yield venue
        else:
            async with self.remote(url) as venue:
                yield venue

    @asynccontextmanager
    async def local(self) -> AsyncIterator[Venue]:
        """Run a server in this process. Raises: as :func:`local_venue`."""
        async with local_venue(self._identities, self._name) as venue:
            self._tell_notices()
            yield venue

    async def enter(self, venue: Venue, request: EntryRequest, *, is_watching: bool = False) -> Stay:
        """Enter a room and stay in it; ``is_watching``: play nothing, even on an own seat.

        Raises: ClientError, CommandError.
        """
        async with await enter(venue.link, request) as room:
            head = room.mirror.head
            if isinstance(request, JoinRoom) and head.phase == "waiting":
                self.screen.say(
                    f"you ({venue.link.welcome.name}) sit here already; "
                    "a second person on this machine joins with --name and another name"
                )
            match = LineMatch(
                room,
                self.lines,
                self.screen,
                signposts=venue.signposts(room.code, room.secrets, is_private=head.settings.is_private),
                levels=venue.levels(type(room.mirror.game)),
                is_watching=is_watching,
                # A script says itself what it plays.
                lays_forced=self.lines.is_terminal and kept_setting("lays_forced") is not False,
            )
            memory = RoomMemory(self.saved_matches, venue, room)
            memory.note(own_now_ms())
            try:
                stay = await match.stay()
            finally:
                memory.note(own_now_ms())
            memory.forget_unplayed()
            return stay

    def private_rooms(self, venue: Venue) -> list[tuple[RoomCode, str]]:
        """Return codes and secrets of the private rooms remembered of ``venue``."""
        return self.saved_matches.private_rooms(venue.server, venue.link.welcome.name)

    async def _ask_name(self, why: str) -> str:
        if why:
            self.screen.say(why)
        return await self.menu.ask("your name", str)

    def _tell_notices(self) -> None:
        while self._identities.notices:
            self.screen.say(str(self._identities.notices.pop(0)))
