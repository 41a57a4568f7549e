"""The server's part of the command line: arguments in, exit status out."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer

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
    configure_logs(settings.log_level, settings.log_style)
    if sys.platform == "win32":
        asyncio.run(_serve(settings))
    else:
        import uvloop

        uvloop.run(_serve(settings))


async def _serve(settings: Config) -> None:
    stop = asyncio.Event()
    _set_when_told_to_stop(stop)
    async with running_server(settings) as server:
        print(f"tabuleiro listens on {server.url}", flush=True)
        await stop.wait()
        log.info("stopping")
    log.info("stopped")


def _set_when_told_to_stop(stop: asyncio.Event) -> None:
    """Set ``stop`` at Ctrl-C or SIGTERM."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop.set)
        except NotImplementedError:  # the event loops of Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
