"""``tabuleiro tree``: the tree that minimax or alpha-beta searches from a position of a match."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from tabuleiro.rules import registry
from tabuleiro.rules.search_tree import TreeGrower
from tabuleiro_client.cli.analyse import position_before
from tabuleiro_client.cli.export import find_record, write_file
from tabuleiro_client.cli.options import (
    AsciiOption,
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
from tabuleiro_client.models.analysis import load_from_bots
from tabuleiro_client.text.search_tree import tree_lines, tree_svg


def tree(
    source: SourceArgument,
    turn: TurnOption = None,
    depth: Annotated[
        int | None, typer.Option(min=1, max=3, metavar="N", help="Actions ahead, 1 to 3; 2 if left out.")
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="ENGINE", help="minimax or alpha-beta, e.g. 'minimax eval=mobility'.")
    ] = "alpha-beta",
    width: Annotated[
        int, typer.Option(min=1, max=1_000, metavar="N", help="Branches shown of each position.")
    ] = 5,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write it there: a picture if it ends in .svg.")
    ] = None,
    ascii_only: AsciiOption = False,
    match: MatchOption = None,
    game: ListedGameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
) -> None:
    """Write the tree of a search: values passed up, branches cut, and the positions with and without pruning."""
    grow = cast(TreeGrower, load_from_bots("tree", "tree"))
    record = find_record(source, match, listed_game(game, preset, option), server, secret, name).record
    played = registry.load(record.game, record.options)
    state = position_before(record, turn)
    grown = grow(state, engine, depth, width)
    if output is not None and output.suffix.lower() == ".svg":
        text = tree_svg(played, state, grown)
    else:
        text = "\n".join(tree_lines(played, state, grown, is_ascii=ascii_only)) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    write_file(output, text)
