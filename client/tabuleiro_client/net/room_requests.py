"""What a client can ask of a room that it is in, each thing done once though connections break.

Keeping the mirror up to date and coming back is left to :mod:`tabuleiro_client.net.room`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from tabuleiro.errors import ClientError
from tabuleiro.ids import Player, RoomCode
from tabuleiro.protocol.events import Event, OfferKind, SequencedEvent
from tabuleiro.protocol.messages import (
    Abort,
    Answer,
    ChangeSettings,
    ClaimWin,
    ClientMessage,
    HintGiven,
    LeaveRoom,
    MatchView,
    Mute,
    Offer,
    Resign,
    Say,
    SeatBot,
    SwapSeats,
    Undo,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net import evidence
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.mirror import Mirror

_RECENT_MAX_COUNT: Final = 1000


class RoomRequests(ABC):
    """The requests of whoever is in the room of ``mirror``."""

    def __init__(self, link: Link, mirror: Mirror) -> None:
        self.mirror = mirror
        self._link = link
        self._recent: deque[SequencedEvent] = deque(maxlen=_RECENT_MAX_COUNT)
        self._snapshot_count = 0

    @property
    def code(self) -> RoomCode:
        """The room's code."""
        return self.mirror.head.room

    async def play(self, actions: Sequence[str]) -> None:
        """Make actions of the own turn at the mirror's ply, all or none; on return the mirror holds them.

        After a lost connection they are sent again for the same ply, which the server recognises.
        Raises: CommandError when refused, ConnectionLostError when the link is gone for good, ClientError
        when no match runs.
        """
        match = self._match()
        number, ply, revision = match.number, len(self.mirror.actions), match.revision
        await self._send_until_answered(lambda: self._link.play(self.code, number, ply, actions, revision))
        # The place only: clocks and connections change the match view too, and mean nothing here.
        await self._wait_while(lambda: self._mirrored_place() == (number, ply, revision))

    async def undo(self, ply: int) -> None:
        """Undo own actions of the turn in progress: ``ply`` actions are left. Raises: as :meth:`play`."""
        message = Undo(id=0, room=self.code, match=self._match().number, ply=ply)
        await self._send_settled(message, lambda event: evidence.of_undo(event, ply))

    async def take_hint(self) -> HintGiven:
        """Ask what to play now, which everybody in the room is told; it takes a few seconds.

        After a lost connection it is asked again. Raises: as :meth:`play`.
        """
        match = self._match()
        number, ply, revision = match.number, len(self.mirror.actions), match.revision
        given: list[HintGiven] = []

        async def ask() -> None:
            given.append(await self._link.take_hint(self.code, number, ply, revision))

        await self._send_until_answered(ask)
        return given[-1]

    async def resign(self, seat: Player | None = None) -> None:
        """Give the match up; ``seat`` says for whom when both are ours, ``None``: for who is to move.

        Raises: as :meth:`play`.
        """
        message = Resign(id=0, room=self.code, match=self._match().number, seat=seat)
        await self._send_until_answered(lambda: self.request(message))

    async def abort(self) -> None:
        """End a match without a result that not both have made an action in. Raises: as :meth:`play`."""
        message = Abort(id=0, room=self.code, match=self._match().number)
        await self._send_until_answered(lambda: self.request(message))

    async def claim_win(self) -> None:
        """Claim the win because the opponent stays away. Raises: as :meth:`play`."""
        message = ClaimWin(id=0, room=self.code, match=self._match().number)
        await self._send_settled(message, evidence.of_claim)

    async def offer(self, kind: OfferKind) -> None:
        """Offer a draw or a rematch, or ask to take the last own turn back; accept the other's offer of the same.

        Raises: CommandError when refused, ConnectionLostError when the link is gone for good, ClientError when
        the players have changed seats before it could be offered.
        """
        message = Offer(id=0, room=self.code, kind=kind)
        seats = self.mirror.own_seats

        def shows(event: Event) -> bool:
            # A rematch may have begun by now, with seats changed: the offer was made from the seat of then.
            return evidence.of_offer(event, kind, {*seats, *self.mirror.own_seats})

        await self._send_settled(message, shows, lambda: self.mirror.own_seats != seats)

    async def answer(self, kind: OfferKind, *, accept: bool) -> None:
        """Accept or decline the other's offer, or withdraw the own one by declining it.

        Raises: as :meth:`offer`, and ClientError when it has lapsed before it could be answered.
        """
        message = Answer(id=0, room=self.code, kind=kind, accept=accept)
        offers, place = self.mirror.head.offers, _place(self.mirror.match)

        def is_lapsed() -> bool:
            return self.mirror.head.offers != offers or _place(self.mirror.match) != place

        await self._send_settled(message, lambda event: evidence.of_answer(event, kind), is_lapsed)

    async def say(self, text: str) -> None:
        """Say a line to the room. Raises: as :meth:`offer`."""
        message = Say(id=0, room=self.code, text=text)
        await self._send_settled(message, lambda event: evidence.of_talk(event, self._link.account, text))

    async def mute(self, name: str, *, is_muted: bool = True) -> None:
        """As the host, mute somebody or let them talk again. Raises: as :meth:`offer`."""
        message = Mute(id=0, room=self.code, name=name, is_muted=is_muted)
        await self._send_until_answered(lambda: self.request(message))

    async def seat_bot(self, seat: Player, level: str | None) -> None:
        """As the host, put a bot on an open seat, or with ``None`` take it off. Raises: as :meth:`offer`."""
        message = SeatBot(id=0, room=self.code, seat=seat, level=level)
        await self._send_settled(message, lambda event: evidence.of_bot(event, seat, level))

    async def swap_seats(self) -> None:
        """As the host, let the two players change places. Raises: as :meth:`offer`."""
        await self._send_settled(SwapSeats(id=0, room=self.code), evidence.of_swap)

    async def change_settings(self, settings: RoomSettings) -> None:
        """As the host, let the matches to come be played with ``settings``. Raises: as :meth:`offer`."""
        message = ChangeSettings(id=0, room=self.code, settings=settings)
        await self._send_until_answered(lambda: self.request(message))

    async def request(self, message: ClientMessage) -> None:
        """Ask the server for something else, once: an offer, an answer, an undo, a word to the room.

        Raises: CommandError when refused, ConnectionLostError when there is no connection, or it is lost before
        the answer; then it may or may not have been done.
        """
        await self._link.request(message)

    async def leave(self) -> None:
        """Tell the server that we leave: gives an own seat up before the match, keeps it later.

        Raises: CommandError, ConnectionLostError.
        """
        await self._link.request(LeaveRoom(id=0, room=self.code))

    def _mirrored_place(self) -> tuple[int, int, int] | None:
        match = self.mirror.match
        return None if match is None else (match.number, len(self.mirror.actions), match.revision)

    def _match(self) -> MatchView:
        match = self.mirror.match
        if match is None:
            raise ClientError("no match is being played here")
        return match

    async def _send_settled(
        self,
        message: ClientMessage,
        shows: Callable[[Event], bool],
        is_lapsed: Callable[[], bool] = lambda: False,
    ) -> None:
        """Send a request that the server would not recognise when it comes twice; on return the mirror holds it.

        After a lost connection it is sent again, unless an event of the time since ``shows`` that it was done, or
        it ``is_lapsed``: then it would mean something else now.
        """
        since, snapshot_count, is_sent = self.mirror.since, self._snapshot_count, False

        def is_done() -> bool:
            return any(event.seq > since and shows(event.event) for event in self._recent)

        async def send() -> None:
            nonlocal is_sent
            if is_sent and self._snapshot_count != snapshot_count:
                raise ClientError("the connection was lost for long: look whether it was done")
            if is_sent and is_done():
                return
            if is_lapsed():
                raise ClientError("that has lapsed while the connection was down")
            is_sent = True
            await self.request(message)

        await self._send_until_answered(send)
        await self._wait_while(lambda: not is_done() and self._snapshot_count == snapshot_count)

    def _note_events(self, events: Iterable[SequencedEvent]) -> None:
        """Remember events by which a request that got no answer may turn out to have been done."""
        self._recent.extend(events)

    def _note_snapshot(self) -> None:
        """Take note that there was a gap in the events."""
        self._snapshot_count += 1

    @abstractmethod
    async def _send_until_answered(self, send: Callable[[], Awaitable[None]]) -> None:
        """Send when the room is entered, and again on the next connection if the answer got lost."""

    @abstractmethod
    async def _wait_while(self, is_so: Callable[[], bool]) -> None:
        """Wait for news until it is no longer so, or the room is gone."""


def _place(match: MatchView | None) -> tuple[int, int, int] | None:
    """Where a match is: an offer made there means something else anywhere else."""
    return None if match is None else (match.number, match.ply, match.revision)
