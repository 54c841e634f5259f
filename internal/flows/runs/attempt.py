"""One attempt at a run: claimed, asked, its reply stored and applied once; or retried later, or parked as dead."""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.access import limits
from internal.agents.model import AgentReply
from internal.config.settings import RunsConfig
from internal.errors import (
    LaplacedError,
    ModelAccessDenied,
    ModelContextExceeded,
    ModelRefused,
    ModelReplyInvalid,
    ModelReplyTruncated,
    ModelUnavailable,
)
from internal.events import repository as events
from internal.events.trigger import caused_by
from internal.events.trigger_events import triggered_by
from internal.flows.runs.handler import Effects, Prepared, RunHandler, StaleInput, StaleResolution, run_links
from internal.flows.runs.joint_requests import Replies, Together
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.knowledge import episode_repository as episodes
from internal.scheduling import run_repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.scheduling.run import DAILY_COST, SUSPECT, Run, RunState, claim_of
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)

COST_RECHECK = timedelta(minutes=10)
"""Time between two checks whether the owner's daily cost allows archival again."""


_TRIED_AGAIN: Final = 2
"""Subtracted from the interruptions of a parked run: one for the void claim, and one to allow another attempt."""


class CrashLoop(LaplacedError):
    """The program ended during this run as often as runs are tried, though no other run was at work."""


Notify = Callable[[Connection, int, str, str, dict[str, str], datetime], None]
"""Puts a sentence for a user into the outbox: (connection, user_id, phrase key, dedupe key, links, now)."""


class RunObserver(Protocol):
    def agent_run(self, agent: str, outcome: str) -> None:
        """`outcome` is applied, halved, stale, outage, denied, failed or dead."""


