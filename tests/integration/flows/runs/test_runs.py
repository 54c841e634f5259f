"""Runs: claimed, tried, applied once; owners side by side; outages, failures, crashes and limits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select, update
from support.flows.flow_stage import BOT, OTHER, OWNER, Talk, add_user, until
from support.patience import PATIENCE_S
from support.stores.stores import refuse, relent

from bot.telegram.handlers.own_initiative import notify
from internal.access import limits, repository as users
from internal.agents.model import AgentReply
from internal.config.settings import RunsConfig
from internal.errors import (
    ModelAccessDenied,
    ModelContextExceeded,
    ModelRefused,
    ModelReplyInvalid,
    ModelReplyTruncated,
    ModelUnavailable,
    ModelUnknown,
)
from internal.events import repository as events
from internal.flows.forgetting.requests import UNDO_WINDOW, ask_forget
from internal.flows.runs.handler import Prepared, StaleInput
from internal.flows.runs.loop import PARALLEL, REVIVED_AFTER, RunLoop
from internal.llm.model import Usage
from internal.scheduling import run_repository as runs
from internal.scheduling.run import SUSPECT, Run, RunState, claim_of
from internal.storage import tables

CONFIG = RunsConfig(retry_base=timedelta(seconds=2), retry_max=timedelta(minutes=15), max_attempts=3)
Said = str | Exception | Callable[[], Any]


@dataclass
class Applied:
    handler: ScriptedHandler

    def after_commit(self) -> None:
        self.handler.committed += 1


@dataclass
class ScriptedHandler:
    """A RunHandler whose asking does as the script says; applying leaves an event."""

    agent: str = "archivist"
    source: str = "agent:Archivist"
    script: list[Said] = field(default_factory=list)
    apply_errors: list[Exception] = field(default_factory=list)
    asked: list[Run] = field(default_factory=list)
    at_once: Counter[int] = field(default_factory=Counter)
    most_of_an_owner: int = 0
    most: int = 0
    committed: int = 0
    cost_usd: float = 0.0

    async def prepare(self, run: Run) -> Prepared[Run]:
        return Prepared(run, {"seen": run.first_n})

    async def ask(self, prepared: Prepared[Run]) -> AgentReply:
        run = prepared.input
        self.asked.append(run)
        self.at_once[run.user_id] += 1
        self.most_of_an_owner = max(self.most_of_an_owner, self.at_once[run.user_id])
        self.most = max(self.most, self.at_once.total())
        try:
            return AgentReply(await self._said(), "scripted", Usage(7, 3, self.cost_usd))
        finally:
            self.at_once[run.user_id] -= 1

    async def _said(self) -> str:
        said = self.script.pop(0) if self.script else "reply"
        if isinstance(said, Exception):
            raise said
        if not isinstance(said, str):
            await said()
            return "reply"
        return said

    async def resolve(self, run: Run, prepared: Prepared[Run], reply: str) -> str:
        return reply

    def apply(self, connection: Connection, run: Run, prepared: Prepared[Run], reply: str, now: Any) -> Applied:
        payload = {"first": run.first_n, "last": run.last_n, "reply": reply, "snapshot": run.snapshot}
        events.append(connection, "applied", source=self.source, now=now, user_id=run.user_id, payload=payload)
        if self.apply_errors:
            raise self.apply_errors.pop(0)
        return Applied(self)


@dataclass
class Stage:
    talk: Talk
    handler: ScriptedHandler
    outcomes: list[str] = field(default_factory=list)
    daily_cost: float = 0.0
    told: list[tuple[int, str]] = field(default_factory=list)

    def notify(
        self, connection: Connection, user_id: int, key: str, dedupe: str, links: dict[str, str], now: datetime
    ) -> None:
        self.told.append((user_id, key))
        notify(connection, user_id, key, dedupe, links, now)

    def agent_run(self, agent: str, outcome: str) -> None:
        self.outcomes.append(outcome)

    def loop(self, config: RunsConfig = CONFIG) -> RunLoop:
        return RunLoop(self.talk.database, self.talk.clock, [self.handler], config, self, self.daily_cost, self.notify)

    async def publish(self, user_id: int = OWNER, *slices: tuple[int, int]) -> None:
        """A fragment's runs."""

        def work(c: Connection) -> None:
            rev = (
                c.execute(
                    update(tables.users).values(next_rev=tables.users.c.next_rev + 1).returning(tables.users.c.next_rev)
                )
                .scalars()
                .first()
            )
            runs.create(
                c, user_id, "archivist", f"episode-{rev}", slices or [(1, 10)], rev=rev or 0, now=self.talk.clock.now()
            )

        await self.talk.write(work)

    async def work(self, loop: RunLoop | None = None) -> None:
        """Starts what is ready and waits until nothing runs."""
        loop = loop or self.loop()
        await loop.start_ready()
        await until(lambda: not loop._working and not loop._lookups)

    async def rows(self) -> list[Run]:
        query = select(tables.runs).order_by(tables.runs.c.rev, tables.runs.c.first_n)
        return await self.talk.read(lambda c: [runs._run(row) for row in c.execute(query)])

    async def states(self) -> list[str]:
        return [run.state.value for run in await self.rows()]

    async def applied(self, user_id: int = OWNER) -> list[tuple[int, int]]:
        return [(e.payload["first"], e.payload["last"]) for e in await self.talk.events("applied", user_id)]


