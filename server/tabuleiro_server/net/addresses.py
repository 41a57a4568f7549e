"""Addresses: of a client, also behind proxies that are trusted to tell it, and of this machine."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

IPV6_LIMIT_BITS: Final = 64
"""Even a home connection has a /64 network of IPv6 addresses to itself, so these count as one."""


_ELSEWHERE: Final = {
    socket.AF_INET: ("198.51.100.1", "10.255.255.254", "172.31.255.254", "192.168.255.254"),
    socket.AF_INET6: ("2001:db8::1", "fd00::1"),
}
"""Addresses in the internet and in private networks; the way to each leaves by one of our own addresses."""


class Proxies:
    """The proxies whose X-Forwarded-For is believed; ``texts`` are addresses or networks."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take the proxies of ``texts``. Raises: ValueError for a text that is no address."""
        self._networks: tuple[Network, ...] = tuple(ipaddress.ip_network(text, strict=False) for text in texts)

    def is_trusted(self, address: str) -> bool:
        """Return whether this is the address of one of the proxies."""
        parsed = _parse(address)
        return parsed is not None and any(parsed in network for network in self._networks)

    def client_address(self, peer_address: str, forwarded_for: Iterable[str]) -> str:
        """Return the address of the client behind the socket's ``peer_address``.

        ``forwarded_for`` are the X-Forwarded-For headers in their order. They are read from the right, for as
        long as trusted proxies wrote them: what stands further left may be the client's own invention.

        >>> Proxies(["10.0.0.1"]).client_address("10.0.0.1", ["6.6.6.6, 192.0.2.7"])
        '192.0.2.7'
        >>> Proxies([]).client_address("10.0.0.1", ["192.0.2.7"])
        '10.0.0.1'
        """
        address = peer_address
        hops = [hop.strip() for header in forwarded_for for hop in header.split(",")]
        while hops and self.is_trusted(address):
            hop = _parse(hops.pop())
            if hop is None:
                break
            address = str(hop)
        return address


def rate_limit_key(address: str) -> str:
    """Return what counts as one address in limits: an IPv4 address, or a /64 network of IPv6.

    >>> rate_limit_key("2001:db8::1"), rate_limit_key("::ffff:192.0.2.7"), rate_limit_key("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7', '192.0.2.7')
    """
    parsed = _parse(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, IPV6_LIMIT_BITS), strict=False))
    return address if parsed is None else str(parsed)


def is_loopback(address: str) -> bool:
    """Return whether the address is of this machine."""
    parsed = _parse(address)
    return parsed is not None and parsed.is_loopback


def is_everywhere(host: str) -> bool:
    """Return whether ``host`` to listen on stands for every address of this machine."""
    parsed = _parse(host)
    return parsed is not None and parsed.is_unspecified


def own_addresses(host: str) -> list[str]:
    """Return the addresses by which other machines reach a server that listens on ``host``, the best one first.

    Nothing is sent: the system is asked which address a packet would leave by.
    """
    if not is_everywhere(host):
        return [] if is_loopback(host) or host == "localhost" else [host]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found: dict[str, None] = {}
    for elsewhere in _ELSEWHERE[family]:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((elsewhere, 9))
            found[asked.getsockname()[0]] = None
    with suppress(OSError):
        named = socket.getaddrinfo(socket.gethostname(), None, family)
        found.update(dict.fromkeys(str(info[4][0]) for info in named))
    return [address for address in found if _is_of_network(address)]


def _is_of_network(text: str) -> bool:
    address = _parse(text)
    return address is not None and not (address.is_loopback or address.is_link_local or address.is_unspecified)


_AUTHORITY: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{0,5})?", re.ASCII)


def is_local_host(authority: str) -> bool:
    """Return whether a Host header, or the authority of a URL, names this machine, whatever the port.

    A browser may be led here by any name: whoever owns it lets it point to this machine once his page has been
    loaded, and the page may then read what it finds here.

    >>> [is_local_host(text) for text in ("LocalHost.:8765", "[::1]", "127.0.0.1:80", "evil.example", "")]
    [True, True, True, False, False]
    """
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        return False
    if found[1] is not None:
        return ":" in found[1] and is_loopback(found[1])
    name = found[2].lower().removesuffix(".")
    is_own = name in ("localhost", socket.gethostname().lower()) and name != ""
    return is_own or name.endswith(".localhost") or is_loopback(name)


def _parse(text: str) -> Address | None:
    """Return the address in ``text``, as IPv4 where it is mapped into IPv6; ``None`` if there is none."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
