"""``tabuleiro bot``: a program that speaks the engine protocol (server/BOTS.md) plays on a server."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Final

import typer

from tabuleiro.clock import remaining_ms
from tabuleiro.engine_process import EngineProcess, running_engine
from tabuleiro.errors import BotError, ClientError, CommandError, ConfigError, ConnectionLostError, shown
from tabuleiro.ids import opponent
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import MatchView
from tabuleiro.rules import State, registry
from tabuleiro.rules.options import Options
from tabuleiro_client.cli.options import GameOptions, NameOption, PresetOption, ServerOption, chosen_options
from tabuleiro_client.net.addresses import chosen_server
from tabuleiro_client.net.library import Client, connect
from tabuleiro_client.net.room import EnteredRoom
from tabuleiro_client.text.endings import ending_text

CLOCK_MARGIN_MS: Final = 500
"""What is kept of the clock for the way to the server."""

SEED_LIMIT: Final = 2**31
RESIGN_LIMIT_S: Final = 5.0

_WORD_MAX_CHARS: Final = 12

_OVERTAKEN: Final = frozenset({ErrorCode.STALE_PLY, ErrorCode.NOT_YOUR_TURN, ErrorCode.WRONG_PHASE})
"""Refusals of an action that was right when it was sent: something else has happened to the match meanwhile."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The engine and its place: ``room`` by code, or, when that is ``None``, open rooms of ``game``.

    ``name`` ``None`` means one made of the engine's and a number. ``limit_ms`` is the time for a turn in
    milliseconds, less when the clock has less.
    """

    command: tuple[str, ...]
    url: str
    room: str | None
    game: str
    options: Options = field(default_factory=dict)
    name: str | None = None
    game_count: int = 1
    limit_ms: int = 10_000


async def play_matches(options: EngineOptions, tell: Callable[[str], None]) -> None:
    """Let an engine play; ``tell`` gets a line for each room entered and each match ended.

    Raises: ClientError when the engine does something wrong (it then has resigned), CommandError when the server
    refuses, ConnectionLostError.
    """
    try:
        async with running_engine(options.command) as engine:
            await engine.greet()
            name = _guest_name(engine.name) if options.name is None else options.name
            async with connect(options.url, name=name) as client:
                player = _EnginePlayer(engine, options.limit_ms, tell)
                await _play_in_rooms(client, player, options)
    except BotError as error:
        raise ClientError(f"the engine {error}") from error


async def _play_in_rooms(client: Client, player: _EnginePlayer, options: EngineOptions) -> None:
    if options.room is not None:
        async with client.join(options.room) as room:
            await player.play_room(room, options.game_count)
        return
    for _ in range(options.game_count):
        async with client.quick_play(options.game, options.options) as room:
            await player.play_room(room, 1)


class _EnginePlayer:
    def __init__(self, engine: EngineProcess, limit_ms: int, tell: Callable[[str], None]) -> None:
        self._engine = engine
        self._limit_ms = limit_ms
        self._tell = tell

    async def play_room(self, room: EnteredRoom, match_count: int) -> None:
        """Play matches in a room, with rematches after the first, until it closes or there were enough."""
        self._tell(
            f"room {room.code}: {room.mirror.game.title}, as {self._engine.name or 'an engine without a name'}"
        )
        for played_count in range(1, match_count + 1):
            await self._play_match(room)
            match = room.mirror.match
            if match is None or match.termination is None:
                self._tell(f"room {room.code}: closed before the end")
                return
            ending = ending_text(match.players or room.mirror.game.sides, match.winner, match.termination)
            self._tell(f"room {room.code}: match {match.number}: {ending}")
            if played_count < match_count and not await _rematch(room):
                return

    async def _play_match(self, room: EnteredRoom) -> None:
        begun = None
        async for state in room.turns():
            match = room.mirror.match
            assert match is not None
            try:
                if begun != match.number:
                    begun = match.number
                    seed = secrets.randbelow(SEED_LIMIT)
                    await self._engine.begin(room.mirror.game, seed)
                await self._play_turn(room, state, match)
            except BotError as error:
                await _resign(room)
                raise ClientError(f"the engine {error}; it has resigned") from error

    async def _play_turn(self, room: EnteredRoom, state: State, match: MatchView) -> None:
        played, place = list(room.mirror.actions), (match.number, match.revision)
        clocks_ms = _clocks_ms(room, match)
        limit_ms = self._limit_ms
        if clocks_ms is not None:
            limit_ms = max(1, min(limit_ms, clocks_ms[0] - CLOCK_MARGIN_MS))
        actions = await self._engine.choose(state, played, limit_ms, clocks_ms)
        now = room.mirror.match
        if now is None or (now.number, now.revision) != place or room.mirror.actions != played:
            # The match went on without the engine: a turn was taken back, or it is over.
            return
        texts = []
        for action in actions:
            texts.append(state.action_to_string(action))
            state = state.child(action)
        try:
            await room.play(texts)
        except CommandError as error:
            if error.code not in _OVERTAKEN:
                raise


def _guest_name(engine_name: str) -> str:
    """Return a name that the server allows and that nobody else is likely to have."""
    word = "".join(letter for letter in engine_name if letter.isascii() and letter.isalnum())[:_WORD_MAX_CHARS]
    return f"{word or 'bot'}-{secrets.randbelow(100_000)}"


def _clocks_ms(room: EnteredRoom, match: MatchView) -> tuple[int, int] | None:
    """Return the time left of the player to move and of the other; ``None`` without a clock."""
    control, clock, mover = room.mirror.head.settings.time_control, match.clock, match.to_move
    if clock is None or mover is None:
        return None
    now_ms = room.server_now_ms()
    own_ms = remaining_ms(control, clock, mover, now_ms)
    other_ms = remaining_ms(control, clock, opponent(mover), now_ms)
    if own_ms is None or other_ms is None:
        return None
    if match.first_turn is not None:
        own_ms = min(own_ms, max(match.first_turn.until_ms - now_ms, 0))
    return own_ms, other_ms


async def _resign(room: EnteredRoom) -> None:
    """Resign if there is still something to resign; the engine's fault is the news, not this."""
    with suppress(CommandError, ConnectionLostError, ClientError, TimeoutError):
        async with asyncio.timeout(RESIGN_LIMIT_S):
            await room.resign()


