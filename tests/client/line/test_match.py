from __future__ import annotations

import asyncio

import msgspec
import pytest

from tabuleiro.clock import Correspondence, begin_turn, new_clock
from tabuleiro.protocol.events import OfferView, Said
from tabuleiro.protocol.messages import (
    BotThought,
    Error,
    Explain,
    ExplainedTurn,
    Explanation,
    Offer,
    Ok,
    Play,
    RoomGone,
    Update,
    WatchRoom,
)
from tabuleiro.rules import registry
from tabuleiro.settings import RoomSettings
from tabuleiro_client.line.commands import _start_of_turn
from tabuleiro_client.line.match import LineMatch, Stay
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.net.link import Backoff, Link, LinkSettings
from tabuleiro_client.net.room import enter
from tabuleiro_client.net.server import Signposts
from tabuleiro_client.text.board import TextStyle

CODE = "K7MQ4"
SIGNPOSTS = Signposts("JOIN", "WATCH", "RETURN")


class Sitting:
    """A match on the test's server with everything to steer and see it."""

    def __init__(self, typist, paper, staying: asyncio.Future[Stay]) -> None:
        self.type = typist.type
        self.type_unusable = typist.type_unusable
        self.paper = paper
        self.shows = paper.shows
        self.staying = staying

    @property
    def text(self) -> str:
        return self.paper.getvalue()


@pytest.fixture
async def sit_down(server, make_typist, make_paper):
    """A function that begins a stay; all are ended with the test."""
    ends = asyncio.Event()
    tasks = []

    async def begin(
        *, is_terminal: bool = True, is_watching: bool = False, has_report_cells: bool = False
    ) -> Sitting:
        typist, paper, begun = make_typist(is_terminal=is_terminal), make_paper(), asyncio.Event()
        style = TextStyle(color=False, ascii=True, has_report_cells=has_report_cells)
        screen = Screen(paper, style, has_prompt=is_terminal)
        staying: asyncio.Future[Stay] = asyncio.get_running_loop().create_future()

        async def stay() -> None:
            settings = LinkSettings(backoff=Backoff(first_s=0, limit_s=0))
            async with (
                Link(server.url, name="ana", settings=settings) as link,
                await enter(link, WatchRoom(id=0, room=CODE)) as room,
            ):
                match = LineMatch(
                    room, typist, screen, signposts=SIGNPOSTS, levels=("random", "greedy"), is_watching=is_watching
                )
                begun.set()
                staying.set_result(await match.stay())
                await ends.wait()

        tasks.append(asyncio.create_task(stay()))
        await begun.wait()
        await paper.shows("room K7MQ4: Virus Wars, rows=4 cols=4 steps=2")
        return Sitting(typist, paper, staying)

    yield begin
    ends.set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_room_is_told_with_names_sides_board_and_turn(server, sit_down):
    sitting = await sit_down()
    await sitting.shows("ana (blue, x) against rui (red, o); blue begins\n\n4 x . . .\n")
    await sitting.shows("your turn (blue, x), 2 actions left\n> ")


async def test_cells_are_read_and_shown_as_in_the_report_and_sent_as_ours(server, sit_down):
    sitting = await sit_down(has_report_cells=True)
    await sitting.shows(
        "cells as in the report: columns A to D, rows 0 to 3 from the top\n\n0 x . . .\n1 . . . .\n"
    )
    sitting.type("B1")
    await sitting.shows("you played B1")
    assert server.room.actions == ["b3"]
    sitting.type("a4")
    await sitting.shows("cannot read 'a4': row 4 does not exist: rows are 0 to 3\nnothing was played")
    sitting.type("why D3", "look b1", "look 0", "moves")
    await sitting.shows("D3: you have no virus or awake zombie next to it")
    await sitting.shows("B1: blue virus; around it: ")
    await sitting.shows("row 0: blue virus A0; empty B0, C0, D0")
    await sitting.shows("7 legal actions:\nA2  B2  C2  A1  C1  ")
    sitting.type("c 2")
    await sitting.shows("you played C2")
    await server.opponent_plays("c1", "d2")
    await sitting.shows("rui played C3 D2")
    assert server.room.actions == ["b3", "c2", "c1", "d2"]


async def test_a_capital_that_is_another_cell_in_the_report_is_told_of_once(server, sit_down):
    sitting = await sit_down()
    sitting.type("B3")
    await sitting.shows("B3 is read as b3. In the game's report B3 is b1: the option --coordinates report")
    await sitting.shows("you played b3")
    sitting.type("B2", "quit")
    await sitting.shows("you played b2")
    await sitting.staying
    assert sitting.text.count("--coordinates report") == 1


