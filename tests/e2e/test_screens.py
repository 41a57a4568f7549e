"""The Textual client on terminals of several kinds: a match between two windows and a watcher, and every board.

Boards are found in what tmux shows: every cell must stand in the column and row that its layout says.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.notation.record_text import format_record
from tabuleiro.rules import State, registry
from tabuleiro_client.tui.present.glyphs import ASCII, UNICODE, GlyphSet
from tabuleiro_client.tui.present.layout import SIZES, Layout, Size
from tabuleiro_client.tui.screens.board_screen import OTHER_ROWS, PANEL_MIN_COLUMNS
from tests.e2e.boards_seen import find_board
from tests.e2e.server_process import ServerProcess, serving
from tests.e2e.tmux_windows import ENDED, Tmux, Window, tmux

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")]

GAME, OPTIONS = "virus-wars", {"rows": 4, "cols": 4, "steps": 2}
KINDS: dict[str, dict[str, str]] = {
    "xterm": {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
    "screen": {"TERM": "screen", "COLORTERM": ""},
    "linux": {"TERM": "linux", "COLORTERM": ""},
    "no-colour": {"TERM": "xterm-256color", "NO_COLOR": "1"},
}
"""Kinds of terminals, by the variables that tell them apart."""
SIZES_OF_WINDOWS: tuple[tuple[int, int, Size | None], ...] = (
    (120, 40, Size.GIANT),
    (60, 18, Size.MEDIUM),
    (44, 14, Size.SMALL),
    (44, 10, None),
    (80, 24, Size.HUGE),
)
"""Columns and rows of a window, and how large the board of the match is drawn in it; ``None``: not at all."""


def glyphs_of(kind: str) -> GlyphSet:
    return ASCII if kind == "linux" else UNICODE


def place_of(cell: str) -> tuple[int, int]:
    """The column and row of a cell, from the top left."""
    return "abcd".index(cell[0]), 4 - int(cell[1])


class Seat:
    """A person at a window: sees the board, and keeps in mind where their cursor is."""

    def __init__(self, window: Window, kind: str) -> None:
        self.window = window
        self._glyphs = glyphs_of(kind)
        self._cursor = (1, 2)  # where it stands at first, nearest to the middle

    async def sees(self, state: State, size: Size) -> None:
        """Wait until the board shows ``state`` in a size, every cell in its place."""
        view = state.view()
        await self.window.wait_for(
            lambda lines: True if find_board(lines, view, size, self._glyphs) else None,
            f"the {size} board of {state.to_position()}",
        )
        if self._glyphs is ASCII:
            assert [line for line in self.window.lines if not line.isascii()] == []

    async def choose(self, cell: str) -> None:
        """Go to a cell by the arrow keys and choose it."""
        x, y = place_of(cell)
        dx, dy = x - self._cursor[0], y - self._cursor[1]
        steps = ["Right" if dx > 0 else "Left"] * abs(dx) + ["Down" if dy > 0 else "Up"] * abs(dy)
        await self.window.press(*steps, "Space")
        self._cursor = (x, y)

    async def play(self, texts: Sequence[str], *, by_typing: bool) -> None:
        """Compose a turn and send it."""
        await self.window.shows("your turn")
        if by_typing:
            await self.window.type(f"{' '.join(texts)}\r")
            self._cursor = place_of(texts[-1])  # it goes along with what is typed
        else:
            for text in texts:
                await self.choose(text)
        await self.window.shows(f"Turn complete: {' '.join(texts)}")
        await self.window.press("Enter")


class Match:
    """A match at three windows: two players and a watcher, who see the same after every turn."""

    def __init__(self, players: tuple[Seat, Seat], watcher: Seat) -> None:
        self.state: State = registry.load(GAME, OPTIONS).initial_state()
        self.players = players
        self.everybody = (*players, watcher)
        self._chance = random.Random(4)

    async def all_see(self, size: Size) -> None:
        """Wait until all see the position in a size."""
        for seat in self.everybody:
            await seat.sees(self.state, size)

    async def play_turn(self, *, by_typing: bool, size: Size | None = Size.HUGE) -> None:
        """Let the player to move make a random turn; all see it, unless ``size`` is ``None``."""
        mover, before, texts = self.players[self.state.to_move or 0], self.state.turn_number, []
        while not self.state.is_terminal and self.state.turn_number == before:
            action = self._chance.choice(self.state.legal_actions())
            texts.append(self.state.action_to_string(action))
            self.state = self.state.apply(action)
        await mover.play(texts, by_typing=by_typing)
        if size is not None:
            await self.all_see(size)

    async def play_through_resizes(self) -> None:
        """Play a turn at every size of the windows; at the smallest nobody sees a board, and nothing is lost."""
        for columns, rows, size in SIZES_OF_WINDOWS:
            for seat in self.everybody:
                await seat.window.resize(columns, rows)
            if size is None:
                for seat in self.everybody:
                    await seat.window.shows("The window is too small")
            else:
                await self.all_see(size)
            await self.play_turn(by_typing=True, size=size)


async def seated(server: ServerProcess, windows: Tmux, folder: Path, kinds: Sequence[str]) -> Match:
    """Let two people and a watcher meet in a room, each at a window of a kind."""

    async def sit(name: str, kind: str, *command: str) -> Seat:
        folders = {f"TABULEIRO_{what}_DIR": str(folder / name) for what in ("CONFIG", "DATA")}
        program = (sys.executable, "-m", "tabuleiro_client", *command, "--server", server.url, "--name", name)
        return Seat(await windows.open(*program, **KINDS[kind], **folders), kind)

    options = [word for name, value in OPTIONS.items() for word in ("--option", f"{name}={value}")]
    ana = await sit("ana", kinds[0], "play", "--game", GAME, *options)
    code = await ana.window.wait_for(code_of_room, "the code of the room")
    rui = await sit("rui", kinds[1], "play", "--room", code)
    eva = await sit("eva", kinds[2], "watch", code)
    return Match((ana, rui), eva)


def code_of_room(lines: Sequence[str]) -> str | None:
    found = re.search(r"Room  ((?:[A-Z0-9] ){4}[A-Z0-9])\b", "\n".join(lines))
    return None if found is None else found[1].replace(" ", "")


@pytest.mark.parametrize(
    "kinds",
    [
        ("xterm", "screen", "linux"),
        *(pytest.param((kind, kind, kind), marks=pytest.mark.slow) for kind in KINDS),
    ],
    ids="-".join,
)
async def test_two_people_and_a_watcher_play_a_match_on_screens_that_change_size(tmp_path, kinds):
    async with serving(tmp_path / "t.db") as server, tmux(tmp_path) as windows:
        match = await seated(server, windows, tmp_path, kinds)
        await match.all_see(Size.HUGE)
        await match.play_turn(by_typing=False)
        await match.play_turn(by_typing=False)
        await match.play_through_resizes()
        while not match.state.is_terminal:
            await match.play_turn(by_typing=match.state.turn_number % 2 == 0)
        outcome = match.state.outcome
        assert outcome is not None
        assert outcome.winner is not None
        await match.players[outcome.winner].window.shows("You win")
        await match.players[1 - outcome.winner].window.shows("You lose")
        for seat in match.everybody:
            await seat.window.shows(f"{('blue', 'red')[1 - outcome.winner]} cannot move")
            await seat.window.press("C-q")
            await left_clean(seat.window)


CLEAN = {"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0"}
"""What tmux says of a window that a program has given back."""


async def left_clean(window: Window) -> None:
    """Wait for the good end of the program; the window must be as it was before."""
    await window.shows(f"{ENDED}0")
    facts = {name: await window.fact(name) for name in CLEAN}
    assert facts == CLEAN


MIDDLES = {"virus-wars": 62, "xero-g": 16, "iris": 21, "minefield": 30}
"""How many actions of a random match are on the board of each game."""


def record_of(game: str) -> tuple[str, State]:
    """A record of a match that is always the same, and its last position."""
    chance, state, texts = random.Random(7), registry.load(game).initial_state(), []
    for _ in range(MIDDLES[game]):
        action = chance.choice(state.legal_actions())
        texts.append(state.action_to_string(action))
        state = state.apply(action)
    record = MatchRecord(game, {}, (RecordPlayer("Ana"), RecordPlayer("Rui")), tuple(texts))
    return format_record(record), state


@pytest.mark.parametrize("game", list(MIDDLES))
@pytest.mark.parametrize(
    "kind", ["xterm", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "xterm")]
)
async def test_every_board_is_straight_in_every_size_that_just_fits(tmp_path, kind, game):
    text, state = record_of(game)
    path = tmp_path / "match.txt"
    path.write_text(text, encoding="utf-8")
    folders = {f"TABULEIRO_{what}_DIR": str(tmp_path) for what in ("CONFIG", "DATA")}
    view = state.view()
    async with tmux(tmp_path) as windows:
        program = (sys.executable, "-m", "tabuleiro_client", "replay", str(path))
        window = await windows.open(*program, **KINDS[kind], **folders)
        seat = Seat(window, kind)
        await window.shows("action")
        await window.press("9")
        for size in SIZES:
            layout = Layout(view, size)
            await window.resize(layout.width + PANEL_MIN_COLUMNS + 1, layout.height + OTHER_ROWS)
            await seat.sees(state, size)
