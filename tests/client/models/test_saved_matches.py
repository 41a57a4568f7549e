"""The remembered matches, and the codes by which rooms are passed on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tabuleiro.errors import ClientError, NotationError
from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro_client.models.saved_matches import KEPT_COUNT, SavedMatch, SavedMatches
from tabuleiro_client.net.addresses import format_room_address, parse_room_address

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


def test_only_the_newest_matches_are_kept(tmp_path):
    saved = SavedMatches(tmp_path)
    for number in range(KEPT_COUNT + 3):
        code = RoomCode(f"AAA{number:02}")
        saved.keep(msgspec.structs.replace(MATCH, room=code, seen_at_ms=TimestampMs(number)))
    assert [match.seen_at_ms for match in saved.all()] == list(range(KEPT_COUNT + 2, 2, -1))


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
