"""Explanations of a position by a level: the candidates with their values, and the terms of these."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import msgspec

from tabuleiro.errors import BotError
from tabuleiro.ids import Player
from tabuleiro.protocol.messages import ExplainedTerm, ExplainedTurn, Explanation
from tabuleiro.rules import State
from tabuleiro.rules.games.iris import IrisState
from tabuleiro_server.bots import greedy
from tabuleiro_server.bots.algorithms import (
    PATIENCE_SHARE,
    GroupsLevel,
    LookAheadLevel,
    MasterLevel,
    RandomLevel,
    SearchLevel,
)
from tabuleiro_server.bots.analysis import HINT_BUDGET_MS, SEED
from tabuleiro_server.bots.engine.base import ThinkingTime, after
from tabuleiro_server.bots.evaluation import Evaluation, find_evaluation
from tabuleiro_server.bots.levels import LEVELS, RANDOM, find_level
from tabuleiro_server.bots.look_ahead import deepest
from tabuleiro_server.bots.messages import texts_of

_VALUE_DIGITS: Final = 6


def level_to_explain(game: str) -> str:
    """Return the first level of a game that values positions, where none was asked for."""
    levels = LEVELS.get(game, (RANDOM,))
    return next((level.name for level in levels if not isinstance(level, RandomLevel)), RANDOM.name)


def explain(
    state: State, level_text: str | None = None, count: int = 10, budget_ms: int = HINT_BUDGET_MS
) -> Explanation:
    """Explain the ``count`` best candidates of ``state`` as a level sees them.

    Without a level it is that of :func:`level_to_explain`.

    A level that looks ahead goes as deep as it can in ``budget_ms`` milliseconds, up to its own depth; one that
    searches looks at its own number of positions if there is time.

    Raises: BotError for an unknown level, and when the game is over; GameOptionError for an unknown game.
    """
    if state.to_move is None:
        raise BotError(f"nothing to explain, the game is over (position {state.to_position()})")
    level = find_level(state.game.name, level_text or level_to_explain(state.game.name))
    player: Player = state.to_move
    started_s = time.monotonic()
    if isinstance(level, RandomLevel):
        found = _by_chance(state, player, level, count)
    elif isinstance(level, LookAheadLevel):
        found = _by_looking_ahead(state, player, level, count, budget_ms)
    elif isinstance(level, GroupsLevel):
        found = _by_groups(state, player, level, count)
    else:
        found = _by_search(state, player, level, count, budget_ms)
    thought_ms = round((time.monotonic() - started_s) * 1000)
    return msgspec.structs.replace(found, thought_ms=thought_ms)


def _by_chance(state: State, player: Player, level: RandomLevel, count: int) -> Explanation:
    actions = state.legal_actions()
    chance = round(1 / len(actions), _VALUE_DIGITS)
    turns = tuple(ExplainedTurn((state.action_to_string(action),), chance) for action in actions[:count])
    return Explanation(level.name, state.to_position(), player, "chance", turns, len(actions))


def _by_looking_ahead(
    state: State, player: Player, level: LookAheadLevel, count: int, budget_ms: int
) -> Explanation:
    search = level.look_ahead(state, ThinkingTime(budget_ms))
    depth, found = deepest(search, level.depth, needs_all=True)
    turns = []
    for each in found[:count]:
        end = after(state, each.line)
        is_end = end.is_terminal and level.counts_ends
        turns.append(
            ExplainedTurn(
                actions=(state.action_to_string(each.action),),
                value=each.value,
                terms=() if is_end else _terms(level.evaluation, end, player),
                line=_line(state, each.line),
                is_proven=is_end,
            )
        )
    return Explanation(
        level.name,
        state.to_position(),
        player,
        "evaluation",
        tuple(turns),
        len(found),
        terms=_terms(level.evaluation, state, player),
        depth=depth,
        nodes=search.nodes,
    )


def _by_groups(state: State, player: Player, level: GroupsLevel, count: int) -> Explanation:
    assert isinstance(state, IrisState)
    evaluation = find_evaluation(state.game.name)
    ranked = greedy.ranked_iris_turns(state)
    turns = []
    for actions in ranked[:count]:
        end = after(state, actions)
        turns.append(
            ExplainedTurn(
                actions=_line(state, actions),
                value=evaluation.value(end, player),
                terms=_terms(evaluation, end, player),
            )
        )
    return Explanation(
        level.name,
        state.to_position(),
        player,
        "evaluation",
        tuple(turns),
        len(ranked),
        terms=_terms(evaluation, state, player),
        nodes=len(ranked),
    )


def _by_search(
    state: State, player: Player, level: SearchLevel | MasterLevel, count: int, budget_ms: int
) -> Explanation:
    deadline_s = time.monotonic() + budget_ms / 1000
    search = level.searcher(state.game, PATIENCE_SHARE * budget_ms / 1000)
    *_, last = search.analyse(
        state, candidate_count=count, max_nodes=level.max_nodes, deadline_s=deadline_s, seed=SEED
    )
    turns = tuple(
        ExplainedTurn(
            actions=_line(state, each.actions),
            value=round(each.value, _VALUE_DIGITS),
            line=_line(state, each.line),
            is_proven=each.is_proven,
            turns_to_end=each.turns_to_end,
            nodes=each.nodes,
        )
        for each in last.candidates
    )
    return Explanation(
        level.name,
        state.to_position(),
        player,
        "expectation",
        turns,
        len(turns),
        depth=last.depth,
        nodes=last.nodes,
    )


def _terms(evaluation: Evaluation, state: State, player: Player) -> tuple[ExplainedTerm, ...]:
    return tuple(ExplainedTerm(term.name, term.measure, term.weight) for term in evaluation.terms(state, player))


def _line(state: State, actions: Sequence[int]) -> tuple[str, ...]:
    return tuple(texts_of(state, tuple(actions)))
