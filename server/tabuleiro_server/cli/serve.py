"""The server's part of the command line: arguments in, exit status out."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Final

import structlog
import typer

from tabuleiro_server.cli.logs import configure_logs
from tabuleiro_server.cli.open_files import allow_open_files
from tabuleiro_server.config import Config, load_config
from tabuleiro_server.sessions.lifecycle import Lifecycle
from tabuleiro_server.wiring import now_ms, running_server

GARBAGE_THRESHOLDS: Final = (50_000, 10, 10)
"""New objects before the youngest are looked through; of these rounds, before older and all ones are as well."""

SWITCH_INTERVAL_S: Final = 0.001
"""How long the thread that commits waits at most for the interpreter: everybody waits for the commit."""

STOP_PARTS_COUNT: Final = 8
"""Parts of a stop that each have the whole of `shutdown_limit_ms`."""

STOP_MARGIN_S: Final = 15.0
"""What a stop may take beyond its limits: what is given up gets a moment to see that."""

log = structlog.get_logger(__name__)


def serve(
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", help="TCP port; 0 takes any free one.")] = None,
    db: Annotated[Path | None, typer.Option(metavar="FILE", help="SQLite file; made if absent.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file with settings.")] = None,
) -> None:
    """Host a game server until it is told to stop (Ctrl-C or SIGTERM); told twice, it hurries."""
    settings = load_config(config, host=host, port=port, db=None if db is None else str(db))
    configure_logs(settings.log_level, settings.log_style)
    if sys.platform == "win32":
        asyncio.run(_serve(settings))
    else:
        import uvloop

        uvloop.run(_serve(settings))


async def _serve(settings: Config) -> None:
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    lifecycle = Lifecycle(settings, now_ms)
    _stop_when_told(lifecycle)
    allow_open_files(settings.connections_count)
    async with running_server(settings, lifecycle) as server:
        _collect_garbage_seldom()
        print(f"tabuleiro listens on {server.url}", flush=True)
        await lifecycle.stop_requested()
        longest_ms = settings.shutdown_notice_ms + STOP_PARTS_COUNT * settings.shutdown_limit_ms
        end_at_last(longest_ms / 1000 + STOP_MARGIN_S)
        log.info("stopping")
        await server.wind_down()
    log.info("stopped")


def _collect_garbage_seldom() -> None:
    """Look for cyclic garbage less often than Python does by itself, and never in what was there at the start.

    Rooms and connections are many long-lived objects without cycles: looking through them again and again took a
    quarter of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def end_at_last(limit_s: float) -> None:
    """End this process with status 1 if it still lives in ``limit_s`` seconds, whatever it is waiting for.

    A thread that hangs in the disk lets neither the event loop nor the interpreter end by themselves. What is
    committed is safe by then, and what is not was not acknowledged.
    """

    def end() -> None:
        print("tabuleiro did not stop in time and is ended", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(limit_s, end)
    timer.daemon = True
    timer.start()


def _stop_when_told(lifecycle: Lifecycle) -> None:
    """Ask for the stop at Ctrl-C or SIGTERM."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, lifecycle.request_stop)
        except NotImplementedError:  # the event loops of Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(lifecycle.request_stop))
