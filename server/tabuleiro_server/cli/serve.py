"""``tabuleiro serve``, and the server that `tabuleiro play` runs in its own process."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final

import msgspec
import structlog
import typer

from tabuleiro.ids import SECOND_MS
from tabuleiro.protocol.addresses import page_url
from tabuleiro.text import counted, spell_duration
from tabuleiro_server.cli.logs import configure_logs
from tabuleiro_server.config import Config, load_config, names_postgres, shown_database
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.sessions.lifecycle import Lifecycle
from tabuleiro_server.wiring import RunningServer, measure_database, node_name, running_server

GARBAGE_THRESHOLDS: Final = (50_000, 10, 10)
"""New objects before a look through the youngest; such rounds before a look through older ones, and all."""

SWITCH_INTERVAL_S: Final = 0.001
"""Longest wait of the committing thread for the interpreter: everybody waits for the commit."""

STOP_PARTS_COUNT: Final = 13
"""Parts of a stop; each has the whole of `shutdown_limit_ms`."""

STOP_MARGIN_S: Final = 15.0
"""Time beyond those limits before the process is killed: cancelled parts get a moment to end."""

BYTES_PER_KIB: Final = 1024

OTHER_FILES_COUNT: Final = 64
"""Open files beside the connections: the database, its threads, the bots' processes, the log."""

log = structlog.get_logger(__name__)


def serve(
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", help="TCP port; 0 takes any free one.")] = None,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address that invitations show, e.g. wss://play.example.org."),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(metavar="FILE|URL", help="SQLite file, made if absent, or an address postgresql://..."),
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file with settings.")] = None,
) -> None:
    """Run a game server. Ctrl-C, SIGTERM or SIGHUP stops it; twice, at once."""
    settings = load_config(config, host=host, port=port, public_url=public_url, db=db)
    node = node_name(settings) if settings.node_url else ""
    configure_logs(settings.log_level, settings.log_style, node)
    if sys.platform == "win32":
        asyncio.run(_serve(settings))
    else:
        import uvloop

        uvloop.run(_serve(settings))


async def _serve(settings: Config) -> None:
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    clock = RunClock()
    lifecycle = Lifecycle(settings, clock.now_ms)
    _stop_on_signals(lifecycle)
    allow_open_files(settings.connections_count)
    is_node = bool(settings.node_url)
    async with running_server(settings, lifecycle, clock=clock, prepares_bots=is_node) as server:
        _collect_garbage_seldom()
        measured = await measure_database(settings)
        lines = [database_line(settings.db, measured)]
        lines += invitation_lines(server, is_guessed=not settings.public_url, has_page=settings.web)
        # For programs, too, which find the address for this machine at the end of the first line.
        print(f"tabuleiro listens on {server.url}", *lines, sep="\n", flush=True)
        if server.clock_behind_ms >= SECOND_MS:
            print(clock_line(server.clock_behind_ms), file=sys.stderr, flush=True)
        await lifecycle.stop_requested()
        longest_ms = settings.shutdown_notice_ms + STOP_PARTS_COUNT * settings.shutdown_limit_ms
        end_at_last(longest_ms / 1000 + STOP_MARGIN_S)
        log.info("stopping")
        await server.wind_down()
    log.info("stopped")


def clock_line(behind_ms: int) -> str:
    """Return what a host is told whose clock is behind the newest event of the database."""
    return (
        f"This machine's clock is {spell_duration(behind_ms)} behind the newest event of the database: was it set"
        " back, or ahead when the server last ran? Time goes on from that event. Set the clock right and start"
        " again."
    )


def database_line(db: str, measured: tuple[int, Mapping[str, int]] | None) -> str:
    """Return where the database is, and what was measured: its size, and its number of rooms by phase."""
    line = f"database: {shown_database(db) if names_postgres(db) else os.path.realpath(db)}"
    if measured is None:
        return line
    size_bytes, room_counts = measured
    rooms_count = sum(room_counts.values())
    unfinished_count = room_counts.get("waiting", 0) + room_counts.get("playing", 0)
    rooms = "no rooms yet"
    if rooms_count:
        rooms = f"{counted(rooms_count, 'room')}, {unfinished_count} of them unfinished"
    return f"{line} ({size_bytes // BYTES_PER_KIB} KiB, {rooms})"


