"""Who may come in: how many connections there are, in all and from one address, and how many at the door.

It counts and knows no sockets; what a refused connection is told is left to `websocket_server`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tabuleiro.errors import RemoteProtocolError
from tabuleiro.protocol.codes import CloseCode
from tabuleiro_server.config import Config
from tabuleiro_server.net.addresses import Proxies, household
from tabuleiro_server.net.figures import NetFigures


class Waiting(Protocol):
    """A connection at the door."""

    def cut(self) -> None:
        """End it without a word."""
        ...


class Admission:
    """The connections that were let in."""

    def __init__(self, config: Config, figures: NetFigures) -> None:
        self._config = config
        self._figures = figures
        self._count = 0
        self._by_household: Counter[str] = Counter()

    @contextmanager
    def place(self, address: str) -> Iterator[None]:
        """Hold a place for a connection of ``address`` for as long as the context lasts.

        Raises: RemoteProtocolError with a close code when there is none; the message names the limit.
        """
        config, home = self._config, household(address)
        if self._count >= config.connections_count:
            raise self._refusal("connections_count", f"at most {config.connections_count} connections")
        if self._by_household[home] >= config.connections_per_address_count:
            allowed = f"at most {config.connections_per_address_count} connections from one address"
            raise self._refusal("connections_per_address_count", allowed)
        self._count += 1
        self._by_household[home] += 1
        self._figures.open_count += 1
        self._figures.admitted_count += 1
        try:
            yield
        finally:
            self._count -= 1
            self._figures.open_count -= 1
            _count_down(self._by_household, home)

    def _refusal(self, key: str, allowed: str) -> RemoteProtocolError:
        self._figures.refused_counts[key] += 1
        return RemoteProtocolError(f"{key}: {allowed}; try later", CloseCode.TOO_MANY_CONNECTIONS)


class Door:
    """The connections that are not let in yet: in their handshake, or being refused.

    Who opens sockets and says nothing costs no more than these places, and one address gets no more of them
    than it may have connections.
    """

    def __init__(self, config: Config, proxies: Proxies, figures: NetFigures) -> None:
        self._config = config
        self._proxies = proxies
        self._figures = figures
        self._waiting: dict[Waiting, str] = {}
        self._by_household: Counter[str] = Counter()

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The connections that wait here."""
        return tuple(self._waiting)

    def arrive(self, connection: Waiting, peer_address: str) -> bool:
        """Note a new connection; tells whether there is a place for it."""
        home = household(peer_address)
        is_crowd = self._by_household[home] >= self._config.connections_per_address_count
        if len(self._waiting) >= self._config.handshakes_count or (
            is_crowd and not self._proxies.is_trusted(peer_address)
        ):
            self._figures.refused_counts["handshakes_count"] += 1
            return False
        self._waiting[connection] = home
        self._by_household[home] += 1
        return True

    def leave(self, connection: Waiting) -> None:
        """The connection was let in, or is gone; nothing happens when it is not here."""
        home = self._waiting.pop(connection, None)
        if home is not None:
            _count_down(self._by_household, home)


def _count_down(counter: Counter[str], key: str) -> None:
    """Take one off, and forget what is at nothing, so that memory holds only who is here."""
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
