"""The memory that this process may use, where the system sets a limit, and the warning that it runs short.

Native code ends the whole process when it gets no memory. So new connections and rooms are refused well before,
and matches that run go on in what is left.

Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, .../cgroup-v1/memory.html, setrlimit(2), proc(5).
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import structlog

MIB: Final = 1024 * 1024

RESERVE_SHARE_COUNT: Final = 10
"""One part of so many of the limit is kept free..."""

RESERVE_MIN_BYTES: Final = 32 * MIB
"""...but not less than this..."""

RESERVE_MAX_BYTES: Final = 256 * MIB
"""...and not more than this."""

LOOK_EVERY_S: Final = 0.25
"""A look takes a tenth of a millisecond."""

UNLIMITED_BYTES: Final = 2**60
"""A limit above this is none: that is how the first version of control groups says so."""

log = structlog.get_logger(__name__)


class Usage(NamedTuple):
    """A limit, the part of it that is in use, and its name for the log."""

    name: str
    used_bytes: int
    limit_bytes: int

    @property
    def reserve_bytes(self) -> int:
        """The part of the limit that is kept for those who are here."""
        return min(max(self.limit_bytes // RESERVE_SHARE_COUNT, RESERVE_MIN_BYTES), RESERVE_MAX_BYTES)

    @property
    def left_bytes(self) -> int:
        """The bytes that are still free beyond the reserve; negative when the reserve is in use."""
        return self.limit_bytes - self.used_bytes - self.reserve_bytes


class Memory:
    """The limits on this process, and whether they leave room for more.

    ``root`` is that of the file system, ``now_s`` any monotonic clock.
    """

    def __init__(self, root: Path = Path("/"), now_s: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._now_s = now_s
        self._is_short = False
        self._tightest: Usage | None = None
        self._looked_s = -math.inf

    @property
    def is_short(self) -> bool:
        """Return True if there is no memory for new connections and rooms."""
        self._look()
        return self._is_short

    @property
    def tightest(self) -> Usage | None:
        """Return the limit that leaves least; ``None`` if there is none."""
        self._look()
        return self._tightest

    def _look(self) -> None:
        """Find out what is in use, unless that was a moment ago; log when memory begins or ceases to be short."""
        now_s = self._now_s()
        if now_s - self._looked_s < LOOK_EVERY_S:
            return
        self._looked_s = now_s
        self._tightest = min(self._usages(), key=lambda usage: usage.left_bytes, default=None)
        if self._tightest is None:
            return
        name, used_bytes, limit_bytes = self._tightest
        # It has to get clearly better before it counts as well again.
        margin_bytes = self._tightest.reserve_bytes // 4 if self._is_short else 0
        was_short, self._is_short = self._is_short, self._tightest.left_bytes < margin_bytes
        if self._is_short and not was_short:
            log.warning(
                "memory is short: new connections and rooms are refused",
                limit=name,
                used_bytes=used_bytes,
                limit_bytes=limit_bytes,
            )
        elif was_short and not self._is_short:
            log.info("memory is no longer short", limit=name, used_bytes=used_bytes, limit_bytes=limit_bytes)

    def _usages(self) -> Iterator[Usage]:
        yield from self._groups()
        yield from _address_space(self._root)

    def _groups(self) -> Iterator[Usage]:
        """Yield the limits of the control groups that this process is in, and of those around them."""
        for line in _lines(self._root / "proc/self/cgroup"):
            _, controllers, path = line.split(":", 2)
            mount = self._root / "sys/fs/cgroup"
            if controllers == "":
                yield from _group_limits(mount, path, "memory.max", "memory.current", "")
            elif "memory" in controllers.split(","):
                files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
                yield from _group_limits(mount / "memory", path, *files)


def _group_limits(mount: Path, path: str, limit_name: str, used_name: str, prefix: str) -> Iterator[Usage]:
    group = mount / path.strip("/")
    # In a container the path may be that of the host, and the mount its own group.
    groups = [group, *group.parents] if group.is_dir() else [mount]
    for each in groups:
        limit_bytes = _number(each / limit_name)
        used_bytes = _number(each / used_name)
        if limit_bytes is not None and used_bytes is not None and limit_bytes < UNLIMITED_BYTES:
            # What is kept of files makes way when memory is wanted.
            keys = (f"{prefix}active_file", f"{prefix}inactive_file")
            stat = dict(line.split(" ", 1) for line in _lines(each / "memory.stat") if " " in line)
            cached_bytes = sum(int(stat[key]) for key in keys if stat.get(key, "").isdigit())
            yield Usage(limit_name, max(used_bytes - cached_bytes, 0), limit_bytes)
        if each == mount:
            return


def _address_space(root: Path) -> Iterator[Usage]:
    if sys.platform == "win32":
        return
    import resource

    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    fields = " ".join(_lines(root / "proc/self/statm")).split()
    if limit_bytes != resource.RLIM_INFINITY and fields:
        yield Usage("RLIMIT_AS", int(fields[0]) * os.sysconf("SC_PAGE_SIZE"), limit_bytes)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _number(path: Path) -> int | None:
    """Return the number in a file; ``None`` if there is none, or a word for no limit."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None
