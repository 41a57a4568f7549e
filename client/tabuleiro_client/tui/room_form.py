"""What somebody fills in to make a room: fields with their texts, what is wrong with each, and the request.

No textual and no I/O. The fields come from the game's own list of options and from the settings of rooms; what a
value may be is asked of those, never decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from tabuleiro.clock import NO_CLOCK, TimeControl
from tabuleiro.clock.texts import parse_time_control
from tabuleiro.errors import GameOptionError, NotationError
from tabuleiro.protocol.messages import CreateRoom, QuickPlay, SeatRequest
from tabuleiro.rules import Game, registry
from tabuleiro.rules.options import ChoiceOption, IntOption, OptionSpec, OptionValue
from tabuleiro.rules.view import BoardView
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro.text import format_duration, parse_duration_ms
from tabuleiro_client.models.play_options import levels_to_offer

Opponent = Literal["person", "bot", "both", "bots"]

NO: Final = "no"
YES: Final = "yes"
NONE: Final = "none"
USUAL: Final = "as usual"
OWN: Final = "own choice"
OPTION: Final = "option:"
"""What the names of fields of the game's options begin with, so that they never meet a setting's."""

_DEFAULTS: Final = RoomSettings()
_LATE_BOT_AFTER: Final = "30s"
_OPPONENTS: Final[Mapping[str, str]] = {
    "person": "somebody who joins",
    "bot": "the computer",
    "both": "both at this keyboard",
    "bots": "two computers",
}
_BEGINS: Final[Mapping[str, str]] = {"me": "you begin", "other": "the other begins", "draw": "draw lots"}


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in. ``choices`` maps values to what they are called; ``None``: any text.

    ``empty_text`` is what stands in an empty field; ``heading`` is written above it, if there is one.
    """

    name: str
    label: str
    help: str
    choices: Mapping[str, str] | None = None
    empty_text: str = ""
    heading: str = ""


