"""Every command from every role at every moment, in random order: what must hold whatever people do.

The clocks' rule is checked from outside, by a bound: what a player has left may grow by the increment of a turn
they finished, or to a whole period or turn, and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition
from hypothesis.stateful import rule as hypothesis_rule

from tabuleiro.clock import NO_CLOCK, Fischer
from tabuleiro.errors import CommandError
from tabuleiro.ids import Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import (
    Event,
    MatchEnded,
    MatchStarted,
    RoomOpened,
    SequencedEvent,
    Withheld,
)
from tabuleiro.settings import LateBot
from tabuleiro_server.room.commands import (
    Abort,
    AnswerOffer,
    Chance,
    ChangeSettings,
    ClaimWin,
    Command,
    Connect,
    Disconnect,
    Expire,
    Join,
    Leave,
    MakeOffer,
    Mute,
    OpenRoom,
    Play,
    Resign,
    Resume,
    Say,
    SeatBot,
    SwapSeats,
    TakeHint,
    Undo,
    Watch,
)
from tabuleiro_server.room.deadlines import next_deadline
from tabuleiro_server.room.decide import decide, open_room
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.state import Match, RoomState, bot_account
from tabuleiro_server.room.views import Viewer, event_for, head_of, snapshot_of, summary_of
from tests.room.room_strategies import (
    LAG_MAX_MS,
    SOME_ACTIONS,
    SOME_NAMES,
    actors,
    chance,
    check_clocks,
    check_matches,
    guests,
    kinds,
    levels,
    match_offsets,
    openings,
    players,
    secrets,
    times_ms,
)
from tests.room.story import ANA, CODE, EVA, LEVELS, NAMES, RUI, SECRETS

CHANGES: tuple[dict[str, Any], ...] = (
    {"may_undo": False},
    {"first": "draw", "hides_watcher_chat": True},
    {"time_control": Fischer(initial_ms=5_000, increment_ms=1_000)},
    {"time_control": NO_CLOCK},
    {"late_bot": LateBot("random", 1_000)},
    {"stand_in_level": "nobody's"},
    {"is_private": True},
)


@dataclass(frozen=True)
class Refusal:
    """A command that was not granted."""

    code: str
    message: str


def rule(**strategies: Any) -> Any:
    """A rule for rooms that are not closed."""

    def mark(function: Any) -> Any:
        is_open = precondition(lambda machine: machine.room.phase != "closed")
        return is_open(hypothesis_rule(**strategies)(function))

    return mark


class RoomMachine(RuleBasedStateMachine):
    """One room after the other, and everybody who could want something of it."""

    room: RoomState

    @initialize(opening=openings)
    def open(self, opening: Any) -> None:
        self.now_ms = 1_000_000
        self.events: list[SequencedEvent] = []
        self.over: dict[int, Match] = {}
        (name, options), chosen, seats, is_joined, drawn, limits = opening
        command = OpenRoom(CODE, ANA, "ana", name, options, seats, chosen, limits, LEVELS, SECRETS, drawn)
        self.take(open_room(command))
        if is_joined:
            self.send(Join(RUI, "rui", drawn, None, SECRETS.invite))

    @precondition(lambda self: self.room.phase == "closed")
    @hypothesis_rule(opening=openings, account=guests)
    def open_another(self, opening: Any, account: Any) -> None:
        """A closed room stays closed for everybody, and another one is made."""
        answer = self.decided(Watch(account))
        assert isinstance(answer, Refusal)
        assert answer.code == ErrorCode.NO_SUCH_ROOM
        assert next_deadline(self.room) is None
        self.open(opening)

    def who(self, actor: Any) -> Any:
        return (self.room.seats[actor].account or EVA) if isinstance(actor, int) else actor

    def match_number(self, offset: int) -> int:
        return offset + (1 if self.room.match is None else self.room.match.number)

    def take(self, events: tuple[Event, ...]) -> None:
        """Store and evolve, as the runtime does; what an event may do to clocks and matches is checked."""
        for event in events:
            stored = msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=Event)
            assert stored == event
            before = self.room if self.events else None
            sequenced = SequencedEvent(Seq(len(self.events) + 1), TimestampMs(self.now_ms), stored)
            self.events.append(sequenced)
            self.room = evolve(before, sequenced)
            if before is not None:
                check_matches(before, self.room, event)
                check_clocks(before, self.room, event, self.now_ms)

    def send(self, command: Command) -> bool:
        """Have a command decided, which changes nothing; tells whether it was granted."""
        text = repr(self.room)
        answer = self.decided(command)
        assert repr(self.room) == text
        assert self.decided(command) == answer
        if isinstance(answer, Refusal):
            assert answer.code in set(ErrorCode)
            assert answer.message.isprintable()
            return False
        self.take(answer)
        return True

    def decided(self, command: Command) -> tuple[Event, ...] | Refusal:
        try:
            return decide(self.room, command, self.now_ms)
        except CommandError as error:
            return Refusal(error.code, error.message)

    # Time

    @rule(down_ms=st.sampled_from((0, 700, 50_000)), late_ms=st.sampled_from((0, 3_000)), is_still=st.booleans())
    def restart(self, down_ms: int, late_ms: int, is_still: bool) -> None:
        down_since_ms, up_since_ms = self.now_ms, self.now_ms + down_ms
        self.now_ms = up_since_ms + late_ms
        self.send(Resume(TimestampMs(down_since_ms), TimestampMs(up_since_ms), is_standstill=is_still))

    @rule(ms=times_ms, is_on_time=st.booleans())
    def wait(self, ms: int, is_on_time: bool) -> None:
        """Time passes; either what becomes due happens at its moment, or commands come before the timer."""
        until_ms = self.now_ms + ms
        while is_on_time and (deadline := next_deadline(self.room)) is not None and deadline.at_ms <= until_ms:
            self.now_ms = max(self.now_ms, deadline.at_ms)
            self.expire_due(Chance(1, True))
        self.now_ms = until_ms

    @rule(drawn=chance)
    def expire(self, drawn: Chance) -> None:
        deadline = next_deadline(self.room)
        if deadline is not None and deadline.at_ms <= self.now_ms:
            self.expire_due(drawn)
        else:
            assert decide(self.room, Expire(drawn), self.now_ms) == ()

    def expire_due(self, drawn: Chance) -> None:
        """What is due changes the room, is then no longer awaited, and does not happen before its time."""
        before, deadline = self.room, next_deadline(self.room)
        assert deadline is not None
        assert decide(self.room, Expire(drawn), deadline.at_ms - 1) == ()
        assert self.send(Expire(drawn))
        assert self.room.seq > before.seq
        after = next_deadline(self.room)
        assert after is None or (after.at_ms, after.events()) != (deadline.at_ms, deadline.events())

    # Playing

    @rule(data=st.data())
    def play_one_turn(self, data: st.DataObject) -> None:
        self.play_turns(data, 1, 0)

    @rule(data=st.data(), turns_count=st.integers(1, 4), lag_ms=st.sampled_from((0, 80, LAG_MAX_MS)))
    def play_turns(self, data: st.DataObject, turns_count: int, lag_ms: int) -> None:
        """Whoever is to move, person or bot, makes legal actions of the turn; mostly all of them."""
        for _ in range(turns_count):
            match = self.room.match
            if self.room.phase != "playing" or match is None or match.to_move is None:
                return
            texts, state = [], match.state
            for _ in range(data.draw(st.sampled_from((1, 9)))):
                action = data.draw(st.sampled_from(state.legal_actions()))
                texts.append(state.action_to_string(action))
                state = state.child(action)
                if state.is_terminal or state.actions_in_turn == 0:
                    break
            is_bot = self.room.is_played_by_bot(match.to_move)
            account = bot_account(match.to_move) if is_bot else self.who(match.to_move)
            ply = len(match.actions)
            command = Play(account, match.number, ply, tuple(texts), match.revision, lag_ms)
            if self.send(command):
                seq = self.room.seq
                assert self.send(command), "a resent play is recognised"
                assert self.room.seq == seq, "and not played twice"
            else:
                deadline = next_deadline(self.room)
                assert deadline is not None
                assert deadline.at_ms <= self.now_ms + LAG_MAX_MS, "only a fallen flag stops a legal action"

    @rule(
        actor=actors,
        offset=match_offsets,
        ply=st.integers(-1, 12),
        actions=st.lists(st.sampled_from(SOME_ACTIONS), max_size=3),
        revision=st.integers(0, 2),
    )
    def play_anything(self, actor: Any, offset: int, ply: int, actions: list[str], revision: int) -> None:
        self.send(Play(self.who(actor), self.match_number(offset), ply, tuple(actions), revision))

    @rule(player=players, is_long=st.booleans())
    def claim_over_who_stays_away(self, player: Any, is_long: bool) -> None:
        self.send(Disconnect(self.who(player)))
        self.now_ms += self.room.settings.away_after_ms if is_long else 1_000
        self.send(ClaimWin(self.who(1 - player), self.match_number(0)))

    @rule(data=st.data())
    def play_an_action_and_undo_it(self, data: st.DataObject) -> None:
        match = self.room.match
        if match is None or match.to_move is None:
            return
        text = match.state.action_to_string(data.draw(st.sampled_from(match.state.legal_actions())))
        account = self.who(match.to_move)
        self.send(Play(account, match.number, len(match.actions), (text,), match.revision))
        if self.send(Undo(account, match.number, len(match.actions))):
            assert self.room.match is not None
            assert (self.room.match.state, self.room.match.actions) == (match.state, match.actions)

    @rule(actor=actors, back=st.sampled_from((0, 0, 0, 1)))
    def take_hint(self, actor: Any, back: int) -> None:
        before, match = self.room, self.room.match
        ply = 0 if match is None else len(match.actions) - back
        revision = 0 if match is None else match.revision
        if self.send(TakeHint(self.who(actor), self.match_number(0), ply, revision)):
            assert before.settings.is_casual
            assert before.settings.hints
            assert match is not None
            assert match.to_move in before.seats_of(self.who(actor))
            assert self.room.match is not None
            assert self.room.match.actions == match.actions

    @rule(actor=actors, back=st.integers(0, 3))
    def undo(self, actor: Any, back: int) -> None:
        ply = 0 if self.room.match is None else len(self.room.match.actions) - back
        if self.send(Undo(self.who(actor), self.match_number(0), ply)):
            assert self.room.match is not None
            assert len(self.room.match.actions) == ply

    @rule(actor=actors, offset=match_offsets, what=st.sampled_from((Resign, Abort, ClaimWin, ClaimWin)))
    def end(self, actor: Any, offset: int, what: Any) -> None:
        before = self.room
        if self.send(what(self.who(actor), self.match_number(offset))):
            assert before.match is not None
            assert what is not Abort or not before.match.has_begun
            assert what is not ClaimWin or before.away_since_ms != (None, None)

    @rule(actor=actors, kind=kinds, drawn=chance)
    def offer(self, actor: Any, kind: Any, drawn: Chance) -> None:
        self.send(MakeOffer(self.who(actor), kind, drawn))

    @rule(actor=actors, kind=kinds, accept=st.booleans(), drawn=chance)
    def answer(self, actor: Any, kind: Any, accept: bool, drawn: Chance) -> None:
        self.send(AnswerOffer(self.who(actor), kind, accept, drawn))

    @rule(player=players, kind=st.sampled_from(("takeback", "takeback", "rematch", "draw")), drawn=chance)
    def agree(self, player: Any, kind: Any, drawn: Chance) -> None:
        """One offers and the other accepts, which is rare by chance."""
        self.send(MakeOffer(self.who(player), kind, drawn))
        self.send(AnswerOffer(self.who(1 - player), kind, True, drawn))

    # Seats and talk

    @rule(account=guests, seat=st.one_of(st.none(), players), secret=secrets, drawn=chance)
    def enter(self, account: Any, seat: Any, secret: str | None, drawn: Chance) -> None:
        before = self.room
        self.send(Watch(account, secret))
        assert self.room == before
        self.send(Join(account, NAMES[account], drawn, seat, secret))

    @rule(account=guests)
    def leave(self, account: Any) -> None:
        self.send(Leave(account))

    @rule(account=guests, seat=players, level=levels, drawn=chance)
    def seat_bot(self, account: Any, seat: Any, level: str | None, drawn: Chance) -> None:
        self.send(SeatBot(account, seat, level, LEVELS, drawn))

    @rule(account=guests)
    def swap(self, account: Any) -> None:
        self.send(SwapSeats(account))

    @rule(account=guests, changed=st.sampled_from(CHANGES))
    def change_settings(self, account: Any, changed: dict[str, Any]) -> None:
        self.send(ChangeSettings(account, msgspec.structs.replace(self.room.settings, **changed), LEVELS))

    @rule(actor=actors, what=st.sampled_from((Connect, Disconnect)))
    def come_or_go(self, actor: Any, what: Any) -> None:
        self.send(what(self.who(actor)))

    @rule(account=guests, text=st.sampled_from(("hello", "\x1b[2J", " ", "b2!")))
    def say(self, account: Any, text: str) -> None:
        self.send(Say(account, NAMES[account], text))

    @rule(account=guests, name=st.sampled_from(SOME_NAMES), is_muted=st.booleans())
    def mute(self, account: Any, name: str, is_muted: bool) -> None:
        self.send(Mute(account, name, is_muted))

    # What holds after every step

    @invariant()
    def replay_equals_live(self) -> None:
        assert [event.seq for event in self.events] == list(range(1, len(self.events) + 1))
        assert replay(self.events) == self.room

    @invariant()
    def one_match_at_most_runs_and_what_is_over_stays(self) -> None:
        match = self.room.match
        assert (self.room.phase == "playing") == (match is not None and match.termination is None)
        started = [event.event.match for event in self.events if isinstance(event.event, MatchStarted)]
        ended = [event.event.match for event in self.events if isinstance(event.event, MatchEnded)]
        assert started == list(range(1, len(started) + 1))
        assert ended == started[: len(ended)]
        assert len(started) - len(ended) == (self.room.phase == "playing")
        if match is not None and match.termination is not None:
            assert self.over.setdefault(match.number, match) == match

    @invariant()
    def a_running_match_waits_for_somebody(self) -> None:
        if self.room.phase == "playing":
            assert self.room.match is not None
            assert self.room.match.to_move is not None
            assert not self.room.has_open_seat
            assert next_deadline(self.room) is not None

    @invariant()
    def a_clock_waits_for_both_first_turns_and_then_runs(self) -> None:
        match, limits = self.room.match, self.room.limits
        if self.room.phase != "playing" or match is None or self.room.settings.time_control == NO_CLOCK:
            assert match is None or match.first_turn_since_ms is None
            return
        is_waited_for = match.first_turn_since_ms is not None
        assert is_waited_for == (match.clock.running is None)
        assert not is_waited_for or limits.first_turn_ms
        assert not is_waited_for or not match.has_begun or match.state.actions_in_turn
        deadline = next_deadline(self.room)
        assert deadline is not None
        if is_waited_for:
            assert deadline.at_ms <= match.first_turn_since_ms + limits.long_first_turn_ms

    @invariant()
    def nobody_sees_what_is_hidden(self) -> None:
        for viewer in Viewer:
            seen = [event_for(event, viewer) for event in self.events]
            assert [event.seq for event in seen] == [event.seq for event in self.events]
            shown = repr((seen, snapshot_of(self.room, viewer), summary_of(self.room)))
            assert SECRETS.invite not in shown
            assert SECRETS.watch not in shown
            for event, original in zip(seen, self.events, strict=True):
                is_hidden = getattr(original.event, "is_hidden", False)
                is_secret = isinstance(original.event, RoomOpened)
                assert isinstance(event.event, Withheld) == (is_hidden and viewer is Viewer.PLAYER)
                assert is_hidden or is_secret or event == original
        hidden_count = sum(line.is_hidden for line in self.room.chat)
        assert len(snapshot_of(self.room, Viewer.PLAYER).chat) == len(self.room.chat) - hidden_count
        head_of(self.room, TimestampMs(self.now_ms), connected={ANA})

    @invariant()
    def there_is_a_host_who_is_not_muted_and_offers_have_their_phase(self) -> None:
        assert not self.room.is_muted(self.room.host)
        assert len(set(self.room.offers)) == len(self.room.offers)
        for offer in self.room.offers:
            assert (offer.kind == "rematch") == (self.room.phase == "finished") or self.room.phase == "closed"


TestRoomMachine = RoomMachine.TestCase
TestRoomMachine.settings = settings(
    max_examples=60, stateful_step_count=60, suppress_health_check=list(HealthCheck)
)
