"""The end of a simulation: the store is held against the scenario's truth, then its questions are asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from bot.simulation.stage import Stage
from bot.simulator.scenarios.judge import ResolveContext, Told, Verdict, judge, judge_answer
from bot.simulator.scenarios.known_state import read
from bot.simulator.scenarios.model import Truth
from bot.simulator.scenarios.plan import Act, Plan
from bot.simulator.scenarios.report import Outcome

Ask = Callable[[Stage, Act], Awaitable[str]]
"""Asks a question in the chat; the bot's words."""


async def examine(stage: Stage, played: Plan, ask: Ask) -> Outcome:
    """What was remembered of what the scenario holds to be true. The store is read before a question can change it."""
    verdicts: list[Verdict] = []
    replies = 0
    for who, user in played.scenario.users.items():
        told = [_told(message) for message in await stage.said_by_bot(user.id)]
        replies += len(told)
        case = circumstances(played, who, stage.clock.now())
        held = await stage.app.database.read(lambda c, user=user, case=case: read(c, user.id, case.now))  # type: ignore[misc]
        verdicts += judge(played.scenario.truth.get(who, Truth()), held, told, case)
    for act in played.questions:
        assert act.question is not None
        answer = await ask(stage, act)
        question = played.scenario.questions[act.question]
        verdicts.append(judge_answer(question, answer, circumstances(played, act.who, stage.clock.now())))
    return Outcome(
        plan=played,
        finished_at=stage.clock.now(),
        took_s=0.0,
        messages=sum(act.kind == "say" for act in played.acts),
        replies=replies,
        models="offline, by rules" if stage.app.models.offline else "of the configured provider",
        verdicts=verdicts,
    )


def circumstances(played: Plan, who: str, now: datetime) -> ResolveContext:
    user = played.scenario.users[who]
    return ResolveContext(who, user.language, played.scenario.zone(who), played.start, now)


def _told(message: dict[str, object]) -> Told:
    return Told(datetime.fromtimestamp(int(str(message["date"])), UTC), str(message.get("text") or ""))
