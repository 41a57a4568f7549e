"""Getting kernels ready in the background, and what levels do until then."""

from __future__ import annotations

import threading
from random import Random

import pytest
import structlog

from tabuleiro.rules import Game, State, registry
from tabuleiro_server.bots import algorithms
from tabuleiro_server.bots.engine.base import Searcher, SearchResult, ThinkingTime
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.readiness import Readiness
from tabuleiro_server.bots.levels import SEARCH_LEVELS

LONG_S = 60.0


class SlowKernels:
    """A search whose kernels are compiled when the test says so."""

    def __init__(self) -> None:
        self.are_compiled = threading.Event()
        self.made_for: list[str] = []

    @classmethod
    def compiled(cls) -> SlowKernels:
        """Return a search with compiled kernels."""
        kernels = cls()
        kernels.are_compiled.set()
        return kernels

    def make(self, game: Game) -> Searcher:
        self.made_for.append(game.name)
        return self

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        self.are_compiled.wait(LONG_S)
        return PlainSearcher().choose_turn(state, max_nodes=1, deadline_s=None, seed=seed)


def missing_extra(game: Game) -> Searcher:
    raise ModuleNotFoundError("No module named 'numba'")


def iris() -> Game:
    return registry.load("iris", {"side": 5})


def test_a_search_is_there_once_its_kernels_are_compiled() -> None:
    kernels = SlowKernels()
    readiness = Readiness(kernels.make)
    assert readiness.searcher(iris(), patience_s=0.0) is None
    kernels.are_compiled.set()
    assert readiness.searcher(iris(), patience_s=LONG_S) is kernels


def test_kernels_are_compiled_once_however_often_they_are_wished_for() -> None:
    kernels = SlowKernels()
    readiness = Readiness(kernels.make)
    readiness.start()
    readiness.start()
    assert readiness.searcher(iris(), patience_s=0.0) is None
    kernels.are_compiled.set()
    assert readiness.finish()
    assert sorted(kernels.made_for) == ["iris", "minefield", "virus-wars", "xero-g"]


def test_without_the_extra_there_is_no_search_and_nobody_waits_for_it() -> None:
    readiness = Readiness(missing_extra)
    assert not readiness.finish()
    assert readiness.searcher(iris(), patience_s=LONG_S) is None


@pytest.mark.parametrize("make", [missing_extra, SlowKernels().make])
@pytest.mark.parametrize(("name", "options"), [("iris", {"side": 6}), ("minefield", {"size": 13})])
def test_easy_moves_in_plain_python_until_kernels_are_ready(
    name: str, options: dict[str, int], make: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(make)
    monkeypatch.setattr(algorithms, "KERNELS", Readiness(make))
    monkeypatch.setattr(algorithms, "PATIENCE_S", 0.0)
    state = registry.load(name, options).initial_state()
    easy = SEARCH_LEVELS[name][0]
    turns = [easy.choose(state, Random(3), ThinkingTime(LONG_S * 1000)).actions for _ in range(2)]
    assert turns[0] == turns[1]
    for action in turns[0]:
        state = state.apply(action)
    assert state.turn_number == 2


def test_kernels_that_fail_keep_no_other_game_waiting() -> None:
    def fails_for_iris(game: Game) -> Searcher:
        if game.name == "iris":
            raise RuntimeError("no memory for machine code")
        return SlowKernels.compiled()

    readiness = Readiness(fails_for_iris)
    with structlog.testing.capture_logs() as entries:
        assert not readiness.finish()
    assert [(entry["log_level"], entry["game"]) for entry in entries] == [("error", "iris")]
    assert readiness.searcher(iris(), patience_s=LONG_S) is None
    assert readiness.searcher(registry.load("virus-wars"), patience_s=LONG_S) is not None
