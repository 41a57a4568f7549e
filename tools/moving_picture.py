"""Record matches on the screens, and write them as SVG: the moving picture of the README, and still ones.

usage: python -m tools.moving_picture client/pictures

A server runs in this process. Ana opens a room on the screens of the program, Rui joins by the client library, and
both play by the search of the bots. Each change of the screen is a frame. The picture holds every text and every
filled stretch once for as long as it stays the same, which keeps it small; browsers show it without a script.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from textual.pilot import Pilot

from tabuleiro.protocol.messages import CreateRoom
from tabuleiro_client.net.library import connect
from tabuleiro_client.net.room import EnteredRoom, enter
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.entrance import screen_of_room
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_server.bots.analysis import suggest
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

THINK_MS: Final = (400, 50)
"""Ana thinks longer."""
ACTION_S: Final = 0.45
"""How long the position after an action stays."""
PAUSE_S: Final = 2.5
"""How long the first and the last frame stay."""

CELL_WIDTH: Final = 12.2
LINE_HEIGHT: Final = 24.4
"""The size of a character in the pictures of Rich."""
MARGIN: Final = 8
SEAM: Final = 0.3

_STYLE: Final = re.compile(r"\.[\w-]+-(r\d+) \{ ?(.*?) ?\}")
_RECT: Final = re.compile(r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="[\d.]+"')
_TEXT: Final = re.compile(
    r'<text class="[\w-]+-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"[^>]*>(.*?)</text>'
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A match to be recorded in a window: all of it as a moving picture, or the position after some actions."""

    name: str
    game: str
    columns: int
    rows: int
    actions_count: int | None = None


SCENES: Final = (
    Scene("match", "iris", 100, 32),
    Scene("virus-wars", "virus-wars", 120, 40, 60),
    Scene("xero-g", "xero-g", 120, 40, 20),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture of the terminal as Rich writes it, and the seconds it stays."""

    svg: str
    seconds: float


def animated(frames: Sequence[Frame], columns: int, rows: int) -> str:
    """Return the frames of a window as one picture that moves for ever; a single one stands still."""
    total_s = sum(frame.seconds for frame in frames)
    styles: dict[str, str] = {}
    shown: dict[str, list[tuple[float, float]]] = {}
    start_s = 0.0
    for frame in frames:
        end_s = start_s + frame.seconds
        for item in _items(frame.svg, styles):
            times = shown.setdefault(item, [])
            if times and times[-1][1] == start_s:
                times[-1] = (times[-1][0], end_s)
            else:
                times.append((start_s, end_s))
        start_s = end_s
    alike: dict[tuple[bool, tuple[tuple[float, float], ...]], list[str]] = {}
    for item, times in shown.items():
        alike.setdefault((item.startswith("<text"), tuple(times)), []).append(item)
    width, height = columns * CELL_WIDTH + 2 * MARGIN, rows * LINE_HEIGHT + 2 * MARGIN
    rules = "".join(f".{name}{{{rule}}}" for rule, name in styles.items())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">',
        "<style>text{font:20px 'Fira Code','DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}",
        f"{rules}</style>",
        f'<rect width="100%" height="100%" rx="{MARGIN}" fill="{_background(frames[0].svg)}"/>',
        f'<g transform="translate({MARGIN} {MARGIN})">',
    ]
    # What is written lies above what is filled.
    for (_, moments), items in sorted(alike.items(), key=lambda pair: pair[0][0]):
        parts.append(f"<g{_timing(moments, total_s)}{''.join(items)}</g>")
    return "\n".join([*parts, "</g></svg>", ""])


def _background(svg: str) -> str:
    """Return the colour that fills most of a picture."""
    widths: dict[str, float] = {}
    for fill, _, _, width in _RECT.findall(svg):
        widths[fill] = widths.get(fill, 0) + float(width)
    return max(widths, key=widths.__getitem__, default="#121212")


def _items(svg: str, styles: dict[str, str]) -> Iterator[str]:
    """Yield what is drawn in a picture of Rich; new styles are added to ``styles`` and named."""
    names = {name: styles.setdefault(rule, f"s{len(styles)}") for name, rule in _STYLE.findall(svg)}
    for fill, x, y, width in _RECT.findall(svg):
        if float(width):
            # A little more than its size, or the seams between the lines would show.
            top, size = float(y) // LINE_HEIGHT * LINE_HEIGHT, float(width) + SEAM
            yield f'<rect fill="{fill}" x="{x}" y="{top:g}" width="{size:g}" height="{LINE_HEIGHT + SEAM:g}"/>'
    for name, x, y, length, text in _TEXT.findall(svg):
        if text.replace("&#160;", "").strip():
            yield f'<text class="{names[name]}" x="{x}" y="{y}" textLength="{length}">{text}</text>'


def _timing(times: tuple[tuple[float, float], ...], total_s: float) -> str:
    """Return the rest of the tag of a group that is shown at these times alone."""
    if times == ((0.0, total_s),):
        return ">"
    moments, values = [0.0], ["inline" if times[0][0] == 0 else "none"]
    for start_s, end_s in times:
        for moment_s, value in ((start_s, "inline"), (end_s, "none")):
            if 0 < moment_s < total_s:
                moments.append(moment_s)
                values.append(value)
    still = "" if values[0] == "inline" else ' display="none"'  # for what shows no animation: the first frame
    keys = ";".join(f"{moment_s / total_s:.5f}".rstrip("0").rstrip(".") for moment_s in moments)
    return (
        f'{still}><animate attributeName="display" calcMode="discrete" dur="{total_s:g}s" '
        f'repeatCount="indefinite" values="{";".join(values)}" keyTimes="{keys}"/>'
    )


async def record(scene: Scene) -> list[Frame]:
    """Play the match of a scene and return the frames."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABULEIRO_CONFIG_DIR"] = os.environ["TABULEIRO_DATA_DIR"] = folder
        os.environ.setdefault("COLORTERM", "truecolor")
        config = Config(db=str(Path(folder, "match.db")), port=0, public_url="wss://play.example.org")
        async with running_server(config) as server:
            app = TabuleiroApp(HomeScreen, settings=Settings())
            async with (
                app.run_test(size=(scene.columns, scene.rows)) as pilot,
                connect(server.url, name="rui") as rui,
            ):
                # Shown is the address that friends would use.
                venue = replace(await app.session.go_online(server.url, "ana"), url=config.public_url)
                app.session.venue = venue
                room = await enter(venue.link, CreateRoom(id=0, game=scene.game))
                await app.push_screen(screen_of_room(venue, room, app.writing, is_to_watch=False))
                frames = [await _frame(pilot, PAUSE_S)]
                async with rui.join(room.code) as ruis:
                    await ruis.say("good luck!")
                    played = _play(room, ruis, scene.actions_count)
                    frames += [await _frame(pilot, seconds) async for seconds in played]
                await app.session.leave()
    return frames if scene.actions_count is None else frames[-1:]


