"""The language process: order, restarts, and an end that leaves nobody behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextvars import ContextVar
from pathlib import Path

import pytest
from support.patience import PATIENCE_S
from support.product.forked_process import FRESH

from internal.errors import ModelUnavailable
from internal.language.names.name_words import name_words
from internal.language.names.person_names import name_key
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process starts as in the product."""
    monkeypatch.setattr(asyncio, "create_subprocess_exec", FRESH)


@pytest.fixture
async def worker() -> AsyncIterator[LanguageWorker]:
    language = LanguageWorker(call_timeout=20)
    yield language
    await language.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_it_starts_with_the_first_call(worker: LanguageWorker) -> None:
    """No process runs until one is needed."""
    assert worker.pid is None
    assert await worker.run(name_key, " @Пётр ") == "петр"
    assert worker.pid is not None
    assert worker.pid != os.getpid()


KEPT = "__import__('internal.language.names.name_words', fromlist='_').name_words.cache_info().currsize"
"""How many names the process keeps in the words they are made of."""


async def test_it_drops_what_it_keeps_of_texts_when_asked(worker: LanguageWorker) -> None:
    """What was forgotten is not left in its memory; without a process nothing is to be done."""
    worker.forget(7)
    assert worker.pid is None
    await worker.run(name_words, "Петро Коваль")
    kept = await worker.run(eval, KEPT)
    worker.forget(7)
    assert (kept > 0, await worker.run(eval, KEPT)) == (True, 0)


async def test_what_a_function_raises_comes_back_with_its_traceback(worker: LanguageWorker) -> None:
    """A mistake in a function is the caller's to see, and the process goes on."""
    with pytest.raises(LanguageCallFailed, match="invalid literal for int"):
        await worker.run(int, "no number")
    assert await worker.run(int, "7") == 7


async def test_what_a_library_prints_does_not_break_the_pipe(worker: LanguageWorker) -> None:
    """Standard output of the process is not the pipe of answers."""
    assert await worker.run(print, "noise") is None
    assert await worker.run(os.write, 1, b"raw noise\n") == 10
    assert await worker.run(int, "7") == 7


async def test_a_process_that_dies_is_started_again_and_the_call_repeated(worker: LanguageWorker) -> None:
    """kill -9 in the middle of a call costs the caller nothing but time."""
    first = await worker.run(os.getpid)
    call = asyncio.create_task(worker.run(time.sleep, 0.4))
    await asyncio.sleep(0.1)
    os.kill(first, signal.SIGKILL)
    await call
    assert await worker.run(os.getpid) != first


async def test_a_call_that_kills_the_process_twice_fails_clearly(worker: LanguageWorker) -> None:
    """The caller gets one named error, and the next call works."""
    with pytest.raises(ModelUnavailable, match="ended during a call"):
        await worker.run(os._exit, 3)
    assert await worker.run(int, "7") == 7


async def test_a_call_that_hangs_is_ended() -> None:
    """A call longer than the limit counts as the death of its process."""
    worker = LanguageWorker(call_timeout=0.3)
    try:
        with pytest.raises(ModelUnavailable, match="no answer in"):
            await worker.run(time.sleep, 30)
        assert worker.pid is None
    finally:
        await worker.close()


async def test_a_call_that_nobody_waits_for_is_soon_ended() -> None:
    """One text over which the rules hang keeps the others waiting for a moment, not for its whole time."""
    worker = LanguageWorker(call_timeout=60, abandoned_timeout=0.2)
    try:
        await worker.run(int, "0")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(worker.run(time.sleep, 50), 0.1)
        assert await asyncio.wait_for(worker.run(int, "7"), PATIENCE_S) == 7
    finally:
        await worker.close()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A pipe: who reads it goes on only when somebody writes into it."""
    os.mkfifo(tmp_path / "gate")
    return tmp_path / "gate"


async def test_a_query_waits_for_no_bulk_work(worker: LanguageWorker, gate: Path) -> None:
    """The bulk call in flight ends only because a query is answered meanwhile; what waits comes in its order."""
    bulk = [asyncio.create_task(worker.run_bulk(gate.read_text)), asyncio.create_task(worker.run_bulk(int, "7"))]
    await asyncio.sleep(0)
    assert await worker.run(gate.write_text, "said") == 4
    assert await asyncio.gather(*bulk) == ["said", 7]


async def test_a_query_waits_for_no_query_of_another_owner(gate: Path) -> None:
    """One owner's text over which the rules take long costs nobody else a turn; his own queries come in order."""
    owner = ContextVar("owner", default="one")
    worker = LanguageWorker(owner.get, call_timeout=20)
    try:
        hostile = [asyncio.create_task(worker.run(gate.read_text)), asyncio.create_task(worker.run(gate.exists))]
        await asyncio.sleep(0)
        owner.set("other")
        assert await worker.run(gate.write_text, "said") == 4
        assert await asyncio.gather(*hostile) == ["said", True]
    finally:
        await worker.close()


