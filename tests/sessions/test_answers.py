"""Each request gets exactly one answer, in whatever order clients ask, leave, and end matches."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from tabuleiro.errors import BotError, CommandError
from tabuleiro.protocol import messages
from tabuleiro.protocol.messages import Error, HintGiven, Ok, RoomEntered
from tabuleiro.settings import RoomSettings
from tests.net.protocol_page import client_examples
from tests.patience import LIMIT_S

HINT = HintGiven(("a3",), 0.5)
REQUESTS_COUNT = 200
OFTEN = (messages.TakeHint, messages.Play, messages.JoinRoom, messages.WatchRoom)


class Asker:
    """A client that sends one random request after the other, each about a room that exists."""

    def __init__(self, stage: Any, name: str, codes: list[str], chance: random.Random) -> None:
        self.client = stage.client(name)
        self.asked_count = 0
        self._stage = stage
        self._codes = codes
        self._chance = chance
        self._last: Any = None
        self._examples = [
            example
            for example in client_examples()
            for _ in range(10 if isinstance(example, OFTEN) else 1)
            if not isinstance(example, messages.Hello)
        ]

    @property
    def hinted_count(self) -> int:
        """How many hints it got."""
        return sum(isinstance(said, Ok) and said.result == HINT for said in self.client.heard)

    async def ask(self, request_id: int) -> None:
        self.asked_count += 1
        message = replace(self._next(), id=request_id)
        if isinstance(message, messages.CreateRoom | messages.QuickPlay):
            message = replace(message, settings=RoomSettings(hints=True))
        if hasattr(message, "room") and not isinstance(message, messages.LeaveRoom):
            message = replace(message, room=self._chance.choice(self._codes[-2:]))
            message = await self._fitting(message)
        self._last = message
        heard_count = len(self.client.heard)
        answering = self.client.session.receive(self.client.codec.encode(message))
        if answering is not None:
            await asyncio.wait([answering])
        for said in self.client.heard[heard_count:]:
            if isinstance(said, Ok) and isinstance(said.result, RoomEntered):
                self._codes.append(said.result.head.room)

    def _next(self) -> Any:
        """Return an example; often one that leaves the room of the last request."""
        is_hint_wanted = isinstance(self._last, messages.TakeHint)
        if hasattr(self._last, "room") and self._chance.random() < (0.5 if is_hint_wanted else 0.1):
            return messages.LeaveRoom(id=0, room=self._last.room)
        return self._chance.choice(self._examples)

    async def _fitting(self, message: Any) -> Any:
        """Return the request as one that the room may grant, if it is about a match."""
        try:
            match = (await self._stage.room(message.room)).state.match
        except CommandError:
            return message
        if match is None or not hasattr(message, "match"):
            return message
        fields: dict[str, Any] = {"match": match.number}
        if hasattr(message, "ply"):
            fields["ply"] = len(match.actions)
        if hasattr(message, "revision"):
            fields["revision"] = match.revision
        if isinstance(message, messages.Play) and match.state.legal_actions():
            action = self._chance.choice(match.state.legal_actions())
            fields["actions"] = (match.state.action_to_string(action),)
        return replace(message, **fields)


@pytest.mark.parametrize("seed", range(6))
async def test_each_request_has_exactly_one_answer(open_stage: Any, seed: int) -> None:
    chance = random.Random(seed)
    async with open_stage(rooms_per_account_count=100) as stage:
        host = stage.client("ana")
        codes = [(await host.create(settings=RoomSettings(hints=True))).head.room]
        askers = [Asker(stage, name, codes, chance) for name in ("ana", "ana", "rui")]

        async def ask_all(asker: Asker) -> None:
            # Most hints are overtaken by what the others do: it goes on until one has reached its asker.
            while asker.asked_count < REQUESTS_COUNT or not any(other.hinted_count for other in askers):
                await asker.ask(asker.asked_count)
                # Room for hints to be found, and flood limits to pass, between any two requests.
                stage.now_ms += chance.choice((0, 200, 6_000))
                if stage.hints._pending and chance.random() < 0.3:
                    stage.suggested.put_nowait(chance.choice((HINT, HINT, HINT, BotError("dead"))))
                    await asyncio.sleep(0)

        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*map(ask_all, askers))
            await stage.hints.stop()
        kinds: Counter[str] = Counter()
        for asker in askers:
            answers = [said for said in asker.client.heard if isinstance(said, Ok | Error)]
            assert Counter(answer.id for answer in answers) == dict.fromkeys(range(asker.asked_count), 1)
            assert asker.client.faults == []
            kinds.update(answer.code if isinstance(answer, Error) else "ok" for answer in answers)
        assert kinds["ok"] > REQUESTS_COUNT / 4
        assert sum(asker.hinted_count for asker in askers)