async def test_a_letter_and_a_number_apart_are_a_cell_even_where_the_letter_is_a_command(server, sit_down):
    sitting = await sit_down()
    sitting.type("b 3")
    await sitting.shows("you played b3")
    sitting.type("h 4", "q 1")
    await sitting.shows("'h 4': column h does not exist: columns are a to d")
    await sitting.shows("'q 1': column q does not exist")
    assert not sitting.staying.done()


async def test_the_board_tells_how_many_cells_each_player_reaches(server, sit_down):
    sitting = await sit_down()
    await sitting.shows("blue reaches 3 cells, red 3\n")
    sitting.type("b3")
    await sitting.shows("blue reaches 7 cells, red 3\nyour turn (blue, x), 1 action left")
    sitting.type("?")
    await sitting.shows("7 legal actions (moves lists them)")


async def test_actions_of_a_turn_are_played_together_or_one_by_one(server, sit_down):
    sitting = await sit_down()
    sitting.type("b3")
    await sitting.shows("you played b3")
    await sitting.shows("your turn (blue, x), 1 action left")
    sitting.type("C2")
    await sitting.shows("you played c2")
    await sitting.shows("rui (red, o) to move, 2 actions left")
    await server.opponent_plays("c1", "d2")
    await sitting.shows("rui played c1 d2")
    sitting.type("(2,2) b4")
    await sitting.shows("you played b2 b4")
    assert server.room.actions == ["b3", "c2", "c1", "d2", "b2", "b4"]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("hello", "'hello': expected a cell from a1 to d4"),
        ("d4", "'d4': you have no virus or awake zombie next to it"),
        ("b3 d1 c3", "'d1': you have no virus"),
        ("b3 c2 c3", "'c3': the turn has ended before this action"),
        (",", "nothing was played"),
        ("help", "  resign [SIDE]    resign the match"),
        ("rules", "VIRUS WARS"),
        ("who", "red, o: rui, here\nhost: ana; watching: 0"),
    ],
)
async def test_whatever_is_typed_gets_an_answer_and_changes_nothing(server, sit_down, typed, answer):
    sitting = await sit_down()
    sitting.type(typed)
    await sitting.shows(answer)
    assert server.room.actions == []


async def test_an_unusable_line_gets_an_answer(server, sit_down):
    sitting = await sit_down()
    sitting.type_unusable("that line is not UTF-8 text")
    await sitting.shows("that line is not UTF-8 text\nnothing was played")


async def test_a_question_mark_marks_what_can_be_chosen(server, sit_down):
    sitting = await sit_down()
    sitting.type("?")
    await sitting.shows("4 x + . .\n3 + + . .\n")
    await sitting.shows("+ is an empty cell you can play")


async def test_a_person_who_types_out_of_turn_is_told_whose_turn_it_is(server, sit_down):
    sitting = await sit_down()
    sitting.type("b3 c2")
    await sitting.shows("rui (red, o) to move")
    sitting.type("c3")
    await sitting.shows("not your turn: rui (red, o) to move, 2 actions left")
    assert server.room.actions == ["b3", "c2"]


async def test_a_script_that_is_out_of_turn_waits_for_it(server, sit_down):
    sitting = await sit_down(is_terminal=False)
    sitting.type("b3 c2", "b2 b4", "quit")
    await sitting.shows("you played b3 c2")
    await server.opponent_plays("c1", "d2")
    await sitting.shows("you played b2 b4")
    assert await sitting.staying is Stay.QUIT
    assert "> " not in sitting.text


async def test_resigning_asks_first(server, sit_down):
    sitting = await sit_down()
    sitting.type("resign")
    await sitting.shows("type yes to resign")
    sitting.type("no")
    await sitting.shows("not resigned")
    assert not [message for message in server.received if message.__class__.__name__ == "Resign"]


async def test_a_refusal_of_the_server_is_told_without_controls(server, sit_down):
    server.on_message = lambda message, connection: (
        Error(message.id, "busy", "later\x1b[2J") if isinstance(message, Play) else None
    )
    sitting = await sit_down()
    sitting.type("b3")
    await sitting.shows("later\nyour turn")


async def test_a_lost_connection_is_told_and_the_move_made_meanwhile_is_played_once(server, sit_down):
    sitting = await sit_down()
    server.cut_before_reply_to = Play
    sitting.type("b3 c2")
    await sitting.shows("connection lost (the connection broke); trying to come back")
    await sitting.shows("you played b3 c2")
    await sitting.shows("connected again")
    assert server.room.actions == ["b3", "c2"]


