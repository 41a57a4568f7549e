"""Identities of this user on servers: guest names and their secret tokens, one small file each.

A file a guest, so that two terminals never write the same one. Asking a server whether a token is still good is
left to :mod:`tabuleiro_client.net.identity`.
"""

from __future__ import annotations

import base64
import getpass
import hashlib
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from tabuleiro.errors import ClientError, CommandError, ConfigError, GuestNameTakenError, NotationError
from tabuleiro.ids import ROOM_CODE_LETTERS
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.names import check_new_name, name_key, parse_name
from tabuleiro_client.net.files import replacement
from tabuleiro_client.net.link import Link, LinkSettings, check_reachable


def login_name() -> str:
    """Return the login name of this user as a guest name, or ``player`` if it cannot be one."""
    try:
        name = parse_name(getpass.getuser())
        check_new_name(name)
        return name
    except (NotationError, OSError, KeyError, ImportError):
        return "player"


LOOKING_ON: Final = " (looking on)"
"""The end of the key under which the guest of a server is kept that only looks on."""


OLDER_TOKENS_COUNT: Final = 3


class Identity(msgspec.Struct, frozen=True, omit_defaults=True):
    """A guest of one server. ``token`` is the secret that proves it.

    ``older_tokens`` were good at the same address before, the newest first: hosts change databases, and go back.
    """

    server: str
    name: str
    token: str
    older_tokens: tuple[str, ...] = ()

    def renewed(self, token: str) -> Identity:
        """Return the guest with another token, which may be one of the older ones."""
        others = (older for older in (self.token, *self.older_tokens) if older != token)
        return Identity(self.server, self.name, token, tuple(others)[:OLDER_TOKENS_COUNT])

    def __repr__(self) -> str:
        return f"Identity(server={self.server!r}, name={self.name!r}, token=...)"


IDENTITY_PREFIX: Final = "tabuleiro-identity-"
_CHECK_BYTES: Final = 4


def identity_text(identity: Identity) -> str:
    """Write a guest as one word of ASCII that can be pasted; it holds the token."""
    data = msgspec.json.encode((identity.server, identity.name, identity.token))
    return IDENTITY_PREFIX + base64.urlsafe_b64encode(_checksum(data) + data).decode().rstrip("=")


def identities_in(text: str) -> list[Identity]:
    """Read what :func:`identity_text` writes, one or several, wherever the lines were broken on the way.

    Raises: NotationError, which does not show the secret.
    """
    words = "".join(text.split()).split(IDENTITY_PREFIX)
    if len(words) < 2 or words[0]:
        raise NotationError(text[: len(IDENTITY_PREFIX)], f"a text that begins with {IDENTITY_PREFIX}")
    return [_identity_in(word) for word in words[1:]]


