"""The pool, with workers that do what the test tells them (see puppet.py)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tabuleiro.errors import BotError
from tabuleiro.ids import AccountId
from tabuleiro.rules import registry
from tabuleiro_server.bots.messages import ThinkRequest
from tabuleiro_server.bots.pool import LOWEST_PRIORITY, BotPool, Thought
from tabuleiro_server.bots.queue import NOBODY, Claim, Rank
from tests.bots.puppet_stage import LIMIT_S, Puppet, Stage, open_stage

LONG_MS = 60_000
SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}


@asynccontextmanager
async def open_pool(
    stage: Stage, worker_count: int = 1, think_limit_ms: int = LONG_MS, core_count: int = 1
) -> AsyncIterator[BotPool]:
    pool = BotPool(worker_count, think_limit_ms, core_count=core_count, command=stage.command)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with open_stage() as opened:
        yield opened


def is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def request(room: str = "A", *actions: str, level: str = "random", budget_ms: int | None = None) -> ThinkRequest:
    return ThinkRequest(room, "virus-wars", SMALL, list(actions), level, 1, budget_ms)


def ask(pool: BotPool, wanted: ThinkRequest, claim: Claim = NOBODY) -> asyncio.Task[Thought]:
    return asyncio.create_task(pool.think(wanted, claim=claim))


def claim(rank: Rank, address: str = "", account: str = "") -> Claim:
    return Claim(rank, address, AccountId(account))


async def answer_of(task: asyncio.Task[Thought]) -> Thought:
    return await asyncio.wait_for(task, LIMIT_S)


async def thinks(puppet: Puppet, task: asyncio.Task[Thought], room: str = "A") -> Thought:
    """Let a puppet do what ``task`` waits for, which must be the next job it gets, in ``room``."""
    assert (await puppet.job())[0] == room
    puppet.do("answer")
    thought = await answer_of(task)
    assert not thought.is_fallback
    return thought


async def leave(task: asyncio.Task[Thought]) -> None:
    """Let the asker go away."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def assert_legal_turn(thought: Thought, wanted: ThinkRequest) -> None:
    state = registry.load(wanted.game, wanted.options).initial_state()
    for text in wanted.actions:
        state = state.apply(state.string_to_action(text))
    turn = state.turn_number
    for text in thought.actions:
        assert state.turn_number == turn
        state = state.apply(state.string_to_action(text))
    assert state.is_terminal or state.turn_number == turn + 1


async def test_workers_are_started_by_the_first_request_and_kept_for_the_next(stage: Stage) -> None:
    async with open_pool(stage, worker_count=3) as pool:
        assert pool.counts.started_workers_count == 0
        assert pool.worker_pids == ()
        first = ask(pool, request())
        puppet = await stage.enter()
        assert (await puppet.job()).startswith("A 0 ")
        puppet.do("answer")
        thought = await answer_of(first)
        assert (thought.actions, thought.is_fallback) == (("a1", "b1"), False)
        assert pool.worker_pids == (puppet.pid,)
        second = ask(pool, request("B", "a3"))
        assert (await puppet.job()).startswith("B 1 ")
        puppet.do("answer")
        await answer_of(second)
        assert pool.counts.started_workers_count == 1


async def test_worker_of_the_first_request_can_be_started_before_it(stage: Stage) -> None:
    async with open_pool(stage, worker_count=3) as pool:
        for _ in range(2):
            pool.prepare()
        puppet = await stage.enter()
        await thinks(puppet, ask(pool, request()))
        assert (pool.worker_pids, pool.counts.started_workers_count) == ((puppet.pid,), 1)


async def test_several_rooms_think_at_once_but_no_more_than_there_are_workers(stage: Stage) -> None:
    async with open_pool(stage, worker_count=2) as pool:
        tasks = [ask(pool, request(room)) for room in "ABC"]
        puppets = [await stage.enter(), await stage.enter()]
        jobs = {(await puppet.job())[0] for puppet in puppets}
        assert jobs == {"A", "B"}
        assert (pool.counts.thinking_count, pool.counts.waiting_count) == (2, 1)
        puppets[1].do("answer")
        assert (await puppets[1].job())[0] == "C"
        for puppet in puppets:
            puppet.do("answer")
        assert not any([(await answer_of(task)).is_fallback for task in tasks])
        assert stage.is_quiet
        assert set(pool.worker_pids) == {puppet.pid for puppet in puppets}


