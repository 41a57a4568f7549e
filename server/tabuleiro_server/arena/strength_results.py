"""The games played for the page on strength, kept as lines of JSON so that a run can be broken off and go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from tabuleiro.errors import ConfigError
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.arena.standings import Tally
from tabuleiro_server.arena.strength_pairs import LevelPair

STRONGER: Final = 1
"""The place of the stronger level among the entrants of its pair's games."""


class PairGame(msgspec.Struct, frozen=True):
    """One game: round ``round`` (from 1) of two levels with so many nodes a turn, drawn from ``seed``.

    ``points`` are those of the stronger: 1, 0.5 or 0. ``seat`` is where it sat, 0 or 1, ``plies`` the length of
    the game in actions.
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
    """All games in the file ``path``, and those that are added to it; a missing file holds none."""

    def __init__(self, path: Path, seed: int) -> None:
        """Read the file. Raises: ConfigError when it is none of ours, or cannot be written."""
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
        """The rounds of ``pair`` that need not be played again."""
        return {game.round for game in self._iter_games(pair)}

    def tally(self, pair: LevelPair, round_count: int) -> Tally:
        """The games of the first ``round_count`` rounds from the side of the stronger."""
        points = [game.points for game in self._iter_games(pair) if game.round <= round_count]
        return Tally(points.count(1.0), points.count(0.5), points.count(0.0))

    def _iter_games(self, pair: LevelPair) -> Iterator[PairGame]:
        """Games of the same levels with other budgets or another seed are of no use."""
        wanted = (pair.game, pair.stronger, pair.weaker, pair.budgets, self._seed)
        for game in self._lines:
            if (game.game, game.stronger, game.weaker, game.budgets, game.seed) == wanted:
                yield game
