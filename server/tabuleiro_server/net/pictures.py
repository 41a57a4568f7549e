"""Pictures of positions for link previews: of listed rooms alone, one at a time, each position drawn once.

A process of low priority draws (`picture_process`), so that the event loop waits for nothing and a fault of
the drawing takes nothing else down.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections import OrderedDict
from importlib.util import find_spec
from typing import Any, Final

import msgspec
import structlog

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_server.room.commands import Watch
from tabuleiro_server.room.views import board_in, layout_in
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.sessions.peers import LobbyPeers
from tabuleiro_server.timers import time_limit

WIDTH_PX: Final = 1200
HEIGHT_PX: Final = 630
"""The size that sites expect of the picture of a link."""

KEPT_COUNT: Final = 100
"""Pictures that are kept; each has some 50 kB."""

WAITING_COUNT: Final = 8
"""Requests that may wait for a picture; further ones are refused as busy."""

LIMIT_S: Final = 8.0
"""The time for a picture; less than an unfinished connection has."""

# -P: a file in the current folder must not be imported in place of one of ours.
_COMMAND: Final = (sys.executable, "-P", "-m", "tabuleiro_server.net.picture_process")
_LIBRARIES: Final = ("dukpy", "resvg_py")
_STRANGER: Final = Watch(AccountId(""))

log = structlog.get_logger(__name__)


def can_draw() -> bool:
    """Return True if the extra ``pictures`` is installed."""
    return all(find_spec(library) is not None for library in _LIBRARIES)


class Pictures:
    """The pictures of rooms that the lobby lists, and of the matches in them."""

    def __init__(self, lobby: LobbyPeers, directory: Directory, archive: Archive) -> None:
        self._lobby = lobby
        self._directory = directory
        self._archive = archive
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._waiting_count = 0
        self._drawing = asyncio.Lock()

    async def picture(self, code: str, match: int | None) -> bytes | None:
        """Return the position of a room, or the last one of a match in it, as PNG.

        Returns:
            ``None`` for a room that is not listed, and for a match that it does not have.

        Raises:
            CommandError: Too many wait already, or the picture cannot be made now.
        """
        if await self._lobby.listed_room(code) is None:
            return None
        if self._waiting_count >= WAITING_COUNT:
            raise CommandError(ErrorCode.BUSY, "too many pictures are being drawn; try again in a moment")
        self._waiting_count += 1
        try:
            async with time_limit(LIMIT_S):
                return await self._position_drawn(code, match)
        except TimeoutError as error:
            raise CommandError(ErrorCode.BUSY, "the picture was not ready in time; try again soon") from error
        finally:
            self._waiting_count -= 1

    async def _position_drawn(self, code: str, match: int | None) -> bytes | None:
        try:
            position = await (self._now(code) if match is None else self._last_of(code, match))
        except CommandError as error:
            if error.code in (ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.ROOM_DAMAGED):
                raise
            return None
        text = msgspec.json.encode(position | {"width_px": WIDTH_PX, "height_px": HEIGHT_PX})
        key = hashlib.sha256(text).digest()
        async with self._drawing:
            if key not in self._kept:
                self._kept[key] = await _draw(text)
                if len(self._kept) > KEPT_COUNT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    async def _now(self, code: str) -> dict[str, Any]:
        try:
            room = (await self._directory.find(code)).state
        except CommandError as error:
            if error.code != ErrorCode.ELSEWHERE:
                raise
            return await self._last_of(code, None)
        return {"layout": layout_in(room), "board": board_in(room, with_choices=False)}

    async def _last_of(self, code: str, match: int | None) -> dict[str, Any]:
        record = await self._archive.find(code, match, _STRANGER)
        shown = await self._archive.boards(code, match, _STRANGER, len(record.actions), 1)
        return {"layout": shown.layout, "board": shown.boards[0]}


async def _draw(position: bytes) -> bytes:
    """Return the picture of a position.

    Raises:
        CommandError: It was not made.
    """
    try:
        process = await asyncio.create_subprocess_exec(*_COMMAND, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError as error:
        raise _not_drawn(str(error)) from error
    try:
        picture, _ = await process.communicate(position)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise _not_drawn(f"it ended with {process.returncode}")
    return picture


def _not_drawn(reason: str) -> CommandError:
    log.warning("picture not drawn", reason=reason)
    return CommandError(ErrorCode.BUSY, "the picture cannot be drawn now")
