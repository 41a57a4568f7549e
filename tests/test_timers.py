"""Timers ring once; limits give way to what has arrived, on each event loop that a server may run on."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tabuleiro_server.timers import Limit, Timer, time_limit
from tests.patience import LIMIT_S

LOOPS: list[Any] = [asyncio.new_event_loop]
if sys.platform != "win32":
    import uvloop

    LOOPS.append(uvloop.new_event_loop)

STANDSTILL_S = 0.005
LONG_S = 3_600.0


def run(loop: Callable[[], asyncio.AbstractEventLoop], work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(work)


def stand_still() -> None:
    """Keep the loop from everything for a moment."""
    time.sleep(STANDSTILL_S)


async def order_after_a_standstill(arm: Callable[[Callable[[], None]], object]) -> list[str]:
    """Return what comes first when a timer is due, and a message came after the loop last looked for some."""
    loop = asyncio.get_running_loop()
    order: list[str] = []
    is_over = asyncio.Event()

    def note(what: str) -> None:
        order.append(what)
        if len(order) == 2:
            is_over.set()

    near, far = socket.socketpair()
    poked, poking = socket.socketpair()
    with near, far, poked, poking:

        def read() -> None:
            near.recv(1)
            note("input")

        def be_stopped() -> None:
            loop.remove_reader(poked)
            far.send(b"x")
            stand_still()

        loop.add_reader(near, read)
        loop.add_reader(poked, be_stopped)
        arm(lambda: note("limit"))
        poking.send(b"x")
        async with asyncio.timeout(LIMIT_S):
            await is_over.wait()
        loop.remove_reader(near)
    return order


@pytest.mark.parametrize("loop", LOOPS)
def test_what_arrived_before_a_late_limit_is_read_first(loop: Any) -> None:
    order = run(loop, order_after_a_standstill(lambda end: Limit(STANDSTILL_S / 5, end)))
    assert order == ["input", "limit"]


@pytest.mark.skipif(sys.platform == "win32", reason="no uvloop there")
def test_without_that_uvloop_lets_a_late_timer_go_first() -> None:
    """If this fails one day, limits need not wait any more."""

    def arm(end: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(STANDSTILL_S / 5, end)

    assert run(LOOPS[-1], order_after_a_standstill(arm)) == ["limit", "input"]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_cancelled_limit_never_ends_anything(loop: Any) -> None:
    async def work() -> list[str]:
        order: list[str] = []
        is_over = asyncio.Event()
        first = Limit(0, lambda: order.append("first"))
        Limit(0.001, is_over.set)
        first.cancel()
        first.cancel()
        await asyncio.wait_for(is_over.wait(), LIMIT_S)
        return order

    assert run(loop, work()) == []


async def answer_after_a_standstill() -> bytes:
    """Wait with a limit that comes while the answer lies in the socket."""
    near, far = socket.socketpair()
    with far:
        reader, writer = await asyncio.open_connection(sock=near)
        far.send(b"an answer\n")
        try:
            async with time_limit(STANDSTILL_S / 5):
                stand_still()
                return await asyncio.create_task(reader.readline())
        finally:
            writer.close()
            await writer.wait_closed()


@pytest.mark.parametrize("loop", LOOPS)
def test_an_answer_that_arrived_in_time_is_taken(loop: Any) -> None:
    """Symptom: after the server was stopped for a moment, bots made random turns though theirs was there."""
    assert run(loop, answer_after_a_standstill()) == b"an answer\n"


@pytest.mark.parametrize("loop", LOOPS)
def test_waiting_ends_where_nothing_comes(loop: Any) -> None:
    async def work() -> None:
        async with time_limit(None), time_limit(0.001):
            await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        run(loop, work())


async def test_a_timer_rings_at_the_earliest_moment_and_only_once() -> None:
    """Symptom: news waited for the moment that something later was waiting for."""
    rung: asyncio.Queue[bool] = asyncio.Queue()
    timer = Timer(lambda: rung.put_nowait(timer.is_set))
    timer.set(LONG_S)
    timer.set(0.001)
    timer.set(LONG_S)
    assert timer.is_set
    assert await asyncio.wait_for(rung.get(), LIMIT_S) is False
    assert not timer.is_set
    timer.set(0.001)
    await asyncio.wait_for(rung.get(), LIMIT_S)
    assert rung.empty()


async def test_a_stopped_timer_does_not_ring() -> None:
    rung: asyncio.Queue[str] = asyncio.Queue()
    stopped, other = Timer(lambda: rung.put_nowait("stopped")), Timer(lambda: rung.put_nowait("other"))
    stopped.set(0.001)
    stopped.stop()
    stopped.stop()
    other.set(0.002)
    assert await asyncio.wait_for(rung.get(), LIMIT_S) == "other"
    assert not stopped.is_set
