"""Questions in line mode: choices by number, values with a default, games, boards, and the settings of a room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from tabuleiro.clock import TimeControl
from tabuleiro.descriptors import LevelSetting, PositionSetting, YesNoSetting
from tabuleiro.errors import GameOptionError, TabuleiroError
from tabuleiro.rules import Game, registry
from tabuleiro.rules.options import OptionValue, parse_option
from tabuleiro.settings import (
    ROOM_SETTINGS,
    LateBotSetting,
    RoomSetting,
    RoomSettings,
    format_setting,
    room_setting,
)
from tabuleiro_client.line.terminal import LineReader, Screen
from tabuleiro_client.models.play_options import levels_to_offer

T = TypeVar("T")


class WentBack(Exception):
    """The person wants to return to the question before."""


class WentAway(Exception):
    """The person wants to leave the program, or the input has ended."""


def without_stop(answer: str) -> str:
    """Return an answer without the full stop that ends Prolog's input, where a number or a word comes before it.

    >>> without_stop("10."), without_stop("1.5"), without_stop("..."), without_stop("feup-a.")
    ('10', '1.5', '...', 'feup-a')
    """
    return answer[:-1] if answer[-2:-1].isalnum() and answer.endswith(".") else answer


class Menu:
    """Asks a person at ``screen`` who answers in ``lines``. Every question raises WentBack and WentAway."""

    def __init__(self, screen: Screen, lines: LineReader) -> None:
        self._screen = screen
        self._lines = lines

    async def choose(self, title: str, choices: Sequence[tuple[str, T]], *, heading: str = "") -> T:
        """Show numbered choices, under a ``heading`` of their columns, and return the chosen one's value.

        An empty answer means the first.
        """
        self._screen.say("", title, *([f"     {heading}"] if heading else []))
        for number, (text, _) in enumerate(choices, start=1):
            self._screen.say(f"  {number}  {text}")
        self._screen.say("  b  back", "  x  exit")
        while True:
            number_text = without_stop(await self._answer("number [1]: ")) or "1"
            if number_text.isascii() and number_text.isdigit() and 1 <= int(number_text[:6]) <= len(choices):
                return choices[int(number_text[:6]) - 1][1]
            self._screen.say(f"type a number from 1 to {len(choices)}, b to go back or x to exit")

    async def ask(self, question: str, read: Callable[[str], T], default: str = "") -> T:
        """Ask until ``read`` takes the answer; what it raises as TabuleiroError is shown."""
        shown_default = f" [{default}]" if default else ""
        while True:
            answer = without_stop(await self._answer(f"{question}{shown_default}: ")) or default
            if answer:
                try:
                    return read(answer)
                except TabuleiroError as error:
                    self._screen.say(str(error))

    async def ask_or_skip(self, question: str, read: Callable[[str], T]) -> T | None:
        """Ask as :meth:`ask`; an empty answer gives ``None``."""
        while True:
            answer = without_stop(await self._answer(f"{question} [Enter leaves it out]: "))
            if not answer:
                return None
            try:
                return read(answer)
            except TabuleiroError as error:
                self._screen.say(str(error))

    async def game(self) -> type[Game]:
        """Ask which game; don't if there is only one."""
        games = [registry.game_type(name) for name in registry.names()]
        if len(games) == 1:
            return games[0]
        return await self.choose("Which game?", [(game.title, game) for game in games])

    async def options(self, game: type[Game]) -> dict[str, OptionValue]:
        """Ask for the board: the standard one, a preset, or every option by itself."""
        usual = _listed(game.from_options({}).options)
        choices: list[tuple[str, Mapping[str, OptionValue] | None]] = [(f"standard: {usual}", {})]
        choices += [(f"{name}: {_listed(preset)}", preset) for name, preset in game.presets.items()]
        choices.append(("choose every option", None))
        while True:
            chosen = await self.choose(f"{game.title}: which board?", choices)
            if chosen is not None:
                return dict(chosen)
            try:
                return await self._every_option(game)
            except WentBack:
                continue

    async def level(self, levels: Sequence[str], title: str = "Which bot?") -> str:
        """Ask for the level of a bot; ``levels`` are the weakest first."""
        return await self.choose(title, [(level, level) for level in levels_to_offer(levels)])

    async def _every_option(self, game: type[Game]) -> dict[str, OptionValue]:
        while True:
            chosen: dict[str, OptionValue] = {}
            for spec in game.option_specs:
                if isinstance(spec, PositionSetting):
                    continue
                question = f"{spec.key}: {spec.help}; {spec.expected}"
                read = partial(parse_option, spec)
                if spec.default is not None:
                    chosen[spec.key] = await self.ask(question, read, str(spec.default))
                elif (value := await self.ask_or_skip(question, read)) is not None:
                    chosen[spec.key] = value
            try:
                game.from_options(chosen)
            except GameOptionError as error:
                self._screen.say(str(error))
                continue
            return chosen

    async def _answer(self, prompt: str) -> str:
        while True:
            self._screen.prompt(prompt)
            line = await self._lines.next_line()
            if line is None:
                raise WentAway
            self._screen.line_was_typed()
            if line.problem:
                self._screen.say(line.problem)
                continue
            match line.text.lower():
                case "b" | "back":
                    raise WentBack
                case "x" | "exit" | "q" | "quit":
                    raise WentAway
            return line.text


def _listed(options: Mapping[str, OptionValue]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


_LATE_BOT_AFTER = "60"


async def ask_settings(menu: Menu, levels: Sequence[str]) -> RoomSettings:
    """Ask for the settings of a room; ``levels`` are those of the bots for its game.

    Raises:
        WentBack, WentAway: The person left the question.
    """
    choices: list[tuple[str, RoomSettings | None]] = [
        ("standard: no clock, open to everybody", RoomSettings()),
        ("private: only for people with the invitation", RoomSettings(is_private=True)),
        ("choose every setting", None),
    ]
    while True:
        chosen = await menu.choose("What kind of room?", choices)
        if chosen is not None:
            return chosen
        try:
            return await _every_setting(menu, levels)
        except WentBack:
            continue


async def ask_time_control(menu: Menu) -> TimeControl:
    """Ask for the clock.

    Raises:
        WentBack, WentAway: The person left the question.
    """
    control: TimeControl = await _ask(menu, room_setting("time"), ())
    return control


async def _every_setting(menu: Menu, levels: Sequence[str]) -> RoomSettings:
    chosen: dict[str, Any] = {}
    for setting in ROOM_SETTINGS:
        if not setting.needs or chosen[room_setting(setting.needs).target]:
            chosen[setting.target] = await _ask(menu, setting, levels)
    return replace(RoomSettings(), **chosen)


async def _ask(menu: Menu, setting: RoomSetting, levels: Sequence[str]) -> Any:
    question = f"{setting.label}: {setting.help}"
    default = format_setting(RoomSettings(), setting)
    if isinstance(setting, YesNoSetting):
        return await menu.ask(question, setting.parse, default)
    if not isinstance(setting, LevelSetting | LateBotSetting):
        return await menu.ask(f"{question}; {setting.expected}", setting.parse, default)
    bots: list[tuple[str, str | None]] = [("nobody", None), *((f"{level}-bot", level) for level in levels)]
    level = await menu.choose(question, bots)
    if level is None or isinstance(setting, LevelSetting):
        return level
    return await menu.ask(
        f"{setting.label} after: seconds, or e.g. 5m",
        lambda text: setting.parse(f"{level}:{text}"),
        _LATE_BOT_AFTER,
    )
