from __future__ import annotations

import pytest

from tabuleiro.errors import ConfigError
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro_client.net.addresses import DEFAULT_SERVER, default_server


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("ws://127.0.0.1:8765", "ws://127.0.0.1:8765"),
        (" example.org ", "ws://example.org:8765"),
        ("ws://example.org", "ws://example.org"),
        ("[::1]", "ws://[::1]:8765"),
        ("example.org/play", "ws://example.org:8765/play"),
        ("example.org:99", "ws://example.org:99"),
        ("wss://Example.org/play/", "wss://example.org/play"),
        ("http://example.org", "ws://example.org"),
        ("[::1]:8765", "ws://[::1]:8765"),
        ("::1", "ws://[::1]:8765"),
        ("ws://::1", "ws://[::1]"),
        ("2001:db8::7/play", "ws://[2001:db8::7]:8765/play"),
    ],
)
def test_what_people_type_becomes_one_url(typed, url):
    assert parse_server_url(typed) == url
    assert parse_server_url(url) == url


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "ws://",
        "ftp://example.org",
        "ws://a b",
        "ws://host:99999",
        "ws://host:x",
        "ws://me@host",
        "ws://h?q",
        "h\x1b",
    ],
)
def test_anything_else_is_refused_with_the_right_form(typed):
    with pytest.raises(ConfigError, match=r"--server: .*expected an address like ws://HOST:PORT"):
        parse_server_url(typed)


def test_the_environment_names_the_default():
    assert default_server({}) == DEFAULT_SERVER
    assert default_server({"TABULEIRO_SERVER": "example.org:80"}) == "ws://example.org:80"
    with pytest.raises(ConfigError, match="TABULEIRO_SERVER"):
        default_server({"TABULEIRO_SERVER": "ftp://x"})
