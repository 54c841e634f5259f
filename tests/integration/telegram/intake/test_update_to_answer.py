"""From an update to an answer: everything between Telegram and the model, with a real local Telegram."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from aiogram.types import BotCommandScopeChat, Update
from sqlalchemy import Connection, select
from support.interfaces.telegram_samples import sample
from support.interfaces.telegram_stage import MODEL, BotStage, WholeBot, eventually, whole_bot
from support.patience import PATIENCE_S

from bot.telegram.i18n import label, phrase
from bot.telegram.intake.update_kinds import ALLOWED_UPDATES, UPDATES, Outcome
from internal.access import repository as users, service as access
from internal.chronicle import repository as chronicle
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.errors import StorageError
from internal.events import repository as events
from internal.events.chain import chain
from internal.events.model import Event
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.storage import tables
from internal.storage.types import new_id
from internal.testing import Fault, ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")


def raw(number: int, user: int, **content: Any) -> tuple[int, str]:
    """A message as Telegram brings it, without Telegram."""
    author = {"id": user, "is_bot": False, "first_name": "Olena", "language_code": "en"}
    message = {
        "message_id": 1_000_000 + number,
        "date": 1_780_000_000,
        "chat": {"id": user, "type": "private"},
        "from": author,
    }
    return number, json.dumps({"update_id": number, "message": message | content})


async def messages(stage: BotStage, user: int) -> list[str]:
    listing = await stage.read(lambda c: dialogue.recent(c, user, limit=1000))
    return [message.content for message in listing]


async def settled(stage: BotStage) -> bool:
    return all(state != "received" for state, _ in await stage.inbox())


async def said(stage: BotStage, chat: int, count: int = 1) -> list[str]:
    """The bot's texts once there are so many."""

    async def enough() -> list[str] | None:
        texts = await stage.texts(chat)
        return texts if len(texts) >= count else None

    found: list[str] = await eventually(enough)
    return found


async def test_a_question_is_answered(stage: BotStage, model: ScriptedModel) -> None:
    """Nothing of the raw update is left, and the answer is marked as sent."""
    model.always(MODEL, "**Hello** Olena.")
    user = await stage.person(known=False)
    async with whole_bot(stage, model) as bot:
        await stage.say(user, "Hi")
        assert await said(stage, user) == ["Hello Olena."]
        await eventually(lambda: settled(stage))
    assert await stage.inbox() == [("ingested", "")]
    assert await messages(stage, user) == ["Hi", "**Hello** Olena."]
    assert len(bot.buffers.of(user)) == 2


async def test_a_reaction_is_taken_in(stage: BotStage, model: ScriptedModel) -> None:
    """Telegram is asked for reactions; one to an answer is Feedback, one of somebody unknown leaves nothing."""
    model.always(MODEL, "Hello Olena.")
    user = await stage.person()
    async with whole_bot(stage, model) as bot:
        await stage.say(user, "Hi")
        sent = select(tables.outbox.c.tg_id).where(tables.outbox.c.tg_id.is_not(None))
        tg_id = await eventually(lambda: stage.read(lambda c: c.execute(sent).scalar()))
        place = {"date": 1_780_000_000, "message_id": tg_id, "old_reaction": []}
        for number, (chat, shown) in enumerate([(user, "👍"), (999, "👎")], 5_000):
            new = [{"type": "emoji", "emoji": shown}, {"type": "custom_emoji", "custom_emoji_id": "77"}]
            reaction = place | {"chat": {"id": chat, "type": "private"}, "new_reaction": new}
            await bot.ingest.accept([(number, json.dumps({"update_id": number, "message_reaction": reaction}))])
        await eventually(lambda: settled(stage))
    assert "message_reaction" in ALLOWED_UPDATES
    *_, answer, feedback = await stage.read(lambda c: chronicle.events(c, user))
    assert (feedback.label, feedback.text, feedback.answers_n) == ("Feedback", "👍 77", answer.n)
    assert [state for state, _ in await stage.inbox()] == ["ingested", "ingested", "ignored"]


