"""Learning on the screens: the rules and the pieces beside a board, and the tutorial from the home screen."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.text.lessons import LESSONS
from tabuleiro_client.tui.screens.board_screen import BoardScreen
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.screens.rules import RulesScreen
from tabuleiro_client.tui.screens.tutorial import TutorialScreen
from tabuleiro_client.tui.widgets.rules_page import RulesPanel
from tests.client.tui.frozen import frozen_app
from tests.client.tui.visits import visit


def words_of(screen: BoardScreen, name: str) -> str:
    return str(screen.query_one(f"#{name}").content)


async def test_f2_opens_the_rules_of_the_game_beside_its_board_and_closes_them_again():
    app = frozen_app("minefield")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        board = app.screen.board
        layout = board.layout_shown
        await pilot.press("f2")
        await pilot.pause()
        panel = app.screen.query_one(RulesPanel)
        assert panel.region
        assert panel.has_focus
        assert words_of(app.screen, "page").startswith("MINEFIELD")
        assert board.layout_shown.size is layout.size
        assert app.screen.query_one("#players").region
        assert not app.screen.query_one("#chat").region
        await pilot.press("pagedown")
        await pilot.pause()
        assert panel.scroll_offset.y > 0
        await pilot.press("tab")  # the board can be played on beside them
        assert board.has_focus
        assert panel.region
        await pilot.press("f2")
        assert panel.has_focus
        await pilot.press("f2")
        await pilot.pause()
        assert not panel.region
        assert board.has_focus
        assert app.screen.query_one("#chat").region
        assert isinstance(app.screen, MatchScreen)


async def test_without_room_beside_the_board_the_rules_of_the_game_lie_over_it():
    app = frozen_app("minefield")
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert app.screen.board.layout_shown.is_bare
        await pilot.press("f2")
        await pilot.pause()
        assert isinstance(app.screen, RulesScreen)
        assert app.screen.game == "minefield"
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, MatchScreen)


@pytest.mark.parametrize(
    ("game", "told"),
    [
        ("virus-wars", "x blue virus  X blue zombie  % asleep o red virus  O red zombie  @ asleep"),
        ("minefield", "B black stone  W white stone"),
    ],
)
async def test_the_panel_names_the_pieces_as_they_are_drawn(game, told):
    app = frozen_app(game, is_ascii=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert words_of(app.screen, "legend").split() == told.split()


async def test_a_game_is_learned_from_the_home_screen():
    async with visit() as at:
        await at.arrive(HomeScreen)
        await at.press("t")
        await at.arrive(PickerScreen)
        await at.press("enter")
        screen = await at.arrive(TutorialScreen)
        lessons = LESSONS["virus-wars"]
        assert screen.course.game == registry.names()[0] == "virus-wars"
        assert words_of(screen, "lesson") == f"{lessons[0].title}\n\n{lessons[0].task}"


@pytest.mark.parametrize("game", registry.names())
async def test_a_lesson_is_solved_by_typing_and_enter_goes_on(game):
    async with visit() as at:
        at.app.push_screen(TutorialScreen(game))
        screen = await at.arrive(TutorialScreen)
        lessons = LESSONS[game]
        await at.press(*("space" if letter == " " else letter for letter in lessons[0].slip))
        await at.press("enter")
        assert not screen.course.is_solved
        assert words_of(screen, "say")
        await at.press("f5")
        assert words_of(screen, "say") == f"Right. {lessons[0].insight}"
        assert words_of(screen, "course").splitlines()[0].endswith("- done")
        screen.board.focus()
        await at.press("enter")
        assert screen.course.number == 1
        assert words_of(screen, "turn") == f"2 of {len(lessons)}: {lessons[1].title}"
