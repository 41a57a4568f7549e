"""The settings of a new room on a command line, an option for each descriptor of :mod:`tabuleiro.settings`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import typer

from tabuleiro.descriptors import YesNoSetting
from tabuleiro.errors import ConfigError, NotationError, shown
from tabuleiro.settings import ROOM_SETTINGS, ClockSetting, RoomSettings, room_setting


def _option(key: str, metavar: str | None = None) -> Any:
    """Return the option of a setting, with the help text of the table."""
    setting = room_setting(key)
    help_text = f"{setting.help[0].upper()}{setting.help[1:]}"
    if isinstance(setting, ClockSetting):
        help_text += f": {setting.expected}"
    name = f"--{key}/--no-{key}" if isinstance(setting, YesNoSetting) else f"--{key}"
    return typer.Option(name, metavar=metavar, help=f"{help_text}.")


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
