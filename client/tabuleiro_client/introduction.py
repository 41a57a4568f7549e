"""Introducing oneself to a server: with the token kept for it, or as a new guest whose token is then kept."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tabuleiro.errors import ClientError, CommandError, GuestNameTakenError, NotationError
from tabuleiro.ids import ROOM_CODE_LETTERS
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.names import parse_name
from tabuleiro_client.identity import Identity, IdentityFolder
from tabuleiro_client.link import Link, LinkSettings, check_reachable

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
    """A guest name nobody chose, e.g. ``guest-k7mq``."""
    return "guest-" + "".join(random.choices(ROOM_CODE_LETTERS.lower(), k=4))


def _link_of(identity: Identity, url: str, settings: LinkSettings | None) -> Link:
    return Link(url, token=identity.token, settings=settings)


@asynccontextmanager
async def _connected(link: Link) -> AsyncIterator[Link | None]:
    """The link, connected, or ``None`` when the server doesn't know its token."""
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
