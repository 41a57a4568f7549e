"""The results of an arena: scores with intervals and Elo differences, as a cross table and as values for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from tabuleiro.rules import registry
from tabuleiro_server.arena.play import FAULT, Effort, GameResult
from tabuleiro_server.arena.schedule import Terms

Z_95: Final = 1.959964
"""Standard deviations to either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The games of one entrant against another, or against all, from its side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def game_count(self) -> int:
        """The number of games played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """The points: one for a win, half of one for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float | None:
        """The part of the possible points, 0 to 1; ``None`` without games."""
        return self.points / self.game_count if self.game_count else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the score after Wilson, which is correct near 0 and 1 too; ``None`` without games.

        A draw counts as half a win, which makes it a little too wide.
        """
        if self.score is None:
            return None
        count, spread = self.game_count, Z_95**2
        middle = (self.score + spread / (2 * count)) / (1 + spread / count)
        half = math.sqrt(self.score * (1 - self.score) / count + spread / (4 * count**2))
        half *= Z_95 / (1 + spread / count)
        # The bounds at scores of 0 and 1 are exact; rounding of floats would move them.
        return min(self.score, max(0.0, middle - half)), max(self.score, min(1.0, middle + half))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


def elo_difference(score: float) -> float:
    """Return the Elo difference of a score of 0 to 1; infinite at either end.

    >>> round(elo_difference(0.75)), elo_difference(1)
    (191, inf)
    """
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


class Standings:
    """Every entrant's games against every other; entrants are named by their place in the list."""

    def __init__(self, entrant_count: int, results: Iterable[GameResult]) -> None:
        self._tallies = [[Tally() for _ in range(entrant_count)] for _ in range(entrant_count)]
        for result in results:
            for side in (0, 1):
                one, other = result.pairing.sides[side], result.pairing.sides[1 - side]
                self._tallies[one][other] += _single(result, side)

    def between(self, one: int, other: int) -> Tally:
        """Return the games of ``one`` against ``other``."""
        return self._tallies[one][other]

    def total(self, one: int) -> Tally:
        """Return all games of ``one``."""
        return sum(self._tallies[one], Tally())

    def ranking(self) -> list[int]:
        """Return the entrants, best first; those with equal scores in their order."""
        return sorted(range(len(self._tallies)), key=lambda one: -(self.total(one).score or 0.0))


def _single(result: GameResult, side: int) -> Tally:
    if result.winner is None:
        return Tally(draws=1)
    return Tally(wins=1) if result.winner == side else Tally(losses=1)


class Efforts:
    """The work of every entrant over all games, and the lengths of the games."""

    def __init__(self, entrant_count: int, results: Sequence[GameResult]) -> None:
        self._sums = [Effort() for _ in range(entrant_count)]
        self._turn_counts: list[list[int]] = [[] for _ in range(entrant_count)]
        for result in results:
            for place, effort in zip(result.pairing.sides, result.efforts, strict=True):
                known = self._sums[place]
                nodes = known.nodes if effort.nodes is None else (known.nodes or 0) + effort.nodes
                self._sums[place] = Effort(known.turns + effort.turns, known.thought_ms + effort.thought_ms, nodes)
                self._turn_counts[place].append(sum(each.turns for each in result.efforts))

    def ms_a_turn(self, one: int) -> float | None:
        """Return the mean time of a turn of ``one``, in milliseconds; ``None`` without turns."""
        effort = self._sums[one]
        return effort.thought_ms / effort.turns if effort.turns else None

    def nodes_a_turn(self, one: int) -> float | None:
        """Return the mean number of positions that ``one`` looked at in a turn; ``None`` if that is not known."""
        effort = self._sums[one]
        return effort.nodes / effort.turns if effort.turns and effort.nodes is not None else None

    def turns_a_game(self, one: int) -> float | None:
        """Return the mean length of the games of ``one``, in turns of both sides; ``None`` without games."""
        counts = self._turn_counts[one]
        return sum(counts) / len(counts) if counts else None


def first_mover(results: Iterable[GameResult]) -> Tally:
    """Return all games from the side that moves first."""
    return sum((_single(result, 0) for result in results), Tally())


NOT_PLAYED = "-"


def format_results(terms: Terms, results: Sequence[GameResult]) -> list[str]:
    """Return the lines of the cross table, of each pair's score and Elo difference, and of all faults."""
    standings = Standings(len(terms.entrants), results)
    lines = [_headline(terms, len(results)), ""]
    lines += _aligned(_cross_rows(terms, standings))
    lines += ["", "error bars are 95 % intervals", ""]
    lines += _aligned(_pair_rows(terms, standings))
    lines += ["", *_aligned(_effort_rows(terms, standings, results))]
    lines += ["", _lengths_line(results)] if results else []
    in_order = sorted(results, key=lambda result: result.pairing.number)
    faults = [_fault_line(terms, result) for result in in_order if result.termination == FAULT]
    return [*lines, *(["", "lost by a fault:", *faults] if faults else [])]


def report(terms: Terms, results: Sequence[GameResult]) -> dict[str, Any]:
    """Return the same, and every game, as values for JSON; an infinite Elo difference is ``None``."""
    standings = Standings(len(terms.entrants), results)
    efforts = Efforts(len(terms.entrants), results)
    places = range(len(terms.entrants))
    labels = [entrant.label for entrant in terms.entrants]
    return {
        "game": terms.game,
        "options": dict(terms.options),
        "rounds": terms.round_count,
        "seed": terms.seed,
        "move_time_ms": terms.limit_ms,
        "max_plies": terms.max_plies,
        "is_complete": len(results) == terms.game_count,
        "players": [
            {
                "label": entrant.label,
                "level": entrant.level or None,
                "command": list(entrant.command) or None,
                **_tally_values(standings.total(place)),
                "ms_a_turn": efforts.ms_a_turn(place),
                "nodes_a_turn": efforts.nodes_a_turn(place),
                "turns_a_game": efforts.turns_a_game(place),
            }
            for place, entrant in enumerate(terms.entrants)
        ],
        "pairs": [
            {"players": [labels[one], labels[other]], **_tally_values(standings.between(one, other))}
            for one, other in combinations(places, 2)
        ],
        "first_mover": _tally_values(first_mover(results)),
        "games": [_game_values(labels, result) for result in sorted(results, key=lambda one: one.pairing.number)],
    }


