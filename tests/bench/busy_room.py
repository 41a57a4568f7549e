"""A room in which much happens, in a process of its own: the side of a server, by a script, and a bot that thinks.

    python -m tests.bench.busy_room GAME EVENTS

Prints its address, then obeys lines: ``busy`` makes EVENTS events a second, ``quiet`` one (the bots' moves); the
end of the input ends it all. Every line is answered with itself. A script, because a real room would not stand for
so much: it lets nobody talk that often, and tells at most ten times a second that people come and go. All messages
are such as a server could send, and are checked by the client as ever. Measuring is left to the benches.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from typing import Any, Final

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tabuleiro.clock import Fischer, begin_turn, new_clock
from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchEnded,
    MatchStarted,
    Said,
    SeatInfo,
    SequencedEvent,
)
from tabuleiro.protocol.messages import (
    BotThought,
    ClientMessage,
    Hello,
    MatchView,
    Ok,
    RoomEntered,
    RoomHead,
    SeatView,
    Snapshot,
    Update,
    WatchRoom,
    Welcome,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro.rules import State, registry
from tabuleiro.settings import RoomSettings

NICENESS: Final = 5
"""Of the bot, as in a server; this process gives way as well, as a server on another machine would."""
CODE: Final = "K7MQ4"
BLITZ: Final = Fischer(300_000, 3_000)
SPEAKERS: Final = 40
MOVE_EVERY: Final = 20
"""One event of so many is a move; a quarter of the others are comings and goings, the rest is talk."""


def now_ms() -> TimestampMs:
    """The time of day."""
    return TimestampMs(time.time_ns() // 1_000_000)


class Script:
    """The room: :meth:`next` makes what happens next. The same every time, but for the time of day."""

    def __init__(self, game: str) -> None:
        self._chance = random.Random(7)
        self._game = registry.load(game, {})
        self._state: State = self._game.initial_state()
        self._actions: list[str] = []
        self._count = 0
        bots = (SeatInfo("bot", AccountId(f"b{seat}"), f"bot {seat}", "expert") for seat in "01")
        seats = tuple(SeatView(bot, True) for bot in bots)
        self.head = RoomHead(
            room=RoomCode(CODE),
            seq=Seq(1),
            phase="playing",
            game=game,
            options=dict(self._game.options),
            host_name="host",
            created_at_ms=now_ms(),
            seats=(seats[0], seats[1]),
            now_ms=now_ms(),
            settings=RoomSettings(time_control=BLITZ),
            match=self._match(1),
            thinking=BotThought(0, now_ms()),
        )

    def _match(self, number: int) -> MatchView:
        state, at_ms = self._state, now_ms()
        clock = new_clock(BLITZ)
        if state.to_move is not None:
            clock = begin_turn(BLITZ, clock, state.to_move, at_ms)
        return MatchView(number, Ply(len(self._actions)), state.to_move, state.digest(), at_ms, clock=clock)

    def entered(self) -> RoomEntered:
        """The answer to somebody who comes to watch."""
        return RoomEntered(self.head, None, Snapshot(tuple(self._actions)))

    def move(self) -> Update:
        """A bot has moved; the match after the last move, if that was one."""
        match = self.head.match
        assert match is not None
        if self._state.to_move is None:
            self._state, self._actions = self._game.initial_state(), []
            return self._told(MatchStarted(match.number + 1), match=self._match(match.number + 1), phase="playing")
        player, ply = self._state.to_move, Ply(len(self._actions))
        action = self._chance.choice(list(self._state.legal_actions()))
        self._actions.append(self._state.action_to_string(action))
        self._state = self._state.child(action)
        played = ActionsPlayed(match.number, ply, player, (self._actions[-1],))
        after, outcome = self._match(match.number), self._state.outcome
        if self._state.to_move is not None:
            return self._told(played, match=after, thinking=BotThought(self._state.to_move, now_ms()))
        assert outcome is not None
        ended = MatchEnded(match.number, outcome.winner, outcome.termination)
        after = msgspec.structs.replace(after, winner=outcome.winner, termination=outcome.termination, clock=None)
        return self._told(played, ended, match=after, thinking=None, phase="finished")

    def next(self) -> Update:
        """What happens next."""
        self._count += 1
        if self._count % MOVE_EVERY == 0:
            return self.move()
        if self._count % 4 == 1:
            return self._told(watchers=2 + self._count // 4 % 5)
        name = f"p{self._chance.randrange(SPEAKERS)}"
        return self._told(Said(AccountId(name), name, f"word {self._count}, and a few more", is_player=False))

    def _told(self, *happened: Event, **changes: Any) -> Update:
        at_ms, seq = now_ms(), self.head.seq
        events = tuple(
            SequencedEvent(Seq(number), at_ms, event) for number, event in enumerate(happened, start=seq + 1)
        )
        self.head = msgspec.structs.replace(self.head, now_ms=at_ms, seq=Seq(seq + len(events)), **changes)
        return Update(self.head, events)


class ScriptedServer:
    """Lets everybody watch the one room there is."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._codec = MsgpackCodec()
        self._watching: set[ServerConnection] = set()

    async def serve(self, connection: ServerConnection) -> None:
        """Answer one client until it goes."""
        try:
            async for frame in connection:
                assert isinstance(frame, bytes)
                message = self._codec.decode_client(frame)
                await connection.send(self._codec.encode(self._answer(message)))
                if isinstance(message, WatchRoom):
                    self._watching.add(connection)
        except ConnectionClosed:
            pass
        self._watching.discard(connection)

    def _answer(self, message: ClientMessage) -> Ok:
        if isinstance(message, Hello):
            name = message.name or "guest"
            return Ok(message.id, Welcome(AccountId(name), name, "scripted", now_ms(), {}, token="a" * 43))
        return Ok(message.id, self._script.entered() if isinstance(message, WatchRoom) else None)

    async def tell(self, update: Update) -> None:
        """Tell everybody who watches."""
        frame = self._codec.encode(update)
        for connection in tuple(self._watching):
            try:
                await connection.send(frame)
            except ConnectionClosed:
                self._watching.discard(connection)


