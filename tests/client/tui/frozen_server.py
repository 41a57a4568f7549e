"""A server at which nothing ever happens: for pictures of the screens that show one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from tabuleiro.clock import Fischer
from tabuleiro.ids import AccountId, RoomCode, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import ChatLine, LobbyUpdate, RoomList, RoomSummary, SeatView, Welcome
from tabuleiro.rules import registry
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.net.server import Venue
from tabuleiro_client.net.subscription import Subscription
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.screens.room import RoomScreen
from tests.client.tui.frozen import NOW_MS, FrozenRoom, frozen_head

URL = "wss://games.example.org"
LEVELS = dict.fromkeys(registry.names(), ("random", "minimax-1", "minimax-3"))
_PEOPLE = ("ana", "bea", "hugo", "rui", "zoe")


def _room(number: int, code: str, game: str, names: tuple[str, str | None], **changes: Any) -> RoomSummary:
    seats = [SeatInfo("person", AccountId(name), name) if name else SeatInfo() for name in names]
    room = RoomSummary(
        RoomCode(code),
        "waiting",
        game,
        dict(registry.load(game).options),
        (seats[0], seats[1]),
        TimestampMs(NOW_MS - 60_000 * number),
    )
    return msgspec.structs.replace(room, **changes)


_BLITZ = RoomSettings(time_control=Fischer(300_000, 3_000))
ROOMS = (
    _room(1, "K7MQ4", "iris", ("zoe", None), settings=_BLITZ),
    _room(2, "W2PXA", "virus-wars", ("hugo", "rui"), phase="playing", plies=62, watchers=3, settings=_BLITZ),
    _room(5, "QQ8ZT", "minefield", ("bea", None)),
    _room(9, "9JKRM", "xero-g", ("ana", "zoe"), phase="playing", plies=17),
)


class FrozenLink:
    """Stands in for a link: it knows who we are and which rooms there are, and tells nothing further."""

    def __init__(self) -> None:
        self.state = LinkState.CONNECTED
        self.url = URL
        self.account = AccountId("a1")
        self.welcome = Welcome(self.account, "ana", "frozen", NOW_MS, LEVELS)

    def subscribe(self) -> Subscription:
        subscription = Subscription(10)
        lines = [("rui", "a game of Iris, anybody?"), ("ana", "in five minutes, gladly")]
        said = tuple([ChatLine(TimestampMs(0), AccountId(name), name, text, False) for name, text in lines])
        subscription.put(LobbyUpdate((), (), _PEOPLE, len(_PEOPLE), said))
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Nothing is told to anybody."""

    def following_lobby(self) -> AbstractContextManager[None]:
        return nullcontext()

    async def follow_lobby(self, game: object, phases: object) -> RoomList:
        return RoomList(ROOMS)


def frozen_venue() -> Venue:
    """A server somewhere else."""
    return Venue(FrozenLink(), URL, URL, is_local=False)  # type: ignore[arg-type]


def frozen_room_screen(style: TextStyle) -> RoomScreen:
    """A room in which ana waits."""
    settings = RoomSettings(
        time_control=Fischer(300_000, 3_000), late_bot=LateBot("minimax-1", 60_000), may_undo=False
    )
    seats = (SeatView(SeatInfo("person", AccountId("a1"), "ana"), True), SeatView(SeatInfo()))
    head = frozen_head("virus-wars", {}, (), phase="waiting", match=None, settings=settings, seats=seats)
    room: Any = FrozenRoom(head, ())
    return RoomScreen(frozen_venue(), OpenRoom(room, style))
