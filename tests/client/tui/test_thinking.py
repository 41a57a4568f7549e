"""What bots think, on the screens: explanations in a match and in a replay, and the tree of a search."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import Static

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import Explanation
from tabuleiro.rules import State, registry
from tabuleiro_client.models.analysis import Explained, ExplainJob, TreeJob
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens import replay as replay_screen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.replay import ReplayScreen
from tabuleiro_client.tui.screens.thinking import ExplainScreen, TreeScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_server.bots.explanation import explain
from tabuleiro_server.bots.levels import level_names
from tabuleiro_server.bots.search_tree import grow_tree
from tests.client.tui.frozen import frozen_app
from tests.client.tui.tables import until

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}


def text_of(app: TabuleiroApp, name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Static).render())


def words(app: TabuleiroApp) -> str:
    """What the page says, without the line ends that its width has put in."""
    return " ".join(text_of(app, "thoughts").split())


class Bots:
    """Stands in for the server: it explains, or refuses."""

    def __init__(self, app: TabuleiroApp, refusal: CommandError | None = None) -> None:
        self.asked: list[tuple[str | None, int | None]] = []
        self._app = app
        self._refusal = refusal

    async def explain(self, level: str | None = None, ply: int | None = None) -> Explanation:
        self.asked.append((level, ply))
        if self._refusal is not None:
            raise self._refusal
        screen = self._app.screen_stack[1]
        assert isinstance(screen, MatchScreen | WatchScreen)
        timeline = screen.model.timeline
        return explain(timeline.states[timeline.last_ply if ply is None else ply], level, 5, 500)


@pytest.mark.parametrize("game", registry.names())
@pytest.mark.parametrize("key", ["f10", "ctrl+f"])
async def test_one_key_tells_in_every_game_what_each_choice_is_worth(game, key):
    options: dict[str, int | str] = {"setup": "random", "seed": 3} if game == "xero-g" else {}
    app = frozen_app(game, (), options)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        bots = Bots(app)
        app.screen.open_room.room.explain = bots.explain
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ExplainScreen) and words(app))
        assert bots.asked == [(None, None)]
        side = registry.game_type(game).sides[0]
        assert f"for {side}, who is to move; values are" in words(app)
        assert "the position: " in words(app)
        assert " 1. " in text_of(app, "thoughts")
        await pilot.press("escape")
        assert isinstance(app.screen, MatchScreen)


async def test_another_level_is_asked_by_its_name_on_the_page_or_after_a_slash_on_the_board():
    app = frozen_app("virus-wars", (), SMALL)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        bots = Bots(app)
        app.screen.open_room.room.explain = bots.explain
        await pilot.press("slash", *"explain", "space", *"minimax-3", "enter")
        await until(pilot, lambda: isinstance(app.screen, ExplainScreen) and "3 actions deep" in words(app))
        assert "minimax-3" in text_of(app, "names")
        await pilot.press("e", *"random", "enter")
        await until(pilot, lambda: "the chance to be chosen" in words(app))
        assert bots.asked == [("minimax-3", None), ("random", None)]
        await pilot.press("left")
        await until(pilot, lambda: "3 actions deep" in words(app))


async def test_a_command_that_is_none_is_named_with_what_would_be_right():
    app = frozen_app("virus-wars", (), SMALL)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("slash", *"explode", "enter")
        await until(pilot, lambda: "expected /explain, or /explain LEVEL" in text_of(app, "say"))


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (CommandError(ErrorCode.NOT_ALLOWED, "ask again after the end"), "ask again after the end"),
        (CommandError(ErrorCode.BAD_MESSAGE, "unknown"), "this server is older and cannot explain"),
    ],
)
async def test_where_it_is_not_allowed_the_reason_is_said_below_the_board(refusal, told):
    app = frozen_app("iris", ["e5"], screen=WatchScreen)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        app.screen.open_room.room.explain = Bots(app, refusal).explain
        await pilot.press("f10")
        await until(pilot, lambda: told in text_of(app, "say"))
        assert isinstance(app.screen, WatchScreen)


async def test_after_the_end_the_position_looked_back_at_is_explained():
    actions = ["e5", "pass", "pass"]
    app = frozen_app("iris", actions)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        bots = Bots(app)
        app.screen.open_room.room.explain = bots.explain
        await pilot.press("ctrl+left", "ctrl+left", "f10")
        await until(pilot, lambda: isinstance(app.screen, ExplainScreen))
        assert bots.asked == [(None, 1)]


class Search:
    """Stands in for the process of a replay: the same work, in this one."""

    def __init__(self) -> None:
        self.jobs: list[Any] = []

    def state_of(self, job: ExplainJob | TreeJob) -> State:
        self.jobs.append(job)
        state = registry.load(job.game, job.options).initial_state()
        for text in job.actions:
            state = state.apply(state.string_to_action(text))
        return state

    async def explain(self, job: ExplainJob) -> Explained:
        return Explained(explain(self.state_of(job), job.level, 5, 500), level_names(job.game))

    async def grow_tree(self, job: TreeJob) -> Any:
        if job.engine == "nonsense":
            raise ClientError("nonsense has no such tree")
        return grow_tree(self.state_of(job), job.engine, job.depth, 3)

    async def close(self) -> None:
        """There is no process."""


def replaying(monkeypatch: pytest.MonkeyPatch, search: Search) -> TabuleiroApp:
    monkeypatch.setattr(replay_screen, "SearchProcess", lambda: search)
    record = MatchRecord("virus-wars", SMALL, (RecordPlayer("ana"), RecordPlayer("rui")), ("a3", "b2", "d2", "c2"))
    return TabuleiroApp(lambda: ReplayScreen(record), settings=Settings())


async def test_a_replay_explains_the_position_shown_by_every_level(monkeypatch):
    search = Search()
    app = replaying(monkeypatch, search)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("right", "right", "x")
        await until(pilot, lambda: isinstance(app.screen, ExplainScreen) and words(app))
        assert search.jobs[0].actions == ("a3", "b2")
        assert "for red, who is to move" in words(app)
        assert all(level in text_of(app, "names") for level in level_names("virus-wars"))
        await pilot.press("right")
        await until(pilot, lambda: len(search.jobs) == 2)
        assert search.jobs[1].level == level_names("virus-wars")[2]


async def test_a_replay_shows_the_tree_of_a_search_with_its_counts(monkeypatch):
    search = Search()
    app = replaying(monkeypatch, search)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("right", "t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen) and "with pruning" in words(app))
        assert "alpha-beta depth=2, 2 actions deep; values are for blue" in words(app)
        assert "2 actions deep" in words(app)
        await pilot.press("1")
        await until(pilot, lambda: "1 action deep" in words(app))
        await pilot.press("3")
        await until(pilot, lambda: "3 actions deep" in words(app))
        await pilot.press("right")
        await until(pilot, lambda: "minimax depth=3" in words(app))
        await pilot.press("space")
        await until(pilot, lambda: app.screen.query_one("VerticalScroll").scroll_offset.y > 0)
        await pilot.press("e", *"nonsense", "enter")
        await until(pilot, lambda: "no such tree" in text_of(app, "say"))
        assert [(job.engine, job.depth) for job in search.jobs] == [
            ("alpha-beta", 2),
            ("alpha-beta", 1),
            ("alpha-beta", 3),
            ("minimax", 3),
        ]
        await pilot.press("escape")
        assert isinstance(app.screen, ReplayScreen)
