"""Pictures of whole screens, with clocks that stand still. `pytest --snapshot-update` takes them again.

A picture is here for what is put together on a screen. Boards of every game and size are drawn as text in
`test_pictures`, the colours of the themes are compared in `test_looks`: both without an application.
"""

from __future__ import annotations

import random

import pytest

from tabuleiro.ids import RoomCode
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.rules import registry
from tabuleiro_client.models.records import RoomMatch, RoomMatches
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens.replay import ReplayScreen
from tabuleiro_client.tui.screens.tutorial import TutorialScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.themes import THEMES
from tests.client.tui.frozen import DRAW_OFFERED, frozen_app

SMALL, LARGE = (80, 24), (120, 40)
MIDDLES = {"virus-wars": 62, "xero-g": 16, "iris": 21, "minefield": 30}
"""How many actions of a random match are played in the picture of each game."""


def actions_of(game: str, count: int) -> list[str]:
    """The first actions of a match that is always the same; fewer when it ends before."""
    chance = random.Random(7)
    state = registry.load(game).initial_state()
    texts: list[str] = []
    while len(texts) < count and not state.is_terminal:
        action = chance.choice(state.legal_actions())
        texts.append(state.action_to_string(action))
        state = state.apply(action)
    return texts


@pytest.mark.parametrize("game", list(MIDDLES))
def test_a_match_of_each_game(snap_compare, game):
    app = frozen_app(game, actions_of(game, MIDDLES[game]))
    assert snap_compare(app, terminal_size=SMALL)


def test_a_match_in_a_large_window(snap_compare):
    app = frozen_app("virus-wars", actions_of("virus-wars", MIDDLES["virus-wars"]))
    assert snap_compare(app, terminal_size=LARGE)


@pytest.mark.parametrize("theme", [name for name in THEMES if name != "dark"])
def test_a_match_in_each_theme(snap_compare, theme):
    app = frozen_app("virus-wars", actions_of("virus-wars", MIDDLES["virus-wars"]), theme=theme)
    assert snap_compare(app, terminal_size=SMALL)


def test_a_match_in_plain_characters_without_colour(snap_compare, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = frozen_app("minefield", actions_of("minefield", MIDDLES["minefield"]), is_ascii=True)
    assert snap_compare(app, terminal_size=SMALL)


def test_a_turn_in_the_making_with_an_offer_waiting(snap_compare):
    app = frozen_app("virus-wars", actions_of("virus-wars", 60), offers=DRAW_OFFERED)
    assert snap_compare(app, terminal_size=SMALL, press=["end", "enter", "end", "enter"])


def test_a_typed_line_that_is_refused(snap_compare):
    app = frozen_app("minefield", actions_of("minefield", 30))
    assert snap_compare(app, terminal_size=SMALL, press=[*"b4", "enter"])


def test_a_ship_picked_shows_where_it_may_land(snap_compare):
    app = frozen_app("xero-g", actions_of("xero-g", 16))
    assert snap_compare(app, terminal_size=SMALL, press=["end", "enter", "end"])


def test_the_end_of_a_match(snap_compare):
    app = frozen_app("minefield", actions_of("minefield", 999))
    assert snap_compare(app, terminal_size=SMALL)


def test_the_end_of_a_match_without_room_for_the_panel(snap_compare):
    app = frozen_app("minefield", actions_of("minefield", 999))
    assert snap_compare(app, terminal_size=(60, 24))


def test_watching(snap_compare):
    app = frozen_app("virus-wars", actions_of("virus-wars", 62), screen=WatchScreen)
    assert snap_compare(app, terminal_size=SMALL, press=["left_square_bracket"])


def test_replaying(snap_compare):
    record = MatchRecord(
        "iris", {}, (RecordPlayer("Ana"), RecordPlayer("hal", "greedy")), tuple(actions_of("iris", 30))
    )
    app = TabuleiroApp(lambda: ReplayScreen(record), settings=Settings())
    assert snap_compare(app, terminal_size=SMALL, press=["9"])


@pytest.mark.parametrize(
    ("game", "keys"),
    [
        ("iris", ["9"]),
        ("minefield", ["9", "e"]),
        ("virus-wars", ["g", "a", "1", "2", "enter", "v"]),
        ("xero-g", ["9", "m"]),
    ],
)
def test_replaying_a_match_of_a_room(snap_compare, game, keys):
    actions = tuple(actions_of(game, 999 if game != "xero-g" else 30))
    players = (RecordPlayer("Ana"), RecordPlayer("hal", "greedy"))
    match = RoomMatch(MatchRecord(game, {}, players, actions), RoomCode("K7MQ4"), 2)
    matches = RoomMatches(never_asked)
    matches.last = 3
    app = TabuleiroApp(lambda: ReplayScreen(match.record, match, matches), settings=Settings())
    assert snap_compare(app, terminal_size=SMALL, press=keys)


async def never_asked(number: int | None) -> RecordPlayed:
    """A server that is not asked in a picture."""
    raise AssertionError(number)


def test_the_rules_beside_a_match(snap_compare):
    app = frozen_app("minefield", actions_of("minefield", 30))
    assert snap_compare(app, terminal_size=SMALL, press=["f2"])


def test_a_lesson_that_is_done(snap_compare):
    app = TabuleiroApp(lambda: TutorialScreen("virus-wars"), settings=Settings())
    assert snap_compare(app, terminal_size=SMALL, press=["pagedown", "f5"])


def test_the_page_of_keys(snap_compare):
    app = frozen_app("virus-wars")
    assert snap_compare(app, terminal_size=SMALL, press=["question_mark"])


def test_the_question_before_resigning(snap_compare):
    app = frozen_app("virus-wars")
    assert snap_compare(app, terminal_size=SMALL, press=["ctrl+x"])


def test_a_window_that_is_too_small(snap_compare):
    assert snap_compare(frozen_app("minefield"), terminal_size=(24, 10))


def test_a_part_of_a_board_that_is_larger_than_the_window(snap_compare):
    actions = ["k10", "a1", "j11", "b19"]
    assert snap_compare(frozen_app("minefield", actions, {"size": 19}), terminal_size=(60, 20))
