"""From Telegram's types to the product's own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from aiogram.types import Message

from bot.telegram.handlers.account.start import start_code
from bot.telegram.message_reader import chat_of, incoming_of, is_command, session_command
from internal.dialogue.model import ForwardOrigin, Quoted

DATE = 1_780_000_000
WHEN = datetime.fromtimestamp(DATE, UTC)
FLAGS = ("is_closed", "is_anonymous", "allows_multiple_answers", "allows_revoting", "members_only")
FILE = {"file_id": "f", "file_unique_id": "u"}


def message(**more: Any) -> Message:
    chat, author = {"id": 1, "type": "private"}, {"id": 1, "is_bot": False, "first_name": "Olena"}
    return Message.model_validate({"message_id": 5, "date": DATE, "chat": chat, "from": author} | more)


def person(is_bot: bool = False) -> dict[str, Any]:
    return {"id": 9, "is_bot": is_bot, "first_name": "Marko", "last_name": "Vovk", "username": "marko"}


def test_words_and_their_place() -> None:
    """Text, time, thread, the message that is answered, and the time of an edit."""
    reply = {"message_id": 3, "date": DATE, "chat": {"id": 1, "type": "private"}}
    incoming = incoming_of(message(text="Hi", reply_to_message=reply, edit_date=DATE + 1), 7)
    assert (incoming.text, incoming.timestamp, incoming.reply_to, incoming.tg_id) == ("Hi", WHEN, 3, 5)
    assert incoming.edited_at == datetime.fromtimestamp(DATE + 1, UTC)
    assert (incoming.lane, incoming.readable) == ("1:0", True)


def test_of_a_correction_that_is_news_only_the_words_are_kept() -> None:
    """As of any message; without words the command stands for itself."""
    for text, expected in (("/correct@our_bot My sister is Anna", "My sister is Anna"), ("/correct", "/correct")):
        entity = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
        assert incoming_of(message(text=text, entities=[entity]), 7).text == expected


OPTION = {"persistent_id": "1", "voter_count": 0}
POLL = {"id": "1", "question": "When?", "options": [OPTION | {"text": "Today"}, OPTION | {"text": "Tomorrow"}]}
VENUE = {"location": {"latitude": 1, "longitude": 2}, "title": "Lviv Cafe", "address": "Rynok 1"}
TASKS = [{"id": 1, "text": "Milk"}, {"id": 2, "text": "Bread", "completion_date": DATE}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"checklist": {"title": "Shopping", "tasks": TASKS}}, "Shopping\n☐ Milk\n☑ Bread"),
        ({"poll": POLL | dict.fromkeys(FLAGS, False) | {"total_voter_count": 0, "type": "regular"}},
         "When?\n- Today\n- Tomorrow"),
        ({"venue": VENUE, "location": VENUE["location"]}, "📍 Lviv Cafe, Rynok 1"),
    ],
)  # fmt: skip
def test_words_that_stand_in_other_things(content: dict[str, Any], words: str) -> None:
    """A list to tick off, a poll and a place are read like a text, also where somebody answers them."""
    incoming = incoming_of(message(**content), 7)
    assert (incoming.text, incoming.attachments, incoming.readable) == (words, [], True)
    answered = {"message_id": 3, "date": DATE, "chat": {"id": 1, "type": "private"}, "from": person()} | content
    assert incoming_of(message(text="Fine", reply_to_message=answered), 7).quoted == Quoted(
        "other", "Marko Vovk", words
    )


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ({"type": "user", "sender_user": person()}, ForwardOrigin("user", "Marko Vovk", 9, "marko", WHEN)),
        ({"type": "user", "sender_user": person(is_bot=True)}, ForwardOrigin("user", "Marko Vovk", date=WHEN)),
        ({"type": "hidden_user", "sender_user_name": "M."}, ForwardOrigin("hidden_user", "M.", date=WHEN)),
        (
            {"type": "chat", "sender_chat": {"id": -5, "type": "group", "title": "Family"}},
            ForwardOrigin("chat", "Family", date=WHEN),
        ),
        (
            {"type": "channel", "chat": {"id": -6, "type": "channel", "title": "News"}, "message_id": 1},
            ForwardOrigin("channel", "News", date=WHEN),
        ),
    ],
)
def test_a_forward_tells_whose_words_it_holds(origin: dict[str, Any], expected: ForwardOrigin) -> None:
    """Only a person who shows himself has an id; a bot is nobody to remember."""
    assert incoming_of(message(text="x", forward_origin=origin | {"date": DATE}), 7).forward == expected


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ({"voice": FILE | {"duration": 1}}, ["voice"]),
        ({"animation": FILE | {"width": 1, "height": 1, "duration": 1}, "document": FILE}, ["animation"]),
        ({"document": FILE | {"mime_type": "image/png", "file_name": "screen.png"}}, ["photo"]),
        ({"document": FILE | {"mime_type": "audio/flac", "file_name": "memo.flac"}}, ["audio"]),
        ({"document": FILE | {"mime_type": "application/pdf"}}, ["document"]),
        ({"contact": {"phone_number": "1", "first_name": "M", "user_id": 9}}, ["contact"]),
        ({"pinned_message": {"message_id": 1, "date": 0, "chat": {"id": 1, "type": "private"}}}, []),
        ({"something_new": {"a": 1}}, ["other"]),
        ({"text": "plain"}, []),
    ],
)
def test_what_came_beside_the_words(content: dict[str, Any], kinds: list[str]) -> None:
    """What is newer than the program is told of; service messages are nothing to read."""
    assert [found["kind"] for found in incoming_of(message(**content), 7).attachments] == kinds


def test_a_text_mention_vouches_for_an_id() -> None:
    """It is in Telegram's metadata, so it may be cited."""
    entity = {"type": "text_mention", "offset": 0, "length": 5, "user": person()}
    [found] = incoming_of(message(text="Marko came", entities=[entity]), 7).attachments
    assert found == {"kind": "mention", "name": "Marko Vovk", "telegram_id": 9}


