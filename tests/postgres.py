"""A PostgreSQL of the tests' own: in a temporary folder, run by an unprivileged user, with a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

_USER: Final = "tabuleiro"
_UNPRIVILEGED: Final = ("postgres", "nobody")
"""Users to run it as where the tests run as root, which PostgreSQL refuses to be."""

_QUICK: Final = {"fsync": "off", "full_page_writes": "off"}
"""For tests in which no machine crashes."""

_LIMIT_S: Final = 60


def binaries() -> Path | None:
    """Return the folder of PostgreSQL's programs, of the newest version here; ``None`` without one."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: int(path.parent.name))
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def reason_to_skip() -> str:
    """Return why there can be no PostgreSQL here; empty if there can."""
    return "" if binaries() else "PostgreSQL is not installed (Debian: apt install postgresql)"


def unprivileged_user() -> str | None:
    """Return the user to run its programs as; ``None`` for the one who runs the tests."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _UNPRIVILEGED if name in names)


class Cluster:
    """One PostgreSQL, with databases that are made when they are asked for. ``settings`` are those of its file."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._data = folder / "data"
        self._settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(folder),
            "shared_buffers": "16MB",
            "max_connections": "60",
            "log_min_messages": "warning",
            **settings,
        }

    def make(self) -> None:
        """Make its files."""
        self._run(
            "initdb", "--no-sync", "--no-instructions", "-A", "trust", "-U", _USER, "-E", "UTF8", "--locale=C"
        )
        self._write_settings()

    def make_standby(self, primary: Cluster) -> None:
        """Make its files again, as a copy of another that follows it once it is started."""
        if self._data.exists():
            shutil.rmtree(self._data)
        self._run(
            *("pg_basebackup", "--checkpoint=fast", "--no-sync", "--write-recovery-conf"),
            *("-h", str(primary.folder), "-U", _USER, "-D", str(self._data)),
        )
        self._write_settings()

    def promote(self) -> None:
        """Let a standby become a primary, and wait until it takes what is to be written."""
        self._run("pg_ctl", "promote", "--silent", "-w")

    def _write_settings(self) -> None:
        lines = [f"{key} = '{value}'\n" for key, value in self._settings.items()]
        (self._data / "postgresql.conf").write_text("".join(lines))

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        self._run("pg_ctl", "start", "--silent", "-w", "-l", str(self.folder / "log"))

    def stop(self, mode: str = "fast") -> None:
        """Stop it; connections are closed. The mode ``immediate`` is as if it had crashed."""
        self._run("pg_ctl", "stop", "--silent", "-w", "-m", mode)

    def set(self, key: str, value: str) -> None:
        """Change a setting of all databases, and wait until it counts."""
        self.sql(f"ALTER SYSTEM SET {key} = '{value}'")
        self._run("pg_ctl", "reload", "--silent")
        while self.sql(f"SHOW {key}") != value:
            pass

    def pids(self) -> tuple[int, ...]:
        """Return the numbers of its processes, the first one first."""
        pid = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return (pid, *map(int, children))

    def kill(self) -> None:
        """Kill it and everything it has started, at once."""
        # Its children are in one session with it, each in a group of its own.
        pids = self.pids()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        while any(_runs(pid) for pid in pids):
            os.sched_yield()
        # In a container there may be nobody to take note of its end, and its number stays taken.
        (self._data / "postmaster.pid").unlink()
        (self.folder / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def url(self, database: str, *others: Cluster) -> str:
        """Return the address of a database, here or at one of the others."""
        hosts = ",".join(str(each.folder) for each in (self, *others))
        return f"postgresql:///{database}?host={hosts}&user={_USER}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run a statement and return what it prints."""
        return self._run("psql", "-XAtq", "-h", str(self.folder), "-U", _USER, "-d", database, "-c", statement)

    def _run(self, program: str, *options: str) -> str:
        folder = binaries()
        assert folder is not None
        done = subprocess.run(
            [folder / program, *options],
            env={"PATH": os.environ["PATH"], "PGDATA": str(self._data), "LC_ALL": "C"},
            user=unprivileged_user(),
            extra_groups=[] if unprivileged_user() else None,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}"
        return done.stdout.strip()


def _runs(pid: int) -> bool:
    """Return False if a process has ended, also if whoever inherited it has not noticed yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def cluster(*, is_quick: bool = True, primary: Cluster | None = None, **settings: str) -> Iterator[Cluster]:
    """Run a PostgreSQL, or a standby of ``primary``; with ``is_quick`` it does not wait for the disk."""
    with folder_of_its_user("pg") as folder:
        running = Cluster(folder, **(_QUICK if is_quick else {}), **settings)
        if primary is None:
            running.make()
        else:
            running.make_standby(primary)
        running.start()
        try:
            yield running
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                running.stop("immediate")


@contextmanager
def cluster_with_games(*, is_quick: bool = True) -> Iterator[Cluster]:
    """Run a PostgreSQL with an empty database `games`, as :func:`cluster`; without one, skip the test."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with cluster(is_quick=is_quick) as running:
        running.sql("CREATE DATABASE games")
        yield running


@contextmanager
def folder_of_its_user(kind: str) -> Iterator[Path]:
    """Make a folder that its programs can write to, with a path that is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix=f"tabuleiro-{kind}-"))
    user = unprivileged_user()
    if user is not None:
        shutil.chown(folder, user)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def pooler(running: Cluster, mode: str) -> Iterator[str]:
    """Run PgBouncer before a PostgreSQL; yield the address of its database ``games``."""
    with folder_of_its_user("pooler") as folder:
        settings = {"listen_addr": "", "unix_socket_dir": folder, "auth_type": "any", "pool_mode": mode}
        lines = ["[databases]", f"games = host={running.folder} user={_USER}", "[pgbouncer]"]
        lines += [f"{key} = {value}" for key, value in settings.items()]
        (folder / "pooler.ini").write_text("\n".join(lines))
        process = subprocess.Popen(
            [pooler_program() or "", str(folder / "pooler.ini")],
            user=unprivileged_user(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "process up" in line:
                    break
            yield f"postgresql:///games?host={folder}&port=6432&user={_USER}"
        finally:
            process.kill()
            process.communicate()


def pooler_program() -> str | None:
    """Return the path of PgBouncer; ``None`` if it is not installed."""
    return shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
