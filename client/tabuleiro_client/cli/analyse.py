"""``tabuleiro analyse``: what a position of a match is worth and what would be best, by the engine's search."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import Annotated, Final

import typer

from tabuleiro.errors import ClientError
from tabuleiro.notation.record import MatchRecord, replay, turns
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.analysis import Analyser, Analysis
from tabuleiro_client.cli.export import find_record
from tabuleiro_client.cli.options import (
    GameOptions,
    ListedGameOption,
    MatchOption,
    NameOption,
    PresetOption,
    SecretOption,
    ServerOption,
    SourceArgument,
    TurnOption,
    listed_game,
)
from tabuleiro_client.models.analysis import MatchJudge, load_analyser, load_engine
from tabuleiro_client.text.analysis import (
    JudgedTurn,
    analysis_json,
    analysis_lines,
    judged_json,
    judged_lines,
    progress_text,
)
from tabuleiro_client.text.problems import missing_part
from tabuleiro_client.text.standard_output import write_data

SECONDS_DEFAULT: Final = 5.0
SECONDS_OF_EACH_DEFAULT: Final = 1.0
_PLAIN_NOTICE: Final = "searched in plain Python, about a hundred times slower than the engine"


def analyse(
    source: SourceArgument,
    turn: TurnOption = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=3_600, metavar="SECONDS", help="How long to search; 5, or 1 for each turn with --all."
        ),
    ] = None,
    lines: Annotated[int, typer.Option(min=1, max=20, metavar="N", help="How many candidates to tell.")] = 3,
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="LEVEL", help="Search as a level, e.g. 'mcts playouts=500'."),
    ] = None,
    all_turns: Annotated[
        bool, typer.Option("--all", help="Judge every turn of the match, and tell those that cost most.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    match: MatchOption = None,
    game: ListedGameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
) -> None:
    """Find the best turns of a position and what they are worth, or review a whole match."""
    search = load_analyser()
    record = find_record(source, match, listed_game(game, preset, option), server, secret, name).record
    if engine is not None:
        search = load_engine(record.game, engine)
    played = registry.load(record.game, record.options)
    if all_turns:
        judged = _judge(search, played, record, seconds or SECONDS_OF_EACH_DEFAULT, is_chosen=engine is not None)
        _print(judged_json(played, judged) if as_json else "\n".join(judged_lines(played, judged)))
        return
    state = position_before(record, turn)
    analysis = _result(search, played, state, seconds or SECONDS_DEFAULT, lines)
    if engine is None:
        _tell_if_plain(analysis)
    _print(
        analysis_json(played, state, analysis) if as_json else "\n".join(analysis_lines(played, state, analysis))
    )


def position_before(record: MatchRecord, turn: int | None) -> State:
    """Return the position before turn ``turn``; ``None``: the last one at which somebody is to move.

    Raises: ClientError for a turn that the record does not have, or where the game was over.
    """
    states = replay(record)
    played = turns(record, states)
    if turn is None:
        if not states[-1].is_terminal:
            return states[-1]
        if not played:
            raise ClientError("there is nothing to analyse: the game is over at its start")
        return states[played[-1].ply]
    for each in played:
        if each.number == turn:
            return states[each.ply]
    if not states[-1].is_terminal and states[-1].turn_number == turn:
        return states[-1]
    last = states[-1].turn_number
    raise ClientError(f"turn {turn} is not in this record: it has turns up to {last}")


def _result(search: Analyser, game: Game, state: State, seconds: float, lines: int, label: str = "") -> Analysis:
    """Return the last result of an analysis; on a terminal, those before it are shown as they come."""
    last: Analysis | None = None
    started_s = time.monotonic()
    is_shown = sys.stderr.isatty()
    if is_shown:
        typer.echo(f"\r\x1b[K{label}searching", err=True, nl=False)
    for analysis in search(game, state, seconds, lines):
        last = analysis
        if is_shown:
            text = progress_text(state, analysis, time.monotonic() - started_s)
            typer.echo(f"\r\x1b[K{(label + text)[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)
    if is_shown:
        typer.echo("\r\x1b[K", err=True, nl=False)
    assert last is not None
    return last


def _tell_if_plain(analysis: Analysis) -> None:
    if not analysis.is_compiled:
        typer.echo(f"{_PLAIN_NOTICE}: {missing_part('bots')}", err=True)


def _judge(
    search: Analyser, game: Game, record: MatchRecord, seconds: float, *, is_chosen: bool
) -> list[JudgedTurn]:
    """Judge each turn by what the positions before and after it are worth."""
    states = replay(record)
    judge = MatchJudge(states, turns(record, states))
    for ply in judge.plies:
        state = states[ply]
        label = f"turn {state.turn_number} of {judge.turns[-1].number}, "
        analysis = _result(search, game, state, seconds, 1, label)
        if not judge.done_count and not is_chosen:
            _tell_if_plain(analysis)
        judge.take(ply, analysis)
    return judge.judged()


def _print(result: object) -> None:
    if isinstance(result, str):
        typer.echo(result)
    else:
        write_data(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
