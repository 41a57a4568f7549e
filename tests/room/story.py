"""A room and all that happens in it, for tests: given events, when command, then events or a code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pytest

from tabuleiro.clock import ClockState
from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, Player, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import Event, RoomSecrets, SequencedEvent
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.settings import RoomLimits, RoomSettings
from tabuleiro_server.room.commands import (
    AnswerOffer,
    Chance,
    Command,
    Connect,
    Disconnect,
    Expire,
    Join,
    MakeOffer,
    OpenRoom,
    Play,
    Resign,
    Say,
)
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.decide import decide, open_room
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.state import Match, RoomState

ANA, RUI, EVA, DOM = (AccountId(f"{name}-id") for name in ("ana", "rui", "eva", "dom"))
NAMES: Final = {ANA: "ana", RUI: "rui", EVA: "eva", DOM: "dom"}
STILL, SWAPPED = Chance(seed=7, is_swapped=False), Chance(seed=9, is_swapped=True)
ME, OPEN, BOT = SeatRequest("me"), SeatRequest(), SeatRequest("bot", "random")
CODE = RoomCode("ABCDE")
LEVELS = ("random", "minimax-1")
SECRETS = RoomSecrets("invite-secret", "watch-secret")
SMALL: Final[dict[str, int | str]] = {"rows": 4, "cols": 4, "steps": 2}
"""Virus Wars, two actions a turn: ana's first may be a3 a2, rui's first d2 d3."""
LAST_ACTION: Final[dict[str, int | str]] = {**SMALL, "position": "x.OO/OOOO/OOOO/OOOo 0 2"}
"""Ana plays b1, and has no action left: rui wins."""
START_MS: Final = 1_000_000
LIMITS: Final = RoomLimits()
"""Without one for first turns: clocks run from the beginning."""


def opening(
    seats: tuple[SeatRequest, SeatRequest] = (ME, OPEN),
    options: dict[str, Any] | None = None,
    game: str = "virus-wars",
    settings: RoomSettings = RoomSettings(),
    host: AccountId = ANA,
    chance: Chance = STILL,
    limits: RoomLimits = LIMITS,
) -> OpenRoom:
    """The command that opens a room of SMALL boards."""
    chosen = SMALL if options is None else options
    name = NAMES[host]
    return OpenRoom(CODE, host, name, game, chosen, seats, settings, limits, LEVELS, SECRETS, chance)


@dataclass
class Story:
    """What happened so far. Each step checks that storing and replaying the events gives the live state."""

    events: list[SequencedEvent] = field(default_factory=list)
    state: RoomState | None = None
    now_ms: int = START_MS

    @property
    def room(self) -> RoomState:
        assert self.state is not None
        return self.state

    @property
    def match(self) -> Match:
        assert self.room.match is not None
        return self.room.match

    @property
    def clock(self) -> ClockState:
        return self.match.clock

    def later(self, ms: int) -> Story:
        """Let time pass in which nothing happens."""
        self.now_ms += ms
        return self

    def open(self, *args: Any, **kwargs: Any) -> tuple[Event, ...]:
        return self._take(open_room(opening(*args, **kwargs)))

    def when(self, command: Command) -> tuple[Event, ...]:
        before = self.room
        events = decide(before, command, self.now_ms)
        assert decide(before, command, self.now_ms) == events
        return self._take(events)

    def refused(self, command: Command) -> str:
        return self.refusal(command).code

    def refusal(self, command: Command) -> CommandError:
        with pytest.raises(CommandError) as caught:
            decide(self.room, command, self.now_ms)
        return caught.value

    def _take(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in events:
            stored = msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=Event)
            assert stored == event
            sequenced = SequencedEvent(Seq(len(self.events) + 1), TimestampMs(self.now_ms), stored)
            self.events.append(sequenced)
            self.state = evolve(self.state, sequenced)
        assert self.state == replay(self.events)
        return events

    def play(self, account: AccountId, *actions: str, lag_ms: int = 0) -> tuple[Event, ...]:
        """Make actions at the present ply of the running match."""
        match = self.match
        return self.when(Play(account, match.number, len(match.actions), actions, match.revision, lag_ms))

    def offer(self, account: AccountId, kind: Any, chance: Chance = STILL) -> tuple[Event, ...]:
        return self.when(MakeOffer(account, kind, chance))

    def answer(self, account: AccountId, kind: Any, *, accept: bool) -> tuple[Event, ...]:
        return self.when(AnswerOffer(account, kind, accept, STILL))

    def join(self, account: AccountId, seat: Player | None = None) -> tuple[Event, ...]:
        return self.when(join(account, seat))

    def say(self, account: AccountId, text: str) -> tuple[Event, ...]:
        return self.when(Say(account, NAMES[account], text))

    def leave_for(self, account: AccountId, ms: int) -> None:
        """Lose the last connection of ``account``, and let time pass."""
        self.when(Disconnect(account))
        self.later(ms)

    def come_back(self, account: AccountId) -> tuple[Event, ...]:
        return self.when(Connect(account))

    def deadline(self) -> Deadline:
        found = next_deadline(self.room)
        assert found is not None
        return found

    def expire(self, chance: Chance = STILL) -> tuple[Event, ...]:
        """Go to the next deadline; nothing happens a millisecond before."""
        at_ms = self.deadline().at_ms
        assert decide(self.room, Expire(chance), at_ms - 1) == ()
        self.now_ms = max(self.now_ms, at_ms)
        events = self.when(Expire(chance))
        assert events
        return events


def join(account: AccountId, seat: Player | None = None, secret: str | None = None) -> Join:
    return Join(account, NAMES[account], STILL, seat, secret)


def playing(options: dict[str, Any] | None = None, **kwargs: Any) -> Story:
    """Ana, who is the host, plays rui; she is to move."""
    story = Story()
    story.open(options=options, **kwargs)
    story.join(RUI)
    assert story.room.phase == "playing"
    return story


def finished(**kwargs: Any) -> Story:
    """Ana has lost to rui."""
    story = playing(**kwargs)
    story.when(Resign(ANA, 1))
    return story
