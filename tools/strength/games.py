"""The pairs of levels that play each other for the page on strength, and the games they have played.

Games are kept as lines of JSON, so that a run can be interrupted and continued.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from tabuleiro.errors import ConfigError
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.arena.standings import Tally
from tabuleiro_server.bots.levels import RANDOM, SEARCH_LEVELS

NEXT_LEVEL_AIM: Final = 0.75
"""The score that a level must reach against the one below."""

REPORT_LEVEL_AIM: Final = 0.95
"""The score that the strongest level must reach against the best computer player of the game's report."""

REPORT_LEVELS: Final[Mapping[str, str]] = {
    VirusWars.name: "minimax-3",
    XeroG.name: "greedy",
    Iris.name: "greedy",
    Minefield.name: "greedy",
}
"""The best computer player of each game's report. Source: RULES.md, "Computer players of the reports"."""

NODE_CAPS: Final[Mapping[str, int]] = {
    VirusWars.name: 8_000,
    XeroG.name: 100_000,
    Iris.name: 6_000,
    Minefield.name: 2_400,
}
"""The most nodes a turn of any level for the page, so that it can be made in an evening.

Only ``expert`` may search further in a real match, and is stronger there. Against the report's player it gets no
more nodes than the level below has: if these are enough, more are too.
"""


@dataclass(frozen=True, slots=True)
class LevelPair:
    """Two levels of a game, and the score from 0 to 1 that ``stronger`` must reach.

    ``budgets`` are the nodes a turn of ``stronger`` and of ``weaker``, ``None`` if that one does not search.
    """

    game: str
    stronger: str
    weaker: str
    aim: float
    budgets: tuple[int, int | None]


def level_pairs(game: str, node_cap: int) -> tuple[LevelPair, ...]:
    """Return the pairs of ``game``: each searching level and the one below, then the best and the report's best.

    >>> [(pair.stronger, pair.weaker) for pair in level_pairs("iris", 100)][-2:]
    [('expert', 'hard'), ('expert', 'greedy')]
    """
    levels = SEARCH_LEVELS[game]
    names = [RANDOM.name, *(level.name for level in levels)]
    budgets = {level.name: min(level.max_nodes, node_cap) for level in levels}
    pairs = [
        LevelPair(game, stronger, weaker, NEXT_LEVEL_AIM, (budgets[stronger], budgets.get(weaker)))
        for weaker, stronger in itertools.pairwise(names)
    ]
    report_level = REPORT_LEVELS[game]
    pairs.append(LevelPair(game, names[-1], report_level, REPORT_LEVEL_AIM, (budgets[names[-2]], None)))
    return tuple(pairs)


class Measured(NamedTuple):
    """Games of ``master`` by time that were played once, as :mod:`tools.strength.duel` does.

    ``weights`` is the hash of those that its estimates had.
    """

    game: str
    weights: str
    opponent: str
    option: str
    move_ms: int
    day: str
    aim: float | None
    tally: Tally


