"""The page in the browser: one document for all its addresses, and static files whose folder names their version.

The files are read, or made of the rules pages of the games, hashed and compressed once. All of them lie under one
folder named by the hash of them all. So they refer to each other by relative names, and browsers keep them.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from string import Template
from typing import Final
from urllib.parse import urlsplit

import msgspec

from tabuleiro.ids import Phase
from tabuleiro.protocol.addresses import page_url, parse_server_url
from tabuleiro.protocol.boards import rules_parts
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.rules import registry
from tabuleiro_server.net.pictures import HEIGHT_PX, WIDTH_PX, Pictures

Draw = Callable[[], Coroutine[None, None, bytes | None]]
"""Draws a picture; ``None`` for what a stranger may not see. Raises CommandError when it cannot be drawn now."""

FindRoom = Callable[[str], Awaitable[RoomSummary | None]]
"""Returns a room's line in the lobby of all nodes, ``None`` if it is not listed."""

Write = Callable[[], Coroutine[None, None, "File"]]
"""Writes the document of a room, with what is known of it now."""

NodeUrls = Callable[[], Sequence[str]]
"""Returns the addresses of all nodes of the server; there are none where it is one process."""

_CONTENT_TYPES: Final = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
}

_DESCRIPTION: Final = "Play abstract board games with friends: Virus Wars, Xero-G, Iris, Minefield."

_DOCUMENT: Final = "index.html"

_INVITATIONS: Final[dict[Phase, str]] = {
    "waiting": "A seat is open. Play in your browser, without an account.",
    "playing": "A match is being played. Watch it in your browser.",
    "finished": "The match is over. Look at it in your browser.",
}
"""The description of a listed room; a closed one is not listed."""

_ROOM: Final = re.compile(r"/(?:(?:r|embed)/([A-Za-z0-9]{5})|m/([A-Za-z0-9]{5})/([0-9]{1,9}))/?", re.ASCII)
_PICTURE: Final = re.compile(r"/(?:r/([A-Za-z0-9]{5})|m/([A-Za-z0-9]{5})/([0-9]{1,9}))\.png", re.ASCII)
_ADDRESSES: Final = re.compile(
    r"/|/new/?|/(?:r|embed)/[A-Za-z0-9]{5}/?|/m/[A-Za-z0-9]{5}/[0-9]{1,9}/?|/rules/[a-z-]{1,30}/?", re.ASCII
)

SECURITY_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src {connect}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)


@dataclass(frozen=True, slots=True)
class File:
    """A file to be sent: its headers, and its bytes plain and compressed."""

    headers: tuple[tuple[str, str], ...]
    content_type: str
    plain: bytes
    zipped: bytes