async def test_each_kind_of_update_ends_as_stated(stage: BotStage, model: ScriptedModel) -> None:
    """None is set aside: what is stated as handled is, what is stated as ignored leaves nothing."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    Update.model_rebuild()  # its fields are names of types until something needs them
    async with whole_bot(stage, model, poll=False) as bot:
        for number, kind in enumerate(UPDATES, 7_000):
            body = sample(Update.model_fields[kind].annotation, user)
            await bot.ingest.accept([(number, json.dumps({"update_id": number, kind: body}))])
            await eventually(lambda: settled(stage))
    ended = dict(zip(UPDATES, (state for state, _ in await stage.inbox()), strict=True))
    expected = {kind: "ingested" if one.outcome is Outcome.HANDLED else "ignored" for kind, one in UPDATES.items()}
    assert ended == expected


async def test_an_unreadable_update_is_put_aside_and_the_rest_goes_on(stage: BotStage, model: ScriptedModel) -> None:
    """Its raw text is kept for a human, it is counted, and an event tells it."""
    model.always(MODEL, "Hello.")
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.request("POST", "/updates", {"update_id": 1, "message": {"text": "no date, no chat"}})
        await stage.say(user, "Hi")
        await said(stage, user)
        await eventually(lambda: settled(stage))
    states = dict(await stage.inbox())
    assert set(states) == {"quarantined", "ingested"}
    assert "no date, no chat" in states["quarantined"]
    assert stage.observer.counts["quarantined"] == 1
    kinds = await stage.read(lambda c: c.execute(select(tables.events.c.event_type)).scalars().all())
    assert "update_quarantined" in kinds


async def test_messages_of_a_chat_keep_their_order(stage: BotStage, model: ScriptedModel) -> None:
    """Thirty at once from each of three people; each dialogue is in order, and every turn answered."""
    model.always(MODEL, "Ok.")
    people = [await stage.person() for _ in range(3)]
    async with whole_bot(stage, model, poll=False) as bot:
        numbers = iter(range(1, 1000))
        batch = [raw(next(numbers), user, text=str(n)) for n in range(30) for user in people]
        await bot.ingest.accept(batch)
        await eventually(lambda: settled(stage))
    for user in people:
        words = [text for text in await messages(stage, user) if text != "Ok."]
        assert words == [str(n) for n in range(30)]


async def test_room_for_updates_is_bounded_and_never_runs_out(stage: BotStage, model: ScriptedModel) -> None:
    """With room for two, a hundred updates with commands and failures among them all come through."""
    model.always(MODEL, "Ok.")
    people = [await stage.person() for _ in range(4)]
    command = [{"type": "bot_command", "offset": 0, "length": 5}]
    async with whole_bot(stage, model, poll=False, waiting=2) as bot:
        bot.handlers.before = [RuntimeError("once")] * 2
        batch = []
        for number in range(100):
            more = {"text": "/help", "entities": command} if number % 3 == 0 else {"text": str(number)}
            batch.append(raw(number + 1, people[number % 4], **more))
        batch.append((500, "{}"))
        async with asyncio.timeout(PATIENCE_S):
            await bot.ingest.accept(batch)
            await bot.ingest.accept(batch)  # all repeated
        await eventually(lambda: settled(stage))
    states = [state for state, _ in await stage.inbox()]
    assert (len(states), states.count("quarantined")) == (101, 1)


async def test_a_task_and_its_answer_lead_back_to_the_command(stage: BotStage, model: ScriptedModel) -> None:
    """Though the handler failed once: its command is told a single time, before what came of it."""
    user = await stage.person()

    async def sent() -> list[Event]:
        return await stage.read(lambda c: events.listing(c, user, event_type="message_sent"))

    async with whole_bot(stage, model, poll=False) as bot:
        bot.handlers.before = [RuntimeError("once")]
        command = [{"type": "bot_command", "offset": 0, "length": 6}]
        await bot.ingest.accept([raw(1, user, text="/tasks call mum tomorrow", entities=command)])
        (answer,) = await eventually(sent)
    (told,) = await stage.read(lambda c: events.listing(c, user, event_type="command_received"))
    (opened,) = await stage.read(lambda c: events.listing(c, user, event_type="task_open"))
    assert told.payload == {"update_id": 1, "command": "/tasks"}
    for event in (answer, opened):
        found = await stage.read(partial(chain, user_id=user, event_id=event.id))
        assert found is not None
        assert [one.id for one in found.back] == [told.id]


async def test_a_handler_that_fails_is_tried_in_place_then_put_aside(stage: BotStage, model: ScriptedModel) -> None:
    """Nothing of the chat overtakes it; others go on, and who sent it learns that it failed."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    async with whole_bot(stage, model, poll=False) as bot:
        command = {"text": "/help", "entities": [{"type": "bot_command", "offset": 0, "length": 5}]}
        bot.handlers.before = [RuntimeError("one"), RuntimeError("two")]
        await bot.ingest.accept([raw(1, user, **command), raw(2, user, text="after")])
        await eventually(lambda: settled(stage))
        assert [state for state, _ in await stage.inbox()] == ["ingested", "ingested"]
        bot.handlers.before = [RuntimeError("for ever")] * 3
        await bot.ingest.accept([raw(3, user, **command), raw(4, user, text="goes on")])
        await eventually(lambda: settled(stage))
        await said(stage, user, 4)
    assert [state for state, _ in await stage.inbox()][2:] == ["quarantined", "ingested"]
    assert "/help" in (await stage.inbox())[2][1]
    assert phrase("en", "answer-failed") in await stage.texts(user)


