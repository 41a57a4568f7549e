"""Playing on the match screen: offers, resigning, talking, undoing, losing the connection, resizing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tabuleiro.ids import AccountId, Ply
from tabuleiro.protocol.events import HintTaken, SequencedEvent
from tabuleiro.protocol.messages import Error, FirstTurn, Offer, Play, Say, Update, WatchRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Backoff, Link, LinkSettings
from tabuleiro_client.net.mirror import Mirror
from tabuleiro_client.net.room import Happened, Said, enter
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui import pacing
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.match_model import MatchModel
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.screens import room_view
from tabuleiro_client.tui.screens.help import HelpScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.questions import ConfirmScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.widgets.bars import Line, TopBar
from tabuleiro_client.tui.widgets.chat import Chat, Entry
from tests.client.tui.tables import Table, table, until

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}


def text_of(at: Table, name: str) -> str:
    return str(at.screen.query_one(f"#{name}", Static).render())


async def entered(at: Table, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: at.screen.model.can_act)


async def type_actions(pilot: Pilot[int], text: str) -> None:
    await pilot.press(*("space" if character == " " else character for character in text), "enter")


async def test_a_turn_waits_for_the_word_to_send_it_and_can_be_undone_before(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4 c3")
        assert text_of(at, "turn") == "your turn is complete"
        assert at.opponent.room.mirror.actions == []
        await pilot.press("backspace")
        assert at.screen.model.composer.texts() == ["b4"]
        await type_actions(pilot, "b3")
        await pilot.press("enter")
        await until(pilot, lambda: at.opponent.room.mirror.actions == ["b4", "b3"])


async def test_with_the_setting_a_complete_turn_is_sent_by_itself(real_server):
    looks = Settings(asks_before_sending=False)
    async with table(real_server, "virus-wars", SMALL, looks=looks) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4 c3")
        await until(pilot, lambda: at.opponent.room.mirror.actions == ["b4", "c3"])


async def test_an_action_sent_early_is_undone_on_the_server(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4")
        await pilot.press("ctrl+e")
        await until(pilot, lambda: at.opponent.room.mirror.actions == ["b4"])
        await entered(at, pilot)
        await pilot.press("backspace")
        await until(pilot, lambda: at.opponent.room.mirror.actions == [])


async def test_a_turn_not_sent_before_the_end_is_not_on_the_board_of_the_match_that_is_over(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4 c3")
        assert at.screen.model.composer.texts() == ["b4", "c3"]
        await pilot.press("ctrl+x", "y")
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
        assert at.screen.model.view == at.opponent.room.mirror.state.view()
        assert text_of(at, "end").startswith("You lose: blue resigned")
        # It was still there when the rematch began from the same position.
        await pilot.press("ctrl+r")
        await at.opponent.room.offer("rematch")
        await until(pilot, lambda: at.opponent.room.mirror.head.phase == "playing")
        await until(pilot, lambda: at.screen.model.mirror.head.phase == "playing")
        assert at.screen.model.composer.actions == []


async def test_what_is_wrong_with_a_typed_action_is_said_without_its_column(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4 d1")
        assert text_of(at, "say") == "'d1': you have no virus or awake zombie next to it"


async def test_tab_goes_from_one_cell_that_can_be_chosen_to_the_next(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        names = []
        for key in ("tab", "tab", "tab", "shift+tab"):
            await pilot.press(key)
            names.append(at.screen.model.view.cells[at.screen.board.cursor].name)
        assert names == ["b4", "a3", "b3", "a3"]


async def test_the_footer_offers_a_rematch_after_the_match_and_a_yes_only_to_the_other(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)

        def keys_now() -> set[str]:
            return {active.binding.description for active in at.screen.active_bindings.values()}

        assert not {"rematch", "yes", "no"} & keys_now()
        assert "choose" in keys_now()
        await pilot.press("ctrl+x", "y")
        await until(pilot, lambda: "rematch" in keys_now() and "choose" not in keys_now())
        assert any(
            active.binding.show and active.binding.key == "ctrl+r" for active in at.screen.active_bindings.values()
        )
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "no" in keys_now())
        assert "yes" not in keys_now()


async def test_what_is_too_long_for_a_line_is_said_in_two(real_server):
    # What the server said about its restart was cut at 80 columns.
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test(size=(80, 24)) as pilot:
        await entered(at, pilot)
        line = at.screen.query_one("#say")
        at.screen.say("the server says: " + "a long word " * 6 + "and the end")
        await until(pilot, lambda: line.size.height == 2)
        shown = [line.render_line(row).text.rstrip() for row in range(2)]
        assert " ".join(shown).endswith("and the end")
        at.screen.say("short")
        await until(pilot, lambda: line.size.height == 1)


@pytest.mark.slow
async def test_the_panel_gives_way_when_words_come_back_to_the_edges_of_the_board(real_server):
    # A rematch of Virus Wars from the edges said that the window was too small.
    options: dict[str, int | str] = {"rows": 10, "cols": 10, "steps": 3, "opening": "edges"}
    async with table(real_server, "virus-wars", options) as at, at.app.run_test(size=(80, 24)) as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "a1 a2 a3")
        await pilot.press("enter")
        await until(pilot, lambda: at.opponent.room.mirror.is_my_turn)
        await at.opponent.room.play(["j1", "j2", "j3"])
        await entered(at, pilot)
        await until(
            pilot, lambda: not at.screen.model.view.edges and at.screen.query_one("#panel").size.width > 36
        )
        await pilot.press("ctrl+x", "y")
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
        await pilot.press("ctrl+r")
        await at.opponent.room.offer("rematch")
        await until(pilot, lambda: at.screen.model.view.edges)
        await until(pilot, lambda: at.screen.board.layout_shown is not None)


@pytest.mark.parametrize("key", ["f3", "enter"])
async def test_what_is_said_of_a_cell_makes_room_for_what_there_is_to_do_when_the_cursor_goes_on(real_server, key):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4")
        await pilot.press("end", "home", "right", "right", key)
        await until(pilot, lambda: "next to it" in text_of(at, "say"))
        await pilot.press("left")
        await until(pilot, lambda: text_of(at, "say") == "b4 chosen. Choose 1 more, or ^e sends the turn as it is")


async def test_an_illegal_choice_says_why(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        place = at.screen.board.place_of(3)
        await pilot.click(at.screen.board, offset=place)
        assert text_of(at, "say") == "d1: you have no virus or awake zombie next to it"


async def test_a_draw_is_among_the_commands_only_where_the_rules_know_one(real_server, monkeypatch):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        assert not at.screen.check_action("offer", ("draw",))
        assert at.screen.check_action("offer", ("takeback",))
        monkeypatch.setattr(type(at.screen.model.mirror.game), "has_draws", True)
        assert at.screen.check_action("offer", ("draw",))


@pytest.mark.usefixtures("draws_in_virus_wars")
async def test_a_draw_offered_by_the_other_is_accepted_by_a_key(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await at.opponent.room.offer("draw")
        await until(pilot, lambda: at.screen.query_one("#offer").has_class("open"))
        assert text_of(at, "offer") == "rui offers a draw: F7 accepts, F8 declines"
        await pilot.press("f7")
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
        assert text_of(at, "end").splitlines()[0] == "A draw by agreement"


@pytest.mark.usefixtures("draws_in_virus_wars")
async def test_an_own_offer_shows_and_a_decline_is_told(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("ctrl+d", "y")
        await until(pilot, lambda: text_of(at, "offer") == "you offer a draw: F8 withdraws")
        await at.opponent.room.answer("draw", accept=False)
        await until(pilot, lambda: text_of(at, "say") == "your draw offer was declined")
        assert not at.screen.query_one("#offer").has_class("open")


async def test_a_turn_is_taken_back_when_the_other_agrees(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b4 c3")
        await pilot.press("enter")
        await until(pilot, lambda: len(at.opponent.room.mirror.actions) == 2)
        await until(pilot, lambda: not at.screen.model.is_sending)
        await pilot.press("ctrl+u", "y")
        await until(pilot, lambda: at.opponent.room.mirror.head.offers)
        await at.opponent.room.answer("takeback", accept=True)
        await until(pilot, lambda: text_of(at, "say") == "you took the last turn back")
        assert at.screen.model.mirror.actions == []


async def test_resigning_asks_first_and_a_rematch_begins_with_seats_swapped(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("ctrl+x")
        assert isinstance(at.app.screen, ConfirmScreen)
        await pilot.press("n")
        assert at.screen.model.mirror.head.phase == "playing"
        await pilot.press("ctrl+x", "y")
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
        assert text_of(at, "end").splitlines()[:2] == [
            "You lose: blue resigned",
            "^r rematch   <- look back   Esc leave",
        ]
        await at.opponent.room.offer("rematch")
        await until(pilot, lambda: at.screen.query_one("#offer").has_class("open"))
        await pilot.press("f7")
        await until(pilot, lambda: at.screen.model.mirror.own_seats == (1,))
        assert at.screen.model.mirror.head.phase == "playing"
        await until(pilot, lambda: not at.screen.query_one("#end").has_class("open"))


async def test_a_match_hardly_begun_is_aborted_after_a_question(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("ctrl+a", "y")
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
        assert text_of(at, "end").splitlines()[0] == "The match was aborted"


async def test_words_go_both_ways(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("f4", "h", "i", "enter")
        await until(pilot, lambda: at.opponent.room.mirror.chat)
        assert at.opponent.room.mirror.chat[0].text == "hi"
        await at.opponent.room.say("ola")
        await until(pilot, lambda: len(at.screen.model.mirror.chat) == 2)
        await until(pilot, lambda: "rui: ola" in at.screen.query_one("#chat", Chat).text)
        await pilot.press("f4", "x", "escape")
        assert not at.screen.query_one(Entry).has_class("open")
        assert at.screen.board.has_focus


async def test_the_opponent_is_shown_away_and_the_win_can_be_claimed(real_server, monkeypatch):
    settings = RoomSettings(away_after_ms=5_000)
    async with table(real_server, "virus-wars", SMALL, settings=settings) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await at.opponent.link.close()
        await until(pilot, lambda: "away" in text_of(at, "brief"))
        head = at.screen.model.mirror.head
        later_ms = head.seats[1].away_since_ms + 6_000
        monkeypatch.setattr(at.screen.room, "server_now_ms", lambda: later_ms)
        await until(
            pilot, lambda: text_of(at, "offer") == "your opponent has been away for long: F7 ends the match"
        )


async def test_leaving_a_running_match_asks_and_ends_the_program(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("escape")
        assert isinstance(at.app.screen, ConfirmScreen)
        await pilot.press("y")
        await until(pilot, lambda: at.app.return_code == 0)


@pytest.mark.slow
async def test_a_window_too_small_says_so_and_nothing_composed_is_lost(real_server):
    async with table(real_server, "virus-wars", {}) as at, at.app.run_test(size=(80, 24)) as pilot:
        await entered(at, pilot)
        await type_actions(pilot, "b11 c11")
        await pilot.resize_terminal(30, 12)
        await until(pilot, lambda: at.screen.board.layout_shown is None)
        said = " ".join(at.screen.board.render_line(y).text.strip() for y in range(3))
        assert said == "The window is too small for this board. Make it 30 columns x 15 rows."
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: at.screen.board.layout_shown is not None)
        assert at.screen.board.layout_shown.size == "large"
        assert at.screen.model.composer.texts() == ["b11", "c11"]


async def test_a_narrow_window_shows_names_and_clocks_in_a_line(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test(size=(40, 24)) as pilot:
        await entered(at, pilot)
        assert at.screen.has_class("narrow")
        assert text_of(at, "brief") == "> x ana (you)   o rui"


async def test_the_keys_of_the_screen_are_on_the_help_page(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("question_mark")
        assert isinstance(at.app.screen, HelpScreen)
        page = str(at.app.screen.query_one("#keys", Static).render())
        for sentence in ("Resign the match", "Move the cursor left", "Write to the room", "Show the keys"):
            assert sentence in page
        await pilot.press("question_mark")
        assert at.app.screen is at.screen


@pytest.fixture
async def faulty_app(server):
    """The application in the room of a server with faults; the link comes back at once."""
    async with Link(server.url, name="ana", settings=LinkSettings(backoff=Backoff(first_s=0, limit_s=0))) as link:
        room = await enter(link, WatchRoom(id=0, room="K7MQ4"))
        app = TabuleiroApp(lambda: MatchScreen(OpenRoom(room, app.writing)), settings=Settings())
        yield app


async def test_a_turn_sent_while_the_connection_breaks_is_played_once(server, faulty_app):
    async with faulty_app.run_test() as pilot:
        await until(pilot, lambda: isinstance(faulty_app.screen, MatchScreen))
        model = faulty_app.screen.model
        server.cut_before_reply_to = Play
        await type_actions(pilot, "b3 c2")
        await pilot.press("enter")
        await until(pilot, lambda: model.mirror.actions == ["b3", "c2"])
        await until(pilot, lambda: not model.is_sending)
        assert server.room.actions == ["b3", "c2"]
        assert [message.ply for message in server.received if isinstance(message, Play)] == [0, 0]
        assert model.composer.actions == []


@pytest.mark.usefixtures("draws_in_virus_wars")
@pytest.mark.slow
async def test_an_offer_made_while_the_connection_breaks_is_said_to_be_unknown_and_shown_after_coming_back(
    server, faulty_app
):
    async with faulty_app.run_test() as pilot:
        await until(pilot, lambda: isinstance(faulty_app.screen, MatchScreen) and faulty_app.screen.is_whole)
        screen = faulty_app.screen
        server.lets_in.clear()
        server.cut_before_reply_to = Offer
        await pilot.press("ctrl+d", "y")
        await until(pilot, lambda: "not known whether it was done" in said_by(screen))
        server.lets_in.set()
        await until(pilot, lambda: said_by(screen) == "connected again: check whether your last request was done")
        await until(pilot, lambda: "F8 withdraws" in str(screen.query_one("#offer", Static).render()))
    assert len([message for message in server.received if isinstance(message, Offer)]) == 1


@pytest.mark.usefixtures("draws_in_virus_wars")
async def test_an_offer_made_without_a_connection_is_said_not_to_be_sent(server, faulty_app):
    async with faulty_app.run_test() as pilot:
        await until(pilot, lambda: isinstance(faulty_app.screen, MatchScreen) and faulty_app.screen.is_whole)
        screen = faulty_app.screen
        server.lets_in.clear()
        await server.cut()
        await until(pilot, lambda: not screen.model.is_linked)
        await pilot.press("ctrl+d", "y")
        await until(pilot, lambda: said_by(screen) == "not connected to the server now: nothing was sent")
        server.lets_in.set()
        await until(pilot, lambda: said_by(screen) == "connected again")
    assert not [message for message in server.received if isinstance(message, Offer)]


async def test_a_line_of_chat_whose_answer_is_lost_is_there_again_to_be_sent(server, faulty_app):
    async with faulty_app.run_test() as pilot:
        await until(pilot, lambda: isinstance(faulty_app.screen, MatchScreen) and faulty_app.screen.is_whole)
        screen = faulty_app.screen
        server.cut_before_reply_to = Say
        await pilot.press("f4", *"hello", "enter")
        await until(pilot, lambda: screen.query_one(Entry).value == "hello")
        await until(pilot, lambda: screen.model.mirror.chat)
    assert len([message for message in server.received if isinstance(message, Say)]) == 1


def said_by(screen: MatchScreen) -> str:
    return str(screen.query_one("#say", Static).render())


async def test_a_server_that_does_not_answer_is_told_until_it_does(server, faulty_app, monkeypatch):
    """A frozen server left "sending your turn" for half a minute."""
    monkeypatch.setattr(room_view, "ANSWER_EXPECTED_S", 0.01)
    async with faulty_app.run_test() as pilot:
        await until(pilot, lambda: isinstance(faulty_app.screen, MatchScreen) and faulty_app.screen.is_whole)
        screen = faulty_app.screen
        server.answers.clear()
        await pilot.press("f4", *"hello", "enter")
        await until(pilot, lambda: said_by(screen) == "no answer from the server yet")
        server.answers.set()
        await until(pilot, lambda: screen.model.mirror.chat)
        await until(pilot, lambda: "no answer" not in said_by(screen))
        server.answers.clear()
        await type_actions(pilot, "b3 c2")
        await pilot.press("enter")
        turn = screen.query_one("#turn", Static)
        await until(pilot, lambda: str(turn.render()) == "no answer from the server yet: your turn is kept")
        server.answers.set()
        await until(pilot, lambda: screen.model.mirror.actions == ["b3", "c2"])
        await until(pilot, lambda: "no answer" not in str(turn.render()))


async def test_a_refused_turn_is_visibly_taken_back(server, faulty_app):
    def refuse(message, connection):
        return Error(message.id, "wrong-phase", "the time is up") if isinstance(message, Play) else None

    async with faulty_app.run_test() as pilot:
        await until(pilot, lambda: isinstance(faulty_app.screen, MatchScreen))
        server.on_message = refuse
        await type_actions(pilot, "b3 c2")
        await pilot.press("enter")
        said = faulty_app.screen.query_one("#say", Static)
        await until(pilot, lambda: "your turn was not played" in str(said.render()))
        assert faulty_app.screen.model.composer.actions == []
        assert str(said.render()) == "the time is up; your turn was not played"


async def test_a_hint_is_said_and_marked_until_something_is_played(real_server):
    settings = RoomSettings(hints=True)
    async with table(real_server, "virus-wars", SMALL, settings=settings) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("f5")
        await until(pilot, lambda: text_of(at, "say").startswith("hint: "))
        asked = at.screen.model.mirror.state
        actions = text_of(at, "say").removeprefix("hint: ").partition(" (")[0].split()
        names = {cell.name for cell in at.screen.model.view.cells}
        assert names.issuperset(actions)
        marked = at.screen.model.overlay(None, None, shows_legal=True).hint
        assert {at.screen.model.view.cells[cell].name for cell in marked} == set(actions)
        assert at.opponent.room.mirror.state == asked
        await type_actions(pilot, " ".join(actions))
        await pilot.press("enter")
        await until(pilot, lambda: len(at.opponent.room.mirror.actions) == len(actions))
        await until(pilot, lambda: not at.screen.model.is_sending)
        assert not at.screen.model.overlay(None, None, shows_legal=True).hint


async def test_the_key_for_hints_does_nothing_where_the_room_gives_none(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("f5")
        assert not text_of(at, "say").startswith("the server thinks")
        assert not at.screen.check_action("hint", ())


def said_after(model: MatchModel, room: Any, event: SequencedEvent) -> str:
    for step in model.mirror.update(Update(room.head(), (event,))):
        model.take(Happened(step, model.mirror.head))
    return model.message


async def test_a_turn_at_random_and_a_hint_of_the_other_are_said(one_room):
    room = one_room()
    model = MatchModel(Mirror(AccountId("a1"), room.entered()), TextStyle(color=False, ascii=True))
    played = room.play(0, "b3", "c2")
    makeshift = msgspec.structs.replace(played, event=msgspec.structs.replace(played.event, is_makeshift=True))
    assert said_after(model, room, makeshift) == "you played b3 c2 (at random: the bot gave no answer in time)"
    assert said_after(model, room, room.add(HintTaken(1, Ply(2), 1))).endswith("takes a hint")


async def test_what_was_said_of_the_position_before_goes_with_it_and_what_the_server_says_stays(one_room):
    room = one_room()
    model = MatchModel(Mirror(AccountId("a1"), room.entered()), TextStyle(color=False, ascii=True))
    model.type_actions("a99")
    assert "a99" in model.message
    assert said_after(model, room, room.play(0, "b3", "c2")) == ""
    model.take(Said("a restart in a minute"))
    assert (
        said_after(model, room, room.play(2, room.state.action_to_string(room.state.legal_actions()[0])))
        == "the server says: a restart in a minute"
    )


def test_nothing_is_composed_from_a_position_that_the_mirror_has_left_behind(one_room):
    room = one_room()
    model = MatchModel(Mirror(AccountId("a1"), room.entered()), TextStyle(color=False, ascii=True))
    assert model.can_act
    assert said_after(model, room, room.play(0, "b3", "c2")) == ""
    first = room.state.legal_actions()[0]
    second = room.state.child(first).legal_actions()[0]
    theirs = room.play(2, *(room.state.action_to_string(action) for action in (first, second)))
    steps = model.mirror.update(Update(room.head(), (theirs,)))
    assert model.mirror.is_my_turn
    assert not model.can_act
    for step in steps:
        model.take(Happened(step, model.mirror.head))
    assert model.can_act


async def test_the_match_is_drawn_beside_the_tooltips_and_notes_that_a_terminal_has(real_server):
    # They are children of the screen as well, and not there in other tests.
    looks = {"tooltips": True, "notifications": True}
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test(**looks) as pilot:
        await entered(at, pilot)
        await until(pilot, lambda: text_of(at, "turn").startswith("your turn"))


async def test_what_would_be_drawn_later_is_not_when_the_screen_has_been_left_meanwhile(real_server):
    # A room in which something had just happened ended the program with an error.
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        screen = at.screen
        await screen.query_one(TopBar).remove()
        screen.show_all()
        screen.show_players()
        assert not screen.is_whole


async def chat_after_a_key(at: Table, pilot: Pilot[int]) -> str:
    """Press a key, have something said, and return what is drawn of the chat once the screen knows of it."""
    await entered(at, pilot)
    board = at.screen.board
    before = board.cursor
    await pilot.press("right")
    assert board.cursor != before
    assert at.screen.query_one("#note", Line).content
    await at.opponent.room.say("ola")
    await until(pilot, lambda: at.screen.model.mirror.chat)
    return at.screen.query_one(Chat).text


async def test_what_happens_is_not_drawn_before_what_a_key_did(real_server, monkeypatch):
    # In a busy room a key was drawn after all that was just being drawn, up to a fifth of a second late.
    monkeypatch.setattr(pacing, "DRAWING_S", 3600.0)
    monkeypatch.setattr(pacing, "PATIENCE_S", 3600.0)
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        assert "ola" not in await chat_after_a_key(at, pilot)
        await pilot.pause()
        assert "ola" not in at.screen.query_one(Chat).text


async def test_what_happens_is_drawn_all_the_same_when_keys_go_on_and_on(real_server, monkeypatch):
    monkeypatch.setattr(pacing, "DRAWING_S", 3600.0)
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await chat_after_a_key(at, pilot)
        await until(pilot, lambda: "rui: ola" in at.screen.query_one(Chat).text)


@pytest.mark.parametrize(("seat", "whose"), [(0, "your"), (1, "ana's")])
def test_the_banner_says_that_the_clock_waits_for_first_turns(one_room, seat, whose):
    room = one_room()
    model = MatchModel(Mirror(AccountId(f"a{seat + 1}"), room.entered()), TextStyle(color=False, ascii=True))
    assert model.first_turn_text(1_000) == ""
    head = model.mirror.head
    waiting = msgspec.structs.replace(head.match, first_turn=FirstTurn(31_000, 30_000))
    model.mirror.head = msgspec.structs.replace(head, match=waiting)
    assert model.first_turn_text(6_500) == f"the clock starts after both first turns; 24 s for {whose} first turn"