async def _play(room: EnteredRoom, ruis: EnteredRoom, actions_count: int | None) -> AsyncIterator[float]:
    """Play until the match is over, or so long; after each action the seconds are given for which it is shown."""
    while room.mirror.match is None:
        await _in_step(room, ruis)
    while not (state := room.mirror.state).is_terminal:
        is_ana = room.mirror.is_my_turn
        player = room if is_ana else ruis
        turn = await asyncio.to_thread(suggest, state.game, state, THINK_MS[0 if is_ana else 1])
        for action in turn.actions:
            await player.play([state.action_to_string(action)])
            state = state.child(action)
            await _in_step(room, ruis)
            yield ACTION_S
        if actions_count is not None and len(room.mirror.actions) >= actions_count:
            break
    yield PAUSE_S


async def _in_step(room: EnteredRoom, ruis: EnteredRoom) -> None:
    """Wait until both know the same of the match."""
    await asyncio.sleep(0.01)
    while room.mirror.head.seq != ruis.mirror.head.seq:  # noqa: ASYNC110 (both follow in tasks of their own)
        await asyncio.sleep(0.01)
    while ruis.has_unread:
        await ruis.next_change()


async def _frame(pilot: Pilot[int], seconds: float) -> Frame:
    await pilot.pause()
    return Frame(pilot.app.export_screenshot(simplify=True), seconds)


def main() -> None:
    """Write the pictures into the folder that the command line names."""
    for scene in SCENES:
        picture = animated(asyncio.run(record(scene)), scene.columns, scene.rows)
        path = Path(sys.argv[1], f"{scene.name}.svg")
        path.write_text(picture, encoding="utf-8")
        print(f"{path}: {len(picture.encode()) // 1024} KiB")


if __name__ == "__main__":
    main()
