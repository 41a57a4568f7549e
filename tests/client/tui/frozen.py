"""A room in which time stands still, and an application that shows it: for pictures that are always the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from tabuleiro.clock import Fischer, begin_turn, new_clock
from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import OfferView, SeatInfo
from tabuleiro.protocol.messages import BotThought, ChatLine, MatchView, RoomEntered, RoomHead, SeatView, Snapshot
from tabuleiro.rules import registry
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.mirror import Mirror
from tabuleiro_client.net.room import Change
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.screens.live import LiveScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.settings import Settings

NOW_MS = TimestampMs(1_795_822_000_000)
BLITZ = Fischer(300_000, 3_000)


def frozen_head(game: str, options: dict[str, int | str], actions: Sequence[str], **changes: object) -> RoomHead:
    """A match between ana, whose turn or not it is, and the bot hal, 70 seconds into the turn."""
    loaded = registry.load(game, options)
    state = loaded.initial_state()
    for text in actions:
        state = state.apply(state.string_to_action(text))
    clock = new_clock(BLITZ)
    if state.to_move is not None:
        clock = begin_turn(BLITZ, clock, state.to_move, NOW_MS - 70_000)
    outcome = state.outcome
    match = MatchView(
        1,
        Ply(len(actions)),
        state.to_move,
        state.digest(),
        TimestampMs(NOW_MS - 600_000),
        winner=None if outcome is None else outcome.winner,
        termination=None if outcome is None else outcome.termination,
        clock=clock,
    )
    ana = SeatView(SeatInfo("person", AccountId("a1"), "ana"), True)
    hal = SeatView(SeatInfo("bot", AccountId("bot-1"), "hal", level="minimax-3"), True)
    thinking = BotThought(1, TimestampMs(NOW_MS - 3_000)) if state.to_move == 1 else None
    head = RoomHead(
        room=RoomCode("K7MQ4"),
        seq=Seq(9),
        phase="playing" if outcome is None else "finished",
        game=game,
        options=dict(loaded.options),
        host_name="ana",
        created_at_ms=TimestampMs(NOW_MS - 600_000),
        seats=(ana, hal),
        now_ms=NOW_MS,
        settings=RoomSettings(time_control=BLITZ),
        watchers=2,
        match=match,
        thinking=thinking,
    )
    return msgspec.structs.replace(head, **changes)


CHAT = (
    ChatLine(NOW_MS, AccountId("a1"), "ana", "have fun", True),
    ChatLine(NOW_MS, AccountId("a7"), "zoe", "nice opening", False),
)
DRAW_OFFERED = (OfferView("draw", 1),)


class FrozenRoom:
    """Stands in for an entered room: the mirror is real, and nothing ever happens."""

    def __init__(self, head: RoomHead, actions: Sequence[str]) -> None:
        self.mirror = Mirror(AccountId("a1"), RoomEntered(head, 0, Snapshot(tuple(actions), CHAT)))
        assert not self.mirror.is_stale
        self.code = head.room
        self.secret = self.secrets = None
        self.has_unread = False
        self._never = asyncio.Event()

    def server_now_ms(self) -> int:
        return NOW_MS

    async def close(self) -> None:
        """Nothing is followed."""

    def __aiter__(self) -> FrozenRoom:
        return self

    async def __anext__(self) -> Change:
        await self._never.wait()
        raise StopAsyncIteration


def frozen_app(
    game: str,
    actions: Sequence[str] = (),
    options: dict[str, int | str] | None = None,
    *,
    theme: str = "dark",
    is_ascii: bool = False,
    screen: type[LiveScreen] = MatchScreen,
    **changes: object,
) -> TabuleiroApp:
    """The application whose first screen is the frozen match."""
    head = frozen_head(game, options or {}, actions, **changes)

    room: Any = FrozenRoom(head, actions)

    def now_ms() -> int:
        return NOW_MS

    app = TabuleiroApp(
        lambda: screen(OpenRoom(room, app.writing, is_watching=screen is WatchScreen)),
        settings=Settings(theme=theme),
        force_ascii=is_ascii,
        now_ms=now_ms,
    )
    return app
