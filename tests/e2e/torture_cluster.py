"""Three nodes on one PostgreSQL with a synchronous standby, played on while one thing after the other fails.

``python -m tests.e2e.torture_cluster --rounds 200 [--seed N] [--nodes 3] [--tables 60]`` runs the long form,
``test_torture_cluster`` the short one. Each round has one fault, and ends when every table is played at again.
A run is repeated with the seed it printed, as far as the order of things in many processes allows.

A trigger in the database notes who wrote each event: each run of a node has a role of its own there.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.rules.base import Termination
from tabuleiro_client.net.link import Backoff, LinkSettings
from tests.bench.figures import spread
from tests.budgets import NO_BUDGETS
from tests.e2e.server_process import ServerProcess, free_port
from tests.e2e.tables import Run, Table
from tests.postgres import cluster
from tests.postgres_proxy import Proxy, proxy

ROUND_LIMIT_S: Final = 90
"""How long it may take until every table is played at again."""

PAUSE_S: Final = 0.3
"""The networks between nodes and databases are in the process of those who play, and need time, too."""

LONG_S: Final = 20
"""After which time it is told who waits for what."""

FAULTS_COUNT: Final = 6

_SERVER: Final = {
    "bot_workers": 1,
    "shutdown_notice_ms": 0,
    "messages_per_second_count": 100_000,
    "messages_burst_count": 100_000,
    "rooms_per_account_count": 100_000,
    "entered_rooms_count": 100_000,
    "connections_per_address_count": 1_000_000,
    **NO_BUDGETS,
}

_DATABASE: Final = {"wal_retrieve_retry_interval": "100ms"}
"""A standby looks for its primary so often; after its 5 s everybody would wait for it."""

_SETTINGS: Final = LinkSettings(backoff=Backoff(first_s=0.05, limit_s=0.5), ping_interval_s=4.0)
"""Somebody whose node stands still leaves it after eight seconds."""

_PASSING: Final = frozenset({ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.SHUTTING_DOWN, ErrorCode.BUSY})

_WITNESS: Final = """
CREATE TABLE public.writers (room text, seq int, incarnation int, writer text, PRIMARY KEY (room, seq));
CREATE FUNCTION public.note_writer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.writers
        SELECT new.room, new.seq, incarnation, session_user FROM tabuleiro.rooms WHERE code = new.room;
    RETURN NULL;
END $$;
CREATE TRIGGER noted AFTER INSERT ON tabuleiro.events FOR EACH ROW EXECUTE FUNCTION public.note_writer();
"""

_FINDINGS: Final = {
    "events of an earlier owner behind a later one's": """
        SELECT room, seq, writer FROM (SELECT *, max(incarnation) OVER (PARTITION BY room ORDER BY seq) AS newest
            FROM public.writers) AS each WHERE incarnation < newest""",
    "incarnations of a room with two writers": """
        SELECT room, incarnation, string_agg(DISTINCT writer, ' ') FROM public.writers
        GROUP BY room, incarnation HAVING count(DISTINCT writer) > 1""",
    "events that nobody is known to have written": """
        SELECT room, seq FROM tabuleiro.events WHERE NOT EXISTS
            (SELECT FROM public.writers WHERE writers.room = events.room AND writers.seq = events.seq)""",
}
"""What must find nothing in the database."""

_PLACES: Final = """
SELECT code, phase, seq, incarnation, url, lease_until - now() FROM tabuleiro.rooms
    LEFT JOIN tabuleiro.signs_of_life ON node = owner WHERE phase IN ('waiting', 'playing') ORDER BY code
