"""The form for a new room: fields with their texts, the errors in each, and the request made of them.

No textual and no I/O. The fields are built from the descriptors of the game's options and of the settings of
rooms, which know the possible values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import msgspec

from tabuleiro.descriptors import (
    NO,
    NONE,
    YES,
    ChoiceSetting,
    GameOption,
    LevelSetting,
    NumberSetting,
    YesNoSetting,
)
from tabuleiro.errors import GameOptionError, NotationError
from tabuleiro.ids import Player
from tabuleiro.protocol.messages import CreateRoom, QuickPlay, RoomHead, SeatRequest
from tabuleiro.rules import Game, registry
from tabuleiro.rules.options import OptionValue, parse_option
from tabuleiro.rules.view import BoardView
from tabuleiro.settings import (
    ROOM_SETTINGS,
    ClockSetting,
    LateBotSetting,
    RoomSetting,
    RoomSettings,
    format_setting,
)
from tabuleiro.text import format_duration
from tabuleiro_client.models.play_options import levels_to_offer
from tabuleiro_client.text.rules import aim_of

Opponent = Literal["person", "bot", "both", "bots"]

CLOCKS: Final = ("none", "1+0", "3+2", "5+3", "10+5", "1d/turn", "3d/turn")
"""The usual clocks, to choose from."""
_CLOCK_HELP: Final = "PgDn chooses one; or 5, 10m+5x30s"
LATE: Final = "late-bot"
USUAL: Final = "standard"
OWN: Final = "custom"
OPTION: Final = "option:"
"""Prefix of the names of fields for the game's options, so that they never meet a setting's."""

MORE: Final = "more"
_MORE: Final[Mapping[str, str]] = {NO: "these few", YES: "everything"}

_AFTER: Final = "-after"
"""Suffix of the name of the field for the time after which a late bot comes."""

_LATE_BOT_AFTER: Final = "30s"
_ALONE: Final = frozenset({"time", "casual", "hints", "undo"})
"""The settings that make sense without other people on the server, and in quick play."""

_OPPONENTS: Final[Mapping[str, str]] = {
    "person": "somebody who joins",
    "bot": "a bot",
    "both": "both at this keyboard",
    "bots": "two bots",
}
_BEGINS: Final[Mapping[str, str]] = {"me": "you begin", "other": "the other begins", "draw": "at random"}


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in. ``choices`` maps values to what they are called; ``None``: any text.

    ``empty_text`` is what stands in an empty field; ``heading`` is written above it, if there is one. ``usual``
    are texts to choose from in a field that takes others too.
    """

    name: str
    label: str
    help: str
    choices: Mapping[str, str] | None = None
    empty_text: str = ""
    heading: str = ""
    usual: tuple[str, ...] = ()


