"""The settings of a server: defaults, then a TOML file, then the environment, then the command line.

Every key carries its unit in its name. A value that cannot be used is a `ConfigError` naming where it was found,
the key, and what was expected in which unit. What the settings do is left to whoever is given a `Config`.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import inspect

from tabuleiro.errors import ConfigError, shown
from tabuleiro.protocol.codec import CLIENT_FRAME_MAX_BYTES
from tabuleiro.settings import RoomLimits

ENVIRONMENT_PREFIX: Final = "TABULEIRO_"

UNITS: Final = {"_ms": "milliseconds", "_bytes": "bytes", "_count": "a whole number"}
"""What the endings of keys stand for."""

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=86_400_000)]
LongMilliseconds = Annotated[int, msgspec.Meta(ge=1_000, le=366 * 86_400_000)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything that whoever hosts a server may choose."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: Port = 8765
    """TCP port; 0 takes any free one."""
    db: str = "tabuleiro.db"
    """Path of the SQLite file; it is made if absent."""
    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    """SQLite's synchronous level. NORMAL is faster, but a power cut may take acknowledged moves back."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What is worth a line in the log: debug, info, warning or error."""
    log_style: Literal["text", "json"] = "text"
    """Log lines for people (text), or one JSON object a line (json)."""
    metrics: Literal["off", "local", "all"] = "local"
    """Who may read /metrics: nobody (off), this machine without a proxy in between (local), or everybody (all)."""
    bot_workers: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0
    """Processes that think for bots; 0 means one less than there are cores, at least one."""
    bot_think_limit_ms: Milliseconds = 30_000
    """A bot that thinks longer is ended and asked again."""
    handshake_timeout_ms: Milliseconds = 10_000
    """A connection whose WebSocket handshake is not done by then is cut."""
    hello_timeout_ms: Milliseconds = 10_000
    """A connection that has not said hello by then is closed."""
    ping_interval_ms: Milliseconds = 20_000
    """How often each connection is asked whether it is still there; lag is measured with it."""
    ping_timeout_ms: Milliseconds = 20_000
    """A connection that has not answered a ping by then is closed."""
    close_timeout_ms: Milliseconds = 5_000
    """How long a closed connection may take to say goodbye before it is cut."""
    shutdown_notice_ms: Annotated[int, msgspec.Meta(ge=0, le=3_600_000)] = 3_000
    """How long before closing their connections a stopping server tells its clients; matches go on meanwhile."""
    shutdown_limit_ms: Milliseconds = 10_000
    """How long a stopping server then waits for thinking bots, connections, commands and commits, for each."""
    outbox_frames_count: Count = 512
    """Frames that may wait for a slow reader before its connection is closed."""
    outbox_bytes: Annotated[int, msgspec.Meta(ge=65_536, le=2**31)] = 8 * 1024 * 1024
    """Bytes that may wait for a slow reader before its connection is closed."""
    room_queue_count: Count = 64
    """Commands that may wait for one room before further ones are refused as busy."""
    storage_retry_ms: Milliseconds = 1_000
    """After a failure to store what a deadline brought, it is tried again this much later."""
    lobby_wake_ms: Milliseconds = 1_000
    """How often rooms on disk are looked through for deadlines that have come."""
    empty_seat_ms: LongMilliseconds = 600_000
    """A seat whose person has no connection is freed after this time, while the room waits."""
    waiting_room_ms: LongMilliseconds = 86_400_000
    """A waiting room in which nothing happens is closed after this time."""
    idle_match_ms: LongMilliseconds = 60 * 86_400_000
    """A match without a clock in which nothing happens is aborted after this time."""
    finished_room_ms: LongMilliseconds = 2 * 86_400_000
    """A finished room is closed after this time; its record stays."""
    unused_guest_ms: LongMilliseconds = 30 * 86_400_000
    """The name of a guest who never played is free again after this time without a visit."""
    connections_count: Count = 5_000
    """Connections in all."""
    connections_per_address_count: Count = 100
    """Connections from one address (of IPv6, from one /64 network)."""
    handshakes_count: Count = 200
    """Connections that are not let in yet, or are refused, at once; of more, the oldest of one address is cut."""
    rooms_per_account_count: Count = 20
    """Unfinished rooms that one guest may have made."""
    entered_rooms_count: Count = 50
    """Rooms that one connection may be in."""
    messages_per_second_count: Count = 20
    """Messages that one connection may send a second, in the long run; pieces and control frames count."""
    messages_burst_count: Count = 100
    """Messages that one connection may send at once; as many too many close it."""
    client_frame_bytes: Annotated[int, msgspec.Meta(ge=1024, le=CLIENT_FRAME_MAX_BYTES)] = CLIENT_FRAME_MAX_BYTES
    """Longest message that a client may send."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies whose X-Forwarded-For is believed."""
    idle_room_unload_ms: Milliseconds = 60_000
    """A room that nobody has entered leaves memory after this time; it stays on disk."""

    def __post_init__(self) -> None:
        """Raises: ValueError."""
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy, strict=False)
            except ValueError:
                expected = "addresses or networks such as 127.0.0.1 or 10.0.0.0/8"
                raise ValueError(f"{expected}, got {shown(proxy)}") from None

    def room_limits(self) -> RoomLimits:
        """The limits that a new room is given."""
        return RoomLimits(
            empty_seat_ms=self.empty_seat_ms,
            waiting_ms=self.waiting_room_ms,
            idle_match_ms=self.idle_match_ms,
            finished_ms=self.finished_room_ms,
        )


