"""The page in the browser, as far as no browser is needed: its files, headers, previews, and who may connect."""

from __future__ import annotations

import asyncio
import gzip
import re
import struct
import sys
from importlib.resources import files
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request

from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.protocol.boards import RulesPart, board_of, layout_of, rules_parts
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import CreateRoom, Hello, Play, RoomSummary, SeatRequest
from tabuleiro.protocol.version import SUBPROTOCOL_JSON
from tabuleiro.rules import registry
from tabuleiro.settings import RoomSettings
from tabuleiro_server.config import Config
from tabuleiro_server.net import pictures
from tabuleiro_server.net.http import HttpPages
from tabuleiro_server.net.page import Page
from tabuleiro_server.net.pictures import can_draw
from tabuleiro_server.wiring import RunningServer
from tests.net.wire_client import StartServer, raw_request, wire
from tests.patience import LIMIT_S

WEB = files("tabuleiro_server.net") / "web"
MAX_COMPRESSED_BYTES = 60_000
BOTH_MINE = (SeatRequest("me"), SeatRequest("me"))


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
    modules = {entry.name for entry in WEB.iterdir() if entry.name.endswith(".js")}
    assert {path.rpartition("/")[2] for path in paths} == modules | {"icon.svg", "board.css", "style.css"}
    for path in paths:
        head, content = await get(server, path)
        assert head.startswith("HTTP/1.1 200")
        assert "max-age=31536000, immutable" in head
        assert content


@pytest.mark.parametrize("name", registry.names())
async def test_the_rules_come_with_their_diagrams_as_positions_to_draw(server: RunningServer, name: str) -> None:
    _, document = await get(server, "/")
    folder = re.findall(r'src="(/static/[^"]+)/main.js"', document)[0]
    head, body = await get(server, f"{folder}/rules-{name}.json")
    assert "Content-Type: application/json" in head
    parts = msgspec.json.decode(body, type=tuple[RulesPart, ...])
    assert parts == rules_parts(registry.game_type(name))
    drawn = [diagram for part in parts for diagram in part.diagrams]
    assert [diagram.caption for diagram in drawn] == [
        diagram.caption for diagram in registry.game_type(name).diagrams.values()
    ]
    for diagram in drawn:
        for stage in diagram.stages:
            assert len(stage.board.cells) == len(diagram.layout.names)


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


PICTURES = pytest.mark.skipif(not can_draw(), reason="the extra `pictures` is not installed")


