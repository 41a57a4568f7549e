"""What each request of a client does: from the wire message to a command for a room, and the answer back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from tabuleiro.clock import Correspondence
from tabuleiro.errors import CommandError, GameOptionError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol import messages
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import (
    ClientMessage,
    Error,
    HintGiven,
    Ok,
    RoomEntered,
    RoomList,
    RoomSummary,
    SeatRequest,
    Welcome,
)
from tabuleiro.protocol.settings import RoomSettings
from tabuleiro.rules import registry
from tabuleiro.rules.options import Options, OptionValue
from tabuleiro_server.room import commands
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import audience_of, event_for, snapshot_of
from tabuleiro_server.rooms.draws import draw, draw_secrets
from tabuleiro_server.rooms.room_items import Missed, RoomUnloadedError
from tabuleiro_server.rooms.room_task import RoomTask
from tabuleiro_server.sessions.figures import RequestFigures
from tabuleiro_server.sessions.lobby import RoomFilter
from tabuleiro_server.sessions.services import Services
from tabuleiro_server.sessions.session import Answering, Session

log = structlog.get_logger(__name__)


class Requests:
    """Answers the requests of all sessions."""

    def __init__(self, services: Services) -> None:
        self.figures = RequestFigures()
        self._services = services
        self._quick_play_lock = asyncio.Lock()

    def answer(self, session: Session, message: ClientMessage) -> Answering:
        """Do what ``message`` asks for and acknowledge it; what comes back has to be awaited.

        Raises, here or when it is awaited: CommandError when it is refused.
        """
        if isinstance(message, messages.Hello) == session.is_welcomed:
            raise CommandError(ErrorCode.HELLO_FIRST, "the first message is hello, and there is only one")
        return _ANSWERERS[type(message)](self, session, message)

    def farewell(self, session: Session) -> None:
        """Forget a session that has ended."""
        self._services.lobby.unsubscribe(session)
        self._services.lobby.depart(session.name)
        self._services.guests.depart(session.account_id)

    async def _hello(self, session: Session, message: messages.Hello) -> None:
        identified = await self._services.guests.identify(message.name, message.token)
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
            levels=dict(self._services.levels),
            token=identified.token,
        )
        session.send(Ok(message.id, welcome))
        announcement = self._services.lifecycle.announcement
        if announcement is not None:
            session.send(announcement)

    async def _list_rooms(self, session: Session, message: messages.ListRooms) -> None:
        session.send(
            Ok(message.id, RoomList(*self._services.lobby.rooms(RoomFilter(message.game, message.phases))))
        )

    async def _get_record(self, session: Session, message: messages.GetRecord) -> None:
        watch = commands.Watch(session.account_id, message.secret)
        record = await self._services.archive.find(message.room, message.match, watch)
        session.send(Ok(message.id, record))

    async def _subscribe(self, session: Session, message: messages.SubscribeLobby) -> None:
        listed = self._services.lobby.subscribe(session, RoomFilter(message.game, message.phases))
        session.send(Ok(message.id, RoomList(*listed)))

    async def _unsubscribe(self, session: Session, message: messages.UnsubscribeLobby) -> None:
        self._services.lobby.unsubscribe(session)
        session.send(Ok(message.id))

    async def _create_room(self, session: Session, message: messages.CreateRoom) -> None:
        room = await self._open(session, message.game, message.options, message.seats, message.settings)
        await self._enter(session, room.state.code, message.id, commands.Watch(session.account_id), None)

    async def _open(
        self,
        session: Session,
        game: str,
        options: dict[str, int | str],
        seats: tuple[SeatRequest, SeatRequest],
        settings: RoomSettings,
    ) -> RoomTask:
        self._services.lifecycle.check_is_running()
        self._check_may_enter(session, None)
        command = commands.OpenRoom(
            code=await self._services.directory.new_code(),
            account=session.account_id,
            name=session.name,
            game=game,
            options=options,
            seats=seats,
            settings=settings,
            limits=self._services.config.room_limits(),
            bot_levels=self._services.levels.get(game, ()),
            secrets=draw_secrets(),
            draws=draw(),
        )
        with self._services.quota.one_more(session.account_id):
            return await self._services.directory.open(command)

    async def _quick_play(self, session: Session, message: messages.QuickPlay) -> None:
        """One at a time, or two people who ask at the same moment would each open a room and wait."""
        async with self._quick_play_lock:
            await self._join_oldest_or_open(session, message)

    async def _join_oldest_or_open(self, session: Session, message: messages.QuickPlay) -> None:
        """Join the oldest fitting room; whoever is beaten to a seat tries the next one.

        Who waits in such a room already, and finds nobody else who waits, goes on waiting there.
        """
        wanted = _complete_options(message.game, message.options)
        fitting = [
            summary
            for summary in self._services.lobby.open_rooms(message.game)
            if summary.settings.time_control == message.settings.time_control
            and _without_seed(summary.options) == wanted
        ]
        for summary in sorted(fitting, key=lambda summary: _holds_seat(session, summary)):
            try:
                if _holds_seat(session, summary) or await self._is_waited_in(summary):
                    join = commands.Join(session.account_id, session.name, draw())
                    await self._enter(session, summary.room, message.id, join, None)
                    return
            except CommandError as error:
                if error.code not in (ErrorCode.SEAT_TAKEN, ErrorCode.NO_SUCH_ROOM, ErrorCode.ROOM_DAMAGED):
                    raise
        seats = (SeatRequest("me"), SeatRequest("open"))
        room = await self._open(session, message.game, message.options, seats, message.settings)
        await self._enter(session, room.state.code, message.id, commands.Watch(session.account_id), None)

    async def _is_waited_in(self, summary: RoomSummary) -> bool:
        """Whether an opponent is there; with days for each turn nobody needs to be."""
        room = await self._services.directory.find(summary.room)
        is_slow = isinstance(summary.settings.time_control, Correspondence)
        here = room.visitors.accounts()
        return is_slow or all(seat.kind != "person" or seat.account in here for seat in room.state.seats)

    async def _join_room(self, session: Session, message: messages.JoinRoom) -> None:
        join = commands.Join(session.account_id, session.name, draw(), message.seat, message.secret)
        await self._enter(session, message.room, message.id, join, None)

    async def _watch_room(self, session: Session, message: messages.WatchRoom) -> None:
        since = None if message.since is None else Seq(message.since)
        watch = commands.Watch(session.account_id, message.secret)
        await self._enter(session, message.room, message.id, watch, since)

    async def _enter(
        self, session: Session, code: str, request_id: int, permission: commands.Command, since: Seq | None
    ) -> None:
        async def enter(room: RoomTask) -> None:
            self._check_may_enter(session, room.state.code)

            def acknowledge(state: RoomState, missed: Missed) -> None:
                session.note_room(room)
                session.send(Ok(request_id, _entered(session, room, missed)))

            await room.enter(session, permission, since, acknowledge)

        await self._with_room(code, enter)

    def _check_may_enter(self, session: Session, code: RoomCode | None) -> None:
        """Check whether one room more is allowed; ``None`` stands for a new room. Raises: CommandError."""
        limit_count = self._services.config.entered_rooms_count
        if not (code and session.is_in(code)) and session.rooms_count >= limit_count:
            message = f"entered_rooms_count: at most {limit_count} rooms on one connection; leave one first"
            raise CommandError(ErrorCode.LIMIT_REACHED, message)

    async def _leave_room(self, session: Session, message: messages.LeaveRoom) -> None:
        async def leave(room: RoomTask) -> None:
            def acknowledge(state: RoomState) -> None:
                session.send(Ok(message.id))
                room.dismiss(session)
                session.forget_room(state.code)

            await room.perform(commands.Leave(session.account_id), acknowledge)

        await self._with_room(message.room, leave)

    def _play(self, session: Session, message: messages.Play) -> Answering:
        command = commands.Play(
            session.account_id, message.match, message.ply, message.actions, message.revision, session.lag_ms
        )
        return self._perform(session, message, command)

    def _undo(self, session: Session, message: messages.Undo) -> Answering:
        return self._perform(session, message, commands.Undo(session.account_id, message.match, message.ply))

    async def _take_hint(self, session: Session, message: messages.TakeHint) -> None:
        """Answered later, so that the player can go on meanwhile."""
        room = await self._services.directory.find(message.room)
        _check_entered(session, room)
        wish = commands.TakeHint(session.account_id, message.match, message.ply, message.revision)

        def answer(found: HintGiven | CommandError) -> None:
            if isinstance(found, CommandError):
                session.send(Error(message.id, found.code, found.message))
            else:
                session.send(Ok(message.id, found))

        self._services.hints.start(room, wish, answer, lambda: session.is_in(room.state.code))

    def _resign(self, session: Session, message: messages.Resign) -> Answering:
        return self._perform(session, message, commands.Resign(session.account_id, message.match, message.seat))

    def _abort(self, session: Session, message: messages.Abort) -> Answering:
        return self._perform(session, message, commands.Abort(session.account_id, message.match))

    def _claim_win(self, session: Session, message: messages.ClaimWin) -> Answering:
        return self._perform(session, message, commands.ClaimWin(session.account_id, message.match))

    def _offer(self, session: Session, message: messages.Offer) -> Answering:
        return self._perform(session, message, commands.MakeOffer(session.account_id, message.kind, draw()))

    def _answer_offer(self, session: Session, message: messages.Answer) -> Answering:
        command = commands.AnswerOffer(session.account_id, message.kind, message.accept, draw())
        return self._perform(session, message, command)

    async def _seat_bot(self, session: Session, message: messages.SeatBot) -> None:
        async def perform(room: RoomTask) -> None:
            _check_entered(session, room)
            levels = self._services.levels.get(room.state.game.name, ())
            command = commands.SeatBot(session.account_id, message.seat, message.level, levels, draw())
            await room.perform(command, lambda state: session.send(Ok(message.id, seq=state.seq)))

        await self._with_room(message.room, perform)

    def _swap_seats(self, session: Session, message: messages.SwapSeats) -> Answering:
        return self._perform(session, message, commands.SwapSeats(session.account_id))

    async def _change_settings(self, session: Session, message: messages.ChangeSettings) -> None:
        room = await self._services.directory.find(message.room)
        levels = self._services.levels.get(room.state.game.name, ())
        command = commands.ChangeSettings(session.account_id, message.settings, levels)
        await self._perform(session, message, command)

    def _say(self, session: Session, message: messages.Say) -> Answering:
        return self._perform(session, message, commands.Say(session.account_id, session.name, message.text))

    def _mute(self, session: Session, message: messages.Mute) -> Answering:
        command = commands.Mute(session.account_id, message.name, message.is_muted)
        return self._perform(session, message, command)

    def _perform(self, session: Session, message: Any, command: commands.Command) -> Answering:
        room = self._services.directory.loaded(message.room)
        if room is not None:
            _check_entered(session, room)
            done = room.perform_at_once(command, lambda state: session.send(Ok(message.id, seq=state.seq)))
            if done is not None:
                return done
        return self._perform_in_turn(session, message, command)

    async def _perform_in_turn(self, session: Session, message: Any, command: commands.Command) -> None:
        async def perform(room: RoomTask) -> None:
            _check_entered(session, room)
            await room.perform(command, lambda state: session.send(Ok(message.id, seq=state.seq)))

        await self._with_room(message.room, perform)

    async def _with_room(self, code: str, use: Callable[[RoomTask], Awaitable[None]]) -> None:
        """Use the room of this code; once more if it left memory in between."""
        try:
            await use(await self._services.directory.find(code))
        except RoomUnloadedError:
            await use(await self._services.directory.find(code))


def _check_entered(session: Session, room: RoomTask) -> None:
    """Whoever acts in a room is there: so nobody plays and counts as away. Raises: CommandError not-watching."""
    if not session.is_in(room.state.code):
        raise CommandError(ErrorCode.NOT_WATCHING, f"enter room {room.state.code} first: join or watch it")


def _holds_seat(session: Session, summary: RoomSummary) -> bool:
    return session.account_id in {seat.account for seat in summary.seats}


def _complete_options(game: str, options: Options) -> dict[str, OptionValue]:
    """The options with all defaults, without a drawn seed. Raises: CommandError bad-option."""
    try:
        return _without_seed(registry.load(game, options).options)
    except GameOptionError as error:
        raise CommandError(ErrorCode.BAD_OPTION, str(error)) from error


def _without_seed(options: Options) -> dict[str, OptionValue]:
    return {name: value for name, value in options.items() if name != "seed"}


def _entered(session: Session, room: RoomTask, missed: Missed) -> RoomEntered:
    state = room.state
    held = state.seats_of(session.account_id)
    audience = audience_of(state, session.account_id)
    return RoomEntered(
        head=room.head(),
        seat=held[0] if held else None,
        snapshot=snapshot_of(state, audience) if missed is None else None,
        events=tuple(event_for(event, audience) for event in missed or ()),
        secrets=state.secrets if session.account_id == state.host else None,
    )


_ANSWERERS: dict[type[ClientMessage], Callable[[Requests, Session, Any], Answering]] = {
    messages.Hello: Requests._hello,
    messages.ListRooms: Requests._list_rooms,
    messages.GetRecord: Requests._get_record,
    messages.SubscribeLobby: Requests._subscribe,
    messages.UnsubscribeLobby: Requests._unsubscribe,
    messages.CreateRoom: Requests._create_room,
    messages.QuickPlay: Requests._quick_play,
    messages.JoinRoom: Requests._join_room,
    messages.WatchRoom: Requests._watch_room,
    messages.LeaveRoom: Requests._leave_room,
    messages.Play: Requests._play,
    messages.Undo: Requests._undo,
    messages.TakeHint: Requests._take_hint,
    messages.Resign: Requests._resign,
    messages.Abort: Requests._abort,
    messages.ClaimWin: Requests._claim_win,
    messages.Offer: Requests._offer,
    messages.Answer: Requests._answer_offer,
    messages.SeatBot: Requests._seat_bot,
    messages.SwapSeats: Requests._swap_seats,
    messages.ChangeSettings: Requests._change_settings,
    messages.Say: Requests._say,
    messages.Mute: Requests._mute,
}