async def test_a_database_that_refuses_is_waited_for(stage: BotStage, model: ScriptedModel) -> None:
    """An outage of the disk puts nothing aside and loses nothing."""
    user = await stage.person()
    async with whole_bot(stage, model, poll=False) as bot:
        bot.handlers.before = [StorageError("disk full")] * 6
        command = {"text": "/help", "entities": [{"type": "bot_command", "offset": 0, "length": 5}]}
        await bot.ingest.accept([raw(1, user, **command)])
        await eventually(lambda: settled(stage))
        assert bot.handlers.handled == [1]
    assert [state for state, _ in await stage.inbox()] == ["ingested"]


async def test_commands_do_not_wait_for_an_answer(stage: BotStage, model: ScriptedModel) -> None:
    """While the model thinks, /help is answered."""
    model.script(MODEL, Fault("slow", text="Late.", seconds=1.5))
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.say(user, "A hard question")
        await model.wait_for(MODEL)
        await stage.say(user, "/help")
        await said(stage, user)
        assert "Late." not in await stage.texts(user)
        await stage.wait_for_message(user, lambda m: m["text"] == "Late.")


async def test_a_chat_goes_on_while_another_time_is_asked_about(stage: BotStage, model: ScriptedModel) -> None:
    """While the model answers /asof, commands and messages are handled; questions of its kind keep their order."""
    model.script(MODEL, Fault("slow", text="At Zalando.", seconds=6), "Ok.", "Still at Zalando.")
    user = await stage.person()
    await stage.write(lambda c: remember(c, user, "Katarzyna worked for Zalando"))
    async with whole_bot(stage, model):
        await stage.say(user, "/asof 2023 where did Katarzyna work?")
        await model.wait_for(MODEL)
        await stage.say(user, "/asof 2022 where did Katarzyna work?")
        await stage.say(user, "/help")
        await said(stage, user)
        await stage.say(user, "And now something else")
        await stage.wait_for_message(user, lambda m: m["text"] == "Ok.")
        assert not any("Zalando" in text for text in await stage.texts(user))
        await stage.wait_for_message(user, lambda m: "Still at Zalando." in m["text"])
        await eventually(lambda: settled(stage))
    answers = [text for text in await stage.texts(user) if "at Zalando" in text.replace("At", "at")]
    assert ["Still" in text for text in answers] == [False, True]


async def test_a_question_about_another_time_outlives_a_restart(stage: BotStage, model: ScriptedModel) -> None:
    """It counts as worked off when it is answered, so a stop in between loses nothing, and nothing is said twice."""
    model.script(MODEL, Fault("slow", text="Too late.", seconds=8), "At Zalando.")
    user = await stage.person()
    await stage.write(lambda c: remember(c, user, "Katarzyna worked for Zalando"))
    async with whole_bot(stage, model) as bot:
        await stage.say(user, "/asof 2023 where did Katarzyna work?")
        await model.wait_for(MODEL)
        await bot.ingest.drain(0.1)
    assert [state for state, _ in await stage.inbox()] == ["received"]
    async with whole_bot(stage, model):
        await stage.wait_for_message(user, lambda m: "At Zalando." in m["text"])
        await eventually(lambda: settled(stage))
    assert sum("Zalando" in text for text in await stage.texts(user)) == 1


def remember(connection: Connection, user_id: int, words: str) -> None:
    """A fact that held from 2020 on."""
    since, now = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)
    ends = [
        store.add_node(connection, user_id, "Entity", {"name": name, "type": "organization"}, now=now).id
        for name in ("Katarzyna", "Zalando")
    ]
    lines = [ClaimLine(1, words)]
    claim = NewClaim(ends[0], "WORKS_FOR", ends[1], words, now, since, episode_id=new_id(), lines=lines)
    knowledge.record_claims(connection, user_id, [claim], now=now)


