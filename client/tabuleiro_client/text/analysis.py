"""Analyses as text and as JSON: candidates with their values and lines, and the turns that cost most.

What is analysed, and for how long, is left to the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tabuleiro.notation.record import RecordTurn
from tabuleiro.protocol.messages import HintGiven
from tabuleiro.rules import Game, State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro.rules.reasons import Reason, ReasonKind, reasons_for
from tabuleiro.text import counted

EVEN_BELOW: Final = 0.1
SLIGHT_BELOW: Final = 0.3
CLEAR_BELOW: Final = 0.6
GREAT_BELOW: Final = 0.9


def worth_text(value: float, *, is_proven: bool = False, turns_to_end: int | None = None) -> str:
    """Say what ``value`` (-1 to 1) means for the player it belongs to; or what is proven.

    >>> worth_text(0.45), worth_text(-0.2), worth_text(0.0), worth_text(0.95)
    ('better', 'slightly worse', 'about even', 'winning, it seems')
    >>> worth_text(1.0, is_proven=True, turns_to_end=3), worth_text(-1.0, is_proven=True)
    ('wins in 3 turns', 'loses by force')
    """
    if is_proven:
        return _proven_text(value, turns_to_end)
    size = abs(value)
    if size < EVEN_BELOW:
        return "about even"
    if size >= GREAT_BELOW:
        return "winning, it seems" if value > 0 else "losing, it seems"
    degree = "slightly " if size < SLIGHT_BELOW else "" if size < CLEAR_BELOW else "much "
    return degree + ("better" if value > 0 else "worse")


def hint_text(hint: HintGiven) -> str:
    """Return a hint in words.

    >>> hint_text(HintGiven(("c3", "d4"), 0.42))
    'hint: c3 d4 (you are better, +0.42)'
    """
    words = worth_text(hint.value, is_proven=hint.is_proven, turns_to_end=hint.turns_to_end)
    who = "you are " if words.endswith(("better", "worse")) else ""
    return f"hint: {' '.join(hint.actions)} ({who}{words}, {number_text(hint.value)})"


def _proven_text(value: float, turns_to_end: int | None) -> str:
    if not value:
        return "a draw by force"
    verb = "wins" if value > 0 else "loses"
    if turns_to_end is None:
        return f"{verb} by force"
    return f"{verb} in {counted(turns_to_end, 'turn')}"


def number_text(value: float) -> str:
    """Return a value as a number of fixed width, with its sign.

    >>> number_text(0.456), number_text(-1.0), number_text(-0.001)
    ('+0.46', '-1.00', '+0.00')
    """
    return f"{round(value, 2) + 0.0:+.2f}"


MISTAKE_COST: Final = 0.25
BLUNDER_COST: Final = 0.5
"""What a turn has to lose, in value, to be called so."""

_LINE_TURNS_COUNT: Final = 8
"""Turns of a line that are shown."""


def turns_of(state: State, line: Sequence[int]) -> list[tuple[int, list[str]]]:
    """Return the number and the canonical texts of each turn of ``line``, legal from ``state`` on."""
    found: list[tuple[int, list[str]]] = []
    for action in line:
        if not found or found[-1][0] != state.turn_number:
            found.append((state.turn_number, []))
        found[-1][1].append(state.action_to_string(action))
        state = state.child(action)
    return found


def line_text(state: State, line: Sequence[int]) -> str:
    """Return a line as numbered turns, like those of a record."""
    found = turns_of(state, line)
    shown = [f"{number}. {' '.join(texts)}" for number, texts in found[:_LINE_TURNS_COUNT]]
    return "  ".join(shown) + ("  ..." if len(found) > _LINE_TURNS_COUNT else "")


def effort_text(analysis: Analysis) -> str:
    """Return the effort of a search so far."""
    looked = f"{analysis.nodes:,} positions looked at"
    if analysis.depth is None:
        return looked
    return f"{counted(analysis.depth, 'turn')} deep, {looked}"


def value_text(candidate: Candidate) -> str:
    """Return a value as a number and in words."""
    words = worth_text(candidate.value, is_proven=candidate.is_proven, turns_to_end=candidate.turns_to_end)
    return f"{number_text(candidate.value)} {words}"


def reasons_text(game: Game, reasons: Sequence[Reason]) -> str:
    """Return what speaks for a turn, in words; nothing without reasons.

    >>> from tabuleiro.rules import registry
    >>> minefield = registry.load("minefield")
    >>> reasons_text(minefield, [Reason(ReasonKind.THREATENS), Reason(ReasonKind.HINDERS, 2)])
    'threatens to win, costs the opponent 2 more stones to connect'
    """
    return ", ".join(_reason_text(game, each.kind, each.count) for each in reasons)


def _reason_text(game: Game, kind: ReasonKind, count: int) -> str:
    cell = "square" if game.name == XeroG.name else "cell"
    match kind:
        case ReasonKind.SAVES:
            return "stops a threat to win"
        case ReasonKind.THREATENS:
            return "threatens to win"
        case ReasonKind.TAKES:
            return f"takes {count} virus" if count == 1 else f"takes {count} viruses"
        case ReasonKind.JOINS:
            return f"joins {counted(count, 'group')}"
        case ReasonKind.GAINS:
            return f"reaches {counted(count, f'more {cell}')}"
        case ReasonKind.HINDERS if game.name == Minefield.name:
            return f"costs the opponent {counted(count, 'more stone')} to connect"
        case ReasonKind.HINDERS:
            return f"leaves the opponent {counted(count, f'fewer {cell}')}"


def progress_text(state: State, analysis: Analysis, seconds: float) -> str:
    """Return the state of an analysis on one line."""
    best = analysis.best
    turn = " ".join(turns_of(state, best.actions)[0][1])
    return f"{seconds:.0f} s: {value_text(best)}, {turn} ({effort_text(analysis)})"


def analysis_lines(game: Game, state: State, analysis: Analysis) -> list[str]:
    """Return the candidates of a position, best first, as a block of text."""
    side = game.sides[state.to_move or 0]
    lines = [
        f"{game.title}, before turn {state.turn_number}: {side} to move",
        f"position {state.to_position()}",
        f"{effort_text(analysis)}; values are for {side}, from -1 (lost) to +1 (won)",
    ]
    for rank, candidate in enumerate(analysis.candidates, start=1):
        effort = "" if candidate.nodes is None else f" ({candidate.nodes:,} positions)"
        lines.append(f"{rank}. {value_text(candidate)}{effort}")
        lines.append(f"   {line_text(state, candidate.line)}")
        if reasons := reasons_for(state, candidate.actions):
            lines.append(f"   it {reasons_text(game, reasons)}")
    return lines


def analysis_json(game: Game, state: State, analysis: Analysis) -> dict[str, Any]:
    """Return the same for programs; ``value`` is for the side to move, ``None`` stands for unknown."""
    return {
        "turn": state.turn_number,
        "position": state.to_position(),
        "to_move": state.to_move,
        "side": game.sides[state.to_move or 0],
        "nodes": analysis.nodes,
        "depth": analysis.depth,
        "is_compiled": analysis.is_compiled,
        "candidates": [
            {
                "actions": turns_of(state, candidate.actions)[0][1],
                "line": [texts for _, texts in turns_of(state, candidate.line)],
                "value": round(candidate.value, 4),
                "is_proven": candidate.is_proven,
                "turns_to_end": candidate.turns_to_end,
                "nodes": candidate.nodes,
                "reasons": [
                    {"kind": each.kind, "count": each.count} for each in reasons_for(state, candidate.actions)
                ],
            }
            for candidate in analysis.candidates
        ],
    }


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """A turn that was played: what the position before it was worth to its player, and what was left after it.

    Both are what the player could expect with the best play, from -1 to 1.
    """

    turn: RecordTurn
    before: Candidate
    best: tuple[str, ...]
    value_after: float

    @property
    def cost(self) -> float:
        """The value that the turn lost; 0 where it gained."""
        return max(0.0, self.before.value - self.value_after)

    @property
    def verdict(self) -> str:
        """``blunder``, ``mistake``, or nothing."""
        if self.cost >= BLUNDER_COST:
            return "blunder"
        return "mistake" if self.cost >= MISTAKE_COST else ""


def judged_lines(game: Game, turns: Sequence[JudgedTurn]) -> list[str]:
    """Return a line for each turn, with the best one where it cost much; at the end the most expensive turn."""
    lines = []
    for judged in turns:
        turn = judged.turn
        text = f"{turn.number}. {game.sides[turn.player]} {' '.join(turn.actions)}: "
        text += f"{value_text(judged.before)}, then {number_text(judged.value_after)}"
        if judged.verdict:
            text += f"  {judged.verdict.upper()}, better was {' '.join(judged.best)}"
        lines.append(text)
    worst = max(turns, key=lambda judged: judged.cost, default=None)
    if worst is None or not worst.verdict:
        return [*lines, "no turn cost much"]
    return [*lines, f"the worst was turn {worst.turn.number}: it cost {worst.cost:.2f}"]


def judged_json(game: Game, turns: Sequence[JudgedTurn]) -> list[dict[str, Any]]:
    """Return the same for programs; values are for the player of the turn."""
    return [
        {
            "turn": judged.turn.number,
            "player": judged.turn.player,
            "side": game.sides[judged.turn.player],
            "actions": list(judged.turn.actions),
            "best": list(judged.best),
            "value_before": round(judged.before.value, 4),
            "is_proven": judged.before.is_proven,
            "turns_to_end": judged.before.turns_to_end,
            "value_after": round(judged.value_after, 4),
            "cost": round(judged.cost, 4),
            "verdict": judged.verdict or None,
        }
        for judged in turns
    ]


_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
TURN_MARKS: Final = {"mistake": "?", "blunder": "??"}
"""The signs of the field for turns that cost much."""
GRAPH_ROWS: Final = 5
WORST_COUNT: Final = 3


def value_bar(game: Game, value: float, width: int, *, is_ascii: bool) -> str:
    """Return a bar of ``width`` columns that the first player fills as far as ``value`` is theirs, from -1 to 1.

    The names of the sides stand at its ends.
    """
    first, second = game.sides
    columns = max(width - len(first) - len(second) - 2, 1)
    filled = round((value + 1) / 2 * columns)
    full, empty = "#." if is_ascii else "█░"
    return f"{first} {full * filled}{empty * (columns - filled)} {second}"


def evaluation_lines(game: Game, state: State, analysis: Analysis, width: int, *, is_ascii: bool) -> list[str]:
    """Return the value of a position for a panel of ``width`` columns: a bar, words, the best turn, the line."""
    best, mover = analysis.best, state.to_move or 0
    value = best.value if mover == 0 else -best.value
    (_, turn), *_ = turns_of(state, best.actions)
    lines = [
        value_bar(game, value, width, is_ascii=is_ascii),
        f"{game.sides[mover]}: {value_text(best)}",
        f"best: {' '.join(turn)}",
    ]
    if reasons := reasons_for(state, best.actions):
        lines.append(f"it {reasons_text(game, reasons)}")
    rest = line_text(state, best.line)
    return lines if len(best.line) == len(best.actions) else [*lines, f"line: {rest}"]


def evaluation_text(game: Game, state: State, analysis: Analysis) -> str:
    """Return the same in a sentence."""
    (_, turn), *_ = turns_of(state, analysis.best.actions)
    return f"{game.sides[state.to_move or 0]}: {value_text(analysis.best)}, best {' '.join(turn)}"


def graph_lines(
    game: Game,
    values: Sequence[float | None],
    judgements: Sequence[JudgedTurn | None],
    place: int,
    width: int,
    *,
    is_ascii: bool,
) -> list[str]:
    """Return the values of a match as a graph, the first player winning at its top, and the worst turns in words.

    Args:
        game: The game of the match.
        values: The value for the first player before each turn and after the last; ``None`` is left out.
        judgements: What was found of each turn; ``None`` for one that was not judged yet.
        place: The index of the value to point at.
        width: The columns there are.
        is_ascii: Without characters beyond ASCII.
    """
    if not values:
        return []
    columns = min(width, len(values))
    sampled = [round(column * (len(values) - 1) / max(columns - 1, 1)) for column in range(columns)]
    levels = [None if (value := values[index]) is None else (value + 1) / 2 * GRAPH_ROWS for index in sampled]
    judged = [each for each in judgements if each is not None and each.verdict]
    marks = [" "] * columns
    for index, each in enumerate(judgements):
        if each is not None and each.verdict:
            column = next(column for column in range(columns) if index <= sampled[column])
            marks[column] = "?"
    rows = [
        "".join(" " if level is None else _filled(level - row, is_ascii=is_ascii) for level in levels)
        for row in range(GRAPH_ROWS - 1, -1, -1)
    ]
    pointer = min(range(columns), key=lambda column: abs(sampled[column] - place))
    worst = sorted(judged, key=lambda each: -each.cost)[:WORST_COUNT]
    named = [
        f"{each.turn.number} {game.sides[each.turn.player]}: lost {each.cost:.2f}, better {' '.join(each.best)}"
        for each in worst
    ]
    caption = f"{game.sides[0]} is better at the top"
    return [caption, "".join(marks).rstrip(), *rows, " " * pointer + "^", *named]


def _filled(share: float, *, is_ascii: bool) -> str:
    """Return the character of a cell that is filled from below by ``share``, from 0 to 1."""
    eighths = max(0, min(8, round(share * 8)))
    return "#" if is_ascii and eighths >= 4 else " " if is_ascii else _EIGHTHS[eighths]