@pytest.fixture
def stage(talk: Talk) -> Stage:
    return Stage(talk, ScriptedHandler())


async def test_a_run_is_asked_applied_and_paid_once(stage: Stage) -> None:
    """Reply, snapshot and cost are kept; counters move after the commit; nothing is ready then."""
    stage.handler.cost_usd = 0.5
    await stage.publish()
    await stage.work()
    await stage.work()
    [run] = await stage.rows()
    assert (run.state, run.reply, run.snapshot, run.claim) == (RunState.APPLIED, "reply", {"seen": 1}, None)
    assert (len(stage.handler.asked), stage.handler.committed, stage.outcomes) == (1, 1, ["applied"])
    [cost] = await stage.talk.read(lambda c: c.execute(select(tables.runs.c.cost_usd)).scalars().all())
    assert cost == 0.5


async def test_slices_are_worked_on_in_order_one_at_a_time(stage: Stage) -> None:
    """Of one owner N+1 starts when N is applied, whatever was published meanwhile."""
    await stage.publish(OWNER, (1, 60), (61, 120))
    await stage.publish(OWNER, (1, 5))
    await stage.work()
    assert await stage.applied() == [(1, 60), (61, 120), (1, 5)]
    assert stage.handler.most_of_an_owner == 1


async def test_owners_are_worked_on_side_by_side(stage: Stage) -> None:
    """One owner's slow model call does not hold up another's."""
    both = asyncio.Event()

    async def meet() -> None:
        if stage.handler.at_once.total() == 2:
            both.set()
        await asyncio.wait_for(both.wait(), PATIENCE_S)

    stage.handler.script = [meet, meet]
    await stage.publish(OWNER)
    await stage.publish(OTHER)
    await stage.work()
    assert stage.handler.most == 2
    assert await stage.states() == ["applied", "applied"]


async def test_failures_pause_longer_and_longer_then_the_run_is_dead(stage: Stage) -> None:
    """Two, four seconds, then it is parked; it blocks nobody, and is revived on demand."""
    stage.handler.script = [ModelReplyInvalid("unknown keys")] * 3
    await stage.publish(OWNER, (1, 5), (6, 10))
    for wait in (2, 4):
        await stage.work()
        [first, _] = await stage.rows()
        assert first.due_at - stage.talk.clock.now() == timedelta(seconds=wait)
        await stage.work()
        assert await stage.applied() == []
        stage.talk.clock.advance(wait)
    await stage.work()
    assert await stage.states() == ["dead", "applied"]
    assert stage.outcomes == ["failed", "failed", "dead", "applied"]
    assert await stage.talk.write(lambda c: runs.revive(c, OWNER, stage.talk.clock.now())) == 1
    await stage.work()
    assert await stage.states() == ["applied", "applied"]