def load_config(
    path: Path | None = None, environment: Mapping[str, str] | None = None, **overrides: object
) -> Config:
    """Put the settings together; ``overrides`` that are ``None`` don't count.

    Raises: ConfigError for an unreadable file, an unknown key or a value that cannot be used.
    """
    values: dict[str, Any] = {}
    if path is not None:
        values.update(_checked(_read_file(path), str(path)))
    from_environment = _environment_values(os.environ if environment is None else environment)
    values.update(_checked(from_environment, "environment", is_text=True))
    given = {key: value for key, value in overrides.items() if value is not None}
    values.update(_checked(given, "command line"))
    return Config(**values)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(str(path), "(file)", f"a readable file: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "(file)", f"TOML: {error}") from error


def _environment_values(environment: Mapping[str, str]) -> dict[str, Any]:
    """The settings in the environment. Raises: ConfigError for a variable that is nearly one.

    What begins like a setting and is none stands for something else: the client has variables of its own, and
    those who run containers add some.
    """
    names = Config.__struct_fields__
    keys = {f"{ENVIRONMENT_PREFIX}{name.upper()}": name for name in names}
    for variable in environment:
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in keys:
            meant = _nearest(variable.removeprefix(ENVIRONMENT_PREFIX).lower())
            if meant is not None:
                raise ConfigError("environment", variable, f"{ENVIRONMENT_PREFIX}{meant.upper()}")
    return {keys[key]: value for key, value in environment.items() if key in keys}


def _nearest(key: str) -> str | None:
    """The key that ``key`` seems to be written for; ``None`` when it is like none."""
    found = difflib.get_close_matches(key, Config.__struct_fields__, n=1, cutoff=0.75)
    return found[0] if found else None


def _checked(values: dict[str, Any], source: str, *, is_text: bool = False) -> dict[str, Any]:
    """Check each value by itself, so that the error names its key; ``is_text``: all values are texts."""
    types = inspect.type_info(Config)
    assert isinstance(types, inspect.StructType)
    known = {field.name: field.type for field in types.fields}
    checked = {}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(source, key, _nearest(key) or "one of " + ", ".join(sorted(known)))
        if is_text and isinstance(known[key], inspect.VarTupleType):
            value = [part.strip() for part in value.split(",") if part.strip()]
        try:
            checked[key] = getattr(msgspec.convert({key: value}, Config, strict=not is_text), key)
        except msgspec.ValidationError as error:
            expected = _expectation(key, known[key], value)
            reason = str(error) if expected is None else f"{expected}, got {shown(value)}"
            raise ConfigError(source, key, reason) from error
    return checked


def _expectation(key: str, type_: inspect.Type, value: object) -> str | None:
    """What a value of this key looks like, in its unit; ``None`` when the error about ``value`` says it best."""
    if isinstance(type_, inspect.IntType):
        unit = next((unit for ending, unit in UNITS.items() if key.endswith(ending)), "a whole number")
        return f"{unit} from {type_.ge} to {type_.le}"
    if isinstance(type_, inspect.LiteralType):
        return "one of " + ", ".join(str(value) for value in type_.values)
    if isinstance(type_, inspect.VarTupleType):
        is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if is_texts else "a list of texts"
    return "text" if isinstance(type_, inspect.StrType) else None
