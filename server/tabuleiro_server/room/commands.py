"""Commands to a room. Their sender has been identified; `decide` grants or refuses them.

A command holds all that the pure core cannot know: the sender, drawn codes and seeds, the levels of bots. So
commands are not the requests of the protocol, though many fields are the same: the core does not know the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from tabuleiro.ids import AccountId, Player, RoomCode, TimestampMs
from tabuleiro.protocol.events import OfferKind, RoomSecrets
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.settings import RoomLimits, RoomSettings


class Chance(msgspec.Struct, frozen=True):
    """Random values drawn for a command that may need them: a seed, and whether the players swap."""

    seed: int
    is_swapped: bool


NO_CHANCE: Final = Chance(0, False)
"""For questions whose answer does not depend on chance, such as the next deadline."""


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
    chance: Chance


class Join(msgspec.Struct, frozen=True):
    """Take ``seat``, or any open one when it is ``None``."""

    account: AccountId
    name: str
    chance: Chance
    seat: Player | None = None
    secret: str | None = None


class Watch(msgspec.Struct, frozen=True):
    """Enter without a seat: changes nothing, but may be refused."""

    account: AccountId
    secret: str | None = None


class Leave(msgspec.Struct, frozen=True):
    """Leave the room, and give up a seat unless a match is being played from it."""

    account: AccountId


class SeatBot(msgspec.Struct, frozen=True):
    """Put a bot of ``level`` on an open seat; ``None`` removes the bot."""

    account: AccountId
    seat: Player
    level: str | None
    bot_levels: tuple[str, ...]
    chance: Chance


class SwapSeats(msgspec.Struct, frozen=True):
    """Let the holders of the seats change places."""

    account: AccountId


class ChangeSettings(msgspec.Struct, frozen=True):
    """Use these settings for the matches to come."""

    account: AccountId
    settings: RoomSettings
    bot_levels: tuple[str, ...]


class Play(msgspec.Struct, frozen=True):
    """Make actions of the sender's turn.

    ``ply`` is the number of actions that the sender saw before these, ``revision`` the number of undos and
    takebacks. ``lag_ms`` is the measured lag of the sender's connection. ``is_makeshift`` marks a random move for
    a bot that gave no answer.
    """

    account: AccountId
    match: int
    ply: int
    actions: tuple[str, ...]
    revision: int = 0
    lag_ms: int = 0
    is_makeshift: bool = False


class TakeHint(msgspec.Struct, frozen=True):
    """Get a suggestion for ``ply`` of ``revision``."""

    account: AccountId
    match: int
    ply: int
    revision: int = 0


class Explain(msgspec.Struct, frozen=True):
    """Get the ``count`` best candidates at ``ply`` of ``revision`` explained as a bot of ``level`` sees them.

    ``None`` for ``level``: that of the bot that plays here, if there is one.
    """

    account: AccountId
    match: int
    ply: int
    revision: int = 0
    level: str | None = None
    count: int = 10


class Consider(msgspec.Struct, frozen=True):
    """Look at the position after unplayed actions of the sender's turn; nothing is played. Fields as in `Play`."""

    account: AccountId
    match: int
    ply: int
    actions: tuple[str, ...]
    revision: int = 0


class Undo(msgspec.Struct, frozen=True):
    """Undo the sender's actions of the turn in progress down to ``ply`` actions of the match."""

    account: AccountId
    match: int
    ply: int


class Resign(msgspec.Struct, frozen=True):
    """Resign for ``seat``. ``None`` stands for the sender's seat; of two seats, for the one to move."""

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
    chance: Chance


class AnswerOffer(msgspec.Struct, frozen=True):
    """Accept or decline the other player's offer; declining one's own offer withdraws it."""

    account: AccountId
    kind: OfferKind
    accept: bool
    chance: Chance


class Say(msgspec.Struct, frozen=True):
    """Write a line of chat."""

    account: AccountId
    name: str
    text: str


class Mute(msgspec.Struct, frozen=True):
    """Mute somebody who sits here or has chatted here, or lift it."""

    account: AccountId
    target_name: str
    is_muted: bool


class Connect(msgspec.Struct, frozen=True):
    """Note the first connection of an account in the room."""

    account: AccountId


class Disconnect(msgspec.Struct, frozen=True):
    """Note the end of the last connection of an account in the room, at ``since_ms``; ``None``: just now."""

    account: AccountId
    since_ms: TimestampMs | None = None


class Resume(msgspec.Struct, frozen=True):
    """Note a restart of the server: it last ran at ``down_since_ms``, and runs again since ``up_since_ms``.

    With ``is_standstill`` it stood still between the two, and kept its connections.
    """

    down_since_ms: TimestampMs
    up_since_ms: TimestampMs
    is_standstill: bool = False


class Expire(msgspec.Struct, frozen=True):
    """Do what is due at the time that `next_deadline` named."""

    chance: Chance


class Close(msgspec.Struct, frozen=True):
    """End the running match without a result and close the room, for whoever owns the server."""


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
    | Explain
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
    | Close
)
"""Every command to a room that exists; :class:`OpenRoom` makes one."""
