"""Wishes about a room. Whoever sends one has been identified; whether it may be granted is `decide`'s matter.

Everything the pure core can't know (who asks, drawn codes and seeds, the bots there are) is in the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabuleiro.ids import AccountId, RoomCode
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.rules.outcome import Player


@dataclass(frozen=True, slots=True)
class OpenRoom:
    """Make the room. ``seed`` is a freshly drawn number for games that need one."""

    code: RoomCode
    account: AccountId
    name: str
    game: str
    options: Mapping[str, int | str]
    seats: tuple[SeatRequest, SeatRequest]
    bot_levels: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Join:
    """Take ``seat``, or any open one when it is ``None``."""

    account: AccountId
    name: str
    seat: Player | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """Go away; gives a seat up that is not yet played from."""

    account: AccountId


@dataclass(frozen=True, slots=True)
class Play:
    """Make actions of the own turn. ``ply`` says how many actions the sender saw before these."""

    account: AccountId
    match: int
    ply: int
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resign:
    """Give the match up."""

    account: AccountId
    match: int


Command = Join | Leave | Play | Resign
"""What may be asked of a room that exists; :class:`OpenRoom` makes one."""