def _identity_in(word: str) -> Identity:
    wrong = NotationError(IDENTITY_PREFIX, "the whole text as it was written; a part of it is missing or changed")
    try:
        content = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
        data = content[_CHECK_BYTES:]
        server, name, token = msgspec.json.decode(data, type=tuple[str, str, str])
        if _checksum(data) != content[:_CHECK_BYTES]:
            raise wrong
        return Identity(parse_server_url(server), parse_name(name), token)
    except (ValueError, ConfigError) as error:
        raise wrong from error


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:_CHECK_BYTES]


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file that is of no use and was renamed, so that nothing in it is lost. ``reason`` is a sentence."""

    kept_as: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; the file is kept as {self.kept_as}"


class IdentityFolder:
    """The guests of this user, in files of mode 0600 below ``folder``.

    What cannot be read is passed over. ``notices`` collects what the person has to know of that: sentences, and
    files that had to be put aside.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.notices: list[DamagedFile | str] = []

    def note(self, notice: str) -> None:
        """Add a sentence to the notices."""
        self.notices.append(notice)

    def find(self, server: str, name: str | None = None) -> Identity | None:
        """Return the guest ``name`` on ``server``, with ``None`` the one used last; ``None`` if there is none."""
        if name is not None:
            return self._read(self._path(server, name))
        paths = self._paths(self._server_folder(server), "*.json")
        return next((identity for path in paths if (identity := self._read(path))), None)

    def all(self) -> list[Identity]:
        """Return all guests of this user, the one used last first."""
        found = map(self._read, self._paths(self._folder, "guests/*/*.json"))
        return [identity for identity in found if identity is not None]

    def players(self, server: str | None = None, name: str | None = None) -> list[Identity]:
        """Return the guests who play on servers, the one used last first; of one server or name only."""
        return [
            identity
            for identity in self.all()
            if "://" in identity.server
            and not identity.server.endswith(LOOKING_ON)
            and server in (None, identity.server)
            and (name is None or name_key(name) == name_key(identity.name))
        ]

    def save(self, identity: Identity) -> None:
        """Write a guest, all or nothing, and make it the one used last. Raises: ClientError."""
        path = self._path(identity.server, identity.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            data = msgspec.json.format(msgspec.json.encode(identity)) + b"\n"
            with replacement(path, data, is_flushed=True) as temporary:
                _set_used_now(temporary)
        except OSError as error:
            raise ClientError(f"your name cannot be saved in {path.parent}: {error.strerror}") from error

    def mark_used(self, identity: Identity) -> None:
        """Make a saved guest the one used last on its server."""
        try:
            _set_used_now(self._path(identity.server, identity.name))
        except OSError as error:
            self.note(f"{self._folder} cannot be written: {error.strerror}")

    def _paths(self, folder: Path, pattern: str) -> list[Path]:
        """Return the files of guests, the one used last first."""
        try:
            files = [(entry.stat().st_mtime_ns, entry) for entry in folder.glob(pattern)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.note(f"your names in {folder} cannot be read: {error.strerror}")
            return []
        return [path for _, path in sorted(files, reverse=True)]

    def _read(self, path: Path) -> Identity | None:
        try:
            content = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.note(f"{path} cannot be read: {error.strerror}")
            return None
        try:
            identity = msgspec.json.decode(content, type=Identity)
            parse_name(identity.name)
        except (msgspec.DecodeError, UnicodeDecodeError, NotationError):
            self._set_aside(path, "a saved name could not be read")
            return None
        return identity

    def _set_aside(self, path: Path, reason: str) -> None:
        number = 1
        while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        try:
            path.rename(kept)
        except OSError as error:
            self.note(f"{reason}, and {path} cannot be renamed: {error.strerror}")
        else:
            self.notices.append(DamagedFile(kept, reason))

    def _server_folder(self, server: str) -> Path:
        return self._folder / "guests" / _file_name(server)

    def _path(self, server: str, name: str) -> Path:
        return self._server_folder(server) / f"{_file_name(name_key(name))}.json"


def _set_used_now(path: Path | str) -> None:
    """Set the time of a file by the finest clock there is: two uses in one tick of the kernel are told apart."""
    now_ns = time.time_ns()
    os.utime(path, ns=(now_ns, now_ns))


def _file_name(text: str) -> str:
    """Return a file name that any file system takes: readable, and different for different texts."""
    readable = "".join(character if character.isascii() and character.isalnum() else "_" for character in text)
    return f"{readable[:40]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


AskName = Callable[[str], Awaitable[str]]
"""Asks the person for a name; the argument says why, e.g. that the last one is taken."""


@asynccontextmanager
async def introduced_link(
    url: str,
    *,
    server: str,
    identities: IdentityFolder,
    name: str | None,
    ask_name: AskName | None,
    settings: LinkSettings | None = None,
) -> AsyncIterator[Link]:
    """Connect to ``url`` as the guest ``name``, or with ``None`` as the one used last on ``server``.

    ``server`` is what the guest's file is kept under. Where there is no guest yet, ``ask_name`` is asked for a
    name; when it is ``None``, one is made up.

    Raises: ClientError for a bad name or a lost token, ConnectionLostError, CommandError.
    """
    wanted = None if name is None else _checked(name)
    known = identities.find(server, wanted)
    if known is not None:
        for token in (known.token, *known.older_tokens):
            async with _connected(Link(url, token=token, settings=settings)) as link:
                if link is not None:
                    if token == known.token:
                        identities.mark_used(known)
                    else:
                        _keep(identities, known.renewed(token))
                    yield link
                    return
        wanted = known.name
    async with _new_guest(url, wanted, ask_name, settings) as link:
        given = link.welcome.token
        if given is None:
            raise ClientError(f"{url} gave the new guest {link.welcome.name} no token")
        if known is None:
            _keep(identities, Identity(server, link.welcome.name, given))
        else:
            _keep(identities, known.renewed(given))
            identities.note(f"{url} does not know its guest {known.name} any more: you are a new one of that name")
        yield link


def _keep(identities: IdentityFolder, identity: Identity) -> None:
    """Save a guest; where that is not possible they are one for this time."""
    try:
        identities.save(identity)
    except ClientError as error:
        identities.note(f"{error}; you are {identity.name} for this time")


def made_up_name() -> str:
    """Return a random guest name, e.g. ``guest-k7mq``."""
    return "guest-" + "".join(random.choices(ROOM_CODE_LETTERS.lower(), k=4))


@asynccontextmanager
async def _connected(link: Link) -> AsyncIterator[Link | None]:
    """Connect the link; give ``None`` if the server does not know its token."""
    try:
        await link.__aenter__()
    except CommandError as error:
        if error.code != ErrorCode.BAD_TOKEN:
            raise
        yield None
        return
    try:
        yield link
    finally:
        await link.close()


@asynccontextmanager
async def _new_guest(
    url: str, wanted: str | None, ask_name: AskName | None, settings: LinkSettings | None
) -> AsyncIterator[Link]:
    why = ""
    if wanted is None and ask_name is not None:
        await check_reachable(url, settings)  # before somebody takes thought about a name
    while True:
        name = wanted or (made_up_name() if ask_name is None else await ask_name(why))
        link = Link(url, name=name, settings=settings)
        try:
            await link.__aenter__()
        except CommandError as error:
            if error.code not in (ErrorCode.NAME_TAKEN, ErrorCode.BAD_NAME):
                raise
            if wanted is not None and error.code == ErrorCode.NAME_TAKEN:
                raise GuestNameTakenError(name, url, error.message) from error
            if wanted is not None:
                raise ClientError(error.message) from error
            why = error.message
            continue
        try:
            yield link
        finally:
            await link.close()
        return


def _checked(name: str) -> str:
    try:
        return parse_name(name)
    except NotationError as error:
        raise ClientError(str(error)) from error
