"""The standard output as other programs need it and leave it: data, and nobody who reads it any more.

What is written there is left to :mod:`tabuleiro_client.line.terminal` and the commands.
"""

from __future__ import annotations

import asyncio
import io
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import IO, Any, TypeVar

ResultT = TypeVar("ResultT")


def write_data(text: str) -> None:
    """Write ``text`` for other programs: in UTF-8 whatever the encoding of the terminal, and no letter is lost."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # something else stands in its place
        sys.stdout.write(text)
    else:
        buffer.write(text.encode())
        buffer.flush()


def let_go(*descriptors: int) -> None:
    """Let what is written to these open files go nowhere from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


async def while_output_is_taken(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Do ``work``, until nobody reads the standard output any more; Ctrl-C ends it also while nobody does.

    Raises: BrokenPipeError as soon as the output is closed; as ``work``.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    gone = asyncio.Event()

    def stop() -> None:
        gone.set()
        task.cancel()

    def tell() -> None:
        loop.call_soon_threadsafe(stop)

    descriptor = _descriptor(sys.stdout)
    with _watched(descriptor, tell), _interruptible(descriptor):
        try:
            return await work
        except asyncio.CancelledError:
            if not gone.is_set():
                raise
            task.uncancel()
            raise BrokenPipeError from None


@contextmanager
def _watched(descriptor: int | None, tell: Callable[[], None]) -> Iterator[None]:
    """Have ``tell`` called, by a thread, once the other side of a pipe, socket or terminal is closed."""
    if sys.platform == "win32" or descriptor is None or not _has_other_side(descriptor):
        yield
        return
    end, ending = os.pipe()

    def watch() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)
        poll.register(end, 0)
        found = dict(poll.poll())
        if end not in found and found[descriptor] & (select.POLLERR | select.POLLHUP):
            tell()

    watching = threading.Thread(target=watch, name="output watch", daemon=True)
    watching.start()
    try:
        yield
    finally:
        os.close(ending)
        watching.join()
        os.close(end)


@contextmanager
def _interruptible(descriptor: int | None) -> Iterator[None]:
    """Let an interrupt give up an output that takes nothing: a write under way, and the last words.

    A write is begun again after a signal, by then to nowhere; the loop that answers the signal waits for it.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or descriptor is None or not callable(before) or not is_main:
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not select.select([], [descriptor], [], 0)[1]:
            let_go(descriptor)
        before(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _has_other_side(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _descriptor(stream: IO[str]) -> int | None:
    """Return the number of the open file behind ``stream``, ``None`` if there is none."""
    try:
        return stream.fileno()
    except (io.UnsupportedOperation, ValueError):
        return None
