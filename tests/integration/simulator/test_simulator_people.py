"""What people can do, as aiogram reads it: forwards, contacts, media, edits, groups."""

from __future__ import annotations

from typing import Any

import pytest
from aiogram.exceptions import TelegramForbiddenError, TelegramMigrateToChat
from aiogram.types import Message
from support.interfaces.simulator_stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

_DATE = 1_790_000_000
_GROUP = {"id": -1001, "type": "supergroup", "title": "Дача"}


async def taken(stage: Stage) -> list[Message]:
    return [update.message for update in await stage.take_updates() if update.message is not None]


@pytest.mark.parametrize(
    "origin",
    [
        {"type": "user", "date": _DATE, "sender_user": {"id": 77, "is_bot": False, "first_name": "Ганна"}},
        {"type": "hidden_user", "date": _DATE, "sender_user_name": "Тьотя Галя"},
        {"type": "chat", "date": _DATE, "sender_chat": _GROUP, "author_signature": "адмін"},
        {"type": "channel", "date": _DATE, "chat": {**_GROUP, "type": "channel"}, "message_id": 4},
    ],
    ids=lambda origin: str(origin["type"]),
)
async def test_forwards_of_every_origin(stage: Stage, origin: dict[str, Any]) -> None:
    """Each kind of forward origin reaches the bot complete."""
    user = await stage.person()
    await stage.say(user, "переслане", forward_origin=origin)
    (message,) = await taken(stage)
    assert message.forward_origin is not None
    assert message.forward_origin.model_dump(mode="json", exclude_none=True)["type"] == origin["type"]
    assert message.forward_origin.date.timestamp() == _DATE


async def test_contact_card(stage: Stage) -> None:
    """A contact card carries name, phone and Telegram id."""
    user = await stage.person()
    await stage.say(user, contact={"phone_number": "+380", "first_name": "Марія", "user_id": 12345})
    (message,) = await taken(stage)
    assert message.contact is not None
    assert (message.contact.first_name, message.contact.user_id) == ("Марія", 12345)


@pytest.mark.parametrize(
    "media", ["voice", "photo", "sticker", "video", "video_note", "audio", "animation", "document", "location"]
)
async def test_media_without_content(stage: Stage, media: str) -> None:
    """Every kind of media is a message that aiogram parses as that kind."""
    user = await stage.person()
    await stage.say(user, media=media)
    (message,) = await taken(stage)
    assert message.content_type == media


@pytest.mark.parametrize("media", ["voice", "photo", "video_note", "audio", "document"])
async def test_media_with_a_file(stage: Stage, media: str) -> None:
    """A file that a person sends is that kind of message, and what the bot downloads is what was sent."""
    user = await stage.person()
    content = b"the bytes of a file"
    await stage.send_file(user, media, "f.bin", content, "audio/ogg", duration=7, caption="дивись")
    (message,) = await taken(stage)
    assert (message.content_type, message.caption) == (media, "дивись")
    found = getattr(message, media)
    file = found[-1] if media == "photo" else found
    assert file.file_size == len(content)
    assert getattr(file, "duration", 7) == 7
    got = await stage.bot.download(file.file_id)
    assert got is not None
    assert got.read() == content


async def test_album(stage: Stage) -> None:
    """Pictures of one album share their media_group_id; the caption keeps its entities."""
    user = await stage.person()
    pictures = [(f"{name}.jpg", b"a picture", "image/jpeg") for name in "ab"]
    await stage.send_album(user, pictures, "Ми з @petrov")
    first, second = await taken(stage)
    assert first.media_group_id
    assert first.media_group_id == second.media_group_id
    assert first.caption == "Ми з @petrov"
    assert first.caption_entities is not None
    assert first.caption_entities[0].type == "mention"


async def test_long_text_is_cut_as_the_apps_cut_it(stage: Stage) -> None:
    """A text above 4096 units comes as several messages that join to the same words."""
    user = await stage.person()
    words = " ".join(f"слово{number}" for number in range(1300))
    await stage.say(user, words)
    messages = await taken(stage)
    assert len(messages) == 3
    assert " ".join(str(message.text) for message in messages) == words


