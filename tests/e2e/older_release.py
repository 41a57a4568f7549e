"""Play matches between this version and an older one, and play on in an older database.

usage: python -m tests.e2e.older_release COMMIT

On a server of either version one seat is played by this version's library and the other by the older one's, in
every game. Then matches begun on the older server are finished on this one, in the same file, which is verified.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.older import older_python

GAMES: Final = ("virus-wars", "xero-g", "iris", "minefield")
LIMIT_S: Final = 120.0
ACTIONS_BEFORE: Final = 5
"""Actions that the first side makes on the older server before this version's server goes on."""

_match_numbers: Final = count(1)
_SEAT: Final = str(Path(__file__).parent / "library_seat.py")
_LISTENS: Final = "tabuleiro listens on "


class Seat:
    """A process that plays one seat."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def sit(cls, python: str, *words: str) -> Seat:
        """Start to play with the library that ``python`` has installed; words as library_seat.py takes them."""
        return cls(await asyncio.create_subprocess_exec(python, _SEAT, *words, stdout=asyncio.subprocess.PIPE))

    async def told(self) -> dict[str, Any]:
        """Return what the process tells next. Raises: SystemExit when it ends instead."""
        assert self._process.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            line = await self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a player ended with status {await self._process.wait()}")
        told: dict[str, Any] = json.loads(line)
        return told

    async def end(self) -> None:
        """End the process if it still runs; the other side may wait for a turn that nobody will make."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def serving(python: str, db: Path) -> AsyncIterator[str]:
    """Run the server that ``python`` has installed; give its address, and stop it at the end."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "tabuleiro_client", "serve", "--db", str(db), "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "TABULEIRO_LOG_LEVEL": "error"},
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            line = (await process.stdout.readline()).decode().strip()
        yield line.removeprefix(_LISTENS)
    finally:
        process.terminate()
        await process.wait()


async def play_match(url: str, creator: str, joiner: str, game: str, *limit: str) -> list[dict[str, Any]]:
    """Play a match between the libraries of two interpreters; return what each side told on entering.

    With a ``limit`` it ends for the time being once the first side has made so many actions.

    Raises: SystemExit when the sides do not see the same end.
    """
    number = next(_match_numbers)
    first = await Seat.sit(creator, url, f"ana-{number}", "1", "create", game, *limit)
    told_first = await first.told()
    second = await Seat.sit(joiner, url, f"rui-{number}", "2", "join", told_first["code"], *limit)
    told_second = await second.told()
    if limit:
        await first.told()
        await asyncio.gather(first.end(), second.end())
    else:
        check_same_end(game, list(await asyncio.gather(first.told(), second.told())))
    return [told_first, told_second]


def check_same_end(game: str, ends: list[dict[str, Any]]) -> None:
    """Print how a match ended. Raises: SystemExit when the sides do not agree or the match did not end."""
    if ends[0] != ends[1] or ends[0]["end"] is None:
        raise SystemExit(f"{game}: the two sides tell different ends: {ends}")
    print(f"  {game}: {ends[0]['end']} after {ends[0]['ply']} actions", flush=True)


async def play_on(url: str, python: str, game: str, seats: list[dict[str, Any]]) -> None:
    """Finish a match that was begun on another server. Raises: SystemExit as :func:`check_same_end`."""
    back = [
        await Seat.sit(python, url, "", f"{number}", "back", seat["code"], seat["token"])
        for number, seat in enumerate(seats)
    ]
    for seat in back:
        await seat.told()
    check_same_end(game, list(await asyncio.gather(*(seat.told() for seat in back))))


async def check(older: str, folder: Path) -> None:
    """Go through all that is promised between the two versions. Raises: SystemExit at the first difference."""
    own = sys.executable
    for name, server in (("this version's", own), ("the older", older)):
        async with serving(server, folder / f"{len(name)}.db") as url:
            for creator, joiner in ((own, older), (older, own)):
                print(f"on {name} server, the {'older' if joiner is older else 'newer'} side joins:", flush=True)
                for game in GAMES:
                    await play_match(url, creator, joiner, game)
    begun = {}
    database = folder / "begun.db"
    async with serving(older, database) as url:
        for game in GAMES:
            begun[game] = await play_match(url, older, older, game, str(ACTIONS_BEFORE))
    print("begun on the older server, finished on this version's:", flush=True)
    async with serving(own, database) as url:
        for game in GAMES:
            await play_on(url, own, game, begun[game])
    verify = await asyncio.create_subprocess_exec(
        own, "-m", "tabuleiro_client", "db", "verify", "--db", str(database)
    )
    if await verify.wait():
        raise SystemExit(f"db verify ended with status {verify.returncode}")


def main() -> None:
    """Check against the commit on the command line."""
    with tempfile.TemporaryDirectory() as name, older_python(sys.argv[1], Path(name)) as older:
        asyncio.run(check(older, Path(name)))


if __name__ == "__main__":
    main()
