"""One seat of a match, played at random through the public client library of whichever version runs this.

usage: python library_seat.py URL NAME SEED (create GAME | join CODE | back CODE TOKEN) [MAX_ACTIONS]

Prints a line of JSON once in the room, with its code and the token, and another at the end. It imports nothing but
the library, so that an older version can run it.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

from tabuleiro.clock import NO_CLOCK, Fischer
from tabuleiro.protocol.messages import RoomSettings  # its home has moved since
from tabuleiro_client import connect

LIMIT_S = 120.0
OPTIONS: dict[str, dict[str, int | str]] = {
    "virus-wars": {"rows": 6, "cols": 6},
    "xero-g": {},
    "iris": {"side": 5},
    "minefield": {"size": 6},
}
WITH_CLOCK = ("iris", "minefield")
RESIGN_AFTER = 40
"""Random matches of Xero-G can take thousands of actions."""


def entrance(client: Any, way: str, what: str) -> AbstractAsyncContextManager[Any]:
    """Return the way into the room, as told on the command line."""
    if way == "create":
        settings = RoomSettings(time_control=Fischer(300_000, 3_000) if what in WITH_CLOCK else NO_CLOCK)
        return client.create(what, OPTIONS[what], settings=settings)  # type: ignore[no-any-return]
    return client.join(what) if way == "join" else client.watch(what)  # type: ignore[no-any-return]


async def play(url: str, name: str, seed: str, way: str, what: str, *rest: str) -> None:
    """Play one seat until the match ends, or until ``MAX_ACTIONS`` own actions were made."""
    token, limits = (rest[0], rest[1:]) if way == "back" else (None, rest)
    max_actions = int(limits[0]) if limits else None
    chance = random.Random(seed)
    async with (
        asyncio.timeout(LIMIT_S),
        connect(url, name=None if token else name, token=token) as client,
        entrance(client, way, what) as room,
    ):
        print(json.dumps({"code": room.code, "token": client.token or token}), flush=True)
        actions_made = 0
        async for state in room.turns():
            if actions_made == RESIGN_AFTER:
                await room.resign()
                continue
            await room.play([state.action_to_string(chance.choice(state.legal_actions()))])
            actions_made += 1
            if actions_made == max_actions:
                break
        match = room.mirror.match
        print(
            json.dumps({"ply": match.ply, "digest": room.mirror.state.digest(), "end": match.termination}),
            flush=True,
        )


if __name__ == "__main__":
    asyncio.run(play(*sys.argv[1:]))
