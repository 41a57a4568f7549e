"""Around a match: muting, a host who leaves, rooms that close, windows without a panel, two at one keyboard."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from tabuleiro.protocol.messages import WatchRoom
from tabuleiro_client.net.library import connect
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import enter
from tabuleiro_client.tui.screens.live import LiveScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.questions import ConfirmScreen, PickerScreen
from tabuleiro_client.tui.screens.room import RoomScreen
from tabuleiro_client.tui.widgets.panel import Moves
from tests.client.tui.tables import Table, table, until
from tests.client.tui.visits import Visit, lobby_visit, own_room, visit
from tests.selection import rest_slow

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}
NARROW = (36, 24)


def text_of(screen: LiveScreen | RoomScreen, name: str) -> str:
    return str(screen.query_one(f"#{name}", Static).render())


async def is_said(pilot: Pilot[int], at: Table, text: str, name: str = "say") -> None:
    await until(pilot, lambda: text in text_of(at.screen, name))


async def choice_offered(at: Visit) -> str:
    """What the first line of the list of people says."""
    await at.press("ctrl+l")
    picker = await at.arrive(PickerScreen)
    return str(picker.query_one(OptionList).get_option_at_index(0).prompt)


@pytest.mark.slow
async def test_the_host_mutes_who_talks_too_much_and_lets_them_talk_again(real_server):
    """Only the line client could."""
    async with lobby_visit(real_server) as at, connect(real_server.url, name="zoe") as zoe:
        screen = await own_room(at)
        await at.press("ctrl+l")  # nobody is there yet
        assert at.app.screen is screen
        async with zoe.watch(screen.room.code) as watching:
            await watching.say("la la la")
            await until(at.pilot, lambda: screen.room.mirror.chat)
            assert await choice_offered(at) == "mute zoe"
            await at.press("enter")
            await at.says("zoe is muted")
            assert await choice_offered(at) == "let zoe chat again"
            await at.press("enter")
            await at.says("zoe may chat again")


@pytest.mark.slow
async def test_a_host_at_the_board_mutes_too_and_nobody_else_can(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        screen = await own_room(at)
        async with rui.join(screen.room.code) as joined:
            match = await at.arrive(MatchScreen)
            assert await choice_offered(at) == "mute rui"
            await at.press("enter")
            await until(at.pilot, lambda: "rui is muted" in text_of(match, "say"))
            assert joined.mirror.head.host_name == "ana"


async def test_who_is_muted_is_told_so_as_the_one_it_is_about(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await until(pilot, lambda: at.screen.is_whole)
        assert not at.screen.check_action("mute", ())
        await at.opponent.room.mute("ana")
        await is_said(pilot, at, "the host has muted you")


async def test_who_stays_when_the_host_leaves_is_told_to_be_host_now(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await until(pilot, lambda: at.screen.is_whole)
        await pilot.press("ctrl+x", "y")
        await until(pilot, lambda: at.screen.model.mirror.head.phase == "finished")
        assert at.screen.check_action("offer", ("rematch",))
        await at.opponent.room.leave()
        await is_said(pilot, at, "you are the host of this room now")
        assert not at.screen.check_action("offer", ("rematch",))


async def test_who_watches_a_room_that_is_closed_is_told_so_and_offered_no_talk(real_server):
    """The last word was never drawn: the screen stood as if the room were still there."""
    async with table(real_server, "virus-wars", SMALL, is_watching=True) as at:
        async with Link(real_server.url, name="zoe") as zoe:
            async with await enter(zoe, WatchRoom(id=0, room=at.opponent.room.code)), at.app.run_test() as pilot:
                await until(pilot, lambda: at.screen.is_whole)
                assert at.screen.check_action("chat", ())
                await at.opponent.room.leave()
                await is_said(pilot, at, "the room is gone")
                assert not at.screen.check_action("chat", ())


@pytest.mark.usefixtures("draws_in_virus_wars")
async def test_in_a_window_without_a_panel_offers_and_talk_are_seen_below_the_board(real_server):
    """They were in the panel alone, which such a window has no room for."""
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: at.screen.is_whole)
        assert at.screen.has_class("narrow")
        room = at.opponent.room
        await room.offer("draw")
        await is_said(pilot, at, "rui offers a draw: F7 accepts", "note")
        await room.say("please")
        await is_said(pilot, at, "rui: please")
        await pilot.press("right")
        await is_said(pilot, at, "rui offers a draw", "note")
        await pilot.press("f8")
        await until(pilot, lambda: not room.mirror.head.offers)
        await until(pilot, lambda: "offers" not in text_of(at.screen, "note"))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not at.screen.has_class("narrow"))


@pytest.mark.slow
async def test_the_turn_on_the_board_stays_in_sight_when_the_list_of_turns_gets_fewer_rows(real_server):
    """The card at the end took rows from the list, and the turn looked at was below its last one."""
    long: dict[str, int | str] = {"rows": 8, "cols": 8, "steps": 1}
    async with table(real_server, "virus-wars", long) as at, at.app.run_test() as pilot:
        await until(pilot, lambda: at.screen.is_whole)
        own, other = at.screen.room, at.opponent.room
        for _ in range(10):
            for room in (own, other):
                await until(pilot, lambda room=room: room.mirror.is_my_turn)
                state = room.mirror.state
                await room.play([state.action_to_string(state.legal_actions()[0])])
        await until(pilot, lambda: at.screen.model.timeline.last_ply == 20)
        await pilot.press("ctrl+x", "y")
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
        moves = at.screen.query_one(Moves)
        await until(pilot, lambda: moves.scroll_offset.y + moves.size.height >= moves.line_count)


async def both_at_one_keyboard(at: Visit) -> MatchScreen:
    await at.press("2")
    await at.arrive(NewMatchScreen)
    await at.press("ctrl+s")
    return await at.arrive(MatchScreen)


@pytest.mark.usefixtures("draws_in_virus_wars")
@pytest.mark.slow
async def test_two_at_one_keyboard_agree_on_a_draw_only_after_a_question():
    """One key ended the match, since nobody else had to be asked."""
    async with visit() as at:
        screen = await both_at_one_keyboard(at)
        await at.press("ctrl+d")
        await at.arrive(ConfirmScreen)
        await at.press("n")
        assert screen.model.mirror.head.phase == "playing"
        await at.press("ctrl+d")
        await at.arrive(ConfirmScreen)
        await at.press("y")
        await until(at.pilot, lambda: "A draw by agreement" in text_of(screen, "end"))


@pytest.mark.slow
async def test_two_at_one_keyboard_are_called_by_their_sides():
    async with visit() as at:
        screen = await both_at_one_keyboard(at)
        assert "blue" in text_of(screen, "brief")
        assert "(you)" not in text_of(screen, "brief")


@pytest.mark.parametrize(
    ("keys", "said"), rest_slow([(["enter"], "Red wins: blue resigned"), (["down", "enter"], "Blue wins")])
)
async def test_either_of_two_at_one_keyboard_resigns_whosever_turn_it_is(keys, said):
    """It was always the one to move who gave up, and nothing said so."""
    async with visit() as at:
        screen = await both_at_one_keyboard(at)
        await at.press("ctrl+x")
        picker = await at.arrive(PickerScreen)
        titles = [str(picker.query_one(OptionList).get_option_at_index(place).prompt) for place in (0, 1)]
        assert titles == ["blue resigns this match", "red resigns this match"]
        await at.press(*keys)
        await until(at.pilot, lambda: said in text_of(screen, "end"))
