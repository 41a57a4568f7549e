"""The server of this process: it knows its own user, whatever became of what is kept elsewhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tabuleiro.errors import ClientError
from tabuleiro.ids import DAY_MS
from tabuleiro.protocol.messages import CreateRoom, SeatRequest
from tabuleiro_client.net import server as module
from tabuleiro_client.net.files import DATA_VARIABLE
from tabuleiro_client.net.identity import IdentityFolder, login_name
from tabuleiro_client.net.room import enter
from tabuleiro_client.net.server import database_of_key, local_venue

ROOM = CreateRoom(id=0, game="minefield", seats=(SeatRequest("me"), SeatRequest("me")))


@pytest.fixture
def identities(tmp_path: Path) -> IdentityFolder:
    return IdentityFolder(tmp_path / "config")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "usual_data_folder", lambda: tmp_path / "usual")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "usual"))
    return tmp_path / "usual"


async def test_two_databases_of_one_name_know_their_user_by_turns(
    identities: IdentityFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: 'the name 'root' is taken on ws://127.0.0.1:40141, and its token is not on this machine'."""
    seen = set()
    for folder in ("usual", "elsewhere", "usual", "elsewhere"):
        monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / folder))
        async with local_venue(identities, None) as venue:
            seen.add((venue.server, venue.link.welcome.account))
            assert venue.link.welcome.name == login_name()
    assert len(seen) == 2


async def test_a_database_knows_its_user_after_the_settings_are_lost(tmp_path: Path) -> None:
    async with local_venue(IdentityFolder(tmp_path / "config"), "ana") as venue:
        account = venue.link.welcome.account
    async with local_venue(IdentityFolder(tmp_path / "new config"), None) as venue:
        assert (venue.link.welcome.name, venue.link.welcome.account) == ("ana", account)
    async with local_venue(IdentityFolder(tmp_path / "newest config"), "Ana") as venue:
        assert venue.link.welcome.account == account


async def test_a_bad_name_is_refused(identities: IdentityFolder) -> None:
    with pytest.raises(ClientError, match="2 to 20 letters"):
        async with local_venue(identities, "a b"):
            pass


async def test_where_nothing_can_be_written_matches_are_played_and_not_kept(
    identities: IdentityFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "file"))
    async with local_venue(identities, None) as venue, await enter(venue.link, ROOM) as room:
        assert room.mirror.head.phase == "playing"
        database = database_of_key(venue.server)
        assert database.exists()
    (notice,) = identities.notices
    assert "matches cannot be kept" in str(notice)
    assert not database.parent.exists()


async def test_who_plays_here_is_told_that_the_clock_was_set_back(identities: IdentityFolder) -> None:
    async with local_venue(identities, None) as venue, await enter(venue.link, ROOM):
        database = database_of_key(venue.server)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE rooms SET updated_at_ms = updated_at_ms + ?", (30 * DAY_MS,))
        connection.commit()
    async with local_venue(identities, None):
        (notice,) = identities.notices
    assert str(notice).startswith("This machine's clock is 29 days")


async def test_a_match_is_found_in_its_own_database(
    identities: IdentityFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with local_venue(identities, None), local_venue(identities, None) as second:
        key = second.server
    assert key == "local local-2.db"
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "elsewhere"))
    async with local_venue(identities, None) as elsewhere:
        other_key = elsewhere.server
    assert other_key == f"local {tmp_path / 'elsewhere' / 'local.db'}"
    for wanted in (key, other_key):
        async with local_venue(identities, None, database_of_key(wanted)) as venue:
            assert venue.server == wanted


async def test_a_match_whose_database_is_in_use_or_gone_is_told(identities: IdentityFolder, data: Path) -> None:
    async with local_venue(identities, None) as venue:
        with pytest.raises(ClientError, match="open in another terminal"):
            async with local_venue(identities, None, database_of_key(venue.server)):
                pass
    with pytest.raises(ClientError, match=r"the file of this match is gone: .*local-7\.db"):
        async with local_venue(identities, None, data / "local-7.db"):
            pass


async def test_matches_of_ones_own_machine_never_run_out(identities: IdentityFolder) -> None:
    """Symptom: after 20 unfinished matches nothing opened any more, and after 40 new ones in a short time."""
    async with local_venue(identities, None) as venue:
        for _ in range(45):
            async with await enter(venue.link, ROOM):
                pass
        assert len((await venue.link.list_rooms(phases=("playing",))).rooms) == 45
