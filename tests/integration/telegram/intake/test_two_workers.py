"""Two workers on one store: chats are divided between them, and what one leaves behind the other takes up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from support.interfaces.telegram_stage import MODEL, eventually
from support.interfaces.worker_stage import Worker, two_workers
from support.stores.stores import where_postgresql

from bot.simulator.launch import LocalTelegram
from internal.dialogue import repository as dialogue
from internal.scheduling.run import SHARD_COUNT
from internal.scheduling.shards import shard_of
from internal.storage import tables
from internal.testing import Asked, ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENT_S = 90
MESSAGES = 30


def raw(number: int, user: int, **content: Any) -> tuple[int, str]:
    """A message as Telegram brings it, without Telegram."""
    author = {"id": user, "is_bot": False, "first_name": "Olena", "language_code": "en"}
    chat = {"id": user, "type": "private"}
    message = {"message_id": 1_000_000 + number, "date": 1_780_000_000, "chat": chat, "from": author}
    return number, json.dumps({"update_id": number, "message": message | content})


def echoes(asked: Asked) -> str:
    """A model that answers a question with its number."""
    return "Answer " + re.findall(r"Question (\d+)", asked.text)[-1]


async def said(worker: Worker, user: int, role: str) -> list[str]:
    listing = await worker.database.read(lambda c: dialogue.recent(c, user, limit=1000))
    return [message.content for message in listing if message.role == role]


async def parted(one: Worker, other: Worker) -> None:
    """Both have their parts."""

    async def evenly() -> bool:
        return len(one.shards.served) == len(other.shards.served) == SHARD_COUNT // 2

    await eventually(evenly, PATIENT_S)
    assert not one.shards.served & other.shards.served


async def person_of(worker: Worker) -> int:
    """Somebody whose chat this worker serves."""
    while True:
        person = await worker.stage.person()
        if shard_of(person) in worker.shards.served:
            return person


async def unsettled(worker: Worker) -> int:
    states = [state for state, _ in await worker.stage.inbox()]
    owed = await worker.database.read(lambda c: c.execute(select(tables.outbox.c.state)).scalars().all())
    return states.count("received") + sum(state not in ("sent", "refused") for state in owed)


async def test_a_chat_goes_on_in_order_when_its_worker_dies(
    telegram: LocalTelegram, model: ScriptedModel, tmp_path: Path
) -> None:
    """Thirty messages: the second worker answers what the first had not, each once, and nobody overtakes."""
    model.always(MODEL, echoes)
    async with two_workers(telegram, where_postgresql(tmp_path), model) as (one, other):
        await one.start()
        await other.start()
        await parted(one, other)
        person = await person_of(one)
        batch = [raw(n, person, text=f"Question {n}") for n in range(1, MESSAGES + 1)]
        await one.bot.ingest.accept(batch[:20])
        await eventually(lambda: enough(one, person, 5), PATIENT_S)
        one.pause()
        await other.bot.ingest.accept(batch[20:])

        async def done() -> bool:
            return len(await said(other, person, "assistant")) == MESSAGES and not await unsettled(other)

        await eventually(done, PATIENT_S)
        assert await said(other, person, "user") == [f"Question {n}" for n in range(1, MESSAGES + 1)]
        assert await said(other, person, "assistant") == [f"Answer {n}" for n in range(1, MESSAGES + 1)]
        texts = await other.stage.texts(person)
        # What was being sent when the worker stopped may have arrived: it is sent once more, that is stated policy.
        assert len(texts) <= MESSAGES + 1
        assert list(dict.fromkeys(texts)) == [f"Answer {n}" for n in range(1, MESSAGES + 1)]


async def enough(worker: Worker, person: int, count: int) -> bool:
    return len(await said(worker, person, "assistant")) >= count


async def test_a_paused_worker_that_wakes_up_writes_nothing(
    telegram: LocalTelegram, model: ScriptedModel, tmp_path: Path
) -> None:
    """It was answering when it was paused; the other has answered meanwhile, and its own answer is refused."""
    async with two_workers(telegram, where_postgresql(tmp_path), model) as (one, other):
        await one.start()
        await eventually(lambda: serves_all(one), PATIENT_S)
        person = await one.stage.person()
        model.always(MODEL, "The first answer")
        before = one.side.drafts.begin

        async def paused_at_the_draft(turn: Any) -> None:
            await before(turn)
            one.pause()

        one.side.drafts.begin = paused_at_the_draft  # type: ignore[method-assign]
        await one.bot.ingest.accept([raw(1, person, text="Hi")])
        await eventually(lambda: is_paused(one), PATIENT_S)
        model.forget(MODEL)
        model.always(MODEL, "The second answer")
        await other.start()
        await eventually(lambda: enough(other, person, 1), PATIENT_S)
        one.go_on()
        await parted(one, other)
        assert await said(other, person, "assistant") == ["The second answer"]
        assert await other.stage.texts(person) == ["The second answer"]


async def serves_all(worker: Worker) -> bool:
    return len(worker.shards.served) == SHARD_COUNT


async def is_paused(worker: Worker) -> bool:
    return worker.is_paused


def pressed(number: int, user: int, message: dict[str, Any], data: str) -> tuple[int, str]:
    """A button below one of the bot's messages, as Telegram brings it."""
    author = {"id": user, "is_bot": False, "first_name": "Olena", "language_code": "en"}
    query = {"id": str(number), "from": author, "chat_instance": "1", "message": message, "data": data}
    return number, json.dumps({"update_id": number, "callback_query": query})


