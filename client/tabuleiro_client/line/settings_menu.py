"""Asking for the settings of a new room, one question each, and reading the answers."""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.clock import TimeControl, parse_time_control
from tabuleiro.errors import NotationError
from tabuleiro.ids import DAY_MS, SECOND_MS
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.line.menu import Menu, WentBack

_DAY_S = DAY_MS // SECOND_MS
_AWAY_MIN_S = 5
_NO_BOT = "nobody"


async def ask_settings(menu: Menu, levels: Sequence[str]) -> RoomSettings:
    """Ask how the room shall be; ``levels`` are those of the computers for its game.

    Raises: WentBack, WentAway.
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
    """Ask for the clock. Raises: WentBack, WentAway."""
    return await menu.ask("clock, e.g. 5+3, 10m+5x30s, 60s/turn, 3d/turn", parse_time_control, "none")


async def _every_setting(menu: Menu, levels: Sequence[str]) -> RoomSettings:
    control = await ask_time_control(menu)
    is_private = await menu.ask("private, entered by an invitation only", read_yes, "no")
    is_casual = await menu.ask("casual: computers take turns back, hints are possible", read_yes, "yes")
    hints = is_casual and await menu.ask("players may ask what to play, and all are told", read_yes, "no")
    is_drawn = await menu.ask("draw lots who begins", read_yes, "no")
    may_undo = await menu.ask("actions of a turn begun may be undone", read_yes, "yes")
    late_bot = await _ask_late_bot(menu, levels)
    stand_in = await _ask_level(menu, levels, "Who plays for a player who stays away?")
    away_s = await menu.ask("seconds without a connection until a player is away", read_away_s, "120")
    hides_chat = await menu.ask("players don't see what watchers say", read_yes, "no")
    counts_downtime = await menu.ask("clocks run on while the server is down", read_yes, "no")
    return RoomSettings(
        time_control=control,
        is_private=is_private,
        is_casual=is_casual,
        first="draw" if is_drawn else "seated",
        may_undo=may_undo,
        late_bot=late_bot,
        stand_in_level=stand_in,
        away_after_ms=away_s * SECOND_MS,
        hides_watcher_chat=hides_chat,
        counts_downtime=counts_downtime,
        hints=hints,
    )


async def _ask_late_bot(menu: Menu, levels: Sequence[str]) -> LateBot | None:
    level = await _ask_level(menu, levels, "Who takes the seat when no person comes?")
    if level is None:
        return None
    return LateBot(level, await menu.ask("after how many seconds", read_late_s, "60") * SECOND_MS)


async def _ask_level(menu: Menu, levels: Sequence[str], title: str) -> str | None:
    choices: list[tuple[str, str | None]] = [(_NO_BOT, None), *((f"a computer: {each}", each) for each in levels)]
    return await menu.choose(title, choices)


def read_yes(text: str) -> bool:
    """Read yes or no. Raises: NotationError."""
    match text.strip().lower():
        case "yes" | "y":
            return True
        case "no" | "n":
            return False
    raise NotationError(text, "yes or no")


def read_away_s(text: str) -> int:
    """Read after how many seconds without a connection somebody is away. Raises: NotationError."""
    return _read_seconds(text, _AWAY_MIN_S, 14 * _DAY_S)


def read_late_s(text: str) -> int:
    """Read how many seconds a late bot waits. Raises: NotationError."""
    return _read_seconds(text, 0, _DAY_S)


def _read_seconds(text: str, low_s: int, high_s: int) -> int:
    digits = text.strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(high_s))
    if not is_number or not low_s <= int(digits) <= high_s:
        raise NotationError(text, f"a whole number from {low_s} to {high_s}")
    return int(digits)
