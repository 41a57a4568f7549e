"""The remembered matches, and the codes by which rooms are passed on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tabuleiro.errors import ClientError, NotationError
from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.protocol.messages import ME, CreateRoom, SeatRequest, WatchRoom
from tabuleiro_client.models import saved_matches as module
from tabuleiro_client.models.saved_matches import (
    RoomMemory,
    SavedMatch,
    SavedMatches,
    delete_match,
    end_match,
    fits,
    row_of,
)
from tabuleiro_client.net.addresses import format_room_address, parse_room_address
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import enter
from tabuleiro_client.net.server import local_record, local_venue

MATCH = SavedMatch(
    server="ws://games.example.org",
    guest="ana",
    room=RoomCode("K7MQ4"),
    game="Iris",
    board="default board",
    phase="playing",
    opponent="rui",
    seen_at_ms=TimestampMs(1000),
    secret="s3cr3t",
)


def test_what_was_kept_is_there_again_newest_first_until_it_is_forgotten(tmp_path):
    saved = SavedMatches(tmp_path)
    later = msgspec.structs.replace(MATCH, room=RoomCode("WWWW2"), seen_at_ms=TimestampMs(2000))
    saved.keep(MATCH)
    saved.keep(later)
    assert SavedMatches(tmp_path).all() == [later, MATCH]
    saved.forget(later)
    assert SavedMatches(tmp_path).all() == [MATCH]


def test_keeping_a_match_again_replaces_what_was_known_of_it(tmp_path):
    saved = SavedMatches(tmp_path)
    over = msgspec.structs.replace(MATCH, phase="finished", seen_at_ms=TimestampMs(2000))
    saved.keep(MATCH)
    saved.keep(over)
    assert saved.all() == [over]
    assert over.is_over
    assert not MATCH.is_over


def test_only_the_newest_matches_that_are_over_are_kept_and_every_unfinished_one(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "KEPT_COUNT", 5)
    saved = SavedMatches(tmp_path)
    for number in range(8):
        for phase in ("playing", "finished"):
            code, at_ms = RoomCode(f"{phase[0].upper()}AAA{number}"), TimestampMs(number)
            saved.keep(msgspec.structs.replace(MATCH, room=code, phase=phase, seen_at_ms=at_ms))
    kept = saved.all()
    assert [match.seen_at_ms for match in kept if match.is_over] == [7, 6, 5, 4, 3]
    assert sum(not match.is_over for match in kept) == 8


def test_a_file_that_holds_no_match_is_passed_over(tmp_path):
    saved = SavedMatches(tmp_path)
    saved.keep(MATCH)
    (tmp_path / "matches" / "odd.json").write_text("{}")
    assert saved.all() == [MATCH]


def test_secrets_are_kept_from_others(tmp_path):
    SavedMatches(tmp_path).keep(MATCH)
    (path,) = (tmp_path / "matches").iterdir()
    assert path.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ClientError, match="your matches cannot be kept"):
        SavedMatches(Path(tmp_path / "file")).keep(MATCH)


@pytest.mark.parametrize("secret", [None, "abc", "-abc-_x"])
def test_room_addresses_round_trip(secret):
    assert parse_room_address(format_room_address(RoomCode("K7MQ4"), secret)) == ("K7MQ4", secret)


@pytest.mark.parametrize("text", ["k7mq4 abc", "K7MQ4:abc", " K7MQ4 / abc "])
def test_room_addresses_as_people_write_them(text):
    assert parse_room_address(text) == ("K7MQ4", "abc")


@pytest.mark.parametrize("text", ["", "K7MQ", "K7MQ44", "K7MQ0", "K7MQ4 a b"])
def test_no_room_address(text):
    with pytest.raises(NotationError, match="the code of a room"):
        parse_room_address(text)


MINEFIELD = {"size": 5, "rules": "beginner"}
TWO_BOTS = (SeatRequest("bot", "random"), SeatRequest("bot", "random"))


@pytest.fixture
async def venue(tmp_path, monkeypatch):
    """The server of this process, as ana."""
    monkeypatch.setenv("TABULEIRO_DATA_DIR", str(tmp_path / "data"))
    async with local_venue(IdentityFolder(tmp_path / "config"), "ana") as venue:
        yield venue


async def left(saved, venue, *actions, seats=(ME, ME)):
    """Play a little in a room of one's own, and leave it."""
    request = CreateRoom(id=0, game="minefield", options=MINEFIELD, seats=seats)
    async with await enter(venue.link, request) as room:
        for action in actions:
            await room.play([action])
        RoomMemory(saved, venue, room).note(1000)
        return room.code


async def test_a_match_of_two_bots_of_ones_own_is_remembered_by_their_names(venue, tmp_path):
    saved = SavedMatches(tmp_path)
    code = await left(saved, venue, seats=TWO_BOTS)
    (match,) = saved.played()
    assert match.title == f"Minefield, random-bot - random-bot-2 ({code})"
    assert (match.is_local, match.opponent, match.is_over) == (True, "", False)
    assert fits(row_of(match), "unfinished random-bot")


async def test_whoever_only_looks_on_remembers_nothing(venue, tmp_path):
    code = await left(SavedMatches(tmp_path), venue, seats=TWO_BOTS)
    async with Link(venue.url, name="rui") as link, await enter(link, WatchRoom(id=0, room=code)) as room:
        assert module.match_in(replace(venue, link=link), room, 1000) is None


@pytest.mark.parametrize(
    ("actions", "result"), [((), "no result"), (("c1",), "no result"), (("c1", "a1"), "white wins")]
)
async def test_a_match_is_ended_without_a_result_while_it_has_hardly_begun(venue, tmp_path, actions, result):
    saved = SavedMatches(tmp_path)
    code = await left(saved, venue, *actions)
    await end_match(saved, venue, code, None, 2000)
    (match,) = saved.all()
    assert (match.phase, match.result, match.seen_at_ms) == ("finished", result, 2000)


async def test_a_seat_in_a_waiting_room_is_given_up_and_forgotten(venue, tmp_path):
    saved = SavedMatches(tmp_path)
    code = await left(saved, venue, seats=(ME, SeatRequest("open")))
    assert [match.room for match in saved.all()] == [code]
    await end_match(saved, venue, code, None, 2000)
    assert saved.all() == []
    assert (await venue.link.list_rooms()).rooms == ()


async def test_a_deleted_match_is_gone_from_the_list_and_from_the_disk(venue, tmp_path):
    saved = SavedMatches(tmp_path)
    running = await left(saved, venue, "c1", "a1")
    over = await left(saved, venue, "c1", "a1")
    await end_match(saved, venue, over, None, 2000)
    for code in (running, over):
        assert (await local_record(code, None)).actions == ("c1", "a1")
        await delete_match(saved, venue, code)
        assert await local_record(code, None) is None
    assert saved.all() == []
    assert (await venue.link.list_rooms(phases=("playing", "finished"))).rooms == ()