class RoomForm:
    """The form. ``values`` are the texts by the names of the fields, also of those not asked for now.

    ``levels`` are the bots of each game, empty until the server has told; until then ``why_no_bots`` says why.
    ``is_local`` leaves out what makes no sense on a server that is for this terminal alone, ``is_quick`` what
    whoever waits has decided.
    """

    submit_label = "start"
    """What the button is called that asks for what is filled in."""

    def __init__(self, opponent: Opponent = "bot", *, is_local: bool, is_quick: bool = False) -> None:
        self.is_local = is_local
        self.is_quick = is_quick
        if is_quick:
            self.submit_label = "play"
        self.levels: Mapping[str, Sequence[str]] = {}
        self.why_no_bots = "starting the server ..."
        self.values: dict[str, str] = {
            "game": registry.names()[0],
            "opponent": opponent,
            "begins": "me",
            MORE: NO,
            LATE + _AFTER: _LATE_BOT_AFTER,
        }
        self._fill_settings(RoomSettings())
        self._reset_game()

    @property
    def game(self) -> type[Game]:
        """The game chosen."""
        return registry.game_type(self.values["game"])

    @property
    def opponent(self) -> str:
        """The kind of opponent: one of :data:`Opponent`."""
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
        """Take in the bots that the server has."""
        self.levels = levels
        self._choose_levels()

    def fields(self) -> list[Field]:
        """Return the fields to fill in: the few that a match needs, and the others if they are asked for."""
        players = [] if self.is_quick else self._player_fields()
        every = [*self._game_fields(), *players, *self._room_fields()]
        few = [field for field in every if field.name in self._few()]
        more = Field(MORE, "settings", "all have a usual value", _MORE)
        if self.values[MORE] == NO:
            return [*few, more]
        return [*few, more, *(field for field in every if field not in few)]

    def _few(self) -> tuple[str, ...]:
        """Return the names of the fields that a first match needs; who plays is known on this machine."""
        if self.is_quick:
            return ("game",)
        return ("game", "level", "level-2") if self.is_local else ("game", "opponent", "level", "level-2", "time")

    def is_last_of_few(self, name: str) -> bool:
        """Return whether nothing but the match itself comes after a field, as long as only few are shown."""
        names = [field.name for field in self.fields()]
        return names[-1] == MORE and names[-2:-1] == [name]

    def errors(self) -> dict[str, str]:
        """Return the errors by field; empty if the form is complete."""
        found: dict[str, str] = {}
        options: dict[str, OptionValue] = {}
        for spec in self.game.option_specs:
            try:
                options |= self._option(spec)
            except GameOptionError as error:
                found[OPTION + spec.key] = f"expected {error.expected}"
        if not found:
            try:
                self.game.from_options(options)
            except GameOptionError as error:
                found[OPTION + error.option] = f"expected {error.expected}"
        for setting in self._settings_asked():
            try:
                self._setting(setting)
            except NotationError as error:
                name = LATE + _AFTER if isinstance(setting, LateBotSetting) else setting.key
                found[name] = f"expected {error.expected}"
        if self.opponent in ("bot", "bots") and not self.levels.get(self.game.name):
            name = "level" if self.is_local else "opponent"
            found[name] = "this server has no bots" if self.levels else self.why_no_bots
        return found

    def request(self) -> CreateRoom | QuickPlay:
        """Return the request to the server; only if there are no :meth:`errors`."""
        game, options, settings = self.game.name, self._options(), self._settings()
        if self.is_quick:
            return QuickPlay(id=0, game=game, options=options, settings=settings)
        return CreateRoom(id=0, game=game, options=options, seats=self._seats(), settings=settings)

    def preview(self) -> BoardView | None:
        """Return the start position of the match; ``None`` if the options have errors."""
        try:
            return self.game.from_options(self._options()).initial_state().view()
        except GameOptionError:
            return None

    def _game_fields(self) -> list[Field]:
        titles = {name: registry.game_type(name).title for name in registry.names()}
        fields = [Field("game", "game", aim_of(self.game), titles, heading="What is played")]
        presets = {USUAL: USUAL} | {name: name for name in self.game.presets}
        if self.values["preset"] == OWN:
            presets[OWN] = OWN
        if len(presets) > 1:
            fields.append(Field("preset", "preset", "sets the options below", presets))
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
            beginner = self.game.sides[self._first_player()]
            fields.append(Field("begins", "who begins", f"{beginner} begins", _BEGINS))
        return fields

    def _room_fields(self) -> list[Field]:
        levels = {NONE: NONE} | {level: level for level in self.levels.get(self.game.name, ())}
        fields = []
        for setting in self._settings_asked():
            choices = None
            if isinstance(setting, YesNoSetting):
                choices = {NO: NO, YES: YES}
            elif isinstance(setting, LevelSetting | LateBotSetting):
                choices = levels
            # The help of a clock would leave no room for its forms, which nobody can guess.
            is_clock = isinstance(setting, ClockSetting)
            text, usual = (_CLOCK_HELP, CLOCKS) if is_clock else (setting.help, ())
            fields.append(Field(setting.key, setting.label, text, choices, usual=usual))
            if isinstance(setting, LateBotSetting) and self.values[LATE] != NONE:
                fields.append(Field(LATE + _AFTER, f"{setting.label} after", "of waiting, e.g. 30s or 5m"))
        return [replace(fields[0], heading="How it is played"), *fields[1:]]

    def _settings_asked(self) -> list[RoomSetting]:
        """Return the settings that are to be filled in now."""
        asked = []
        for setting in ROOM_SETTINGS:
            if (self.is_local or self.is_quick) and setting.key not in _ALONE:
                continue
            if setting.target == "first" or (setting.needs and self.values[setting.needs] == NO):
                continue
            if isinstance(setting, LateBotSetting) and self.opponent != "person":
                continue
            asked.append(setting)
        return asked

    def _setting(self, setting: RoomSetting) -> Any:
        """Return the value of a setting as filled in. Raises: NotationError."""
        text = self.values[setting.key]
        if isinstance(setting, LateBotSetting) and text != NONE:
            text += f":{self.values[LATE + _AFTER]}"
        return setting.parse(text.strip() or NONE)

    def _fill_settings(self, settings: RoomSettings) -> None:
        for setting in ROOM_SETTINGS:
            self.values[setting.key] = format_setting(settings, setting)
        if settings.late_bot is not None:
            self.values[LATE] = settings.late_bot.level
            self.values[LATE + _AFTER] = format_duration(settings.late_bot.after_ms)

    def _reset_game(self) -> None:
        for name in [name for name in self.values if name.startswith(OPTION)]:
            del self.values[name]
        self.values["preset"] = USUAL
        self._fill_options({})
        self._choose_levels()

    def _fill_options(self, options: Mapping[str, OptionValue]) -> None:
        for spec in self.game.option_specs:
            value = options.get(spec.key, spec.default)
            self.values[OPTION + spec.key] = "" if value is None else str(value)

    def _matching_preset(self) -> str:
        """Return the preset that has the options filled in."""
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
        for name in (LATE, "stand-in"):
            if self.values[name] not in (NONE, *levels):
                self.values[name] = NONE

    def _option(self, spec: GameOption) -> dict[str, OptionValue]:
        """Return the option of ``spec`` as filled in; empty if left to the game. Raises: GameOptionError."""
        text = self.values[OPTION + spec.key].strip()
        return {spec.key: parse_option(spec, text)} if text or spec.default is not None else {}

    def _options(self) -> dict[str, OptionValue]:
        """All options as filled in. Raises: GameOptionError."""
        return {name: value for spec in self.game.option_specs for name, value in self._option(spec).items()}

    def _seats(self) -> tuple[SeatRequest, SeatRequest]:
        me = SeatRequest("me")
        if self.opponent == "both":
            return me, me
        if self.opponent == "bots":
            return SeatRequest("bot", self.values["level"]), SeatRequest("bot", self.values["level-2"])
        other = SeatRequest("bot", self.values["level"]) if self.opponent == "bot" else SeatRequest("open")
        is_first = self.values["begins"] != "other"
        return (me, other) if is_first == (self._first_player() == 0) else (other, me)

    def _first_player(self) -> Player:
        """Return the player who begins by the options filled in; player 0 while these are no game."""
        try:
            return self.game.from_options(self._options()).first_player
        except GameOptionError:
            return 0

    def _settings(self) -> RoomSettings:
        chosen = {setting.target: self._setting(setting) for setting in self._settings_asked()}
        has_lots = self.values["begins"] == "draw" and self.opponent in ("person", "bot")
        return msgspec.structs.replace(RoomSettings(first="draw" if has_lots else "seated"), **chosen)


