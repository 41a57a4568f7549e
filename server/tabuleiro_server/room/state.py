"""The state of a room at one moment: seats, phase, match, offers, chat. Values only; see `decide` and `evolve`.

A match keeps a checkpoint every few actions, close together near its end and further apart before. Going back a
turn costs a handful of actions however long the match is, and what is kept stays small.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

import msgspec

from tabuleiro.clock import ClockState, NoClock, TimeControl, new_clock, total_remaining_ms
from tabuleiro.ids import HOUR_MS, PLAYERS, AccountId, Phase, Player, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import OfferView, RoomSecrets, SeatInfo
from tabuleiro.rules.base import Game, State, Termination
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
    """Return a line of chat."""

    at_ms: TimestampMs
    account: AccountId
    name: str
    text: str
    is_player: bool
    is_hidden: bool


class MutedPerson(msgspec.Struct, frozen=True, gc=False):
    """A person muted by the host, under the name they had then."""

    account: AccountId
    name: str


class Match(msgspec.Struct, frozen=True, gc=False):
    """One played instance of the room's game.

    ``players`` held the seats when it began; later the seats may change hands. ``time_control`` is the room's at
    that time, which may change once the match is over. ``actions`` are the canonical texts since the start,
    ``movers`` the player who made each of them. ``checkpoints`` are some of the positions since the start.
    ``revision`` counts the undos and takebacks. ``lags_ms`` is the last known lag of each player's connection,
    ``hinted_at_ms`` the time of each player's last hint, ``None`` before. ``first_turn_since_ms`` is the time from
    which the first turn of the player to move is waited for, ``None`` once the clock has started, or without one.
    ``ended_at_ms`` and ``termination`` are ``None`` while the match goes on; ``winner`` is ``None`` then, and
    after a draw.
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
    first_turn_since_ms: TimestampMs | None = None
    ended_at_ms: TimestampMs | None = None
    winner: Player | None = None
    termination: str | None = None

    @property
    def to_move(self) -> Player | None:
        """The player to move, ``None`` once the match is over for whatever reason."""
        return None if self.termination is not None else self.state.to_move

    @property
    def has_begun(self) -> bool:
        """True once both players have made an action: then the match can be lost, and not aborted."""
        return 0 in self.movers and 1 in self.movers


class RoomState(msgspec.Struct, frozen=True, gc=False):
    """A room. ``seq`` is the number of its last event; ``match`` is ``None`` before the first one.

    ``maker`` is the account that made it; ``host`` may be another one by now.

    ``away_since_ms`` is, for each seat of a person, the time when the last connection ended, ``None`` while there
    is one. ``seated_at_ms`` is the last time when somebody sat down or got up. ``secrets`` is ``None`` unless the
    room is private.
    """

    code: RoomCode
    seq: Seq
    phase: Phase
    game: Game
    maker: AccountId
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
        """Return the seats that ``account`` holds: none, one, or both (two people at one keyboard)."""
        first, second = self.seats
        if first.account == account:
            return PLAYERS if second.account == account else (0,)
        return (1,) if second.account == account else ()

    def is_muted(self, account: AccountId) -> bool:
        """Return True if the host has muted ``account``."""
        return any(person.account == account for person in self.muted)

    @property
    def has_open_seat(self) -> bool:
        """True if somebody can still sit down."""
        return any(seat.kind == "open" for seat in self.seats)

    def is_played_by_bot(self, player: Player) -> bool:
        """Return True if a bot acts for this seat: its own, or a stand-in."""
        seat = self.seats[player]
        return seat.kind == "bot" or seat.stand_in is not None

    @property
    def is_closed_unplayed(self) -> bool:
        """True if the room is closed and had no match, or one that was aborted before anything was played."""
        match = self.match
        if match is None:
            return self.phase == "closed"
        is_empty = match.number == 1 and not match.actions and match.termination == Termination.ABORTED
        return self.phase == "closed" and is_empty

    @property
    def can_pause(self) -> bool:
        """True if nothing is lost when the running match stops for a while: bots play it, without a clock."""
        first, second = self.seats
        is_unhurried = self.match is not None and isinstance(self.match.time_control, NoClock)
        return self.phase == "playing" and first.kind == second.kind == "bot" and is_unhurried

    @property
    def is_bot_to_move(self) -> bool:
        """True if the running match waits for a bot."""
        # Asked at every move, and most rooms have no bot at all.
        first, second = self.seats
        if "bot" not in (first.kind, second.kind) and first.stand_in is None and second.stand_in is None:
            return False
        if self.phase != "playing" or self.match is None or self.match.to_move is None:
            return False
        return self.is_played_by_bot(self.match.to_move)


