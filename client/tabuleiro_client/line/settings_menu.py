"""Questions for the settings of a new room, one each, built from the descriptors of :mod:`tabuleiro.settings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tabuleiro.clock import TimeControl
from tabuleiro.descriptors import LevelSetting, YesNoSetting
from tabuleiro.settings import (
    ROOM_SETTINGS,
    LateBotSetting,
    RoomSetting,
    RoomSettings,
    format_setting,
    room_setting,
)
from tabuleiro_client.line.menu import Menu, WentBack

_LATE_BOT_AFTER = "60"


async def ask_settings(menu: Menu, levels: Sequence[str]) -> RoomSettings:
    """Ask for the settings of a room; ``levels`` are those of the bots for its game.

    Raises:
        WentBack, WentAway: The person left the question.
    """
    choices: list[tuple[str, RoomSettings | None]] = [
        ("as usual: no clock, open to everybody", RoomSettings()),
        ("private: for those who have the invitation", RoomSettings(is_private=True)),
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
