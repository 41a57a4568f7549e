"""The page in the browser, as far as no browser is needed: its files, headers, previews, and who may connect."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, Hello
from tabuleiro.protocol.version import SUBPROTOCOL_JSON
from tabuleiro.rules import registry
from tabuleiro.rules.base import Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_client.text.endings import ending_text
from tabuleiro_server.net.page import Page
from tabuleiro_server.wiring import RunningServer
from tests.net.wire_client import StartServer, raw_request, wire

WEB = files("tabuleiro_server.net") / "web"
MAX_COMPRESSED_BYTES = 60_000


async def get(server: RunningServer, path: str, *headers: str, method: str = "GET") -> tuple[str, str]:
    return await raw_request(server.port, [f"{method} {path} HTTP/1.1", *headers])


async def test_every_address_of_the_page_is_the_same_document(server: RunningServer) -> None:
    for path in ("/", "/new", "/r/K7MQ4", "/embed/k7mq4", "/m/K7MQ4/2", "/rules/virus-wars", "/r/K7MQ4?x=1"):
        head, body = await get(server, path)
        assert head.startswith("HTTP/1.1 200"), path
        assert '<div id="app">' in body


async def test_what_the_page_does_not_have_is_not_found(server: RunningServer) -> None:
    for path in (
        "/r/",
        "/r/K7MQ4/x",
        "/static/0000/main.js",
        "/static/../page.py",
        "/m/K7MQ4",
        "/index.html",
        "//",
    ):
        head, body = await get(server, path)
        assert head.startswith("HTTP/1.1 404"), path
        assert body == "there is no such page; start at /\n"


async def test_files_are_kept_for_good_and_the_document_is_not(server: RunningServer) -> None:
    head, body = await get(server, "/")
    assert "Cache-Control: no-cache" in head
    paths = re.findall(r'(?:src|href)="(/static/[^"]+)"', body)
    assert len(paths) == 3
    for path in paths:
        head, content = await get(server, path)
        assert head.startswith("HTTP/1.1 200")
        assert "max-age=31536000, immutable" in head
        assert content


async def test_headers_let_nothing_of_others_in(server: RunningServer) -> None:
    head, _ = await get(server, "/")
    for wanted in ("nosniff", "no-referrer", "same-origin", "default-src 'none'", "frame-ancestors 'none'"):
        assert wanted in head
    assert "unsafe" not in head
    embedded, _ = await get(server, "/embed/K7MQ4")
    assert "frame-ancestors *" in embedded


async def test_head_has_the_length_and_no_body(server: RunningServer) -> None:
    head, body = await get(server, "/", method="HEAD")
    assert body == ""
    assert re.search(r"Content-Length: [1-9]", head)


def test_files_come_compressed_and_are_small() -> None:
    page = Page(lambda code: None)
    found = page.find("/")
    assert found is not None
    assert gzip.decompress(found.zipped) == found.plain
    names = [entry.name for entry in WEB.iterdir() if entry.name != "index.html"]
    zipped = [file.zipped for name in names if (file := page.find(f"{page.folder}/{name}")) is not None]
    assert len(zipped) == len(names)
    assert sum(map(len, zipped)) < MAX_COMPRESSED_BYTES


async def test_a_listed_room_has_a_title_and_a_private_one_has_none(server: RunningServer) -> None:
    async with wire(server.url) as client:
        await client.do(Hello, name="ana")
        listed = (await client.do(CreateRoom, game="iris")).head.room
        private = (await client.do(CreateRoom, game="iris", settings=RoomSettings(is_private=True))).head.room
    _, body = await get(server, f"/r/{listed.lower()}")
    assert "<title>ana - Iris</title>" in body
    _, body = await get(server, f"/r/{private}")
    assert "<title>tabuleiro</title>" in body
    assert "ana" not in body


async def test_a_server_without_the_page_says_what_it_is(start_server: StartServer) -> None:
    async with start_server(web=False) as server:
        head, body = await get(server, "/")
        assert head.startswith("HTTP/1.1 426")
        assert body.startswith("this is a tabuleiro game server")


async def status_of_origin(server: RunningServer, origin: str) -> int:
    try:
        async with connect(server.url, subprotocols=[SUBPROTOCOL_JSON], origin=origin, proxy=None):  # type: ignore[list-item,arg-type]
            return 101
    except InvalidStatus as error:
        return error.response.status_code


async def test_pages_of_other_sites_may_not_connect(server: RunningServer) -> None:
    assert await status_of_origin(server, f"http://127.0.0.1:{server.port}") == 101
    for origin in ("https://evil.example", "null", f"http://localhost:{server.port}", "http://127.0.0.1"):
        assert await status_of_origin(server, origin) == 403, origin


async def test_the_host_may_let_other_sites_connect(start_server: StartServer) -> None:
    async with start_server(
        web_origins=("https://club.example.org",), public_url="wss://play.example.org"
    ) as server:
        assert await status_of_origin(server, "https://club.example.org") == 101
        assert await status_of_origin(server, "https://play.example.org") == 101
        assert await status_of_origin(server, "https://evil.example") == 403
    async with start_server(web_origins=("*",)) as server:
        assert await status_of_origin(server, "https://evil.example") == 101


def catalogue(name: str) -> dict[str, str]:
    """The entries of a table in the page's catalogue of texts."""
    source = (WEB / "text.js").read_text()
    table = re.search(rf"const {name} = {{\n(.*?)\n}};", source, re.DOTALL)
    assert table is not None
    return dict(re.findall(r'^  "?([a-z-]+)"?: "(.*)",$', table.group(1), re.MULTILINE))


def test_the_page_says_every_end_as_the_terminal_does() -> None:
    won, drawn = catalogue("ENDINGS"), catalogue("ENDINGS_WITHOUT_WINNER")
    assert set(won) | set(drawn) == set(Termination)
    page = {code: text.replace("{winner}", "ana").replace("{loser}", "rui") for code, text in won.items()}
    assert page == {code: ending_text(("ana", "rui"), 0, code) for code in won}
    assert {code: text.lower() for code, text in drawn.items()} == {
        code: ending_text(("ana", "rui"), None, code) for code in drawn
    }


def test_the_page_explains_refusals_by_codes_that_exist() -> None:
    assert set(catalogue("REFUSALS")) <= set(ErrorCode)


def test_the_page_has_a_title_for_every_game() -> None:
    source = (WEB / "text.js").read_text()
    for name in registry.names():
        assert f'"{registry.game_type(name).title}"' in source


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to read the page's texts")
def test_the_page_tells_of_first_turns_and_standstills(tmp_path: Path) -> None:
    module = tmp_path / "text.mjs"
    module.write_text((WEB / "text.js").read_text())
    script = f"""
        import * as text from {json.dumps(module.as_uri())};
        const tell = (event) => text.event(event, ["ana", "rui"]);
        const late = {{ type: "match-ended", match: 1, winner: null, termination: "aborted", late_player: 0 }};
        console.log(tell(late));
        console.log(tell({{ type: "room-resumed", down_since_ms: 0, is_standstill: true }}));
        console.log(text.firstTurn(24_000));
    """
    command = ["node", "--input-type=module", "-e", script]
    node = subprocess.run(command, capture_output=True, text=True, check=True)
    assert node.stdout.splitlines() == [
        "The match was aborted: ana made no first turn in time",
        "The server stood still for a while and goes on",
        "first turn 0:24",
    ]
