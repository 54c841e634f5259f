"""What is due soon stands in every prompt, whatever was asked."""

from __future__ import annotations

from datetime import time, timedelta

from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.flows.forgetting.requests import ask
from internal.tasks import service
from internal.tasks.model import Schedule, Task
from internal.tasks.service import NewTask

NINE = time(9)


async def task(talk: Talk, title: str, days: float | None, *, user_id: int = OWNER, message: str | None = None) -> Task:
    now = talk.clock.now()
    due = None if days is None else now + timedelta(days=days)
    new = NewTask(title=title, schedule=Schedule(due, False, None, "UTC"), message_id=message)
    return await talk.write(lambda c: service.open_task(c, user_id, new, service.by_owner(user_id, now, NINE)))


async def shown(talk: Talk) -> list[str]:
    """The tasks in the prompt of a question."""
    await talk.exchange("What shall I cook?")
    return [f"{one.handle} {one.title}" for one in talk.responder.asked[-1].tasks]


async def test_a_prompt_shows_what_is_due_within_a_week(talk: Talk) -> None:
    """The earliest first, overdue ones too; nothing later, without a time, or somebody else's."""
    await task(talk, "Call mum", 2)
    await task(talk, "Renew the passport", 30)
    await task(talk, "Learn to swim", None)
    await task(talk, "Pay the rent", 0.1)
    await task(talk, "Not hers", 1, user_id=OTHER)
    talk.clock.advance(24 * 3600)
    assert await shown(talk) == ["T1 Pay the rent", "T2 Call mum"]


async def test_what_is_done_is_shown_no_more(talk: Talk) -> None:
    """Nor what was cancelled."""
    done = await task(talk, "Call mum", 2)
    cancelled = await task(talk, "Call dad", 2)
    author = service.by_owner(OWNER, talk.clock.now(), NINE)
    await talk.write(lambda c: service.mark_done(c, OWNER, done.id, author))
    await talk.write(lambda c: service.cancel(c, OWNER, cancelled.id, author))
    assert await shown(talk) == []


async def test_a_task_of_a_message_to_forget_is_not_shown(talk: Talk) -> None:
    """It is hidden from the moment its owner asks."""
    taken = await talk.say("I must call Vadik")
    assert taken.message is not None
    message_id = taken.message.id
    await task(talk, "Call Vadik", 2, message=message_id)
    assert await shown(talk) == ["T1 Call Vadik"]
    await talk.write(lambda c: ask(c, OWNER, "message", message_id, now=talk.clock.now()))
    assert await shown(talk) == []
