"""The requests of clients: from the message to a command for a room, and the answer back."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final, assert_never, get_args

import msgspec
import structlog

from tabuleiro.clock import Correspondence, format_time_control
from tabuleiro.errors import CommandError, GameOptionError, StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol import messages
from tabuleiro.protocol.boards import board_of, game_form, room_settings_form
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import RoomSecrets
from tabuleiro.protocol.messages import (
    ClientMessage,
    Considered,
    Explanation,
    GameList,
    HintGiven,
    Ok,
    RoomEntered,
    RoomList,
    RoomSummary,
    SeatRequest,
    Welcome,
)
from tabuleiro.rules import registry
from tabuleiro.rules.options import Options, OptionValue
from tabuleiro.settings import RoomSettings
from tabuleiro_server.metrics import RequestMetrics
from tabuleiro_server.room import commands
from tabuleiro_server.room.playing import HINT_PAUSE_MS, consider
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import board_in, event_for, is_chooser, layout_in, snapshot_of, viewer_of
from tabuleiro_server.rooms.followers import FollowedRoom
from tabuleiro_server.rooms.hints import Wish
from tabuleiro_server.rooms.live_room import LiveRoom, Missed, new_chance
from tabuleiro_server.rooms.refusals import code_of_room, elsewhere, unavailable
from tabuleiro_server.sessions.levels import levels_in
from tabuleiro_server.sessions.lobby import RoomFilter
from tabuleiro_server.sessions.services import Services
from tabuleiro_server.sessions.session import Answering, Session, refusal

log = structlog.get_logger(__name__)

SeldomRequest = (
    messages.Undo
    | messages.Resign
    | messages.Abort
    | messages.ClaimWin
    | messages.Offer
    | messages.Answer
    | messages.SeatBot
    | messages.SwapSeats
    | messages.ChangeSettings
    | messages.Say
    | messages.Mute
)
RoomRequest = messages.Play | SeldomRequest
"""Requests that are one command to a room that the session has entered."""

ENDING_REQUESTS: Final = (messages.LeaveRoom, messages.Resign, messages.Abort, messages.ClaimWin)
"""Requests that end something: they are granted to whoever has had too much stored already."""

_NAMING_LEVELS: Final = (messages.SeatBot, messages.ChangeSettings)

ACTIONS_PER_EVENT_COUNT: Final = 16
"""Actions of one move that take about as much to store as another event."""

EntryRequest = messages.CreateRoom | messages.QuickPlay | messages.JoinRoom | messages.WatchRoom
"""The requests that enter a room."""

SECRET_BYTES: Final = 9
"""Length of the secret parts of a private room: 72 random bits each."""


class Requests:
    """Answers the requests of all sessions."""

    def __init__(self, services: Services) -> None:
        self.metrics = RequestMetrics()
        self._services = services
        self._quick_play_lock = asyncio.Lock()

    def answer(self, session: Session, message: ClientMessage) -> Answering:
        """Do what ``message`` asks for and acknowledge it.

        Returns:
            What has to be awaited; it raises CommandError when the request is refused.

        Raises:
            CommandError: The request is refused at once.
        """
        if (type(message) is messages.Hello) == session.is_welcomed:
            raise CommandError(ErrorCode.HELLO_FIRST, "the first message is hello, and there is only one")
        return _ANSWERERS[type(message)](self, session, message)

    def farewell(self, session: Session) -> None:
        """Forget a session that has ended."""
        self._services.lobby.unsubscribe(session)
        self._services.lobby.depart(session.name)
        self._services.guests.depart(session.account_id)

    async def _hello(self, session: Session, message: messages.Hello) -> None:
        identified = await self._services.guests.identify(message.name, message.token, session.address)
        account = identified.account
        log.debug("hello", account=account.id, client=strip_controls(message.client))
        session.welcome(account.id, account.name)
        self._services.guests.arrive(account.id)
        self._services.lobby.arrive(account.name)
        welcome = Welcome(
            account=account.id,
            name=account.name,
            server=self._services.version,
            now_ms=self._services.now_ms(),
            levels=dict(self._services.levels.offered),
            token=identified.token,
            public_url=session.public_url,
            has_page=self._services.config.web,
            node_urls=self._services.nodes.urls,
        )
        session.send(Ok(message.id, welcome))
        announcement = self._services.lifecycle.announcement
        if announcement is not None:
            session.send(announcement)

    async def _list_games(self, session: Session, message: messages.ListGames) -> None:
        games = tuple([game_form(registry.game_type(name)) for name in registry.names()])
        session.send(Ok(message.id, GameList(games, room_settings_form())))

    async def _list_rooms(self, session: Session, message: messages.ListRooms) -> None:
        await self._freshen_lobby()
        session.send(
            Ok(message.id, RoomList(*self._services.lobby.rooms(RoomFilter(message.game, message.phases))))
        )

    async def _freshen_lobby(self) -> None:
        """Bring the lobby up to date where that can be done: what is known is better than a refusal."""
        try:
            await self._services.lobby_peers.freshen()
        except StoreError as error:
            unavailable(error)

    async def _get_record(self, session: Session, message: messages.GetRecord) -> None:
        watch = commands.Watch(session.account_id, message.secret)
        record = await self._services.archive.find(message.room, message.match, watch)
        session.send(Ok(message.id, record))

    async def _get_boards(self, session: Session, message: messages.GetBoards) -> None:
        watch = commands.Watch(session.account_id, message.secret)
        shown = await self._services.archive.boards(message.room, message.match, watch, message.ply, message.count)
        session.send(Ok(message.id, shown))

    async def _subscribe(self, session: Session, message: messages.SubscribeLobby) -> None:
        await self._freshen_lobby()
        listed = self._services.lobby.subscribe(session, RoomFilter(message.game, message.phases))
        session.send(Ok(message.id, listed))

    async def _say_in_lobby(self, session: Session, message: messages.SayInLobby) -> None:
        if not self._services.config.lobby_chat:
            raise CommandError(ErrorCode.NOT_ALLOWED, "the chat of the lobby is turned off on this server")
        self._spend_event(session, message)
        line = self._services.lobby.line(session, message.text, self._services.now_ms())
        try:
            await self._services.lobby_peers.say(line)
        except StoreError as error:
            raise unavailable(error) from error
        session.send(Ok(message.id))

    async def _unsubscribe(self, session: Session, message: messages.UnsubscribeLobby) -> None:
        self._services.lobby.unsubscribe(session)
        session.send(Ok(message.id))

    async def _create_room(self, session: Session, message: messages.CreateRoom) -> None:
        room = await self._open(session, message.game, message.options, message.seats, message.settings)
        await self._enter(session, room.state.code, message, commands.Watch(session.account_id), None)

    async def _open(
        self,
        session: Session,
        game: str,
        options: dict[str, int | str],
        seats: tuple[SeatRequest, SeatRequest],
        settings: RoomSettings,
    ) -> LiveRoom:
        self._services.nodes.check_is_staying()
        self._services.lifecycle.check_is_running()
        self._check_may_enter(session, None)
        if self._services.memory.is_short:
            message = "memory: the server's memory is nearly used up; try again later"
            raise CommandError(ErrorCode.LIMIT_REACHED, message)
        seats = (self._with_level(session, game, seats[0]), self._with_level(session, game, seats[1]))
        settings = self._with_levels(session, game, settings)
        named = [seat.level for seat in seats]
        command = commands.OpenRoom(
            code=await self._services.directory.new_code(),
            account=session.account_id,
            name=session.name,
            game=game,
            options=options,
            seats=seats,
            settings=settings,
            limits=self._services.config.room_limits(),
            bot_levels=self._services.levels.known(game, *named, *levels_in(settings)),
            secrets=RoomSecrets(secrets.token_urlsafe(SECRET_BYTES), secrets.token_urlsafe(SECRET_BYTES)),
            chance=new_chance(),
        )
        account = session.account_id
        async with self._services.quota.one_more(account):
            with self._services.budgets.room(account, session.address):
                return await self._services.directory.open(command)

    async def _quick_play(self, session: Session, message: messages.QuickPlay) -> None:
        """Handle one at a time, or two people who ask at the same moment would each open a room and wait.

        On other nodes at least none for the same match is handled meanwhile.
        """
        self._spend_event(session, message)
        wanted = _complete_options(message.game, message.options)
        control = format_time_control(message.settings.time_control)
        key = f"quick play: {message.game} {sorted(wanted.items())} {control}"
        async with self._quick_play_lock, AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._services.lobby_peers.alone(key))
            except StoreError as error:
                raise unavailable(error) from error
            await self._join_oldest_or_open(session, message, wanted)

    async def _join_oldest_or_open(
        self, session: Session, message: messages.QuickPlay, wanted: dict[str, OptionValue]
    ) -> None:
        """Join the oldest fitting room; if somebody else takes the seat first, try the next one.

        A guest who waits in such a room, and finds nobody else who waits, goes on waiting there.
        """
        fitting = [
            summary
            for summary in self._services.lobby.open_rooms(message.game)
            if summary.settings.time_control == message.settings.time_control
            and _without_seed(summary.options) == wanted
        ]
        for summary in sorted(fitting, key=lambda summary: _holds_seat(session, summary)):
            try:
                if _holds_seat(session, summary) or await self._is_waited_in(summary):
                    join = commands.Join(session.account_id, session.name, new_chance())
                    await self._enter(session, summary.room, message, join, None)
                    return
            except CommandError as error:
                if error.code == ErrorCode.ELSEWHERE:
                    if _holds_seat(session, summary) or self._is_waited_in_elsewhere(summary):
                        raise
                elif error.code not in (ErrorCode.SEAT_TAKEN, ErrorCode.NO_SUCH_ROOM, ErrorCode.ROOM_DAMAGED):
                    raise
        seats = (SeatRequest("me"), SeatRequest("open"))
        room = await self._open(session, message.game, message.options, seats, message.settings)
        await self._enter(session, room.state.code, message, commands.Watch(session.account_id), None)

    async def _is_waited_in(self, summary: RoomSummary) -> bool:
        """Return True if an opponent is present; with days for each turn nobody needs to be."""
        room = await self._services.directory.find(summary.room)
        here = room.subscribers.accounts()
        return _is_slow(summary) or all(seat.kind != "person" or seat.account in here for seat in room.state.seats)

    def _is_waited_in_elsewhere(self, summary: RoomSummary) -> bool:
        """Return True if an opponent is connected, as far as this node can tell."""
        names = [seat.name or "" for seat in summary.seats if seat.kind == "person"]
        return _is_slow(summary) or all(self._services.lobby.is_connected(name) for name in names)

    async def _join_room(self, session: Session, message: messages.JoinRoom) -> None:
        self._spend_event(session, message)
        join = commands.Join(session.account_id, session.name, new_chance(), message.seat, message.secret)
        await self._enter(session, message.room, message, join, None)

    async def _watch_room(self, session: Session, message: messages.WatchRoom) -> None:
        since = None if message.since is None else Seq(message.since)
        watch = commands.Watch(session.account_id, message.secret)
        if message.follow and await self._has_followed(session, message, watch, since):
            return
        room = await self._services.directory.find(message.room)
        if not (session.is_in(room.state.code) or room.state.seats_of(session.account_id)):
            self._check_has_place(room)
        await self._enter(session, message.room, message, watch, since)

    async def _has_followed(
        self, session: Session, message: messages.WatchRoom, watch: commands.Watch, since: Seq | None
    ) -> bool:
        """Watch a room here if another node has it, and return True.

        Whoever holds a seat in it is sent to that node, to be seen there.
        """
        followers, code = self._services.followers, code_of_room(message.room)
        if not followers.follows(code):
            try:
                await self._services.directory.find(code)
            except CommandError as error:
                if error.code != ErrorCode.ELSEWHERE or self._services.directory.next_node is not None:
                    raise
            else:
                return False
        self._check_may_enter(session, code)

        def acknowledge(room: FollowedRoom, missed: Missed) -> None:
            session.note_followed(room)
            room.subscribers.show_boards(session, room.state, wanted=message.boards is True)
            session.send(Ok(message.id, _entered(session, room, missed, with_board=message.boards is True)))

        return await followers.enter(code, session, watch, since, acknowledge)

    def _check_has_place(self, room: LiveRoom) -> None:
        """Check that a room may have one watcher more on this node, or that there is no other one to send them to.

        Raises:
            CommandError: elsewhere, with the address of another node.
        """
        if len(room.subscribers) >= self._services.config.room_watchers_count:
            node = self._services.nodes.next_other()
            if node is not None:
                raise elsewhere(room.state.code, node.url, follow=True)

    async def _enter(
        self, session: Session, code: str, message: EntryRequest, permission: commands.Command, since: Seq | None
    ) -> None:
        room = await self._services.directory.find(code)
        self._check_may_enter(session, room.state.code)

        def acknowledge(state: RoomState, missed: Missed) -> None:
            session.note_room(room)
            room.subscribers.show_boards(session, state, wanted=message.boards is True)
            session.send(Ok(message.id, _entered(session, room, missed, with_board=message.boards is True)))

        await room.enter(session, permission, since, acknowledge)

    def _check_may_enter(self, session: Session, code: RoomCode | None) -> None:
        """Check that the connection may enter one room more; ``None`` stands for a new room.

        Raises:
            CommandError: limit-reached.
        """
        limit_count = self._services.config.entered_rooms_count
        if not (code and session.is_in(code)) and session.rooms_count >= limit_count:
            message = f"entered_rooms_count: at most {limit_count} rooms on one connection; leave one first"
            raise CommandError(ErrorCode.LIMIT_REACHED, message)

    async def _consider(self, session: Session, message: messages.Consider) -> None:
        room = await self._services.directory.find(message.room)
        _check_entered(session, room)
        command = commands.Consider(
            session.account_id, message.match, message.ply, message.actions, message.revision
        )
        session.send(Ok(message.id, _considered(room.state, command)))

    async def _leave_room(self, session: Session, message: messages.LeaveRoom) -> None:
        followed = session.followed(code_of_room(message.room))
        if followed is not None:
            followed.dismiss(session)
            session.forget_room(followed.state.code)
            session.send(Ok(message.id))
            return
        room = await self._services.directory.find(message.room)
        self._spend_event(session, message)

        def acknowledge(state: RoomState) -> None:
            session.send(Ok(message.id))
            room.dismiss(session)
            session.forget_room(state.code)

        await room.perform(commands.Leave(session.account_id), acknowledge)

    async def _take_hint(self, session: Session, message: messages.TakeHint) -> None:
        """Answer later, so that the player can go on meanwhile."""
        room = await self._services.directory.find(message.room)
        _check_entered(session, room)
        command = commands.TakeHint(session.account_id, message.match, message.ply, message.revision)
        self._advise(session, room, command, message.id)

    async def _explain(self, session: Session, message: messages.Explain) -> None:
        """Answer later, as a hint."""
        room = await self._services.directory.find(message.room)
        _check_entered(session, room)
        level = message.level
        if level is not None:
            level = self._read_level(session, room.state.game.name, level)
        command = commands.Explain(
            session.account_id, message.match, message.ply, message.revision, level, message.count
        )
        self._advise(session, room, command, message.id)

    def _advise(self, session: Session, room: LiveRoom, command: Wish, request_id: int) -> None:
        def answer(found: HintGiven | Explanation | CommandError) -> None:
            if isinstance(found, CommandError):
                session.send(refusal(request_id, found))
            else:
                session.send(Ok(request_id, found))

        pause_ms = 0 if self._services.guests.owns_machine(session.account_id) else HINT_PAUSE_MS
        self._services.hints.start(room, command, answer, lambda: session.is_in(room.state.code), pause_ms)

    def _spend_event(self, session: Session, message: ClientMessage) -> None:
        """Count what a request may store, or refuse it if there has been too much; what ends something is granted.

        Raises:
            CommandError: limit-reached.
        """
        budgets = self._services.budgets
        note = budgets.spend_events if isinstance(message, ENDING_REQUESTS) else budgets.take_events
        note(session.account_id, session.address, 1)

    def _perform(self, session: Session, message: RoomRequest) -> Answering:
        """Have the command of a request performed, by a room that the session has entered."""
        room = session.room(message.room)
        return self._find_and_perform(session, message) if room is None else self._ask(session, room, message)

    async def _find_and_perform(self, session: Session, message: RoomRequest) -> None:
        """Find the room by a code in another spelling, or refuse."""
        room = await self._services.directory.find(message.room)
        _check_entered(session, room)
        await self._ask(session, room, message)

    def _ask(self, session: Session, room: LiveRoom, message: RoomRequest) -> asyncio.Future[RoomState]:
        command: commands.Command
        if isinstance(message, messages.Play):
            count = 1 + len(message.actions) // ACTIONS_PER_EVENT_COUNT
            self._services.budgets.take_events(session.account_id, session.address, count)
            command = commands.Play(
                session.account_id, message.match, message.ply, message.actions, message.revision, session.lag_ms
            )
        else:
            self._spend_event(session, message)
            bot_levels: tuple[str, ...] = ()
            if isinstance(message, _NAMING_LEVELS):
                message, bot_levels = self._with_bot_levels(session, room.state.game.name, message)
            command = _command(session, message, bot_levels)
        return room.perform(command, lambda state: session.send(Ok(message.id, seq=state.seq)))

    def _with_level(self, session: Session, game: str, seat: SeatRequest) -> SeatRequest:
        """Return a wish for a seat with the name of its level. Raises: CommandError, unknown-level."""
        if seat.kind != "bot" or seat.level is None or not self._has_bots(game):
            return seat
        return msgspec.structs.replace(seat, level=self._read_level(session, game, seat.level))

    def _with_levels(self, session: Session, game: str, settings: RoomSettings) -> RoomSettings:
        if not self._has_bots(game) or levels_in(settings) == (None, None):
            return settings
        is_own = self._services.guests.owns_machine(session.account_id)
        return self._services.levels.read_settings(game, settings, is_own_machine=is_own)

    def _with_bot_levels(
        self, session: Session, game: str, message: SeldomRequest
    ) -> tuple[SeldomRequest, tuple[str, ...]]:
        """Return a request with the names of its levels, and the levels that its command may name."""
        named: tuple[str | None, ...] = ()
        if isinstance(message, messages.SeatBot) and message.level is not None:
            message = msgspec.structs.replace(message, level=self._read_level(session, game, message.level))
            named = (message.level,)
        elif isinstance(message, messages.ChangeSettings):
            settings = self._with_levels(session, game, message.settings)
            message, named = msgspec.structs.replace(message, settings=settings), levels_in(settings)
        return message, self._services.levels.known(game, *named)

    def _read_level(self, session: Session, game: str, text: str) -> str:
        is_own = self._services.guests.owns_machine(session.account_id)
        return self._services.levels.read(game, text, is_own_machine=is_own)

    def _has_bots(self, game: str) -> bool:
        # The room refuses an unknown game, with the names of those that there are.
        return game in self._services.levels.offered


def _command(session: Session, message: SeldomRequest, bot_levels: tuple[str, ...]) -> commands.Command:
    """Return the command of a request: its fields, and what only the server knows."""
    account = session.account_id
    match message:
        case messages.Undo():
            return commands.Undo(account, message.match, message.ply)
        case messages.Resign():
            return commands.Resign(account, message.match, message.seat)
        case messages.Abort():
            return commands.Abort(account, message.match)
        case messages.ClaimWin():
            return commands.ClaimWin(account, message.match)
        case messages.Offer():
            return commands.MakeOffer(account, message.kind, new_chance())
        case messages.Answer():
            return commands.AnswerOffer(account, message.kind, message.accept, new_chance())
        case messages.SeatBot():
            return commands.SeatBot(account, message.seat, message.level, bot_levels, new_chance())
        case messages.SwapSeats():
            return commands.SwapSeats(account)
        case messages.ChangeSettings():
            return commands.ChangeSettings(account, message.settings, bot_levels)
        case messages.Say():
            return commands.Say(account, session.name, message.text)
        case messages.Mute():
            return commands.Mute(account, message.name, message.is_muted)
    assert_never(message)


def _check_entered(session: Session, room: LiveRoom) -> None:
    """Check that the session has entered the room: nobody may play and count as away.

    Raises:
        CommandError: not-watching.
    """
    if not session.is_in(room.state.code):
        raise CommandError(ErrorCode.NOT_WATCHING, f"enter room {room.state.code} first: join or watch it")


def _holds_seat(session: Session, summary: RoomSummary) -> bool:
    return session.account_id in {seat.account for seat in summary.seats}


def _is_slow(summary: RoomSummary) -> bool:
    return isinstance(summary.settings.time_control, Correspondence)


def _complete_options(game: str, options: Options) -> dict[str, OptionValue]:
    """Return the options with all defaults, without a drawn seed.

    Raises:
        CommandError: bad-option.
    """
    try:
        return _without_seed(registry.load(game, options).options)
    except GameOptionError as error:
        raise CommandError(ErrorCode.BAD_OPTION, str(error)) from error


def _without_seed(options: Options) -> dict[str, OptionValue]:
    return {name: value for name, value in options.items() if name != "seed"}


def _considered(room: RoomState, command: commands.Consider) -> Considered:
    """Return the answer to ``consider``. Raises: CommandError."""
    found = consider(room, command)
    board = board_of(found.state, command.ply + len(found.texts), with_choices=found.is_in_turn)
    return Considered(board, found.texts, found.route)


def _entered(session: Session, room: LiveRoom | FollowedRoom, missed: Missed, *, with_board: bool) -> RoomEntered:
    state = room.state
    held = state.seats_of(session.account_id)
    viewer = viewer_of(state, session.account_id)
    return RoomEntered(
        head=room.head(),
        seat=held[0] if held else None,
        snapshot=snapshot_of(state, viewer) if missed is None else None,
        events=tuple(event_for(event, viewer) for event in missed or ()),
        secrets=state.secrets if session.account_id == state.host else None,
        layout=layout_in(state) if with_board else None,
        board=board_in(state, with_choices=is_chooser(state, session.account_id)) if with_board else None,
    )


_ANSWERERS: dict[type[ClientMessage], Callable[[Requests, Session, Any], Answering]] = {
    messages.Hello: Requests._hello,
    messages.ListGames: Requests._list_games,
    messages.ListRooms: Requests._list_rooms,
    messages.GetRecord: Requests._get_record,
    messages.GetBoards: Requests._get_boards,
    messages.SubscribeLobby: Requests._subscribe,
    messages.SayInLobby: Requests._say_in_lobby,
    messages.UnsubscribeLobby: Requests._unsubscribe,
    messages.CreateRoom: Requests._create_room,
    messages.QuickPlay: Requests._quick_play,
    messages.JoinRoom: Requests._join_room,
    messages.WatchRoom: Requests._watch_room,
    messages.LeaveRoom: Requests._leave_room,
    messages.TakeHint: Requests._take_hint,
    messages.Explain: Requests._explain,
    messages.Consider: Requests._consider,
    **dict.fromkeys(get_args(RoomRequest), Requests._perform),
}