@pytest.mark.parametrize("failures", [0, 3])
async def test_an_episode_is_processed_when_its_last_run_is_over(stage: Stage, failures: int) -> None:
    """Applied or given up: it is noted in the same transaction, and not before."""
    await stage.talk.exchange("Hello")
    await stage.talk.publication().publish_now(OWNER)
    stage.handler.script = [ModelReplyInvalid("unknown keys")] * failures
    processed = select(tables.episodes.c.processed_at)
    for _ in range(failures):
        await stage.work()
        stage.talk.clock.advance(10)
    if not failures:
        assert await stage.talk.read(lambda c: c.execute(processed).scalar_one()) is None
        await stage.work()
    assert await stage.talk.read(lambda c: c.execute(processed).scalar_one()) is not None


async def test_an_outage_costs_no_attempt(stage: Stage) -> None:
    """However often the provider is down; pauses grow, a Retry-After is honoured, success forgets them."""
    stage.handler.script = [ModelUnavailable("down")] * 6 + [ModelUnavailable("busy", retry_after=100)]
    await stage.publish()
    loop, waits = stage.loop(), []
    for _ in range(7):
        await stage.work(loop)
        [run] = await stage.rows()
        waits.append((run.due_at - stage.talk.clock.now()).total_seconds())
        assert run.attempts == 0
        stage.talk.clock.set(run.due_at)
    assert waits == [2, 4, 8, 16, 32, 64, 128]
    await stage.work(loop)
    assert await stage.states() == ["applied"]


async def test_a_refusal_is_not_retried(stage: Stage) -> None:
    """A safety block or a bad key: the run is parked at once, with its reason in an event."""
    stage.handler.script = [ModelRefused("blocked for safety")]
    await stage.publish()
    await stage.work()
    assert (await stage.states(), len(stage.handler.asked)) == (["dead"], 1)
    [event] = await stage.talk.events("agent_run_failed")
    assert event.payload == {"outcome": "dead", "error": "ModelRefused: blocked for safety"}


async def test_a_cut_reply_halves_the_slice(stage: Stage) -> None:
    """Down to a single message, in order; a message that is too much by itself is a failed attempt."""
    cut = ModelReplyTruncated("length")
    stage.handler.script = [cut, cut, cut, cut]
    await stage.publish(OWNER, (1, 5))
    await stage.publish(OWNER, (1, 1))
    await stage.work()
    assert stage.outcomes == ["halved", "halved", "failed"]
    stage.talk.clock.advance(1000)
    await stage.work()
    stage.talk.clock.advance(1000)
    await stage.work()
    assert await stage.applied() == [(1, 1), (2, 2), (3, 5), (1, 1)]


async def test_a_slice_that_is_too_long_for_the_model_is_halved(stage: Stage) -> None:
    """Until it fits; a single line that is too long is given up at once, and what comes after it goes on."""
    long = ModelContextExceeded("maximum context length is 4096")
    stage.handler.script = [long, long, long]
    await stage.publish(OWNER, (1, 4))
    await stage.work()
    assert stage.outcomes[:3] == ["halved", "halved", "dead"]
    assert await stage.applied() == [(2, 2), (3, 4)]
    assert await stage.states() == ["dead", "applied", "applied"]


async def test_an_unknown_model_keeps_its_runs_until_the_settings_are_mended(stage: Stage) -> None:
    """The owner is told, once a day; a start, perhaps with another setting, asks again at once."""
    stage.handler.script = [ModelUnknown("x is not a valid model ID")] * 2
    await stage.talk.write(lambda c: users.write_setting(c, "bot_id", BOT))
    await stage.publish()
    await stage.work()
    stage.talk.clock.advance(CONFIG.retry_max)
    await stage.work()
    [run] = await stage.rows()
    assert (run.state, run.attempts, stage.outcomes) == (RunState.DUE, 0, ["denied", "denied"])
    assert stage.told == [(OWNER, "archive-denied")] * 2
    assert len(await stage.talk.outbox()) == 1
    await stage.work(stage.loop())
    assert await stage.states() == ["applied"]


