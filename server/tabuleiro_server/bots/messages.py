"""The messages between the pool and its worker processes, and their bytes on pipes.

A frame is a length (4 bytes, big-endian) and that many bytes of msgpack.
"""

from __future__ import annotations

import asyncio
from typing import BinaryIO, Final

import msgspec

from tabuleiro.errors import BotError
from tabuleiro.protocol.messages import Explanation
from tabuleiro.rules import State, registry


class ThinkRequest(msgspec.Struct, frozen=True):
    """A request for the rest of the turn of the player to move.

    ``actions`` holds the canonical texts of all actions since the start of the match. ``budget_ms`` is the time
    for the turn in milliseconds; ``None`` means the level's own limit. With ``is_hint`` the answer is the best
    turn that the search of the game finds in that time, with its evaluation; the level does not matter.
    ``explained_count`` above 0 asks for an explanation by the level, of so many candidates. ``kernels_wait_ms`` is
    the time that a level may wait for its kernels before the budget begins, ``cores`` the number of cores that it
    may think on.
    """

    room: str
    game: str
    options: dict[str, int | str]
    actions: list[str]
    level: str
    seed: int
    budget_ms: int | None = None
    is_hint: bool = False
    explained_count: int = 0
    kernels_wait_ms: int = 0
    cores: int = 1


class Evaluation(msgspec.Struct, frozen=True):
    """The evaluation of a turn, as in :class:`~tabuleiro.rules.analysis.Candidate`."""

    value: float
    is_proven: bool
    turns_to_end: int | None


def replay(request: ThinkRequest) -> State:
    """Return the position of ``request``.

    The actions were checked when they were played, so their legality is not checked again.

    Raises: GameOptionError for an unknown game or option, NotationError for a text that is no action.
    """
    state = registry.load(request.game, request.options).initial_state()
    for text in request.actions:
        state = state.child(state.string_to_action(text))
    return state


def texts_of(state: State, actions: tuple[int, ...]) -> list[str]:
    """Return the canonical texts of ``actions``, played one after the other from ``state``.

    Raises: IllegalActionError when one of them is not legal there.
    """
    texts = []
    for action in actions:
        texts.append(state.action_to_string(action))
        state = state.apply(action)
    return texts


MAX_FRAME_BYTES: Final = 4 << 20
"""More than any match needs: an action text has at most about ten bytes."""

_HEADER_BYTES: Final = 4


class Job(msgspec.Struct, frozen=True, tag="job"):
    """Pool to worker: think. The worker must not outlive ``hang_limit_ms`` with this job."""

    number: int
    request: ThinkRequest
    hang_limit_ms: int


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """Worker to pool, once: the worker has started."""


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """Worker to pool: the actions for the job with this number; only hints have ``evaluation``.

    An ``explanation`` comes without actions, and so does the ``problem`` that prevents one.
    """

    number: int
    actions: list[str]
    evaluation: Evaluation | None = None
    explanation: Explanation | None = None
    problem: str = ""


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """Worker to pool: the job with this number failed, with the reason. The worker takes the next one."""

    number: int
    reason: str


WorkerMessage = Ready | Answer | Refusal

_encoder = msgspec.msgpack.Encoder()
_job_decoder = msgspec.msgpack.Decoder(Job)
_worker_message_decoder: msgspec.msgpack.Decoder[WorkerMessage] = msgspec.msgpack.Decoder(WorkerMessage)


def encode_frame(message: Job | WorkerMessage) -> bytes:
    """Return ``message`` as a frame. Raises: BotError when it is longer than :data:`MAX_FRAME_BYTES`."""
    body = _encoder.encode(message)
    if len(body) > MAX_FRAME_BYTES:
        raise BotError(f"a frame of {len(body)} bytes is too long, at most {MAX_FRAME_BYTES} are possible")
    return len(body).to_bytes(_HEADER_BYTES, "big") + body


def read_job(stream: BinaryIO) -> Job | None:
    """Wait for the next job; ``None`` at the end of the stream, also in the middle of a frame."""
    header = stream.read(_HEADER_BYTES)
    length = int.from_bytes(header, "big")
    body = stream.read(length) if len(header) == _HEADER_BYTES else b""
    return _job_decoder.decode(body) if body and len(body) == length else None


async def receive(stream: asyncio.StreamReader) -> WorkerMessage:
    """Wait for the next message of a worker.

    Raises: BotError when the stream ends or holds anything but a message.
    """
    try:
        length = int.from_bytes(await stream.readexactly(_HEADER_BYTES), "big")
        if length > MAX_FRAME_BYTES:
            raise BotError(f"garbage from a bot worker: a frame of {length} bytes")
        return _worker_message_decoder.decode(await stream.readexactly(length))
    except asyncio.IncompleteReadError:
        raise BotError("a bot worker ended") from None
    except msgspec.MsgspecError as error:
        raise BotError(f"garbage from a bot worker: {error}") from None
