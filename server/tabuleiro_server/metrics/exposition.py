"""The metrics of all parts of the server in Prometheus' text format.

They are read when somebody asks; `net` decides who may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tabuleiro_server.memory import Usage
from tabuleiro_server.metrics import CommitMetrics, Histogram, NetMetrics, NodeMetrics, PoolMetrics, RequestMetrics

US_PER_S = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class ServerCollector(Collector):
    """All metrics of a server. Values that change as a whole are asked for by a call.

    ``node`` is the name of a server that is one of several, empty for one that is alone.
    """

    version: str
    node: str
    net: NetMetrics
    requests: RequestMetrics
    commits: CommitMetrics
    loop_lags_us: Histogram
    nodes: NodeMetrics
    rooms_count: Callable[[], int]
    bots: Callable[[], PoolMetrics]
    memory: Callable[[], Usage | None]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        node = {"node": self.node} if self.node else {}
        yield InfoMetricFamily("tabuleiro", "The program that runs", value={"version": self.version, **node})
        yield GaugeMetricFamily("tabuleiro_rooms_in_memory", "Rooms in memory", value=self.rooms_count())
        yield _histogram("tabuleiro_event_loop_lag_seconds", "Delay of what is due", self.loop_lags_us, US_PER_S)
        yield from self._connection_metrics()
        yield _labelled(
            "tabuleiro_requests",
            "What clients asked for, and what became of it",
            ("type", "result"),
            self.requests.counts.items(),
        )
        yield from self._store_metrics()
        if self.node:
            yield GaugeMetricFamily("tabuleiro_other_nodes", "Other nodes alive", value=self.nodes.others_count)
            yield CounterMetricFamily(
                "tabuleiro_rooms_moved", "Rooms given to other nodes", value=self.nodes.moved_count
            )
        yield from self._memory_metrics()
        yield from self._bot_metrics()

    def _connection_metrics(self) -> Iterator[Metric]:
        net = self.net
        yield GaugeMetricFamily("tabuleiro_connections", "Open connections", value=net.open_count)
        yield CounterMetricFamily("tabuleiro_connections_admitted", "Connections let in", value=net.admitted_count)
        yield CounterMetricFamily("tabuleiro_frames_received", "Frames of clients", value=net.frame_count)
        refused = (((limit,), count) for limit, count in net.refused_counts.items())
        yield _labelled("tabuleiro_connections_refused", "Connections over a limit", ("limit",), refused)
        closed = (((str(int(code)),), count) for code, count in net.closed_counts.items())
        yield _labelled("tabuleiro_connections_closed", "Connections that the server closed", ("code",), closed)

    def _store_metrics(self) -> Iterator[Metric]:
        commits = self.commits
        yield GaugeMetricFamily("tabuleiro_writes_waiting", "Writes not on disk yet", value=commits.waiting_count)
        yield CounterMetricFamily("tabuleiro_commits", "Commits", value=commits.commit_count)
        yield CounterMetricFamily("tabuleiro_commits_failed", "Failed commits", value=commits.failed_commit_count)
        yield CounterMetricFamily("tabuleiro_events_stored", "Events of rooms on disk", value=commits.event_count)
        yield CounterMetricFamily(
            "tabuleiro_append_conflicts",
            "Appends refused because the log had moved on",
            value=commits.conflict_count,
        )
        yield _histogram("tabuleiro_commit_group_size", "Writes a commit", commits.group_sizes, 1)
        durations = commits.commit_durations_us
        yield _histogram("tabuleiro_commit_duration_seconds", "Duration of a commit", durations, US_PER_S)

    def _memory_metrics(self) -> Iterator[Metric]:
        usage = self.memory()
        if usage is not None:
            used = GaugeMetricFamily("tabuleiro_memory_used_bytes", "Memory in use", labels=("limit",))
            used.add_metric((usage.name,), usage.used_bytes)
            yield used
            limit = GaugeMetricFamily("tabuleiro_memory_limit_bytes", "Memory there may be", labels=("limit",))
            limit.add_metric((usage.name,), usage.limit_bytes)
            yield limit

    def _bot_metrics(self) -> Iterator[Metric]:
        bots = self.bots()
        yield GaugeMetricFamily("tabuleiro_bot_turns_waiting", "Turns waiting for a bot", value=bots.waiting_count)
        yield GaugeMetricFamily("tabuleiro_bots_thinking", "Bots that think now", value=bots.thinking_count)
        yield CounterMetricFamily(
            "tabuleiro_bot_workers_started", "Worker processes started", value=bots.started_workers_count
        )
        yield CounterMetricFamily(
            "tabuleiro_bot_failures", "Failed attempts of workers", value=bots.failures_count
        )
        yield CounterMetricFamily(
            "tabuleiro_bot_fallbacks",
            "Turns made by chance because no worker answered",
            value=bots.fallbacks_count,
        )


def render_metrics(collector: Collector) -> str:
    """Return the metrics of ``collector`` in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return generate_latest(registry).decode()


def _labelled(
    name: str, text: str, labels: tuple[str, ...], counts: Iterable[tuple[tuple[str, ...], int]]
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=labels)
    for values, count in counts:
        family.add_metric(values, count)
    return family


def _histogram(name: str, text: str, values: Histogram, per_unit: int) -> HistogramMetricFamily:
    """Return a histogram in a unit that is ``per_unit`` of its own."""
    bounds = [*(str(bound / per_unit) for bound in values.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(values.counts), strict=True))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=values.total / per_unit)
