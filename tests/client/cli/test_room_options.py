from __future__ import annotations

import pytest

from tabuleiro.clock import ByoYomi, Fischer
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.line import launch
from tabuleiro_client.line.client import LineClient
from tabuleiro_client.text.settings import settings_text


@pytest.fixture
def options(monkeypatch):
    """What `tabuleiro play` with these words would do."""
    asked = []

    async def note(client, wanted):
        asked.append(wanted)

    monkeypatch.setattr(launch, "play", note)
    monkeypatch.setattr(LineClient, "of_this_process", lambda **_: None)

    def of(words):
        assert exit_status(["play", *words.split()]) == 0
        return asked[-1]

    return of


def test_every_setting_has_an_option(options):
    words = (
        "--game iris --time 10m+5x30s --private --no-casual --draw-first --no-undo --late-bot random:90 "
        "--stand-in greedy --away 60 --hide-watcher-chat --count-downtime"
    )
    expected = RoomSettings(
        time_control=ByoYomi(600_000, 30_000, 5),
        is_private=True,
        is_casual=False,
        first="draw",
        may_undo=False,
        late_bot=LateBot("random", 90_000),
        stand_in_level="greedy",
        away_after_ms=60_000,
        hides_watcher_chat=True,
        counts_downtime=True,
    )
    assert options(words).settings == expected
    usual = RoomSettings()
    differing = {
        name for name in RoomSettings.__struct_fields__ if getattr(expected, name) != getattr(usual, name)
    }
    # Hints are for casual rooms only, and so cannot be among them.
    assert differing == {*RoomSettings.__struct_fields__} - {"hints"}
    assert options("--game iris --hints").settings == RoomSettings(hints=True)


def test_without_options_a_room_is_as_usual_and_nothing_is_wished(options):
    assert options("").is_nothing
    assert options("--game iris").settings == RoomSettings()


def test_settings_alone_play_the_first_game(options):
    wanted = options("--time 5+3")
    assert (wanted.game, wanted.is_direct) == ("virus-wars", True)


def test_quick_play_names_its_game(options):
    wanted = options("--quick minefield --option size=7 --time 5+3")
    assert (wanted.game, wanted.is_quick, wanted.options["size"]) == ("minefield", True, 7)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--time soon", "--time: 'soon': expected a time control: none, 5 (minutes), 5+3"),
        ("--time 5+9999", "--time: '5+9999': expected an increment from 0 seconds to 1 hour"),
        ("--late-bot random", "--late-bot: 'random': expected LEVEL:TIME"),
        ("--late-bot random:99999999", "--late-bot: 'random:99999999': expected LEVEL:TIME"),
        ("--away 4", "--away: '4': expected 5s to 14d"),
        ("--room K7MQ4 --private", "--room: 'K7MQ4': expected no --game, --preset, --option, --bot or settings"),
        ("--quick iris --bot random", "--quick: 'iris': expected no --room, --game, --bot or --seat beside it"),
        ("--quick go", "there is no game 'go'"),
        ("--secret x", "--secret: a secret part: expected --room CODE beside it"),
    ],
)
def test_wrong_settings_are_named_with_what_would_be_right(words, message, capsys):
    assert exit_status(["play", *words.split()]) == 2
    assert message in capsys.readouterr().err


def test_an_option_and_its_opposite_may_both_be_typed(options):
    words = "--game iris --no-private --casual --undo --no-draw-first --stand-in none --late-bot none"
    assert options(words).settings == RoomSettings()


def test_all_that_is_not_as_usual_is_told(options):
    assert settings_text(RoomSettings()) == ""
    words = "--time 5+3 --private --no-casual --draw-first --no-undo --late-bot random:90 --hide-watcher-chat"
    assert settings_text(options(words).settings) == (
        "5 minutes + 3 seconds a turn; private; not casual; who begins is drawn; no undoing within a turn; "
        "a bot (random) takes the free seat after 1 minute 30 seconds; players don't see what watchers say"
    )
    assert settings_text(options("--stand-in greedy --away 60 --count-downtime").settings) == (
        "a bot (greedy) plays for who is away for 1 minute; clocks run on while the server is down"
    )
    assert (
        settings_text(options("--away 600").settings) == "the win may be claimed over who is away for 10 minutes"
    )


def test_the_secret_of_an_invitation_reaches_the_watching_screen_too(monkeypatch):
    asked = []

    async def note(url, code, *, secret, **_):
        asked.append((url, code, secret))
        return 0

    monkeypatch.setattr("tabuleiro_client.tui.launch.watch_in_room", note)
    monkeypatch.setattr("tabuleiro_client.cli.watch.can_draw", lambda *_: True)
    assert exit_status(["watch", "K7MQ4", "--server", "ws://host:1", "--secret", "s3cret"]) == 0
    assert asked == [("ws://host:1", "K7MQ4", "s3cret")]


def test_everything_that_was_typed_reaches_the_playing_screens_too(monkeypatch):
    asked = []

    async def note(options, **_):
        asked.append(options)
        return 0

    monkeypatch.setattr("tabuleiro_client.tui.launch.play", note)
    monkeypatch.setattr("tabuleiro_client.cli.play.can_draw", lambda *_: True)
    assert exit_status(["play", "--room", "K7MQ4", "--server", "ws://host:1", "--secret", "s3cret"]) == 0
    assert exit_status(["play", "--game", "iris", "--time", "5+3", "--server", "ws://host:1"]) == 0
    (joined, opened) = asked
    assert (joined.server, joined.room, joined.secret) == ("ws://host:1", "K7MQ4", "s3cret")
    assert (opened.game, opened.settings.time_control) == ("iris", Fischer(300_000, 3_000))