async def test_a_message_waits_for_the_command_before_it(stage: BotStage, model: ScriptedModel) -> None:
    """What a command does is done when the next message is read, also when both come at once after an outage."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    order: list[str] = []

    async def slowly() -> None:
        await asyncio.sleep(0.2)
        order.extend(await messages(stage, user))

    async with whole_bot(stage, model, poll=False) as bot:
        bot.handlers.before = [slowly]
        command = {"text": "/help", "entities": [{"type": "bot_command", "offset": 0, "length": 5}]}
        await bot.ingest.accept([raw(1, user, **command), raw(2, user, text="next")])
        await eventually(lambda: settled(stage))
    assert order == []
    assert "next" in await messages(stage, user)


async def test_a_stranger_gets_one_polite_line_and_leaves_no_trace(stage: BotStage, model: ScriptedModel) -> None:
    """In his language, once; neither his words nor his name nor a user are kept."""
    stranger, other = await stage.person(known=False, language="uk"), await stage.person(known=False)
    async with whole_bot(stage, model, admit_all=False):
        for text in ("Таємниця", "Ще таємниця", "/start", "/start AAAA-BBBB-CCCC"):
            await stage.say(stranger, text)
        await stage.say(other, "Secret", reply_to=None)
        await said(stage, stranger)
        await said(stage, other)
        await eventually(lambda: settled(stage))
    assert len(await stage.texts(stranger)) == len(await stage.texts(other)) == 1
    assert await stage.read(lambda c: users.find(c, stranger)) is None
    await eventually(lambda: _all_sent(stage))
    for table in tables.metadata.sorted_tables:
        rows = await stage.read(lambda c, table=table: [list(row) for row in c.execute(select(table))])
        text = json.dumps(rows, default=str, ensure_ascii=False)
        assert "аємниця" not in text
        assert "Olena" not in text
    assert {text for _, text in await stage.inbox()} == {""}
    assert model.requests == []


async def _all_sent(stage: BotStage) -> bool:
    states = await stage.read(lambda c: c.execute(select(tables.outbox.c.state)).scalars().all())
    return set(states) == {"sent"}


async def test_the_owner_code_lets_its_bearer_in(stage: BotStage, model: ScriptedModel) -> None:
    """Once; the next one who tries it stays a stranger."""
    code = await stage.write(access.issue_owner_code)
    owner, thief = await stage.person(known=False), await stage.person(known=False)
    async with whole_bot(stage, model, admit_all=False):
        await stage.say(owner, f"/start {code}")
        await said(stage, owner, 2)
        await stage.say(thief, f"/start {code}")
        await said(stage, thief)
    known = await stage.read(lambda c: users.get(c, owner))
    assert known.role == "owner"
    assert await stage.read(lambda c: users.find(c, thief)) is None


async def test_a_group_is_told_once_where_the_bot_works(stage: BotStage, model: ScriptedModel) -> None:
    """When it is added and when it is spoken to; nothing said there is kept."""
    user = await stage.person(known=False)
    async with whole_bot(stage, model):
        group = await stage.request(
            "POST", "/chats", {"title": "Family", "members": [user], "type": "group", "privacy": False}
        )
        for text in ("Secret", "Another secret"):
            await stage.say(user, text, chat_id=group["id"])
        await said(stage, group["id"])
        await eventually(lambda: settled(stage))
        await asyncio.sleep(0.1)
    [line] = await stage.texts(group["id"])
    assert "private messages" in line
    assert {text for _, text in await stage.inbox()} == {""}
    assert await stage.read(lambda c: users.find(c, user)) is None


async def test_a_channel_is_left_without_a_word(stage: BotStage, model: ScriptedModel) -> None:
    """Anybody can make the bot an administrator of his channel; what it says there is public."""
    stranger = await stage.person(known=False)
    await stage.fault("server_error", "leaveChat")
    async with whole_bot(stage, model):
        channel = await stage.request("POST", "/chats", {"title": "News", "members": [stranger], "type": "channel"})
        await eventually(lambda: stage.ledger(channel["id"], "leaveChat"))
        await eventually(lambda: settled(stage))
    assert [call["method"] for call in await stage.ledger(channel["id"])] == ["leaveChat", "leaveChat"]
    assert await stage.inbox() == [("ignored", "")]
    assert await stage.texts(channel["id"]) == []


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ({"text": "Hi", "entities": [{"offset": 0, "length": 2}]}, "Hello."),
        ({"sticker": {"file_id": "f", "kind": "a kind of the future"}}, "messages like this"),
        ({"hologram": {"of": "Kyiv"}}, "messages like this"),
        (
            {"rich_message": {"blocks": [{"type": "paragraph", "text": ["Hi ", {"type": "bold", "text": "a"}]}]}},
            "Hello.",
        ),
    ],
)
async def test_a_message_with_fields_that_cannot_be_read_is_answered(
    stage: BotStage, model: ScriptedModel, content: dict[str, Any], answer: str
) -> None:
    """What can be read of it is; where nothing can, the user is told so instead of waiting."""
    model.always(MODEL, "Hello.")
    user = await stage.person()
    async with whole_bot(stage, model) as bot:
        await bot.ingest.accept([raw(1, user, **content)])
        assert answer in (await said(stage, user))[0]
    assert [state for state, _ in await stage.inbox()] == ["ingested"]
    assert stage.observer.counts["quarantined"] == 0


async def test_an_edit_reaches_the_answer_that_is_being_written(stage: BotStage, model: ScriptedModel) -> None:
    """The old answer is never seen."""
    model.script(MODEL, Fault("slow", text="Old.", seconds=0.6), "New.")
    user = await stage.person()
    async with whole_bot(stage, model):
        sent = await stage.say(user, "Kyiv?")
        await model.wait_for(MODEL)
        await stage.edit(user, sent["message_id"], "Lviv?")
        assert await said(stage, user) == ["New."]
    assert "Lviv?" in model.asked(MODEL)[1].text
    assert await messages(stage, user) == ["Lviv?", "New."]


async def test_stop_on_the_draft_ends_the_writing(stage: BotStage, model: ScriptedModel) -> None:
    """Before a first word it leaves nothing behind, and the next question is answered."""
    model.script(MODEL, Fault("hang"), "Second answer.")
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.say(user, "First")
        await model.wait_for(MODEL)
        await eventually(lambda: _stopped(stage, user))
        await eventually(lambda: _turns(stage, {"cancelled"}))
        await stage.say(user, "Second")
        assert await said(stage, user) == ["Second answer."]


async def _stopped(stage: BotStage, user: int) -> bool:
    return bool((await stage.request("POST", f"/users/{user}/stop"))["stopped"])


async def _turns(stage: BotStage, states: set[str]) -> bool:
    return set(await stage.read(lambda c: c.execute(select(tables.turns.c.state)).scalars().all())) == states


async def test_where_drafts_are_refused_a_message_stands_for_the_answer(stage: BotStage, model: ScriptedModel) -> None:
    """It grows, carries a stop button, and becomes the answer: one message in all."""
    user = await stage.person()
    refused = {"times": 50, "description": "Bad Request: TEXTDRAFT_PEER_INVALID"}
    await stage.fault("bad_request", "sendMessageDraft", **refused)
    async with whole_bot(stage, model) as bot:
        writing = asyncio.Event()
        bot.turns._responder = _Halting(bot.turns._responder, writing)  # type: ignore[assignment]
        model.script(MODEL, "word " * 40)
        await stage.say(user, "Tell me")
        placeholder = await stage.wait_for_message(user, lambda m: "reply_markup" in m)
        button = placeholder["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
        press = await stage.press(user, placeholder["message_id"], button)
        await eventually(lambda: _turns(stage, {"cancelled"}))
        await eventually(lambda: _whole(stage, user))
        await eventually(lambda: _answered(stage, press))
    [message] = await stage.bot_messages(user)
    assert message["message_id"] == placeholder["message_id"]
    assert "reply_markup" not in message or not message["reply_markup"].get("inline_keyboard")


async def _whole(stage: BotStage, user: int) -> bool:
    [message] = await stage.bot_messages(user)
    return message["text"].startswith("word") and not message.get("reply_markup", {}).get("inline_keyboard")


async def _answered(stage: BotStage, press: str) -> bool:
    return (await stage.request("GET", f"/callbacks/{press}"))["answer"] is not None


class _Halting:
    """A Responder that says what another says and then is silent until it is stopped."""

    def __init__(self, real: Any, event: asyncio.Event) -> None:
        self._real, self._event = real, event

    async def reply(self, request: Any) -> Any:
        async for delta in self._real.reply(request):
            if delta.final is not None:
                await self._event.wait()
            yield delta


async def test_media_get_an_honest_answer_and_service_messages_none(stage: BotStage, model: ScriptedModel) -> None:
    """A voice note is told to be beyond the bot; a pinned message is not its business."""
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.say(user, media="voice")
        assert "voice messages" in (await said(stage, user))[0]
        await stage.say(user, extra={"pinned_message": None, "new_chat_photo": []}, text="")
        await eventually(lambda: settled(stage))
    assert model.requests == []


async def test_an_album_is_one_turn(stage: BotStage, model: ScriptedModel) -> None:
    """Three photos with one caption get one answer."""
    model.always(MODEL, "Nice.")
    user = await stage.person()
    async with whole_bot(stage, model, group_window=timedelta(seconds=1)):
        await stage.say(user, media="photo", media_group_id="a", caption="We three")
        for _ in range(2):
            await stage.say(user, media="photo", media_group_id="a")
        await said(stage, user)
        await eventually(lambda: _turns(stage, {"closed"}))
    assert await stage.texts(user) == ["Nice."]
    assert len(model.asked(MODEL)) == 1


async def test_a_text_cut_by_the_app_is_one_turn(stage: BotStage, model: ScriptedModel) -> None:
    """Ten thousand characters arrive as several messages and get one answer."""
    model.always(MODEL, "Long.")
    user = await stage.person()
    async with whole_bot(stage, model, group_window=timedelta(seconds=1)):
        sent = await stage.request("POST", f"/users/{user}/messages", {"text": "слово " * 1700})
        assert len(sent["messages"]) > 1
        await said(stage, user)
        await eventually(lambda: _turns(stage, {"closed"}))
    assert await stage.texts(user) == ["Long."]


async def test_a_contact_becomes_a_person(stage: BotStage, model: ScriptedModel) -> None:
    """By its Telegram id, without asking a model."""
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.say(user, contact={"phone_number": "+38", "first_name": "Marko", "user_id": 4242})
        await said(stage, user)
    query = select(tables.people.c.display_name, tables.people.c.telegram_id)
    assert await stage.read(lambda c: [tuple(row) for row in c.execute(query)]) == [("Marko", 4242)]


async def test_who_blocks_and_comes_back_gets_what_was_owed(stage: BotStage, model: ScriptedModel) -> None:
    """Blocked while the answer was written: it is held, and sent when he writes again."""
    model.script(MODEL, Fault("slow", text="First.", seconds=0.5), "Second.")
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.say(user, "One")
        await model.wait_for(MODEL)
        await stage.request("POST", f"/users/{user}/block")
        await eventually(lambda: _held(stage))
        await stage.request("POST", f"/users/{user}/unblock")
        await stage.say(user, "Two")
        assert await said(stage, user, 2) == ["First.", "Second."]


async def _held(stage: BotStage) -> bool:
    rows = await stage.read(lambda c: c.execute(select(tables.outbox.c.state)).scalars().all())
    return rows == ["held"]


async def test_a_backlog_is_answered_as_it_was_written(stage: BotStage, model: ScriptedModel) -> None:
    """What came while the bot was down is taken up in order: messages far apart get an answer each."""
    model.always(MODEL, lambda asked: f"To {asked.messages[-1]['content'].splitlines()[-1]}")
    user = await stage.person()
    first, second = raw(1, user, text="morning"), raw(2, user, text="evening")
    later = json.loads(second[1])
    later["message"]["date"] += 40_000
    batch = [first, (2, json.dumps(later))]
    await stage.write(lambda c: mailbox.receive(c, stage.bot.id, batch, stage.clock.now()))
    async with whole_bot(stage, model):
        assert await said(stage, user, 2) == ["To morning", "To evening"]


async def test_a_turn_broken_off_by_a_stop_is_answered_after_the_restart(stage: BotStage, model: ScriptedModel) -> None:
    """Once, without an apology, and no task is left behind by the stop."""
    model.script(MODEL, Fault("hang"), "After all.")
    user = await stage.person()
    async with whole_bot(stage, model) as bot:
        await stage.say(user, "Hi")
        await model.wait_for(MODEL)
        await bot.stop(0.05)
        left = [task.get_name() for task in asyncio.all_tasks()]
        assert [name for name in left if name.startswith(("lane", "ingest", "draft"))] == []
    async with whole_bot(stage, model):
        assert await said(stage, user) == ["After all."]
    assert await messages(stage, user) == ["Hi", "After all."]


async def test_what_arrives_while_it_stops_is_kept_for_the_next_start(stage: BotStage, model: ScriptedModel) -> None:
    """A webhook may still call: the update is on disk, and nothing is begun any more."""
    model.always(MODEL, "Hello.")
    user = await stage.person()
    async with whole_bot(stage, model, poll=False) as bot:
        await bot.stop()
        await bot.ingest.accept([raw(1, user, text="late")])
        assert [state for state, _ in await stage.inbox()] == ["received"]
    async with whole_bot(stage, model, poll=False):
        assert await said(stage, user) == ["Hello."]


async def test_what_comes_while_it_starts_waits_for_what_was_left(stage: BotStage, model: ScriptedModel) -> None:
    """A webhook may call before the start is done: nothing overtakes an older message, and nothing is begun twice."""
    model.always(MODEL, lambda asked: f"To {asked.messages[-1]['content'].splitlines()[-1]}")
    user = await stage.person()
    first, second = raw(1, user, text="old"), raw(2, user, text="new")
    await stage.write(lambda c: mailbox.receive(c, stage.bot.id, [first], stage.clock.now()))
    bot = WholeBot(stage, model, group_window=timedelta(0))
    early = asyncio.create_task(bot.ingest.accept([second]))
    await eventually(lambda: _received(stage, 2))
    assert not early.done()
    assert await bot.ingest.resume() == 2
    await early
    assert await said(stage, user, 2) == ["To old", "To new"]
    await bot.stop()
    assert [text for text in await messages(stage, user) if not text.startswith("To ")] == ["old", "new"]


async def _received(stage: BotStage, count: int) -> bool:
    return [state for state, _ in await stage.inbox()] == ["received"] * count


async def test_a_start_does_not_wait_for_a_long_backlog(stage: BotStage, model: ScriptedModel) -> None:
    """It is worked off behind it, and a stop in the midst of it leaves the rest for the next start."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    backlog = [raw(number, user, text=str(number)) for number in range(1, 41)]
    await stage.write(lambda c: mailbox.receive(c, stage.bot.id, backlog, stage.clock.now()))
    async with whole_bot(stage, model, poll=False, waiting=1) as bot:
        assert len(bot.ingest.inbox_worker._chats) <= 1
        await bot.stop()
    assert {state for state, _ in await stage.inbox()} >= {"received"}
    async with whole_bot(stage, model, poll=False, waiting=1):
        await eventually(lambda: settled(stage))
    assert [text for text in await messages(stage, user) if text != "Ok."] == [str(n) for n in range(1, 41)]


