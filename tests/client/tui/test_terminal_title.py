"""The title of the terminal: it calls on the own turn while nobody looks, rests, and is given back."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.terminal import GIVE_BACK, KEEP, TerminalTitle
from tabuleiro_client.tui.widgets.panel import Moves
from tests.client.tui.tables import Table, table, until
from tests.selection import rest_slow

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}
CALL, REST = "\x1b]2;your turn - tabuleiro\x07", "\x1b]2;tabuleiro\x07"


def test_the_terminal_keeps_its_own_title_once_and_gets_it_back_at_the_end():
    sent: list[str] = []
    title = TerminalTitle(sent.append, "tabuleiro")
    title.rest()
    title.give_back()
    assert sent == []
    title.call("your turn - tabuleiro")
    title.rest()
    title.rest()
    title.call("your turn - tabuleiro")
    title.give_back()
    title.give_back()
    assert sent == [KEEP, CALL, REST, CALL, REST, GIVE_BACK]


async def own_turn_unseen(at: Table, pilot: Pilot[int]) -> list[str]:
    """Let the own turn come while nobody looks; return what is written then, the bell as ``bell``."""
    sent: list[str] = []
    at.app.title_bar = TerminalTitle(sent.append, at.app.TITLE)
    at.app.bell = lambda: sent.append("bell")  # type: ignore[method-assign]
    await until(pilot, lambda: at.screen.is_whole)
    at.app.post_message(events.AppBlur())
    await until(pilot, lambda: not at.app.is_looked_at)
    await at.screen.room.play(["b4", "b3"])
    await until(pilot, lambda: at.opponent.room.mirror.is_my_turn)
    await at.opponent.room.play(["c1", "c2"])
    await until(pilot, lambda: "2 o c1 c2" in at.screen.query_one(Moves).text)
    # The board is drawn before the moves: what it shows may still be the position of a moment ago.
    await until(pilot, lambda: at.screen.board._view == at.screen.model.view)
    return sent


async def test_the_title_says_whose_turn_it_is_until_somebody_looks(real_server):
    """It said so for ever: also when the turn was long over, and after the program."""
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        sent = await own_turn_unseen(at, pilot)
        assert sent == ["bell", KEEP, CALL]
        at.app.post_message(events.AppFocus())
        await until(pilot, lambda: at.app.is_looked_at)
        assert sent[3:] == [REST]
    assert sent[4:] == [GIVE_BACK]


async def test_the_title_rests_when_the_turn_is_over_without_anybody_having_looked(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        sent = await own_turn_unseen(at, pilot)
        await at.opponent.room.resign()
        await until(pilot, lambda: sent[3:] == [REST])


@pytest.mark.parametrize(
    ("looks", "written"),
    rest_slow(
        [
            (Settings(rings_bell=False), [KEEP, CALL]),
            (Settings(changes_title=False), ["bell"]),
            (Settings(rings_bell=False, changes_title=False), []),
        ]
    ),
)
async def test_bell_and_title_are_left_alone_by_who_wants_that(real_server, looks, written):
    async with table(real_server, "virus-wars", SMALL, looks=looks) as at, at.app.run_test() as pilot:
        assert await own_turn_unseen(at, pilot) == written


async def test_a_console_without_a_title_is_not_given_one(real_server, monkeypatch):
    monkeypatch.setenv("TERM", "linux")
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        assert await own_turn_unseen(at, pilot) == ["bell"]