class RoomForm:
    """The form. ``values`` are the texts by the names of the fields, also of those not asked for now.

    ``levels`` are the computer players of each game, empty until the server has told; ``is_local`` leaves out
    what makes no sense on a server that is for this terminal alone, ``is_quick`` what whoever waits has decided.
    """

    submit_label = "start"
    """What the button is called that asks for what is filled in."""

    def __init__(self, opponent: Opponent = "bot", *, is_local: bool, is_quick: bool = False) -> None:
        self.is_local = is_local
        self.is_quick = is_quick
        if is_quick:
            self.submit_label = "play"
        self.levels: Mapping[str, Sequence[str]] = {}
        self.values: dict[str, str] = {
            "game": registry.names()[0],
            "opponent": opponent,
            "begins": "me",
            "clock": NONE,
            "private": NO,
            "casual": _yes_no(_DEFAULTS.is_casual),
            "hints": _yes_no(_DEFAULTS.hints),
            "undo": _yes_no(_DEFAULTS.may_undo),
            "late": NONE,
            "late-after": _LATE_BOT_AFTER,
            "stand-in": NONE,
            "away": format_duration(_DEFAULTS.away_after_ms),
            "quiet": _yes_no(_DEFAULTS.hides_watcher_chat),
            "downtime": _yes_no(_DEFAULTS.counts_downtime),
        }
        self._reset_game()

    @property
    def game(self) -> type[Game]:
        """The game chosen."""
        return registry.game_type(self.values["game"])

    @property
    def opponent(self) -> str:
        """Who plays whom: one of :data:`Opponent`."""
        return self.values["opponent"]

    def set(self, name: str, text: str) -> None:
        """Fill a field in; choosing a game or a preset fills in others as well."""
        self.values[name] = text
        if name == "game":
            self._reset_game()
        elif name == "preset" and text != OWN:
            self._fill_options({} if text == USUAL else self.game.presets[text])
        elif name.startswith(OPTION):
            self.values["preset"] = self._matching_preset()

    def know_levels(self, levels: Mapping[str, Sequence[str]]) -> None:
        """Take in the computer players that the server has."""
        self.levels = levels
        self._choose_levels()

    def fields(self) -> list[Field]:
        """What is to be filled in now, from the top."""
        players = [] if self.is_quick else self._player_fields()
        return [*self._game_fields(), *players, *self._room_fields()]

    def errors(self) -> dict[str, str]:
        """What is wrong, by the name of the field: empty when the room can be asked for."""
        found: dict[str, str] = {}
        options: dict[str, OptionValue] = {}
        for spec in self.game.option_specs:
            try:
                options |= self._option(spec)
            except GameOptionError as error:
                found[OPTION + spec.name] = f"expected {error.expected}"
        if not found:
            try:
                self.game.from_options(options)
            except GameOptionError as error:
                found[OPTION + error.option] = f"expected {error.expected}"
        asked = {field.name for field in self.fields()}
        for name in ("clock", "away", "late-after"):
            if name in asked and (problem := self._problem_of_time(name)):
                found[name] = problem
        if self.opponent in ("bot", "bots") and not self.levels.get(self.game.name):
            found["opponent"] = "this server has no computer players" if self.levels else "starting the server ..."
        return found

    def request(self) -> CreateRoom | QuickPlay:
        """What to ask the server for; only when there are no :meth:`errors`."""
        game, options, settings = self.game.name, self._options(), self._settings()
        if self.is_quick:
            return QuickPlay(id=0, game=game, options=options, settings=settings)
        return CreateRoom(id=0, game=game, options=options, seats=self._seats(), settings=settings)

    def preview(self) -> BoardView | None:
        """The position that the match would start from; ``None`` while something is wrong with the options."""
        try:
            return self.game.from_options(self._options()).initial_state().view()
        except GameOptionError:
            return None

    def _game_fields(self) -> list[Field]:
        titles = {name: registry.game_type(name).title for name in registry.names()}
        fields = [Field("game", "game", "", titles, heading="What is played")]
        presets = {USUAL: USUAL} | {name: name for name in self.game.presets}
        if self.values["preset"] == OWN:
            presets[OWN] = OWN
        if len(presets) > 1:
            fields.append(Field("preset", "preset", "fills the options in", presets))
        return fields + [_option_field(spec) for spec in self.game.option_specs]

    def _player_fields(self) -> list[Field]:
        opponents = dict(_OPPONENTS)
        if self.is_local:
            del opponents["person"]
        fields = [Field("opponent", "against", "", opponents, heading="Who plays")]
        first, second = self.game.sides
        levels = {level: level for level in self.levels.get(self.game.name, ())}
        if self.opponent == "bot":
            fields.append(Field("level", "level", "weakest first", levels))
        if self.opponent == "bots":
            fields.append(Field("level", f"level of {first}", "weakest first", levels))
            fields.append(Field("level-2", f"level of {second}", "weakest first", levels))
        if self.opponent in ("person", "bot"):
            fields.append(Field("begins", "who begins", f"{first} begins, {second} follows", _BEGINS))
        return fields

    def _room_fields(self) -> list[Field]:
        yes_no = {NO: NO, YES: YES}
        clock_help = "5+3, 10m+5x30s, 3d/turn, none"
        fields = [Field("clock", "time control", clock_help, heading="How it is played")]
        fields.append(Field("casual", "casual", "bots let you take back", yes_no))
        if self.values["casual"] == YES:
            fields.append(Field("hints", "hints", "you may ask what to play; all are told", yes_no))
        fields.append(Field("undo", "undo", "within a turn not complete", yes_no))
        if self.is_local or self.is_quick:
            return fields
        levels = {NONE: NONE} | {level: level for level in self.levels.get(self.game.name, ())}
        fields.append(Field("private", "private", "needs a secret, not listed", yes_no))
        if self.opponent == "person":
            fields.append(Field("late", "late bot", "takes the seat if nobody does", levels))
            if self.values["late"] != NONE:
                fields.append(Field("late-after", "late bot after", "of waiting, e.g. 30s or 5m"))
        fields += [
            Field("stand-in", "stand-in", "a bot plays for who is away", levels),
            Field("away", "away after", "so long, e.g. 2m or 1d"),
            Field("quiet", "quiet watchers", "what they say is hidden", yes_no),
            Field("downtime", "count downtime", "clocks run on in the meantime", yes_no),
        ]
        return fields

    def _reset_game(self) -> None:
        for name in [name for name in self.values if name.startswith(OPTION)]:
            del self.values[name]
        self.values["preset"] = USUAL
        self._fill_options({})
        self._choose_levels()

    def _fill_options(self, options: Mapping[str, OptionValue]) -> None:
        for spec in self.game.option_specs:
            value = options.get(spec.name, spec.default)
            self.values[OPTION + spec.name] = "" if value is None else str(value)

    def _matching_preset(self) -> str:
        """The preset whose options are the ones filled in."""
        try:
            filled = self.game.from_options(self._options()).options
        except GameOptionError:
            return OWN
        presets: dict[str, Mapping[str, OptionValue]] = {USUAL: {}, **self.game.presets}
        return next(
            (name for name, made in presets.items() if self.game.from_options(made).options == filled), OWN
        )

    def _choose_levels(self) -> None:
        levels = self.levels.get(self.game.name, ())
        for name in ("level", "level-2"):
            if self.values.get(name) not in levels:
                self.values[name] = next(iter(levels_to_offer(levels)), "")
        for name in ("late", "stand-in"):
            if self.values[name] not in (NONE, *levels):
                self.values[name] = NONE

    def _option(self, spec: OptionSpec) -> dict[str, OptionValue]:
        """The option of ``spec`` as filled in; empty when it is left to the game. Raises: GameOptionError."""
        text = self.values[OPTION + spec.name].strip()
        return {spec.name: spec.from_text(text)} if text or spec.default is not None else {}

    def _options(self) -> dict[str, OptionValue]:
        """All options as filled in. Raises: GameOptionError."""
        return {name: value for spec in self.game.option_specs for name, value in self._option(spec).items()}

    def _problem_of_time(self, name: str) -> str:
        """What is wrong with a time; empty when nothing is."""
        try:
            if name == "clock":
                self._time_control()
            elif name == "away":
                msgspec.convert({"away_after_ms": self._duration_ms("away")}, RoomSettings)
            else:
                msgspec.convert({"level": "any", "after_ms": self._duration_ms(name)}, LateBot)
        except NotationError as error:
            return f"expected {error.expected}"
        except msgspec.ValidationError:
            return "expected 5s to 14d" if name == "away" else "expected at most 1d"
        return ""

    def _time_control(self) -> TimeControl:
        text = self.values["clock"].strip()
        return parse_time_control(text) if text else NO_CLOCK

    def _duration_ms(self, name: str) -> int:
        return parse_duration_ms(self.values[name])

    def _seats(self) -> tuple[SeatRequest, SeatRequest]:
        me = SeatRequest("me")
        if self.opponent == "both":
            return me, me
        if self.opponent == "bots":
            return SeatRequest("bot", self.values["level"]), SeatRequest("bot", self.values["level-2"])
        other = SeatRequest("bot", self.values["level"]) if self.opponent == "bot" else SeatRequest("open")
        return (other, me) if self.values["begins"] == "other" else (me, other)

    def _settings(self) -> RoomSettings:
        values = self.values
        has_lots = values["begins"] == "draw" and self.opponent in ("person", "bot")
        common = RoomSettings(
            time_control=self._time_control(),
            is_casual=values["casual"] == YES,
            hints=values["casual"] == YES and values["hints"] == YES,
            may_undo=values["undo"] == YES,
            first="draw" if has_lots else "seated",
        )
        if self.is_local or self.is_quick:
            return common
        late = self.opponent == "person" and values["late"] != NONE
        return msgspec.structs.replace(
            common,
            is_private=values["private"] == YES,
            late_bot=LateBot(values["late"], self._duration_ms("late-after")) if late else None,
            stand_in_level=None if values["stand-in"] == NONE else values["stand-in"],
            away_after_ms=self._duration_ms("away"),
            hides_watcher_chat=values["quiet"] == YES,
            counts_downtime=values["downtime"] == YES,
        )


def _option_field(spec: OptionSpec) -> Field:
    label = spec.name.replace("_", " ")
    if isinstance(spec, ChoiceOption):
        return Field(OPTION + spec.name, label, spec.help, {choice: choice for choice in spec.choices})
    if isinstance(spec, IntOption):
        # A default of None is worked out by the game when the field is left empty.
        empty_text = "left open" if spec.default is None else ""
        return Field(OPTION + spec.name, label, f"{spec.low} to {spec.high}; {spec.help}", None, empty_text)
    return Field(OPTION + spec.name, label, spec.help, None, "the usual start")


def _yes_no(is_yes: bool) -> str:
    return YES if is_yes else NO