MEASURED: Final[tuple[Measured, ...]] = (
    Measured(
        VirusWars.name,
        "d19eb5e2",
        "`expert` of commit 76782b4",
        "",
        300,
        "2026-11-29",
        0.70,
        Tally(191, 0, 9),
    ),
    Measured(
        VirusWars.name,
        "d19eb5e2",
        "`expert` of commit 76782b4",
        "",
        2000,
        "2026-11-30",
        0.70,
        Tally(36, 0, 4),
    ),
    Measured(
        XeroG.name,
        "14608891",
        "`expert`",
        "variant=xero-g",
        100,
        "2026-11-29",
        0.85,
        Tally(53, 0, 7),
    ),
    Measured(
        XeroG.name,
        "14608891",
        "`expert`",
        "variant=gyges",
        100,
        "2026-11-29",
        0.85,
        Tally(51, 0, 9),
    ),
    Measured(
        XeroG.name,
        "14608891",
        "`expert` of commit 76782b4",
        "variant=xero-g",
        300,
        "2026-11-29",
        0.85,
        Tally(183, 4, 13),
    ),
    Measured(
        XeroG.name,
        "14608891",
        "`expert` of commit 76782b4",
        "variant=gyges",
        300,
        "2026-11-29",
        0.85,
        Tally(90, 0, 11),
    ),
    Measured(
        XeroG.name,
        "14608891",
        "`expert` of commit 76782b4",
        "variant=xero-g",
        2000,
        "2026-11-29",
        0.85,
        Tally(36, 3, 1),
    ),
    Measured(
        Iris.name,
        "b004f1d7",
        "`expert` of commit 76782b4",
        "",
        300,
        "2026-11-29",
        0.70,
        Tally(148, 0, 52),
    ),
    Measured(
        Iris.name,
        "b004f1d7",
        "`expert` of commit 76782b4",
        "",
        2000,
        "2026-11-30",
        0.70,
        Tally(57, 0, 23),
    ),
    Measured(
        Minefield.name,
        "11373702",
        "`expert` of commit 76782b4",
        "",
        300,
        "2026-11-29",
        0.70,
        Tally(154, 0, 46),
    ),
    Measured(
        Minefield.name,
        "11373702",
        "`expert` of commit 76782b4",
        "",
        2000,
        "2026-11-30",
        0.70,
        Tally(30, 0, 10),
    ),
)
"""What is known of ``master`` with these weights: games by time cannot be made again on every machine."""


STRONGER: Final = 1
"""The place of the stronger level among the entrants of its pair's games."""


class PairGame(msgspec.Struct, frozen=True):
    """One game: round ``round`` (from 1) of two levels with so many nodes a turn, drawn from ``seed``.

    ``points`` are those of the stronger: 1, 0.5 or 0. ``seat`` is its seat, 0 or 1, ``plies`` the length of the
    game in actions.
    """

    game: str
    stronger: str
    weaker: str
    budgets: tuple[int, int | None]
    seed: int
    round: int
    seat: int
    points: float
    termination: str
    plies: int


class PairGames:
    """The games in the file ``path``; a missing file holds none."""

    def __init__(self, path: Path, seed: int) -> None:
        """Read the file. Raises: ConfigError when it holds anything else, or cannot be written."""
        self._path, self._seed = path, seed
        self._points: dict[tuple[LevelPair, int], float] = {}
        self._lines: list[PairGame] = []
        try:
            path.touch()
            for line in path.read_bytes().splitlines():
                self._lines.append(msgspec.json.decode(line, type=PairGame))
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigError(
                "strength", "--results", f"a file of results that can be added to ({error})"
            ) from error

    def add(self, pair: LevelPair, result: GameResult) -> None:
        """Add a game of ``pair``, in the file too."""
        pairing, winner = result.pairing, result.winner
        seat = pairing.sides.index(STRONGER)
        game = PairGame(
            pair.game,
            pair.stronger,
            pair.weaker,
            pair.budgets,
            self._seed,
            pairing.round,
            seat,
            0.5 if winner is None else float(winner == seat),
            result.termination,
            len(result.actions),
        )
        self._lines.append(game)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(game) + b"\n")

    def rounds_played(self, pair: LevelPair) -> set[int]:
        """Return the rounds of ``pair`` that need not be played again."""
        return {game.round for game in self._iter_games(pair)}

    def tally(self, pair: LevelPair, round_count: int) -> Tally:
        """Return the games of the first ``round_count`` rounds from the side of the stronger."""
        points = [game.points for game in self._iter_games(pair) if game.round <= round_count]
        return Tally(points.count(1.0), points.count(0.5), points.count(0.0))

    def _iter_games(self, pair: LevelPair) -> Iterator[PairGame]:
        """Yield the games of ``pair`` with the same budgets and the same seed."""
        wanted = (pair.game, pair.stronger, pair.weaker, pair.budgets, self._seed)
        for game in self._lines:
            if (game.game, game.stronger, game.weaker, game.budgets, game.seed) == wanted:
                yield game
