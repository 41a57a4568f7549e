"""Getting kernels ready in the background, and what levels do until then."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pytest
import structlog

from tabuleiro.rules import Game, State, registry
from tabuleiro_server.bots import algorithms
from tabuleiro_server.bots.algorithms import MasterLevel
from tabuleiro_server.bots.engine import readiness
from tabuleiro_server.bots.engine.base import Searcher, SearchResult, ThinkingTime
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.readiness import Readiness
from tabuleiro_server.bots.engine.xero_g.plain import PlainXeroGSearcher
from tabuleiro_server.bots.levels import SEARCH_LEVELS, find_level

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
    searches = Readiness(kernels.make)
    assert searches.searcher(iris(), patience_s=0.0) is None
    kernels.are_compiled.set()
    assert searches.searcher(iris(), patience_s=LONG_S) is kernels


def test_kernels_are_compiled_once_however_often_they_are_wished_for() -> None:
    kernels = SlowKernels()
    searches = Readiness(kernels.make)
    searches.start()
    searches.start()
    assert searches.searcher(iris(), patience_s=0.0) is None
    kernels.are_compiled.set()
    assert searches.finish()
    assert sorted(kernels.made_for) == ["iris", "minefield", "virus-wars", "xero-g"]


def test_without_the_extra_there_is_no_search_and_nobody_waits_for_it() -> None:
    searches = Readiness(missing_extra)
    assert not searches.finish()
    assert searches.searcher(iris(), patience_s=LONG_S) is None


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

    searches = Readiness(fails_for_iris)
    with structlog.testing.capture_logs() as entries:
        assert not searches.finish()
    assert [(entry["log_level"], entry["game"]) for entry in entries] == [("error", "iris")]
    assert searches.searcher(iris(), patience_s=LONG_S) is None
    assert searches.searcher(registry.load("virus-wars"), patience_s=LONG_S) is not None


def test_kernels_are_compiled_elsewhere_before_they_are_loaded_here() -> None:
    order: list[str] = []

    def make(game: Game) -> Searcher:
        order.append(f"load {game.name}")
        return SlowKernels.compiled().make(game)

    searches = Readiness(make, ("iris", "minefield"))
    searches.start(lambda name: order.append(f"compile {name}"))
    assert searches.finish()
    assert order == ["compile iris", "load iris", "compile minefield", "load minefield"]


def test_no_process_is_started_for_kernels_that_are_kept_and_one_that_cannot_start_costs_memory_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = pytest.importorskip(
        "tabuleiro_server.bots.engine.kernels", reason="the extra `bots` is not installed"
    )

    def cannot_start(*arguments: object, **settings: object) -> object:
        raise OSError("no more processes")

    monkeypatch.setattr(kernels, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(kernels, "IS_KEPT", True)
    monkeypatch.setattr(readiness.subprocess, "Popen", cannot_start)
    readiness.mark_compiled("iris")
    with structlog.testing.capture_logs() as entries:
        readiness.compile_apart("iris")
        readiness.compile_apart("minefield")
    assert [(entry["game"], entry["reason"]) for entry in entries] == [("minefield", "no more processes")]


def test_the_search_of_another_game_takes_the_place_of_the_last_one() -> None:
    searches = Readiness(lambda game: SlowKernels.compiled().make(game))
    first = searches.searcher(iris(), patience_s=LONG_S)
    assert searches.searcher(iris(), patience_s=LONG_S) is first
    assert searches.searcher(registry.load("minefield"), patience_s=LONG_S) is not first
    assert searches.searcher(iris(), patience_s=LONG_S) is not first


def test_master_moves_in_plain_python_until_its_kernels_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = SlowKernels()
    monkeypatch.setattr(algorithms, "MASTER_KERNELS", Readiness(kernels.make, ("xero-g",)))
    monkeypatch.setattr(algorithms, "PATIENCE_S", 0.0)
    game = registry.load("xero-g", {"setup": "random", "seed": 1})
    master = find_level("xero-g", "master")
    assert isinstance(master, MasterLevel)
    assert isinstance(master.searcher(game, 0.0), PlainXeroGSearcher)
    actions = master.choose(game.initial_state(), Random(3), ThinkingTime(100)).actions
    assert actions[0] in game.initial_state().legal_actions()
    kernels.are_compiled.set()
    assert master.searcher(game, LONG_S) is kernels


def test_kernels_kept_for_another_installation_of_the_same_version_are_compiled_apart_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: the worker of the second one compiled them itself, and kept 500 MB."""
    kernels = pytest.importorskip(
        "tabuleiro_server.bots.engine.kernels", reason="the extra `bots` is not installed"
    )
    started = list[str]()

    def start(command: tuple[str, ...], **settings: object) -> object:
        started.append(command[-1])
        raise OSError("no more processes")

    for place in ("first", "second"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "search.py").touch()
    monkeypatch.setattr(kernels, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(kernels, "IS_KEPT", True)
    monkeypatch.setattr(readiness.subprocess, "Popen", start)
    monkeypatch.setattr(readiness, "SOURCES", tmp_path / "first")
    readiness.mark_compiled("iris")
    readiness.compile_apart("iris")
    assert started == []
    monkeypatch.setattr(readiness, "SOURCES", tmp_path / "second")
    readiness.compile_apart("iris")
    assert started == ["iris"]
