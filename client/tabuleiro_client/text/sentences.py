"""What happens in a room, as sentences for people. No terminal: texts in, texts out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from tabuleiro.errors import GameOptionError
from tabuleiro.ids import AccountId, Player, opponent
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
    OfferEnd,
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
from tabuleiro.rules import Game, State
from tabuleiro.rules.base import Termination
from tabuleiro.rules.view import BoardView
from tabuleiro_client.text.board import TextStyle, piece_glyph
from tabuleiro_client.text.settings import settings_text

_ENDINGS: Final[Mapping[str, str]] = {
    Termination.BLOCKED: "{winner} wins: {loser} has no legal action",
    Termination.BASE: "{winner} wins: a ship entered the base of {loser}",
    Termination.SCORE: "{winner} wins by the scores",
    Termination.CONNECTION: "{winner} wins: {winner} joined both edges",
    Termination.RESIGNATION: "{winner} wins: {loser} resigned",
    Termination.TIMEOUT: "{winner} wins: the time of {loser} is up",
    Termination.ABANDONED: "{winner} wins: {loser} stayed away",
}
_ENDINGS_WITHOUT_WINNER: Final[Mapping[str, str]] = {
    Termination.REPETITION: "a draw: the same position came up for the third time",
    Termination.SCORE: "a draw: the scores are equal",
    Termination.DEADLOCK: "a draw: neither side has a legal action",
    Termination.AGREEMENT: "a draw by agreement",
    Termination.ABORTED: "the match was aborted",
}

DEFAULT_BOARD: Final = "default board"
"""What is said of options that are all as usual."""

_MAKESHIFT: Final = " (at random: the computer gave no answer in time)"

_WISHES: Final[Mapping[OfferKind, str]] = {
    "draw": "for a draw",
    "takeback": "to take the last turn back",
    "rematch": "for a rematch",
}


class Cast:
    """What the two players of a room are called, as one guest sees it.

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

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides."""
        return self._game.sides

    def side(self, player: Player) -> str:
        """The side alone, e.g. ``blue``."""
        return self._game.sides[player]

    def side_with_glyph(self, player: Player) -> str:
        """The side and what its pieces look like, e.g. ``blue, x``."""
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
        """Who did something: ``you``, a name, or a side."""
        if self._own_seats == (player,):
            return "you"
        name = self._seats[player].name
        return self.side(player) if name is None or len(self._own_seats) == 2 else name

    def opening(self) -> str:
        """Who plays whom, first mover first."""
        return f"{self.title(0)} against {self.title(1)}; {self.side(0)} begins"

    def sentence(self, event: Event) -> str:
        """What happened; empty for events that say nothing to people here."""
        match event:
            case SeatTaken(seat=seat, name=name):
                return f"{name} sits down as {self.side_with_glyph(seat)}"
            case BotSeated(seat=seat, level=level):
                return f"a computer ({level}) sits down as {self.side_with_glyph(seat)}"
            case SeatFreed(seat=seat):
                return f"the seat of {self.side(seat)} is free again"
            case SeatsSwapped():
                return f"the players change seats: {self.title(0)}, {self.title(1)}"
            case SettingsChanged(settings=settings):
                return f"the host has changed the settings: {settings_text(settings) or 'all as usual'}"
            case StandInSeated(seat=seat, level=level):
                return f"a computer ({level}) plays for {self.actor(seat)} until the return"
            case MatchStarted():
                return f"the match begins: {self.opening()}"
            case ActionsPlayed(player=player, actions=actions, by_stand_in=by_stand_in, is_makeshift=is_makeshift):
                actor = f"the computer, for {self.actor(player)}," if by_stand_in else self.actor(player)
                return f"{actor} played {' '.join(actions)}{_MAKESHIFT if is_makeshift else ''}"
            case HintTaken(player=player):
                return f"{self.actor(player)} {'take' if self.actor(player) == 'you' else 'takes'} a hint"
            case ActionsUndone(player=player) | TurnTakenBack(player=player):
                return f"{self.actor(player)} took the last actions back"
            case OfferMade(kind=kind, player=player):
                return self.offer(kind, player)
            case OfferEnded(kind=kind, player=player, how=how):
                return self._offer_sentence(kind, player, how)
            case MatchEnded(winner=winner, termination=termination):
                return self.ending(winner, termination)
            case _:
                return self._talk_sentence(event)

    def _offer_sentence(self, kind: OfferKind, player: Player, how: OfferEnd | None) -> str:
        wish = _WISHES[kind]
        if how is not None:
            whose = "your wish" if self.actor(player) == "you" else f"the wish of {self.title(player)}"
            return f"{whose} {wish} {'has lapsed' if how == 'void' else f'was {how}'}"
        asks = "ask" if self.actor(player) == "you" else "asks"
        return f"{self.actor(player)} {asks} {wish}"

    def offer(self, kind: OfferKind, player: Player) -> str:
        """An offer that waits, with what its reader can do about it."""
        sentence = self._offer_sentence(kind, player, None)
        if len(self._own_seats) != 1:
            return sentence
        if player in self._own_seats:
            return f"{sentence} (decline withdraws it)"
        return f"{sentence}: accept or decline"

    def _talk_sentence(self, event: Event) -> str:
        match event:
            case Said(name=name, text=text, is_player=is_player):
                return said(name, text, is_player=is_player)
            case Muted(name=name, is_muted=is_muted):
                return f"{name} is muted" if is_muted else f"{name} may talk again"
            case HostChanged(name=name):
                return f"{name} is the host of this room now"
            case RoomResumed():
                return "the server was down and is back"
            case RoomClosed(reason=reason):
                return f"the room is closed: {reason}"
            case _:
                return ""

    def turn(self, state: State, view: BoardView | None = None) -> str:
        """Whose turn it is, and how many steps are left of a turn of several; empty at the end of the game.

        ``view`` is the picture of ``state`` if it is there already.
        """
        player = state.to_move
        if player is None:
            return ""
        left = (view or state.view()).actions_left
        is_one_action = left == 1 and not state.actions_in_turn
        steps = "" if left is None or is_one_action else f", {left} step{'' if left == 1 else 's'} left"
        if self._own_seats == (player,):
            return f"your turn ({self.side_with_glyph(player)}){steps}"
        return f"{self.title(player)} to move{steps}"

    def ending(self, winner: Player | None, termination: str) -> str:
        """How a match ended."""
        return ending_text(self._game.sides, winner, termination)

    def winner(self, winner: Player | None) -> str:
        """The last line of a match, for people and scripts alike."""
        return f"winner: {'nobody' if winner is None else self.title(winner)}"


def ending_text(sides: tuple[str, str], winner: Player | None, termination: str) -> str:
    """How a match ended, by the names of its sides.

    >>> ending_text(("black", "white"), 0, "resignation")
    'black wins: white resigned'
    """
    if winner is None:
        return _ENDINGS_WITHOUT_WINNER.get(termination, f"nobody wins: {termination}")
    if termination not in _ENDINGS:
        return f"{sides[winner]} wins: {termination}"
    return _ENDINGS[termination].format(winner=sides[winner], loser=sides[opponent(winner)])


def sentence_to(event: Event, account: AccountId) -> str:
    """What an event says to the guest ``account`` whom it is about; empty when it is about nobody or another."""
    match event:
        case Muted(account=about, is_muted=is_muted) if about == account:
            return "the host has muted you: you cannot talk here" if is_muted else "you may talk again"
        case HostChanged(account=about) if about == account:
            return "you are the host of this room now"
        case _:
            return ""


def said(name: str, text: str, *, is_player: bool) -> str:
    """A line of chat."""
    return f"{name}{'' if is_player else ' (watching)'}: {text}"


@lru_cache(maxsize=64)
def side_glyphs(game: Game, style: TextStyle) -> tuple[str, str]:
    """How the pieces of each side are drawn; empty where pieces belong to nobody, or nothing is drawn."""
    if style.is_spoken:
        return "", ""
    names = game.initial_state().view().piece_names

    def glyph(side: str) -> str:
        pieces = [piece for piece, name in names.items() if name.startswith(side)]
        return piece_glyph(pieces[0], style) if pieces else ""

    return glyph(game.sides[0]), glyph(game.sides[1])


def holder_text(seat: SeatInfo) -> str:
    """Who holds a seat, for lists."""
    if seat.kind == "open":
        return "(free)"
    return f"{seat.name} (bot)" if seat.kind == "bot" else str(seat.name)


def options_text(game: type[Game], options: Mapping[str, int | str]) -> str:
    """The options of a match in a few words: the preset's name, or what is not as usual.

    ``default board`` when everything is.
    """
    for name, preset in game.presets.items():
        if dict(game.from_options(preset).options) == dict(options):
            return name
    needed = {name: value for name, value in options.items() if name != "seed"}
    for name in tuple(needed):
        others = {other: value for other, value in needed.items() if other != name}
        if _are_same(game, others, needed):
            needed = others
    return " ".join(f"{name}={value}" for name, value in needed.items()) or DEFAULT_BOARD


def brief_options_text(game: type[Game], options: Mapping[str, int | str]) -> str:
    """As :func:`options_text`, for where others stand beside it: of a position, only that there is one."""
    others = {name: value for name, value in options.items() if name != "position"}
    if len(others) == len(options):
        return options_text(game, options)
    text = options_text(game, others)
    return "own position" if text == DEFAULT_BOARD else f"{text}, own position"


def _are_same(game: type[Game], some: Mapping[str, int | str], others: Mapping[str, int | str]) -> bool:
    """Whether both mean the same game; options that only go together may mean none by themselves."""
    try:
        return dict(game.from_options(some).options) == dict(game.from_options(others).options)
    except GameOptionError:
        return False
