"""The settings of a server: defaults, then a TOML file, then the environment, then the command line.

Every key ends in its unit. A value that cannot be used is a `ConfigError` with the place where it was found, the
key, and the expected range and unit.
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
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.codec import CLIENT_FRAME_MAX_BYTES
from tabuleiro.settings import RoomLimits

ENVIRONMENT_PREFIX: Final = "TABULEIRO_"

POSTGRES_SCHEMES: Final = ("postgresql://", "postgres://")

UNITS: Final = {"_ms": "milliseconds", "_bytes": "bytes", "_count": "a whole number"}
"""The units that the endings of keys stand for."""

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=DAY_MS)]
FirstTurnMilliseconds = Annotated[int, msgspec.Meta(ge=0, le=60 * DAY_MS)]
LongMilliseconds = Annotated[int, msgspec.Meta(ge=1_000, le=366 * DAY_MS)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
BigCount = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings of a server."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: Port = 8765
    """TCP port; 0 takes any free one."""
    public_url: str = ""
    """Address that invitations show, e.g. wss://play.example.org; empty: the one that a client has used."""
    db: str = "tabuleiro.db"
    """SQLite file, made if absent, or the address of a PostgreSQL database, postgresql://USER@HOST/NAME."""
    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    """SQLite's synchronous level, and the least of PostgreSQL's. With NORMAL a crash may take moves back."""
    node: str = ""
    """Name of this server among several, for its log and its metrics; empty: the name of the machine."""
    node_url: str = ""
    """Address of this server among several on one PostgreSQL, e.g. wss://play.example.org/node/a; empty: alone."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is logged: debug, info, warning or error."""
    log_style: Literal["text", "json"] = "text"
    """Log lines for people (text), or one JSON object a line (json)."""
    metrics: Literal["off", "local", "all"] = "local"
    """Access to /metrics: nobody (off), this machine without a proxy in between (local), or everybody (all)."""
    web: bool = True
    """Whether browsers get the page for watching and playing on the same port."""
    lobby_chat: bool = True
    """Whether the people who look at the list of rooms can write to each other there."""
    web_origins: tuple[str, ...] = ()
    """Addresses of other pages that may connect from a browser, e.g. https://club.example.org; * for all."""
    bot_workers: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0
    """Workers for people's bots, and half as many for bots alone; 0 means one less than there are cores."""
    bot_think_limit_ms: Milliseconds = 30_000
    """Time limit for a bot's move; a worker that takes longer is killed, and the move is asked for again."""
    handshake_timeout_ms: Milliseconds = 10_000
    """Time limit for the WebSocket handshake; the connection is cut after it."""
    hello_timeout_ms: Milliseconds = 10_000
    """Time limit for the hello; the connection is closed after it."""
    ping_interval_ms: Milliseconds = 20_000
    """Interval of pings on each connection; they measure its lag."""
    ping_timeout_ms: Milliseconds = 20_000
    """Time limit for the answer to a ping; the connection is closed after it."""
    close_timeout_ms: Milliseconds = 5_000
    """Time limit for the closing handshake; the connection is cut after it."""
    shutdown_notice_ms: Annotated[int, msgspec.Meta(ge=0, le=HOUR_MS)] = 3_000
    """Time from the announcement of a stop to the closing of connections; matches go on meanwhile."""
    shutdown_limit_ms: Milliseconds = 10_000
    """Time limit of a stopping server for thinking bots, connections, commands and commits, for each."""
    outbox_frames_count: Count = 512
    """Frames that may wait for a slow reader; beyond that its connection is closed."""
    outbox_bytes: Annotated[int, msgspec.Meta(ge=65_536, le=2**31)] = 8 * 1024 * 1024
    """Bytes that may wait for a slow reader; beyond that its connection is closed."""
    room_queue_count: Count = 64
    """Commands that may wait for one room; further ones are refused as busy."""
    storage_retry_ms: Milliseconds = 1_000
    """Time until the next attempt to store the events of a deadline after a failure."""
    lobby_wake_ms: Milliseconds = 1_000
    """Interval of the search for rooms on disk whose deadline has passed."""
    empty_seat_ms: LongMilliseconds = 600_000
    """Time without a connection after which a person's seat in a waiting room is freed."""
    waiting_room_ms: LongMilliseconds = DAY_MS
    """Time without an event after which a waiting room, or a match that no person has moved in, ends."""
    idle_match_ms: LongMilliseconds = 60 * DAY_MS
    """Time without an event after which a match without a clock is aborted."""
    first_turn_ms: FirstTurnMilliseconds = 30_000
    """Time for each player's first turn on a clock under an hour, which starts when both are made; 0: at once."""
    long_first_turn_ms: FirstTurnMilliseconds = DAY_MS
    """The same for longer clocks."""
    finished_room_ms: LongMilliseconds = 2 * DAY_MS
    """Time after which a finished room is closed; its records stay."""
    unused_guest_ms: LongMilliseconds = 30 * DAY_MS
    """Time without a visit after which the name of a guest who never played is free again."""
    connections_count: Count = 5_000
    """Connections in all."""
    connections_per_address_count: Count = 100
    """Connections from one address (of IPv6, from one /64 network)."""
    handshakes_count: Count = 200
    """Connections in their handshake or being refused, at once; beyond that the oldest of one address is cut."""
    rooms_per_account_count: Count = 20
    """Unfinished rooms that one guest may have made."""
    account_rooms_per_hour_count: BigCount = 120
    """Rooms that one guest may make in an hour."""
    account_rooms_burst_count: BigCount = 40
    """Rooms that one guest may make at once."""
    address_rooms_per_hour_count: BigCount = 600
    """Rooms that one address may make in an hour."""
    address_rooms_burst_count: BigCount = 200
    """Rooms that one address may make at once."""
    new_guests_per_hour_count: BigCount = 120
    """New guests from one address in an hour."""
    new_guests_burst_count: BigCount = 200
    """New guests from one address at once."""
    account_events_per_hour_count: BigCount = 36_000
    """Moves and other events that one guest may have stored in an hour."""
    account_events_burst_count: BigCount = 10_000
    """Moves and other events that one guest may have stored at once."""
    address_events_per_hour_count: BigCount = 144_000
    """Moves and other events that one address may have stored in an hour."""
    address_events_burst_count: BigCount = 100_000
    """Moves and other events that one address may have stored at once."""
    wrong_tokens_per_hour_count: Count = 360
    """Wrong tokens from one address in an hour; the answers to more of them wait."""
    wrong_tokens_burst_count: Count = 10
    """Wrong tokens from one address that are answered without waiting."""
    entered_rooms_count: Count = 50
    """Rooms that one connection may be in."""
    room_watchers_count: Count = 200
    """Connections in one room on its own node; further ones watch it on other nodes, where there are any."""
    messages_per_second_count: Count = 20
    """Messages that one connection may send a second on average; fragments and control frames count."""
    messages_burst_count: Count = 100
    """Messages that one connection may send at once; more than twice as many close it."""
    client_frame_bytes: Annotated[int, msgspec.Meta(ge=1024, le=CLIENT_FRAME_MAX_BYTES)] = CLIENT_FRAME_MAX_BYTES
    """Longest message that a client may send."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies whose X-Forwarded-For is believed."""
    idle_room_unload_ms: Milliseconds = MINUTE_MS
    """Time without people after which a room leaves memory; it stays on disk."""

    def __post_init__(self) -> None:
        """Check the addresses of this server and the networks of proxies.

        Raises:
            ValueError: One of them is no address or network.
        """
        for url in filter(None, (self.public_url, self.node_url)):
            try:
                parse_server_url(url)
            except ConfigError as error:
                raise ValueError(f"{error.expected}, got {error.key}") from None
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy, strict=False)
            except ValueError:
                expected = "addresses or networks such as 127.0.0.1 or 10.0.0.0/8"
                raise ValueError(f"{expected}, got {shown(proxy)}") from None

    def room_limits(self) -> RoomLimits:
        """Return the limits for a new room."""
        return RoomLimits(
            empty_seat_ms=self.empty_seat_ms,
            waiting_ms=self.waiting_room_ms,
            idle_match_ms=self.idle_match_ms,
            finished_ms=self.finished_room_ms,
            first_turn_ms=self.first_turn_ms,
            long_first_turn_ms=self.long_first_turn_ms,
        )


