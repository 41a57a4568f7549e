"""Wishes about a room. Whoever sends one has been identified; whether it may be granted is `decide`'s matter.

Everything the pure core can't know (who asks, drawn codes and seeds, the bots there are) is in the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from tabuleiro.ids import AccountId, Player, RoomCode, TimestampMs
from tabuleiro.protocol.events import OfferKind, RoomSecrets
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.settings import RoomLimits, RoomSettings


class Draws(msgspec.Struct, frozen=True):
    """Random numbers drawn for a command that may need them: a seed, and who begins."""

    seed: int
    is_swapped: bool


NO_DRAWS: Final = Draws(0, False)
"""For questions whose answer doesn't depend on chance, such as when a deadline comes."""


class OpenRoom(msgspec.Struct, frozen=True):
    """Make the room. ``secrets`` are freshly drawn, and used only if the room is private."""

    code: RoomCode
    account: AccountId
    name: str
    game: str
    options: Mapping[str, int | str]
    seats: tuple[SeatRequest, SeatRequest]
    settings: RoomSettings
    limits: RoomLimits
    bot_levels: tuple[str, ...]
    secrets: RoomSecrets
    draws: Draws


class Join(msgspec.Struct, frozen=True):
    """Take ``seat``, or any open one when it is ``None``."""

    account: AccountId
    name: str
    draws: Draws
    seat: Player | None = None
    secret: str | None = None


class Watch(msgspec.Struct, frozen=True):
    """Enter without a seat: changes nothing, but may be refused."""

    account: AccountId
    secret: str | None = None


class Leave(msgspec.Struct, frozen=True):
    """Go away; gives a seat up that is not being played from."""

    account: AccountId


class SeatBot(msgspec.Struct, frozen=True):
    """Put a bot of ``level`` on an open seat; with ``None`` take the bot off."""

    account: AccountId
    seat: Player
    level: str | None
    bot_levels: tuple[str, ...]
    draws: Draws


class SwapSeats(msgspec.Struct, frozen=True):
    """Let the holders of the seats change places."""

    account: AccountId


class ChangeSettings(msgspec.Struct, frozen=True):
    """Play the matches to come with these settings."""

    account: AccountId
    settings: RoomSettings
    bot_levels: tuple[str, ...]


class Play(msgspec.Struct, frozen=True):
    """Make actions of the own turn. ``ply`` says how many actions the sender saw before these, ``revision`` how
    many undos and takebacks; ``lag_ms`` is what the server measured of the sender's connection;
    ``is_makeshift`` is for a bot that gave no answer."""

    account: AccountId
    match: int
    ply: int
    actions: tuple[str, ...]
    revision: int = 0
    lag_ms: int = 0
    is_makeshift: bool = False


class TakeHint(msgspec.Struct, frozen=True):
    """Be told what to play at ``ply`` of ``revision``."""

    account: AccountId
    match: int
    ply: int
    revision: int = 0


class Undo(msgspec.Struct, frozen=True):
    """Undo own actions of the turn in progress down to ``ply`` actions of the match."""

    account: AccountId
    match: int
    ply: int


class Resign(msgspec.Struct, frozen=True):
    """Give the match up for ``seat``; ``None``: for the own one, of both the one to move."""

    account: AccountId
    match: int
    seat: Player | None = None


class Abort(msgspec.Struct, frozen=True):
    """End a match that has hardly begun."""

    account: AccountId
    match: int


class ClaimWin(msgspec.Struct, frozen=True):
    """Claim the win over an opponent who has been away for long."""

    account: AccountId
    match: int


class MakeOffer(msgspec.Struct, frozen=True):
    """Offer something to the other player, or accept the same offer of theirs."""

    account: AccountId
    kind: OfferKind
    draws: Draws


class AnswerOffer(msgspec.Struct, frozen=True):
    """Accept or decline the other player's offer; declining the own one withdraws it."""

    account: AccountId
    kind: OfferKind
    accept: bool
    draws: Draws


class Say(msgspec.Struct, frozen=True):
    """Say a line."""

    account: AccountId
    name: str
    text: str


class Mute(msgspec.Struct, frozen=True):
    """Mute somebody who sits here or has talked here, or let them talk again."""

    account: AccountId
    target_name: str
    is_muted: bool


class Connect(msgspec.Struct, frozen=True):
    """The first connection of an account in the room has come."""

    account: AccountId


class Disconnect(msgspec.Struct, frozen=True):
    """The last connection of an account in the room has gone."""

    account: AccountId


class Resume(msgspec.Struct, frozen=True):
    """The server has come back: it was last known to run at ``down_since_ms``, and runs since ``up_since_ms``."""

    down_since_ms: TimestampMs
    up_since_ms: TimestampMs


class Expire(msgspec.Struct, frozen=True):
    """The moment that `next_deadline` named has come."""

    draws: Draws


Command = (
    Join
    | Watch
    | Leave
    | SeatBot
    | SwapSeats
    | ChangeSettings
    | Play
    | Undo
    | TakeHint
    | Resign
    | Abort
    | ClaimWin
    | MakeOffer
    | AnswerOffer
    | Say
    | Mute
    | Connect
    | Disconnect
    | Resume
    | Expire
)
"""What may be asked of a room that exists; :class:`OpenRoom` makes one."""
