"""Trees: values passed up, cuts and counts, and what is left out of a big tree."""

from __future__ import annotations

import pytest

from tabuleiro.errors import BotError
from tabuleiro.rules import registry
from tabuleiro.rules.base import State
from tabuleiro.rules.perft import perft
from tabuleiro.rules.search_tree import SearchTree, TreeNode
from tabuleiro_server.bots import search_tree
from tabuleiro_server.bots.evaluation import find_evaluation
from tabuleiro_server.bots.look_ahead import LookAhead
from tabuleiro_server.bots.search_tree import grow_tree

ALL = 1_000


def position() -> State:
    options: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 3, "position": "...o/..oo/xx../xx.. 1 1"}
    return registry.load("virus-wars", options).initial_state()


def nodes_of(node: TreeNode) -> list[TreeNode]:
    return [node, *(each for child in node.children for each in nodes_of(child))]


def grown(engine: str, depth: int | None = None, width: int = ALL) -> SearchTree:
    return grow_tree(position(), engine, depth, width)


@pytest.mark.parametrize("engine", ["minimax", "minimax eval=pieces", "minimax weights=1,-1"])
def test_every_value_is_the_highest_or_lowest_of_those_below(engine: str) -> None:
    tree = grown(engine, 3)
    for node in nodes_of(tree.root):
        values = [child.value for child in node.children]
        if values:
            assert None not in values
            assert node.value == (max if node.to_move == tree.player else min)(values)  # type: ignore[type-var]
            (best,) = [child for child in node.children if child.is_best]
            assert best.value == node.value
        assert node.bound == ""


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_both_engines_agree_on_the_value_and_on_what_is_cut(depth: int) -> None:
    every, pruned = grown("minimax", depth), grown("alpha-beta", depth)
    assert every.root.value == pruned.root.value
    assert every.looked_at_count == every.all_count == sum(perft(position(), each) for each in range(1, depth + 1))
    assert pruned.looked_at_count == pruned.pruned_count == every.pruned_count
    assert pruned.all_count == every.all_count
    if depth == 3:
        assert pruned.pruned_count < every.all_count


def test_alpha_beta_leaves_branches_out_and_bounds_what_they_leave_open() -> None:
    tree = grown("alpha-beta", 3)
    exact = {node.text: node for node in grown("minimax", 3).root.children}
    cut = [node for node in nodes_of(tree.root) if node.is_cut]
    assert cut
    assert all(node.value is None and not node.children for node in cut)
    assert "at most" in {child.bound for child in tree.root.children}
    for child in tree.root.children:
        real = exact[child.text].value
        assert child.value is not None
        assert real is not None
        assert child.value == real if child.bound == "" else child.value >= real


def test_the_nodes_looked_at_are_those_that_the_search_itself_looks_at() -> None:
    search = LookAhead(position(), find_evaluation("virus-wars"), prunes=False)
    search.all(2)
    assert grown("minimax", 2).looked_at_count == search.nodes


def test_what_a_narrow_tree_does_not_show_is_counted() -> None:
    whole, narrow = grown("minimax", 3), grown("minimax", 3, 2)
    shown = nodes_of(narrow.root)
    assert len(shown) - 1 + sum(node.hidden_positions_count for node in shown) == whole.looked_at_count
    assert all(len(node.children) <= 2 for node in shown)
    for node in shown:
        if node.children:
            assert any(child.is_best for child in node.children)
    assert narrow.root.hidden_count == len(whole.root.children) - 2


def test_levels_have_trees_too_and_a_depth_of_their_own() -> None:
    assert grown("minimax-3").depth == 3
    assert grown("alpha-beta").depth == grown("Minimax eval=pieces").depth == 2
    with pytest.raises(BotError, match="looks 3 actions ahead by itself"):
        grown("minimax-3", 2)
    with pytest.raises(BotError, match="has no such tree"):
        grown("easy")


def test_too_many_positions_are_refused_or_counted_as_more_than_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_tree, "LOOKED_AT_MAX_COUNT", 50)
    with pytest.raises(BotError, match="more than 50 positions for minimax"):
        grown("minimax", 3)
    with pytest.raises(BotError, match="more than 50 positions: choose a smaller depth"):
        grown("alpha-beta", 3)
    monkeypatch.setattr(search_tree, "MADE_MAX_COUNT", 5)
    tree = grown("alpha-beta", 2)
    assert not tree.is_all_counted
    over = registry.load(
        "virus-wars", {"rows": 4, "cols": 4, "position": "XXXX/XXxX/XXXX/XXXo 1 1"}
    ).initial_state()
    with pytest.raises(BotError, match="the game is over"):
        grow_tree(over, "minimax", 1, ALL)
