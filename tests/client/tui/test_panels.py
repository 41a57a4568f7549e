"""What stands beside and below the board: clocks, players, moves, notes. Values in, texts out."""

from __future__ import annotations

import msgspec
import pytest

from tabuleiro.clock import ByoYomi, Fischer, begin_turn, new_clock, pause
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import BotThought, SeatView
from tabuleiro.rules import registry
from tabuleiro.settings import RoomSettings
from tabuleiro_client.models.timeline import Timeline
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.present.notes import cell_note, compass, facts, move_rows, notes_of_cell
from tabuleiro_client.tui.present.players import (
    Urgency,
    brief_text,
    claim_text,
    clock_face,
    player_lines,
)

STYLE = TextStyle(color=False, ascii=True)
BLITZ = Fischer(60_000, 0)


@pytest.mark.parametrize(
    ("now_ms", "text", "urgency"),
    [
        (0, "1:00", Urgency.CALM),
        (29_000, "0:31", Urgency.CALM),
        (31_000, "0:29", Urgency.LOW),
        (55_100, "0:04.9", Urgency.CRITICAL),
        (70_000, "0:00.0", Urgency.CRITICAL),
    ],
)
def test_a_running_clock_gets_more_urgent(now_ms, text, urgency):
    clock = begin_turn(BLITZ, new_clock(BLITZ), 0, now_ms=0)
    face = clock_face(BLITZ, clock, 0, now_ms)
    assert (face.text, face.urgency, face.is_running) == (text, urgency, True)
    waiting = clock_face(BLITZ, clock, 1, now_ms)
    assert (waiting.text, waiting.urgency, waiting.is_running) == ("1:00", Urgency.CALM, False)


def test_byo_yomi_shows_the_periods_and_a_pause_shows_itself():
    control = ByoYomi(main_ms=10_000, period_ms=30_000, periods=5)
    clock = begin_turn(control, new_clock(control), 0, now_ms=0)
    assert clock_face(control, clock, 0, 15_000).text == "0:25 x4"
    paused = clock_face(control, pause(control, clock, 4_000), 0, 99_000)
    assert (paused.text, paused.is_running) == ("0:06.0 x5 paused", False)


def test_without_a_clock_there_is_no_face():
    assert clock_face(BLITZ, None, 0, 0) is None


def seat(kind: str, name: str, **changes: object) -> SeatView:
    holder = SeatInfo(kind, AccountId(name), name, level="minimax-1" if kind == "bot" else None)
    return msgspec.structs.replace(SeatView(holder, True), **changes)


def test_players_are_told_with_their_connections_and_thoughts(one_room):
    room = one_room()
    head = msgspec.structs.replace(
        room.head(),
        seats=(seat("person", "ana", is_connected=False, away_since_ms=TimestampMs(1_000)), seat("bot", "hal")),
        thinking=BotThought(1, TimestampMs(2_000)),
    )
    first, second = player_lines(head, room.game, (0,), 64_500, STYLE)
    assert (first.name, first.presence, first.is_away, first.is_to_move) == (
        "ana (you)",
        "away for 1:03",
        True,
        True,
    )
    assert (second.name, second.presence, second.is_away) == ("hal", "bot is thinking 1:02", False)
    assert (first.glyph, second.glyph) == ("x", "o")
    assert brief_text((first, second)) == "> x ana (you) (away)   o hal"


def test_a_win_is_claimed_only_from_an_opponent_who_is_away_for_long(one_room):
    away = seat("person", "rui", is_connected=False, away_since_ms=TimestampMs(0))
    settings = RoomSettings(away_after_ms=10_000)
    head = msgspec.structs.replace(one_room().head(), seats=(seat("person", "ana"), away), settings=settings)
    assert claim_text(head, (0,), 9_999) == ""
    assert claim_text(head, (0,), 10_000) == "your opponent has been away for long: F7 takes the win"
    assert claim_text(head, (), 10_000) == ""
    assert claim_text(head, (0, 1), 10_000) == ""
    begun = msgspec.structs.replace(head.match, can_abort=True)
    hardly_begun = msgspec.structs.replace(head, match=begun)
    assert claim_text(hardly_begun, (0,), 10_000) == "your opponent has been away for long: F7 ends the match"


def test_no_win_is_claimed_where_a_bot_stands_in(one_room):
    """The banner asked for a key that the server refuses there."""
    away = seat("person", "rui", is_connected=False, away_since_ms=TimestampMs(0))
    settings = RoomSettings(away_after_ms=10_000, stand_in_level="random")
    head = msgspec.structs.replace(one_room().head(), seats=(seat("person", "ana"), away), settings=settings)
    assert claim_text(head, (0,), 10_000) == ""


def test_moves_are_listed_a_turn_a_line_wrapped_and_the_one_on_the_board_marked():
    game = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2})
    turns = Timeline(game, ["b4", "c3", "c1", "c2"]).turns()
    rows = move_rows(turns, ("x", "o"), 4, 40)
    assert [(row.text, row.is_shown, row.ply) for row in rows] == [
        ("1 x b4 c3", False, 2),
        ("2 o c1 c2", True, 4),
    ]
    assert [row.text for row in move_rows(turns, ("", ""), 0, 7)] == ["1 ^ b4", "    c3", "2 v c1", "    c2"]


def test_a_forbidden_cell_says_why_on_demand():
    state = registry.load("minefield", {"size": 5}).initial_state()
    for text in ("b2", "c2", "e5", "e4"):
        state = state.apply(state.string_to_action(text))
    view = state.view()
    banned = [cell.index for cell in view.cells if "forbidden" in cell.marks]
    assert banned
    assert cell_note(view, banned[0]).endswith("forbidden (F3: why)")
    assert all("would make a" in hint.text for hint in notes_of_cell(view, banned[0]))


def test_groups_and_chains_are_told_of_their_cells():
    state = registry.load("iris", {"side": 5}).initial_state()
    for text in ("e5", "a1", "i5"):
        state = state.apply(state.string_to_action(text))
    view = state.view()
    assert cell_note(view, 0) == "a1, white stone, red, a group of 1 white stone scores 1"
    assert facts(state, view, ("black", "white")) == "black  groups 0\nwhite  groups 1 1"


def test_the_compass_shows_where_each_side_wants_to_go():
    ships = registry.load("xero-g").initial_state().view()
    assert compass(ships, ("south", "north")).splitlines()[0] == "  N    south goes up, to win there"
    assert compass(registry.load("minefield").initial_state().view(), ("black", "white")) == ""
