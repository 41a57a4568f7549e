"""The local copy of a room: its head, and the position rebuilt by the rules. No user interface, no I/O.

It never guesses: what doesn't fit (a gap, an action the rules refuse, another digest) makes it stale, and whoever
feeds it asks for a snapshot: see :mod:`tabuleiro_client.net.room`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from tabuleiro.errors import ClientError, GameOptionError, IllegalActionError, NotationError
from tabuleiro.ids import PLAYERS, AccountId, Player, Seq, opponent
from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    BotSeated,
    Event,
    MatchStarted,
    Said,
    SeatConnected,
    SeatFreed,
    SeatInfo,
    SeatsSwapped,
    SeatTaken,
    SequencedEvent,
    StandInSeated,
    TurnTakenBack,
)
from tabuleiro.protocol.messages import ChatLine, MatchView, RoomEntered, RoomHead, Update
from tabuleiro.protocol.names import bot_name
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.options import Options

CHAT_MAX_COUNT: Final = 200
"""Lines of chat that a mirror remembers."""

Seats = tuple[SeatInfo, SeatInfo]


@dataclass(frozen=True, slots=True)
class Step:
    """An event that the mirror took in, with the positions before and after it.

    ``ply`` is the number of actions played by then, ``seats`` the holders of the seats after the event: the head
    of an update knows those after its last event only.
    """

    event: SequencedEvent
    before: State
    after: State
    ply: int
    seats: Seats


class Mirror:
    """A room as ``account`` sees it, from the answer to entering it onwards.

    ``state`` is the position of the running or last match (before the first: the start position), ``actions``
    the texts that led to it; ``chat`` the last lines that were said. ``is_stale`` tells that the
    copy can't be trusted and needs a snapshot.

    Raises: ClientError when the room plays a game that this version doesn't know.
    """

    def __init__(self, account: AccountId, entered: RoomEntered) -> None:
        self.account = account
        self.actions: list[str] = []
        self.chat: list[ChatLine] = []
        self.is_stale = False
        self._seq = 0
        self.head = entered.head
        self._seats = seats_of(entered.head)
        self.game = _load(entered.head.game, entered.head.options)
        self.state = self.game.initial_state()
        self.enter(entered)

    @property
    def since(self) -> Seq:
        """The last event taken in: what to name when entering again."""
        return Seq(self._seq)

    @property
    def match(self) -> MatchView | None:
        """The running or last match, ``None`` before the first."""
        return self.head.match

    @property
    def own_seats(self) -> tuple[Player, ...]:
        """The seats of this account: none for a watcher, two for one who plays both sides."""
        return tuple(seat for seat in PLAYERS if self.head.seats[seat].holder.account == self.account)

    @property
    def to_move(self) -> Player | None:
        """Whose turn it is, ``None`` when no match runs."""
        return None if self.match is None or self.head.phase != "playing" else self.match.to_move

    @property
    def is_my_turn(self) -> bool:
        """True if this account may act now."""
        return self.to_move is not None and self.to_move in self.own_seats

    def enter(self, entered: RoomEntered) -> tuple[Step, ...]:
        """Take in the answer to entering the room; the events in it come back as steps."""
        if entered.snapshot is None:
            return self._take(entered.head, entered.events)
        self.is_stale = False
        self.head, self._seq, self._seats = entered.head, entered.head.seq, seats_of(entered.head)
        self.game = _load(entered.head.game, entered.head.options)
        self.chat = list(entered.snapshot.chat)
        self._start()
        self._play(entered.snapshot.actions)
        self._compare()
        return ()

    def update(self, update: Update) -> tuple[Step, ...]:
        """Take in an update of this room; its new events come back as steps, old ones are passed over."""
        if update.head.seq < self._seq:
            return ()
        return self._take(update.head, update.events)

    def _take(self, head: RoomHead, events: Sequence[SequencedEvent]) -> tuple[Step, ...]:
        steps = []
        for event in events:
            if event.seq <= self._seq:
                continue
            if event.seq != self._seq + 1:
                self.is_stale = True
                break
            before = self.state
            self._apply(event.event)
            if isinstance(event.event, Said):
                self._hear(event, event.event)
            self._seq = event.seq
            self._seats = seats_of(head) if event.seq == head.seq else _seats_after(self._seats, event.event)
            steps.append(Step(event, before, self.state, len(self.actions), self._seats))
        self.head, self._seats = head, seats_of(head)
        self._compare()
        return tuple(steps)

    def _apply(self, event: Event) -> None:
        if isinstance(event, MatchStarted):
            if event.seed is not None:
                self.game = _load(self.game.name, {**self.game.options, "seed": event.seed})
            self._start()
        elif isinstance(event, ActionsPlayed):
            self.is_stale = self.is_stale or event.ply != len(self.actions)
            self._play(event.actions)
        elif isinstance(event, ActionsUndone | TurnTakenBack):
            left = self.actions[: event.ply]
            self._start()
            self._play(left)

    def _hear(self, event: SequencedEvent, said: Said) -> None:
        self.chat.append(ChatLine(event.at_ms, said.account, said.name, said.text, said.is_player))
        del self.chat[:-CHAT_MAX_COUNT]

    def _start(self) -> None:
        self.state, self.actions = self.game.initial_state(), []

    def _play(self, texts: Sequence[str]) -> None:
        for text in texts:
            try:
                self.state = self.state.apply(self.state.string_to_action(text))
            except (NotationError, IllegalActionError):
                self.is_stale = True
                return
            self.actions.append(text)

    def _compare(self) -> None:
        head, match = self.head, self.head.match
        has_same_game = (self._seq, self.game.name, self.game.options) == (head.seq, head.game, head.options)
        has_same_position = match is None or (match.digest, match.ply) == (self.state.digest(), len(self.actions))
        self.is_stale = self.is_stale or not (has_same_game and has_same_position)


def seats_of(head: RoomHead) -> Seats:
    """Return the holders of the seats."""
    return head.seats[0].holder, head.seats[1].holder


def _seats_after(seats: Seats, event: Event) -> Seats:
    match event:
        case SeatTaken(seat=seat, account=account, name=name):
            return _with_holder(seats, seat, SeatInfo("person", account, name))
        case BotSeated(seat=seat, level=level):
            name = bot_name(level, seats[opponent(seat)].name)
            return _with_holder(seats, seat, SeatInfo("bot", None, name, level))
        case SeatFreed(seat=seat):
            return _with_holder(seats, seat, SeatInfo())
        case StandInSeated(seat=seat, level=level):
            return _with_holder(seats, seat, replace(seats[seat], stand_in=level))
        case SeatConnected(seat=seat):
            return _with_holder(seats, seat, replace(seats[seat], stand_in=None))
        case SeatsSwapped():
            return seats[1], seats[0]
        case _:
            return seats


def _with_holder(seats: Seats, seat: Player, holder: SeatInfo) -> Seats:
    return (holder, seats[1]) if seat == 0 else (seats[0], holder)


def _load(name: str, options: Options) -> Game:
    try:
        return registry.load(name, options)
    except GameOptionError as error:
        raise ClientError(f"this version of tabuleiro cannot show the room: {error}") from error
