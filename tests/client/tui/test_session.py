"""Going to a server and leaving it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from tabuleiro.errors import ConnectionLostError
from tabuleiro_client.net import server as venues
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.tui.session import Session
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server


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


async def test_a_server_that_never_answers_holds_up_neither_the_next_way_nor_leaving(real_server, monkeypatch):
    # The next way and the end of the program waited until the server was given up, which took ten seconds.
    is_on_its_way = asyncio.Event()
    remote_venue = venues.remote_venue

    @asynccontextmanager
    async def never_for_ana(url, identities, name, ask_name):
        if name == "ana":
            is_on_its_way.set()
            await asyncio.Event().wait()
        async with remote_venue(url, identities, name, ask_name) as venue:
            yield venue

    monkeypatch.setattr(venues, "remote_venue", never_for_ana)
    session = Session(IdentityFolder(config_folder()), lambda: None)
    for leave in (True, False):
        is_on_its_way.clear()
        given_up = asyncio.create_task(session.go_online(real_server.url, "ana"))
        await is_on_its_way.wait()
        if leave:
            await session.leave()
        given_up.cancel()
        await asyncio.wait([given_up])
    assert (await session.go_online(real_server.url, "rui")).link.welcome.name == "rui"
    await session.leave()


async def test_leaving_waits_for_what_an_earlier_leaving_was_not_given_the_time_to_end(real_server, monkeypatch):
    # A program that ended then closed its event loop under a server of its own that was still starting.
    is_on_its_way, may_end, has_ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slow_to_end(url, identities, name, ask_name):
        try:
            is_on_its_way.set()
            await asyncio.Event().wait()
            yield
        finally:
            await may_end.wait()
            has_ended.set()

    monkeypatch.setattr(venues, "remote_venue", slow_to_end)
    session = Session(IdentityFolder(config_folder()), lambda: None)
    given_up = asyncio.create_task(session.go_online(real_server.url, "ana"))
    await is_on_its_way.wait()
    for _ in range(2):  # the first ends the going, the second the leaving that comes of it
        given_up.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([given_up])
    assert not has_ended.is_set()
    leaving = asyncio.create_task(session.leave())
    await asyncio.sleep(0)
    may_end.set()
    await leaving
    assert has_ended.is_set()


async def test_a_way_that_led_nowhere_leaves_no_word_about_the_connection_before(tmp_path):
    is_lost = asyncio.Event()

    def take_note() -> None:
        if session.reason:
            is_lost.set()

    session = Session(IdentityFolder(config_folder()), take_note)
    async with running_server(Config(db=str(tmp_path / "server.db"), port=0)) as server:
        await session.go_online(server.url, "ana")
    await is_lost.wait()
    with pytest.raises(ConnectionLostError, match="no server listens there"):
        await session.go_online(server.url, "ana")
    assert (session.venue, session.reason) == (None, "")