async def test_stale_input_is_asked_anew_without_charge(stage: Stage) -> None:
    """Nothing of the old reply is applied."""
    stage.handler.script = ["old", "new"]
    stage.handler.apply_errors = [StaleInput("edited")]
    await stage.publish()
    await stage.work()
    [run] = await stage.rows()
    assert (run.state, run.attempts, run.reply) == (RunState.APPLIED, 1, "new")
    assert [event.payload["reply"] for event in await stage.talk.events("applied")] == ["new"]


async def test_effects_that_fail_are_undone_and_tried_again(stage: Stage) -> None:
    """A fault while applying writes nothing, is charged, and keeps words out of the stored error."""
    stage.handler.apply_errors = [RuntimeError("bug")]
    await stage.publish()
    await stage.work()
    assert (await stage.applied(), await stage.states()) == ([], ["due"])
    stage.talk.clock.advance(10)
    await stage.work()
    assert await stage.applied() == [(1, 10)]


async def test_a_stored_reply_is_applied_after_a_crash_without_asking_again(stage: Stage) -> None:
    """What was paid for is used, with the snapshot it was given for."""
    await stage.publish()
    [run] = await stage.rows()

    def crash(c: Connection) -> None:
        claimed = runs.claim(c, run, "dead process")
        assert claimed is not None
        runs.store_reply(
            c, claimed, reply="paid", snapshot={"seen": 0}, model="m", prompt_hash="", tokens=1, cost_usd=1
        )

    await stage.talk.write(crash)
    await stage.work()
    assert stage.handler.asked == []
    [event] = await stage.talk.events("applied")
    assert (event.payload["reply"], event.payload["snapshot"]) == ("paid", {"seen": 0})


async def test_the_claim_of_a_dead_process_is_void(stage: Stage) -> None:
    """The run is taken up at once, as the same attempt: what ended the process is mostly something else."""
    await stage.publish()
    [run] = await stage.rows()
    await stage.talk.write(lambda c: runs.claim(c, run, "dead process"))
    await stage.work()
    [run] = await stage.rows()
    assert (run.state, run.attempts) == (RunState.APPLIED, 1)


async def test_a_lost_claim_writes_nothing(stage: Stage) -> None:
    """Who was overtaken applies no effects and stores no reply, halves nothing."""

    async def steal() -> None:
        await stage.talk.write(lambda c: c.execute(update(tables.runs).values(claim="thief")))

    async def steal_and_cut() -> None:
        await steal()
        raise ModelReplyTruncated("length")

    for robbery in (steal, steal_and_cut):
        stage.handler.script = [robbery]
        await stage.publish()
        loop = stage.loop()
        await loop.start_ready()
        loop._stopping = True
        await until(lambda loop=loop: not loop._working)
        assert await stage.applied() == []
        assert len(await stage.rows()) == 1
        await stage.talk.write(lambda c: c.execute(tables.runs.delete()))


async def test_the_daily_cost_postpones_but_not_what_is_paid(stage: Stage) -> None:
    """Beyond the limit archival waits without an attempt; at the next day it goes on."""
    stage.daily_cost = 1.0
    now = stage.talk.clock.now()
    await stage.talk.write(
        lambda c: limits.add_spend(c, users.get(c, OWNER), "responder", tokens=1, cost_usd=1.0, now=now)
    )
    await stage.publish()
    await stage.work()
    [run] = await stage.rows()
    assert (run.state, run.attempts, run.error) == (RunState.DUE, 0, "daily_cost")
    assert stage.handler.asked == []
    stage.talk.clock.advance(timedelta(days=1))
    await stage.work()
    assert await stage.states() == ["applied"]


async def test_nothing_is_asked_about_what_is_about_to_be_forgotten(stage: Stage) -> None:
    """The run waits until it can no longer be undone; an owner erased while the model is asked gets no effects."""
    await stage.publish()
    await stage.talk.write(lambda c: ask_forget(c, OWNER, None, now=stage.talk.clock.now()))
    await stage.work()
    [run] = await stage.rows()
    assert run.due_at == stage.talk.clock.now() + UNDO_WINDOW
    assert stage.handler.asked == []


