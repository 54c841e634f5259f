"""What is shown while an answer is written: cosmetic, shed first, and never the end of an answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from sqlalchemy import Connection
from support.interfaces.telegram_stage import BotStage, eventually

import bot.telegram.delivery.drafts as drafts_module
from bot.telegram.delivery.drafts import TelegramDrafts, draft_id_of
from bot.telegram.intake.lanes import Lanes
from internal.dialogue import turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.model import Incoming, Turn
from internal.testing import FrozenClock

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def drafts(stage: BotStage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TelegramDrafts]:
    """Drafts that update quickly."""
    monkeypatch.setattr(drafts_module, "INTERVAL_S", 0.02)
    shown = TelegramDrafts(stage.bot, stage.budget, stage.database, stage.clock, stage.sender.wake)
    yield shown
    await shown.close()


async def turn_of(stage: BotStage, chat_id: int | None = None) -> Turn:
    """A running turn of a new person."""
    user = await stage.person()
    now = stage.clock.now()
    incoming = Incoming(user, stage.bot.id, chat_id or user, 1, "Hi", now)
    turn = await stage.write(lambda c: turns.open_turn(c, incoming, now=now, close_at=now, seq=1))
    started = await stage.write(lambda c: turns.start(c, turn))
    assert started is not None
    return started


async def shows(stage: BotStage, user: int, text: str) -> None:
    async def there() -> bool:
        return text in str((await stage.screen(user))["draft"])

    await eventually(there)


async def pumps() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("draft-")]


async def test_a_draft_grows_and_can_be_stopped_by_its_id(stage: BotStage, drafts: TelegramDrafts) -> None:
    """In a private chat; the id finds the turn while it is shown, and no longer."""
    turn = await turn_of(stage)
    await drafts.begin(turn)
    await drafts.show(turn, "Once")
    await shows(stage, turn.chat_id, "Once")
    await drafts.show(turn, "Once upon")
    await shows(stage, turn.chat_id, "Once upon")
    assert drafts.turn_of(turn.chat_id, draft_id_of(turn.id)) == turn.id
    assert await drafts.end(turn) is None
    assert drafts.turn_of(turn.chat_id, draft_id_of(turn.id)) is None
    assert await pumps() == []


async def test_an_answer_that_is_there_at_once_shows_nothing_before(
    stage: BotStage, drafts: TelegramDrafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither "typing" nor a draft; a slower one shows both."""
    monkeypatch.setattr(drafts_module, "QUIET_S", 0.4)
    turn = await turn_of(stage)
    await drafts.begin(turn)
    await drafts.show(turn, "Anna")
    await asyncio.sleep(0.1)
    assert (await stage.screen(turn.chat_id))["typing"] is False
    assert (await stage.screen(turn.chat_id))["draft"] is None
    await shows(stage, turn.chat_id, "Anna")
    await drafts.end(turn)


async def test_a_second_attempt_shows_anew_and_leaves_no_task(stage: BotStage, drafts: TelegramDrafts) -> None:
    """Begun again, the old words go, and one end ends it."""
    turn = await turn_of(stage)
    await drafts.begin(turn)
    await drafts.show(turn, "First attempt")
    await shows(stage, turn.chat_id, "First attempt")
    await drafts.begin(turn)
    await drafts.show(turn, "Second")
    await shows(stage, turn.chat_id, "Second")
    assert len(await pumps()) == 1
    await drafts.end(turn)
    assert await pumps() == []


@pytest.mark.parametrize("kind", ["flood", "server_error", "bad_gateway", "reset", "unauthorized", "forbidden"])
async def test_a_failing_draft_never_fails_the_answer(stage: BotStage, drafts: TelegramDrafts, kind: str) -> None:
    """Whatever Telegram says to it; a 429 is left in peace for as long as it asked."""
    turn = await turn_of(stage)
    await stage.fault(kind, "sendMessageDraft", chat_id=turn.chat_id, retry_after=5)
    await drafts.begin(turn)
    await drafts.show(turn, "words")
    await eventually(lambda: stage.ledger(turn.chat_id, "sendMessageDraft"))
    if kind == "flood":
        await asyncio.sleep(0.1)
        assert len(await stage.ledger(turn.chat_id, "sendMessageDraft")) == 1
    else:
        await drafts.show(turn, "words and more")
        await shows(stage, turn.chat_id, "words and more")
    assert await drafts.end(turn) is None


