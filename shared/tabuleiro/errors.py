"""Every error that tabuleiro raises on purpose.

::

    TabuleiroError
    ├── NotationError            a text that is not an action, a cell, a position or a record
    │   ├── TurnError            an action in the text of a turn cannot be played; names the column
    │   └── RecordError          a game record is wrong; names line and column
    ├── VectorError              the rules differ from a check vector, or the vector is malformed
    ├── IllegalActionError       an action that the rules do not allow in this position
    │   └── MatchOverError       any action after the end
    ├── GameOptionError          an unknown option, or a value out of its range
    │   └── UnknownGameError     a game that there is not
    ├── ProtocolError
    │   ├── LocalProtocolError   we were about to send something wrong: a bug of ours
    │   └── RemoteProtocolError  the peer sent something wrong; carries the close code
    ├── CommandError             a command that the room or the server refuses; carries the code
    ├── StoreError               the disk or the database failed
    │   ├── DatabaseLockedError      another process has this database open
    │   ├── DatabaseFormatError      not a database that this program can use
    │   ├── StorageUnavailableError  disk full, locked, I/O error: nothing was stored, later may do
    │   ├── ConflictError            the room's log has moved on
    │   ├── ElsewhereError           another node has the room
    │   ├── TakenOverError           the room has another owner now
    │   ├── DamagedRoomError         the stored events of a room are not those that were written
    │   └── NameTakenError           another account has this name
    ├── BotError                 a bot gave no usable answer
    ├── ConfigError              a setting that cannot be used
    └── ClientError              something that the person at the client has to know
        ├── GuestNameTakenError  somebody else has the wanted name on the server
        └── ConnectionLostError  no connection to the server, or it broke
            └── UnknownOutcomeError  it broke before the answer: what was asked for may have been done

``str()`` of each is written for the person who reads it: it names the fault and the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable


class TabuleiroError(Exception):
    """Base of all errors raised on purpose."""


class NotationError(TabuleiroError):
    """A text that cannot be read.

    ``text`` is the input as given (long inputs are shown cut), ``expected`` describes right ones, ``fault`` says
    what is wrong with it where more is known than that.
    """

    def __init__(self, text: str, expected: str, fault: str = "") -> None:
        self.text = text
        self.expected = expected
        self.fault = fault
        super().__init__(f"cannot read {shown(text)}: {self.problem}")

    @property
    def problem(self) -> str:
        """The fault, or else what was expected."""
        return self.fault or f"expected {self.expected}"


class TurnError(NotationError):
    """An action in the text of a turn cannot be read or is not legal where it stands.

    ``text`` is that action as typed, ``column`` (from 1) its beginning, ``expected`` the fault or a description of
    right ones.
    """

    def __init__(self, text: str, column: int, expected: str) -> None:
        super().__init__(text, expected)
        self.column = column
        self.args = (f"{shown(text)}: {expected}",)


class RecordError(NotationError):
    """A game record is wrong; ``line`` and ``column`` (from 1) are the place of the first fault.

    ``text`` is the text there, ``expected`` the fault or a description of right ones.
    """

    def __init__(self, text: str, line: int, column: int, expected: str) -> None:
        super().__init__(text, expected)
        self.line = line
        self.column = column
        self.args = (f"line {line}, column {column}: {shown(text)}: {expected}",)


class VectorError(TabuleiroError):
    """The rules differ from a check vector, or the vector is malformed.

    ``line`` counts from 1. ``ply`` is the number of actions played before the difference, ``None`` when the line
    cannot be played at all. ``expected`` is the value in the vector or a description of a right one, ``got``
    the value by the rules or the one that is there.
    """

    def __init__(self, line: int, ply: int | None, expected: str, got: str) -> None:
        self.line = line
        self.ply = ply
        self.expected = expected
        self.got = got
        where = f"line {line}" if ply is None else f"line {line}, ply {ply}"
        super().__init__(f"{where}: expected {expected}, got {got}")


class IllegalActionError(TabuleiroError):
    """An action that is not legal in the position; ``reason`` is as exact as the rules can tell."""

    def __init__(self, action: str, position: str, reason: str = "it is not a legal action here") -> None:
        self.action = action
        self.position = position
        self.reason = reason
        super().__init__(f"illegal action {shown(action)}: {reason} (position {position})")


class MatchOverError(IllegalActionError):
    """An action sent after the game has ended."""

    def __init__(self, action: str, position: str) -> None:
        super().__init__(action, position, "the game is over")


class GameOptionError(TabuleiroError):
    """An option that is unknown or out of range; ``expected`` is the range or the list of choices."""

    def __init__(self, option: str, value: object, expected: str) -> None:
        self.option = option
        self.value = value
        self.expected = expected
        super().__init__(f"option {option}: {shown(value)} is not possible, expected {expected}")


class UnknownGameError(GameOptionError):
    """A game that there is not; ``names`` are those that there are."""

    def __init__(self, game: object, names: Iterable[str]) -> None:
        listed = ", ".join(names)
        super().__init__("game", game, f"one of {listed}")
        self.args = (f"there is no game {shown(game)}; games: {listed}",)


class ProtocolError(TabuleiroError):
    """A violation of the wire protocol by either side."""


class LocalProtocolError(ProtocolError):
    """We tried to send something that the protocol does not allow."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol does not allow.

    ``close_code`` is the WebSocket close code to end the connection with, or ``None`` when an ``error``
    message is answer enough and the connection lives on. ``request_id`` is the id of the request
    when it could be read.
    """

    def __init__(self, message: str, close_code: int | None = None, request_id: int | None = None) -> None:
        self.message = message
        self.close_code = close_code
        self.request_id = request_id
        super().__init__(message)


class CommandError(TabuleiroError):
    """A refused command. ``code`` is one of :class:`tabuleiro.protocol.codes.ErrorCode`, for programs.

    ``node_url``, ``room`` and ``follow`` come with the code ``elsewhere``: as in
    :class:`tabuleiro.protocol.messages.Error`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        node_url: str | None = None,
        room: str | None = None,
        follow: bool = False,
    ) -> None:
        self.code = code
        self.message = message
        self.node_url = node_url
        self.room = room
        self.follow = follow
        super().__init__(message)

    def __repr__(self) -> str:
        return f"CommandError({self.code!r}, {self.message!r})"