async def test_updates_of_another_bot_are_put_aside(stage: BotStage, model: ScriptedModel) -> None:
    """Its chats and messages are not this bot's: they are kept as they came until its token is back."""
    user = await stage.person()
    foreign = stage.bot.id + 1
    await stage.write(lambda c: mailbox.receive(c, foreign, [raw(1, user, text="for the other")], stage.clock.now()))
    async with whole_bot(stage, model, poll=False):
        await eventually(lambda: settled(stage))
    [(state, kept)] = await stage.inbox()
    assert (state, "for the other" in kept) == ("quarantined", True)
    [aside] = await stage.read(lambda c: mailbox.quarantine(c, limit=5))
    assert f"another bot ({foreign})" in aside.error
    assert await messages(stage, user) == []


async def test_too_fast_is_told_once_and_nothing_is_lost(stage: BotStage, model: ScriptedModel) -> None:
    """The limit counts what a user sends; all of it is in the log."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    async with whole_bot(stage, model, messages_per_minute=2):
        for number in range(5):
            await stage.say(user, str(number))
        await eventually(lambda: settled(stage))
        await said(stage, user, 2)
        await eventually(lambda: _all_sent(stage))
    told = [text for text in await stage.texts(user) if "at most 2 messages" in text]
    assert len(told) == 1
    assert [text for text in await messages(stage, user) if text != "Ok."] == list("01234")


async def test_a_removed_user_is_a_stranger(stage: BotStage, model: ScriptedModel) -> None:
    """His new words are not kept, edits included."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    async with whole_bot(stage, model):
        sent = await stage.say(user, "Hi")
        await said(stage, user)
        await stage.write(lambda c: users.change(c, user, state="removed"))
        await stage.edit(user, sent["message_id"], "Secret")
        await stage.say(user, "Another secret")
        await said(stage, user, 2)
        await eventually(lambda: settled(stage))
    assert await messages(stage, user) == ["Hi", "Ok."]


