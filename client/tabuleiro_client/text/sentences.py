"""Sentences about a room: what happens in it, whose turn it is, and what time alone makes worth telling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tabuleiro.clock import flag_deadline_ms
from tabuleiro.ids import PLAYERS, SECOND_MS, AccountId, Player, TimestampMs, opponent
from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    BotSeated,
    Event,
    HintTaken,
    HostChanged,
    MatchEnded,
    MatchStarted,
    Muted,
    OfferEnded,
    OfferKind,
    OfferMade,
    RoomClosed,
    RoomResumed,
    Said,
    SeatFreed,
    SeatInfo,
    SeatsSwapped,
    SeatTaken,
    SettingsChanged,
    StandInSeated,
    TurnTakenBack,
)
from tabuleiro.protocol.messages import CHAT_MAX_CHARS, RoomHead
from tabuleiro.rules import Game, State
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro.rules.view import BoardView
from tabuleiro.text import counted, spell_duration
from tabuleiro_client.text.board import TextStyle, piece_glyph
from tabuleiro_client.text.clocks import first_turn_text
from tabuleiro_client.text.coordinates import coordinates_of
from tabuleiro_client.text.endings import ending_text, late_text, offer_end_text, offer_text
from tabuleiro_client.text.settings import settings_text

THOUGHT_TOLD_AFTER_MS: Final = 1500
LOW_TIMES_MS: Final = (30 * SECOND_MS, 10 * SECOND_MS)
FIRST_TURN_LOW_MS: Final = 10 * SECOND_MS
"""Time for a first turn at which it is told once more."""
_MAKESHIFT: Final = " (at random: the bot gave no answer in time)"


class Cast:
    """The names of the two players of a room, as one guest sees them.

    ``seats`` are the holders of both seats, ``own_seats`` the seats of whoever reads the sentences: none for a
    watcher, two for two people at one keyboard.
    """

    def __init__(
        self, game: Game, seats: tuple[SeatInfo, SeatInfo], own_seats: tuple[Player, ...], style: TextStyle
    ) -> None:
        self._game = game
        self._seats = seats
        self._own_seats = own_seats
        self._glyphs = side_glyphs(game, style)
        self._cells = coordinates_of(game, is_report=style.has_report_cells)

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides."""
        return self._game.sides

    def side(self, player: Player) -> str:
        """Return the side alone, e.g. ``blue``."""
        return self._game.sides[player]

    def side_with_glyph(self, player: Player) -> str:
        """Return the side and the glyph of its pieces, e.g. ``blue, x``."""
        glyph = self._glyphs[player]
        return f"{self.side(player)}, {glyph}" if glyph else self.side(player)

    def title(self, player: Player) -> str:
        """Name and side, e.g. ``rui (red, o)``; the side alone where names tell nothing apart."""
        name = self._seats[player].name
        if name is None or len(self._own_seats) == 2:
            side, _, glyph = self.side_with_glyph(player).partition(", ")
            return f"{side} ({glyph})" if glyph else side
        return f"{name} ({self.side_with_glyph(player)})"

    def actor(self, player: Player) -> str:
        """Return the doer of something: ``you``, a name, or a side."""
        if self._own_seats == (player,):
            return "you"
        name = self._seats[player].name
        return self.side(player) if name is None or len(self._own_seats) == 2 else name

    def opening(self) -> str:
        """Return the two players, first mover first."""
        first = self._game.first_player
        return f"{self.title(first)} against {self.title(opponent(first))}; {self.side(first)} begins"

    def sentence(self, event: Event) -> str:
        """Return an event as a sentence; empty for events that say nothing to people."""
        match event:
            case SeatTaken(seat=seat, name=name):
                return f"{name} sits down as {self.side_with_glyph(seat)}"
            case BotSeated(seat=seat, level=level):
                return f"a bot ({level}) sits down as {self.side_with_glyph(seat)}"
            case SeatFreed(seat=seat):
                return f"the seat of {self.side(seat)} is free again"
            case SeatsSwapped():
                return f"the players change seats: {self.title(0)}, {self.title(1)}"
            case SettingsChanged(settings=settings):
                return f"the host has changed the settings: {settings_text(settings) or 'all standard'}"
            case StandInSeated(seat=seat, level=level):
                return f"a bot ({level}) plays for {self.actor(seat)} until the return"
            case MatchStarted():
                return f"the match begins: {self.opening()}"
            case ActionsPlayed(player=player, actions=actions, by_stand_in=by_stand_in, is_makeshift=is_makeshift):
                actor = f"the bot, for {self.actor(player)}," if by_stand_in else self.actor(player)
                return f"{actor} played {self._cells.shown(' '.join(actions))}{_MAKESHIFT if is_makeshift else ''}"
            case HintTaken(player=player):
                return f"{self.actor(player)} {'take' if self.actor(player) == 'you' else 'takes'} a hint"
            case ActionsUndone(player=player):
                return f"{self.actor(player)} took the last actions back"
            case TurnTakenBack(player=player):
                return f"{self.actor(player)} took the last turn back"
            case OfferMade(kind=kind, player=player):
                return self.offer(kind, player)
            case OfferEnded(kind=kind, player=player, how=how):
                return offer_end_text(kind, self.actor(player), how)
            case MatchEnded(late_player=player) if player is not None:
                return late_text(self.actor(player))
            case MatchEnded(winner=winner, termination=termination):
                return self.ending(winner, termination)
            case _:
                return self._chat_sentence(event)

    def offer(self, kind: OfferKind, player: Player) -> str:
        """Return an offer that waits."""
        return offer_text(kind, self.actor(player))

    def _chat_sentence(self, event: Event) -> str:
        match event:
            case Said(name=name, text=text, is_player=is_player):
                return said(name, text, is_player=is_player)
            case Muted(name=name, is_muted=is_muted):
                return f"{name} is muted" if is_muted else f"{name} may chat again"
            case HostChanged(name=name):
                return f"{name} is the host of this room now"
            case RoomResumed(is_standstill=True):
                return "the server stood still for a while and goes on"
            case RoomResumed():
                return "the server was down and is back"
            case RoomClosed(reason=reason):
                return f"the room is closed: {reason}"
            case _:
                return ""

    def turn(self, state: State, view: BoardView | None = None) -> str:
        """Return the player to move, with the actions left of a turn of several; empty at the end of the game.

        ``view`` is the picture of ``state`` if it is there already.
        """
        player = state.to_move
        if player is None:
            return ""
        left = (view or state.view()).actions_left
        is_one_action = left == 1 and not state.actions_in_turn
        more = "" if left is None or is_one_action else f", {counted(left, 'action')} left"
        if self._own_seats == (player,):
            return f"your turn ({self.side_with_glyph(player)}){more}"
        return f"{self.title(player)} to move{more}"

    def ending(self, winner: Player | None, termination: str) -> str:
        """Return the ending of a match."""
        return ending_text(self._game.sides, winner, termination)

    def winner(self, winner: Player | None) -> str:
        """Return the last line of a match, for people and scripts alike."""
        return f"winner: {'nobody' if winner is None else self.title(winner)}"


