"""The end of a simulation: compares the store with the scenario's truth, then asks its questions."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from bot.simulation.idle_repository import calls_by_agent
from bot.simulation.stage import Stage
from bot.simulator.scenarios.judge import BotMessage, JudgeContext, Verdict, judge, judge_answer
from bot.simulator.scenarios.known_state import read
from bot.simulator.scenarios.model import Truth
from bot.simulator.scenarios.plan import Act, Plan
from bot.simulator.scenarios.report import ScenarioOutcome

Ask = Callable[[Stage, Act], Awaitable[str]]
"""Asks a question in the chat. Returns the bot's answer."""


async def examine(stage: Stage, played: Plan, ask: Ask) -> ScenarioOutcome:
    """Judges the memory and the answers. The store is read before the questions, which could change it."""
    verdicts: list[Verdict] = []
    replies = 0
    for who, user in played.scenario.users.items():
        messages = [_bot_message(message) for message in await stage.bot_messages(user.id)]
        replies += len(messages)
        case = judge_context(played, who, stage.clock.now())
        stored = await stage.app.database.read(lambda c, user=user, case=case: read(c, user.id, case.now))  # type: ignore[misc]
        verdicts += judge(played.scenario.truth.get(who, Truth()), stored, messages, case)
    for act in played.questions:
        assert act.question is not None
        answer = await ask(stage, act)
        question = played.scenario.questions[act.question]
        verdicts.append(judge_answer(question, answer, judge_context(played, act.who, stage.clock.now())))
    return ScenarioOutcome(
        plan=played,
        finished_at=stage.clock.now(),
        took_s=0.0,
        messages=sum(act.kind == "say" for act in played.acts),
        replies=replies,
        models="offline, by rules" if stage.app.models.offline else "of the configured provider",
        verdicts=verdicts,
        calls=await stage.app.database.read(calls_by_agent),
    )


def judge_context(played: Plan, who: str, now: datetime) -> JudgeContext:
    user = played.scenario.users[who]
    return JudgeContext(who, user.language, played.scenario.zone(who), played.start, now)


def _bot_message(message: dict[str, object]) -> BotMessage:
    return BotMessage(datetime.fromtimestamp(int(str(message["date"])), UTC), str(message.get("text") or ""))
