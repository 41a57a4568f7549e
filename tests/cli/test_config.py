"""Settings come from four places, and what is wrong with one is said with its place, key and unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabuleiro.errors import ConfigError
from tabuleiro.ids import DAY_MS
from tabuleiro.settings import RoomLimits
from tabuleiro_server.config import UNITS, Config, load_config


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tabuleiro.toml"


def refusal_of(path: Path | None = None, environment: dict[str, str] | None = None, **overrides: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path, environment or {}, **overrides)
    return str(caught.value)


def test_without_anything_all_is_default() -> None:
    assert load_config(None, {}) == Config()


def test_the_command_line_beats_the_environment_beats_the_file_beats_the_defaults(path: Path) -> None:
    path.write_text('host = "file"\nport = 1\ndb = "file.db"\n', encoding="utf-8")
    environment = {"TABULEIRO_PORT": "2", "TABULEIRO_DB": "environment.db", "PORT": "9", "TABULEIRO_OTHER": "x"}
    config = load_config(path, environment, db="given.db", host=None)
    assert (config.host, config.port, config.db) == ("file", 2, "given.db")
    assert config.log_level == Config().log_level


def test_the_process_environment_counts_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABULEIRO_PORT", "4711")
    assert load_config().port == 4711
    assert load_config(environment={}).port == Config().port


def test_lists_in_the_environment_are_separated_by_commas() -> None:
    config = load_config(None, {"TABULEIRO_TRUSTED_PROXIES": "10.0.0.0/8, ::1,"})
    assert config.trusted_proxies == ("10.0.0.0/8", "::1")
    assert load_config(None, {"TABULEIRO_TRUSTED_PROXIES": ""}).trusted_proxies == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("hello_timeout_ms = 'soon'", "hello_timeout_ms: expected milliseconds from 1 to 86400000, got 'soon'"),
        ("hello_timeout_ms = 0", "hello_timeout_ms: expected milliseconds from 1 to 86400000, got 0"),
        ("ping_interval_ms = 1.5", "ping_interval_ms: expected milliseconds from 1 to 86400000, got 1.5"),
        ("client_frame_bytes = 99999", "client_frame_bytes: expected bytes from 1024 to 16384, got 99999"),
        ("connections_count = true", "connections_count: expected a whole number from 1 to 1000000, got True"),
        ("port = 70000", "port: expected a whole number from 0 to 65535, got 70000"),
        ("host = 7", "host: expected text, got 7"),
        ("log_level = 'loud'", "log_level: expected one of debug, error, info, warning, got 'loud'"),
        ("metrics = false", "metrics: expected one of all, local, off, got False"),
        (
            "trusted_proxies = ['proxy']",
            "trusted_proxies: expected addresses or networks such as 127.0.0.1 or 10.0.0.0/8, got 'proxy'",
        ),
        ("trusted_proxies = '10.0.0.1'", "trusted_proxies: expected a list of texts, got '10.0.0.1'"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_was_expected(path: Path, line: str, reason: str) -> None:
    path.write_text(line + "\n", encoding="utf-8")
    assert refusal_of(path) == f"{path}: {reason}"


def test_every_place_is_named() -> None:
    expected = "expected a whole number from 0 to 65535, got"
    assert refusal_of(None, {"TABULEIRO_PORT": "http"}) == f"environment: port: {expected} 'http'"
    assert refusal_of(port=-1) == f"command line: port: {expected} -1"


def test_a_key_that_is_like_none_is_told_the_known_ones(path: Path) -> None:
    path.write_text("[server]\nport = 8765\n", encoding="utf-8")
    reason = refusal_of(path)
    assert reason.startswith(f"{path}: server: expected one of {min(Config.__struct_fields__)}, ")
    assert all(key in reason for key in Config.__struct_fields__)


@pytest.mark.parametrize(("typed", "meant"), [("prot", "port"), ("ping_interval", "ping_interval_ms")])
def test_a_key_that_is_nearly_right_is_told_the_one_that_is_meant(path: Path, typed: str, meant: str) -> None:
    """Symptom: in a file all 36 keys were listed, and in the environment it counted for nothing, silently."""
    path.write_text(f"{typed} = 8765\n", encoding="utf-8")
    assert refusal_of(path) == f"{path}: {typed}: expected {meant}"
    variable = f"TABULEIRO_{typed.upper()}"
    assert refusal_of(None, {variable: "1"}) == f"environment: {variable}: expected TABULEIRO_{meant.upper()}"


def test_variables_of_others_are_left_alone() -> None:
    names = ("SERVER", "DATA_DIR", "CONFIG_DIR", "PORT_8765_TCP", "SERVICE_HOST")
    assert load_config(None, {f"TABULEIRO_{name}": "x" for name in names}) == Config()


@pytest.mark.parametrize(
    ("content", "reason"), [(b"port = \n", "TOML: "), (b"\xff\xfe", "TOML: "), (None, "a readable file: No such")]
)
def test_a_file_that_cannot_be_read_is_named(path: Path, content: bytes | None, reason: str) -> None:
    if content is not None:
        path.write_bytes(content)
    assert refusal_of(path).startswith(f"{path}: (file): expected {reason}")


def test_every_number_has_its_unit_in_its_name() -> None:
    numbers = [field.name for field in msgspec.structs.fields(Config) if type(field.default) is int]
    unitless = [name for name in numbers if not name.endswith(tuple(UNITS))]
    assert unitless == ["port", "bot_workers"]


def test_new_rooms_are_given_the_limits_of_the_config() -> None:
    config = Config(
        empty_seat_ms=1_001,
        waiting_room_ms=1_002,
        idle_match_ms=1_003,
        finished_room_ms=1_004,
        first_turn_ms=1_005,
        long_first_turn_ms=1_006,
    )
    assert config.room_limits() == RoomLimits(1_001, 1_002, 1_003, 1_004, 1_005, 1_006)
    assert Config().room_limits() == RoomLimits(first_turn_ms=30_000, long_first_turn_ms=DAY_MS)
