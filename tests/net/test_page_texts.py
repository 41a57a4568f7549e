"""The sentences of the page beside those of the terminal: both are made by the same codes, and read the same.

``pytest -s`` prints them side by side.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tabuleiro.ids import AccountId, Player, Ply, RoomCode, TimestampMs
from tabuleiro.protocol import events
from tabuleiro.protocol.boards import board_of, layout_of
from tabuleiro.protocol.events import Event, OfferEnd, OfferKind, SeatInfo
from tabuleiro.rules import State, registry
from tabuleiro.rules.base import Termination
from tabuleiro.rules.options import Options
from tabuleiro.settings import RoomSettings
from tabuleiro.text import spell_duration
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.clocks import format_left
from tabuleiro_client.text.endings import ending_text
from tabuleiro_client.text.sentences import LOW_TIMES_MS, Cast, sentence_to
from tabuleiro_client.text.spoken import change_text

TEXTS = files("tabuleiro_server.net") / "web" / "text.js"
ANA, RUI = AccountId("ana"), AccountId("rui")
SEATS = (SeatInfo("person", ANA, "ana"), SeatInfo("person", RUI, "rui"))
SPOKEN = TextStyle(color=False, ascii=True, is_spoken=True)
MATCH, PLY = 1, Ply(4)

RED_BEGINS: Options = {"rows": 4, "cols": 4, "steps": 2, "position": "...o/..../..../x... 1 2"}

GAMES = [*((name, {}) for name in registry.names()), ("virus-wars", RED_BEGINS)]

EVENTS: list[Event] = [
    events.RoomOpened(RoomCode("K7MQ4"), "iris", {}, ANA, "ana", SEATS),
    events.SeatTaken(1, RUI, "rui"),
    events.BotSeated(1, "hard"),
    events.SeatFreed(0),
    events.SeatsSwapped(),
    events.SettingsChanged(RoomSettings()),
    events.SeatConnected(0),
    events.SeatDisconnected(0),
    events.StandInSeated(0, "easy"),
    events.RoomResumed(TimestampMs(0)),
    events.RoomResumed(TimestampMs(0), is_standstill=True),
    events.MatchStarted(MATCH),
    events.ActionsPlayed(MATCH, PLY, 0, ("c3", "d4")),
    events.ActionsPlayed(MATCH, PLY, 1, ("c3",), by_stand_in=True, is_makeshift=True),
    events.HintTaken(MATCH, PLY, 0),
    events.ActionsUndone(MATCH, PLY, 0),
    events.TurnTakenBack(MATCH, PLY, 1),
    *(events.OfferMade(kind, player) for kind in get_args(OfferKind) for player in (0, 1)),
    *(events.OfferEnded(kind, 0, how) for kind in get_args(OfferKind) for how in get_args(OfferEnd)),
    *(events.MatchEnded(MATCH, winner, ending) for ending in Termination for winner in (0, 1, None)),
    events.MatchEnded(MATCH, None, Termination.ABORTED, late_player=0),
    events.Said(ANA, "ana", "good game", True),
    events.Said(RUI, "rui", "well played", False),
    events.Muted(ANA, "ana"),
    events.Muted(RUI, "rui", is_muted=False),
    events.HostChanged(ANA, "ana"),
    events.HostChanged(RUI, "rui"),
    events.RoomClosed("its host closed it"),
    events.Withheld(),
]
"""Every event, some with each of their codes."""

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to read the page's texts")


def page_says(folder: Path, script: str, given: Any) -> list[str]:
    """The strings that a function of ``text`` (the page's module) and ``given`` returns."""
    module = folder / "text.mjs"
    module.write_text(TEXTS.read_text())
    (folder / "given.json").write_bytes(msgspec.json.encode(given))
    program = f"""
        import * as text from {json.dumps(module.as_uri())};
        import {{ readFileSync }} from "node:fs";
        const given = JSON.parse(readFileSync({json.dumps(str(folder / "given.json"))}));
        console.log(JSON.stringify({script}));
    """
    command = ["node", "--input-type=module", "-e", program]
    node = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(node.stdout)
    return found


def assert_alike(page: list[str], terminal: list[str]) -> None:
    """Compare, and print both side by side."""
    pairs = list(zip(page, terminal, strict=True))
    table = "\n".join(f"{'  ' if here == there else '! '}{here!r:<80} {there!r}" for here, there in pairs)
    print(f"\n{table}")
    assert all(here == there for here, there in pairs), table


def test_every_event_has_its_sentence() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("own", [(), (0,), (0, 1)], ids=["watching", "playing", "both seats"])
@pytest.mark.parametrize(("game", "options"), GAMES)
def test_the_page_tells_events_as_the_spoken_terminal_does(
    tmp_path: Path, game: str, options: Options, own: tuple[Player, ...]
) -> None:
    loaded = registry.load(game, options)
    cast = Cast(loaded, SEATS, own, SPOKEN)
    account = ANA if own else AccountId("eva")
    page = page_says(
        tmp_path,
        """given.events.map((event) =>
            text.event(event, text.cast(given.game, ["ana", "rui"], given.own), given.account, given.first))""",
        {"game": game, "own": own, "account": account, "events": EVENTS, "first": loaded.initial_state().to_move},
    )
    terminal = [sentence_to(event, account) or cast.sentence(event) for event in EVENTS]
    # What the settings are now stands in the head of the room.
    assert_alike(page, [sentence.removesuffix(": all standard") for sentence in terminal])


def positions(game: str) -> list[tuple[State, State]]:
    """Positions of a match at random, each with the one after it."""
    chance, state = random.Random(17), registry.load(game, {}).initial_state()
    found: list[tuple[State, State]] = []
    while state.to_move is not None and len(found) < 150:
        found.append((state, state.child(chance.choice(list(state.legal_actions())))))
        state = found[-1][1]
    return found


@pytest.mark.parametrize("game", registry.names())
def test_the_page_tells_turns_and_changes_as_the_spoken_terminal_does(tmp_path: Path, game: str) -> None:
    played = positions(game)
    cast = Cast(registry.load(game, {}), SEATS, (0,), SPOKEN)
    boards = [(board_of(old, 0), board_of(new, 0), bool(new.actions_in_turn)) for old, new in played]
    page = page_says(
        tmp_path,
        """given.boards.flatMap(([before, after, hasBegun]) => [text.change(given.layout, before, after),
            text.turn(text.cast(given.game, ["ana", "rui"], [0]), after, hasBegun)])""",
        {"game": game, "layout": layout_of(played[0][0]), "boards": boards},
    )
    terminal = [
        sentence
        for before, after in played
        for sentence in (change_text(before.view(), after.view()), cast.turn(after))
    ]
    assert_alike(page, terminal)


def test_the_page_tells_of_little_time_as_the_terminal_does(tmp_path: Path) -> None:
    page = page_says(tmp_path, 'text.LOW_TIMES_MS.map((ms) => text.lowTime(ms, "black"))', None)
    assert_alike(page, [f"{spell_duration(low_ms)} left for black" for low_ms in LOW_TIMES_MS])


def test_the_page_writes_the_time_for_a_first_turn_as_the_terminal_does(tmp_path: Path) -> None:
    page = page_says(tmp_path, "[24_000, 9_900].map(text.firstTurn)", None)
    assert_alike(page, [f"first turn {format_left(left_ms)}" for left_ms in (24_000, 9_900)])


def test_the_page_says_every_end_as_the_terminal_does(tmp_path: Path) -> None:
    cases = [(winner, ending) for ending in Termination for winner in (0, 1, None)]
    page = page_says(tmp_path, 'given.map(([winner, code]) => text.ending(["ana", "rui"], winner, code))', cases)
    assert_alike(page, [ending_text(("ana", "rui"), winner, ending) for winner, ending in cases])  # type: ignore[arg-type]


def test_the_page_knows_the_title_and_the_sides_of_every_game(tmp_path: Path) -> None:
    names = registry.names()
    script = "given.map((game) => [text.title(game), ...text.cast(game, [], []).sides].join())"
    page = page_says(tmp_path, script, names)
    games = map(registry.game_type, names)
    assert_alike(page, [",".join((game.title, *game.sides)) for game in games])
