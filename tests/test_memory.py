"""A server near a limit of its memory refuses more, and goes on with what it has."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import pytest
import structlog

from tabuleiro.errors import RemoteProtocolError
from tabuleiro.protocol import messages
from tabuleiro_server.config import Config
from tabuleiro_server.memory import MIB, Memory, Usage
from tabuleiro_server.metrics import NetMetrics
from tabuleiro_server.net.rate_limit import ConnectionLimiter
from tests.rooms.conftest import open_stage

__all__ = ["open_stage"]

PAGE_BYTES = resource.getpagesize()


class Machine:
    """The files of a system, as far as they tell of memory, and a clock."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now_s = 0.0
        self.memory = Memory(root, lambda: self.now_s)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")

    def group(self, path: str, limit: str, used_bytes: int, cached_bytes: int = 0) -> None:
        """Set a control group of the second version."""
        folder = f"sys/fs/cgroup{path}"
        self.write(f"{folder}/memory.max", f"{limit}\n")
        self.write(f"{folder}/memory.current", f"{used_bytes}\n")
        self.write(f"{folder}/memory.stat", f"anon 1\nactive_file {cached_bytes}\ninactive_file 0\n")

    def look(self) -> Usage | None:
        self.now_s += 1
        return self.memory.tightest

    def is_short(self) -> bool:
        self.now_s += 1
        return self.memory.is_short


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_where_nothing_is_known_of_limits_memory_is_never_short(machine: Machine) -> None:
    assert (machine.look(), machine.is_short()) == (None, False)
    machine.write("proc/self/cgroup", "0::/\n")
    machine.group("", "max", 10**12)
    assert (machine.look(), machine.is_short()) == (None, False)


def test_a_control_group_and_those_around_it_count_without_cached_files(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/system.slice/tabuleiro.service\n")
    machine.group("/system.slice/tabuleiro.service", "max", 300 * MIB)
    machine.group("/system.slice", str(1024 * MIB), 900 * MIB, cached_bytes=500 * MIB)
    assert machine.look() == Usage("memory.max", 400 * MIB, 1024 * MIB)
    machine.group("/system.slice/tabuleiro.service", str(512 * MIB), 300 * MIB)
    assert machine.look() == Usage("memory.max", 300 * MIB, 512 * MIB)


def test_a_control_group_of_the_first_version_counts(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "5:cpu:/\n4:memory:/docker/606f\n0::/\n")
    folder = "sys/fs/cgroup/memory"
    machine.write(f"{folder}/memory.limit_in_bytes", f"{512 * MIB}\n")
    machine.write(f"{folder}/memory.usage_in_bytes", f"{200 * MIB}\n")
    machine.write(f"{folder}/memory.stat", f"total_inactive_file {50 * MIB}\ntotal_active_file 0\n")
    # The path is that of the host, and the mount the container's own group.
    assert machine.look() == Usage("memory.limit_in_bytes", 150 * MIB, 512 * MIB)
    machine.write(f"{folder}/docker/606f/memory.limit_in_bytes", "9223372036854771712\n")
    machine.write(f"{folder}/docker/606f/memory.usage_in_bytes", f"{200 * MIB}\n")
    assert machine.look() == Usage("memory.limit_in_bytes", 150 * MIB, 512 * MIB)


def test_a_limit_of_the_address_space_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write("proc/self/statm", f"{700 * MIB // PAGE_BYTES} 9 9 9 0 9 0\n")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024 * MIB, resource.RLIM_INFINITY))
    assert machine.look() == Usage("RLIMIT_AS", 700 * MIB, 1024 * MIB)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    machine.look()
    assert not machine.is_short()


@pytest.mark.parametrize(
    ("limit_bytes", "reserve_bytes"),
    [(256 * MIB, 32 * MIB), (1000 * MIB, 100 * MIB), (65_536 * MIB, 256 * MIB)],
)
def test_a_part_of_the_limit_is_kept_for_those_who_are_here(
    machine: Machine, limit_bytes: int, reserve_bytes: int
) -> None:
    machine.write("proc/self/cgroup", "0::/\n")
    machine.group("", str(limit_bytes), limit_bytes - reserve_bytes)
    assert not machine.is_short()
    machine.group("", str(limit_bytes), limit_bytes - reserve_bytes + 1)
    assert machine.is_short()


def test_it_is_told_once_and_ends_when_it_is_clearly_better(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/\n")
    with structlog.testing.capture_logs() as entries:
        for used_mib in (880, 900, 901, 950, 899, 880, 875, 850, 950):
            machine.group("", str(1000 * MIB), used_mib * MIB)
            machine.is_short()
    events = [(entry["log_level"], entry["event"].split(":")[0], entry["used_bytes"] // MIB) for entry in entries]
    assert events == [
        ("warning", "memory is short", 901),
        ("info", "memory is no longer short", 875),
        ("warning", "memory is short", 950),
    ]


def test_the_system_is_not_asked_for_every_connection(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/\n")
    machine.group("", str(1000 * MIB), 0)
    assert not machine.is_short()
    machine.group("", str(1000 * MIB), 999 * MIB)
    assert not machine.memory.is_short
    assert machine.is_short()


def test_a_new_connection_is_refused_when_memory_is_short_and_takes_no_place(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/\n")
    machine.group("", str(1000 * MIB), 999 * MIB)
    metrics = NetMetrics()
    limiter = ConnectionLimiter(Config(connections_count=1), metrics, machine.memory)
    with pytest.raises(RemoteProtocolError, match=r"^memory: .*; try later$") as refused:
        limiter.admit("192.0.2.7")
    assert refused.value.close_code == 4004
    assert metrics.refused_counts == {"memory": 1}
    machine.group("", str(1000 * MIB), 1)
    machine.now_s += 1
    limiter.admit("192.0.2.7")


async def test_a_new_room_is_refused_when_memory_is_short_and_matches_go_on(
    open_stage: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write("proc/self/cgroup", "0::/\n")
    monkeypatch.setattr("tests.rooms.conftest.Memory", lambda _: machine.memory)
    async with open_stage() as stage:
        ana = stage.client("ana")
        seats = (messages.SeatRequest("me"), messages.SeatRequest("me"))
        code = (await ana.create(seats=seats)).head.room
        machine.group("", str(1000 * MIB), 999 * MIB)
        machine.now_s += 1
        refusal = await ana.ask(messages.CreateRoom, game="virus-wars")
        assert (refusal.code, refusal.message.split(":")[0]) == ("limit-reached", "memory")
        assert await ana.play(code, 0, "a3", "a2") is None
