"""Options and arguments that several commands share, and the game that they choose together.

The games are loaded when one is chosen, so that a command without one starts quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import typer

from tabuleiro.errors import ConfigError
from tabuleiro.rules import Game
from tabuleiro.rules.options import OptionValue
from tabuleiro_client.cli import completion

WHAT: Final = "What is played"
WHERE: Final = "Where, and as whom"
SHOWN: Final = "How it is shown"
"""Groups of options in the help of a command that has many."""

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        "-s",
        metavar="URL",
        help="The server, e.g. ws://HOST:8765.",
        rich_help_panel=WHERE,
        autocompletion=completion.servers,
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", "-n", metavar="NAME", help="Who you are on the server.", rich_help_panel=WHERE),
]
PlainOption = Annotated[
    bool, typer.Option("--plain", help="Line by line, for screen readers and scripts.", rich_help_panel=SHOWN)
]
SpokenOption = Annotated[
    bool,
    typer.Option(
        "--spoken", help="Each event in one line of words, no boards; line by line.", rich_help_panel=SHOWN
    ),
]
SecretOption = Annotated[
    str | None,
    typer.Option("--secret", metavar="SECRET", help="The secret part of a private room.", rich_help_panel=WHERE),
]
AsciiOption = Annotated[bool, typer.Option("--ascii", help="Write nothing beyond ASCII.", rich_help_panel=SHOWN)]
CoordinatesOption = Annotated[
    Literal["own", "report"] | None,
    typer.Option(
        "--coordinates",
        metavar="own|report",
        help="Name cells as this program does, or as the reports of the games; else by the setting.",
        rich_help_panel=SHOWN,
    ),
]
SourceArgument = Annotated[
    str, typer.Argument(metavar="CODE|FILE", help="The code of a room, a file with records, or - .")
]
MatchOption = Annotated[
    int | None,
    typer.Option("--match", metavar="N", min=1, help="Which match of the room or file; else the last one."),
]
TurnOption = Annotated[
    int | None,
    typer.Option("--turn", metavar="N", min=1, help="The position before this turn; else the last one."),
]
ListedGameOption = Annotated[
    str | None,
    typer.Option(
        "--game",
        metavar="GAME",
        help="The game of a list of moves that does not name it.",
        autocompletion=completion.games,
    ),
]
PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Start from the options of a preset.",
        rich_help_panel=WHAT,
        autocompletion=completion.presets,
    ),
]
GameOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="NAME=VALUE",
        help="Set an option of the game; may be repeated.",
        rich_help_panel=WHAT,
        autocompletion=completion.game_options,
    ),
]


def has_report_cells(coordinates: str | None) -> bool:
    """Return True if cells are to be named as in the reports, by the option or else by the setting."""
    if coordinates is not None:
        return coordinates == "report"
    from tabuleiro_client.net.files import kept_setting

    return kept_setting("has_report_cells") is True


def chosen_options(
    name: str, preset_name: str | None, option_texts: Sequence[str] | None
) -> dict[str, OptionValue]:
    """Return the options that a preset and ``name=value`` texts give together; the texts win, no defaults.

    Raises: GameOptionError for an unknown game, preset or option, or a value out of its range.
    """
    from tabuleiro.rules import registry

    return registry.read_options(name, option_texts or (), preset_name)


def listed_game(name: str | None, preset_name: str | None, option_texts: Sequence[str] | None) -> Game | None:
    """Return the game of a list of moves, ``None`` if the command line names none.

    Raises: GameOptionError as :func:`chosen_game`; ConfigError for options without a game.
    """
    if name is not None:
        return chosen_game(name, preset_name, option_texts)
    if preset_name is not None:
        raise ConfigError("--preset", preset_name, "--game beside it")
    if option_texts:
        raise ConfigError("--option", option_texts[0], "--game beside it")
    return None


def chosen_game(name: str, preset_name: str | None, option_texts: Sequence[str] | None) -> Game:
    """Return the game that a name, a preset and ``name=value`` texts choose together.

    Raises: GameOptionError as :func:`chosen_options`, or for options that don't fit each other.
    """
    from tabuleiro.rules import registry

    return registry.load(name, chosen_options(name, preset_name, option_texts))