def sentence_to(event: Event, account: AccountId) -> str:
    """Return the sentence for the guest ``account`` that an event is about; empty for other guests."""
    match event:
        case Muted(account=about, is_muted=is_muted) if about == account:
            return "the host has muted you: you cannot chat here" if is_muted else "you may chat again"
        case HostChanged(account=about) if about == account:
            return "you are the host of this room now"
        case _:
            return ""


def reach_lines(state: State) -> tuple[str, ...]:
    """Return how many cells each player reaches, on one line; none in games where nobody has to be walled in."""
    if not isinstance(state, VirusWarsState) or state.is_terminal:
        return ()
    first, second = state.game.sides
    counts = [state.accessible_to(player).bit_count() for player in PLAYERS]
    return (f"{first} reaches {counted(counts[0], 'cell')}, {second} {counts[1]}",)


def said(name: str, text: str, *, is_player: bool) -> str:
    """Return a line of chat."""
    return f"{name}{'' if is_player else ' (watching)'}: {text}"


def chat_problem(text: str) -> str:
    """Return the reason why ``text`` cannot be sent; empty when it can.

    >>> chat_problem("hello"), chat_problem("o" * 301)
    ('', 'that is 301 characters long: at most 300 can be sent at once')
    """
    if len(text) <= CHAT_MAX_CHARS:
        return ""
    return f"that is {len(text)} characters long: at most {CHAT_MAX_CHARS} can be sent at once"


