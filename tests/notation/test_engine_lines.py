"""The lines of the engine protocol: those of the page played back, and wrong ones named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.errors import BotError
from tabuleiro.notation.engine_lines import (
    GREETING,
    QUIT,
    REPLY_MAX_BYTES,
    Answer,
    Best,
    Called,
    EngineHost,
    Ready,
    Remark,
    Reply,
    early_end,
    game_lines,
    go_line,
    parse_best,
    parse_reply,
    position_line,
)
from tabuleiro.rules import registry
from tests.net.bots_page import transcript


def test_the_transcript_of_the_page_is_what_a_host_says_and_understands() -> None:
    game = registry.load("minefield", {"size": 5})
    orders = [*GREETING, *game_lines(game, 4711)]
    orders += [position_line(["c3"]), go_line(5000)]
    orders += [position_line(["c3", "d3", "c4"]), go_line(2500, (60000, 58000)), QUIT]
    assert [text for who, text in transcript() if who == "<"] == orders
    replies = [parse_reply(text.encode() + b"\n") for who, text in transcript() if who == ">"]
    expected: list[Reply] = [Called("Example 0.1"), Ready(), Ready(), Remark("looked at 1200 positions")]
    assert replies == [*expected, Best("d3"), Best("d4")]
    state = game.initial_state()
    for played in ("c3", "d3", "c4", "d4"):
        (action,) = parse_best(state, Best(played))
        state = state.apply(action)


def test_every_option_is_sent_and_a_position_keeps_its_spaces() -> None:
    position = registry.load("iris", {"side": 5}).initial_state().to_position()
    lines = game_lines(registry.load("iris", {"side": 5, "position": position}), 1)
    assert lines == ("newgame iris", "option side 5", f"option position {position}", "seed 1", "isready")


@pytest.mark.parametrize("line", [b"", b"\n", b"  \r\n"])
def test_empty_lines_say_nothing(line: bytes) -> None:
    assert parse_reply(line) is None


def test_what_an_engine_says_for_people_is_made_harmless() -> None:
    assert parse_reply(b"name \x1b[31mRed\x1b[0m\n") == Called("Red")
    assert parse_reply(b"name " + b"x" * 90) == Called("x" * 40)
    assert parse_reply(b"info \x1b]0;title\x07 deep  thought\r\n") == Remark("deep thought")
    assert parse_reply(b"info") == Remark("")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"hello", "said 'hello', which is none of: name NAME, ready"),
        (b"ready steady", "none of"),
        (b"best", "none of"),
        (b"name ", "none of"),
        (b"error", "it does not say which"),
        (b"error \x1b[2Jno memory", "reports an error: no memory"),
        (b"best \xff", "not UTF-8"),
        (b"info " + b"x" * REPLY_MAX_BYTES, "more than 8192 bytes"),
    ],
)
def test_a_line_that_is_no_reply_is_named(line: bytes, told: str) -> None:
    with pytest.raises(BotError, match=told):
        parse_reply(line)


@given(st.binary(max_size=60))
def test_any_line_is_a_reply_or_a_fault_and_shows_no_control_character(line: bytes) -> None:
    try:
        reply = parse_reply(line)
    except BotError as error:
        told = str(error)
    else:
        told = reply.name if isinstance(reply, Called) else reply.text if isinstance(reply, Remark) else ""
    assert told == "" or told.isprintable()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a1", "chose 'a1', which cannot be played"),
        ("z99", "cannot be played: row 99 does not exist"),
        ("b3 c2 d1 a3", "the turn has ended before this action"),
        (",", "chose no action"),
    ],
)
def test_a_turn_that_the_rules_refuse_is_named(text: str, told: str) -> None:
    state = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2}).initial_state()
    with pytest.raises(BotError, match=told):
        parse_best(state, Best(text))


def test_a_part_of_a_turn_is_enough() -> None:
    state = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2}).initial_state()
    assert len(parse_best(state, Best("B3"))) == 1
    assert len(parse_best(state, Best("b3 c2"))) == 2


class Told(EngineHost):
    """A host whose engine says ``lines``; what it is sent is kept."""

    def __init__(self, *lines: bytes) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self._lines = iter(lines)

    async def _ask(self, orders: bytes, wanted: type[Answer], limit_ms: int) -> Answer:
        self.sent.append(orders)
        while (answer := self._receive(next(self._lines), wanted)) is None:
            pass
        return answer


async def test_a_host_waits_for_the_wanted_reply_and_keeps_the_name() -> None:
    host = Told(b"name Red\n", b"info hello\n", b"\n", b"ready\n", b"best c3\n")
    await host.greet()
    assert host.name == "Red"
    state = registry.load("minefield", {"size": 5}).initial_state()
    assert await host.choose(state, [], 50) == (state.string_to_action("c3"),)
    assert host.sent == [b"tabuleiro 1\nisready\n", b"position\ngo limit 50\n"]


async def test_a_reply_that_was_not_asked_for_is_a_fault() -> None:
    with pytest.raises(BotError, match="said best when ready was expected"):
        await Told(b"best c3\n").greet()


def test_an_early_end_is_reported_with_its_status_and_last_words() -> None:
    assert str(early_end(3, "oops")) == "ended with exit status 3: oops"
    assert str(early_end(None)) == "closed its standard output"
