"""What a server could do at best: a bare relay of websockets and msgpack that checks nothing.

``relay.py`` stores nothing; ``relay.py FILE`` commits every move to SQLite, all that wait in one transaction,
before it is acknowledged. Each move is acknowledged to its sender and told to everybody in the room, as
`tabuleiro_server` does.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from typing import Any

import msgpack
import uvloop
import websockets
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol


class GroupWriter:
    """Commits whatever waits at one moment in one transaction."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE moves (id INTEGER PRIMARY KEY, room INTEGER, move BLOB)")
        self._waiting: list[tuple[tuple[int, bytes], asyncio.Future[None]]] = []
        self._wanted = asyncio.Event()

    async def add(self, room: int, move: bytes) -> None:
        """Return when the move is on disk."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(((room, move), done))
        self._wanted.set()
        await done

    async def run(self) -> None:
        """Commit one group after the other."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            group, self._waiting = self._waiting, []
            await asyncio.to_thread(self._commit, [row for row, _ in group])
            for _, done in group:
                done.set_result(None)

    def _commit(self, rows: list[tuple[int, bytes]]) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO moves (room, move) VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")


class Relay:
    """The rooms by number, and the writer if moves are stored."""

    def __init__(self, writer: GroupWriter | None) -> None:
        self._rooms: dict[int, set[ServerConnection]] = {}
        self._writer = writer

    async def serve(self, connection: ServerConnection) -> None:
        """Serve one client: its first message names its room."""
        hello: dict[str, Any] = msgpack.unpackb(await connection.recv())
        number: int = hello["room"]
        room = self._rooms.setdefault(number, set())
        room.add(connection)
        await connection.send(msgpack.packb({"type": "ok", "id": hello["id"]}))
        try:
            async for frame in connection:
                assert isinstance(frame, bytes)
                message = msgpack.unpackb(frame)
                if self._writer is not None:
                    await self._writer.add(number, frame)
                await connection.send(msgpack.packb({"type": "ok", "id": message["id"]}))
                event = {"type": "actions-played", "ply": message["ply"], "actions": message["actions"]}
                told = msgpack.packb({"type": "update", "events": [{"event": event}]})
                websockets.broadcast(room, told)
        finally:
            room.discard(connection)


async def main() -> None:
    """Serve on a free port until killed."""
    writer = GroupWriter(sys.argv[1]) if len(sys.argv) > 1 else None
    writing = None if writer is None else asyncio.create_task(writer.run())
    relay = Relay(writer)
    subprotocols = [Subprotocol("tabuleiro.v1.msgpack")]
    async with serve(relay.serve, "127.0.0.1", 0, compression=None, subprotocols=subprotocols) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(f"tabuleiro listens on ws://127.0.0.1:{port}", flush=True)
        await (writing or asyncio.Event().wait())


if __name__ == "__main__":
    uvloop.run(main())
