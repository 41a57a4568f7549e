"""The servers that are measured, each in a process of its own: how they are started, and what they have used."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.budgets import NO_BUDGETS

NO_LIMITS: Final = {
    "TABULEIRO_CONNECTIONS_COUNT": "15000",
    "TABULEIRO_CONNECTIONS_PER_ADDRESS_COUNT": "15000",
    "TABULEIRO_HANDSHAKES_COUNT": "15000",
    "TABULEIRO_MESSAGES_PER_SECOND_COUNT": "1000000",
    "TABULEIRO_MESSAGES_BURST_COUNT": "1000000",
    "TABULEIRO_ROOMS_PER_ACCOUNT_COUNT": "100000",
    "TABULEIRO_SHUTDOWN_NOTICE_MS": "0",
    "TABULEIRO_LOG_LEVEL": "warning",
    **{f"TABULEIRO_{key.upper()}": str(value) for key, value in NO_BUDGETS.items()},
}


@dataclass
class Process:
    """A server in a process of its own."""

    name: str
    url: str
    pid: int

    def url_of(self, room: int) -> str:
        """Return where room number ``room`` is played."""
        return self.url

    def cpu_s(self) -> float:
        """Return the processor time used so far, in seconds."""
        return cpu_of_process_s(self.pid)

    def memory_kib(self) -> int:
        """Return the resident memory in KiB."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1])

    async def metrics(self) -> dict[str, float]:
        """Return all figures of /metrics, by name with labels."""
        text = await asyncio.to_thread(self._metrics_text)
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    def _metrics_text(self) -> str:
        with urllib.request.urlopen(self.url.replace("ws://", "http://") + "/metrics") as response:
            text: str = response.read().decode()
        return text


def cpu_of_process_s(pid: int) -> float:
    """Return the processor time that a process has used so far, in seconds.

    Source: clock_getcpuclockid(3) and how Linux numbers these clocks; /proc counts in steps of 10 ms only.
    """
    return time.clock_gettime(~pid << 3 | 2)


def cpu_of_processes_s(pids: Iterable[int]) -> float:
    """Return the processor time that processes have used so far; those that have just ended count as nothing."""
    used_s = 0.0
    for pid in pids:
        with suppress(OSError):
            used_s += cpu_of_process_s(pid)
    return used_s


@dataclass
class Nodes:
    """Several servers on one database, measured together."""

    name: str
    processes: Sequence[Process]

    def url_of(self, room: int) -> str:
        """Return where room number ``room`` is played: each node has as many as the others."""
        return self.processes[room % len(self.processes)].url

    def cpu_s(self) -> float:
        """Return the processor time used so far, in seconds."""
        return sum(process.cpu_s() for process in self.processes)

    def memory_kib(self) -> int:
        """Return the resident memory in KiB."""
        return sum(process.memory_kib() for process in self.processes)

    async def metrics(self) -> dict[str, float]:
        """Return the sums of all figures of /metrics."""
        sums: Counter[str] = Counter()
        for process in self.processes:
            sums.update(await process.metrics())
        return dict(sums)


@asynccontextmanager
async def running(name: str, *command: str, **settings: str) -> AsyncIterator[Process]:
    """Start a server and wait until it listens; kill it at the end. ``settings`` go in by the environment."""
    given = {f"TABULEIRO_{key.upper()}": value for key, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, env={**os.environ, **NO_LIMITS, **given}
    )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        if not line:
            raise SystemExit(f"{name} did not start")
        yield Process(name, line.split()[-1], process.pid)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def tabuleiro(db: Path | str, python: str = sys.executable) -> tuple[str, ...]:
    """Return the command that serves ``db`` with the tabuleiro installed for ``python``."""
    return (python, "-m", "tabuleiro_client", "serve", "--db", str(db), "--port", "0")


def relay(*arguments: str) -> tuple[str, ...]:
    """Return the command of a relay."""
    return (sys.executable, str(Path(__file__).parent / "relay.py"), *arguments)