async def test_the_model_is_shown_what_a_message_answers(stage: BotStage, model: ScriptedModel) -> None:
    """A part of the bot's own words, and words from another chat; the owner's own words are his alone."""
    model.always(MODEL, "We meet at nine, or at ten.")
    user = await stage.person()
    marko = {"type": "hidden_user", "date": 1_780_000_000, "sender_user_name": "Marko Vovk"}
    async with whole_bot(stage, model):
        await stage.say(user, "When?")
        await said(stage, user)
        [answer] = await stage.bot_messages(user)
        await stage.say(user, "Which one?", reply_to=answer["message_id"], quote="nine, or at ten")
        await said(stage, user, 2)
        quote = {"text": "The train is late", "position": 0}
        await stage.say(user, "And now?", extra={"external_reply": {"origin": marko}, "quote": quote})
        await said(stage, user, 3)
    second, third = (asked.text for asked in model.asked(MODEL)[1:])
    assert "in_reply_to: you: We meet at nine, or at ten.; quoted_part: nine, or at ten</metadata>" in second
    assert "in_reply_to: Marko Vovk (not the owner): The train is late</metadata>" in third
    assert await messages(stage, user) == [
        text for asked in ("When?", "Which one?", "And now?") for text in (asked, "We meet at nine, or at ten.")
    ]