async def test_owners_take_turns_with_bulk_work() -> None:
    """Whoever has much to do is asked for the next piece after everybody else has had one."""
    owner, finished = ContextVar("owner", default=""), list[str]()
    worker = LanguageWorker(owner.get)

    async def work(name: str) -> None:
        owner.set(name)
        await worker.run_bulk(int, "7")
        finished.append(name)

    try:
        await asyncio.gather(*map(work, "aaaaabc"))
    finally:
        await worker.close()
    assert finished[:2] == ["a", "a"]
    assert sorted(finished[2:4]) == ["b", "c"]


async def test_a_call_that_kills_the_process_fails_no_other() -> None:
    """What was in flight beside it is tried again alone."""
    owner = ContextVar("owner", default="one")
    worker = LanguageWorker(owner.get, call_timeout=20)
    try:
        await worker.run(int, "0")
        deadly = [asyncio.create_task(worker.run(os._exit, 3)), asyncio.create_task(worker.run_bulk(os._exit, 3))]
        owner.set("other")
        other = asyncio.create_task(worker.run(time.sleep, 0.05))
        results = await asyncio.gather(*deadly, other, return_exceptions=True)
    finally:
        await worker.close()
    assert [type(result) for result in results] == [ModelUnavailable, ModelUnavailable, type(None)]


async def test_the_queue_is_bounded() -> None:
    """More waiting calls than allowed are refused at once."""
    worker = LanguageWorker(max_waiting=2)
    try:
        await worker.run(int, "0")
        calls = [asyncio.create_task(worker.run(time.sleep, 0.05)) for _ in range(3)]
        await asyncio.sleep(0)
        results = await asyncio.gather(*calls, return_exceptions=True)
    finally:
        await worker.close()
    assert [type(result) for result in results] == [type(None), type(None), ModelUnavailable]


async def test_a_caller_that_gives_up_costs_nobody_else_anything(worker: LanguageWorker) -> None:
    """A cancelled call neither runs when it still waits nor confuses the answers of others."""
    await worker.run(int, "0")
    running = asyncio.create_task(worker.run(time.sleep, 0.1))
    waiting = asyncio.create_task(worker.run(os._exit, 3))
    await asyncio.sleep(0.02)
    running.cancel()
    waiting.cancel()
    assert await worker.run(int, "7") == 7
    assert running.cancelled()
    assert waiting.cancelled()


async def test_close_ends_the_process_and_fails_what_waits() -> None:
    """After close no process is left, waiting callers are told, and new calls are refused."""
    worker = LanguageWorker()
    pid = await worker.run(os.getpid)
    calls = [asyncio.create_task(worker.run(time.sleep, 30)) for _ in range(2)]
    await asyncio.sleep(0.05)
    await worker.close()
    await worker.close()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [ModelUnavailable, ModelUnavailable]
    assert not alive(pid)
    with pytest.raises(ModelUnavailable, match="closed"):
        await worker.run(int, "7")


PARENT = """
import asyncio, os, time
from internal.language.worker.process_pool import LanguageWorker

async def main():
    worker = LanguageWorker()
    print(await worker.run(os.getpid), flush=True)
    asyncio.create_task(worker.run(time.sleep, 0.3))
    await asyncio.sleep(60)

asyncio.run(main())
"""


def start_parent() -> tuple[subprocess.Popen[str], int]:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


def test_the_process_dies_with_its_parent() -> None:
    """kill -9 of the parent leaves no orphan, even in the middle of a call."""
    parent, child = start_parent()
    with parent:
        parent.kill()
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def test_an_interrupt_of_the_group_does_not_reach_the_process() -> None:
    """Ctrl+C goes to the whole group of a terminal; the language process is in a group of its own and ignores it."""
    parent, child = start_parent()
    with parent:
        try:
            assert os.getpgid(child) != os.getpgid(parent.pid)
            os.kill(child, signal.SIGINT)
            time.sleep(0.1)
            assert alive(child)
        finally:
            parent.kill()
