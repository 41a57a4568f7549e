"""Tables at which scripted guests play one match after the other, whatever is done to the servers meanwhile."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Final

from tabuleiro.clock import NO_CLOCK, Fischer
from tabuleiro.errors import (
    CommandError,
    ConnectionLostError,
    IllegalActionError,
    NotationError,
    UnknownOutcomeError,
)
from tabuleiro.ids import RoomCode, Seq
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, Play, SeatRequest, WatchRoom
from tabuleiro.rules import State
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.entering import EntryRequest
from tabuleiro_client.net.link import Backoff, Link, LinkSettings, LinkState
from tabuleiro_client.net.room import EnteredRoom, Gone, Happened, Refreshed, Restored, enter
from tabuleiro_client.net.subscription import LinkRestored
from tests.e2e.ledger import Ledger, Move
from tests.e2e.random_play import GAMES, RESIGN_AFTER_TURNS, Options, some_actions

CLOCKS: Final = (NO_CLOCK, Fischer(initial_ms=60_000, increment_ms=5_000))
"""Nobody here thinks: nobody loses on time."""

MOMENT_LIMIT_S: Final = 3
_MOVED: Final = frozenset({ErrorCode.ELSEWHERE, ErrorCode.NOT_WATCHING})
"""What somebody is told whose room has moved to another node at this moment."""

AGAIN: Final = Backoff(first_s=0.05, limit_s=1.0)


class Run:
    """What all tables of a run share: where they connect to, the ledger, and whether the run is over.

    Args:
        home: Gives the address of a server that lives.
        settings: The limits of connections.
        bot_at_every: Every so many tables a bot plays in the guest's place.
        passing: Refusals that pass by: the same is asked again.
        pause_s: Time for which people think before a move, on average. Without any they keep this process busy.
    """

    def __init__(
        self,
        home: Callable[[], str],
        settings: LinkSettings,
        *,
        bot_at_every: int = 2,
        passing: frozenset[ErrorCode] = frozenset(),
        pause_s: float = 0.0,
    ) -> None:
        self.home = home
        self.settings = settings
        self.bot_at_every = bot_at_every
        self.passing = passing
        self.pause_s = pause_s
        self.ledger = Ledger()
        self.is_over = False
        self.codes: set[RoomCode] = set()
        self.links: list[Link] = []
        self._moments: Counter[str] = Counter()
        self._moment_came = asyncio.Event()
        self.refusals: Counter[str] = Counter()
        self.played_counts: Counter[int] = Counter()
        self.pauses_s: dict[int, float] = {}
        self._played_at_s: dict[int, float] = {}

    def moment(self, kind: str) -> None:
        """Something happened at which a fault may be meant to come."""
        self._moments[kind] += 1
        self._moment_came.set()

    async def is_moment(self, kind: str, wanted_count: int) -> bool:
        """Wait until something has happened so many times from now on; return False if it does not for a while."""
        self._moments.clear()
        try:
            async with asyncio.timeout(MOMENT_LIMIT_S):
                while self._moments[kind] < wanted_count:
                    self._moment_came.clear()
                    await self._moment_came.wait()
        except TimeoutError:
            return False
        return True

    def note_refusal(self, error: CommandError) -> None:
        """Count a refusal that passes by, and raise any other."""
        if error.code not in self.passing:
            raise error
        self.refusals[error.code] += 1

    async def attempts(self) -> AsyncIterator[int]:
        """Yield numbers without an end, after a pause each, as people try again."""
        for number, delay_s in enumerate(AGAIN.delays()):
            yield number
            await asyncio.sleep(delay_s)

    def played(self, number: int) -> None:
        """A move was acknowledged at a table; ``pauses_s`` has the longest time between two there."""
        now_s = time.monotonic()
        pause_s = now_s - self._played_at_s.get(number, now_s)
        self.pauses_s[number] = max(self.pauses_s.get(number, 0.0), pause_s)
        self._played_at_s[number] = now_s
        self.played_counts[number] += 1
        self.moment("in play")


class Table:
    """One or two guests, and perhaps a watcher, who play one match after the other."""

    def __init__(self, run: Run, number: int, chance: random.Random) -> None:
        self._run = run
        self._ledger = run.ledger
        self._number = number
        self._chance = chance
        self._has_bot = number % run.bot_at_every == 1
        self._has_watcher = number % 3 == 0
        self._links: list[Link] = []
        self._said_count = 0
        self._last_seqs: dict[EnteredRoom, Seq] = {}

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect everybody."""
        names = ["maker"] if self._has_bot else ["maker", "guest"]
        for name in [*names, "watcher"] if self._has_watcher else names:
            link = Link(self._run.home(), name=f"{name}-{self._number}", settings=self._run.settings)
            self._links.append(await stack.enter_async_context(link))
            self._run.links.append(link)

    async def play(self) -> None:
        """Play until the run is over, and the match begun before to its end."""
        while not self._run.is_over:
            await self._play_match(*self._chance.choice(GAMES))

    def plays_at(self, node_url: str) -> bool:
        """Return True if somebody here is in a room at this node."""
        return any(node_url in room._link._node_urls[:1] for room in self._last_seqs)

    def describe(self) -> str:
        """Say where everybody at the table is, for whoever looks for the reason that nothing happens."""
        lines = []
        for room, seq in self._last_seqs.items():
            head, link = room.mirror.head, room._link
            whose = "own turn" if room.mirror.is_my_turn else f"turn of {room.mirror.to_move}"
            lines.append(
                f"{link.welcome.name} in {room.code} by {link.url} ({link.state}, is in {room._is_in}): event"
                f" {seq} taken in, mirror at {room.mirror.since}, {head.phase}, {whose}"
            )
            following = room._following
            if following is not None:
                lines.append("    " + where(following))
        states = ", ".join(f"{link.welcome.name} at {link.url} ({link.state})" for link in self._links)
        return "\n".join([f"table {self._number}: {states}", *lines])

    async def _play_match(self, game: str, options: Options, level: str) -> None:
        other = SeatRequest("bot", level) if self._has_bot else SeatRequest()
        seats = (SeatRequest("me"), other) if self._chance.random() < 0.5 else (other, SeatRequest("me"))
        settings = RoomSettings(time_control=self._chance.choice(CLOCKS))
        message = CreateRoom(id=0, game=game, options=options, seats=seats, settings=settings)
        host, *others = self._links
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as people:
            room = await self._enter(stack, host, message)
            code = room.code
            self._run.codes.add(code)
            people.create_task(self._sit(room, host))
            if not self._has_bot:
                guest = others.pop(0)
                joined = await self._enter(stack, guest, JoinRoom(id=0, room=code))
                people.create_task(self._sit(joined, guest))
            for link in others:
                watched = await self._enter(stack, link, WatchRoom(id=0, room=code))
                people.create_task(self._sit(watched, link))

    async def _enter(self, stack: AsyncExitStack, link: Link, request: EntryRequest) -> EnteredRoom:
        async for _ in self._run.attempts():
            try:
                room = await enter(link, request)
                # At once: whatever is told from now on comes as a change.
                self._last_seqs[room] = room.mirror.since
                return await stack.enter_async_context(room)
            except ConnectionLostError:
                await _connected(link)
            except CommandError as error:
                self._run.note_refusal(error)
        raise AssertionError("the attempts have no end")

    async def _sit(self, room: EnteredRoom, link: Link) -> None:
        """Play whenever it is our turn, and take in what is told until the match has ended."""
        while room.mirror.head.phase in ("waiting", "playing"):
            if room.mirror.is_my_turn:
                await self._act(room, link)
                while room.has_unread:
                    self._take(room, await room.next_change())
            else:
                self._take(room, await room.next_change())
        while room.has_unread:
            self._take(room, await room.next_change())
        del self._last_seqs[room]

    def _take(self, room: EnteredRoom, change: object) -> None:
        mirror, seq = room.mirror, self._last_seqs[room]
        # Whoever comes back is owed exactly what was missed: never a snapshot, here where nothing is so old.
        assert not isinstance(change, Refreshed | Gone | None), f"room {room.code}: {change} after event {seq}"
        if isinstance(change, Happened):
            event = change.step.event
            assert event.seq == seq + 1, f"room {room.code}: event {event.seq} came after {seq}"
            self._last_seqs[room] = event.seq
            self._ledger.announce(room.code, event)
        if mirror.match is not None and not mirror.is_stale:
            self._ledger.position(room.code, mirror.since, mirror.state)
        if isinstance(change, Restored):
            self._run.moment("resuming")
        if mirror.head.thinking is not None:
            self._run.moment("bot thinks")

    async def _act(self, room: EnteredRoom, link: Link) -> None:
        mirror = room.mirror
        assert mirror.match is not None
        number, ply, state = mirror.match.number, len(mirror.actions), mirror.state
        if self._chance.random() < 0.1:
            await self._be_refused(room, number, ply)
        if self._chance.random() < 0.1:
            await self._say(room, link)
        if state.turn_number > RESIGN_AFTER_TURNS:
            self._run.moment("last action")
            await self._resign(room)
            return
        actions, after = some_actions(state, self._chance)
        if after.is_terminal:
            self._run.moment("last action")
        if self._run.pause_s:
            await asyncio.sleep(2 * self._chance.random() * self._run.pause_s)
        async for _ in self._run.attempts():
            try:
                await room.play(actions)
                break
            except CommandError as error:
                self._run.note_refusal(error)
        self._ledger.acknowledged.append(Move(room.code, number, ply, actions))
        self._run.played(self._number)
        if self._chance.random() < 0.1:
            await self._repeat(room, self._ledger.acknowledged[-1])

    async def _resign(self, room: EnteredRoom) -> None:
        try:
            await room.resign()
        except ConnectionLostError:
            pass  # it was not sent, or nobody knows: the next change tells
        except CommandError as error:
            self._run.note_refusal(error)
            return
        self._take(room, await room.next_change())

    async def _be_refused(self, room: EnteredRoom, number: int, ply: int) -> None:
        """Send an action that is not legal, and one for a ply that was played."""
        state = room.mirror.state
        if ply == 0 or _is_legal(state, room.mirror.actions[0]):
            return
        move = Move(room.code, number, ply, (room.mirror.actions[0],))
        stale = Move(room.code, number, ply + 1, (state.action_to_string(state.legal_actions()[0]),))
        for wrong, code in ((move, None), (stale, ErrorCode.STALE_PLY)):
            try:
                await _ask_where_the_room_is(room, wrong)
            except ConnectionLostError:
                return
            except CommandError as error:
                if error.code in self._run.passing | _MOVED:
                    return
                if code not in (None, error.code):
                    raise
            else:
                raise AssertionError(f"not refused: {wrong}")
        if not _is_legal(state, move.actions[0]):
            self._ledger.refused.append(move)

    async def _repeat(self, room: EnteredRoom, move: Move) -> None:
        """Send what was played once more, as after a lost acknowledgement: it is acknowledged again."""
        try:
            await _ask_where_the_room_is(room, move)
        except ConnectionLostError:
            pass
        except CommandError as error:
            if error.code not in _MOVED:
                self._run.note_refusal(error)

    async def _say(self, room: EnteredRoom, link: Link) -> None:
        """Say something once; after a lost connection nobody knows whether it was said."""
        self._said_count += 1
        text = f"line {self._said_count} of {link.welcome.name}"
        try:
            await room.say(text)
        except UnknownOutcomeError:
            await _connected(link)
        except ConnectionLostError:
            self._ledger.unsaid.append(text)
            await _connected(link)
        except CommandError as error:
            if error.code != ErrorCode.LIMIT_REACHED:
                self._run.note_refusal(error)
            self._ledger.unsaid.append(text)
        else:
            self._ledger.said.append((room.code, text))
            self._run.moment("in play")


async def _ask_where_the_room_is(room: EnteredRoom, move: Move) -> None:
    """Send a move as it is, once, by the connection that the room is entered on."""
    message = Play(id=0, room=move.room, match=move.match, ply=move.ply, actions=tuple(move.actions))
    await room._link.request(message)


async def _connected(link: Link) -> None:
    """Wait until a lost link has come back."""
    subscription = link.subscribe()
    try:
        if link.state is LinkState.CONNECTED:
            await asyncio.sleep(0)
            return
        async for told in subscription:
            if isinstance(told, LinkRestored):
                return
    finally:
        link.unsubscribe(subscription)


def where(task: asyncio.Task[None]) -> str:
    """Say what a task waits for: the functions that it is in, from the outermost to the innermost."""
    names = []
    waiting: object = task.get_coro()
    while waiting is not None:
        frame = getattr(waiting, "cr_frame", None)
        names.append(repr(waiting) if frame is None else f"{frame.f_code.co_name}:{frame.f_lineno}")
        waiting = getattr(waiting, "cr_await", None)
    return " > ".join(names)


def _is_legal(state: State, text: str) -> bool:
    try:
        state.apply(state.string_to_action(text))
    except (NotationError, IllegalActionError):
        return False
    return True