async def _rematch(room: EnteredRoom) -> bool:
    """Offer a rematch, or accept one, and wait for it; False when the room is gone first."""
    is_asked = False
    while True:
        if not is_asked:
            try:
                await room.offer("rematch")
                is_asked = True
            except CommandError:
                is_asked = True  # it stands already, or the match has begun
            except ConnectionLostError:
                pass  # asked once more as soon as there is news of the connection
        if room.mirror.head.phase == "playing":
            return True
        if room.mirror.head.phase == "closed" or await room.next_change() is None:
            return False


def bot(
    engine: Annotated[str, typer.Option("--engine", metavar="CMD", help="The command that runs the program.")],
    server: ServerOption = None,
    room: Annotated[str | None, typer.Option("--room", metavar="CODE", help="Play in this room.")] = None,
    quick: Annotated[
        str | None, typer.Option("--quick", metavar="GAME", help="Play this game with whoever waits for it.")
    ] = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    name: NameOption = None,
    games: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many; in a room, rematches are offered.")
    ] = 1,
    move_time: Annotated[int, typer.Option(min=1, metavar="MS", help="Milliseconds for a turn.")] = 10_000,
) -> None:
    """Let a program of your own play on a server."""
    if (room is None) == (quick is None):
        raise ConfigError("bot", "--room or --quick", "one of the two")
    if quick is None and (preset or option):
        raise ConfigError("bot", "--preset and --option", "--quick beside them; a room has its options")
    options = {} if quick is None else chosen_options(quick, preset, option)
    if quick is not None:
        registry.load(quick, options)
    engine_options = EngineOptions(
        _command(engine), chosen_server(server), room, quick or "", options, name, games, move_time
    )
    asyncio.run(play_matches(engine_options, typer.echo))


def _command(text: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError("bot", f"--engine {shown(text)}", f"a command ({error})") from error
    if not command or shutil.which(command[0]) is None:
        raise ConfigError("bot", f"--engine {shown(text)}", "a program that can be run")
    return command