class RunAttempts:
    """Makes attempts at runs, several at once."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        config: RunsConfig,
        observer: RunObserver,
        daily_cost_usd: float,
        notify: Notify,
        together: Together,
        worker: str | None = None,
    ) -> None:
        """`worker` is the name of this process if others may work on the same store, else None."""
        self._database, self._clock, self._worker = database, clock, worker
        self._config, self._observer, self._daily_cost = config, observer, daily_cost_usd
        self._notify, self._together = notify, together
        self._outages: dict[str, int] = {}
        self._answers: dict[str, int] = {}
        self._answers_at_outage: dict[str, int] = {}

    async def make(self, handler: RunHandler[Any, Any], run: Run) -> None:
        """Claims the run, unless it is taken, and makes one attempt. Never raises."""
        try:
            # A run that begins while a command is handled is caused by its own input, not by the command.
            with acting_for(run.user_id), triggered_by(None):
                claimed = await self._claim(handler, run)
                if claimed is not None:
                    await self._attempt(handler, claimed)
        except Exception:  # outermost handler of a run: it stays claimed in the database and is due at the next tick
            log.exception("run_interrupted", extra={"run": run.id, "agent": handler.agent})
            # Its place stays taken for a moment, as a failing database would otherwise be queried without a pause.
            await asyncio.sleep(self._config.retry_base.total_seconds())

    async def _claim(self, handler: RunHandler[Any, Any], run: Run) -> Run | None:
        now = self._clock.now()
        crashes = run.interruptions - SUSPECT
        if crashes >= self._config.max_attempts:
            await self._park(handler, run, CrashLoop(), claim=claim_of("", run.interruptions - _TRIED_AGAIN))
            return None
        alone = retry_delay(crashes + 1, self._config.retry_base, self._config.retry_max) if crashes >= 0 else None

        def work(connection: Connection) -> Run | None:
            paid = run.state == RunState.REPLIED
            if not paid and not limits.within_daily_cost(connection, run.user_id, now, self._daily_cost):
                runs.postpone(connection, run, now + COST_RECHECK, DAILY_COST, charge=True)
                return None
            asked = everything_asked(connection, run.user_id)
            if asked is not None:
                runs.postpone(connection, run, asked.due_at, "forgetting", charge=True)
                return None
            token, again_at = claim_of(self._worker or "", run.interruptions), now + alone if alone else None
            claimed = runs.claim(connection, run, token, worker=self._worker, again_at=again_at)
            if claimed is not None:
                self._report(connection, handler, claimed, "agent_activity_start", now, {"attempt": claimed.attempts})
            return claimed

        return await self._database.write(work, point="C8")

    async def _attempt(self, handler: RunHandler[Any, Any], run: Run) -> None:
        try:
            with caused_by(**run_links(run)):
                await self._ask_and_apply(handler, run)
        except (ModelReplyTruncated, ModelContextExceeded) as error:
            await self._shorten(handler, run, error)
        except ModelAccessDenied as error:
            due_at = self._clock.now() + self._config.retry_max
            await self._give_back(handler, run, due_at, error, charge=False, outcome="denied")
        except ModelUnavailable as error:
            await self._wait_out(handler, run, error)
        except StaleInput as error:
            await self._give_back(handler, run, self._clock.now(), error, charge=False, outcome="stale")
        except ModelRefused as error:
            await self._park(handler, run, error)
        except Exception as error:  # outermost handler of an attempt: charge it, retry after growing pauses, then park
            if not isinstance(error, ModelReplyInvalid):
                log.exception("run_failed", extra={"run": run.id, "agent": handler.agent})
            await self._fail(handler, run, error)

    async def _ask_and_apply(self, handler: RunHandler[Any, Any], run: Run) -> None:
        prepared = await handler.prepare(run)
        if run.state != RunState.REPLIED:
            reply, shared = await self._together.ask(handler, run, prepared)
            self.provider_works(handler.agent)
            stored = await self._store(run, prepared, reply, shared)
            if stored is None:
                return
            run = stored
        await self._apply(handler, run, prepared)

    async def _store(self, run: Run, prepared: Prepared[Any], reply: AgentReply, shared: Replies) -> Run | None:
        prompt = "\n".join(message.content for message in reply.prompt)
        prompt_hash = hashlib.sha256(prompt.encode()).hexdigest()

        def store(connection: Connection, run: Run, prepared: Prepared[Any], reply: AgentReply) -> Run | None:
            return runs.store_reply(
                connection,
                run,
                reply=reply.text,
                snapshot=prepared.snapshot,
                model=reply.model,
                prompt_hash=prompt_hash,
                tokens=reply.usage.prompt_tokens + reply.usage.completion_tokens,
                cost_usd=reply.usage.cost_usd,
            )

        def work(connection: Connection) -> Run | None:
            stored = store(connection, run, prepared, reply)
            for companion, its in shared if stored is not None else ():
                store(connection, companion.run, companion.prepared, its)
            return stored

        return await self._database.write(work, point="C9")

    async def _apply(self, handler: RunHandler[Any, Any], run: Run, prepared: Prepared[Any]) -> None:
        while True:
            try:
                effects = await self._resolve_and_write(handler, run, prepared)
                break
            except StaleResolution:
                log.info("resolution_stale", extra={"run": run.id, "agent": handler.agent})
        if effects is not None:
            self._answers_at_outage.pop(run.id, None)
            effects.after_commit()
            self._observer.agent_run(handler.agent, "applied")
            log.info("run_applied", extra={"run": run.id, "agent": handler.agent, "user_id": run.user_id})

    async def _resolve_and_write(
        self, handler: RunHandler[Any, Any], run: Run, prepared: Prepared[Any]
    ) -> Effects | None:
        resolved = await handler.resolve(run, prepared, run.reply or "")
        now = self._clock.now()

        def work(connection: Connection) -> Effects | None:
            if not runs.finish(connection, run, now):
                return None
            effects = handler.apply(connection, run, prepared, resolved, now)
            episodes.mark_processed(connection, run.user_id, run.episode_id, now)
            return effects

        return await self._database.write(work, point="C10")

    async def _shorten(
        self, handler: RunHandler[Any, Any], run: Run, error: ModelReplyTruncated | ModelContextExceeded
    ) -> None:
        """Halves the run. One of a single line is given up if its prompt is too long, retried if its reply was cut."""
        if run.length < 2:
            await (self._park if isinstance(error, ModelContextExceeded) else self._fail)(handler, run, error)
            return
        now = self._clock.now()

        def work(connection: Connection) -> None:
            for one in (*self._together.companions_of(connection, run), run):
                runs.halve(connection, one, now)

        await self._database.write(work)
        self._observer.agent_run(handler.agent, "halved")

    def provider_works(self, agent: str) -> None:
        """Records that the provider answered this agent."""
        self._outages.pop(agent, None)
        self._answers[agent] = self._answers.get(agent, 0) + 1

    async def _wait_out(self, handler: RunHandler[Any, Any], run: Run, error: ModelUnavailable) -> None:
        """Waits for the end of an outage, at no cost in attempts unless the provider answered other runs meanwhile.

        Otherwise a prompt on which the provider always times out would cost money for ever.
        """
        agent = handler.agent
        answers = self._answers.get(agent, 0)
        before, self._answers_at_outage[run.id] = self._answers_at_outage.get(run.id, answers), answers
        if before != answers:
            await self._fail(handler, run, error)
            return
        everybody = self._outages[agent] = self._outages.get(agent, 0) + 1
        wait = retry_delay(max(everybody, run.outages + 1), self._config.retry_base, self._config.retry_max)
        if error.retry_after is not None:
            wait = max(wait, timedelta(seconds=min(error.retry_after, self._config.retry_max.total_seconds())))
        await self._give_back(handler, run, self._clock.now() + wait, error, charge=False, outcome="outage")

    async def _fail(self, handler: RunHandler[Any, Any], run: Run, error: Exception) -> None:
        if run.attempts >= self._config.max_attempts:
            await self._park(handler, run, error)
            return
        due_at = self._clock.now() + retry_delay(run.attempts, self._config.retry_base, self._config.retry_max)
        await self._give_back(handler, run, due_at, error, charge=True, outcome="failed")

    async def _give_back(
        self, handler: RunHandler[Any, Any], run: Run, due_at: datetime, error: Exception, *, charge: bool, outcome: str
    ) -> None:
        now = self._clock.now()

        def work(connection: Connection) -> bool:
            outages = run.outages + 1 if outcome == "outage" else 0
            if not runs.postpone(connection, run, due_at, _describe(error), charge=charge, outages=outages):
                return False
            self._report(connection, handler, run, "agent_run_failed", now, {"outcome": outcome, **_failure(error)})
            if outcome == "denied":
                once = f"archive-denied:{run.user_id}:{now:%Y-%m-%d}"
                self._notify(connection, run.user_id, "archive-denied", once, {"run": run.id}, now)
            return True

        if not await self._database.write(work):
            return  # another worker took it over, or it was erased with its input
        self._observer.agent_run(handler.agent, outcome)
        log.warning(
            "run_postponed", extra={"run": run.id, "agent": handler.agent, "outcome": outcome, **_failure(error)}
        )

    async def _park(
        self, handler: RunHandler[Any, Any], run: Run, error: Exception, *, claim: str | None = None
    ) -> None:
        now = self._clock.now()
        self._answers_at_outage.pop(run.id, None)

        def work(connection: Connection) -> list[tuple[RunHandler[Any, Any], Run]]:
            """Runs that share the request would get the same answer: parked too, unless the process ended in this."""
            of_all = [] if isinstance(error, CrashLoop) else self._together.companions_of(connection, run)
            runs_of = [(handler, run), *((self._together.handler_of(one), one) for one in of_all)]
            if not self._write_off(connection, handler, run, now, error, claim):
                return []
            return runs_of[:1] + [one for one in runs_of[1:] if self._write_off(connection, *one, now, error, None)]

        for its, parked in await self._database.write(work):
            self._observer.agent_run(its.agent, "dead")
            log.error("run_dead", extra={"run": parked.id, "agent": its.agent, **_failure(error)})

    def _write_off(
        self,
        connection: Connection,
        handler: RunHandler[Any, Any],
        run: Run,
        now: datetime,
        error: Exception,
        claim: str | None,
    ) -> bool:
        """Parks the run and notifies its owner, at most once a day. Returns False if the claim is lost."""
        if not runs.park(connection, run, now, _describe(error), claim=claim):
            return False
        episodes.mark_processed(connection, run.user_id, run.episode_id, now)
        self._report(connection, handler, run, "agent_run_failed", now, {"outcome": "dead", **_failure(error)})
        if claim is None or run.error != _describe(error):  # a failure that repeats every day is reported once
            once = f"archive-dead:{run.user_id}:{now:%Y-%m-%d}"
            self._notify(connection, run.user_id, "archive-dead", once, {"run": run.id}, now)
        return True

    @staticmethod
    def _report(
        connection: Connection,
        handler: RunHandler[Any, Any],
        run: Run,
        kind: str,
        now: datetime,
        payload: dict[str, Any],
    ) -> None:
        events.append(
            connection, kind, source=handler.source, now=now, user_id=run.user_id, payload=payload, links=run_links(run)
        )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _failure(error: Exception) -> dict[str, str]:
    return {"error": _describe(error)}