async def test_what_is_forwarded_commands_and_answers_nothing(stage: BotStage, model: ScriptedModel) -> None:
    """It goes to the companion, as a list does, and the question stays open for the owner himself."""
    model.always(MODEL, "I see.")
    user = await stage.person()
    origin = {"type": "hidden_user", "date": 1_780_000_000, "sender_user_name": "Marko Vovk"}
    async with whole_bot(stage, model):
        await stage.say(user, "/timezone")
        await said(stage, user)
        for number, text in enumerate(("Tokyo", "/language"), start=2):
            await stage.say(user, text, forward_origin=origin)
            await said(stage, user, number)
        me = {"id": user, "first_name": "Olena"}
        place = {"message_id": 900, "date": 1_780_000_000, "chat": {**me, "type": "private"}}
        shopping = {"title": "Shopping", "tasks": [{"id": 1, "text": "Milk"}]}
        message = {**place, "from": {**me, "is_bot": False}, "checklist": shopping}
        await stage.request("POST", "/updates", {"message": message})
        await said(stage, user, 4)
        assert (await stage.texts(user))[1:] == ["I see.", "I see.", "I see."]
        await stage.say(user, "Oslo")
        await said(stage, user, 5)
    assert (await stage.read(lambda c: users.get(c, user))).tz == "Europe/Oslo"