def format_progress(terms: Terms, results: Sequence[GameResult]) -> str:
    """Return the progress of an arena, with all points, as one line."""
    standings = Standings(len(terms.entrants), results)
    points = (f"{terms.entrants[one].label} {standings.total(one).points:g}" for one in standings.ranking())
    return f"{len(results)}/{terms.game_count} games  {', '.join(points)}"


def _headline(terms: Terms, played_count: int) -> str:
    chosen = ", ".join(f"{name}={value}" for name, value in terms.options.items())
    title = registry.game_type(terms.game).title + (f" ({chosen})" if chosen else "")
    games = f"{played_count} of {terms.game_count} games" if played_count < terms.game_count else "all games"
    rounds = "1 round" if terms.round_count == 1 else f"{terms.round_count} rounds"
    return f"{title}: {rounds}, {games} played, seed {terms.seed}, {terms.limit_ms} ms a turn"


def _cross_rows(terms: Terms, standings: Standings) -> list[list[str]]:
    ranking = standings.ranking()
    rows = [["", "player", "games", "score", "95 %", *(str(rank + 1) for rank in range(len(ranking)))]]
    for rank, one in enumerate(ranking):
        total = standings.total(one)
        cells = [_counts(standings.between(one, other)) if other != one else "" for other in ranking]
        label = terms.entrants[one].label
        rows.append([str(rank + 1), label, str(total.game_count), _score(total), _bars(total), *cells])
    return rows


def _pair_rows(terms: Terms, standings: Standings) -> list[list[str]]:
    rows = [["pair", "games", "score", "95 %", "Elo", "95 %"]]
    for one, other in combinations(standings.ranking(), 2):
        tally = standings.between(one, other)
        pair = f"{terms.entrants[one].label} - {terms.entrants[other].label}"
        rows.append([pair, str(tally.game_count), _score(tally), _bars(tally), _elo(tally), _elo_bars(tally)])
    return rows


def _effort_rows(terms: Terms, standings: Standings, results: Sequence[GameResult]) -> list[list[str]]:
    efforts = Efforts(len(terms.entrants), results)
    rows = [["player", "ms a turn", "positions a turn", "turns a game"]]
    for one in standings.ranking():
        numbers = (efforts.ms_a_turn(one), efforts.nodes_a_turn(one), efforts.turns_a_game(one))
        rows.append([terms.entrants[one].label, *map(_mean, numbers, (".1f", ",.0f", ".1f"))])
    return rows


def _lengths_line(results: Sequence[GameResult]) -> str:
    lengths = sorted(sum(effort.turns for effort in result.efforts) for result in results)
    first = first_mover(results)
    return (
        f"games of {lengths[0]} to {lengths[-1]} turns; who moves first scores {_score(first)} "
        f"({_bars(first)}), {_counts(first)}"
    )


def _mean(value: float | None, form: str) -> str:
    return NOT_PLAYED if value is None else f"{value:{form}}"


def _fault_line(terms: Terms, result: GameResult) -> str:
    assert result.winner is not None
    loser = terms.entrants[result.pairing.sides[1 - result.winner]].label
    winner = terms.entrants[result.pairing.sides[result.winner]].label
    return f"game {result.pairing.number}, {loser} against {winner}, ply {len(result.actions)}: {result.fault}"


def _counts(tally: Tally) -> str:
    return f"+{tally.wins} ={tally.draws} -{tally.losses}" if tally.game_count else NOT_PLAYED


def _score(tally: Tally) -> str:
    return NOT_PLAYED if tally.score is None else f"{tally.score:.1%}"


def _bars(tally: Tally) -> str:
    return NOT_PLAYED if tally.interval is None else "{:.1%}..{:.1%}".format(*tally.interval)


def _elo(tally: Tally) -> str:
    return NOT_PLAYED if tally.score is None else f"{elo_difference(tally.score):+.0f}"


def _elo_bars(tally: Tally) -> str:
    if tally.interval is None:
        return NOT_PLAYED
    return "..".join(f"{elo_difference(bound):+.0f}" for bound in tally.interval)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _tally_values(tally: Tally) -> dict[str, Any]:
    elo = None if tally.score is None else elo_difference(tally.score)
    return {
        "games": tally.game_count,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "score": tally.score,
        "score_95": None if tally.interval is None else list(tally.interval),
        "elo_difference": elo if elo is not None and math.isfinite(elo) else None,
    }


def _game_values(labels: Sequence[str], result: GameResult) -> dict[str, Any]:
    pairing = result.pairing
    return {
        "number": pairing.number,
        "round": pairing.round,
        "players": [labels[place] for place in pairing.sides],
        "options": dict(pairing.options),
        "seeds": list(pairing.seeds),
        "winner": result.winner,
        "termination": result.termination,
        "fault": result.fault,
        "actions": list(result.actions),
        "turns": [effort.turns for effort in result.efforts],
        "thought_ms": [round(effort.thought_ms, 1) for effort in result.efforts],
        "nodes": [effort.nodes for effort in result.efforts],
    }
