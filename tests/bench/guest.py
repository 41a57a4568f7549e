"""A guest of a tabuleiro server, and the match that everybody plays."""

from __future__ import annotations

import random
from typing import Any, Final

import msgspec

from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.messages import ClientMessage, Error, Hello, Ok
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro.rules import registry
from tests.bench.wire import WireClient

GAME: Final = "minefield"
OPTIONS: Final[dict[str, int | str]] = {"size": 19, "rules": "beginner"}
CODEC: Final = MsgpackCodec()


class Happened(msgspec.Struct):
    """The part of an event that the load needs."""

    type: str = ""
    ply: int | None = None
    match: int | None = None


class Numbered(msgspec.Struct):
    """An event with its number in the room."""

    event: Happened


class Told(msgspec.Struct):
    """The part of a server's message that the load needs."""

    type: str
    id: int | None = None
    events: tuple[Numbered, ...] = ()
    message: str = ""


TOLD: Final = msgspec.msgpack.Decoder(Told)


class Guest:
    """A guest of a tabuleiro server."""

    def __init__(self, client: WireClient) -> None:
        self.client = client
        self._id = 0

    @classmethod
    async def arrive(cls, url: str, name: str) -> Guest:
        """Connect and say hello."""
        guest = cls(await WireClient.connect(url, SUBPROTOCOL_MSGPACK))
        await guest.ask(Hello(id=0, name=name))
        return guest

    async def ask(self, message: ClientMessage) -> Any:
        """Send a request and return what its answer carries."""
        self._id += 1
        self.client.send(CODEC.encode(msgspec.structs.replace(message, id=self._id)))
        while True:
            answer = CODEC.decode_server(await self.client.receive())
            if isinstance(answer, Error):
                raise ConnectionError(f"{answer.code}: {answer.message}")
            if isinstance(answer, Ok) and answer.id == self._id:
                return answer.result


def one_match(seed: int) -> list[str]:
    """The actions of a random match."""
    chance, state = random.Random(seed), registry.load(GAME, OPTIONS).initial_state()
    texts = []
    while not state.is_terminal:
        action = chance.choice(state.legal_actions())
        texts.append(state.action_to_string(action))
        state = state.child(action)
    return texts
