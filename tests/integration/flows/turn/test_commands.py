"""Plain words end in an action or in a card: with a model or without, and only where the owner himself asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import time, timedelta
from typing import Any

import pytest
import pytest_asyncio
from support.flows.command_stage import commands_of, requests_of
from support.flows.erase_stage import LanguageHere
from support.flows.fact_search_stage import Known
from support.flows.flow_stage import OWNER, Talk

from internal.agents.responder.agent import ModelResponder
from internal.agents.responder.offline.agent import OfflineResponder
from internal.config.agents import ResponderConfig
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import ForwardOrigin, Quoted
from internal.flows.turn.instructions import active
from internal.graph import node_repository
from internal.graph.model import NodeFilter
from internal.llm.openai import OpenAIChat
from internal.people.service import TelegramAccount, from_metadata
from internal.storage.forgetting import forgettings
from internal.tasks import repository, service
from internal.tasks.model import Schedule, Task, TaskKind, TaskState
from internal.testing import ScriptedModel

CONFIG = ResponderConfig(model="talk")


@pytest_asyncio.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as server:
        yield server


@pytest.fixture
def known(talk: Talk) -> Known:
    return Known(talk.database, talk.embedder, talk.clock)


@pytest.fixture
def acting(talk: Talk) -> Talk:
    """The talk carries out plain words; nobody converses."""
    talk.commands = commands_of(talk, converses=False)
    return talk


@pytest_asyncio.fixture
async def conversing(acting: Talk, model: ScriptedModel) -> AsyncIterator[Talk]:
    """The same with a model."""
    assert acting.commands is not None
    acting.commands.converses = True
    chat = OpenAIChat(model.url)
    acting.writer = ModelResponder(chat, CONFIG)
    yield acting
    await chat.aclose()


async def task(talk: Talk, title: str, days: float | None = None) -> Task:
    now = talk.clock.now()
    due = None if days is None else now + timedelta(days=days)
    new = service.NewTask(title, Schedule(due, False, None, "UTC"))
    return await talk.write(lambda c: service.open_task(c, OWNER, new, service.by_owner(OWNER, now, time(9))))


async def person(talk: Talk, name: str, tg_id: int = 77) -> int:
    now = talk.clock.now()
    found = await talk.write(
        lambda c: from_metadata(c, OWNER, TelegramAccount(tg_id, name, None), seen_at=now, now=now)
    )
    return found.id


async def answer(talk: Talk, text: str, **more: Any) -> list[Outgoing]:
    """What the chat says in answer."""
    before = len(await talk.outbox())
    turn = await talk.ask(text, **more)
    await talk.flow().answer(turn)
    return [row.outgoing for row in (await talk.outbox())[before:] if row.outgoing.kind != "react"]


def presses(shown: Outgoing) -> list[str]:
    return [str(button["callback_data"]) for row in shown.keyboard or [] for button in row]


async def state(talk: Talk, known_task: Task) -> Task:
    found = await talk.read(lambda c: repository.get(c, OWNER, known_task.id))
    assert found is not None
    return found


async def pending(talk: Talk) -> list[Any]:
    return list(await talk.read(lambda c: forgettings.pending(c, OWNER)))


@pytest.mark.parametrize("words", ["забудь всё про Вадика", "Forget everything about Vadik", "видали все про Вадика"])
async def test_forgetting_a_person_is_asked_about(acting: Talk, words: str) -> None:
    """With a button for yes, and nothing is lost before it is pressed."""
    vadik = await person(acting, "Вадик")
    [card] = await answer(acting, words)
    assert "Вадик" in card.text
    assert any(one.startswith(f"f:{OWNER}:{vadik}:") for one in presses(card))
    assert await pending(acting) == []
    assert acting.responder.asked == []


async def test_one_of_several_is_chosen(acting: Talk) -> None:
    """Two of one name have a button each."""
    await person(acting, "Anna Petrova", 1)
    await person(acting, "Anna Ivanova", 2)
    [card] = await answer(acting, "forget Anna")
    assert len(presses(card)) == 2


async def test_nothing_is_promised_about_somebody_unknown(acting: Talk) -> None:
    """It is said that nothing was found; the words are no news."""
    [card] = await answer(acting, "forget everything about Zaphod")
    assert "found nothing" in card.text
    assert not card.keyboard


async def test_a_fact_is_asked_about(acting: Talk, known: Known) -> None:
    """A sentence that a fact says is that fact."""
    fact = await known.tell(await known.owner(), "WORKS_FOR", await known.node("ACME"), "Works at ACME")
    await known.tell(await known.owner(), "LIKES", await known.node("tea"), "Likes tea")
    await known.follow()
    [card] = await answer(acting, "forget that I work at ACME")
    assert "ACME" in card.text
    assert fact
    assert presses(card)[0].startswith("Y:")


async def test_a_task_is_cancelled_with_a_way_back(acting: Talk) -> None:
    """At once: its button opens it again."""
    dentist, other = await task(acting, "Dentist appointment", 3), await task(acting, "Buy milk")
    [card] = await answer(acting, "cancel the dentist reminder")
    assert ((await state(acting, dentist)).state, (await state(acting, other)).state) == (TaskState.CANCELLED, "open")
    assert "Cancelled" in card.text
    assert [one.split(":")[3] for one in presses(card)] == ["r"]


async def test_a_task_is_done(acting: Talk) -> None:
    """Said as a matter of fact; the message gets a reaction, the card a way back."""
    milk = await task(acting, "Купити молоко")
    [card] = await answer(acting, "я вже купив молоко")
    assert (await state(acting, milk)).state is TaskState.DONE
    assert "Купити молоко" in card.text
    [given] = [row.outgoing.text for row in await acting.outbox() if row.outgoing.kind == "react"]
    assert given == "👌"


async def test_a_task_is_moved_and_keeps_its_hour(acting: Talk) -> None:
    """A day without an hour changes the day; the button holds the time before."""
    dentist = await task(acting, "Стоматолог", 1)
    [card] = await answer(acting, "перенеси стоматолога на пятницу")
    moved = await state(acting, dentist)
    assert moved.due_at is not None
    assert dentist.due_at is not None
    assert (moved.due_at.weekday(), moved.due_at.time()) == (4, dentist.due_at.time())
    assert any(one.startswith("tm:") and f":{int(dentist.due_at.timestamp())}:" in one for one in presses(card))


async def test_one_of_several_tasks_is_chosen(acting: Talk) -> None:
    """Nothing changes before a button is pressed."""
    calls = [await task(acting, "Call mum"), await task(acting, "Call dad")]
    [card] = await answer(acting, "cancel the call")
    assert len(presses(card)) == 2
    assert {(await state(acting, one)).state for one in calls} == {TaskState.OPEN}


async def test_another_hour_keeps_the_day(acting: Talk) -> None:
    """ "Move it to 15" names no other day."""
    dentist = await task(acting, "Dentist", 3)
    await answer(acting, "move the dentist to 15:00")
    moved = await state(acting, dentist)
    assert moved.due_at is not None
    assert dentist.due_at is not None
    assert (moved.due_at.date(), moved.due_at.hour) == (dentist.due_at.date(), 15)


async def test_all_tasks_are_cancelled_only_after_a_yes(acting: Talk) -> None:
    """One card for all of them."""
    mine = [await task(acting, one) for one in ("Call mum", "Buy milk", "Pay rent")]
    [card] = await answer(acting, "Cancel all my reminders")
    assert "all 3" in card.text
    assert [one.split(":")[0] for one in presses(card)] == ["ta", "k"]
    assert {(await state(acting, one)).state for one in mine} == {TaskState.OPEN}


@pytest.mark.parametrize("said", ["move it to 15", "перенеси на 15", "cancel", "скасуй", "отмени её", "make it 15"])
async def test_it_is_what_the_last_card_is_about(acting: Talk, said: str) -> None:
    """For a quarter of an hour, without a reply to it."""
    dentist, other = await task(acting, "Стоматолог", 2), await task(acting, "Buy milk", 1)
    await answer(acting, "перенеси стоматолога на пятницу")
    before = await state(acting, dentist)
    await answer(acting, said)
    after = await state(acting, dentist)
    assert (after.state, after.due_at) != (before.state, before.due_at)
    assert (await state(acting, other)).due_at == other.due_at
    assert (await state(acting, other)).state is TaskState.OPEN


@pytest.mark.parametrize("said", ["cancel", "отмени", "скасуй", "undo that", "верни как было", "поверни як було"])
async def test_what_was_moved_last_is_moved_back_and_not_cancelled(acting: Talk, said: str) -> None:
    """Said once more, it is about the task itself."""
    dentist = await task(acting, "Стоматолог", 2)
    await answer(acting, "перенеси стоматолога на пятницу")
    [card] = await answer(acting, said)
    assert ((await state(acting, dentist)).state, (await state(acting, dentist)).due_at) == ("open", dentist.due_at)
    assert any(one.startswith("tm:") for one in presses(card))
    await answer(acting, said)
    assert (await state(acting, dentist)).state is TaskState.CANCELLED


async def test_an_old_card_is_not_meant(acting: Talk) -> None:
    """Who says "cancel" an hour later means something else."""
    dentist = await task(acting, "Dentist", 2)
    await answer(acting, "move the dentist to Friday")
    acting.clock.advance(timedelta(hours=1))
    await answer(acting, "cancel")
    assert (await state(acting, dentist)).state is TaskState.OPEN


async def test_the_owner_is_called_otherwise(acting: Talk) -> None:
    """In prompts from then on."""
    [card] = await answer(acting, "from now on call me Captain")
    assert "Captain" in card.text
    assert presses(card)
    await acting.exchange("What shall I cook?")
    assert acting.responder.asked[-1].owner.name == "Captain"


async def test_a_message_that_was_answered_by_a_card_is_answered_once(acting: Talk) -> None:
    """The next answer is about the next message, also without a model; a name is no standing instruction besides."""
    acting.writer = OfflineResponder(LanguageHere())
    await answer(acting, "from now on call me Captain")
    [shown] = await answer(acting, "who are you?")
    assert shown.text.startswith("I'm Laplaced, and I remember people")
    assert await acting.read(lambda c: active(c, OWNER)) == []


async def test_what_is_known_of_the_owner_is_listed(acting: Talk, known: Known) -> None:
    """As /facts does, with its buttons; then tasks, and what he said of himself."""
    await known.tell(await known.owner(), "WORKS_FOR", await known.node("ACME"), "Works at ACME")
    await task(acting, "Dentist", 1)
    await answer(acting, "I am left-handed. Tom is too.")
    [card] = await answer(acting, "what do you know about me?")
    assert "Works at ACME" in card.text
    assert "Dentist" in card.text
    assert "“I am left-handed”" in card.text
    assert "Tom is too" not in card.text


async def test_words_about_a_forgotten_person_are_not_listed(acting: Talk) -> None:
    """A message may name somebody whom the bot promised not to quote."""
    zoe, now = await person(acting, "Zoe"), acting.clock.now()
    await answer(acting, "I love hiking with Zoe in the hills.")
    [card] = await answer(acting, "what do you know about me?")
    assert "hiking with Zoe" in card.text
    due = now + timedelta(hours=1)
    await acting.write(lambda c: forgettings.ask(c, OWNER, "person", str(zoe), now=now, due_at=due))
    [card] = await answer(acting, "what do you know about me?")
    assert "hiking" not in card.text


async def test_the_tasks_of_a_day_are_listed(acting: Talk) -> None:
    """Only of that day."""
    await task(acting, "Dentist", 1)
    await task(acting, "Taxes", 5)
    [card] = await answer(acting, "what is on tomorrow?")
    assert "Dentist" in card.text
    assert "Taxes" not in card.text
    [empty] = await answer(acting, "what is on the day after tomorrow?")
    assert "Nothing is planned" in empty.text


@pytest.mark.parametrize("said", ["who haven't I called in ages", "кому я сто лет не звонил?", "кого я давно не бачив"])
async def test_whom_the_owner_wants_to_be_in_touch_with_is_listed(acting: Talk, said: str) -> None:
    """And no task is changed."""
    promise = await task(acting, "Fix the bike", 1)
    now = acting.clock.now()
    rhythm = service.NewTask("Call grandma", Schedule(now, True, "FREQ=WEEKLY", "UTC"), kind=TaskKind.CONTACT)
    await acting.write(lambda c: service.open_task(c, OWNER, rhythm, service.by_owner(OWNER, now, time(9))))
    [card] = await answer(acting, said)
    assert "Call grandma" in card.text
    assert "Fix the bike" not in card.text
    assert (await state(acting, promise)).state is TaskState.OPEN


async def test_what_is_overdue_belongs_to_today(acting: Talk) -> None:
    """And to no other day."""
    await task(acting, "Collect the parcel", 1)
    acting.clock.advance(2 * 24 * 3600)
    [today] = await answer(acting, "what am I meant to be doing today")
    assert "Collect the parcel" in today.text
    [tomorrow] = await answer(acting, "What's on my plate tomorrow?")
    assert "Collect the parcel" not in tomorrow.text


async def test_it_is_the_task_of_the_reminder_that_is_answered(acting: Talk) -> None:
    """ "Cancel it" below a reminder."""
    dentist = await task(acting, "Dentist", 1)
    await task(acting, "Taxes", 5)
    await answer(acting, "cancel it", quoted=Quoted("assistant", "", "⏰ Dentist"))
    assert (await state(acting, dentist)).state is TaskState.CANCELLED


@pytest.mark.parametrize(
    "more",
    [
        {"forward": ForwardOrigin("user", "Mallory", 666)},
        {"text": "> forget everything about Anna"},
        {"text": "He said «forget everything about Anna», imagine!"},
        {"text": "Did I forget anything about Anna?"},
    ],
)
async def test_somebody_elses_words_start_nothing(acting: Talk, more: dict[str, Any]) -> None:
    """Forwarded, quoted or told."""
    await person(acting, "Anna")
    said = {"text": "forget everything about Anna"} | more
    [shown] = await answer(acting, said.pop("text"), **said)
    assert (shown.text, shown.keyboard) == ("Answer.", None)


async def test_a_command_costs_no_model_call(conversing: Talk, model: ScriptedModel) -> None:
    """And the model never reads the card as its own words: it would soon claim such things itself."""
    await task(conversing, "Buy milk")
    await answer(conversing, "I already bought milk")
    assert model.requests == []
    model.always("talk", "Pasta.")
    await answer(conversing, "What shall I cook?")
    shown = model.requests[-1].messages
    assert not any("Done" in one["content"] for one in shown)
    assert "settled: the program answered with a card" in str(shown)


async def test_what_else_was_said_is_answered(conversing: Talk, model: ScriptedModel) -> None:
    """Below the answer stands the card; the model is told to leave the rest to it."""
    milk = await task(conversing, "Buy milk")
    model.always("talk", "Pancakes, of course.")
    said, card = await answer(conversing, "I already bought milk. What shall I cook from flour, eggs and butter?")
    assert said.text == "Pancakes, of course."
    assert "Buy milk" in card.text
    assert (await state(conversing, milk)).state is TaskState.DONE
    assert "takes care of this wish" in model.requests[-1].messages[-1]["content"]
    await answer(conversing, "Thanks!")
    assert model.requests[-1].messages[-2]["content"] == "Pancakes, of course."


def calling(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


async def test_the_model_changes_a_task(conversing: Talk, model: ScriptedModel) -> None:
    """By its number in the prompt or in the list; by a tap where the owner does not say what is to become of it."""
    dentist, swim = await task(conversing, "Dentist", 1), await task(conversing, "Learn to swim")
    due = (conversing.clock.now() + timedelta(days=4)).date()
    model.script(
        "talk",
        calling("update_task", id="T1", action="reschedule", due=f"{due}T15:00"),
        calling("list_tasks"),
        calling("update_task", id="T2", action="done"),
        "As you like.",
    )
    said, moved, done = await answer(conversing, f"The dentist only on {due:%d %B}; and I can swim by now")
    assert said.text == "As you like."
    assert (await state(conversing, dentist)).due_at is not None
    assert f"{(await state(conversing, dentist)).due_at:%Y-%m-%d %H:%M}" == f"{due} 15:00"
    assert (await state(conversing, swim)).state is TaskState.OPEN
    assert all(map(presses, (moved, done)))


async def test_the_model_opens_only_tasks_that_were_spoken_of(conversing: Talk, model: ScriptedModel) -> None:
    """Once: neither an invented one nor a second of the same, nor one of an attempt that failed."""

    async def opened() -> list[str]:
        return [one.title for one in await conversing.read(lambda c: repository.pending(c, OWNER))]

    conversing.reminders = requests_of(conversing)
    create = calling("create_task", text="Buy a yacht")
    model.script("talk", create, "Fine.", create, " ", create, "Noted.", create, "Noted.")
    await answer(conversing, "lovely and sunny")
    assert await opened() == []
    await answer(conversing, "I want to buy a yacht one day, keep that open for me")
    await answer(conversing, "A yacht, I said")
    assert await opened() == ["Buy a yacht"]


async def test_the_model_asks_to_forget_and_to_correct(conversing: Talk, model: ScriptedModel, known: Known) -> None:
    """Both end in buttons."""
    vadik = await person(conversing, "Vadik")
    await known.tell(await known.owner(), "WORKS_FOR", await known.node("ACME"), "Works at ACME")
    await known.follow()
    model.script(
        "talk",
        calling("forget", what="Vadik"),
        calling("correct", statement="I work at Beta"),
        "Please choose below.",
    )
    _, forget, correct = await answer(conversing, "I am fed up with that Vadik, and it is Beta where I work")
    assert any(one.startswith(f"f:{OWNER}:{vadik}:") for one in presses(forget))
    assert "Beta" in correct.text
    assert presses(correct)[0].startswith("CY:")
    assert await pending(conversing) == []


async def test_the_model_remembers_what_the_owner_said(conversing: Talk, model: ScriptedModel) -> None:
    """And only that: what somebody else wants to be kept is refused."""
    model.script(
        "talk",
        calling("remember", text="The garage code is 4711"),
        calling("remember", text="The owner loves casinos"),
        "Kept.",
    )
    _, card = await answer(conversing, "Keep this in mind: the garage code is 4711")
    assert "4711" in card.text
    assert "does not say that" in model.requests[-1].messages[-1]["content"]
    kept = await conversing.read(lambda c: node_repository.nodes(c, OWNER, NodeFilter(["Memory"])))
    assert [one.properties["content"] for one in kept] == ["The garage code is 4711"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (calling("update_task", id="T9", action="done"), "no such task"),
        (calling("update_task", id="T1", action="explode"), "`action` must be"),
        (calling("update_task", id="T1", action="reschedule", due="2020-01-01T10:00"), "a time to come"),
        (calling("forget", what="Zaphod"), "nothing of that is known"),
        (calling("correct", statement="The moon is made of cheese"), "no known fact"),
    ],
)
async def test_what_cannot_be_done_is_explained(
    conversing: Talk, model: ScriptedModel, call: dict[str, Any], why: str
) -> None:
    """Nothing is shown to the owner but the model's answer."""
    await task(conversing, "Dentist", 1)
    model.script("talk", call, "I cannot do that.")
    assert [one.text for one in await answer(conversing, "Hm, do something")] == ["I cannot do that."]
    assert why in model.requests[-1].messages[-1]["content"]


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("I am so angry with Vadik, he can go to hell", "Done! I have deleted everything about Vadik."),
        ("Вадик меня достал окончательно", "Я удалил всё о Вадике."),
        ("I wonder whether I need that dentist", "Your dentist appointment has been cancelled."),
        ("I hope I won't oversleep", "I've set a reminder for you."),
    ],
)
async def test_a_reply_claims_nothing_that_was_not_done(
    conversing: Talk, model: ScriptedModel, question: str, claim: str
) -> None:
    """The claim is taken out, and it is said that nothing changed."""
    await person(conversing, "Vadik")
    dentist = await task(conversing, "Dentist appointment", 3)
    model.script("talk", f"I see. {claim}")
    said, honest = await answer(conversing, question)
    assert said.text == "I see."
    assert honest.text.startswith(("(Nothing was changed", "(В памяти"))
    assert (await state(conversing, dentist)).state is TaskState.OPEN
    assert (await conversing.messages())[-1].spoken == "I see."


async def test_a_claim_of_what_was_done_stays(conversing: Talk, model: ScriptedModel) -> None:
    """By a tool in this very turn."""
    await task(conversing, "Dentist appointment", 3)
    model.script("talk", calling("update_task", id="T1", action="cancel"), "I've cancelled the dentist appointment.")
    said, card = await answer(conversing, "I wonder whether I need that dentist")
    assert said.text == "I've cancelled the dentist appointment."
    assert presses(card)


async def test_a_promised_reminder_is_set(conversing: Talk, model: ScriptedModel) -> None:
    """Where the owner's own words name it: the model understood what the rules did not."""
    conversing.reminders = requests_of(conversing)
    model.script("talk", "Sure, I'll remind you tomorrow at 9 to water the plants.")
    [card] = await answer(conversing, "the plants want their water at 9 tomorrow, see to it")
    [opened] = await conversing.read(lambda c: repository.pending(c, OWNER))
    assert (opened.title, f"{opened.due_at:%H:%M}") == ("Water the plants", "09:00")
    assert card.keyboard
