"""The server inside the client's process, for matches on this machine: the one place where client meets server.

Its rooms are kept in the user's data folder, so a match can be gone on with another day.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import ClientError, DatabaseLockedError
from tabuleiro_client.folders import data_folder

_DATABASES_MAX_COUNT: Final = 50


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A server of this process. ``key`` names it among the servers that guests are kept for."""

    url: str
    key: str


@asynccontextmanager
async def embedded_server() -> AsyncIterator[EmbeddedServer]:
    """Run a server on a free loopback port for as long as the context lasts.

    The first of ``local.db``, ``local-2.db``, ... that no other terminal is using holds its rooms.

    Raises: ModuleNotFoundError when the extra `server` is not installed, StoreError, ClientError.
    """
    from tabuleiro_server.wiring import embedded_server as run_embedded

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClientError(f"the folder {folder} for local matches cannot be made: {error.strerror}") from error
    async with AsyncExitStack() as stack:
        for number in range(1, _DATABASES_MAX_COUNT + 1):
            database = folder / ("local.db" if number == 1 else f"local-{number}.db")
            try:
                server = await stack.enter_async_context(run_embedded(database))
            except DatabaseLockedError:
                continue
            yield EmbeddedServer(server.url, f"local {database.name}")
            return
    raise ClientError(f"all {_DATABASES_MAX_COUNT} databases in {folder} are in use by other terminals")