async def test_edit_reaches_the_bot(stage: Stage) -> None:
    """An edited message comes as edited_message with the same id and an edit date; others' cannot be edited."""
    user = await stage.person()
    sent = await stage.say(user, "Петров з Харкова")
    await stage.edit(user, sent["message_id"], "Петров з Києва /help")
    updates = await stage.take_updates()
    edited = updates[-1].edited_message
    assert edited is not None
    assert (edited.message_id, edited.text, edited.edit_date is not None) == (
        sent["message_id"],
        "Петров з Києва /help",
        True,
    )
    by_bot = await stage.bot.send_message(user, "моє")
    refused = await stage.http.patch(f"/sim/users/{user}/messages/{by_bot.message_id}", json={"text": "x"})
    assert refused.status_code == 422


async def test_thread_and_reply(stage: Stage) -> None:
    """A thread id is carried both ways; a reply shows one level of what it answers."""
    user = await stage.person()
    await stage.say(user, "тема", message_thread_id=9)
    await stage.take_updates()
    sent = await stage.bot.send_message(user, "питання", message_thread_id=9)
    assert sent.message_thread_id == 9
    first = await stage.say(user, "відповідь", reply_to=sent.message_id, message_thread_id=9)
    await stage.say(user, "ще", reply_to=first["message_id"])
    one, two = await taken(stage)
    assert one.message_thread_id == 9
    assert one.reply_to_message is not None
    assert one.reply_to_message.text == "питання"
    assert two.reply_to_message is not None
    assert two.reply_to_message.reply_to_message is None


async def test_group_with_privacy(stage: Stage) -> None:
    """In a group the bot hears that it was added, commands, mentions and replies to it, and nothing else."""
    user, other = await stage.person("Олена"), await stage.person("Ганна")
    group = await stage.request("POST", "/chats", {"title": "Дача", "members": [user, other]})
    sent = await stage.bot.send_message(group["id"], "Я працюю в приваті")
    for text in ("просто розмова", "/help@laplaced_bot", "/help@other_bot", "@laplaced_bot ти тут?"):
        await stage.say(other, text, chat_id=group["id"])
    await stage.say(other, "ясно", chat_id=group["id"], reply_to=sent.message_id)
    updates = await stage.take_updates()
    assert [update.event_type for update in updates[:2]] == ["my_chat_member", "message"]
    assert [update.message.text for update in updates if update.message] == [
        None,
        "/help@laplaced_bot",
        "@laplaced_bot ти тут?",
        "ясно",
    ]


async def test_group_becomes_a_supergroup(stage: Stage) -> None:
    """After the upgrade the old id is refused with the new one, where the bot can go on."""
    user = await stage.person()
    group = await stage.request("POST", "/chats", {"title": "Стара", "members": [user], "type": "group"})
    new = await stage.request("POST", f"/chats/{group['id']}/upgrade", {"user_id": user})
    with pytest.raises(TelegramMigrateToChat) as refused:
        await stage.bot.send_message(group["id"], "?")
    assert refused.value.migrate_to_chat_id == new["id"]
    await stage.bot.send_message(new["id"], "!")
    moves = [message.migrate_to_chat_id for message in await taken(stage) if message.migrate_to_chat_id]
    assert moves == [new["id"]]


async def test_removed_from_a_group(stage: Stage) -> None:
    """After being removed the bot gets 403 there."""
    user = await stage.person()
    group = await stage.request("POST", "/chats", {"title": "Без бота", "members": [user]})
    await stage.request("POST", f"/chats/{group['id']}/remove_bot", {"user_id": user})
    with pytest.raises(TelegramForbiddenError, match="bot was kicked from the supergroup chat"):
        await stage.bot.send_message(group["id"], "?")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/users/424242/messages", {"text": "x"}, 404),
        ("/users/1001/messages", {"text": "  "}, 422),
        ("/users/1001/messages", {"media": "hologram"}, 422),
        ("/users/1001/messages", {"text": "x", "reply_to": 987_654}, 404),
        ("/users/1001/messages", {"txt": "x"}, 422),
        ("/users/1001/press", {"message_id": 987_654, "data": "x"}, 404),
        ("/users", {"first_name": ""}, 422),
        ("/updates", [1, 2], 422),
    ],
)
async def test_impossible_acts_are_refused(stage: Stage, path: str, body: Any, status: int) -> None:
    """What nobody can do is refused with a reason, and gives no update."""
    answer = await stage.http.post(f"/sim{path}", json=body)
    assert answer.status_code == status
    assert answer.json()["detail"]
    assert await stage.bot.get_updates() == []
