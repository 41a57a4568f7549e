"""Real processes on real terminals: a server, two players and a watcher, killed and restarted in between."""

from __future__ import annotations

import random
import re
import shutil
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tabuleiro.rules import State, registry
from tests.e2e.server_process import ServerProcess, serving
from tests.e2e.terminal_process import Terminal, terminal

pytestmark = pytest.mark.slow

LINE_MODE = ("--plain", "--ascii")
TRACEBACK = "Traceback (most recent call last)"
CTRL_C, CTRL_D = b"\x03", b"\x04"


class Table:
    """A match that two terminals play: knows the rules, types random legal turns, checks who sees what."""

    def __init__(self, game: str, options: dict[str, int | str], seed: int) -> None:
        self.state: State = registry.load(game, options).initial_state()
        self.random = random.Random(seed)
        self.turns_count = 0

    def turn(self) -> list[str]:
        """Make a whole random turn of the player to move and return its texts."""
        texts, state = [], self.state
        turn = state.turn_number
        while not state.is_terminal and state.turn_number == turn:
            action = self.random.choice(state.legal_actions())
            texts.append(state.action_to_string(action))
            state = state.apply(action)
        self.state = state
        self.turns_count += 1
        return texts

    async def play_turn(self, players: tuple[Terminal, Terminal], others: tuple[Terminal, ...] = ()) -> None:
        """Have the player to move type a turn, and wait until everybody was told of it."""
        mover = self.state.to_move
        assert mover is not None
        texts = self.turn()
        typed = " ".join(texts)
        players[mover].type(typed)
        await players[mover].shows(f"you played {re.escape(typed)}")
        for other in (players[1 - mover], *others):
            await other.shows(f"played {re.escape(typed)}")


def play_arguments(server: ServerProcess, name: str) -> tuple[str, ...]:
    return ("play", *LINE_MODE, "--server", server.url, "--name", name)


async def open_room(server: ServerProcess, player: Terminal) -> str:
    found = await player.shows(r"waiting for an opponent: room ([A-Z0-9]{5})")
    assert not set(found[1]) & set("0O1IL")
    return found[1]


@pytest.mark.parametrize("preset", ["feup-a", "feup-b"])
async def test_two_people_and_a_watcher_play_a_whole_game(tmp_path: Path, preset: str) -> None:
    """One player is killed in the middle and comes back; somebody with a wrong token does not get in."""
    options = dict(registry.preset("virus-wars", preset))
    table = Table("virus-wars", options, seed=len(preset))
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(tmp_path / "t.db"))
        ana_options = (*play_arguments(server, "ana"), "--game", "virus-wars", "--preset", preset)
        ana = await stack.enter_async_context(terminal(tmp_path / "ana", *ana_options))
        code = await open_room(server, ana)
        rui_options = (*play_arguments(server, "rui"), "--room", code)
        rui = await stack.enter_async_context(terminal(tmp_path / "rui", *rui_options))
        eva_options = ("watch", code, *LINE_MODE, "--server", server.url, "--name", "eva")
        eva = await stack.enter_async_context(terminal(tmp_path / "eva", *eva_options))
        await rui.shows("the match begins|to move, \\d actions? left")
        await eva.shows("to move, \\d actions? left")
        for _ in range(6):
            await table.play_turn((ana, rui), (eva,))

        ana.kill()
        assert await ana.wait() == -signal.SIGKILL
        await refused_with_a_wrong_token(tmp_path, server, code)
        back = (*play_arguments(server, "ana"), "--room", code)
        ana = await stack.enter_async_context(terminal(tmp_path / "ana", *back))
        await ana.shows("your turn|to move, \\d actions? left")
        while not table.state.is_terminal:
            await table.play_turn((ana, rui), (eva,))

        assert table.state.outcome is not None
        winner = ("blue", "red")[table.state.outcome.winner or 0]
        for person in (ana, rui, eva):
            await person.shows(f"{winner} wins")
            assert TRACEBACK not in person.text
        assert table.turns_count > 20


async def refused_with_a_wrong_token(tmp_path: Path, server: ServerProcess, code: str) -> None:
    """A forged token does not get ana's name, and so not her seat."""
    shutil.copytree(tmp_path / "ana", tmp_path / "forger")
    forged = [
        path for path in (tmp_path / "forger").rglob("*") if path.is_file() and b"token" in path.read_bytes()
    ]
    assert forged
    for path in forged:
        assert path.stat().st_mode & 0o777 == 0o600
        text = path.read_text()
        path.write_text(re.sub(r'("token"\s*:\s*")[^"]+', r"\1forged", text))
    async with terminal(tmp_path / "forger", *play_arguments(server, "ana"), "--room", code) as forger:
        await forger.shows("'?ana'? is taken")
        assert await forger.wait() == 1


