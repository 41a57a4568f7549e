"""The entrants of an arena and its games: every pair, sides swapped each round, all chance from one seed.

An entrant is a built-in level, an algorithm with its parameters, or a program that speaks the engine protocol
(server/BOTS.md).
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Final

from tabuleiro.errors import BotError, ConfigError, shown
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro_server.bots.algorithms import ALGORITHMS_TEXT, names_algorithm
from tabuleiro_server.bots.levels import check_values, find_level, level_names

LABEL_MAX_CHARS: Final = 24
_LABELLED: Final = re.compile(r"([A-Za-z][\w.-]{0,23})=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player of the arena: a ``level`` if ``command`` is empty, the program that it runs otherwise."""

    label: str
    level: str = ""
    command: tuple[str, ...] = ()


def parse_entrants(game: str, texts: Sequence[str]) -> tuple[Entrant, ...]:
    """Read the entrants of a command line: levels of ``game``, algorithms, commands, or ``LABEL=`` before one.

    Entrants with equal labels get numbers.

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
    """Read one entrant. Raises: BotError when it is neither a level nor an installed program.

    >>> parse_entrant("iris", "greedy"), parse_entrant("iris", "Deep=alpha-beta depth=2").level
    (Entrant(label='greedy', level='greedy', command=()), 'alpha-beta depth=2')
    """
    labelled = _LABELLED.fullmatch(text.strip())
    label, what = (None, text.strip()) if labelled is None else (labelled[1], labelled[2].strip())
    try:
        level = find_level(game, what)
    except BotError:
        if names_algorithm(what):
            raise
        return _program(game, label, what)
    check_values(game, level)
    return Entrant(label or level.name, level=level.name)


def _program(game: str, label: str | None, what: str) -> Entrant:
    try:
        command = tuple(shlex.split(what))
    except ValueError as error:
        raise BotError(f"engine {shown(what)}: {error}") from error
    if not command or shutil.which(command[0]) is None:
        levels = ", ".join(level_names(game))
        raise BotError(
            f"engine {shown(what)} is neither a level of {game} ({levels}) nor a program that can be run, "
            f"nor one of {ALGORITHMS_TEXT}"
        )
    return Entrant(label or _label(command), command=command)


def _label(command: Sequence[str]) -> str:
    """Return the words of a command without their folders, shortened if need be."""
    return strip_controls(" ".join(Path(word).name for word in command))[:LABEL_MAX_CHARS].strip()


SEED_LIMIT: Final = 2**31
"""All seeds are below this, so that they fit the option ``seed`` of every game and a C ``int``."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The common terms of all games of an arena.

    ``limit_ms`` is the time for a turn in milliseconds; a level thinks for its own limit if that is shorter. With
    ``max_nodes``, levels read no clock and search so many nodes a turn, or their own number of them if that is
    less: then the same terms give the same games on every machine. A game that has not ended after ``max_plies``
    actions is a draw.
    """

    game: str
    options: Options
    entrants: tuple[Entrant, ...]
    round_count: int
    seed: int
    limit_ms: int = 5_000
    max_plies: int = 1_000
    max_nodes: int | None = None

    @property
    def game_count(self) -> int:
        """The number of games to play."""
        return self.round_count * len(self.entrants) * (len(self.entrants) - 1) // 2


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game to be played: ``sides`` are the places in the list of entrants of player 0 and player 1.

    ``number`` and ``round`` count from 1. ``options`` are those of the game, with a random seed if it needs one;
    ``seeds`` are the seeds of player 0 and player 1.
    """

    number: int
    round: int
    sides: tuple[int, int]
    options: Options
    seeds: tuple[int, int]


def iter_pairings(terms: Terms) -> Iterator[Pairing]:
    """Yield all games, round after round: in each, every pair plays once. The same terms give the same games.

    Two successive rounds of the same pair start from the same random position, if any, with sides swapped.
    """
    game_type = registry.game_type(terms.game)
    pairs = list(combinations(range(len(terms.entrants)), 2))
    number = 0
    for turn in range(terms.round_count):
        for one, other in pairs:
            number += 1
            options = dict(terms.options)
            if game_type.needs_seed(options):
                options["seed"] = Random(f"{terms.seed} start {turn // 2} {one} {other}").randrange(SEED_LIMIT)
            chance = Random(f"{terms.seed} players {number}")
            sides = (one, other) if turn % 2 == 0 else (other, one)
            seeds = (chance.randrange(SEED_LIMIT), chance.randrange(SEED_LIMIT))
            yield Pairing(number, turn + 1, sides, options, seeds)
