"""Codes that programs act on: of refused requests and of closed connections."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class ErrorCode(StrEnum):
    """Reasons for refusing a request. The message beside it is for people and may change."""

    BAD_MESSAGE = "bad-message"
    """Not a message of this protocol: unknown type, missing, superfluous or ill-typed fields."""
    HELLO_FIRST = "hello-first"
    """The first message of a connection must be ``hello``, and there is only one."""
    BAD_NAME = "bad-name"
    NAME_TAKEN = "name-taken"
    BAD_TOKEN = "bad-token"
    """No guest has this token."""
    BAD_OPTION = "bad-option"
    """Unknown game or option, or a value out of range."""
    UNKNOWN_LEVEL = "unknown-level"
    """No bot of this level plays this game."""
    NO_SUCH_ROOM = "no-such-room"
    ELSEWHERE = "elsewhere"
    """Another node has the room: ask there."""
    SEAT_TAKEN = "seat-taken"
    """The wanted seat, or every seat, is taken."""
    NOT_SEATED = "not-seated"
    """Only the holder of a seat of the room may do this."""
    NOT_HOST = "not-host"
    """Only the host of the room may do this."""
    BAD_SECRET = "bad-secret"
    """A private room, and the secret part is missing or wrong."""
    NO_OFFER = "no-offer"
    """There is no such offer to answer, or it was made already."""
    NOT_ALLOWED = "not-allowed"
    """The settings of the room, or the state of the match, do not allow this."""
    BAD_TEXT = "bad-text"
    """Nothing is left of the text once it is cleaned."""
    MUTED = "muted"
    NOT_WATCHING = "not-watching"
    """This connection has not entered the room."""
    WRONG_PHASE = "wrong-phase"
    """Not possible while the room waits, plays, or is finished, as the message says."""
    NOT_YOUR_TURN = "not-your-turn"
    ILLEGAL_ACTION = "illegal-action"
    BAD_NOTATION = "bad-notation"
    """The text of an action cannot be read."""
    STALE_PLY = "stale-ply"
    """The named ply was answered by something else already, or lies ahead."""
    STORAGE_UNAVAILABLE = "storage-unavailable"
    """The disk refuses; nothing was changed; try again."""
    ROOM_DAMAGED = "room-damaged"
    """The room is in quarantine after an internal error."""
    BUSY = "busy"
    """Too many commands wait for this room; try again."""
    LIMIT_REACHED = "limit-reached"
    """A configured limit: the message names it."""
    SHUTTING_DOWN = "shutting-down"


class CloseCode(IntEnum):
    """Reasons for closing a connection (RFC 6455 codes, and our own from 4000)."""

    PROTOCOL_ERROR = 1002
    """The peer's fault: no known subprotocol."""
    UNSUPPORTED_DATA = 1003
    """The peer's fault: text where binary was agreed, or the other way round."""
    INVALID_DATA = 1007
    """The peer's fault: bytes that are not msgpack, or not JSON."""
    TOO_BIG = 1009
    """The peer's fault: a frame over the limit."""
    INTERNAL_ERROR = 1011
    """Our fault."""
    SERVICE_RESTART = 1012
    """The server restarts: come back soon."""
    TOO_SLOW = 4001
    """The peer reads too slowly and its outbox is full."""
    HELLO_TIMEOUT = 4002
    """No ``hello`` in time."""
    TOO_MANY_MESSAGES = 4003
    """The peer keeps sending far more messages a second than are allowed."""
    TOO_MANY_CONNECTIONS = 4004
    """The server is full, or has enough connections from this address; the reason names the limit."""