def _option_field(spec: GameOption) -> Field:
    if isinstance(spec, ChoiceSetting):
        return Field(OPTION + spec.key, spec.label, spec.help, {choice: choice for choice in spec.choices})
    if isinstance(spec, NumberSetting):
        # A default of None is worked out by the game when the field is left empty.
        empty_text = "left open" if spec.default is None else ""
        return Field(OPTION + spec.key, spec.label, f"{spec.low} to {spec.high}; {spec.help}", None, empty_text)
    return Field(OPTION + spec.key, spec.label, spec.help, None, "the standard start")


_BEGINS_IN_ROOM: Final[Mapping[str, str]] = {"me": "as seated", "draw": "at random"}


class SettingsForm(RoomForm):
    """The form for the room of ``head``; ``levels`` are the bots that its server has for its game."""

    submit_label = "change"

    def __init__(self, head: RoomHead, levels: Sequence[str]) -> None:
        super().__init__("person", is_local=False)
        self._before = settings = head.settings
        self.set("game", head.game)
        self._fill_options(head.options)
        self.know_levels({head.game: levels})
        self._fill_settings(settings)
        self.values["begins"] = "draw" if settings.first == "draw" else "me"

    def is_last_of_few(self, name: str) -> bool:
        return False

    def fields(self) -> list[Field]:
        """Return the fields that can be changed, from the top."""
        begins = Field(
            "begins", "who begins", "seat 1, or at random", _BEGINS_IN_ROOM, heading="From the next match on"
        )
        others = (replace(field, heading="") for field in self._room_fields())
        return [begins, *others]

    def _settings_asked(self) -> list[RoomSetting]:
        return [setting for setting in super()._settings_asked() if not setting.is_promise]

    def know_levels(self, levels: Mapping[str, Sequence[str]]) -> None:
        """Take in the bots of the room's server; those of another one mean nothing here."""
        if not self.levels:
            super().know_levels(levels)

    def change(self) -> RoomSettings:
        """Return the settings as filled in; only if there are no :meth:`errors`."""
        before = self._before
        return msgspec.structs.replace(
            self._settings(), is_private=before.is_private, counts_downtime=before.counts_downtime
        )