async def test_a_broken_database_never_fails_the_answer_either(
    stage: BotStage, drafts: TelegramDrafts, caplog: pytest.LogCaptureFixture
) -> None:
    """The placeholder cannot be written; the draft goes on trying, the answer is sent by itself."""
    turn = await turn_of(stage)
    await stage.fault("bad_request", "sendMessageDraft", chat_id=turn.chat_id, description="Bad Request: no", times=9)
    await stage.write(lambda c: c.exec_driver_sql(
        "CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT json('{'); END"
    ))  # fmt: skip
    await drafts.begin(turn)
    await drafts.show(turn, "words")

    async def failed() -> bool:
        return any(record.message == "draft_failed" for record in caplog.records)

    await eventually(failed)
    assert await drafts.end(turn) is None


async def test_a_placeholder_under_way_is_not_lost(stage: BotStage, drafts: TelegramDrafts) -> None:
    """Ended while its placeholder is written: either there is none, or the answer is told to replace it."""
    for pause in (0.0, 0.002, 0.005, 0.01, 0.02, 0.05):
        turn = await turn_of(stage)
        refused = {"chat_id": turn.chat_id, "description": "Bad Request: no", "times": 9}
        await stage.fault("bad_request", "sendMessageDraft", **refused)
        await drafts.begin(turn)
        await drafts.show(turn, "words")
        await eventually(lambda turn=turn: stage.ledger(turn.chat_id, "sendMessageDraft"))
        await asyncio.sleep(pause)
        key = await drafts.end(turn)
        await asyncio.sleep(0.05)
        stored = await stage.read(
            lambda c, turn=turn: mailbox.by_dedupe(c, turn.user_id, f"turn:{turn.id}:placeholder")
        )
        assert (stored is not None) == (key is not None)


async def test_an_edit_under_way_cannot_come_after_the_answer(stage: BotStage, drafts: TelegramDrafts) -> None:
    """Broken off, it would still be processed, and a half-written answer would stand in the chat for good."""
    turn = await turn_of(stage)
    await stage.fault("bad_request", "sendMessageDraft", chat_id=turn.chat_id, description="Bad Request: no", times=9)
    await stage.fault("slow", "editMessageText", chat_id=turn.chat_id, seconds=0.5)
    await drafts.begin(turn)
    await drafts.show(turn, "half")
    message = await stage.wait_for_message(turn.chat_id, lambda m: m["text"] == "…")

    async def known() -> bool:
        row = await drafts._placeholder(turn)
        return row is not None and row.tg_id is not None

    await eventually(known)  # before that there is nothing to edit
    await drafts.show(turn, "half of the")

    async def in_flight() -> bool:
        faults = await stage.request("GET", "/faults")
        return not any(fault["method"] == "editMessageText" for fault in faults["faults"])

    await eventually(in_flight)
    assert await drafts.end(turn) is not None
    await stage.bot.edit_message_text("the whole", chat_id=turn.chat_id, message_id=message["message_id"])
    await asyncio.sleep(0.7)
    assert [m["text"] for m in await stage.bot_messages(turn.chat_id)] == ["the whole"]


async def test_refused_drafts_of_one_turn_say_nothing_about_others(stage: BotStage, drafts: TelegramDrafts) -> None:
    """A chat that has no drafts does not take them from everybody."""
    refused, fine = await turn_of(stage), await turn_of(stage)
    await stage.fault("bad_request", "sendMessageDraft", chat_id=refused.chat_id, description="Bad Request: no")
    for turn in (refused, fine):
        await drafts.begin(turn)
        await drafts.show(turn, "words")
    await stage.wait_for_message(refused.chat_id, lambda m: True)
    await shows(stage, fine.chat_id, "words")
    assert await drafts.end(refused) is not None
    assert await drafts.end(fine) is None