async def test_an_owner_erased_while_the_model_is_asked_gets_no_effects(stage: Stage) -> None:
    """Its row is gone, so nothing may be written; the loop goes on."""

    async def erase() -> None:
        await stage.talk.write(lambda c: c.execute(tables.runs.delete().where(tables.runs.c.user_id == OWNER)))

    stage.handler.script = [erase]
    await stage.publish(OWNER)
    await stage.work()
    await stage.publish(OTHER)
    await stage.work()
    assert (await stage.applied(OWNER), await stage.applied(OTHER)) == ([], [(1, 10)])


async def test_draining_ends_everything_in_time(stage: Stage) -> None:
    """What does not end is cancelled, stays claimed, and leaves no task; nothing new is started."""
    hanging = asyncio.Event()

    async def hang() -> None:
        hanging.set()
        await asyncio.Event().wait()

    stage.handler.script = [hang]
    await stage.publish()
    loop, before = stage.loop(), asyncio.all_tasks()
    await loop.start_ready()
    await asyncio.wait_for(hanging.wait(), PATIENCE_S)
    await loop.drain(0.05)
    await stage.publish(OTHER)
    await loop.start_ready()
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() - before if task.get_name().startswith("run")] == []
    assert await stage.states() == ["claimed", "due"]
    await stage.work()
    assert await stage.states() == ["applied", "applied"]