class Page:
    """The files of the page, and the previews of links to it.

    Args:
        find_room: Finds the room that a preview tells of.
        pictures: Draws positions; ``None`` where no previews have pictures.
        public_url: The address of the server for others, empty if the host has named none. A picture in a preview
            needs a whole address, and what a request calls its host is anybody's word.
        node_urls: Returns the addresses of all nodes of the server, to which the page may connect.
    """

    def __init__(
        self,
        find_room: FindRoom,
        pictures: Pictures | None = None,
        public_url: str = "",
        node_urls: NodeUrls = tuple,
    ) -> None:
        self._find_room = find_room
        self._pictures = pictures
        self._node_urls = node_urls
        self._base = page_url(parse_server_url(public_url)) if public_url else ""
        folder = files("tabuleiro_server.net") / "web"
        contents = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
        document = contents.pop(_DOCUMENT).decode()
        for name in registry.names():
            contents[f"rules-{name}.json"] = msgspec.json.encode(rules_parts(registry.game_type(name)))
        digest = hashlib.sha256()
        for name in sorted(contents):
            digest.update(name.encode() + b"\0" + contents[name] + b"\0")
        self.folder = f"/static/{digest.hexdigest()[:16]}"
        # All modules at once: else a browser learns of each only when it has read the one that imports it.
        modules = [f"{self.folder}/{name}" for name in sorted(contents) if name.endswith(".js")]
        self._preloads = "\n".join(f'<link rel="modulepreload" href="{path}">' for path in modules)
        self._document = Template(document)
        self._files = {f"{self.folder}/{name}": _static_file(name, content) for name, content in contents.items()}

    def find(self, path: str) -> File | None:
        """Return the file at a path without query that is not a room's, ``None`` where the page has none."""
        if _ADDRESSES.fullmatch(path):
            return self._document_with(path)
        return self._files.get(path)

    def find_room(self, path: str) -> Write | None:
        """Return what writes the document of the room at a path without query, ``None`` for other paths."""
        found = _ROOM.fullmatch(path)
        if found is None:
            return None
        code, match_code, match = found.groups()
        return partial(self._room_document, path, (code or match_code).upper(), match)

    def find_picture(self, path: str) -> Draw | None:
        """Return what draws the picture at a path without query, ``None`` where there is none."""
        found = _PICTURE.fullmatch(path)
        if found is None or self._pictures is None:
            return None
        room, match_room, match = found.groups()
        return partial(self._pictures.picture, (room or match_room).upper(), None if match is None else int(match))

    async def _room_document(self, path: str, code: str, match: str | None) -> File:
        room = await self._find_room(code)
        if room is None:
            return self._document_with(path)
        if match is None:
            return self._document_with(path, _room_title(room), _INVITATIONS[room.phase], f"/r/{room.room}.png")
        told = "Step through the match in your browser."
        return self._document_with(path, _match_title(room, match), told, f"/m/{room.room}/{match}.png")

    def _document_with(
        self, path: str, title: str = "tabuleiro", description: str = _DESCRIPTION, picture: str = ""
    ) -> File:
        text = self._document.substitute(
            folder=self.folder,
            preloads=self._preloads,
            title=html.escape(title),
            description=html.escape(description),
            picture=self._picture_tags(picture),
        ).encode()
        connect = " ".join(["'self'", *sorted({origin_of(url) for url in self._node_urls()})])
        ancestors = "*" if path.startswith("/embed/") else "'none'"
        headers = (
            *SECURITY_HEADERS,
            ("Content-Security-Policy", _POLICY.format(connect=connect, ancestors=ancestors)),
            ("Cache-Control", "no-cache"),
            ("Vary", "Accept-Encoding"),
        )
        return File(headers, "text/html; charset=utf-8", text, gzip.compress(text, mtime=0))

    def _picture_tags(self, path: str) -> str:
        """Return the elements that name the picture of a preview."""
        if not path or not self._base or self._pictures is None:
            return '<meta name="twitter:card" content="summary">'
        address = html.escape(self._base + path)
        return (
            f'<meta property="og:image" content="{address}">\n'
            f'<meta property="og:image:width" content="{WIDTH_PX}">\n'
            f'<meta property="og:image:height" content="{HEIGHT_PX}">\n'
            '<meta name="twitter:card" content="summary_large_image">'
        )


def origin_of(url: str) -> str:
    """Return the address of a node without its path.

    >>> origin_of("wss://play.example.org/node/a")
    'wss://play.example.org'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _static_file(name: str, content: bytes) -> File:
    headers = (
        *SECURITY_HEADERS,
        ("Cache-Control", "public, max-age=31536000, immutable"),
        ("Vary", "Accept-Encoding"),
    )
    return File(headers, _CONTENT_TYPES[name.rpartition(".")[2]], content, gzip.compress(content, mtime=0))


def _room_title(room: RoomSummary) -> str:
    """Return the title of a room: its players and its game."""
    game = registry.game_type(room.game).title
    names = [seat.name for seat in room.seats if seat.name]
    return f"{' against '.join(names)} - {game}" if names else game


def _match_title(room: RoomSummary, match: str) -> str:
    """Return the title of a match; others may have played it than sit in its room now."""
    return f"{registry.game_type(room.game).title} - match {int(match)} of room {room.room}"
