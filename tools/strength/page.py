"""The page on strength as Markdown: the scores of the pairs of levels beside their aims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tabuleiro.rules import registry
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.arena.standings import Tally, elo_difference
from tabuleiro_server.bots.levels import SEARCH_LEVELS
from tools.strength.games import MEASURED, NEXT_LEVEL_AIM, REPORT_LEVEL_AIM, LevelPair, Measured

_TALLY_COLUMNS = ("games", "won", "drawn", "lost", "score", "95 %")

_COLUMNS = (
    "stronger",
    "nodes",
    "weaker",
    "nodes",
    *_TALLY_COLUMNS,
    "Elo",
    "aim",
    "",
)


def format_page(tallies: Mapping[LevelPair, Tally], games: int, command: str) -> str:
    """Return the page about pairs of ``games`` games each; ``command`` is the command that makes it."""
    played = sum(tally.game_count for tally in tallies.values())
    names = list(dict.fromkeys(pair.game for pair in tallies))
    lines = [
        "# How strong the levels are",
        "",
        "Each level plays the one below, and `expert` the best computer player of the game's report: "
        f"{games} games a pair, sides swapped after each, with the default options of the game. Made by",
        "",
        f"    {command}",
        "",
        "Levels have limits of nodes here and not of time, and all seeds are fixed, so every machine "
        "plays the same games. The score counts a draw as half a win; its 95 % interval is after Wilson. A level "
        f"must score {NEXT_LEVEL_AIM:.0%} against the one below, `expert` {REPORT_LEVEL_AIM:.0%} against the "
        "report's player.",
        "",
        "`nodes` is the most that a level searches in a turn. `expert` gets fewer here than in a match, "
        "and is stronger with more: such games would take days. Against the report's player it gets no more than "
        "the nodes of the level below.",
        "",
        f"**{_verdict(tallies)}** {played} of {games * len(tallies)} games are played.",
    ]
    for name in names:
        lines += [
            "",
            *_section(name, {pair: tally for pair, tally in tallies.items() if pair.game == name}, games),
        ]
    return "\n".join([*lines, ""])


def _verdict(tallies: Mapping[LevelPair, Tally]) -> str:
    reached = sum(_is_reached(pair, tally) for pair, tally in tallies.items())
    return f"{reached} of {len(tallies)} pairs reach their aim."


def _is_reached(pair: LevelPair, tally: Tally) -> bool:
    return tally.score is not None and tally.score >= pair.aim


def _section(name: str, tallies: Mapping[LevelPair, Tally], games: int) -> list[str]:
    told = [
        f"`{level.name}` {level.max_nodes} in {level.limit_ms / 1000:g} s at most" for level in SEARCH_LEVELS[name]
    ]
    return [
        f"## {registry.game_type(name).title}",
        "",
        f"Nodes a turn in a real match: {', '.join(told)}.",
        "",
        *_table([_COLUMNS, *(_row(pair, tally, games) for pair, tally in tallies.items())]),
        *_by_time(name),
    ]


_BY_TIME_COLUMNS = (
    "weights",
    "against",
    "option",
    "a turn",
    "day",
    *_TALLY_COLUMNS,
    "aim",
    "",
)


_DUEL_OPTIONS: Final[Mapping[str, str]] = {XeroG.name: "--option variant=VARIANT --option setup=random "}


def _by_time(name: str) -> list[str]:
    """Return the part about ``master``; nothing for a game without games of it."""
    measured = [each for each in MEASURED if each.game == name]
    if not measured:
        return []
    return [
        "",
        "`master` has no limit of nodes. It was measured by time, both players on one core, sides "
        "swapped; `expert` had no limit of nodes either. The aim is one for 200 games. Turns of 100 ms were "
        "measured by processor time, the others by",
        "",
        '    python -m tools.strength.duel FILE master Old="OLDER/.venv/bin/python tools/expert_engine.py" \\',
        f"        --game {name} {_DUEL_OPTIONS.get(name, '')}--games 200 --move-time 300",
        "",
        *_table([_BY_TIME_COLUMNS, *map(_measured_row, measured)]),
    ]


def _measured_row(each: Measured) -> Sequence[str]:
    tally = each.tally
    assert tally.score is not None
    assert tally.interval is not None
    low, high = tally.interval
    is_reached = each.aim is not None and tally.score >= each.aim
    return [
        f"`{each.weights}`",
        each.opponent,
        each.option or "-",
        f"{each.move_ms} ms",
        each.day,
        *map(str, (tally.game_count, tally.wins, tally.draws, tally.losses)),
        f"{tally.score:.1%}",
        f"{low:.1%}..{high:.1%}",
        "-" if each.aim is None else f"{each.aim:.0%}",
        "" if each.aim is None else "reached" if is_reached else "**missed**",
    ]


def _row(pair: LevelPair, tally: Tally, games: int) -> Sequence[str]:
    count = str(games) if tally.game_count == games else f"{tally.game_count} of {games}"
    nodes = ["-" if budget is None else str(budget) for budget in pair.budgets]
    first = [pair.stronger, nodes[0], pair.weaker, nodes[1], count]
    first += [str(tally.wins), str(tally.draws), str(tally.losses)]
    if tally.score is None or tally.interval is None:
        return [*first, "-", "-", "-", f"{pair.aim:.0%}", "not played"]
    low, high = tally.interval
    return [
        *first,
        f"{tally.score:.1%}",
        f"{low:.1%}..{high:.1%}",
        f"{elo_difference(tally.score):+.0f}",
        f"{pair.aim:.0%}",
        "reached" if _is_reached(pair, tally) else "**missed**",
    ]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]
