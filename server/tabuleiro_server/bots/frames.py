"""What the pool and its worker processes say to each other, as bytes on pipes.

A frame is a length (4 bytes, big-endian) and that many bytes of msgpack. Who says what when is left to
:mod:`~tabuleiro_server.bots.worker_process` and :mod:`~tabuleiro_server.bots.worker`.
"""

from __future__ import annotations

import asyncio
from typing import BinaryIO, Final

import msgspec

from tabuleiro.errors import BotError
from tabuleiro_server.bots.request import ThinkRequest, Worth

MAX_FRAME_BYTES: Final = 4 << 20
"""More than any match can need: an action text has at most about ten bytes."""

_HEADER_BYTES: Final = 4


class Job(msgspec.Struct, frozen=True, tag="job"):
    """Pool to worker: think. ``hang_limit_ms`` after which the worker must not live on with this job."""

    number: int
    request: ThinkRequest
    hang_limit_ms: int


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """Worker to pool, once: the worker has started."""


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """Worker to pool: the actions for the job with this number; ``worth`` is there for hints only."""

    number: int
    actions: list[str]
    worth: Worth | None = None


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """Worker to pool: the job with this number found no answer, and why. The worker goes on."""

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