async def test_a_database_that_refuses_is_not_asked_in_a_tight_loop(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """The run keeps its place for a pause, and is due again."""
    await stage.publish()
    await stage.talk.write(lambda c: refuse(c, "UPDATE", "runs", full=True))
    loop = stage.loop()
    await loop.start_ready()
    await asyncio.sleep(0.3)
    assert sum(record.message == "run_interrupted" for record in caplog.records) == 1
    await loop.drain(0)
    await stage.talk.write(relent)


async def test_working_off_returns_when_nothing_is_ready(stage: Stage) -> None:
    """An order to archive waits for this owner's runs, not for what is paused."""
    stage.handler.script = ["one", ModelReplyInvalid("bad")]
    await stage.publish(OWNER, (1, 2), (3, 4))
    await asyncio.wait_for(stage.loop().work_off(OWNER, 60), PATIENCE_S)
    assert await stage.states() == ["applied", "due"]
    assert len(await stage.talk.write(lambda c: runs.hurry(c, OWNER, stage.talk.clock.now()))) == 1


async def test_a_run_that_ends_the_process_again_and_again_is_parked(stage: Stage) -> None:
    """A crash is an attempt that nobody could write down as failed: the cap holds at the next claim, and it is told."""
    await stage.publish()
    await stage.talk.write(lambda c: users.write_setting(c, "bot_id", BOT))
    for _ in range(SUSPECT + CONFIG.max_attempts):
        [run] = await stage.rows()
        await stage.talk.write(lambda c, run=run: runs.claim(c, run, claim_of("", run.interruptions)))
    await stage.work()
    assert await stage.states() == ["dead"]
    assert stage.handler.asked == []
    assert stage.told == [(OWNER, "archive-dead")]
    [owed] = [row for row in await stage.talk.outbox() if row.state == "pending"]
    await stage.talk.delivered(owed)
    [failed], [*_, sent] = [await stage.talk.events(kind) for kind in ("agent_run_failed", "message_sent")]
    assert sent.links is not None
    assert sent.links["caused_by"] == failed.id


async def killed(stage: Stage, loop: RunLoop) -> None:
    """The process ends in the middle of all that it began: nothing more is written."""
    before = len(stage.handler.asked)
    await loop.start_ready()
    await until(lambda: len(stage.handler.asked) == before + len(loop._working))
    await loop.drain(0)


async def test_what_kills_the_process_from_outside_costs_no_run(stage: Stage) -> None:
    """25 kills, each two seconds after a start: later everything is applied within five minutes, without a command."""

    async def hang() -> None:
        await asyncio.Event().wait()

    for user_id in (OWNER, OTHER, 77, 78, 79):
        if user_id > OTHER:
            await stage.talk.write(lambda c, user_id=user_id: add_user(c, user_id))
        await stage.publish(user_id, (1, 10), (11, 20))
    for _ in range(25):
        stage.handler.script = [hang] * PARALLEL
        await killed(stage, stage.loop(RunsConfig()))
        stage.talk.clock.advance(timedelta(seconds=2))
    stage.handler.script.clear()
    loop = stage.loop(RunsConfig())
    for _ in range(60):
        await stage.work(loop)
        stage.talk.clock.advance(timedelta(seconds=5))
    assert set(await stage.states()) == {"applied"}
    assert stage.told == []


@dataclass
class Deadly(ScriptedHandler):
    """Ends the process when it is asked about one owner's run."""

    kills: int | None = OTHER
    deaths: int = 0
    alone: list[bool] = field(default_factory=list)

    async def ask(self, prepared: Prepared[Run]) -> AgentReply:
        if prepared.input.user_id == self.kills:
            self.deaths += 1
            self.alone.append(not self.at_once.total())
            await asyncio.Event().wait()
        return await super().ask(prepared)


async def test_only_the_run_that_kills_the_process_alone_is_parked(stage: Stage) -> None:
    """Those beside it are done at the second start; a day later it is tried once, alone; /archive revives it too."""
    stage.handler = deadly = Deadly(script=[lambda: asyncio.Event().wait()] * 4)
    await stage.talk.write(lambda c: add_user(c, 77))
    for user_id in (OWNER, OTHER, 77):
        await stage.publish(user_id)

    async def lives(most: int) -> None:
        for _ in range(most):
            loop, deaths = stage.loop(), deadly.deaths
            await loop.start_ready()
            await until(lambda: deadly.deaths > deaths or not (loop._working or loop._lookups))  # noqa: B023
            await loop.drain(0)
            stage.talk.clock.advance(timedelta(minutes=1))

    await lives(SUSPECT)
    deadly.script.clear()
    await lives(2)
    assert await stage.states() == ["applied", "claimed", "applied"]
    await lives(CONFIG.max_attempts)
    assert await stage.states() == ["applied", "dead", "applied"]
    assert deadly.deaths == SUSPECT + CONFIG.max_attempts
    assert deadly.alone[SUSPECT:] == [True] * CONFIG.max_attempts
    assert [run.attempts for run in await stage.rows()] == [1, 1, 1]

    stage.talk.clock.advance(REVIVED_AFTER)
    await stage.loop().revive_interrupted()
    await lives(2)
    assert (deadly.deaths, await stage.states()) == (SUSPECT + CONFIG.max_attempts + 1, ["applied", "dead", "applied"])
    assert stage.told == [(OTHER, "archive-dead")]

    deadly.kills = None
    await stage.talk.write(lambda c: runs.revive(c, OTHER, stage.talk.clock.now()))
    await stage.work()
    assert set(await stage.states()) == {"applied"}


async def test_a_slice_that_fails_while_others_are_answered_is_charged(stage: Stage) -> None:
    """A prompt on which the provider always times out is no outage: its pauses grow and it ends at the cap."""
    await stage.publish(OWNER)
    loop = stage.loop()
    asked = 0
    while await stage.states() != ["dead"]:
        stage.handler.script = [ModelUnavailable("timeout")]
        await stage.work(loop)
        loop._attempts.provider_works("archivist")  # somebody else's run was answered
        [run] = await stage.rows()
        stage.talk.clock.set(max(run.due_at, stage.talk.clock.now()))
        asked += 1
        assert asked <= CONFIG.max_attempts + 1
    assert asked == CONFIG.max_attempts + 1


async def test_a_provider_that_denies_us_is_waited_for(stage: Stage) -> None:
    """No credit or a wrong key is nobody's fragment's fault: nothing dies, and it is looked at seldom."""
    stage.handler.script = [ModelAccessDenied("402: no credit")]
    await stage.publish()
    await stage.work()
    [run] = await stage.rows()
    assert (run.state, run.attempts, stage.outcomes) == (RunState.DUE, 0, ["denied"])
    assert run.due_at - stage.talk.clock.now() == CONFIG.retry_max
