"""How fast the rules are, beside deliberately naive versions of them. Prints figures and asserts none.

    python -m tests.bench.bench_rules [--seconds SECONDS] [GAME ...]

For each game with its default options: states generated a second (every child of every position of random games),
the time of a whole random game, and perft nodes a second at the deepest case of tests/data/perft.json that is
counted within the time limit. A naive version is the class ``Naive...`` of ``naive_<game>.py`` in this folder; it
takes the options as keywords and plays by texts.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from tabuleiro.rules import registry

HERE = Path(__file__).parent
PERFT_FILE = HERE.parent / "data" / "perft.json"
GAME_PATIENCE = 5
"""A single random game may take this many times the limit before it is given up."""

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """One program of the rules: how to start, list and count the actions, and play one."""

    start: Callable[[Options], Any]
    actions: Callable[[Any], Sequence[Any]]
    count: Callable[[Any], int]
    child: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Figure:
    """A measured number, ``None`` when nothing was finished in time, and what it was measured on."""

    value: float | None
    remark: str = ""


class OutOfTime(Exception):
    """The time limit was reached in the middle of a count."""


def package_contender(name: str) -> Contender:
    """The rules of the package."""
    return Contender(
        start=lambda options: registry.load(name, options).initial_state(),
        actions=lambda state: state.legal_actions(),
        count=lambda state: state.legal_count(),
        child=lambda state, action: state.child(action),
    )


def naive_contender(name: str) -> Contender | None:
    """The naive version of the rules, ``None`` where this folder has none."""
    module_name = "tests.bench.naive_" + name.replace("-", "_")
    if importlib.util.find_spec(module_name) is None:
        return None
    module = importlib.import_module(module_name)
    naive_type = next(
        value
        for key, value in vars(module).items()
        if key.startswith("Naive") and inspect.isclass(value) and value.__module__ == module_name
    )
    return Contender(
        start=lambda options: naive_type(**options),
        actions=lambda position: position.legal_texts(),
        count=lambda position: len(position.legal_texts()),
        child=lambda position, text: position.child(text),
    )


def states_per_second(contender: Contender, seconds: float) -> Figure:
    """Make every child of every position of random games until the limit is reached."""
    random, generated, start_s = Random(1), 0, perf_counter()
    position = contender.start({})
    while (spent_s := perf_counter() - start_s) < seconds:
        children = [contender.child(position, action) for action in contender.actions(position)]
        generated += len(children)
        position = random.choice(children) if children else contender.start({})
    return Figure(generated / spent_s)


def game_ms(contender: Contender, seconds: float) -> Figure:
    """Play whole random games until the limit is reached, one at least, and take the mean."""
    random, games_count, plies_count, start_s = Random(1), 0, 0, perf_counter()
    while (spent_s := perf_counter() - start_s) < seconds or not games_count:
        position = contender.start({})
        while actions := contender.actions(position):
            position = contender.child(position, random.choice(actions))
            plies_count += 1
            if perf_counter() - start_s > seconds * GAME_PATIENCE:
                return Figure(None, f"no whole game in {seconds * GAME_PATIENCE:.0f} s")
        games_count += 1
    return Figure(1000 * spent_s / games_count, f"{plies_count / games_count:.0f} plies")


def perft_cases(name: str) -> Iterator[tuple[Options, int, int]]:
    """Yield options, depth and nodes of the cases of a game, fewest nodes first."""
    cases = [
        (case["options"], depth, nodes)
        for case in json.loads(PERFT_FILE.read_text())["cases"]
        if case["game"] == name
        for depth, nodes in enumerate(case["nodes"], start=1)
    ]
    yield from sorted(cases, key=lambda case: case[2])


def perft_nodes_per_second(name: str, contender: Contender, seconds: float) -> Figure:
    """Count ever larger cases; the last one that is done within the limit gives the figure."""
    figure = Figure(None, "no case in time")
    for options, depth, nodes in perft_cases(name):
        start_s = perf_counter()
        try:
            count_nodes(contender, contender.start(options), depth, start_s + seconds)
        except OutOfTime:
            break
        spent_s = perf_counter() - start_s
        settings = ", ".join(str(value) for value in options.values())
        figure = Figure(nodes / spent_s, f"{settings[:24]} depth {depth}")
    return figure


def count_nodes(contender: Contender, position: Any, depth: int, deadline_s: float) -> int:
    """Perft with a deadline on the clock of ``perf_counter``. Raises: OutOfTime."""
    if depth == 1:
        return contender.count(position)
    if perf_counter() > deadline_s:
        raise OutOfTime
    return sum(
        count_nodes(contender, contender.child(position, action), depth - 1, deadline_s)
        for action in contender.actions(position)
    )


def format_number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def print_row(measure: str, package: Figure, naive: Figure | None, is_time: bool) -> None:
    """Print one measure; the ratio says how many times faster the package is."""
    naive_value = None if naive is None else naive.value
    ratio = "-"
    if package.value and naive_value:
        ratio = f"{naive_value / package.value if is_time else package.value / naive_value:,.1f}x"
    remarks = package.remark
    if naive is not None and naive.remark != package.remark:
        remarks += f" (naive: {naive.remark})"
    print(
        f"  {measure:<16}{format_number(package.value):>14}{format_number(naive_value):>14}{ratio:>10}  {remarks}"
    )


def print_game(name: str, seconds: float) -> None:
    package, naive = package_contender(name), naive_contender(name)
    print(f"\n{name + ('' if naive else ' (no naive version)'):<18}{'package':>14}{'naive':>14}{'ratio':>10}")
    measures: tuple[tuple[str, Callable[[Contender], Figure], bool], ...] = (
        ("states/s", lambda contender: states_per_second(contender, seconds), False),
        ("random game, ms", lambda contender: game_ms(contender, seconds), True),
        ("perft nodes/s", lambda contender: perft_nodes_per_second(name, contender, seconds), False),
    )
    for measure, run, is_time in measures:
        print_row(measure, run(package), run(naive) if naive else None, is_time)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the rules beside naive versions of them.")
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(registry.names())} (default all)")
    parser.add_argument("--seconds", type=float, default=2.0, help="limit of each measurement (default 2)")
    arguments = parser.parse_args()
    for name in arguments.games or registry.names():
        print_game(name, arguments.seconds)


if __name__ == "__main__":
    main()