@pytest.mark.parametrize(("offset", "expected"), [(0, True), (4, False)])
def test_a_command_stands_at_the_beginning(offset: int, expected: bool) -> None:
    """One in the middle of a sentence is a word."""
    entity = {"type": "bot_command", "offset": offset, "length": 5}
    assert is_command(message(text="/help /help", entities=[entity])) is expected


@pytest.mark.parametrize("text", ["/help", "/start CODE", "/db a new subject"])
def test_a_forwarded_command_is_somebody_elses_word(text: str) -> None:
    """It commands nothing, and claims nothing."""
    origin = {"type": "hidden_user", "date": DATE, "sender_user_name": "M."}
    entity = {"type": "bot_command", "offset": 0, "length": len(text.split(maxsplit=1)[0])}
    forwarded = message(text=text, entities=[entity], forward_origin=origin)
    assert (is_command(forwarded), start_code(forwarded), session_command(forwarded)) == (False, None, (None, text))
    assert incoming_of(forwarded, 7).text == text


@pytest.mark.parametrize("field", ["text", "caption"])
def test_a_quotation_inside_a_text_is_marked(field: str) -> None:
    """As people mark one by hand, counted in Telegram's units: nobody takes those words for the owner's."""
    words = "🎈 Look:\nI live in Kyiv\nI do\nReally?\nI quit"
    entities = [
        {"type": "blockquote", "offset": 9, "length": 19},
        {"type": "expandable_blockquote", "offset": 37, "length": 6},
    ]
    content = {field: words, "entities" if field == "text" else "caption_entities": entities}
    marked = "🎈 Look:\n> I live in Kyiv\n> I do\nReally?\n> I quit"
    assert incoming_of(message(**content), 7).text == marked


def replied(author: dict[str, Any] | None, **content: Any) -> dict[str, Any]:
    place = {"message_id": 3, "date": DATE, "chat": {"id": 1, "type": "private"}}
    return {"reply_to_message": place | content | ({"from": author} if author else {})}


BOT = {"id": 7, "is_bot": True, "first_name": "Laplaced"}
OLENA = {"id": 1, "is_bot": False, "first_name": "Olena"}
MARKO = {"type": "user", "date": DATE, "sender_user": person()}
PART = {"quote": {"text": "at nine", "position": 3}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (replied(BOT, text="It is at nine."), Quoted("assistant", "", "It is at nine.")),
        (replied(BOT, text="It is at nine.") | PART, Quoted("assistant", "", "It is at nine.", "at nine")),
        (replied(OLENA, caption="Me", photo=[FILE | {"width": 1, "height": 1}]), Quoted("owner", "", "Me")),
        (replied(OLENA, voice=FILE | {"duration": 1}), Quoted("owner", "", "[voice]")),
        (replied(OLENA, text="We meet.", forward_origin=MARKO), Quoted("other", "Marko Vovk", "We meet.")),
        (replied(person(), text="We meet."), Quoted("other", "Marko Vovk", "We meet.")),
        (replied(None, text="We meet."), Quoted("other", "?", "We meet.")),
        (replied(OLENA, forum_topic_created={"name": "Trips", "icon_color": 1}), None),
        ({"external_reply": {"origin": MARKO}} | PART, Quoted("other", "Marko Vovk", "at nine")),
        (
            {"external_reply": {"origin": MARKO, "voice": FILE | {"duration": 1}}},
            Quoted("other", "Marko Vovk", "[voice]"),
        ),
        ({"external_reply": {"origin": MARKO | {"sender_user": OLENA}}} | PART, Quoted("owner", "", "at nine")),
        (
            {"reply_to_story": {"chat": {"id": -6, "type": "channel", "title": "News"}, "id": 4}},
            Quoted("other", "News", "[story]"),
        ),
        (PART, Quoted("other", "?", "at nine")),
        ({}, None),
    ],
)
def test_what_a_message_answers_has_its_author(content: dict[str, Any], expected: Quoted | None) -> None:
    """Words of the bot, of the owner himself, or of somebody else; from this chat or another one."""
    assert incoming_of(message(text="Fine", **content), 7).quoted == expected


@pytest.mark.parametrize(
    ("update", "chat"),
    [
        ({"message": {"chat": {"id": 5}}}, 5),
        ({"edited_message": {"chat": {"id": -100}}}, -100),
        ({"my_chat_member": {"chat": {"id": 7}}}, 7),
        ({"message_reaction": {"chat": {"id": 6}}}, 6),
        ({"stopped_message_generation": {"chat": {"id": 8}}}, 8),
        ({"callback_query": {"from": {"id": 9}, "message": {"chat": {"id": 9}}}}, 9),
        ({"poll": {}}, None),
        ({"message": {"chat": "?"}}, None),
        ({"message": {"chat": {"id": 2**70}}}, None),
        ([], None),
    ],
)
def test_the_chat_an_update_belongs_to(update: Any, chat: int | None) -> None:
    """As it came, before anything has looked whether it can be read."""
    assert chat_of(json.dumps(update)) == chat