def first_turn_limit_ms(room: RoomState) -> int:
    """Return the time for each first turn of a match; 0 if there is none, and a clock runs from the beginning."""
    control = room.settings.time_control
    whole_ms = total_remaining_ms(control, new_clock(control), 0, now_ms=0)
    if whole_ms is None:
        return 0
    return room.limits.first_turn_ms if whole_ms < HOUR_MS else room.limits.long_first_turn_ms


def first_turn_due_ms(room: RoomState) -> TimestampMs | None:
    """Return the time at which a match is aborted for want of a first turn, ``None`` if none is waited for."""
    match = room.match
    if match is None or match.first_turn_since_ms is None or match.to_move is None:
        return None
    return TimestampMs(match.first_turn_since_ms + first_turn_limit_ms(room))


_BOT_ACCOUNTS: Final = (AccountId("bot/0"), AccountId("bot/1"))
_BOT_SEATS: Final[dict[AccountId, Player]] = {_BOT_ACCOUNTS[0]: 0, _BOT_ACCOUNTS[1]: 1}


def bot_account(seat: Player) -> AccountId:
    """Return the account of the bot on ``seat``; no guest's id contains a slash."""
    return _BOT_ACCOUNTS[seat]


def seat_of_bot_account(account: AccountId) -> Player | None:
    """Return the seat of the bot with this account; ``None`` for the account of a person.

    >>> seat_of_bot_account(AccountId("bot/1"))
    1
    """
    return _BOT_SEATS.get(account)


CHECKPOINT_EVERY_COUNT: Final = 16
"""Actions from one checkpoint to the next; playing them again takes half a millisecond at most."""

CHECKPOINTS_COUNT: Final = 32
"""Most checkpoints of a match; beyond that, every other one is dropped."""


_LATEST: Final[deque[tuple[State, int, State]]] = deque(maxlen=4)


def note_child(state: State, action: int, child: State) -> None:
    """Remember a position that was made while deciding: evolving the room asks for it a moment later."""
    _LATEST.append((state, action, child))


def child_of(state: State, action: int) -> State:
    """Return the position after a legal action."""
    for before, made, after in _LATEST:
        if before is state and made == action:
            return after
    return state.child(action)


def with_checkpoint(checkpoints: tuple[Checkpoint, ...], ply: int, state: State) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of a match that has come to ``state`` with its action number ``ply``."""
    last_ply = checkpoints[-1].ply if checkpoints else 0
    if ply - last_ply < CHECKPOINT_EVERY_COUNT:
        return checkpoints
    kept = checkpoints[1::2] if len(checkpoints) == CHECKPOINTS_COUNT else checkpoints
    return (*kept, Checkpoint(ply, state))


def cut_checkpoints(checkpoints: tuple[Checkpoint, ...], ply: int) -> tuple[Checkpoint, ...]:
    """Return the checkpoints that lie in the first ``ply`` actions."""
    return tuple(checkpoint for checkpoint in checkpoints if checkpoint.ply <= ply)


def state_after(match: Match, room: RoomState, ply: int) -> State:
    """Return the position of the match after its first ``ply`` actions."""
    start = next((known for known in reversed(match.checkpoints) if known.ply <= ply), None)
    start = start or Checkpoint(0, room.game.initial_state())
    state = start.state
    for text in match.actions[start.ply : ply]:
        state = state.child(state.string_to_action(text))
    return state


def last_turn_start_of(match: Match, room: RoomState, player: Player) -> int | None:
    """Return the ply at which the last finished turn of ``player`` began; ``None`` when there is none."""
    for start, end_ply in _iter_stretches_backwards(match, room):
        found: int | None = None
        state = start.state
        for ply in range(start.ply, end_ply):
            text, actions_before_count = match.actions[ply], state.actions_in_turn
            state = state.child(state.string_to_action(text))
            if state.actions_in_turn == 0 and match.movers[ply] == player:
                # A match may begin in mid-turn, from a position.
                found = max(ply - actions_before_count, 0)
        if found is not None:
            return found
    return None


def _iter_stretches_backwards(match: Match, room: RoomState) -> Iterator[tuple[Checkpoint, int]]:
    """Yield each checkpoint, the latest first, with the ply where the stretch behind it ends."""
    end_ply = len(match.actions)
    for checkpoint in reversed(match.checkpoints):
        yield checkpoint, end_ply
        end_ply = checkpoint.ply
    yield Checkpoint(0, room.game.initial_state()), end_ply
