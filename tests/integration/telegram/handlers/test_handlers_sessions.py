"""/db, /sa, /ss and /sessions over a real database, in three languages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from support.interfaces.handler_stage import NOW, World, only

from bot.telegram.handlers.account.sessions import SHOWN
from bot.telegram.handlers.buttons import SessionButton, SessionsButton
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import render
from internal.access.model import LANGUAGES, Language
from internal.chronicle import repository as chronicle
from internal.chronicle.model import Session
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Incoming, Message
from internal.flows.forgetting import requests
from internal.flows.sessions.lifecycle import UNJUDGED


def text(key: str, lang: Language = "en", **values: Any) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


async def say(world: World, words: str, *, user_id: int = 1, command: Any = None) -> Message:
    """What C2 stores of a message, without an answer."""
    world.updates += 1
    at = world.clock.now()
    incoming = Incoming(user_id, 7, user_id, 10_000 + world.updates, words, at)

    def work(connection: Any) -> Message:
        message = dialogue.add_incoming(connection, incoming, metadata={}, turn_id=None)
        assert message is not None
        dialogue.record_activity(connection, user_id, at)
        UNJUDGED.heard(connection, message, tz="UTC", now=at, command=command)
        return message

    return await world.write(work)


async def answer(world: World, words: str, asked: Message) -> Message:
    def work(connection: Any) -> Message:
        message = dialogue.add(connection, asked.user_id, "assistant", words, now=world.clock.now(), delivery="sent")
        UNJUDGED.answered(connection, message, [asked], tz="UTC", now=world.clock.now())
        return message

    return await world.write(work)


async def sessions(world: World, user_id: int = 1) -> list[Session]:
    return await world.read(lambda c: chronicle.listing(c, user_id))


async def test_db_closes_what_is_open(world: World) -> None:
    """/db alone says that the next message begins again; asked again, as after a crash, it says the same."""
    await say(world, "How is the weather?")
    said = only(await world.send("/db"))
    assert said.text == phrase("en", "session-begins")
    assert [one.status for one in await sessions(world)] == ["closed"]
    assert only(await world.send("/db")).text == said.text


@pytest.mark.parametrize("command", ["/db", "/sa", "/db@laplaced_bot"])
async def test_words_behind_a_command_are_for_the_companion(world: World, command: str) -> None:
    """/db and /sa with words are messages that get an answer: no handler takes them."""
    assert [said.how for said in await world.send(f"{command} who is Petrov?")] == ["unhandled"]


async def test_sa_goes_on(world: World) -> None:
    """/sa alone says which conversation goes on, which stays as it was opened; without one it says so."""
    assert only(await world.send("/sa")).text == phrase("en", "session-none")
    await say(world, "How is the weather?")
    assert only(await world.send("/sa")).text == phrase("en", "session-goes-on", topic="How is the weather?")
    assert [(one.trigger, one.status) for one in await sessions(world)] == [("/db", "active")]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_ss_closes_and_promises_a_summary(world: World, lang: Language) -> None:
    """/ss says that the conversation is closed and will be summed up; when it runs again it says the same."""
    await world.admit(2, "Оксана", lang)
    assert only(await world.send("/ss", 2)).text == phrase(lang, "session-none")
    await say(world, "Яка погода?", user_id=2)
    said = only(await world.send("/ss", 2))
    assert said.text == phrase(lang, "session-closed", topic="Яка погода?")
    assert only(await world.send("/ss", 2)).text == said.text
    [session] = await sessions(world, 2)
    assert (session.status, session.trigger) == ("closed", "/db")


async def test_words_behind_ss_are_not_lost_in_silence(world: World) -> None:
    """/ss takes no message, and says so where there was one."""
    await say(world, "How is the weather?")
    said = only(await world.send("/ss thanks, that was all"))
    assert said.text.splitlines()[-1] == phrase("en", "session-closed-words")


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_sessions_lists_the_latest_first(world: World, lang: Language) -> None:
    """Eight a page, each with its time and topic, the open one marked; buttons turn the pages."""
    await world.admit(2, "Оксана", lang)
    assert only(await world.send("/sessions", 2)).text == phrase(lang, "sessions-nothing")
    for number in range(10):
        await say(world, f"Про що ми? {number}", user_id=2, command="/db")
        world.clock.advance(3600)
    listed = only(await world.send("/sessions", 2))
    lines = listed.text.splitlines()
    assert lines[0] == phrase(lang, "sessions-title", count=10)
    at = (NOW + timedelta(hours=9)).astimezone(ZoneInfo((await world.user(2)).tz))
    assert lines[2] == f"1. {label(lang, 'session-line-open', at=at, topic='Про що ми? 9')}"
    assert len(lines) == 2 + 8
    second = only(await world.press(SessionsButton(owner=2, page=1).pack(), 2))
    assert "Про що ми? 0" in second.text
    assert "Про що ми? 2" not in second.text


async def test_a_button_shows_a_conversation_word_for_word(world: World) -> None:
    """The transcript comes as a message: who said what, and when."""
    asked = await say(world, "What *is* up?\n# Not a heading")
    await answer(world, "All is well.", asked)
    [session] = await sessions(world)
    shown = only(await world.press(SessionButton(owner=1, session=session.id).pack()))
    assert shown.how == "say"
    assert "You · request\n\nWhat *is* up?\n# Not a heading" in shown.text
    assert "Laplaced · response\n\nAll is well." in shown.text


async def test_a_long_conversation_is_a_file(world: World) -> None:
    """What fits no message comes as Markdown, with its topic as caption."""
    asked = await say(world, "Tell me everything")
    await answer(world, "word " * (SHOWN // 4), asked)
    [session] = await sessions(world)
    shown = only(await world.press(SessionButton(owner=1, session=session.id).pack()))
    assert shown.how == "document"
    assert shown.caption == label("en", "session-caption", topic="Tell me everything")
    assert "> Tell me everything" in shown.content


async def test_what_is_being_forgotten_is_in_no_list(world: World) -> None:
    """While it can be undone, a message is in no transcript and gives no topic; a conversation of it alone is gone."""
    first = await say(world, "My secret")
    await say(world, "The weather")
    await say(world, "Another secret", command="/db")
    open_session, other = await sessions(world)
    for message in (first.id, (await world.read(lambda c: dialogue.recent(c, 1, limit=1)))[0].id):
        await world.write(lambda c, m=message: requests.ask(c, 1, "message", m, now=world.clock.now()))  # type: ignore[misc]
    listed = only(await world.send("/sessions")).text
    assert "The weather" in listed
    assert "secret" not in listed
    assert "secret" not in only(await world.press(SessionButton(owner=1, session=open_session.id).pack())).text
    gone = only(await world.press(SessionButton(owner=1, session=other.id).pack()))
    assert gone.text == label("en", "not-found")


async def test_another_owners_conversation_is_not_found(world: World) -> None:
    """The id of somebody else's conversation opens nothing."""
    await world.admit(2, "Other")
    await say(world, "Private words", user_id=2)
    [theirs] = await sessions(world, 2)
    assert only(await world.press(SessionButton(owner=1, session=theirs.id).pack())).text == label("en", "not-found")


async def test_the_open_conversation_follows_its_owner_into_another_zone(world: World) -> None:
    """/timezone moves the open conversation; a closed one keeps the clock it was held by."""
    await say(world, "Before")
    await say(world, "After", command="/db")
    await world.send("/timezone Europe/Kyiv")
    assert [one.tz for one in await sessions(world)] == ["UTC", "Europe/Kyiv"]
