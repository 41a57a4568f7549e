"""The commands that lead to a room, as they are sent to others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tabuleiro.ids import RoomCode
from tabuleiro.protocol.events import RoomSecrets
from tabuleiro_client.net.addresses import parse_room_address
from tabuleiro_client.net.server import Signposts, Venue

CODE = RoomCode("K7MQ4")


def signposts(url: str, public_url: str | None = None, secrets: RoomSecrets | None = None, **of_room) -> Signposts:
    has_page = of_room.get("has_page", False)
    link = SimpleNamespace(welcome=SimpleNamespace(name="ana", public_url=public_url, has_page=has_page))
    venue = Venue(link, url, url, is_local=False)
    return venue.signposts(CODE, secrets, is_private=of_room.get("is_private", secrets is not None))


def test_others_are_led_to_the_address_that_the_server_names_and_oneself_to_the_one_that_works_here():
    found = signposts("ws://127.0.0.1:8765", "wss://play.example.org")
    assert found.join == "tabuleiro play --server wss://play.example.org --room K7MQ4"
    assert found.watch == "tabuleiro watch K7MQ4 --server wss://play.example.org"
    assert found.back == "tabuleiro play --server ws://127.0.0.1:8765 --room K7MQ4 --name ana"
    assert not found.is_here_only


def test_an_address_of_this_machine_is_marked_as_such():
    assert signposts("ws://127.0.0.1:8765").is_here_only
    assert signposts("ws://localhost:8765").is_here_only
    assert not signposts("ws://192.0.2.7:8765").is_here_only


@pytest.mark.parametrize("sent", ["", "no address", "ws://host/\x1b[2J", "ftp://host", "ws://a b; rm -r"])
def test_a_server_that_names_no_address_is_not_believed(sent):
    assert "--server ws://192.0.2.7:8765 " in signposts("ws://192.0.2.7:8765", sent).join


def test_an_address_with_signs_of_a_shell_is_quoted():
    assert "--server 'ws://host:1/a;b'" in signposts("ws://192.0.2.7:8765", "ws://host:1/a;b").join


@pytest.mark.parametrize("secret", ["s3cr-et", "-begins", "--", "_"])
def test_the_secret_of_a_private_room_is_in_one_piece_with_its_code(secret):
    found = signposts("ws://192.0.2.7:8765", secrets=RoomSecrets(invite=secret, watch=f"w{secret}"))
    assert found.join.endswith(f" --room K7MQ4-{secret}")
    assert f" watch K7MQ4-w{secret} " in found.watch
    assert parse_room_address(f"K7MQ4-{secret}") == ("K7MQ4", secret)


def test_nobody_is_told_the_way_to_a_private_room_by_others_than_its_host():
    found = signposts("ws://192.0.2.7:8765", is_private=True)
    assert (found.join, found.watch) == ("", "")
    assert found.back


def test_a_link_for_a_browser_comes_with_a_server_that_has_a_page():
    found = signposts("ws://127.0.0.1:8765", "wss://play.example.org", has_page=True)
    assert found.join_page == found.watch_page == "https://play.example.org/r/K7MQ4"
    assert signposts("ws://192.0.2.7:8765", has_page=True).join_page == "http://192.0.2.7:8765/r/K7MQ4"
    assert signposts("ws://192.0.2.7:8765").join_page == ""


def test_the_secret_of_a_link_stands_behind_a_hash_and_differs_for_watchers():
    found = signposts("ws://192.0.2.7:8765", secrets=RoomSecrets(invite="s3/t", watch="w1"), has_page=True)
    assert found.join_page == "http://192.0.2.7:8765/r/K7MQ4#s3%2Ft"
    assert found.watch_page == "http://192.0.2.7:8765/r/K7MQ4#w1"
