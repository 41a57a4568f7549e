"""Turns for hints, thought out by the pool. Who may have a hint, and when, is left to the room and its runtime."""

from __future__ import annotations

import secrets
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.protocol.messages import HintGiven
from tabuleiro_server.bots.analysis import HINT_BUDGET_MS
from tabuleiro_server.bots.levels import level_names
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.request import ThinkRequest
from tabuleiro_server.room.state import RoomState

WAITING_MAX_COUNT: Final = 20
"""With more thoughts than this waiting for a worker, bots that have to move come first."""


class Suggestions:
    """Suggests turns, in the fair queue of ``pool`` beside the bots of all rooms."""

    def __init__(self, pool: BotPool) -> None:
        self._pool = pool

    async def suggest(self, room: RoomState) -> HintGiven:
        """The best turn for the player to move in the running match.

        Raises: BotError when there is no match, too much to do, or no answer from the workers.
        """
        match = room.match
        if match is None:
            raise BotError("there is no match to give a hint in")
        if self._pool.counts.waiting_count > WAITING_MAX_COUNT:
            raise BotError("too many bots wait to think")
        request = ThinkRequest(
            room=room.code,
            game=room.game.name,
            options=dict(room.game.options),
            actions=list(match.actions),
            level=level_names(room.game.name)[-1],
            seed=secrets.randbelow(2**32),
            budget_ms=HINT_BUDGET_MS,
            is_hint=True,
        )
        thought = await self._pool.think(request)
        if thought.is_fallback or thought.worth is None:
            raise BotError("the workers gave no answer")
        worth = thought.worth
        return HintGiven(thought.actions, round(worth.value, 4), worth.is_proven, worth.turns_to_end)