def a_button(message: dict[str, Any], name: str) -> str:
    rows = message["reply_markup"]["inline_keyboard"]
    return next(str(one["callback_data"]) for row in rows for one in row if name in one["text"])


async def became_of_tasks(worker: Worker, person: int) -> list[str]:
    query = select(tables.events.c.event_type).where(tables.events.c.user_id == person).order_by(tables.events.c.seq)
    kinds = await worker.database.read(lambda c: c.execute(query).scalars().all())
    return [kind for kind in kinds if kind.startswith("task_")]


async def all_done(worker: Worker, updates: int) -> bool:
    return len(await worker.stage.inbox()) == updates and not await unsettled(worker)


async def test_a_command_and_a_button_are_done_once_over_a_takeover(
    telegram: LocalTelegram, model: ScriptedModel, tmp_path: Path
) -> None:
    """A worker is paused before a command's effect, then one after a button's; the other does what was left."""
    async with two_workers(telegram, where_postgresql(tmp_path), model) as (one, other):
        await one.start()
        await eventually(lambda: serves_all(one), PATIENT_S)
        person = await one.stage.person()

        async def paused() -> None:
            one.pause()

        one.bot.handlers.before.append(paused)
        command = {"type": "bot_command", "offset": 0, "length": 6}
        await one.bot.ingest.accept([raw(1, person, text="/tasks add Water the plants", entities=[command])])
        await eventually(lambda: is_paused(one), PATIENT_S)
        await other.start()
        await eventually(lambda: all_done(other, 1), PATIENT_S)
        one.go_on()
        await parted(one, other)
        assert await became_of_tasks(other, person) == ["task_open"]
        [card] = await other.stage.bot_messages(person)

        first, second = (one, other) if shard_of(person) in one.shards.served else (other, one)
        handle = first.bot.handlers.handle

        async def paused_afterwards(*update: Any) -> Any:
            handled = await handle(*update)
            first.pause()
            return handled

        first.bot.handlers.handle = paused_afterwards  # type: ignore[method-assign]
        await second.bot.ingest.accept([pressed(2, person, card, a_button(card, "Cancel"))])
        await eventually(lambda: all_done(second, 2), PATIENT_S)
        assert first.is_paused
        first.go_on()
        await parted(one, other)
        assert await became_of_tasks(second, person) == ["task_open", "task_cancelled"]
        [closed] = await second.stage.bot_messages(person)
        assert closed["text"] != card["text"]


async def test_a_worker_that_stops_hands_over_at_once(
    telegram: LocalTelegram, model: ScriptedModel, tmp_path: Path
) -> None:
    """Its poll and its chats: what is written then is answered by the other, and nobody's update is lost."""
    model.always(MODEL, echoes)
    async with two_workers(telegram, where_postgresql(tmp_path), model) as (one, other):
        await one.start(poll=True)
        await eventually(lambda: serves_all(one), PATIENT_S)
        person = await one.stage.person()
        await other.start(poll=True)
        await one.stage.say(person, "Question 1")
        await eventually(lambda: enough(other, person, 1), PATIENT_S)
        assert other.side.monitor.standing_by
        await one.stop()
        assert not set((await other.leases.standing("")).values()) - {"other"}
        await other.stage.say(person, "Question 2")
        await eventually(lambda: enough(other, person, 2), PATIENT_S)
        assert await said(other, person, "assistant") == ["Answer 1", "Answer 2"]
        await eventually(lambda: serves_all(other), PATIENT_S)
