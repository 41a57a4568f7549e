"""Identities of this user on servers: guest names and their secret tokens, one small file each.

A file a guest, so that two terminals never write the same one. Asking a server whether a token is still good is
left to :mod:`tabuleiro_client.net.identity`.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from tabuleiro.errors import ClientError, CommandError, GuestNameTakenError, NotationError
from tabuleiro.ids import ROOM_CODE_LETTERS
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.names import name_key, parse_name
from tabuleiro_client.net.files import replacement
from tabuleiro_client.net.link import Link, LinkSettings, check_reachable


def login_name() -> str:
    """Return the login name of this user as a guest name, or ``player`` if it cannot be one."""
    try:
        return parse_name(getpass.getuser())
    except (NotationError, OSError, KeyError, ImportError):
        return "player"


LOOKING_ON: Final = " (looking on)"
"""The end of the key under which the guest of a server is kept that only looks on."""


class Identity(msgspec.Struct, frozen=True):
    """A guest of one server. ``token`` is the secret that proves it."""

    server: str
    name: str
    token: str

    def __repr__(self) -> str:
        return f"Identity(server={self.server!r}, name={self.name!r}, token=...)"


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file that is of no use and was renamed, so that nothing in it is lost. ``reason`` is a sentence."""

    kept_as: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; the file is kept as {self.kept_as}"


class IdentityFolder:
    """The guests of this user, in files of mode 0600 below ``folder``.

    ``damaged`` collects what had to be put aside so far.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.damaged: list[DamagedFile] = []

    def find(self, server: str, name: str | None = None) -> Identity | None:
        """Return the guest ``name`` on ``server``, or with ``None`` the one used last; ``None`` if there is none.

        Raises: ClientError when the folder can't be read.
        """
        if name is not None:
            return self._read(self._path(server, name))
        return next((identity for path in self._paths(server) if (identity := self._read(path))), None)

    def all(self) -> list[Identity]:
        """All guests of this user, the one used last first. Raises: ClientError when the folder can't be read."""
        try:
            files = [(entry.stat().st_mtime_ns, entry) for entry in self._folder.glob("guests/*/*.json")]
        except OSError as error:
            raise ClientError(f"{self._folder} cannot be read: {error.strerror}") from error
        found = (self._read(path) for _, path in sorted(files, reverse=True))
        return [identity for identity in found if identity is not None]

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
        """Make a saved guest the one used last on its server. Raises: ClientError."""
        try:
            _set_used_now(self._path(identity.server, identity.name))
        except OSError as error:
            raise ClientError(f"{self._folder} cannot be written: {error.strerror}") from error

    def set_aside(self, identity: Identity, reason: str) -> DamagedFile:
        """Rename the file of a guest that is of no use any more; ``reason`` is a sentence. Raises: ClientError."""
        return self._set_aside(self._path(identity.server, identity.name), reason)

    def _paths(self, server: str) -> Iterator[Path]:
        """Return the files of a server's guests, the one used last first."""
        try:
            files = [(entry.stat().st_mtime_ns, entry) for entry in self._server_folder(server).glob("*.json")]
        except FileNotFoundError:
            return
        except OSError as error:
            raise ClientError(f"{self._folder} cannot be read: {error.strerror}") from error
        yield from (path for _, path in sorted(files, reverse=True))

    def _read(self, path: Path) -> Identity | None:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ClientError(f"{path} cannot be read: {error.strerror}") from error
        try:
            identity = msgspec.json.decode(content, type=Identity)
            parse_name(identity.name)
        except (msgspec.DecodeError, UnicodeDecodeError, NotationError) as error:
            self._set_aside(path, f"a saved name could not be read ({error})")
            return None
        return identity

    def _set_aside(self, path: Path, reason: str) -> DamagedFile:
        number = 1
        while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        try:
            path.rename(kept)
        except OSError as error:
            raise ClientError(f"{path} cannot be renamed: {error.strerror}") from error
        self.damaged.append(DamagedFile(kept, reason))
        return self.damaged[-1]

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
        async with _connected(_link_of(known, url, settings)) as link:
            if link is not None:
                identities.mark_used(known)
                yield link
                return
        identities.set_aside(known, f"{url} does not know its guest {known.name} any more")
        wanted = known.name
    async with _new_guest(url, wanted, ask_name, settings) as link:
        token = link.welcome.token
        if token is None:
            raise ClientError(f"{url} gave the new guest {link.welcome.name} no token")
        identities.save(Identity(server, link.welcome.name, token))
        yield link


def made_up_name() -> str:
    """Return a random guest name, e.g. ``guest-k7mq``."""
    return "guest-" + "".join(random.choices(ROOM_CODE_LETTERS.lower(), k=4))


def _link_of(identity: Identity, url: str, settings: LinkSettings | None) -> Link:
    return Link(url, token=identity.token, settings=settings)


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
                raise GuestNameTakenError(name, url) from error
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