async def happen(server: ScriptedServer, script: Script, events_per_s: float, *, is_busy: bool) -> None:
    """Let things happen at their times; what is late is made up for."""
    loop = asyncio.get_running_loop()
    due_s = loop.time()
    while True:
        due_s += 1 / events_per_s
        await asyncio.sleep(max(0.0, due_s - loop.time()))
        await server.tell(script.next() if is_busy else script.move())


async def obey(game: str, events_per_s: float) -> None:
    """Open the room and do what the lines of the input say."""
    script = Script(game)
    server = ScriptedServer(script)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    thinker = await asyncio.create_subprocess_exec(sys.executable, __file__, game)
    try:
        async with serve(server.serve, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL_MSGPACK]) as listening:  # type: ignore[list-item]
            port = next(iter(listening.sockets)).getsockname()[1]
            print(f"ws://127.0.0.1:{port} {CODE}", flush=True)
            happening = asyncio.create_task(happen(server, script, 1, is_busy=False))
            while line := (await lines.readline()).decode().strip():
                happening.cancel()
                is_busy = line == "busy"
                rate = events_per_s if is_busy else 1
                happening = asyncio.create_task(happen(server, script, rate, is_busy=is_busy))
                print(line, flush=True)
            happening.cancel()
    finally:
        thinker.kill()
        await thinker.wait()


def think(game: str) -> None:
    """Do as a bot that thinks and thinks: play games by chance, until killed."""
    os.nice(NICENESS)
    chance = random.Random(1)
    start = registry.load(game, {}).initial_state()
    while True:
        state = start
        while state.to_move is not None:
            state = state.child(chance.choice(list(state.legal_actions())))


def main() -> None:
    if len(sys.argv) == 2:
        think(sys.argv[1])
    os.nice(NICENESS)
    asyncio.run(obey(sys.argv[1], float(sys.argv[2])))


if __name__ == "__main__":
    main()