async def test_what_is_asked_for_when_the_connection_breaks_is_told_to_be_unknown_and_shown_after_coming_back(
    server, sit_down
):
    sitting = await sit_down()
    server.cut_before_reply_to = Offer
    sitting.type("takeback")
    await sitting.shows("connection lost (the connection broke); trying to come back")
    await sitting.shows("not known whether it was done")
    await sitting.shows("you ask to take the last turn back")
    await sitting.shows("connected again")
    assert len([message for message in server.received if isinstance(message, Offer)]) == 1


async def test_what_is_asked_for_without_a_connection_is_not_sent_and_the_person_is_told(server, sit_down):
    sitting = await sit_down()
    server.lets_in.clear()
    await server.cut()
    await sitting.shows("connection lost")
    sitting.type("takeback")
    await sitting.shows("not connected to the server now: nothing was sent")
    server.lets_in.set()
    await sitting.shows("connected again")
    assert not [message for message in server.received if isinstance(message, Offer)]


async def test_the_coming_and_going_of_the_opponent_is_told(server, sit_down):
    sitting = await sit_down()
    head = server.room.head()
    away = msgspec.structs.replace(
        head, seats=(head.seats[0], msgspec.structs.replace(head.seats[1], is_connected=False))
    )
    await server.tell(Update(away))
    await sitting.shows("rui is away")
    await server.tell(Update(head))
    await sitting.shows("rui is back")


async def test_the_end_of_the_input_of_a_player_leaves_and_says_how_to_come_back(server, sit_down):
    sitting = await sit_down()
    sitting.type(None)
    assert await sitting.staying is Stay.INPUT_ENDED
    await sitting.shows("You left; your seat is kept. To return:\n  RETURN\n")


async def test_a_watcher_without_input_goes_on_watching_to_the_end(server, sit_down):
    sitting = await sit_down(is_terminal=False, is_watching=True)
    sitting.type("b3", None)
    await sitting.shows("you are watching")
    await server.opponent_plays("b3", "c2")
    await sitting.shows("ana played b3 c2")
    server.on_message = lambda message, connection: Error(message.id, "no-such-room", "no room K7MQ4")
    await server.tell(RoomGone(CODE, "closed by the host"))
    assert await sitting.staying is Stay.FINISHED
    await sitting.shows("room K7MQ4 is gone: closed by the host")


async def test_a_prompt_stands_only_where_something_can_be_typed_to_effect(server, sit_down):
    sitting = await sit_down()
    await sitting.shows("> ")
    sitting.type("b3 c2")
    await sitting.shows("rui (red, o) to move")
    sitting.type("board")
    await sitting.shows("rui (red, o) to move")
    assert sitting.text.count("> ") == 1


def with_clock(server, control, **fields):
    """Let every head of the test's server show the clock of a turn of blue that has just begun."""
    clock = begin_turn(control, new_clock(control), 0, -1_000)
    plain_head = server.room.head

    def head():
        made = plain_head()
        match = msgspec.structs.replace(made.match, clock=clock)
        return msgspec.structs.replace(made, match=match, settings=RoomSettings(time_control=control), **fields)

    server.room.head = head


async def test_clocks_stand_in_the_prompt_and_are_shown_on_demand(server, sit_down):
    with_clock(server, Correspondence(days=3))
    sitting = await sit_down()
    await sitting.shows("in this room: 3 days a turn")
    await sitting.shows("[you 2d 23h, rui 3d 0h] > ")
    sitting.type("clock")
    await sitting.shows("ana (blue, x): 2d 23h, to move\nrui (red, o): 3d 0h\n")


async def test_without_a_clock_there_is_none_to_show(server, sit_down):
    sitting = await sit_down()
    sitting.type("clock")
    await sitting.shows("there is no clock in this room")


