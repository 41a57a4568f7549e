"""The short form of the swarm; `make swarm` runs the long one."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tabuleiro_client.net.mirror import Mirror
from tests.e2e.faulty_network import FAULTS
from tests.e2e.swarm import Swarm

SHORT_ROOM_COUNT = 15


@pytest.mark.slow
@pytest.mark.parametrize("run", [1, 2])
async def test_every_match_ends_and_all_agree_about_it_over_bad_networks(tmp_path: Path, run: int) -> None:
    swarm = Swarm(tmp_path, secrets.randbelow(2**31), SHORT_ROOM_COUNT)
    print(swarm.command)
    stored = await swarm.run()
    print(swarm.report(stored))
    assert len(stored.ended) >= SHORT_ROOM_COUNT
    assert len(swarm.ends) >= 2 * SHORT_ROOM_COUNT
    assert set(swarm.faults) <= set(FAULTS)
    assert {"late", "in pieces"} <= set(swarm.faults)
    assert swarm.counts["resumed"]
    assert swarm.ledger.acknowledged


async def test_the_swarm_notices_a_client_that_loses_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Mirror.update
    count = 0

    def update(mirror: Mirror, message: object) -> object:
        nonlocal count
        count += len(message.events)  # type: ignore[attr-defined]
        if count > 20 and message.events:  # type: ignore[attr-defined]
            count = 0
            return ()
        return take(mirror, message)  # type: ignore[arg-type]

    monkeypatch.setattr(Mirror, "update", update)
    with pytest.raises(BaseExceptionGroup) as caught:
        await Swarm(tmp_path, 1, 2).run()
    assert caught.group_contains(AssertionError, match="a mirror could not go on from event")
