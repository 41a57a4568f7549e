"""The server's part of the command line: arguments in, exit status out."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer

from tabuleiro.errors import ConfigError
from tabuleiro_server.config import Config, load_config
from tabuleiro_server.obs.logs import configure_logs
from tabuleiro_server.wiring import running_server

log = structlog.get_logger(__name__)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = None,
    port: Annotated[int | None, typer.Option(help="TCP port; 0 takes any free one.")] = None,
    db: Annotated[Path | None, typer.Option(help="SQLite file; made if absent.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with settings.")] = None,
) -> None:
    """Host a game server until it is told to stop (Ctrl-C or SIGTERM)."""
    settings = load_config(config, host=host, port=port, db=None if db is None else str(db))
    configure_logs(settings.log_level)
    try:
        _run(settings)
    except OSError as error:
        raise ConfigError(
            f"{settings.host}:{settings.port}", "host and port", f"a free address: {error}"
        ) from error


def _run(settings: Config) -> None:
    if sys.platform == "win32":
        asyncio.run(_serve(settings))
    else:
        import uvloop

        uvloop.run(_serve(settings))


async def _serve(settings: Config) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running_server(settings) as server:
        print(f"tabuleiro listens on {server.url}", flush=True)
        await stop.wait()
        log.info("stopping")
    log.info("stopped")
