"""The people of the swarm: scripts that play or watch in one room and note all that they are told."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable

from tabuleiro.errors import CommandError, ConnectionLostError, UnknownOutcomeError
from tabuleiro.ids import Seq
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import OfferKind
from tabuleiro.protocol.messages import MatchView
from tabuleiro_client.net.room import EnteredRoom, Gone, Happened, Refreshed, Restored
from tests.e2e.ledger import Ledger, Move
from tests.e2e.random_play import RESIGN_AFTER_TURNS, some_actions

OVERTAKEN = frozenset(
    {
        ErrorCode.STALE_PLY,
        ErrorCode.NOT_YOUR_TURN,
        ErrorCode.WRONG_PHASE,
        ErrorCode.NO_OFFER,
        ErrorCode.NOT_ALLOWED,
    }
)
"""What somebody is told whom the other player, the own other device, or the flag has forestalled."""


class EnoughError(Exception):
    """A visitor has seen as much as it wanted to see."""


class Visit:
    """A stay in a room. ``patience`` is how many changes it takes in before it leaves, ``None`` for all."""

    def __init__(
        self, room: EnteredRoom, ledger: Ledger, counts: Counter[str], patience: int | None = None
    ) -> None:
        self.room = room
        self.is_gone = False
        self._ledger = ledger
        self._counts = counts
        self._patience = patience
        self._said_count = 0
        self._seq: Seq = room.mirror.since
        ledger.position(room.code, self._seq, room.mirror.state)

    @property
    def match(self) -> MatchView | None:
        """The running or last match, ``None`` before the first."""
        return self.room.mirror.match

    @property
    def place(self) -> tuple[str, int, int, int]:
        """Where the room is, as far as this client knows: phase, match, ply, revision."""
        match = self.match
        numbers = (0, 0, 0) if match is None else (match.number, match.ply, match.revision)
        return (self.room.mirror.head.phase, *numbers)

    def is_playing(self, number: int) -> bool:
        """Whether match ``number`` runs."""
        return self.place[:2] == ("playing", number)

    def is_over(self, number: int) -> bool:
        """Whether match ``number`` has ended."""
        return self.place[1] >= number and self.place[0] in ("finished", "closed")

    async def read(self) -> None:
        """Take in the next change. Raises: EnoughError."""
        change = await self.room.next_change()
        assert change is not None, f"room {self.room.code}: the link has ended"
        self._take(change)
        if self._patience is not None:
            self._patience -= 1
            if self._patience < 0:
                raise EnoughError

    async def catch_up(self) -> None:
        """Take in all that has come. Raises: EnoughError."""
        while self.room.has_unread:
            await self.read()

    async def read_until(self, is_so: Callable[[], bool]) -> None:
        """Take in changes until it is so, or the room is gone. Raises: EnoughError."""
        while not self.is_gone and not is_so():
            await self.read()

    async def say(self, name: str) -> None:
        """Say something that nobody else says."""
        self._said_count += 1
        text = f"line {self._said_count} of {name}"
        try:
            await self.room.say(text)
        except UnknownOutcomeError:
            self._counts["unknown"] += 1
        except ConnectionLostError:
            self._ledger.unsaid.append(text)
        except CommandError as error:
            if error.code != ErrorCode.LIMIT_REACHED:
                raise
            self._ledger.unsaid.append(text)
        else:
            self._ledger.said.append((self.room.code, text))

    def _take(self, change: object) -> None:
        code = self.room.code
        # Whoever comes back is owed exactly what was missed: never a snapshot, here where nothing is so old.
        assert not isinstance(change, Refreshed), f"room {code}: a mirror could not go on from event {self._seq}"
        if isinstance(change, Happened):
            event = change.step.event
            assert event.seq == self._seq + 1, f"room {code}: event {event.seq} came after {self._seq}"
            self._seq = event.seq
            self._ledger.announce(code, event)
            self._ledger.position(code, event.seq, change.step.after)
        elif isinstance(change, Restored):
            self._counts["resumed"] += 1
        elif isinstance(change, Gone):
            self.is_gone = True


class Player:
    """Somebody who plays in a room: all matches of it, or for as long as the visit lasts."""

    def __init__(
        self, visit: Visit, name: str, ledger: Ledger, chance: random.Random, counts: Counter[str]
    ) -> None:
        self._visit = visit
        self._room = visit.room
        self._name = name
        self._ledger = ledger
        self._chance = chance
        self._counts = counts
        self._wishes_count = 0

    async def play(self, matches_count: int) -> None:
        """Play that many matches, agreeing on a rematch after each but the last. Raises: EnoughError."""
        visit = self._visit
        for number in range(1, matches_count + 1):
            await visit.read_until(lambda number=number: visit.place[1] >= number)
            await self._play_match(number)
            if number < matches_count:
                await self._agree_on_rematch(number)
        await visit.read_until(lambda: visit.is_over(matches_count))
        await visit.catch_up()
        assert not visit.is_gone, f"room {self._room.code}: gone before the last match was over"

    async def _play_match(self, number: int) -> None:
        self._wishes_count = 3
        while self._visit.is_playing(number) and not self._visit.is_gone:
            place = self._visit.place
            if not await self._act():
                await self._visit.read()
            elif self._visit.place == place and not self._room.has_unread:
                # Overtaken by something that is on its way; or the connection is lost and will be restored.
                await self._visit.read()
            await self._visit.catch_up()

    async def _agree_on_rematch(self, number: int) -> None:
        while self._visit.place[1] == number and not self._visit.is_gone:
            mirror = self._room.mirror
            # Somebody who still thinks of the match before may decline the offer: it is made once more then.
            waits = any(offer.player in mirror.own_seats for offer in mirror.head.offers)
            if waits or not await self._try("rematch", lambda: self._room.offer("rematch")):
                await self._visit.read()
            await self._visit.catch_up()

    async def _act(self) -> bool:
        """Do something, if there is something to do; tells whether there was."""
        chance, mirror = self._chance, self._room.mirror
        if chance.random() < 0.03:
            await self._visit.say(self._name)
        offered = [offer for offer in mirror.head.offers if offer.player not in mirror.own_seats]
        if offered:
            accept = chance.random() < (0.1 if offered[0].kind == "draw" else 0.7)
            await self._try("answers", lambda: self._room.answer(offered[0].kind, accept=accept))
            return self._visit.place[0] == "playing"
        if self._wishes_count and chance.random() < 0.03:
            self._wishes_count -= 1
            kind: OfferKind = chance.choice(("draw", "takeback", "takeback", "takeback"))
            if not mirror.game.has_draws:
                kind = "takeback"
            await self._try("offers", lambda: self._room.offer(kind))
        if not mirror.is_my_turn:
            return False
        await self._make_turn()
        return True

    async def _make_turn(self) -> None:
        mirror, chance = self._room.mirror, self._chance
        state, match = mirror.state, mirror.match
        assert match is not None
        if state.turn_number > RESIGN_AFTER_TURNS:
            while self._visit.is_playing(match.number) and not self._visit.is_gone:
                if await self._try("resignations", self._room.resign):
                    await self._visit.read_until(lambda: not self._visit.is_playing(match.number))
                else:
                    await self._visit.read()
        elif state.actions_in_turn and self._wishes_count and chance.random() < 0.1:
            self._wishes_count -= 1
            await self._try("undos", lambda: self._room.undo(len(mirror.actions) - 1))
        else:
            actions, _ = some_actions(state, chance)
            move = Move(self._room.code, match.number, len(mirror.actions), actions, match.revision)
            if await self._try("plays", lambda: self._room.play(actions)):
                self._ledger.acknowledged.append(move)

    async def _try(self, what: str, send: Callable[[], Awaitable[None]]) -> bool:
        """Ask for something; tells whether it was done for sure, rather than forestalled or lost on the way."""
        try:
            await send()
        except CommandError as error:
            if error.code not in OVERTAKEN:
                raise
        except UnknownOutcomeError:
            self._counts["unknown"] += 1
            return False
        except ConnectionLostError:
            self._counts["not sent"] += 1
            return False
        else:
            self._counts[what] += 1
            return True
        self._counts[f"refused {what}"] += 1
        return False