@pytest.mark.parametrize(("core_count", "expected"), [(1, [1, 1]), (2, [1, 1]), (4, [3, 2]), (64, [8, 8])])
async def test_a_bot_thinks_on_the_cores_without_another_bot_but_one(
    stage: Stage, core_count: int, expected: list[int]
) -> None:
    async with open_pool(stage, worker_count=2, core_count=core_count) as pool:
        tasks, found = [], []
        for room in "AB":
            tasks.append(ask(pool, request(room), claim(Rank.PLAYED)))
            puppet = await stage.enter()
            found.append(int((await puppet.job()).split()[3]))
        assert found == expected
    await ended(tasks)


async def test_bots_that_play_among_themselves_think_on_one_core_each(stage: Stage) -> None:
    async with open_pool(stage, core_count=8) as pool:
        task = ask(pool, request(), claim(Rank.WATCHED))
        puppet = await stage.enter()
        assert (await puppet.job()).split()[3] == "1"
    await ended([task])


async def test_a_room_with_many_requests_does_not_starve_another(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        many = [ask(pool, request("A", *["a3"] * number)) for number in range(5)]
        puppet = await stage.enter()
        jobs = [await puppet.job()]
        other = [ask(pool, request("B")), ask(pool, request("C"))]
        while len(jobs) < 7:
            puppet.do("answer")
            jobs.append(await puppet.job())
        puppet.do("answer")
        await asyncio.wait_for(asyncio.gather(*many, *other), LIMIT_S)
        assert "".join(job[0] for job in jobs[:4]) in ("AABC", "ABCA")
        assert [job[:3] for job in jobs if job[0] == "A"] == ["A 0", "A 1", "A 2", "A 3", "A 4"]


@pytest.mark.parametrize(
    "word", ["end", "half-a-frame-and-end", "no-msgpack", "text", "wrong-number", "no-actions", "ready"]
)
async def test_a_worker_that_ends_or_sends_garbage_is_replaced_and_the_turn_asked_again(
    stage: Stage, word: str
) -> None:
    async with open_pool(stage) as pool:
        task = ask(pool, request("A", "a3"))
        bad = await stage.enter()
        asked = await bad.job()
        bad.do(word)
        good = await stage.enter()
        await bad.end()
        assert await good.job() == asked
        good.do("answer")
        assert not (await answer_of(task)).is_fallback
        assert pool.worker_pids == (good.pid,)
        assert pool.counts.failures_count == 1


async def test_a_worker_killed_while_thinking_is_replaced_and_the_turn_asked_again(stage: Stage) -> None:
    async with open_pool(stage, worker_count=2) as pool:
        task, other = ask(pool, request("A")), ask(pool, request("B"))
        puppets = {(await puppet.job())[0]: puppet for puppet in (await stage.enter(), await stage.enter())}
        os.kill(puppets["A"].pid, signal.SIGKILL)
        again = await stage.enter()
        await thinks(again, task)
        # The other room did not notice.
        assert not other.done()
        puppets["B"].do("answer")
        assert not (await answer_of(other)).is_fallback
        assert set(pool.worker_pids) == {again.pid, puppets["B"].pid}


async def test_a_worker_killed_while_idle_is_replaced(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        first = ask(pool, request())
        puppet = await stage.enter()
        await thinks(puppet, first)
        os.kill(puppet.pid, signal.SIGKILL)
        second = ask(pool, request())
        again = await stage.enter()
        await thinks(again, second)


async def test_a_hung_worker_is_killed_and_after_the_second_failure_a_legal_turn_is_given(stage: Stage) -> None:
    async with open_pool(stage, think_limit_ms=100) as pool:
        wanted = request("A", "a3", "a2")
        task = ask(pool, wanted)
        hung = [await stage.enter()]
        await hung[0].end()
        hung.append(await stage.enter())
        await hung[1].end()
        thought = await answer_of(task)
        assert thought.is_fallback
        assert_legal_turn(thought, wanted)
        assert (pool.counts.failures_count, pool.counts.fallbacks_count) == (2, 1)
        assert pool.worker_pids == ()


async def test_a_level_that_fails_costs_its_own_request_and_not_the_worker(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        wanted = request()
        task = ask(pool, wanted)
        puppet = await stage.enter()
        for _ in range(2):
            await puppet.job()
            puppet.do("refuse")
        thought = await answer_of(task)
        assert thought.is_fallback
        assert_legal_turn(thought, wanted)
        assert pool.worker_pids == (puppet.pid,)
        assert pool.counts.started_workers_count == 1


async def test_without_patience_a_turn_is_made_at_once_and_no_worker_asked(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        wanted = request()
        thought = await asyncio.wait_for(pool.think(wanted, 0), LIMIT_S)
        assert thought.is_fallback
        assert_legal_turn(thought, wanted)
        assert (pool.worker_pids, pool.counts.fallbacks_count) == ((), 1)
        assert stage.is_quiet


async def test_a_worker_that_answers_too_late_for_its_asker_serves_the_next(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        first = request("A")
        late = asyncio.create_task(pool.think(first, 1))
        puppet = await stage.enter_starting()
        assert (await answer_of(late)).is_fallback
        puppet.do("ready")
        next_one = ask(pool, request("B"))
        await thinks(puppet, next_one, "B")
        assert pool.counts.started_workers_count == 1


async def test_a_worker_that_answers_a_moment_after_its_asker_left_is_kept(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        task = ask(pool, request("A"))
        puppet = await stage.enter()
        await puppet.job()
        task.cancel()
        puppet.do("answer")
        other = ask(pool, request("B"))
        await thinks(puppet, other, "B")
        assert pool.worker_pids == (puppet.pid,)


async def test_the_budget_of_a_worker_ends_before_the_limit_of_the_pool(stage: Stage) -> None:
    async with open_pool(stage, think_limit_ms=LONG_MS) as pool:
        budgets = []
        puppet = None
        for budget_ms in (None, 10 * LONG_MS, 1234, 0, -5):
            task = ask(pool, request(budget_ms=budget_ms))
            puppet = puppet or await stage.enter()
            budgets.append(int((await puppet.job()).split()[2]))
            puppet.do("answer")
            await answer_of(task)
        assert budgets == [LONG_MS * 3 // 4, LONG_MS * 3 // 4, 1234, 0, 0]


@pytest.mark.slow
async def test_a_worker_hangs_when_it_overruns_a_short_budget_by_far(stage: Stage) -> None:
    async with open_pool(stage, think_limit_ms=100 * LONG_MS) as pool:
        task = ask(pool, request(budget_ms=0))
        for _ in range(2):
            await (await stage.enter()).end()
        assert (await answer_of(task)).is_fallback


async def test_cancelling_a_running_request_frees_its_worker_for_the_next(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        task = ask(pool, request("A"))
        puppet = await stage.enter()
        await puppet.job()
        await leave(task)
        await puppet.end()
        other = ask(pool, request("B"))
        again = await stage.enter()
        await thinks(again, other, "B")
        assert pool.counts.failures_count == 0


async def test_a_request_cancelled_in_the_queue_never_reaches_a_worker(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        tasks = [ask(pool, request(room)) for room in "ABC"]
        puppet = await stage.enter()
        assert (await puppet.job())[0] == "A"
        await leave(tasks[1])
        assert pool.counts.waiting_count == 1
        puppet.do("answer")
        await thinks(puppet, tasks[2], "C")


async def test_a_request_cancelled_while_its_worker_starts_leaves_the_worker_to_the_next(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        task = ask(pool, request("A"))
        puppet = await stage.enter_starting()
        await leave(task)
        other = ask(pool, request("B"))
        puppet.do("ready")
        await thinks(puppet, other, "B")


async def test_stop_ends_every_worker_and_fails_what_waits(stage: Stage) -> None:
    async with open_pool(stage, worker_count=2) as pool:
        idle = ask(pool, request("A"))
        first = await stage.enter()
        await thinks(first, idle)
        tasks = [ask(pool, request(room)) for room in "BCD"]
        second = await stage.enter()
        await first.job()
        await second.job()
        await asyncio.wait_for(pool.stop(), LIMIT_S)
        assert pool.worker_pids == ()
        assert not is_process(first.pid)
        assert not is_process(second.pid)
        for task in tasks:
            with pytest.raises(BotError, match="stopped"):
                await answer_of(task)
        with pytest.raises(BotError, match="not running"):
            await pool.think(request())
        await pool.stop()


@pytest.mark.parametrize("step_count", [0, 1, 2, 3, 4, 6, 8])
async def test_stop_waits_for_the_end_of_a_worker_whose_asker_left_a_moment_before(
    stage: Stage, step_count: int
) -> None:
    # Seen as a process that nobody had waited for, when a program ended while its bots were thinking.
    async with open_pool(stage) as pool:
        task = ask(pool, request())
        puppet = await stage.enter()
        await puppet.job()
        task.cancel()
        for _ in range(step_count):
            await asyncio.sleep(0)
        await asyncio.wait_for(pool.stop(), LIMIT_S)
        assert not is_process(puppet.pid)


async def test_stop_ends_a_worker_that_is_just_starting(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        task = ask(pool, request())
        puppet = await stage.enter_starting()
        await asyncio.wait_for(pool.stop(), LIMIT_S)
        assert not is_process(puppet.pid)
        with pytest.raises(BotError, match="stopped"):
            await answer_of(task)


async def test_an_answer_ends_the_backoff(stage: Stage) -> None:
    pauses_s: list[float] = []

    async def pause(delay_s: float) -> None:
        pauses_s.append(delay_s)

    pool = BotPool(1, LONG_MS, command=stage.command, pause=pause)
    await pool.start()
    task = ask(pool, request())
    for _ in range(2):
        await stage.enter("end")
    assert (await answer_of(task)).is_fallback
    for _ in range(2):
        task = ask(pool, request())
        puppet = await stage.enter()
        await thinks(puppet, task)
        os.kill(puppet.pid, signal.SIGKILL)
        await puppet.end()
    await pool.stop()
    assert pauses_s == [0.1]


MALLORY = "6.6.6.6"


async def test_a_player_waits_for_none_of_the_bots_that_play_among_themselves(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: twenty rooms of bots alone, made by one guest, cost another guest 14 to 18 s a turn."""
    monkeypatch.setattr("tabuleiro_server.bots.pool.LOWEST_PRIORITY", LOWEST_PRIORITY)
    async with open_pool(stage) as pool:
        watched = [ask(pool, request(f"{number}"), claim(Rank.WATCHED, MALLORY)) for number in range(20)]
        other = await stage.enter()
        await other.job()
        played = ask(pool, request("A"), claim(Rank.PLAYED, "192.0.2.7"))
        puppet = await stage.enter()
        await thinks(puppet, played)
        if hasattr(os, "getpriority"):
            assert os.getpriority(os.PRIO_PROCESS, other.pid) == LOWEST_PRIORITY
            assert os.getpriority(os.PRIO_PROCESS, puppet.pid) < LOWEST_PRIORITY
        assert not any(task.done() for task in watched)
    await ended(watched)


async def test_a_player_waits_for_one_of_the_twenty_rooms_of_another(stage: Stage) -> None:
    async with open_pool(stage) as pool:
        many = [
            ask(pool, request(f"{number}"), claim(Rank.PLAYED, MALLORY, f"mallory-{number}"))
            for number in range(20)
        ]
        puppet = await stage.enter()
        await puppet.job()
        played = ask(pool, request("A"), claim(Rank.PLAYED, "192.0.2.7"))
        await asyncio.sleep(0)
        assert pool.counts.waiting_count == 20
        puppet.do("answer")
        rooms = [(await puppet.job())[0]]
        if rooms != ["A"]:
            puppet.do("answer")
            rooms.append((await puppet.job())[0])
        assert rooms[-1] == "A"
        puppet.do("answer")
        await answer_of(played)
    await asyncio.gather(*many, return_exceptions=True)


async def ended(tasks: list[asyncio.Task[Thought]]) -> None:
    """Wait for what was asked of a pool that has stopped."""
    assert all(isinstance(end, BotError) for end in await asyncio.gather(*tasks, return_exceptions=True))


async def test_the_crowd_counts_what_comes_first_and_not_all_that_wait(stage: Stage) -> None:
    async with open_pool(stage, worker_count=2) as pool:
        claims = {rank: claim(rank, MALLORY) for rank in Rank}
        assert [pool.crowd(each) for each in claims.values()] == [0.5, 1, 1]
        tasks = [ask(pool, request(f"{number}"), claims[Rank.PLAYED]) for number in range(12)]
        for _ in range(2):
            await (await stage.enter()).job()
        tasks.append(ask(pool, request("W"), claims[Rank.WATCHED]))
        await (await stage.enter()).job()
        tasks.append(ask(pool, request("X"), claims[Rank.WATCHED]))
        await asyncio.sleep(0)
        assert pool.counts.waiting_count == 11
        assert pool.crowd(claims[Rank.PLAYED]) == (2 + 10 + 1) / 2
        assert pool.crowd(claim(Rank.PLAYED, "192.0.2.7")) == (2 + 1 + 1) / 2
        assert pool.crowd(claims[Rank.ALONE]) == 1 + 1 + 1
        assert pool.waiting_addresses_count == 1
    await ended(tasks)


async def test_bots_that_nobody_watches_rest_between_their_turns(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_pool(stage) as pool:
        tasks = [ask(pool, request(room), claim(Rank.ALONE)) for room in "AB"]
        puppet = await stage.enter()
        await thinks(puppet, tasks[0])
        watched = ask(pool, request("W"), claim(Rank.WATCHED))
        await thinks(puppet, watched, "W")
        assert not tasks[1].done()
    await ended(tasks[1:])


async def test_bots_that_nobody_watches_go_on_after_their_rest(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabuleiro_server.bots.pool.REST_MIN_S", 0.0)
    monkeypatch.setattr("tabuleiro_server.bots.pool.RESTS_COUNT", 0)
    async with open_pool(stage) as pool:
        tasks = [ask(pool, request(room), claim(Rank.ALONE)) for room in "ABC"]
        puppet = await stage.enter()
        for room, task in zip("ABC", tasks, strict=True):
            await thinks(puppet, task, room)