def names_postgres(db: str) -> bool:
    """Return True if ``db`` is the address of a PostgreSQL database, and no path of a file."""
    return db.startswith(POSTGRES_SCHEMES)


def shown_database(db: str) -> str:
    """Return the path or the address of a database, without a password.

    >>> shown_database("postgresql://ana:secret@db1,db2:5433/games?target_session_attrs=primary")
    'postgresql://ana@db1,db2:5433/games?target_session_attrs=primary'
    >>> shown_database("postgresql:///games?host=/run/postgresql&password=secret")
    'postgresql:///games?host=/run/postgresql'
    """
    if not names_postgres(db):
        return db
    scheme, _, rest = db.partition("://")
    place, _, query = rest.partition("?")
    hosts, slash, name = place.partition("/")
    whose, at, hosts = hosts.rpartition("@")
    kept = "&".join(part for part in query.split("&") if not part.startswith(("password=", "passfile=")))
    return f"{scheme}://{whose.partition(':')[0]}{at}{hosts}{slash}{name}{'?' if kept else ''}{kept}"


def load_config(
    path: Path | None = None, environment: Mapping[str, str] | None = None, **overrides: object
) -> Config:
    """Return the settings from all sources; ``overrides`` that are ``None`` do not count.

    Raises:
        ConfigError: A file cannot be read, a key is unknown, or a value cannot be used.
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
    """Return the settings in the environment.

    A variable with our prefix may stand for something else: the client has variables of its own, and container
    tools add some. So only names that look like a misspelt key are refused.

    Raises:
        ConfigError: A variable looks like a misspelt key.
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
    """Return the key that ``key`` seems to be written for; ``None`` if it is like none."""
    found = difflib.get_close_matches(key, Config.__struct_fields__, n=1, cutoff=0.75)
    return found[0] if found else None


def _checked(values: dict[str, Any], source: str, *, is_text: bool = False) -> dict[str, Any]:
    """Check each value by itself, so that the error names its key; ``is_text`` says that all values are texts."""
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
    """Return the expected value of a key with its unit; ``None`` if the error about ``value`` says it best."""
    if isinstance(type_, inspect.IntType):
        unit = next((unit for ending, unit in UNITS.items() if key.endswith(ending)), "a whole number")
        return f"{unit} from {type_.ge} to {type_.le}"
    if isinstance(type_, inspect.LiteralType):
        return "one of " + ", ".join(str(value) for value in type_.values)
    if isinstance(type_, inspect.VarTupleType):
        is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if is_texts else "a list of texts"
    return "text" if isinstance(type_, inspect.StrType) and not isinstance(value, str) else None