@lru_cache(maxsize=64)
def side_glyphs(game: Game, style: TextStyle) -> tuple[str, str]:
    """Return the glyph of each side's pieces; empty where pieces belong to nobody, or nothing is drawn."""
    if style.is_spoken:
        return "", ""
    names = game.initial_state().view().piece_names

    def glyph(side: str) -> str:
        pieces = [piece for piece, name in names.items() if name.startswith(side)]
        return piece_glyph(pieces[0], style) if pieces else ""

    return glyph(game.sides[0]), glyph(game.sides[1])


@dataclass(frozen=True, slots=True)
class Notice:
    """At ``at_ms`` by the server's clock ``text`` becomes true, unless something happens before."""

    at_ms: int
    text: str


def timed_notices(head: RoomHead, cast: Cast, own_seats: tuple[Player, ...]) -> tuple[Notice, ...]:
    """Return the notices for the holder of ``own_seats`` that time alone brings, past ones included.

    A first turn is waited for, a bot thinks for long, a clock runs low, a win may be claimed. Waiting for them is
    left to the caller.
    """
    if head.phase != "playing":
        return ()
    return (
        *_first_turns(head, cast),
        *_thoughts(head, cast),
        *_low_times(head, cast, own_seats),
        *_claims(head, cast, own_seats),
    )


def _first_turns(head: RoomHead, cast: Cast) -> Iterator[Notice]:
    match = head.match
    if match is None or match.first_turn is None or match.to_move is None:
        return
    turn = match.first_turn
    for left_ms in {turn.limit_ms, min(turn.limit_ms, FIRST_TURN_LOW_MS)}:
        yield Notice(turn.until_ms - left_ms, first_turn_text(left_ms, cast.actor(match.to_move)))


def _thoughts(head: RoomHead, cast: Cast) -> Iterator[Notice]:
    if head.thinking is not None:
        name = head.seats[head.thinking.player].holder
        thinker = f"the bot, for {name.name}," if name.stand_in else cast.title(head.thinking.player)
        yield Notice(head.thinking.since_ms + THOUGHT_TOLD_AFTER_MS, f"{thinker} is thinking")


def _low_times(head: RoomHead, cast: Cast, own_seats: tuple[Player, ...]) -> Iterator[Notice]:
    clock = None if head.match is None else head.match.clock
    if clock is None or clock.running not in own_seats or clock.since_ms is None:
        return
    deadline_ms = flag_deadline_ms(head.settings.time_control, clock)
    for low_ms in LOW_TIMES_MS:
        if deadline_ms is not None and deadline_ms - low_ms > clock.since_ms:
            yield Notice(deadline_ms - low_ms, f"{spell_duration(low_ms)} left for {cast.side(clock.running)}")


def _claims(head: RoomHead, cast: Cast, own_seats: tuple[Player, ...]) -> Iterator[Notice]:
    due_ms = claim_due_ms(head, own_seats)
    if due_ms is not None:
        away = spell_duration(head.settings.away_after_ms)
        title = cast.title(opponent(own_seats[0]))
        text = f"{title} has been away for {away}: claim {claim_gain(head)}, or wait on"
        yield Notice(due_ms, text)


def claim_due_ms(head: RoomHead, own_seats: tuple[Player, ...]) -> TimestampMs | None:
    """Return the time from which the one opponent has been away for long enough to claim; ``None`` for never."""
    if head.phase != "playing" or len(own_seats) != 1 or head.settings.stand_in_level is not None:
        return None
    seat = head.seats[opponent(own_seats[0])]
    if seat.holder.kind != "person" or seat.away_since_ms is None:
        return None
    return TimestampMs(seat.away_since_ms + head.settings.away_after_ms)


def claim_gain(head: RoomHead) -> str:
    """Return the gain of a claim, as a verb with its object."""
    return "ends the match" if head.match is not None and head.match.can_abort else "takes the win"


def no_draws_text(game: Game) -> str:
    """Return why no draw can be offered."""
    return f"there are no draws in {game.title}"