class Answering:
    """A turn flow that finishes turns and remembers when."""

    def __init__(self, stage: BotStage) -> None:
        self._stage = stage
        self.answered: list[str] = []
        self.failures = 0

    def preparing(self, turn: Turn) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    async def answer(self, turn: Turn) -> None:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("once")
        self.answered.append(turn.id)
        await self._stage.write(lambda c: turns.finish(c, turn, turn.state.ANSWERED))


async def test_a_clock_set_back_does_not_stop_a_lane(stage: BotStage) -> None:
    """A turn waits for its window, not for the hour that the clock lost."""
    clock, flow = FrozenClock(stage.clock.now() - timedelta(hours=1)), Answering(stage)
    user, now = await stage.person(), stage.clock.now()
    incoming = Incoming(user, stage.bot.id, user, 1, "Hi", now)
    close_at = now + timedelta(milliseconds=200)
    turn = await stage.write(lambda c: turns.open_turn(c, incoming, now=now, close_at=close_at, seq=1))
    lanes = Lanes(stage.database, clock, flow)  # type: ignore[arg-type]
    began = asyncio.get_running_loop().time()
    lanes.wake(turn)

    async def answered() -> bool:
        return flow.answered == [turn.id]

    await eventually(answered)
    assert asyncio.get_running_loop().time() - began >= 0.2
    await lanes.drain(1)


async def test_a_lane_tries_a_turn_again_that_failed(stage: BotStage) -> None:
    """With a pause; the turn behind it waits."""
    flow = Answering(stage)
    flow.failures = 1
    turn = await turn_of(stage)
    lanes = Lanes(stage.database, stage.clock, flow)  # type: ignore[arg-type]
    assert await lanes.resume(stage.bot.id) == 1

    async def answered() -> bool:
        return flow.answered == [turn.id]

    await eventually(answered)
    await lanes.drain(1)


async def test_a_turn_that_crashes_interrupted_waits_and_holds_up_no_other_chat(stage: BotStage) -> None:
    """A crash loop uses up attempts with growing pauses: none is given up for what else ends the program."""
    flow, bystander, other = Answering(stage), await turn_of(stage), await turn_of(stage)
    await stage.write(lambda c: [turns.start(c, bystander) for _ in range(9)])
    lanes = Lanes(stage.database, stage.clock, flow)  # type: ignore[arg-type]
    assert await lanes.resume(stage.bot.id) == 2

    async def answered() -> bool:
        return flow.answered == [other.id]

    await eventually(answered)
    await lanes.drain(0)
    assert flow.answered == [other.id]


async def test_a_busy_lane_remembers_little_and_answers_all(stage: BotStage) -> None:
    """A thousand messages to one chat, each waking it, take the memory of two; every turn is answered, in order."""
    flow = Answering(stage)
    user, now = await stage.person(), stage.clock.now()

    def work(connection: Connection) -> list[Turn]:
        found = []
        for number in range(20):
            incoming = Incoming(user, stage.bot.id, user, number, "Hi", now)
            turn = turns.open_turn(connection, incoming, now=now, close_at=now, seq=number)
            turns.freeze(connection, turn)
            found.append(turn)
        return found

    opened = await stage.write(work)
    lanes = Lanes(stage.database, stage.clock, flow)  # type: ignore[arg-type]
    for number in range(1000):
        lanes.wake(opened[number % len(opened)])
    [chain] = lanes._chains._chains.values()
    assert len(chain.jobs) == 2

    async def answered() -> bool:
        return flow.answered == [turn.id for turn in opened]

    await eventually(answered)
    await lanes.drain(1)