async def test_what_time_alone_brings_is_told_once(server, sit_down):
    head = server.room.head()
    server.room.head = lambda: msgspec.structs.replace(head, thinking=BotThought(1, -10_000))
    sitting = await sit_down()
    await sitting.shows("rui (red, o) is thinking")
    sitting.type("who")
    await sitting.shows("watching: 0")
    assert sitting.text.count("is thinking") == 1


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("why d4", "d4: you have no virus or awake zombie next to it"),
        ("why b3", "b3 may be played now"),
        ("why", "why CELL: explain why this cell cannot be played"),
        ("why zz", "cannot read 'zz'"),
        ("board please", "board takes nothing after it"),
        ("undo", "there is no action of your turn to undo"),
        ("undo 3", "undo takes nothing after it, or all"),
        ("accept", "there is no offer to accept"),
        ("accept money", "accept takes nothing after it, or one of draw, takeback, rematch"),
        ("decline", "there is no offer to decline"),
        ("bot", "bots here: random, greedy; e.g. bot LEVEL"),
        ("bot", "bots here: random, greedy"),
        ("bot random", "there is no free seat"),
        ("nobot", "there is no bot to take off"),
        ("mute", "mute NAME: hide the chat of this person"),
        ("say", "chat TEXT: send a chat message to the room"),
        ("say " + "x" * 301, "that is too long: at most 300 characters"),
        ("invite", "to watch only:\n  WATCH\n"),
        ("swap", "not part of this test"),
    ],
)
async def test_commands_that_cannot_be_done_say_why(server, sit_down, typed, answer):
    sitting = await sit_down()
    sitting.type(typed)
    await sitting.shows(answer)


async def test_an_offer_is_told_with_what_can_be_done_and_answered_in_a_word(server, sit_down):
    server.room.offers = (OfferView("draw", 1),)
    sitting = await sit_down()
    await sitting.shows("rui offers a draw: accept or decline")
    sitting.type("decline")
    await sitting.shows("rui's draw offer was declined")


async def test_of_two_offers_the_one_meant_is_asked_for(server, sit_down):
    server.room.offers = (OfferView("draw", 1), OfferView("takeback", 1))
    sitting = await sit_down()
    sitting.type("accept")
    await sitting.shows("which of them? accept draw or accept takeback")
    sitting.type("decline takeback")
    await sitting.shows("rui's takeback request was declined")


async def test_undoing_takes_the_last_action_back_or_the_whole_turn(server, sit_down):
    sitting = await sit_down()
    sitting.type("b3")
    await sitting.shows("1 action left")
    sitting.type("undo")
    await sitting.shows("you took the last actions back")
    await sitting.shows("your turn (blue, x), 2 actions left")
    assert server.room.actions == []


async def test_talk_is_told_and_free_of_escapes(server, sit_down):
    sitting = await sit_down()
    sitting.type("say Good luck!")
    await sitting.shows("ana: Good luck!")
    await server.tell(
        Update(server.room.head(), (server.room.add(Said("a2", "rui", "\x1b[2Jthanks\u202e", True)),))
    )
    await server.tell(Update(server.room.head()))
    await sitting.shows("rui: thanks\n")


async def test_watchers_may_talk_but_not_play_for_others(server, sit_down):
    sitting = await sit_down(is_watching=True)
    for typed in ("draw", "takeback", "undo", "abort", "claim", "accept", "rematch"):
        sitting.type(typed)
        await sitting.shows("you are watching: this is for the players")
    sitting.type("say hello")
    await sitting.shows("ana: hello")


EXPLAINED = Explanation(
    "minimax-1", "...o/..../..../x... 0 2", 0, "evaluation", (ExplainedTurn(("b3",), 7),), 3, depth=1, nodes=3
)


async def test_explain_asks_for_a_level_and_tells_the_candidates(server, sit_down):
    asked = []

    def reply(message, connection):
        if not isinstance(message, Explain):
            return None
        asked.append(message)
        return Ok(message.id, EXPLAINED)

    server.on_message = reply
    sitting = await sit_down()
    sitting.type("explain minimax-1")
    await sitting.shows("minimax-1 for blue, who is to move; values are sums of its terms, for blue\n 1. b3  7")
    await sitting.shows("    and 2 more\n1 action deep, 3 positions looked at, 0.00 s")
    sitting.type("explain 1")
    await sitting.shows("earlier turns are explained after the end of the match")
    assert [(message.level, message.ply) for message in asked] == [("minimax-1", 0)]


async def test_an_older_server_that_explains_nothing_is_told_as_such(server, sit_down):
    sitting = await sit_down()
    server.on_message = lambda message, connection: Error(message.id, "bad-message", "no such request")
    sitting.type("explain")
    await sitting.shows("this server is older and cannot explain; `tabuleiro explain` does so here")


async def test_position_shows_the_position_as_the_option_reads_it(server, sit_down):
    sitting = await sit_down()
    sitting.type("position")
    await sitting.shows("...o/..../..../x... 0 2\n")


@pytest.mark.parametrize(("turn", "ply"), [(None, 2), (1, 0), (2, 2), (3, None)])
def test_turns_to_explain_are_found_by_their_number(turn, ply):
    game = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2})
    assert _start_of_turn(game, ("b3", "c2", "c1"), turn) == ply