async def test_words_after_a_question_was_left_are_kept_and_answered(stage: BotStage, model: ScriptedModel) -> None:
    """A sentence where a name was asked, and whatever follows a button, is part of the dialogue like any other."""
    model.always(MODEL, "Ok.")
    user = await stage.person()
    async with whole_bot(stage, model):
        await stage.say(user, "/person")
        await stage.say(user, "Yesterday my neighbour Igor came for the drill.")
        await eventually(lambda: _turns(stage, {"closed"}))
        await stage.say(user, "/forget")
        [everything] = await _with_buttons(stage, user, 1)
        await stage.press(user, everything["message_id"], _first_button(everything))
        await eventually(lambda: settled(stage))
        await stage.say(user, "Igor")
        await eventually(lambda: _answers(stage, user, 2))
    kept = await messages(stage, user)
    assert [words for words in kept if words != "Ok."] == ["Yesterday my neighbour Igor came for the drill.", "Igor"]
    assert kept.count("Ok.") == 2


async def _answers(stage: BotStage, user: int, count: int) -> bool:
    return (await messages(stage, user)).count("Ok.") == count


async def _with_buttons(stage: BotStage, user: int, count: int) -> list[dict[str, Any]]:
    async def enough() -> list[dict[str, Any]] | None:
        found = [m for m in await stage.bot_messages(user) if m.get("reply_markup", {}).get("inline_keyboard")]
        return found if len(found) >= count else None

    found: list[dict[str, Any]] = await eventually(enough)
    return found


def _first_button(message: dict[str, Any]) -> str:
    return str(message["reply_markup"]["inline_keyboard"][0][0]["callback_data"])


async def test_the_first_to_come_through_an_open_door_gets_the_owners_menu(
    stage: BotStage, model: ScriptedModel
) -> None:
    """With a local Telegram he becomes the owner by writing, and sees the menu in his language without a restart."""
    model.always(MODEL, "Ok.")
    first, second = await stage.person(known=False, language="uk"), await stage.person(known=False)
    async with whole_bot(stage, model):
        for user in (first, second):
            await stage.say(user, "Hi")
            await said(stage, user)
    owners = await stage.bot.get_my_commands(scope=BotCommandScopeChat(chat_id=first))
    assert ("more", label("uk", "menu-more")) in [(one.command, one.description) for one in owners]
    assert await stage.bot.get_my_commands(scope=BotCommandScopeChat(chat_id=second)) == []