async def get_bytes(server: RunningServer, path: str) -> tuple[str, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    async with asyncio.timeout(LIMIT_S):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head.decode(), body


def size_of(png: bytes) -> tuple[int, ...]:
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


@PICTURES
async def test_a_listed_room_has_a_picture_and_a_private_one_has_none(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Beside other loads a process of low priority takes its time.
    monkeypatch.setattr(pictures, "LIMIT_S", LIMIT_S)
    patient = {"handshake_timeout_ms": int(LIMIT_S * 1000), "public_url": "wss://play.example.org/games"}
    async with start_server(**patient) as server, wire(server.url) as client:
        await client.do(Hello, name="ana")
        room = await client.do(CreateRoom, game="minefield", seats=BOTH_MINE)
        private = (await client.do(CreateRoom, game="iris", settings=RoomSettings(is_private=True))).head.room
        code = room.head.room
        _, body = await get(server, f"/r/{code}")
        assert f'"og:image" content="https://play.example.org/games/r/{code}.png"' in body
        assert '"twitter:card" content="summary_large_image"' in body
        head, first = await get_bytes(server, f"/r/{code.lower()}.png")
        assert "Content-Type: image/png" in head
        assert size_of(first) == (1200, 630)
        await client.do(Play, room=code, match=1, ply=0, actions=("c3",))
        _, second = await get_bytes(server, f"/r/{code}.png")
        assert size_of(second) == (1200, 630)
        assert second != first
        assert await get_bytes(server, f"/m/{code}/1.png") == await get_bytes(server, f"/r/{code}.png")
        for path in (f"/r/{private}.png", f"/m/{private}/1.png", f"/m/{code}/2.png", "/r/K7MQ4.png"):
            head, text = await get_bytes(server, path)
            assert head.startswith("HTTP/1.1 404"), path
            assert text == b"there is no such page; start at /\n"
        _, body = await get(server, f"/r/{private}")
        assert "og:image" not in body


@PICTURES
@pytest.mark.parametrize("name", registry.names())
def test_the_drawing_of_the_page_runs_without_a_browser_for_every_game(name: str) -> None:
    from tabuleiro_server.net.picture_process import picture

    state = registry.load(name, {}).initial_state()
    drawn = set()
    for ply in range(4):
        position = {"layout": layout_of(state), "board": board_of(state, ply)}
        png = picture(**msgspec.to_builtins(position), width_px=600, height_px=315)
        assert size_of(png) == (600, 315)
        drawn.add(png)
        state = state.child(state.legal_actions()[0])
    assert len(drawn) == 4


@PICTURES
async def test_a_position_is_drawn_once_and_one_after_the_other(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[bytes] = []
    begun, held = asyncio.Event(), asyncio.Event()

    async def draw(position: bytes) -> bytes:
        drawn.append(position)
        begun.set()
        await held.wait()
        return b"\x89PNG"

    monkeypatch.setattr(pictures, "_draw", draw)
    async with wire(server.url) as client:
        await client.do(Hello, name="ana")
        codes = [(await client.do(CreateRoom, game=game)).head.room for game in ("iris", "iris", "minefield")]
        asked = [asyncio.create_task(get_bytes(server, f"/r/{code}.png")) for code in codes]
        await begun.wait()
        wanted = [*codes, *codes, *codes][: pictures.WAITING_COUNT + 1]
        asked += [asyncio.create_task(get_bytes(server, f"/r/{code}.png")) for code in wanted[len(asked) :]]
        answers = asyncio.as_completed(asked)
        refused, _ = await next(answers)
        assert refused.startswith("HTTP/1.1 503")
        assert "Retry-After" in refused
        assert len(drawn) == 1
        held.set()
        heads = [(await answer)[0] for answer in answers]
        assert all(head.startswith("HTTP/1.1 200") for head in heads)
        # Two rooms show the same start position.
        assert len(drawn) == 2


@PICTURES
async def test_a_picture_that_cannot_be_drawn_takes_nothing_down(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, log_entries: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr(pictures, "_COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    async with wire(server.url) as client:
        await client.do(Hello, name="ana")
        code = (await client.do(CreateRoom, game="iris")).head.room
        head, text = await get_bytes(server, f"/r/{code}.png")
    assert head.startswith("HTTP/1.1 503")
    assert text == b"the picture cannot be drawn now\n"
    assert [entry["reason"] for entry in log_entries if entry["log_level"] == "warning"] == ["it ended with 3"]
    log_entries.clear()


async def test_names_in_previews_are_no_markup() -> None:
    seats = (SeatInfo("person", name='<b>"ana"'), SeatInfo())
    room = RoomSummary(RoomCode("K7MQ4"), "waiting", "iris", {}, seats, TimestampMs(0))

    async def find_room(code: str) -> RoomSummary:
        return room

    write = Page(find_room).find_room("/r/K7MQ4")
    assert write is not None
    assert b"<title>&lt;b&gt;&quot;ana&quot; - Iris</title>" in (await write()).plain


async def test_without_a_public_address_a_preview_has_no_picture(server: RunningServer) -> None:
    async with wire(server.url) as client:
        await client.do(Hello, name="ana")
        code = (await client.do(CreateRoom, game="iris")).head.room
        _, body = await get(server, f"/r/{code}", "Host: evil.example")
    assert "og:image" not in body
    assert "evil" not in body


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


def test_the_page_may_connect_to_all_nodes_there_are_and_to_nobody_else() -> None:
    nodes = ["wss://a.example.org/node/a", "wss://b.example.org:8443", "wss://a.example.org/node/c"]
    page = Page(lambda code: None, node_urls=lambda: nodes)
    for path in ("/", "/embed/K7MQ4"):
        found = page.find(path)
        assert found is not None
        policy = dict(found.headers)["Content-Security-Policy"]
        assert "connect-src 'self' wss://a.example.org wss://b.example.org:8443;" in policy
    nodes.clear()
    found = page.find("/")
    assert found is not None
    assert "connect-src 'self';" in dict(found.headers)["Content-Security-Policy"]


async def test_the_host_may_let_other_sites_connect(start_server: StartServer) -> None:
    async with start_server(
        web_origins=("https://club.example.org",), public_url="wss://play.example.org"
    ) as server:
        assert await status_of_origin(server, "https://club.example.org") == 101
        assert await status_of_origin(server, "https://play.example.org") == 101
        assert await status_of_origin(server, "https://evil.example") == 403
    async with start_server(web_origins=("*",)) as server:
        assert await status_of_origin(server, "https://evil.example") == 101


def test_pages_of_the_nodes_of_a_server_may_connect_to_each_other() -> None:
    pages = HttpPages(
        Config(), lambda: "", node_urls=lambda: ["wss://a.example.org/node/a", "ws://b.example.org:99"]
    )
    for origin, may in (
        ("https://a.example.org", True),
        ("http://B.example.org:99", True),
        ("https://b.example.org", False),
        ("https://c.example.org", False),
    ):
        headers = Headers({"Host": "10.0.0.1:8765", "Upgrade": "websocket", "Origin": origin})
        answer = pages.answer(Request("/node/a", headers), "10.0.0.2")
        assert (answer is None) is may, origin


def catalogue(name: str) -> dict[str, str]:
    """The entries of a table in the page's catalogue of texts."""
    source = (WEB / "text.js").read_text()
    table = re.search(rf"const {name} = {{\n(.*?)\n}};", source, re.DOTALL)
    assert table is not None
    return dict(re.findall(r'^  "?([a-z-]+)"?: "(.*)",$', table.group(1), re.MULTILINE))


def test_the_page_explains_refusals_by_codes_that_exist() -> None:
    assert set(catalogue("REFUSALS")) <= set(ErrorCode)
