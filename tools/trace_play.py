"""Print the files of the product that one `play` passes through, from its frame to the disk and back to everybody.

usage: python tools/trace_play.py     with the interpreter of the environment of the checkout to be looked at

A server runs in this process. Two players and a watcher are in a room with a clock, each over a real connection;
the players make whole turns. A file counts if one of its functions runs between the frame of a turn and the
moment when the answer and all notifications have come, in each of the turns. Types without a function that runs
(such as messages and events) are not seen.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

import tabuleiro
import tabuleiro_server
from tabuleiro.clock import Fischer
from tabuleiro.protocol import messages
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.rules import State, registry
from tabuleiro.settings import RoomSettings
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

GAME = "virus-wars"
TURNS_COUNT = 8
"""The first turns warm up what is made at first use; a file has to be in all the others."""
WARM_UP_COUNT = 2
LIMIT_S = 20.0
PACKAGES = tuple(f"{package.__path__[0]}/" for package in (tabuleiro, tabuleiro_server))
CODEC = MsgpackCodec()


class Trace:
    """The files of the product whose functions have run while it is on, in the order of their first call."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.is_on = False

    def install(self) -> None:
        """Look at every call of this thread and of all threads to come."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, _: object) -> None:
        if self.is_on and event == "call" and frame.f_code.co_filename.startswith(PACKAGES):
            self.files.setdefault(frame.f_code.co_filename)


async def answer(connection: ClientConnection, message: messages.ClientMessage) -> Any:
    """Send a request and return the result of its answer."""
    await connection.send(CODEC.encode(message))
    async with asyncio.timeout(LIMIT_S):
        while True:
            said = CODEC.decode_server(await connection.recv(decode=False))
            if isinstance(said, messages.Error):
                raise SystemExit(f"the server refused {type(message).__name__}: {said.message}")
            if isinstance(said, messages.Ok):
                return said.result


def whole_turn(state: State) -> tuple[tuple[str, ...], State]:
    """Return the texts of the first turn there is in a position, and the position after it."""
    texts: list[str] = []
    while not texts or state.actions_in_turn:
        action = state.legal_actions()[0]
        texts.append(state.action_to_string(action))
        state = state.child(action)
    return tuple(texts), state


async def play_turns(
    trace: Trace, players: Sequence[ClientConnection], watcher: ClientConnection
) -> list[list[str]]:
    """Play turns in a new room; return the files of each turn but the first ones."""
    settings = RoomSettings(time_control=Fischer(600_000, 0))
    seats = (messages.SeatRequest("me"), messages.SeatRequest())
    for number, connection in enumerate((*players, watcher)):
        await answer(connection, messages.Hello(id=1, name=f"tracer{number}"))
    entered = await answer(
        players[0], messages.CreateRoom(id=2, game=GAME, options={}, seats=seats, settings=settings)
    )
    room = entered.head.room
    await answer(watcher, messages.WatchRoom(id=2, room=room))
    await answer(players[1], messages.JoinRoom(id=2, room=room))
    state = registry.load(GAME, {}).initial_state()
    ply, found = 0, list[list[str]]()
    await drained((*players, watcher))
    for number in range(TURNS_COUNT):
        player = players[state.to_move or 0]
        texts, state = whole_turn(state)
        frame = CODEC.encode(messages.Play(id=3 + number, room=room, match=1, ply=ply, actions=texts))
        ply += len(texts)
        trace.files.clear()
        trace.is_on = True
        await player.send(frame)
        # The answer and the notification for the sender; the notification for everybody else.
        async with asyncio.timeout(LIMIT_S):
            await player.recv()
            await asyncio.gather(*(connection.recv() for connection in (*players, watcher)))
        trace.is_on = False
        found.append(list(trace.files))
    return found[WARM_UP_COUNT:]


async def drained(connections: Sequence[ClientConnection]) -> None:
    """Read what the server says of the people who came, until it is quiet."""
    for connection in connections:
        while True:
            try:
                async with asyncio.timeout(0.3):
                    await connection.recv()
            except TimeoutError:
                break


async def traced() -> list[str]:
    """Return the files that every turn passed through, in order."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    trace = Trace()
    trace.install()
    with tempfile.TemporaryDirectory() as folder:
        seldom_ms = 86_400_000
        config = Config(db=f"{folder}/trace.db", port=0, lobby_wake_ms=seldom_ms, ping_interval_ms=seldom_ms)
        async with running_server(config) as server:
            offered = [Subprotocol(CODEC.subprotocol)]
            async with (
                connect(server.url, subprotocols=offered, proxy=None) as first,
                connect(server.url, subprotocols=offered, proxy=None) as second,
                connect(server.url, subprotocols=offered, proxy=None) as watcher,
            ):
                turns = await play_turns(trace, (first, second), watcher)
    return [file for file in turns[0] if all(file in turn for turn in turns)]


def main() -> None:
    """Print the files with their number."""
    files = asyncio.run(traced())
    for number, file in enumerate(files, start=1):
        package = next(package for package in PACKAGES if file.startswith(package))
        print(f"{number:>3} {Path(file).relative_to(Path(package).parent)}")
    print(f"a play passes through {len(files)} files")


if __name__ == "__main__":
    main()
