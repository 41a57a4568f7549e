"""A board to try a game on: both sides are played from here, without a server."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.screens.replay import ReplayScreen
from tabuleiro_client.tui.widgets.bars import TopBar

_MOVES = frozenset({"undo", "ship(1)", "ship(2)", "ship(3)", "boost", "reprogram", "why", "type", "pass_turn"})


class TryScreen(ReplayScreen, inherit_bindings=False):
    """An empty record from whose start moves are tried; nothing else of a replay is of use here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        keys.BACK,
        *(binding for binding in (*keys.REPLAY, *keys.SHIPS, *keys.MATCH[2:]) if binding.action in _MOVES),
    ]

    def __init__(self, game: str, options: Options) -> None:
        first, second = registry.game_type(game).sides
        super().__init__(MatchRecord(game, options, (RecordPlayer(first), RecordPlayer(second))))

    def on_mount(self) -> None:
        super().on_mount()
        self.action_branch()
        self.query_one(TopBar).show_title(f"{self.model.game.title}: try it")

    def _introduction(self) -> list[str]:
        return ["Try what the rules allow:", "both sides are played from here.", "", "u undoes, Esc goes back."]

    def action_back(self) -> None:
        """Leave the board."""
        self.context.leave_screen()
