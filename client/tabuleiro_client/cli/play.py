"""``tabuleiro play``: menus, or at once what the options say; each setting of a room has an option."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
import typer

from tabuleiro.descriptors import LevelSetting, YesNoSetting
from tabuleiro.errors import ConfigError, GameOptionError, NotationError, shown
from tabuleiro.ids import PLAYERS, Player, opponent
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.settings import ROOM_SETTINGS, ClockSetting, RoomSettings, room_setting
from tabuleiro_client.cli import completion
from tabuleiro_client.cli.completion import LEVELS, LEVELS_OF_SOME_GAMES
from tabuleiro_client.cli.options import (
    WHAT,
    WHERE,
    AsciiOption,
    CoordinatesOption,
    GameOptions,
    NameOption,
    PlainOption,
    PresetOption,
    SecretOption,
    ServerOption,
    SpokenOption,
    chosen_options,
    has_report_cells,
)
from tabuleiro_client.models.play_options import PlayOptions
from tabuleiro_client.text.standard_output import while_output_is_taken
from tabuleiro_client.text.terminal import can_draw

HOW: Final = "How it is played"

RoomOption = Annotated[
    str | None,
    typer.Option(
        "--room", metavar="CODE", help="Join this room; CODE-SECRET for a private one.", rich_help_panel=WHERE
    ),
]
QuickOption = Annotated[
    str | None,
    typer.Option(
        "--quick",
        metavar="GAME",
        help="Play against whoever waits for this game.",
        rich_help_panel=WHAT,
        autocompletion=completion.games,
    ),
]
GameOption = Annotated[
    str | None,
    typer.Option(
        "--game", metavar="GAME", help="Play this game.", rich_help_panel=WHAT, autocompletion=completion.games
    ),
]
BotOption = Annotated[
    str | None,
    typer.Option(
        "--bot",
        metavar="LEVEL",
        help=f"Play against a bot: {', '.join(LEVELS)}; in some games {', '.join(LEVELS_OF_SOME_GAMES)}.",
        rich_help_panel=WHAT,
        autocompletion=completion.levels,
    ),
]
SeatOption = Annotated[
    str | None,
    typer.Option(
        "--seat",
        metavar="SEAT",
        help="Your seat: first (who begins), second, or the side's name.",
        rich_help_panel=WHAT,
    ),
]


def _option(key: str, metavar: str | None = None) -> Any:
    """Return the option of a setting, with the help text of the table."""
    setting = room_setting(key)
    help_text = f"{setting.help[0].upper()}{setting.help[1:]}"
    if isinstance(setting, ClockSetting):
        help_text += f": {setting.expected}"
    name = f"--{key}/--no-{key}" if isinstance(setting, YesNoSetting) else f"--{key}"
    values = completion.levels if isinstance(setting, LevelSetting) else None
    return typer.Option(name, metavar=metavar, help=f"{help_text}.", rich_help_panel=HOW, autocompletion=values)


TimeOption = Annotated[str | None, _option("time", "CONTROL")]
PrivateOption = Annotated[bool | None, _option("private")]
CasualOption = Annotated[bool | None, _option("casual")]
HintsOption = Annotated[bool | None, _option("hints")]
DrawFirstOption = Annotated[bool | None, _option("draw-first")]
UndoOption = Annotated[bool | None, _option("undo")]
LateBotOption = Annotated[str | None, _option("late-bot", "LEVEL:TIME")]
StandInOption = Annotated[str | None, _option("stand-in", "LEVEL")]
AwayOption = Annotated[str | None, _option("away", "TIME")]
HideChatOption = Annotated[bool | None, _option("hide-watcher-chat")]
CountDowntimeOption = Annotated[bool | None, _option("count-downtime")]


# Longer than other functions: it takes a line for each option.
def play(
    server: ServerOption = None,
    room: RoomOption = None,
    secret: SecretOption = None,
    quick: QuickOption = None,
    game: GameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    bot: BotOption = None,
    seat: SeatOption = None,
    time: TimeOption = None,
    private: PrivateOption = None,
    casual: CasualOption = None,
    hints: HintsOption = None,
    draw_first: DrawFirstOption = None,
    undo: UndoOption = None,
    late_bot: LateBotOption = None,
    stand_in: StandInOption = None,
    away: AwayOption = None,
    hide_watcher_chat: HideChatOption = None,
    count_downtime: CountDowntimeOption = None,
    name: NameOption = None,
    plain_only: PlainOption = False,
    is_spoken: SpokenOption = False,
    ascii_only: AsciiOption = False,
    coordinates: CoordinatesOption = None,
) -> None:
    """Play a game: over a network, against a bot, or two at one keyboard."""
    settings = chosen_settings(
        {
            "time": time,
            "private": private,
            "casual": casual,
            "hints": hints,
            "draw-first": draw_first,
            "undo": undo,
            "late-bot": late_bot,
            "stand-in": stand_in,
            "away": away,
            "hide-watcher-chat": hide_watcher_chat,
            "count-downtime": count_downtime,
        }
    )
    typed = _Typed(server, room, secret, quick, game, preset, tuple(option or ()), bot, seat, settings)
    options = typed.play_options()
    if not (plain_only or is_spoken) and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        playing = launch.play(options, name=name, is_ascii=ascii_only, coordinates=coordinates)
        raise typer.Exit(asyncio.run(playing))
    is_report = has_report_cells(coordinates)
    asyncio.run(while_output_is_taken(_play(options, name, ascii_only, is_spoken, is_report)))


def chosen_settings(given: Mapping[str, str | bool | None]) -> RoomSettings:
    """Return the settings that options by their keys choose; ``None`` leaves one at its default.

    Raises:
        ConfigError: An option has no possible value.
    """
    values = {}
    for setting in ROOM_SETTINGS:
        value = given[setting.key]
        if isinstance(setting, YesNoSetting) and value is not None:
            values[setting.target] = setting.values[bool(value)]
        elif isinstance(value, str):
            try:
                values[setting.target] = setting.parse(value)
            except NotationError as error:
                raise ConfigError(f"--{setting.key}", shown(value), error.expected) from error
    return msgspec.structs.replace(RoomSettings(), **values)


@dataclass(frozen=True, slots=True)
class _Typed:
    """The options as they were typed."""

    server: str | None
    room: str | None
    secret: str | None
    quick: str | None
    game: str | None
    preset: str | None
    options: tuple[str, ...]
    bot: str | None
    seat: str | None
    settings: RoomSettings

    def play_options(self) -> PlayOptions:
        """Return the options that this means. Raises: ConfigError, GameOptionError."""
        self._check()
        game = self.game or self.quick
        if game is None and self._is_about_a_new_room:
            from tabuleiro.rules import registry

            game = registry.names()[0]
        options = {} if game is None else _checked_options(game, self.preset, self.options)
        return PlayOptions(
            server=None if self.server is None else parse_server_url(self.server),
            room=self.room,
            secret=self.secret,
            game=game,
            is_quick=self.quick is not None,
            options=options,
            level=self.bot,
            seat=None if self.seat is None else parse_seat(self.seat, game, options),
            settings=self.settings,
        )

    @property
    def _is_about_a_new_room(self) -> bool:
        return bool(self.preset or self.options or self.settings != RoomSettings())

    def _check(self) -> None:
        if self.room is not None and (self.game or self.bot or self._is_about_a_new_room):
            raise ConfigError(
                "--room", shown(self.room), "no --game, --preset, --option, --bot or settings beside it"
            )
        if self.quick is not None and (self.room or self.game or self.bot or self.seat):
            raise ConfigError("--quick", shown(self.quick), "no --room, --game, --bot or --seat beside it")
        if self.secret is not None and self.room is None:
            raise ConfigError("--secret", "a secret part", "--room CODE beside it")


async def _play(options: PlayOptions, name: str | None, is_ascii: bool, is_spoken: bool, is_report: bool) -> None:
    # Loaded for those who want lines only: the screens start quicker without.
    from tabuleiro_client.line import launch
    from tabuleiro_client.line.client import LineClient

    client = LineClient.of_this_process(
        is_ascii=is_ascii, name=name, is_spoken=is_spoken, has_report_cells=is_report
    )
    await launch.play(client, options)


def _checked_options(game: str, preset: str | None, option: Sequence[str]) -> dict[str, int | str]:
    options = chosen_options(game, preset, option)
    from tabuleiro.rules import registry

    registry.load(game, options)
    return options


def parse_seat(text: str, game: str | None, options: Mapping[str, int | str]) -> Player:
    """Read a seat: ``first``, ``second``, or what the side is called in ``game`` (``None``: in any game).

    The first seat is that of the player who begins with ``options``.

    Raises: GameOptionError.

    >>> parse_seat("second", None, {}), parse_seat("Blue", "virus-wars", {})
    (1, 0)
    """
    from tabuleiro.rules import registry

    word = text.strip().lower()
    names = registry.names() if game is None else (game,)
    sides = [registry.game_type(name).sides for name in names]
    if word in ("first", "second"):
        first: Player = 0 if game is None else registry.load(game, options).first_player
        return first if word == "first" else opponent(first)
    for player in PLAYERS:
        if word in {both[player] for both in sides}:
            return player
    known = dict.fromkeys(side for both in sides for side in both)
    raise GameOptionError("seat", text, f"first, second, or one of {', '.join(known)}")
