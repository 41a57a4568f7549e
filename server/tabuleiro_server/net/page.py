"""The page in the browser: one document for all its addresses, and static files whose folder names their version.

The files are read, hashed and compressed once. All of them lie under one folder named by the hash of them all, so
that they refer to each other by relative names, and browsers keep them for good.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Final

from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.rules import registry

_CONTENT_TYPES: Final = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}

_DESCRIPTION: Final = "Play abstract board games with friends: Virus Wars, Xero-G, Iris, Minefield."

_DOCUMENT: Final = "index.html"

_ROOM: Final = re.compile(r"/(?:r|embed)/([A-Za-z0-9]{5})/?", re.ASCII)
_ADDRESSES: Final = re.compile(
    r"/|/new/?|/(?:r|embed)/[A-Za-z0-9]{5}/?|/m/[A-Za-z0-9]{5}/[0-9]{1,9}/?|/rules/[a-z-]{1,30}/?", re.ASCII
)

_SECURITY: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors "
)


@dataclass(frozen=True, slots=True)
class File:
    """A file to be sent: its headers, and its bytes plain and compressed."""

    headers: tuple[tuple[str, str], ...]
    content_type: str
    plain: bytes
    zipped: bytes


class Page:
    """The files of the page. ``find_room`` returns a room's line in the lobby, ``None`` if it is not listed."""

    def __init__(self, find_room: Callable[[str], RoomSummary | None]) -> None:
        self._find_room = find_room
        folder = files("tabuleiro_server.net") / "web"
        contents = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
        document = contents.pop(_DOCUMENT).decode()
        digest = hashlib.sha256()
        for name in sorted(contents):
            digest.update(name.encode() + b"\0" + contents[name] + b"\0")
        self.folder = f"/static/{digest.hexdigest()[:16]}"
        self._document = Template(document)
        self._files = {f"{self.folder}/{name}": _static_file(name, content) for name, content in contents.items()}

    def find(self, path: str) -> File | None:
        """Return the file at a path without query, ``None`` where the page has none."""
        if _ADDRESSES.fullmatch(path):
            return self._document_at(path)
        return self._files.get(path)

    def _document_at(self, path: str) -> File:
        title, description = "tabuleiro", _DESCRIPTION
        found = _ROOM.fullmatch(path)
        room = None if found is None else self._find_room(found.group(1).upper())
        if room is not None:
            title = _room_title(room)
            description = f"Room {room.room} on this server: watch, or play the next match."
        text = self._document.substitute(
            folder=self.folder, title=html.escape(title), description=html.escape(description)
        ).encode()
        ancestors = "*" if path.startswith("/embed/") else "'none'"
        headers = (
            *_SECURITY,
            ("Content-Security-Policy", _POLICY + ancestors),
            ("Cache-Control", "no-cache"),
            ("Vary", "Accept-Encoding"),
        )
        return File(headers, "text/html; charset=utf-8", text, gzip.compress(text, mtime=0))


def _static_file(name: str, content: bytes) -> File:
    headers = (
        *_SECURITY,
        ("Cache-Control", "public, max-age=31536000, immutable"),
        ("Vary", "Accept-Encoding"),
    )
    return File(headers, _CONTENT_TYPES[name.rpartition(".")[2]], content, gzip.compress(content, mtime=0))


def _room_title(room: RoomSummary) -> str:
    """Return the title of a room: its players and its game."""
    game = registry.game_type(room.game).title
    names = [seat.name for seat in room.seats if seat.name]
    return f"{' against '.join(names)} - {game}" if names else game
