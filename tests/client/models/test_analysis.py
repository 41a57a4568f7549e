"""Analyses on the client's side: what becomes of a match that is judged, and the process that searches."""

from __future__ import annotations

import asyncio

import pytest

from tabuleiro.errors import ClientError
from tabuleiro.notation.record import MatchRecord, RecordPlayer, replay, turns
from tabuleiro.rules import registry
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_client.models.analysis import ExplainJob, MatchJudge, SearchJob, SearchProcess, TreeJob
from tabuleiro_client.text.analysis import evaluation_lines, graph_lines, value_bar

MINEFIELD = {"size": 5, "rules": "beginner"}
WON = ("c1", "a1", "c2", "a2", "c3", "a3", "c4", "a4", "c5")
GAME = registry.load("minefield", MINEFIELD)
JOB = SearchJob("minefield", MINEFIELD, WON[:8], 5.0)


def judge_of(actions: tuple[str, ...]) -> MatchJudge:
    states = replay(MatchRecord("minefield", MINEFIELD, (RecordPlayer("ana"), RecordPlayer("rui")), actions, None))
    return MatchJudge(
        states, turns(MatchRecord("minefield", MINEFIELD, (RecordPlayer("ana"),) * 2, actions), states)
    )


def analysis(ply: int, value: float, text: str = "e5") -> Analysis:
    state = replay(MatchRecord("minefield", MINEFIELD, (RecordPlayer("ana"),) * 2, WON[:ply]))[-1]
    action = state.string_to_action(text)
    return Analysis((Candidate((action,), (action,), value),), 10)


def test_a_match_that_is_over_needs_no_search_at_its_end_and_another_does():
    assert judge_of(WON).plies == tuple(range(9))
    assert judge_of(WON[:4]).plies == tuple(range(5))
    assert judge_of(()).plies == ()
    assert judge_of(()).values() == []


def test_a_turn_is_judged_as_soon_as_the_positions_before_and_after_it_are_known():
    judge = judge_of(WON)
    judge.take(0, analysis(0, 0.4))
    assert (judge.next_ply, judge.judged()) == (1, [])
    judge.take(1, analysis(1, 0.7))  # of the second player
    (first,) = judge.judged()
    assert (first.turn.number, first.value_after, first.verdict, first.best) == (1, -0.7, "blunder", ("e5",))
    judge.take(8, analysis(8, 0.9, "c5"))
    assert judge.judged()[-1].value_after == 1.0, "the end is known by the rules"
    assert judge.judgements()[1] is None
    assert judge.values()[:3] == [0.4, -0.7, None]
    assert judge.values()[-2:] == [0.9, 1.0]


def test_the_graph_marks_the_worst_turns_and_the_place_and_names_them():
    judge = judge_of(WON[:3])
    for ply, value in enumerate((0.0, 1.0, 0.6, 0.2)):
        judge.take(ply, analysis(ply, value))
    lines = graph_lines(GAME, judge.values(), judge.judgements(), 1, 30, is_ascii=True)
    assert [line.rstrip() for line in lines] == [
        "black is better at the top",
        "???",
        "",
        "  #",
        "# #",
        "# ##",
        "# ##",
        " ^",
        "2 white: lost 1.60, better e5",
        "1 black: lost 1.00, better e5",
        "3 black: lost 0.80, better e5",
    ]


def test_a_long_match_is_drawn_in_the_columns_there_are_and_no_mark_is_lost():
    judge = judge_of(WON)
    for ply in judge.plies:
        judge.take(ply, analysis(ply, 0.9, "c5"))
    lines = graph_lines(GAME, judge.values(), judge.judgements(), 9, 4, is_ascii=False)
    assert all(len(line) <= 4 for line in lines[1:8])
    assert lines[1] == "????"
    assert lines[7] == "   ^"


def test_nothing_is_drawn_of_a_match_without_a_turn():
    assert graph_lines(GAME, [], [], 0, 30, is_ascii=True) == []


@pytest.mark.parametrize(
    ("value", "bar"),
    [(1.0, "black ########## white"), (0.0, "black #####..... white"), (-1.0, "black .......... white")],
)
def test_the_bar_is_filled_as_far_as_the_first_player_is_better(value, bar):
    assert value_bar(GAME, value, 22, is_ascii=True) == bar


def test_a_position_is_told_by_bar_words_and_the_best_turn_for_the_side_to_move():
    state = replay(MatchRecord("minefield", MINEFIELD, (RecordPlayer("ana"),) * 2, WON[:1]))[-1]
    assert evaluation_lines(GAME, state, analysis(1, 1.0), 22, is_ascii=True) == [
        "black .......... white",
        "white: +1.00 winning, it seems",
        "best: e5",
    ]


@pytest.mark.slow
async def test_a_process_searches_one_position_after_the_other():
    process = SearchProcess()
    try:
        for _ in range(2):
            found = await process.search(JOB)
            state = GAME.initial_state()
            for text in JOB.actions:
                state = state.apply(state.string_to_action(text))
            assert state.action_to_string(found.best.actions[0]) == "c5"
    finally:
        await process.close()
        await process.close()


@pytest.mark.slow
async def test_what_the_process_cannot_search_is_told_and_it_goes_on():
    process = SearchProcess()
    try:
        with pytest.raises(ClientError, match="over"):
            await process.search(SearchJob("minefield", MINEFIELD, WON, 0.1))
        assert (await process.search(JOB)).candidates
    finally:
        await process.close()


@pytest.mark.slow
async def test_the_process_explains_positions_and_grows_trees_as_the_commands_do():
    process = SearchProcess()
    try:
        explained = await process.explain(ExplainJob("minefield", MINEFIELD, WON[:8], "greedy"))
        assert explained.explanation.turns[0].actions == ("c5",)
        assert explained.explanation.terms
        assert "greedy" in explained.levels
        tree = await process.grow_tree(TreeJob("minefield", MINEFIELD, WON[:8], "minimax", 1))
        assert (tree.depth, tree.looked_at_count) == (1, 17)
        with pytest.raises(ClientError, match="over"):
            await process.explain(ExplainJob("minefield", MINEFIELD, WON))
        with pytest.raises(ClientError, match="no such tree"):
            await process.grow_tree(TreeJob("minefield", MINEFIELD, (), "random", 1))
    finally:
        await process.close()


@pytest.mark.slow
async def test_a_search_that_is_given_up_leaves_no_answer_behind_for_the_next():
    process = SearchProcess()
    try:
        await process.search(JOB)
        long_search = asyncio.create_task(process.search(SearchJob("minefield", MINEFIELD, (), 3600.0)))
        await asyncio.sleep(0)  # it is on its way now
        long_search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long_search
        assert (await process.search(JOB)).best.is_proven
    finally:
        await process.close()
