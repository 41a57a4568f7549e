"""What a room is at one moment: seats, phase and the match. Values only; see `decide` and `evolve`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.rules.base import Game, State
from tabuleiro.rules.outcome import Player

Phase = Literal["waiting", "playing", "finished", "closed"]
Seats = tuple[SeatInfo, SeatInfo]

PLAYERS: tuple[Player, Player] = (0, 1)


@dataclass(frozen=True, slots=True)
class Match:
    """One played instance of the room's game.

    ``actions`` are the canonical texts since the start; ``ended_at_ms`` and ``termination`` are ``None`` while it
    goes on, and ``winner`` is ``None`` then and for a draw.
    """

    number: int
    state: State
    started_at_ms: TimestampMs
    actions: tuple[str, ...] = ()
    ended_at_ms: TimestampMs | None = None
    winner: Player | None = None
    termination: str | None = None

    @property
    def to_move(self) -> Player | None:
        """Who must act, ``None`` once the match is over for whatever reason."""
        return None if self.termination is not None else self.state.to_move


@dataclass(frozen=True, slots=True)
class RoomState:
    """A room. ``seq`` is the number of its last event; ``match`` is ``None`` before the first one."""

    code: RoomCode
    seq: Seq
    phase: Phase
    game: Game
    host: AccountId
    host_name: str
    created_at_ms: TimestampMs
    updated_at_ms: TimestampMs
    seats: Seats
    match: Match | None = None

    def seats_of(self, account: AccountId) -> tuple[Player, ...]:
        """The seats that ``account`` holds: none, one, or both (two people at one keyboard)."""
        return tuple(player for player in PLAYERS if self.seats[player].account == account)

    @property
    def is_bot_to_move(self) -> bool:
        """Whether the running match waits for a bot."""
        if self.phase != "playing" or self.match is None or self.match.to_move is None:
            return False
        return self.seats[self.match.to_move].kind == "bot"


def bot_account(seat: Player) -> AccountId:
    """The account under which the bot on ``seat`` sends its commands; no guest's id contains a slash."""
    return AccountId(f"bot/{seat}")
