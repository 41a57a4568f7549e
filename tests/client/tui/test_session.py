"""Going to a server and leaving it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from tabuleiro_client import venue as venues
from tabuleiro_client.folders import config_folder
from tabuleiro_client.identity import IdentityFolder
from tabuleiro_client.link_state import LinkState
from tabuleiro_client.tui.session import Session


async def test_a_way_that_is_given_up_leaves_the_place_of_the_next_one_alone(real_server, monkeypatch):
    is_on_its_way, may_go_on = asyncio.Event(), asyncio.Event()
    remote_venue = venues.remote_venue

    @asynccontextmanager
    async def slow_for_ana(url, identities, name, ask_name):
        if name == "ana":
            is_on_its_way.set()
            await may_go_on.wait()
        async with remote_venue(url, identities, name, ask_name) as venue:
            yield venue

    monkeypatch.setattr(venues, "remote_venue", slow_for_ana)
    session = Session(IdentityFolder(config_folder()), lambda: None)
    given_up = asyncio.create_task(session.go_online(real_server.url, "ana"))
    await is_on_its_way.wait()
    given_up.cancel()
    going = asyncio.create_task(session.go_online(real_server.url, "rui"))
    await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    venue = await going
    assert session.venue is venue
    assert session.state is LinkState.CONNECTED
    assert venue.link.welcome.name == "rui"
    await session.leave()
    assert session.venue is None
