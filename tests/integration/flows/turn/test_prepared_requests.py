"""Recall begins while a turn still collects messages; what it found is used only if nothing has changed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

import pytest
from sqlalchemy import Connection
from support.flows.flow_stage import OWNER, Talk, until

from internal.access import repository as users
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Turn
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot
from internal.errors import ModelSilent, ModelUnavailable
from internal.flows.forgetting.requests import ask
from internal.flows.turn.answer import TurnFlow
from internal.flows.turn.prompt import read_question
from internal.people.service import TelegramAccount, from_metadata
from internal.storage.forgetting import forgettings
from internal.storage.types import new_id
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskOrigin, TaskState


async def prepared(talk: Talk, text: str) -> Callable[[], Awaitable[None]]:
    """Says something, and prepares its answer while more may come; what is returned answers."""
    taken, flow = await talk.say(text), talk.flow()
    assert taken.turn is not None
    with flow.preparing(taken.turn):
        await until(lambda: talk.embedder.questions)
    return partial(flow.answer, taken.turn)


async def test_a_prepared_answer_recalls_once(talk: Talk) -> None:
    """Nothing happened since, but that time went by."""
    answer = await prepared(talk, "Who is Petro?")
    talk.clock.advance(10)
    await answer()
    assert talk.embedder.questions == ["Who is Petro?"]
    [asked] = talk.responder.asked
    assert asked.now == talk.clock.now()


async def test_a_prepared_answer_waits_for_a_slow_recall(talk: Talk) -> None:
    """What was begun is not begun a second time."""
    talk.embedder.open.clear()
    answer = await prepared(talk, "Who is Petro?")
    talk.clock.advance(10)
    answering = asyncio.ensure_future(answer())
    await asyncio.sleep(0)
    talk.embedder.open.set()
    await answering
    assert talk.embedder.questions == ["Who is Petro?"]
    assert talk.responder.questions == ["Who is Petro?"]


async def test_a_message_more_is_recalled_for(talk: Talk) -> None:
    """Both are answered, and searched for together."""
    answer = await prepared(talk, "Who is Petro?")
    await talk.say("The doctor")
    talk.clock.advance(10)
    await answer()
    assert talk.embedder.questions == ["Who is Petro?", "Who is Petro?\nThe doctor"]
    [asked] = talk.responder.asked
    assert [line.text for line in asked.dialogue] == ["Who is Petro?", "The doctor"]


async def test_an_edit_is_recalled_for(talk: Talk) -> None:
    """The request that was prepared holds other words."""
    answer = await prepared(talk, "Who is Petro?")
    [message] = await talk.messages()
    await talk.edit(message, "Who is Maria?")
    await answer()
    assert talk.responder.questions == ["Who is Maria?"]


async def test_somebody_forgotten_meanwhile_is_in_no_prompt(talk: Talk) -> None:
    """He was found before his owner asked to forget him."""
    sender = TelegramAccount(77, "Petro", None)
    now = talk.clock.now()
    petro = await talk.write(lambda c: from_metadata(c, OWNER, sender, seen_at=now, now=now))
    answer = await prepared(talk, "Who is Petro?")
    await talk.write(lambda c: ask(c, OWNER, "person", str(petro.id), now=now))
    await answer()
    [asked] = talk.responder.asked
    assert "Petro" not in str((asked.relevant_people, asked.inner_circle, asked.facts))


def refused(connection: Connection, now: datetime) -> None:
    [answer] = [one for one in dialogue.recent(connection, OWNER, limit=9) if one.role == "assistant"]
    dialogue.mark_delivery(connection, OWNER, answer.id, "refused", None)


def forgotten_and_back(connection: Connection, now: datetime) -> None:
    asked = forgettings.ask(connection, OWNER, "everything", None, now=now, due_at=now)
    forgettings.close(connection, asked, "undone")


def opened(connection: Connection, now: datetime) -> None:
    kind = (TaskKind.TASK, TaskState.OPEN, "Call Anna", "UTC", TaskOrigin.CHAT)
    tasks.add(connection, Task(OWNER, new_id(), *kind, now, now, 0, due_at=now))


MEANWHILE: dict[str, Callable[[Connection, datetime], object]] = {
    "an answer was refused": refused,
    "everything is to be forgotten": lambda c, now: forgettings.ask(c, OWNER, "everything", None, now=now, due_at=now),
    "a forgetting was undone": forgotten_and_back,
    "a fact was corrected": lambda c, now: forgettings.replace(c, OWNER, "f1", now=now),
    "a snapshot was made": lambda c, now: snapshots.add(c, OWNER, Snapshot(by_rules=True), now=now),
    "a setting was changed": lambda c, now: users.change(c, OWNER, tz="Asia/Tokyo"),
    "somebody was met": lambda c, now: from_metadata(
        c, OWNER, TelegramAccount(77, "Petro", None), seen_at=now, now=now
    ),
    "a task was opened": opened,
}


@pytest.mark.parametrize("happened", MEANWHILE)
async def test_what_changed_meanwhile_is_read_again(talk: Talk, happened: str) -> None:
    """And only then: else the inputs are those that were prepared, word for word."""
    now = talk.clock.now()
    await talk.write(lambda c: dialogue.add(c, OWNER, "assistant", "Hello!", now=now, delivery="sent"))
    turn = (await talk.say("Who is Petro?")).turn
    assert turn is not None
    known = await talk.write(lambda c: read_question(c, turn))
    again = await talk.write(lambda c: read_question(c, turn, known))
    assert again.earlier is known.earlier
    await talk.write(lambda c: MEANWHILE[happened](c, now))
    after = await talk.write(lambda c: read_question(c, turn, known))
    assert after == await talk.write(lambda c: read_question(c, turn))
    assert not after.same_as(known)


async def waiting(flow: TurnFlow, turn: Turn) -> None:
    with flow.preparing(turn):
        await asyncio.Event().wait()


async def test_a_cancelled_preparation_is_done_again(talk: Talk) -> None:
    """It ends with the lane that waited, and nobody waits for it in vain."""
    taken, flow = await talk.say("Hi"), talk.flow()
    assert taken.turn is not None
    talk.embedder.open.clear()
    lane = asyncio.ensure_future(waiting(flow, taken.turn))
    await until(lambda: talk.embedder.questions)
    lane.cancel()
    await asyncio.wait([lane])
    talk.embedder.open.set()
    await flow.answer(taken.turn)
    assert talk.responder.questions == ["Hi"]


async def test_a_stop_ends_what_is_being_prepared(talk: Talk) -> None:
    """Nothing goes on, or is kept, for an answer that nobody waits for."""
    taken, flow = await talk.say("Hi"), talk.flow()
    assert taken.turn is not None
    talk.embedder.open.clear()
    with flow.preparing(taken.turn):
        await until(lambda: talk.embedder.questions)
    answering = asyncio.ensure_future(flow.answer(taken.turn))
    await until(lambda: talk.drafts.showing)
    flow.stop(taken.turn.id)
    await answering
    await until(lambda: not any(task.get_name() == "prepare" for task in asyncio.all_tasks()))


async def test_a_model_that_is_silent_is_asked_twice(talk: Talk) -> None:
    """Then the user is told so, instead of waiting for a third time."""
    turn = await talk.ask("Hi")
    talk.responder.always = [ModelSilent()]
    await talk.flow().answer(turn)
    assert len(talk.responder.asked) == 2
    assert await talk.owed() == [
        "The language model takes too long to begin an answer. Your message is saved; please ask again a little later."
    ]


async def test_a_silence_after_another_failure_is_the_first(talk: Talk) -> None:
    """Only silences make a model one that is asked no more."""
    turn = await talk.ask("Hi")
    talk.responder.script = [[ModelUnavailable("no connection")], [ModelSilent()], ["Hello."]]
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Hello."]


async def test_prompts_of_a_long_talk_begin_alike(talk: Talk) -> None:
    """A provider caches what two prompts begin with: the recent dialogue moves on in steps, not with each message."""
    talk.history_tokens = 1000
    for n in range(40):
        await talk.exchange(f"A question number {n} of a talk that goes on", f"The answer number {n}, some words long")
    begins = [request.dialogue[0].text for request in talk.responder.asked]
    assert len(set(begins)) <= 8
    assert all(len(request.dialogue) >= 10 for request in talk.responder.asked[10:])