async def test_a_bot_fills_a_seat_and_the_game_is_finished(tmp_path: Path) -> None:
    options = {"rows": 5, "cols": 5, "steps": 2}
    flags = [flag for name, value in options.items() for flag in ("--option", f"{name}={value}")]
    table = Table("virus-wars", dict(options), seed=5)
    async with serving(tmp_path / "t.db") as server:
        arguments = (*play_arguments(server, "ana"), "--game", "virus-wars", *flags, "--bot", "minimax-1")
        async with terminal(tmp_path / "ana", *arguments) as ana:
            await ana.shows("your turn")
            while not table.state.is_terminal:
                typed = " ".join(table.turn())
                ana.type(typed)
                await ana.shows(f"you played {typed}")
                while table.state.to_move == 1:
                    found = await ana.shows(r"minimax-1-bot played ([a-e1-5 ]+)\n")
                    for text in found[1].split():
                        table.state = table.state.apply(table.state.string_to_action(text))
            await ana.shows("(blue|red) wins")
            assert TRACEBACK not in ana.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_match_goes_on_after_the_server_was_restarted(tmp_path: Path, number: signal.Signals) -> None:
    options: dict[str, int | str] = {"rows": 6, "cols": 6, "steps": 3}
    flags = [flag for name, value in options.items() for flag in ("--option", f"{name}={value}")]
    table = Table("virus-wars", options, seed=number)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(tmp_path / "t.db", shutdown_notice_ms=0))
        arguments = (*play_arguments(server, "ana"), "--game", "virus-wars", *flags)
        ana = await stack.enter_async_context(terminal(tmp_path / "ana", *arguments))
        code = await open_room(server, ana)
        rui_options = (*play_arguments(server, "rui"), "--room", code)
        rui = await stack.enter_async_context(terminal(tmp_path / "rui", *rui_options))
        await rui.shows("to move, \\d actions? left")
        for _ in range(3):
            await table.play_turn((ana, rui))

        server.signal(number)
        await server.wait()
        for person in (ana, rui):
            await person.shows("(?i)connection")
        port = int(server.url.rpartition(":")[2])
        server = await ServerProcess.start(tmp_path / "t.db", port, shutdown_notice_ms=0)
        stack.push_async_callback(server.kill)
        for person in (ana, rui):
            await person.shows("(?i)connected again|back")
        while not table.state.is_terminal:
            await table.play_turn((ana, rui))
        for person in (ana, rui):
            await person.shows("(blue|red) wins")
            assert TRACEBACK not in person.text


NONSENSE: tuple[tuple[str, Callable[[Terminal], None]], ...] = (
    ("words", lambda person: person.type("hello there, how are you")),
    ("a cell off the board", lambda person: person.type("z99")),
    ("an illegal cell", lambda person: person.type("e5")),
    ("escape sequences", lambda person: person.type("\x1b[2J\x1b]0;title\x07")),
    ("bytes that are no text", lambda person: person.press(b"\xff\xfe\x80\n")),
    ("a very long line", lambda person: person.type("a1 " * 1000)),
)


async def test_nonsense_is_answered_with_a_message_and_the_game_goes_on(tmp_path: Path) -> None:
    flags = ("--game", "virus-wars", "--option", "rows=5", "--option", "cols=5", "--bot", "random")
    async with terminal(tmp_path / "ana", "play", *LINE_MODE, *flags) as ana:
        await ana.shows("your turn.*\n>")
        for what, do in NONSENSE:
            do(ana)
            await ana.shows("\n>")
            assert TRACEBACK not in ana.text, what
        assert "\x1b[2J" not in ana.text.replace("^[", "")
        ana.type("?")
        await ana.shows(r"\+")
        ana.type("a4")
        await ana.shows("you played a4")
        ana.press(CTRL_C)
        assert await ana.wait() == 130
        assert TRACEBACK not in ana.text


async def test_end_of_input_leaves_and_keeps_the_seat(tmp_path: Path) -> None:
    flags = ("--game", "virus-wars", "--option", "rows=5", "--option", "cols=5", "--bot", "random")
    async with terminal(tmp_path / "ana", "play", *LINE_MODE, *flags) as ana:
        await ana.shows("your turn.*\n>")
        ana.press(CTRL_D)
        await ana.shows("your seat is kept")
        assert await ana.wait() == 0
