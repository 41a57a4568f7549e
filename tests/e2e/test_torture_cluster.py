"""The short form of the torture of nodes and databases; `make torture-cluster` runs the long one."""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
from pathlib import Path

import pytest

from tests.e2e.torture_cluster import FAULTS_COUNT, ClusterTorture
from tests.postgres import reason_to_skip

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.skipif(reason_to_skip() != "", reason=reason_to_skip())
async def test_what_was_acknowledged_survives_each_fault_of_a_cluster() -> None:
    seed = secrets.randbelow(2**31)
    print(f"seed {seed}")
    # Not pytest's folder, whose path is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="tabuleiro-") as folder:
        torture = ClusterTorture(Path(folder), seed, FAULTS_COUNT, node_count=3, table_count=20, stop_s=5.0)
        async with asyncio.timeout(400):
            ended_count = await torture.play()
    assert len(torture.pauses_s) == FAULTS_COUNT
    assert ended_count > 0
