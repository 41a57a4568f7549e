"""What /health says of a server on PostgreSQL while that is away or silent."""

from __future__ import annotations

import asyncio

from tests.e2e.nodes import RunningNode, running_node
from tests.net.wire_client import raw_request
from tests.patience import LIMIT_S
from tests.postgres_proxy import Proxy


async def becomes(node: RunningNode, status: str, text: str) -> None:
    """Ask until the answer is this one."""
    async with asyncio.timeout(LIMIT_S):
        while await health(node) != (status, text):
            pass


async def health(node: RunningNode) -> tuple[str, str]:
    head, text = await raw_request(node.server.port, ["GET /health HTTP/1.1"])
    return head.split()[1], text


async def test_health_is_bad_while_the_database_is_away(network: Proxy) -> None:
    async with running_node(network.url, "a") as node:
        assert await health(node) == ("200", "ok\n")
        network.refuse()
        await becomes(node, "503", "database\n")
        network.release()
        await becomes(node, "200", "ok\n")


async def test_health_is_bad_once_the_lease_has_run_out(network: Proxy) -> None:
    async with running_node(network.url, "a") as node:
        network.hold_answers()
        await becomes(node, "503", "lease\n")
        network.release()
        await becomes(node, "200", "ok\n")
