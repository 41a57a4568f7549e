"""Watching a match that goes on, and looking through a record."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import ClassVar

import pytest
from textual.pilot import Pilot
from textual.widgets import Static
from textual.widgets._footer import FooterKey

from tabuleiro.errors import ClientError
from tabuleiro.ids import RoomCode
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.notation.record_text import parse_record
from tabuleiro.protocol.messages import JoinRoom
from tabuleiro.rules import registry
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro.rules.base import Outcome, Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_client.models.analysis import SearchJob
from tabuleiro_client.models.records import RoomMatch, RoomMatches
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import enter
from tabuleiro_client.tui import launch
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens import replay as replay_screen
from tabuleiro_client.tui.screens.dialogs import ExportScreen
from tabuleiro_client.tui.screens.replay import ReplayScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.widgets.forms import FieldRow
from tests.client.tui.tables import Table, table, until
from tests.selection import rest_slow

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}
RECORD = MatchRecord(
    game="virus-wars",
    options=SMALL,
    players=(RecordPlayer("Ana"), RecordPlayer("hal", "minimax-1")),
    actions=("b4", "c3", "c1", "c2", "c2", "b3"),
    outcome=Outcome(0, Termination.RESIGNATION),
)


def line(app: TabuleiroApp, name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Static).render())


def watching(at: Table) -> WatchScreen:
    screen = at.screen
    assert isinstance(screen, WatchScreen)
    return screen


def watching_alone(app: TabuleiroApp) -> WatchScreen:
    screen = app.screen_stack[1]
    assert isinstance(screen, WatchScreen)
    return screen


async def test_a_private_room_is_watched_by_the_code_with_its_secret_as_the_room_shows_it(
    real_server, monkeypatch
):
    """`tabuleiro watch CODE-SECRET` said that there was no room of that name, in capital letters."""
    seen = []

    async def run(app: TabuleiroApp) -> int:
        async with app.run_test() as pilot:
            await until(pilot, lambda: watching_alone(app).is_whole)
            seen.append(watching_alone(app).room.code)
        return 0

    monkeypatch.setattr(launch, "run", run)
    private = RoomSettings(is_private=True)
    async with table(real_server, "virus-wars", SMALL, settings=private) as at:
        room = at.opponent.room
        address = f"{room.code.lower()}-{room.secrets.watch}"
        assert await launch.watch_in_room(real_server.url, address, name=None, is_ascii=False) == 0
        assert seen == [room.code]
        await at.app.session.leave()


async def test_a_watcher_looks_back_while_the_match_goes_on_and_comes_back_to_the_present(real_server):
    async with (
        table(real_server, "virus-wars", SMALL, is_watching=True) as at,
        Link(real_server.url, name="zoe") as zoe,
    ):
        async with (
            await enter(zoe, JoinRoom(id=0, room=at.opponent.room.code)) as first,
            at.app.run_test() as pilot,
        ):
            await until(pilot, lambda: at.screen.is_whole)
            model = watching(at).model
            offered = {active.binding.description for active in at.screen.active_bindings.values()}
            assert {"back", "why?"} <= offered
            assert not {"choose", "next"} & offered
            await first.play(["b4", "c3"])
            await until(pilot, lambda: model.timeline.last_ply == 2)
            await pilot.press("left_square_bracket")
            await until(
                pilot, lambda: line(at.app, "turn") == "looking back: action 1 of 2 (Ctrl-End shows the present)"
            )
            await until(pilot, lambda: at.opponent.room.mirror.is_my_turn)
            await at.opponent.room.play(["c1", "c2"])
            await until(pilot, lambda: model.timeline.last_ply == 4)
            assert model.ply == 1
            await until(
                pilot, lambda: line(at.app, "turn") == "looking back: action 1 of 4 (Ctrl-End shows the present)"
            )
            await pilot.press("1", "enter")
            assert model.ply == 2
            await pilot.press("dollar_sign")
            assert model.is_live
            assert model.ply == 4
            await pilot.click(at.screen.board, offset=at.screen.board.place_of(0))
            assert model.composer.actions == []
            await pilot.press("escape")
            await until(pilot, lambda: at.app.return_code == 0)


@pytest.fixture
def replaying() -> TabuleiroApp:
    return TabuleiroApp(lambda: ReplayScreen(RECORD), settings=Settings())


def model_of(app: TabuleiroApp):
    assert isinstance(app.screen, ReplayScreen)
    return app.screen.model


async def go(app: TabuleiroApp, pilot: Pilot[int], *keys: str) -> int:
    await pilot.press(*keys)
    return model_of(app).ply


async def test_the_footer_of_a_replay_has_room_for_all_its_keys_at_80_columns():
    """Symptom: the last one, help, stood out of sight as soon as a room had several matches."""

    async def ask(number: int | None):
        raise AssertionError(number)

    matches = RoomMatches(ask)
    matches.last = 3
    match = RoomMatch(RECORD, RoomCode("K7MQ4"), 2)
    app = TabuleiroApp(lambda: ReplayScreen(RECORD, match, matches), settings=Settings())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query(FooterKey))
        ends = {key.description: key.region.right for key in app.screen.query(FooterKey)}
        assert {"step", "save", "help"} <= ends.keys()
        assert [name for name, end in ends.items() if not 0 < end <= 80] == [], ends


async def test_the_position_that_is_shown_is_copied_as_text(replaying):
    async with replaying.run_test() as pilot:
        assert await go(replaying, pilot, "right_square_bracket") == 1
        await pilot.press("ctrl+b")
        game = registry.load("virus-wars", SMALL)
        first = game.initial_state()
        shown = first.child(first.string_to_action(RECORD.actions[0])).to_position()
        assert replaying.clipboard == shown
        assert line(replaying, "say") == f"position (copied, if your terminal allows it): {shown}"


async def test_a_record_is_stepped_through_and_jumped_about_in(replaying):
    async with replaying.run_test() as pilot:
        assert line(replaying, "turn") == "action 0 of 6: blue to move"
        assert line(replaying, "record").splitlines()[-1] == "1-0  blue wins: red resigned"
        assert await go(replaying, pilot, "right_square_bracket") == 1
        assert await go(replaying, pilot, "right_curly_bracket") == 2
        assert await go(replaying, pilot, "right_curly_bracket") == 4
        assert await go(replaying, pilot, "left_square_bracket") == 3
        assert await go(replaying, pilot, "left_curly_bracket") == 2
        assert await go(replaying, pilot, "dollar_sign") == 6
        assert await go(replaying, pilot, "right_square_bracket") == 6
        assert await go(replaying, pilot, "0") == 0
        assert await go(replaying, pilot, "g", "2", "enter") == 4
        assert await go(replaying, pilot, "g", "a", "5", "enter") == 5
        assert await go(replaying, pilot, "g", "7", "enter") == 5
        assert line(replaying, "say").startswith("cannot read '7': expected a turn from 1 to 3, an action from a0")


async def test_the_end_of_a_record_says_how_the_match_ended(replaying):
    async with replaying.run_test() as pilot:
        await pilot.press("dollar_sign")
        assert line(replaying, "turn") == "action 6 of 6, the end: blue wins: red resigned"


async def test_a_record_without_an_end_is_told_as_unfinished():
    unfinished = replace(RECORD, outcome=None)
    app = TabuleiroApp(lambda: ReplayScreen(unfinished), settings=Settings())
    async with app.run_test() as pilot:
        assert line(app, "record").splitlines()[-1] == "*  unfinished"
        await pilot.press("dollar_sign")
        assert line(app, "turn") == "action 6 of 6, unfinished: red to move"


async def test_autoplay_runs_to_the_end_and_stops(replaying):
    async with replaying.run_test() as pilot:
        await pilot.press("plus", "plus", "plus", "space")
        assert line(replaying, "say") == "autoplay, 0.25 s an action (Space stops)"
        await until(pilot, lambda: model_of(replaying).is_at_end)
        assert line(replaying, "say") == ""
        await pilot.press("space")
        assert model_of(replaying).ply == 0
        await until(pilot, lambda: model_of(replaying).ply == 2)
        await pilot.press("0", "space", "space")
        assert model_of(replaying).ply == 0


class Search:
    """A search that finds the first legal actions at once, good for whoever is to move; or a problem."""

    problem = ""
    jobs: ClassVar[list[SearchJob]] = []

    async def search(self, job: SearchJob) -> Analysis:
        self.jobs.append(job)
        await asyncio.sleep(0)
        if self.problem:
            raise ClientError(self.problem)
        state = registry.load(job.game, job.options).initial_state()
        for text in job.actions:
            state = state.apply(state.string_to_action(text))
        action = state.legal_actions()[0]
        return Analysis((Candidate((action,), (action,), 0.4),), 10)

    async def close(self) -> None:
        self.jobs.clear()


@pytest.fixture
def quick_search(monkeypatch):
    monkeypatch.setattr(replay_screen, "SearchProcess", Search)


async def test_the_value_and_the_best_turn_of_each_position_are_shown_and_hidden_again(quick_search, replaying):
    async with replaying.run_test(size=(120, 32)) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: "best: " in line(replaying, "evaluation"))
        assert line(replaying, "evaluation").splitlines()[1] == "blue: +0.40 better"
        await pilot.press("right", "right")
        await until(pilot, lambda: "red: +0.40 better" in line(replaying, "evaluation"))
        assert Search.jobs[-1].actions == ("b4", "c3")
        searched_count = len(Search.jobs)
        await pilot.press("home", "a", "right")
        assert line(replaying, "evaluation") == ""
        assert len(Search.jobs) == searched_count, "what was searched is known, and now nothing is asked"


async def test_the_whole_match_is_judged_with_a_graph_and_marks_at_the_worst_turns(quick_search, replaying):
    async with replaying.run_test(size=(120, 32)) as pilot:
        await pilot.press("A")
        await until(pilot, lambda: not model_of(replaying).is_judging)
        graph = line(replaying, "graph")
        assert graph.splitlines()[0] == "blue is better at the top"
        assert "1 blue: lost 0.80, better " in graph
        assert model_of(replaying).turn_marks() == {1: "??", 2: "??", 3: "??"}
        await pilot.press("A")
        assert line(replaying, "say") == "every turn is judged"


async def test_judging_can_be_stopped_and_says_how_far_it_is(monkeypatch, replaying):
    never = asyncio.Event()

    class SlowSearch(Search):
        async def search(self, job: SearchJob) -> Analysis:
            if job.actions:
                await never.wait()
            return await super().search(job)

    monkeypatch.setattr(replay_screen, "SearchProcess", SlowSearch)
    async with replaying.run_test(size=(120, 32)) as pilot:
        await pilot.press("A")
        await until(pilot, lambda: "1 of 4 positions" in line(replaying, "say"))
        await pilot.press("A")
        assert line(replaying, "say") == ""
        assert not model_of(replaying).is_judging
        await pilot.press("right")
        assert model_of(replaying).ply == 1


async def test_a_search_that_cannot_be_had_says_why_and_asks_no_more(monkeypatch, quick_search, replaying):
    monkeypatch.setattr(Search, "problem", "the engine is not installed")
    async with replaying.run_test() as pilot:
        await pilot.press("a")
        await until(pilot, lambda: line(replaying, "say") == "the engine is not installed")
        assert not model_of(replaying).is_evaluating


async def test_a_window_without_a_panel_tells_the_value_below_the_board(quick_search, replaying):
    async with replaying.run_test(size=(34, 20)) as pilot:
        await pilot.press("a")
        assert replaying.screen.has_class("narrow")
        await until(pilot, lambda: line(replaying, "say").startswith("blue: +0.40"))


async def test_moves_are_tried_from_anywhere_and_the_record_stays_as_it_was(replaying):
    async with replaying.run_test() as pilot:
        model = model_of(replaying)
        await pilot.press("right_curly_bracket", "v")
        assert line(replaying, "turn").startswith("trying moves from action 2, 0 tried: red to move")
        place = replaying.screen.board.place_of(2)
        await pilot.click(replaying.screen.board, offset=place)
        await pilot.press("d", "2", "enter")
        assert model.line.actions == ["b4", "c3", "c1", "d2"]
        await pilot.press("backspace")
        assert model.line.actions == ["b4", "c3", "c1"]
        await pilot.press("backspace", "backspace")
        assert model.line.actions == ["b4", "c3"]
        await pilot.press("escape")
        assert model.branch is None
        assert model.line.actions == list(RECORD.actions)
        assert model.ply == 2


async def test_moves_tried_are_stepped_through_and_are_there_again(replaying):
    # A step back in a branch used to throw all of it away.
    async with replaying.run_test() as pilot:
        model = model_of(replaying)
        await pilot.press("right_curly_bracket", "v")
        for action in ("c1", "d2", "d3"):
            await pilot.press(*action, "enter")
        assert model.branch.actions == ["b4", "c3", "c1", "d2", "d3"]
        await pilot.press("left_square_bracket")
        assert line(replaying, "turn") == "trying moves from action 2, 2 of 3 tried: blue to move"
        await pilot.press("left_curly_bracket", "left_curly_bracket")
        assert line(replaying, "say") == "the moves tried begin here: Esc goes back to the record"
        await pilot.press("right_curly_bracket", "right_square_bracket")
        assert model.tried_ply == 5
        await pilot.press("escape")
        assert (model.branch, model.ply) == (None, 2)
        await pilot.press("v")
        assert model.branch.actions == ["b4", "c3", "c1", "d2", "d3"]
        await pilot.press("left_square_bracket", "left_square_bracket", *"c2", "enter")
        assert model.branch.actions == ["b4", "c3", "c1", "c2"]
        await pilot.press("escape", "right_square_bracket", "v")
        assert model.branch.actions == ["b4", "c3", "c1"]


async def test_a_click_on_the_record_says_how_to_try_moves_and_enter_does(replaying):
    async with replaying.run_test() as pilot:
        await pilot.click(replaying.screen.board, offset=replaying.screen.board.place_of(2))
        assert line(replaying, "say") == "F6 branches off here to try moves"
        await pilot.press("enter")
        assert model_of(replaying).branch is not None


async def test_a_record_is_written_into_a_file_that_is_not_there_yet(replaying, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with replaying.run_test() as pilot:
        await pilot.press("e")
        await until(pilot, lambda: isinstance(replaying.screen, ExportScreen))
        await pilot.press("enter")
        await until(pilot, lambda: line(replaying, "say") == "written to virus-wars.txt")
        assert parse_record((tmp_path / "virus-wars.txt").read_text()).actions == RECORD.actions
        await pilot.press("e")
        await until(pilot, lambda: isinstance(replaying.screen, ExportScreen))
        await pilot.press("enter")
        row = replaying.screen.query(FieldRow).first()
        await until(pilot, lambda: str(row.query_one(".hint").render()) == "! there is such a file already")
        await pilot.press("ctrl+u", *"a.json", "tab", "right", "enter")
        await until(pilot, lambda: line(replaying, "say") == "written to a.json")
        assert json.loads((tmp_path / "a.json").read_text())["header"]["game"]["name"] == "Virus Wars"


@pytest.mark.parametrize(
    ("name", "problem"),
    rest_slow(
        [
            ("nowhere/x.txt", "No such file"),
            ("", "expected the name of a file"),
            ("~nobody-of-this-name/x", "home"),
        ]
    ),
)
async def test_a_file_that_cannot_be_written_is_told_at_its_field(replaying, tmp_path, monkeypatch, name, problem):
    monkeypatch.chdir(tmp_path)
    async with replaying.run_test() as pilot:
        await pilot.press("e")
        await until(pilot, lambda: isinstance(replaying.screen, ExportScreen))
        await pilot.press("ctrl+u", *name, "enter")
        row = replaying.screen.query(FieldRow).first()
        await until(pilot, lambda: problem in str(row.query_one(".hint").render()))
        assert row.text == name
        assert list(tmp_path.iterdir()) in ([], [tmp_path / "config"])