"""
"""Where the rooms are, for whoever looks for a fault."""


@dataclass
class Node:
    """A node: its place in the network, and the process that runs there now."""

    name: str
    port: int
    network: Proxy
    server: ServerProcess


class ClusterTorture:
    """One run: the databases, the nodes, the tables, and the faults in turn.

    ``pauses_s`` has for each fault the longest time between two acknowledged moves of each table concerned.
    """

    def __init__(
        self, folder: Path, seed: int, round_count: int, *, node_count: int, table_count: int, stop_s: float
    ) -> None:
        self.run = Run(self._home, _SETTINGS, bot_at_every=6, passing=_PASSING, pause_s=PAUSE_S)
        self.pauses_s: dict[str, list[float]] = defaultdict(list)
        self._folder = folder
        self._chance = random.Random(seed)
        self._round_count = round_count
        self._node_count = node_count
        self._table_count = table_count
        self._stop_s = stop_s
        self._nodes: list[Node] = []
        self._tables: list[Table] = []
        self._concerned: Sequence[int] = ()
        self._started_count = 0
        self._servers: set[ServerProcess] = set()
        self._networks = AsyncExitStack()
        faults: dict[str, Callable[[], Awaitable[None]]] = {
            "node killed": self._kill_node,
            "node stopped and on again": self._stop_node,
            "database killed and started again": self._restart_database,
            "primary killed and standby promoted": self._fail_over,
            "network of a node cut": self._cut_network,
            "node drained, a new one in its place": self._drain,
        }
        assert len(faults) == FAULTS_COUNT
        self._faults = list(faults.items())

    async def play(self) -> int:
        """Play, and let things fail and come back; return the number of matches that were played to their end.

        Raises: AssertionError naming what was lost, doubled, different, or did not go on.
        """
        with ExitStack() as databases:
            self._primary = databases.enter_context(cluster(is_quick=False, **_DATABASE))
            self._primary.sql("CREATE DATABASE games")
            standby = cluster(is_quick=False, primary=self._primary, **_DATABASE)
            self._standby = databases.enter_context(standby)
            self._primary.set("synchronous_standby_names", "*")
            self._url = self._primary.url("games", self._standby)
            try:
                async with self._networks:
                    return await self._play()
            finally:
                for server in tuple(self._servers):
                    await self._kill(server)

    async def _play(self) -> int:
        for _ in range(self._node_count):
            self._nodes.append(await self._new_node())
        await asyncio.to_thread(self._primary.sql, _WITNESS, "games")
        async with AsyncExitStack() as connections, asyncio.TaskGroup() as tables:
            for number in range(self._table_count):
                table = Table(self.run, number, random.Random(self._chance.random()))
                self._tables.append(table)
                await table.open(connections)
                tables.create_task(table.play())
            for number in range(self._round_count):
                await self._round(number)
            self.run.is_over = True
        for node in self._nodes:
            await self._stop(node.server)
        return await self._check_all()

    async def _round(self, number: int) -> None:
        name, fault = self._faults[number % FAULTS_COUNT]
        await self.run.is_moment("in play", self._chance.randint(1, 200))
        self.run.pauses_s.clear()
        self._concerned = range(self._table_count)
        started_s = time.monotonic()
        await fault()
        over_s = time.monotonic()
        await self._all_played_at(name)
        pauses_s = [self.run.pauses_s[number] for number in self._concerned]
        self.pauses_s[name] += pauses_s
        played_s = time.monotonic()
        # Not every room again while they play: there come more meanwhile than are looked at. That is for the end.
        ended_count = await self._check(is_thorough=False)
        checked_s = time.monotonic()
        print(
            f"{number + 1:4} {name}: {over_s - started_s:.1f} s, all play {played_s - over_s:.1f} s later, longest"
            f" pauses of {len(pauses_s)} tables {spread(pauses_s)}; {len(self.run.ledger.acknowledged)} moves,"
            f" {ended_count} more matches ended, checked in {checked_s - played_s:.1f} s;"
            f" refused {dict(self.run.refusals)}",
            flush=True,
        )

    async def _all_played_at(self, name: str) -> None:
        """Wait until a move has been acknowledged at every table."""
        before = dict(self.run.played_counts)
        waiting = set(range(self._table_count))
        started_s = time.monotonic()
        is_long = False
        while waiting:
            await self.run.is_moment("in play", 1)
            waiting = {number for number in waiting if self.run.played_counts[number] == before.get(number, 0)}
            if waiting and time.monotonic() - started_s > LONG_S and not is_long:
                is_long = True
                print(f"     after {name} nobody plays for long:\n{await self._describe(waiting)}", flush=True)
            if waiting and time.monotonic() - started_s > ROUND_LIMIT_S:
                logs = "\n".join(f"--- {node.name}\n{node.server.log_text}" for node in self._nodes)
                raise AssertionError(f"after {name} nobody plays:\n{await self._describe(waiting)}\n{logs}")

    async def _describe(self, numbers: Collection[int]) -> str:
        tables = "\n".join(self._tables[number].describe() for number in numbers)
        return f"{tables}\n{await asyncio.to_thread(self._primary.sql, _PLACES, 'games')}"

    async def _check(self, *, is_thorough: bool) -> int:
        for node in self._nodes:
            bad = [line for line in node.server.log if "[error" in line or "Traceback" in line]
            assert not bad, node.server.log_text
        ended = await self.run.ledger.check_database(self._url, is_thorough=is_thorough)
        late = [key for key, end in ended.items() if end.termination == Termination.TIMEOUT]
        assert not late, f"these matches were lost on time: {late}"
        for what, query in _FINDINGS.items():
            found = await asyncio.to_thread(self._primary.sql, query, "games")
            assert not found, f"{what}:\n{found}"
        return len(ended)

    async def _check_all(self) -> int:
        """Check everything once nobody plays any more."""
        ended_count = await self._check(is_thorough=True)
        verifying = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tabuleiro_client", "db", "verify", "--db", self._url),
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await verifying.communicate()
        assert verifying.returncode == 0, output.decode()
        return ended_count

    # Nodes

    async def _new_node(self) -> Node:
        """Start a node in a new place."""
        name = f"node{self._started_count + 1}"
        folder = self._folder / name
        folder.mkdir()
        network = await self._networks.enter_async_context(proxy(folder, self._url))
        port = free_port()
        return Node(name, port, network, await self._start(name, port, network))

    async def _start(self, name: str, port: int, network: Proxy) -> ServerProcess:
        """Start a process with a role of its own in the database."""
        self._started_count += 1
        role = f"run_{self._started_count}"
        await asyncio.to_thread(self._primary.sql, f"CREATE ROLE {role} SUPERUSER LOGIN")
        url = network.url.partition("&user=")[0] + f"&user={role}"
        server = await ServerProcess.start(url, port, node=name, node_url=f"ws://127.0.0.1:{port}", **_SERVER)
        self._servers.add(server)
        return server

    async def _kill(self, server: ServerProcess) -> None:
        self._servers.remove(server)
        await server.kill()

    async def _stop(self, server: ServerProcess) -> None:
        self._servers.remove(server)
        assert await server.stop() == 0, server.log_text

    def _home(self) -> str:
        """Give the address of some node that lives."""
        return self._chance.choice(self._nodes).server.url

    def _send_home(self) -> None:
        """Let those whose first node is gone come to another one, as a proxy before the nodes would."""
        known = {node.server.url for node in self._nodes}
        for link in self.run.links:
            if link.url not in known:
                link.url = self._home()

    def _some_node(self) -> Node:
        """Choose a node, one with many people rather than one with few."""
        counts = Counter(link._node_urls[0] for link in self.run.links if link._node_urls)
        node = self._chance.choices(self._nodes, [1 + counts[node.server.url] for node in self._nodes])[0]
        self._concerned = [n for n, table in enumerate(self._tables) if table.plays_at(node.server.url)]
        return node

    # Faults

    async def _kill_node(self) -> None:
        node = self._some_node()
        self._nodes.remove(node)
        await self._kill(node.server)
        if self._nodes:
            self._send_home()
            await self._all_played_at(f"the end of {node.name}")
        node.server = await self._start(node.name, node.port, node.network)
        self._nodes.append(node)
        self._send_home()

    async def _stop_node(self) -> None:
        node = self._some_node()
        self._nodes.remove(node)
        node.server.signal(signal.SIGSTOP)
        if self._nodes:
            self._send_home()
        await asyncio.sleep(self._stop_s)  # the fault itself
        node.server.signal(signal.SIGCONT)
        self._nodes.append(node)

    async def _restart_database(self) -> None:
        await asyncio.to_thread(self._primary.kill)
        await asyncio.to_thread(self._primary.start)

    async def _fail_over(self) -> None:
        await asyncio.to_thread(self._primary.kill)
        await asyncio.to_thread(self._standby.promote)
        self._primary, self._standby = self._standby, self._primary
        # As one does who has no second standby: nothing would be acknowledged until there is a new one.
        await asyncio.to_thread(self._primary.set, "synchronous_standby_names", "")
        await self._all_played_at("promotion")
        await asyncio.to_thread(self._standby.make_standby, self._primary)
        await asyncio.to_thread(self._standby.start)
        await asyncio.to_thread(self._primary.set, "synchronous_standby_names", "*")

    async def _cut_network(self) -> None:
        network = self._some_node().network
        kind = self._chance.choice(("breaks", "is away", "swallows", "answers late"))
        if kind == "breaks":
            network.hold_requests()
            await network.held()
            held = network.cut_and_keep()
            await asyncio.sleep(self._chance.random() * self._stop_s)
            held.set()
            return
        if kind == "is away":
            network.refuse()
        elif kind == "swallows":
            network.hold_answers()
        else:
            network.hold_requests()
        await asyncio.sleep(self._stop_s)
        network.release()

    async def _drain(self) -> None:
        node = self._some_node()
        if self._node_count > 1:
            self._nodes.append(await self._new_node())
        self._nodes.remove(node)
        if self._nodes:
            self._send_home()
        await self._stop(node.server)
        if not self._nodes:
            node.server = await self._start(node.name, node.port, node.network)
            self._nodes.append(node)
            self._send_home()


def main() -> None:
    """Run the long form and print what was done."""
    parser = argparse.ArgumentParser(
        description="Let nodes and databases fail again and again while they are played on."
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--stop-s", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tabuleiro-") as folder:
        torture = ClusterTorture(
            Path(folder),
            arguments.seed,
            arguments.rounds,
            node_count=arguments.nodes,
            table_count=arguments.tables,
            stop_s=arguments.stop_s,
        )
        ended_count = asyncio.run(torture.play())
    ledger = torture.run.ledger
    told_count = sum(len(events) for events in ledger.announced.values())
    print(f"{arguments.rounds} rounds in {time.monotonic() - started_s:.0f} s, {ended_count} matches ended")
    print(
        f"acknowledged {len(ledger.acknowledged)} moves, {len(ledger.said)} lines; refused {len(ledger.refused)}"
    )
    print(f"{told_count} events told: all there, none twice")
    for name, pauses_s in torture.pauses_s.items():
        print(f"longest pauses of the tables concerned, {name}: {spread(pauses_s)}")


if __name__ == "__main__":
    main()
