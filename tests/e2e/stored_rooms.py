"""Fills a file with unfinished rooms, as a server that has run for long would leave it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tabuleiro.ids import ROOM_CODE_LETTERS, AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import Event, RoomSecrets, SequencedEvent
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.rules import registry
from tabuleiro.settings import RoomLimits, RoomSettings
from tabuleiro_server.room.commands import Chance, Join, OpenRoom, Play
from tabuleiro_server.room.decide import decide, open_room
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.journal import Journal, rows_of
from tabuleiro_server.store.port import FIRST_INCARNATION
from tabuleiro_server.store.sqlite.store import SqliteStore

AT_ONCE_COUNT: Final = 500
_OPTIONS: Final[dict[str, dict[str, int | str]]] = {
    "virus-wars": {"rows": 8, "cols": 8},
    "xero-g": {},
    "iris": {},
    "minefield": {},
}


def room_code(number: int) -> RoomCode:
    """The code of the room of this number."""
    letters = ""
    for _ in range(5):
        number, rest = divmod(number, len(ROOM_CODE_LETTERS))
        letters += ROOM_CODE_LETTERS[rest]
    return RoomCode(letters)


def unfinished_room(
    number: int, seats: tuple[SeatRequest, SeatRequest], settings: RoomSettings, action_count: int
) -> list[SequencedEvent]:
    """The events of a room in which a match has been played for ``action_count`` actions at most."""
    game = registry.names()[number % len(registry.names())]
    host, guest = AccountId(f"host-{number}"), AccountId(f"guest-{number}")
    draws = Chance(number, False)
    command = OpenRoom(
        room_code(number),
        host,
        f"host-{number}",
        game,
        _OPTIONS[game],
        seats,
        settings,
        RoomLimits(),
        ("random",),
        RoomSecrets("invite", "watch"),
        draws,
    )
    now_ms = TimestampMs(time.time_ns() // 1_000_000)
    events: list[SequencedEvent] = []

    def add(new: Sequence[Event], before: RoomState | None) -> RoomState:
        first = len(events) + 1
        added = [SequencedEvent(Seq(seq), now_ms, event) for seq, event in enumerate(new, start=first)]
        events.extend(added)
        return replay(added, before)

    room = add(open_room(command), None)
    if room.has_open_seat:
        room = add(decide(room, Join(guest, f"guest-{number}", draws), now_ms), room)
    chance = random.Random(number)
    for _ in range(action_count):
        match = room.match
        if match is None or match.to_move is None or room.is_bot_to_move:
            break
        account = room.seats[match.to_move].account
        assert account is not None
        action = match.state.action_to_string(chance.choice(match.state.legal_actions()))
        room = add(decide(room, Play(account, match.number, len(match.actions), (action,)), now_ms), room)
    return events


async def fill(
    path: Path,
    room_count: int,
    seats: tuple[SeatRequest, SeatRequest] = (SeatRequest("me"), SeatRequest()),
    settings: RoomSettings = RoomSettings(),
    action_count: int = 6,
) -> None:
    """Store rooms number 0 to ``room_count`` - 1 in the file at ``path``."""
    async with AsyncExitStack() as stack:
        store = await SqliteStore.open(path, rows_of, synchronous="NORMAL")
        stack.push_async_callback(store.close)
        journal = Journal(store)
        for first in range(0, room_count, AT_ONCE_COUNT):
            numbers = range(first, min(first + AT_ONCE_COUNT, room_count))
            rooms = (unfinished_room(number, seats, settings, action_count) for number in numbers)
            await asyncio.gather(*(journal.append(None, events, FIRST_INCARNATION).stored for events in rooms))