def invitation_lines(server: RunningServer, *, is_guessed: bool, has_page: bool) -> list[str]:
    """Return what the host sends to friends: each command on a line of its own, to be copied whole.

    With ``is_guessed`` the addresses are those of this machine, and nobody has said that others reach them.
    With ``has_page`` a browser is a way in, and named first.
    """
    if not server.public_urls:
        return [
            "Only this machine can connect; --host 0.0.0.0 lets others in. On this machine:",
            *([f"  {page_url(server.url)} in a browser, or"] if has_page else []),
            f"  tabuleiro play --server {server.url}",
        ]
    best, *others = server.public_urls
    lines = [
        *(["Your friends play and watch in a browser at:", f"  {page_url(best)}"] if has_page else []),
        "In a terminal they play with:" if has_page else "Your friends play with:",
        f"  tabuleiro play --server {best}",
        "and find matches to watch with:",
        f"  tabuleiro rooms --server {best}",
    ]
    if others:
        lines.append(f"Other addresses of this machine: {', '.join(others)}")
    if is_guessed:
        lines += [
            f"The firewall must let TCP port {server.port} in. For friends outside your network, let the router",
            "forward it, and name your address there with --public-url: invitations will show it.",
        ]
    return lines


_NO_LIMIT_COUNT: Final = 1_000_000_000
_OWN_MACHINE: Final = Config(
    port=0,
    web=False,
    rooms_per_account_count=1_000_000,
    account_rooms_per_hour_count=_NO_LIMIT_COUNT,
    account_rooms_burst_count=_NO_LIMIT_COUNT,
    address_rooms_per_hour_count=_NO_LIMIT_COUNT,
    address_rooms_burst_count=_NO_LIMIT_COUNT,
    account_events_per_hour_count=_NO_LIMIT_COUNT,
    account_events_burst_count=_NO_LIMIT_COUNT,
    address_events_per_hour_count=_NO_LIMIT_COUNT,
    address_events_burst_count=_NO_LIMIT_COUNT,
)
"""Limits are for guests of others' servers: on one's own machine there is none for matches."""


@asynccontextmanager
async def embedded_server(db: Path) -> AsyncIterator[RunningServer]:
    """Run a server for this process alone: on a free loopback port, logging errors only.

    Raises: as :func:`running_server`.
    """
    configure_logs("error")
    async with running_server(msgspec.structs.replace(_OWN_MACHINE, db=str(db))) as server:
        yield server


def allow_open_files(connections_count: int) -> None:
    """Raise this process's soft limit of open files to fit the connections, as far as its hard limit allows.

    A limit that stays too low is logged: connections beyond it would have to wait.
    """
    if sys.platform == "win32":
        return
    import resource

    wanted_count = connections_count + OTHER_FILES_COUNT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted_count:
        return
    allowed_count = wanted_count if hard == resource.RLIM_INFINITY else min(wanted_count, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed_count, hard))
    except (OSError, ValueError):  # some systems have a lower limit than they report
        allowed_count = soft
    if allowed_count < wanted_count:
        log.warning(
            "too few open files for connections_count",
            allowed_count=allowed_count,
            wanted_count=wanted_count,
            hint="raise the limit (ulimit -n, LimitNOFILE=) or lower connections_count",
        )


def _collect_garbage_seldom() -> None:
    """Look for cyclic garbage less often than Python does by default, and never among the objects of the start.

    Rooms and connections are many long-lived objects without cycles: looking through them again and again took a
    quarter of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def end_at_last(limit_s: float) -> None:
    """End this process with status 1 if it still lives in ``limit_s`` seconds, whatever it is waiting for.

    A thread that hangs in the disk lets neither the event loop nor the interpreter end by themselves. Everything
    acknowledged is committed by then.
    """

    def end() -> None:
        print("tabuleiro did not stop in time and is ended", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(limit_s, end)
    timer.daemon = True
    timer.start()


def _stop_on_signals(lifecycle: Lifecycle) -> None:
    """Request the stop at Ctrl-C, SIGTERM, or the end of the terminal, unless that was to be ignored (nohup)."""
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    for number in numbers:
        try:
            loop.add_signal_handler(number, lifecycle.request_stop)
        except NotImplementedError:  # the event loops of Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(lifecycle.request_stop))
