"""Decisions about chat: lines, and muted people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tabuleiro.ids import AccountId
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import Events, Muted, Said
from tabuleiro.protocol.messages import CHAT_MAX_CHARS
from tabuleiro.protocol.names import name_key
from tabuleiro_server.room import commands
from tabuleiro_server.room.permissions import check_host, refuse
from tabuleiro_server.room.state import RoomState

FLOOD_LINES_COUNT: Final = 5
FLOOD_WINDOW_MS: Final = 10_000
"""A person may write at most five lines in ten seconds."""


def decide_say(room: RoomState, command: commands.Say, now_ms: int) -> Events:
    """Add a line to the chat."""
    if room.is_muted(command.account):
        refuse(ErrorCode.MUTED, f"{room.host_name} has muted you in room {room.code}")
    text = strip_controls(command.text)
    if not text:
        refuse(ErrorCode.BAD_TEXT, f"nothing to say: expected 1 to {CHAT_MAX_CHARS} characters that can be seen")
    # Lines ahead of now are from before the machine's clock was set back.
    recent = [
        line
        for line in room.chat
        if line.account == command.account and now_ms - FLOOD_WINDOW_MS < line.at_ms <= now_ms
    ]
    if len(recent) >= FLOOD_LINES_COUNT:
        refuse(
            ErrorCode.LIMIT_REACHED,
            f"at most {FLOOD_LINES_COUNT} lines in {FLOOD_WINDOW_MS // 1000} seconds; wait a little",
        )
    is_player = bool(room.seats_of(command.account))
    is_hidden = room.settings.hides_watcher_chat and room.phase == "playing" and not is_player
    return (Said(command.account, command.name, text, is_player, is_hidden),)


def decide_mute(room: RoomState, command: commands.Mute, now_ms: int) -> Events:
    """Mute somebody, or lift it."""
    check_host(room, command.account)
    for name, account in _iter_known(room):
        if name_key(name) == name_key(command.target_name):
            return _muted(room, account, name, is_muted=command.is_muted)
    return refuse(ErrorCode.NOT_ALLOWED, f"nobody called {command.target_name[:30]!a} sits or has talked here")


def _iter_known(room: RoomState) -> Iterator[tuple[str, AccountId]]:
    """Yield the people that can be named: players, recent chatters (the last first), and muted people."""
    for seat in room.seats:
        if seat.kind == "person" and seat.name is not None and seat.account is not None:
            yield seat.name, seat.account
    for line in reversed(room.chat):
        yield line.name, line.account
    for person in room.muted:
        yield person.name, person.account


def _muted(room: RoomState, account: AccountId, name: str, *, is_muted: bool) -> Events:
    if is_muted and account == room.host:
        refuse(ErrorCode.NOT_ALLOWED, "the host cannot be muted")
    if room.is_muted(account) == is_muted:
        return ()
    return (Muted(account, name, is_muted),)
