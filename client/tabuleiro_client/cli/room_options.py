"""The settings of a new room on a command line: the options, and what they mean together."""

from __future__ import annotations

from typing import Annotated

import typer

from tabuleiro.clock import NO_CLOCK, TIME_CONTROL_FORMS, TimeControl, parse_time_control
from tabuleiro.errors import ConfigError, NotationError, shown
from tabuleiro.ids import DAY_MS, SECOND_MS
from tabuleiro.settings import LateBot, RoomSettings

_DAY_S = DAY_MS // SECOND_MS

TimeOption = Annotated[
    str | None, typer.Option("--time", metavar="CONTROL", help=f"The clock: {TIME_CONTROL_FORMS}.")
]
PrivateOption = Annotated[bool, typer.Option("--private", help="Unlisted; people come by an invitation.")]
CasualOption = Annotated[
    bool, typer.Option("--casual/--no-casual", help="Whether bots take turns back and hints are possible.")
]
HintsOption = Annotated[bool, typer.Option("--hints", help="Players may ask what to play; casual rooms only.")]
DrawFirstOption = Annotated[bool, typer.Option("--draw-first", help="Draw lots who begins.")]
NoUndoOption = Annotated[bool, typer.Option("--no-undo", help="Nothing of a turn begun is undone.")]
LateBotOption = Annotated[
    str | None,
    typer.Option("--late-bot", metavar="LEVEL:SECONDS", help="A computer comes if nobody has after so long."),
]
StandInOption = Annotated[
    str | None, typer.Option("--stand-in", metavar="LEVEL", help="A computer that plays for who stays away.")
]
AwayOption = Annotated[
    int,
    typer.Option(
        "--away", metavar="SECONDS", min=5, max=14 * _DAY_S, help="How long without a connection is away."
    ),
]
HideChatOption = Annotated[
    bool, typer.Option("--hide-watcher-chat", help="Players don't see what watchers say during the match.")
]
CountDowntimeOption = Annotated[
    bool, typer.Option("--count-downtime", help="Clocks run on while the server is down.")
]

USUAL_AWAY_S = RoomSettings().away_after_ms // SECOND_MS


def chosen_time_control(text: str | None) -> TimeControl:
    """Return the clock that ``--time`` names; none when it is left out. Raises: ConfigError."""
    if text is None:
        return NO_CLOCK
    try:
        return parse_time_control(text)
    except NotationError as error:
        raise ConfigError("--time", shown(text), error.expected) from error


def chosen_late_bot(text: str | None) -> LateBot | None:
    """Return the bot that ``--late-bot`` names. Raises: ConfigError.

    >>> chosen_late_bot("random:90")
    LateBot(level='random', after_ms=90000)
    """
    if text is None:
        return None
    level, _, seconds = text.rpartition(":")
    is_number = seconds.isascii() and seconds.isdigit() and len(seconds) <= len(str(_DAY_S))
    if not level or not is_number or int(seconds) > _DAY_S:
        raise ConfigError("--late-bot", shown(text), f"LEVEL:SECONDS, e.g. random:60, at most {_DAY_S} seconds")
    return LateBot(level, int(seconds) * SECOND_MS)
