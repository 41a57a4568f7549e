"""Matches on servers in which it is this user's turn: asked for as a guest who only looks on.

A player's own guest would count as that player being there, and stop the time of absence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import CommandError, TabuleiroError
from tabuleiro.ids import PLAYERS
from tabuleiro.protocol.messages import RoomHead, WatchRoom
from tabuleiro.protocol.names import name_key
from tabuleiro_client.models.saved_matches import SavedMatch
from tabuleiro_client.net.entering import find_entrance
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.server import remote_gallery
from tabuleiro_client.text.clocks import format_clock, format_left

ANSWER_LIMIT_S: Final = 3.0
"""How long a server may take for all its matches."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A match in which it is this user's turn. ``left`` is the time left for it; empty without a clock.

    ``opponent`` is who sits there now, empty for this user on both seats.
    """

    match: SavedMatch
    left: str
    opponent: str


@dataclass(frozen=True, slots=True)
class Turns:
    """The matches found, the one seen last first, and the servers that gave no answer."""

    waiting: tuple[Turn, ...]
    silent: tuple[str, ...]


async def find_turns(
    matches: Iterable[SavedMatch], identities: IdentityFolder, limit_s: float = ANSWER_LIMIT_S
) -> Turns:
    """Ask the servers of the unfinished ones of ``matches`` in which of them it is this user's turn.

    Matches in databases of this machine are left out: nobody plays on there without this user.
    """
    by_server: dict[str, list[SavedMatch]] = {}
    for match in matches:
        if not match.is_local and not match.is_over:
            by_server.setdefault(match.server, []).append(match)
    asked = await asyncio.gather(
        *(_turns_on(server, played, identities, limit_s) for server, played in by_server.items())
    )
    found = [turn for answer in asked for turn in answer or ()]
    found.sort(key=lambda turn: -turn.match.seen_at_ms)
    return Turns(
        tuple(found), tuple(server for server, answer in zip(by_server, asked, strict=True) if answer is None)
    )


async def _turns_on(
    server: str, matches: list[SavedMatch], identities: IdentityFolder, limit_s: float
) -> list[Turn] | None:
    """Return the turns on one server; ``None`` if it does not answer in time."""
    found = []
    try:
        async with asyncio.timeout(limit_s), remote_gallery(server, identities) as venue:
            for match in matches:
                request = WatchRoom(id=0, room=match.room, secret=match.secret)
                try:
                    entrance = await find_entrance(venue.link, request)
                except CommandError:
                    continue  # a room that is closed, or whose secret is another one by now
                entrance.link.unsubscribe(entrance.subscription)
                turn = turn_in(match, entrance.entered.head)
                if turn is not None:
                    found.append(turn)
    except (TabuleiroError, TimeoutError):
        return None
    return found


def turn_in(match: SavedMatch, head: RoomHead) -> Turn | None:
    """Return the turn of the guest of ``match`` in its room; ``None`` if it is not theirs."""
    played = head.match
    if head.phase != "playing" or played is None or played.to_move is None:
        return None
    names = [name_key(seat.holder.name or "") if seat.holder.kind == "person" else None for seat in head.seats]
    own = [seat for seat in PLAYERS if names[seat] == name_key(match.guest)]
    if played.to_move not in own:
        return None
    left = format_clock(head.settings.time_control, played.clock, played.to_move, head.now_ms)
    if played.first_turn is not None:
        left = format_left(max(played.first_turn.until_ms - head.now_ms, 0))
    others = [head.seats[seat].holder.name or "" for seat in PLAYERS if seat not in own]
    return Turn(match, left, others[0] if others else "")
