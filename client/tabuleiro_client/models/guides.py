"""Which game has which guide for typing its actions: an explicit list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tabuleiro.rules import Game
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_client.models.action_guide import ActionGuide
from tabuleiro_client.models.xero_g_choice import XeroGGuide

_GUIDES: Final[Mapping[str, ActionGuide]] = {XeroG.name: XeroGGuide()}
_NO_GUIDE: Final = ActionGuide()


def guide_of(game: Game) -> ActionGuide:
    """The guide of ``game``; one that adds nothing where the actions need none."""
    return _GUIDES.get(game.name, _NO_GUIDE)
