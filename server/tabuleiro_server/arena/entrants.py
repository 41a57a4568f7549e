"""Who takes part in an arena: built-in levels, and programs that speak the engine protocol (server/BOTS.md)."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tabuleiro.errors import BotError, ConfigError, shown
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro_server.bots.levels import level_names

LABEL_MAX_CHARS: Final = 24
_LABELLED: Final = re.compile(r"([A-Za-z][\w.-]{0,23})=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entrant:
    """One who plays: a built-in ``level`` when ``command`` is empty, the program that it runs otherwise."""

    label: str
    level: str = ""
    command: tuple[str, ...] = ()


def parse_entrants(game: str, texts: Sequence[str]) -> tuple[Entrant, ...]:
    """Read the entrants of a command line: names of levels of ``game``, commands, or ``LABEL=`` before either.

    Those that would be called the same get numbers.

    Raises: ConfigError for fewer than two, BotError for a text that is neither, GameOptionError for the game.
    """
    if len(texts) < 2:
        raise ConfigError("arena", "ENGINE", "two engines or levels at least")
    taken: set[str] = set()
    entrants = []
    for text in texts:
        entrant = parse_entrant(game, text)
        label, number = entrant.label, 1
        while label in taken:
            number += 1
            label = f"{entrant.label} #{number}"
        taken.add(label)
        entrants.append(replace(entrant, label=label))
    return tuple(entrants)


def parse_entrant(game: str, text: str) -> Entrant:
    """Read one entrant. Raises: BotError when it is neither a level nor a program that is there.

    >>> parse_entrant("iris", "greedy")
    Entrant(label='greedy', level='greedy', command=())
    """
    labelled = _LABELLED.fullmatch(text.strip())
    label, what = (None, text.strip()) if labelled is None else (labelled[1], labelled[2].strip())
    if what in level_names(game):
        return Entrant(label or what, level=what)
    try:
        command = tuple(shlex.split(what))
    except ValueError as error:
        raise BotError(f"engine {shown(what)}: {error}") from error
    if not command or shutil.which(command[0]) is None:
        levels = ", ".join(level_names(game))
        raise BotError(
            f"engine {shown(what)} is neither a level of {game} ({levels}) nor a program that can be run"
        )
    return Entrant(label or _label(command), command=command)


def _label(command: Sequence[str]) -> str:
    """The words of a command without the folders that they are in, cut where it gets long."""
    return strip_controls(" ".join(Path(word).name for word in command))[:LABEL_MAX_CHARS].strip()
