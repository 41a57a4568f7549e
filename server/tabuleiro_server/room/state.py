"""What a room is at one moment: seats, phase, match, offers, chat. Values only; see `decide` and `evolve`."""

from __future__ import annotations

from typing import Final

import msgspec

from tabuleiro.clock import ClockState, TimeControl
from tabuleiro.ids import PLAYERS, AccountId, Phase, Player, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import OfferView, RoomSecrets, SeatInfo
from tabuleiro.rules.base import Game, State
from tabuleiro.settings import RoomLimits, RoomSettings

Seats = tuple[SeatInfo, SeatInfo]
AwayTimes = tuple[TimestampMs | None, TimestampMs | None]

CHAT_LINES_COUNT: Final = 100
"""Lines of chat that a room remembers; all are kept on disk."""


class Checkpoint(msgspec.Struct, frozen=True, gc=False):
    """The position of a match after its first ``ply`` actions, kept so that going back is cheap."""

    ply: int
    state: State


class Line(msgspec.Struct, frozen=True, gc=False):
    """Something that was said."""

    at_ms: TimestampMs
    account: AccountId
    name: str
    text: str
    is_player: bool
    is_hidden: bool


class MutedPerson(msgspec.Struct, frozen=True, gc=False):
    """Somebody whom the host has muted, under the name they had then."""

    account: AccountId
    name: str


class Match(msgspec.Struct, frozen=True, gc=False):
    """One played instance of the room's game.

    ``players`` held the seats when it began; later the seats may change hands. ``time_control`` is the room's of
    then, which may change once the match is over.
    ``actions`` are the canonical texts since the start; ``movers`` tells for each of them who made it.
    ``checkpoints`` are some of the positions on the way, see `positions`.
    ``revision`` counts how often actions were undone or taken back. ``lags_ms`` is the last known lag of each
    player's connection, ``hinted_at_ms`` when each player had the last hint, ``None`` before. ``ended_at_ms`` and
    ``termination`` are ``None`` while the match goes on, and ``winner`` is ``None`` then and for a draw.
    """

    number: int
    players: Seats
    state: State
    clock: ClockState
    started_at_ms: TimestampMs
    time_control: TimeControl
    actions: tuple[str, ...] = ()
    movers: tuple[Player, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    revision: int = 0
    lags_ms: tuple[int, int] = (0, 0)
    hinted_at_ms: tuple[TimestampMs | None, TimestampMs | None] = (None, None)
    ended_at_ms: TimestampMs | None = None
    winner: Player | None = None
    termination: str | None = None

    @property
    def to_move(self) -> Player | None:
        """Who must act, ``None`` once the match is over for whatever reason."""
        return None if self.termination is not None else self.state.to_move

    @property
    def has_begun(self) -> bool:
        """Whether both players have made an action: from then on the match can be lost, and not aborted."""
        return 0 in self.movers and 1 in self.movers


class RoomState(msgspec.Struct, frozen=True, gc=False):
    """A room. ``seq`` is the number of its last event; ``match`` is ``None`` before the first one.

    ``away_since_ms`` is, for each seat of a person, when the last connection went, ``None`` while there is one.
    ``seated_at_ms`` is when somebody last sat down or got up.
    ``secrets`` is ``None`` unless the room is private.
    """

    code: RoomCode
    seq: Seq
    phase: Phase
    game: Game
    host: AccountId
    host_name: str
    created_at_ms: TimestampMs
    updated_at_ms: TimestampMs
    seats: Seats
    settings: RoomSettings
    limits: RoomLimits
    secrets: RoomSecrets | None
    away_since_ms: AwayTimes
    seated_at_ms: TimestampMs
    match: Match | None = None
    offers: tuple[OfferView, ...] = ()
    chat: tuple[Line, ...] = ()
    muted: tuple[MutedPerson, ...] = ()

    def seats_of(self, account: AccountId) -> tuple[Player, ...]:
        """The seats that ``account`` holds: none, one, or both (two people at one keyboard)."""
        first, second = self.seats
        if first.account == account:
            return PLAYERS if second.account == account else (0,)
        return (1,) if second.account == account else ()

    def is_muted(self, account: AccountId) -> bool:
        """Whether the host has muted ``account``."""
        return any(person.account == account for person in self.muted)

    @property
    def has_open_seat(self) -> bool:
        """Whether anybody can still sit down."""
        return any(seat.kind == "open" for seat in self.seats)

    def is_played_by_bot(self, player: Player) -> bool:
        """Whether a bot acts for this seat: its own, or a stand-in."""
        seat = self.seats[player]
        return seat.kind == "bot" or seat.stand_in is not None

    @property
    def is_bot_to_move(self) -> bool:
        """Whether the running match waits for a bot."""
        # Asked at every move, and most rooms have no bot at all.
        first, second = self.seats
        if "bot" not in (first.kind, second.kind) and first.stand_in is None and second.stand_in is None:
            return False
        if self.phase != "playing" or self.match is None or self.match.to_move is None:
            return False
        return self.is_played_by_bot(self.match.to_move)


_BOT_ACCOUNTS: Final = (AccountId("bot/0"), AccountId("bot/1"))
_BOT_SEATS: Final[dict[AccountId, Player]] = {_BOT_ACCOUNTS[0]: 0, _BOT_ACCOUNTS[1]: 1}


def bot_account(seat: Player) -> AccountId:
    """The account under which the bot on ``seat`` sends its commands; no guest's id contains a slash."""
    return _BOT_ACCOUNTS[seat]


def seat_of_bot_account(account: AccountId) -> Player | None:
    """The seat whose bot sends its commands under ``account``; ``None`` for the account of a person.

    >>> seat_of_bot_account(AccountId("bot/1"))
    1
    """
    return _BOT_SEATS.get(account)
