"""``tabuleiro explain``: the candidates of a position with their values, as a level of the bots sees them."""

from __future__ import annotations

import json
from typing import Annotated, cast

import msgspec
import typer

from tabuleiro.rules import registry
from tabuleiro_client.cli.analyse import position_before
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
from tabuleiro_client.models.analysis import Explainer, load_from_bots
from tabuleiro_client.text.explanation import explanation_lines
from tabuleiro_client.text.standard_output import write_data


def explain(
    source: SourceArgument,
    turn: TurnOption = None,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="LEVEL", help="A level or an algorithm; else that of the report."),
    ] = None,
    lines: Annotated[int, typer.Option(min=1, max=1_000, metavar="N", help="How many candidates to tell.")] = 10,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=3_600, metavar="SECONDS", help="The longest time to think.")
    ] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    match: MatchOption = None,
    game: ListedGameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
) -> None:
    """Tell the candidates of a position of a match, what each is worth to a bot, and what the worth is made of."""
    explain_state = cast(Explainer, load_from_bots("explain", "explain"))
    record = find_record(source, match, listed_game(game, preset, option), server, secret, name).record
    state = position_before(record, turn)
    found = explain_state(state, level, lines, round(seconds * 1000))
    if as_json:
        write_data(json.dumps(msgspec.to_builtins(found), indent=2, ensure_ascii=False) + "\n")
        return
    played = registry.load(record.game, record.options)
    typer.echo(f"{played.title}, before turn {state.turn_number}: {played.sides[found.player]} to move")
    typer.echo("\n".join([f"position {found.position}", *explanation_lines(played, found)]))
