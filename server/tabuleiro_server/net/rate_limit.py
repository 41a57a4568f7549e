"""Limits on clients: connections of one address and in all, and unfinished handshakes.

They count and know no sockets. What becomes of a connection over a limit is up to `connection` and `server`.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Protocol

from tabuleiro.errors import RemoteProtocolError
from tabuleiro.protocol.codes import CloseCode
from tabuleiro_server.config import Config
from tabuleiro_server.memory import Memory
from tabuleiro_server.metrics import NetMetrics
from tabuleiro_server.net.addresses import Proxies, rate_limit_key

ANSWERED_TIMES: Final = 5
"""A browser has six connections for the files of a page, and a class behind one address opens it at once.

Connections that were answered do nothing but wait for their end, which somebody far away takes long to send.
"""


class ConnectionLimiter:
    """The places for connections, in all and for one address."""

    def __init__(self, config: Config, metrics: NetMetrics, memory: Memory) -> None:
        self._config = config
        self._metrics = metrics
        self._memory = memory
        self._count = 0
        self._by_address: Counter[str] = Counter()

    def admit(self, address: str) -> None:
        """Take a place for a connection of ``address``; :meth:`release` gives it back.

        Raises:
            RemoteProtocolError: There is none, with a close code; the message names the limit.
        """
        config, key = self._config, rate_limit_key(address)
        if self._count >= config.connections_count:
            raise self._refusal("connections_count", f"at most {config.connections_count} connections")
        if self._by_address[key] >= config.connections_per_address_count:
            allowed = f"at most {config.connections_per_address_count} connections from one address"
            raise self._refusal("connections_per_address_count", allowed)
        if self._memory.is_short:
            raise self._refusal("memory", "the server's memory is nearly used up")
        self._count += 1
        self._by_address[key] += 1
        self._metrics.open_count += 1
        self._metrics.admitted_count += 1

    def release(self, address: str) -> None:
        """Give back the place of a connection of ``address``."""
        self._count -= 1
        self._metrics.open_count -= 1
        _count_down(self._by_address, rate_limit_key(address))

    def _refusal(self, key: str, allowed: str) -> RemoteProtocolError:
        self._metrics.refused_counts[key] += 1
        return RemoteProtocolError(f"{key}: {allowed}; try later", CloseCode.TOO_MANY_CONNECTIONS)


class Handshake(Protocol):
    """A connection that is not admitted yet."""

    def cut(self) -> None:
        """End it without a word."""
        ...


class HandshakeLimiter:
    """The connections that are not admitted: in their handshake, being refused, or answered with a plain page.

    One address has no more of them than it may have connections. Where there is no place for a new one, the oldest
    of the address with most of them goes: slow handshakes from a few addresses keep nobody else out.

    ``times`` as many have a place here as the settings say: see `ANSWERED_TIMES`.
    """

    def __init__(self, config: Config, proxies: Proxies, metrics: NetMetrics, times: int = 1) -> None:
        self._per_address_count = times * config.connections_per_address_count
        self._all_count = times * config.handshakes_count
        self._proxies = proxies
        self._metrics = metrics
        self._addresses: dict[Handshake, str] = {}
        self._by_address: dict[str, dict[Handshake, None]] = {}

    @property
    def waiting(self) -> tuple[Handshake, ...]:
        """The connections that are not admitted."""
        return tuple(self._addresses)

    def arrive(self, connection: Handshake, peer_address: str) -> None:
        """Note a new connection, and cut an older one if that makes one too many."""
        key = rate_limit_key(peer_address)
        own = self._by_address.setdefault(key, {})
        self._addresses[connection] = key
        own[connection] = None
        is_crowd = len(own) > self._per_address_count
        if is_crowd and not self._proxies.is_trusted(peer_address):
            self._cut_oldest(own)
        elif len(self._addresses) > self._all_count:
            self._cut_oldest(max(self._by_address.values(), key=len))

    def leave(self, connection: Handshake) -> None:
        """Forget a connection that was admitted or is gone; nothing happens when it is not here."""
        key = self._addresses.pop(connection, None)
        if key is not None:
            own = self._by_address[key]
            del own[connection]
            if not own:
                del self._by_address[key]

    def _cut_oldest(self, connections: dict[Handshake, None]) -> None:
        self._metrics.refused_counts["handshakes_count"] += 1
        oldest = next(iter(connections))
        self.leave(oldest)
        oldest.cut()


def _count_down(counter: Counter[str], key: str) -> None:
    """Take one off, and forget what is at nothing, so that memory holds only who is here."""
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