class StoreError(TabuleiroError):
    """The database could not do its work."""


class DatabaseLockedError(StoreError):
    """Another process holds the database. ``holder_pid`` is ``None`` when it could not be read.

    ``remedy`` says what to do.
    """

    def __init__(self, path: str, holder_pid: int | None, remedy: str = "stop it or choose another file") -> None:
        self.path = path
        self.holder_pid = holder_pid
        holder = "another server" if holder_pid is None else f"another server (process {holder_pid})"
        super().__init__(f"{path}: {holder} is using this database; {remedy}")


class DatabaseFormatError(StoreError):
    """The file cannot be used by this program; ``reason`` names the cause and the remedy."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class StorageUnavailableError(StoreError):
    """The storage refused for now (full, locked, I/O error, read-only): nothing of it was stored."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"storage unavailable: {reason}")


class ConflictError(StoreError):
    """The last stored event of the room is ``actual_seq`` and not ``expected_seq``: nothing was stored."""

    def __init__(self, room: str, expected_seq: int, actual_seq: int) -> None:
        self.room = room
        self.expected_seq = expected_seq
        self.actual_seq = actual_seq
        super().__init__(f"room {room}: expected event {expected_seq} to be the last, but it is {actual_seq}")


class TakenOverError(StoreError):
    """Somebody else has taken the room over since this owner did: nothing was stored.

    ``node_url`` is the address at which clients reach the new owner, ``None`` if it is not known.
    """

    def __init__(self, room: str, node_url: str | None = None) -> None:
        self.room = room
        self.node_url = node_url
        super().__init__(f"room {room} has been taken over by another owner; load it again")


class ElsewhereError(StoreError):
    """Another node has the room, and is told as alive; ``node_url`` is the address at which clients reach it."""

    def __init__(self, room: str, node_url: str) -> None:
        self.room = room
        self.node_url = node_url
        super().__init__(f"room {room} is at {node_url}")


class NodeLeavesError(StoreError):
    """Another node gets no room: it is not there any more, or about to end. Nothing was done."""

    def __init__(self, room: str) -> None:
        super().__init__(f"the node that room {room} was meant for ends itself")


class DamagedRoomError(StoreError):
    """An event of the room is missing or altered. ``seq`` is ``None`` when no single event can be named."""

    def __init__(self, room: str, seq: int | None, reason: str) -> None:
        self.room = room
        self.seq = seq
        self.reason = reason
        where = "" if seq is None else f" at event {seq}"
        super().__init__(f"room {room} is damaged{where}: {reason}")


class NameTakenError(StoreError):
    """Another account has this name, or one that differs only in case; ``is_alike``: one that looks like it."""

    def __init__(self, name: str, *, is_alike: bool = False) -> None:
        self.name = name
        fault = "looks like one that is taken" if is_alike else "is taken"
        super().__init__(f"the name {shown(name)} {fault}, choose another")


class BotError(TabuleiroError):
    """A bot crashed, hung, or answered with something that is not a legal action."""


class ConfigError(TabuleiroError):
    """A setting that cannot be used. ``expected`` names the unit or the range."""

    def __init__(self, source: str, key: str, expected: str) -> None:
        self.source = source
        self.key = key
        self.expected = expected
        super().__init__(f"{source}: {key}: expected {expected}")


class ClientError(TabuleiroError):
    """Something the person at the client has to know and can act on."""


class GuestNameTakenError(ClientError):
    """The ``name`` wanted on the server at ``url`` is somebody else's or looks like it; ``told`` says so."""

    def __init__(self, name: str, url: str, told: str) -> None:
        self.name = name
        self.url = url
        self.told = told
        super().__init__(
            f"{url}: {told} with --name. If it is yours on another computer, take it with you: "
            "`tabuleiro identity export` there, `tabuleiro identity import` here"
        )


class ConnectionLostError(ClientError):
    """There is no connection to the server, or it broke before the answer came."""


class UnknownOutcomeError(ConnectionLostError):
    """The connection broke after a request was sent and before its answer came; ``reason`` says how it broke."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"no answer came, so it is not known whether this was done: {reason}")


def shown(value: object, limit_chars: int = 60) -> str:
    """Quote a value for a message: escapes made visible, cut after ``limit_chars`` characters.

    >>> shown("c3")
    "'c3'"
    >>> shown("a" * 70, limit_chars=5)
    "'aaaaa'..."
    """
    if isinstance(value, str):
        cut = value[:limit_chars]
        return ascii(cut) + ("..." if len(value) > limit_chars else "")
    text = ascii(value)
    return text[:limit_chars] + ("..." if len(text) > limit_chars else "")
