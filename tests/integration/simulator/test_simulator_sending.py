"""What the bot sends: texts, entities, keyboards, edits, drafts, documents, and Telegram's refusals."""

from __future__ import annotations

import io

import pytest
from aiogram import Bot
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramNotFound,
    TelegramUnauthorizedError,
)
from aiogram.methods import TelegramMethod
from aiogram.types import (
    BotCommand,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
    BufferedInputFile,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    MessageEntity,
    ReplyParameters,
)
from support.interfaces.simulator_stage import Stage, bot_for

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_identity(stage: Stage) -> None:
    """getMe tells the id of the token and a bot's abilities."""
    me = await stage.bot.get_me()
    assert me.is_bot
    assert me.id == int(stage.local.token.partition(":")[0])
    assert me.username == "laplaced_bot"


async def test_text_with_entities(stage: Stage) -> None:
    """Entities are kept as given, those of length zero dropped, found links added, blank space trimmed."""
    user = await stage.person()
    text = "  😀 Жирний https://example.org/a  "
    sent = await stage.bot.send_message(user, text, entities=[MessageEntity(type="bold", offset=5, length=6)])
    assert sent.text == "😀 Жирний https://example.org/a"
    assert sent.entities is not None
    assert [(e.type, e.offset, e.length) for e in sent.entities] == [("bold", 3, 6), ("url", 10, 21)]
    history = await stage.messages(user)
    assert history[-1]["message_id"] == sent.message_id


@pytest.mark.parametrize(
    ("parse_mode", "text"),
    [("HTML", "<b>Гелёй &amp; <i>Ко</i></b>"), ("MarkdownV2", "*Гелёй & _Ко_*"), ("markdownv2", "*Гелёй & _Ко_*")],
)
async def test_parse_modes(stage: Stage, parse_mode: str, text: str) -> None:
    """HTML and MarkdownV2 give the same text and nested entities."""
    user = await stage.person()
    sent = await stage.bot.send_message(user, text, parse_mode=parse_mode)
    assert sent.text == "Гелёй & Ко"
    assert sent.entities is not None
    assert [(e.type, e.offset, e.length) for e in sent.entities] == [("bold", 0, 10), ("italic", 8, 2)]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"text": "a" * 4097}, "message is too long"),
        ({"text": "😀" * 2049}, "message is too long"),
        ({"text": " \n "}, "message text is empty"),
        ({}, "message text is empty"),
        ({"text": "<b>x", "parse_mode": "HTML"},
         'can\'t parse entities: Can\'t find end tag corresponding to start tag "b"'),
        ({"text": "a.", "parse_mode": "MarkdownV2"},
         "can't parse entities: Character '.' is reserved and must be escaped with the preceding '\\'"),
        ({"text": "x", "parse_mode": "Wiki"}, "unsupported parse_mode"),
        ({"text": "abc", "entities": [{"type": "bold", "offset": 1, "length": 3}]},
         "entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 4"),
        ({"text": "😀😀", "entities": [{"type": "bold", "offset": 0, "length": 1}]},
         "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 1"),
        ({"text": "x", "reply_parameters": {"message_id": 999_999}}, "message to be replied not found"),
        ({"text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "я" * 33}]]}},
         "BUTTON_DATA_INVALID"),
        ({"text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "url": "no address"}]]}},
         "inline keyboard button URL 'no address' is invalid: Wrong HTTP URL"),
        ({"text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a", "web_app": {"url": "http://e.org"}}]]}},
         "inline keyboard button Web App URL 'http://e.org' is invalid: Only HTTPS links are allowed"),
        ({"text": "x", "chat_id": 77_777_777}, "chat not found"),
        ({"text": "x", "chat_id": ""}, "chat_id is empty"),
    ],
)  # fmt: skip
async def test_refusals_in_telegrams_words(stage: Stage, values: dict[str, object], reason: str) -> None:
    """What Telegram refuses is refused with 400 and its own description, and nothing appears in the chat."""
    user = await stage.person()
    answer = await stage.call("sendMessage", **{"chat_id": user, **values})
    assert answer.json() == {"ok": False, "error_code": 400, "description": f"Bad Request: {reason}"}
    assert answer.status_code == 400
    assert await stage.messages(user) == []


async def test_4096_utf16_units_fit(stage: Stage) -> None:
    """Exactly 4096 UTF-16 units are accepted."""
    user = await stage.person()
    sent = await stage.bot.send_message(user, "😀" * 2048)
    assert sent.text == "😀" * 2048


async def test_nobody_can_be_written_first(stage: Stage) -> None:
    """A person who never wrote to the bot is no chat for it."""
    user = await stage.person(started=False)
    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await stage.bot.send_message(user, "?")
    await stage.say(user, "привіт")
    assert (await stage.bot.send_message(user, "!")).chat.id == user


async def test_token_and_method_errors(stage: Stage) -> None:
    """A wrong token is 401, an unknown method 404, for aiogram as from Telegram."""
    wrong = Bot("1:wrong", session=bot_for(stage.local).session)
    with pytest.raises(TelegramUnauthorizedError, match="Unauthorized"):
        await wrong.get_me()
    await wrong.session.close()
    with pytest.raises(TelegramNotFound, match="Not Found"):
        await stage.bot(_Unknown())


class _Unknown(TelegramMethod[bool]):
    __returning__ = bool
    __api_method__ = "noSuchMethod"


async def test_blocked_bot(stage: Stage) -> None:
    """Sends to somebody who blocked the bot are 403, as aiogram's own exception."""
    user = await stage.person()
    await stage.request("POST", f"/users/{user}/block")
    with pytest.raises(TelegramForbiddenError, match="bot was blocked by the user"):
        await stage.bot.send_chat_action(user, "typing")


async def test_reply_and_force_reply(stage: Stage) -> None:
    """A reply carries the message it answers; ForceReply is accepted and not echoed."""
    user = await stage.person()
    asked = await stage.say(user, "скільки?")
    sent = await stage.bot.send_message(
        user, "сім", reply_parameters=ReplyParameters(message_id=asked["message_id"]), reply_markup=ForceReply()
    )
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.text == "скільки?"
    assert sent.reply_markup is None
    await stage.take_updates()
    await stage.say(user, "чому сім?", reply_to=sent.message_id)
    (update,) = await stage.take_updates()  # aiogram could not parse a ForceReply inside the quoted message
    assert update.message is not None
    assert update.message.reply_to_message is not None
    assert update.message.reply_to_message.text == "сім"


async def test_edit_text_and_keyboard(stage: Stage) -> None:
    """An edit changes text and keyboard; the same again is refused; a missing message is named."""
    user = await stage.person()
    keyboard = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="Ще", callback_data="more")]])
    sent = await stage.bot.send_message(user, "перше", reply_markup=keyboard)
    edited = await stage.bot.edit_message_text("друге", chat_id=user, message_id=sent.message_id, reply_markup=keyboard)
    assert not isinstance(edited, bool)
    assert (edited.text, edited.edit_date is not None) == ("друге", True)
    assert edited.reply_markup is not None
    assert edited.reply_markup.inline_keyboard[0][0].callback_data == "more"
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await stage.bot.edit_message_text("друге", chat_id=user, message_id=sent.message_id, reply_markup=keyboard)
    bare = await stage.bot.edit_message_reply_markup(chat_id=user, message_id=sent.message_id)
    assert not isinstance(bare, bool)
    assert bare.reply_markup is None
    with pytest.raises(TelegramBadRequest, match="message to edit not found"):
        await stage.bot.edit_message_text("третє", chat_id=user, message_id=10**6)
    theirs = await stage.say(user, "моє")
    with pytest.raises(TelegramBadRequest, match="message can't be edited"):
        await stage.bot.edit_message_text("твоє", chat_id=user, message_id=theirs["message_id"])


async def test_delete(stage: Stage) -> None:
    """Deleted messages are gone; deleting one again is Telegram's 400; deleteMessages skips what is not there."""
    user = await stage.person()
    ids = [(await stage.bot.send_message(user, str(number))).message_id for number in range(3)]
    await stage.bot.delete_message(user, ids[0])
    with pytest.raises(TelegramBadRequest, match="message to delete not found"):
        await stage.bot.delete_message(user, ids[0])
    await stage.bot.delete_messages(user, [ids[0], ids[1]])
    left = await stage.messages(user)
    assert [message["message_id"] for message in left] == [ids[2]]


async def test_draft_is_shown_until_the_message_comes(stage: Stage) -> None:
    """A draft is seen at once, replaced by the next, stays no message, and goes when the message is sent."""
    user = await stage.person()
    for text in ("Пет", "Петров сказав"):
        await stage.bot.send_message_draft(user, 7, text=text, parse_mode=None)
    screen = await stage.screen(user)
    assert screen["draft"] == {"draft_id": 7, "text": "Петров сказав", "entities": []}
    assert await stage.messages(user) == []
    await stage.bot.send_message(user, "Петров сказав так")
    assert (await stage.screen(user))["draft"] is None
    calls = await stage.ledger(user)
    assert [call["method"] for call in calls] == ["sendMessageDraft", "sendMessageDraft", "sendMessage"]
    assert [call["request"]["text"] for call in calls[:2]] == ["Пет", "Петров сказав"]


async def test_draft_can_be_stopped(stage: Stage) -> None:
    """With can_stop the person's Stop reaches the bot once, as stopped_message_generation."""
    user = await stage.person()
    await stage.bot.send_message_draft(user, 9, text="Довга відповідь", can_stop=True, message_thread_id=3)
    assert await stage.request("POST", f"/users/{user}/stop") == {"stopped": True}
    assert await stage.request("POST", f"/users/{user}/stop") == {"stopped": False}
    (update,) = await stage.take_updates()
    stopped = update.stopped_message_generation
    assert stopped is not None
    assert (stopped.chat.id, stopped.draft_id, stopped.message_thread_id) == (user, 9, 3)


async def test_typing(stage: Stage) -> None:
    """A chat action is seen by the person; an unknown one is refused."""
    user = await stage.person()
    await stage.bot.send_chat_action(user, "typing")
    assert (await stage.screen(user))["typing"] is True
    with pytest.raises(TelegramBadRequest, match="wrong parameter action in request"):
        await stage.bot.send_chat_action(user, "dancing")


async def test_document_round_trip(stage: Stage) -> None:
    """A sent document is found by getFile, downloads unchanged, and can be sent again by its id."""
    user = await stage.person()
    content = '{"ім’я": "Петров"}'.encode() * 1000
    sent = await stage.bot.send_document(
        user, BufferedInputFile(content, "вивіз.json"), caption="Ось <b>усе</b>", parse_mode="HTML"
    )
    assert sent.document is not None
    assert (sent.document.file_name, sent.document.file_size, sent.caption) == ("вивіз.json", len(content), "Ось усе")
    stored = await stage.bot.get_file(sent.document.file_id)
    assert stored.file_path is not None
    loaded = io.BytesIO()
    await stage.bot.download_file(stored.file_path, loaded)
    assert loaded.getvalue() == content
    again = await stage.bot.send_document(user, sent.document.file_id)
    assert again.document is not None
    assert again.document.file_size == len(content)
    with pytest.raises(TelegramBadRequest, match="invalid file_id"):
        await stage.bot.get_file("nothing")


async def test_a_file_that_is_not_there_is_refused_as_json(stage: Stage) -> None:
    """Whatever the path says, a bot that downloads gets Telegram's answer and no page."""
    for path in ("photos/file_0.jpg", "file_0.jpg", "a/b/c/d"):
        answer = await stage.http.get(f"/file/bot{stage.local.token}/{path}")
        assert answer.json() == {"ok": False, "error_code": 404, "description": "Not Found"}


async def test_an_album_stays_one_when_it_is_passed_on(stage: Stage) -> None:
    """Forwarded and copied together its files share a new album; a message beside them stays alone."""
    user = await stage.person()
    files = [InputMediaDocument(media=BufferedInputFile(b"plan", f"{name}.txt")) for name in "ab"]
    album = [one.message_id for one in await stage.bot.send_media_group(user, files)]
    album.append((await stage.bot.send_message(user, "both")).message_id)
    for passed_on in (stage.bot.forward_messages, stage.bot.copy_messages):
        ids = {one.message_id for one in await passed_on(user, user, album)}
        groups = [one.get("media_group_id") for one in await stage.messages(user) if one["message_id"] in ids]
        assert groups[0] == groups[1]
        assert [bool(one) for one in groups] == [True, True, False]
    assert len({one.get("media_group_id") for one in await stage.messages(user)} - {None}) == 3


async def test_a_bare_address_on_a_button_is_a_link(stage: Stage) -> None:
    """As Telegram reads it: over HTTP."""
    user = await stage.person()
    keyboard = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="a", url="e.org/x?y=1")]])
    sent = await stage.bot.send_message(user, "x", reply_markup=keyboard)
    assert sent.reply_markup is not None
    assert sent.reply_markup.inline_keyboard[0][0].url == "http://e.org/x?y=1"


async def test_persons_document_reaches_the_bot(stage: Stage) -> None:
    """A file that a person sends can be downloaded by the bot."""
    user = await stage.person()
    await stage.say(user, document={"name": "a.txt", "content": "0L/RgNC40LLRltGC"}, caption="файл")
    (update,) = await stage.take_updates()
    assert update.message is not None
    assert update.message.document is not None
    stored = await stage.bot.get_file(update.message.document.file_id)
    assert stored.file_path is not None
    loaded = await stage.bot.download_file(stored.file_path)
    assert loaded is not None
    assert loaded.read().decode() == "привіт"


async def test_commands_by_scope_and_language(stage: Stage) -> None:
    """The menu of a person is the nearest scope's in the person's language, then in any language."""
    olena, emma = await stage.person("Олена", language="uk"), await stage.person("Emma", language="en")
    await stage.bot.set_my_commands([BotCommand(command="help", description="Help")])
    await stage.bot.set_my_commands([BotCommand(command="help", description="Допомога")], language_code="uk")
    assert (await stage.screen(olena))["commands"] == [{"command": "help", "description": "Допомога"}]
    assert (await stage.screen(emma))["commands"] == [{"command": "help", "description": "Help"}]
    private = BotCommandScopeAllPrivateChats()
    await stage.bot.set_my_commands([BotCommand(command="people", description="People")], scope=private)
    own = BotCommandScopeChat(chat_id=emma)
    await stage.bot.set_my_commands([BotCommand(command="access", description="Access")], scope=own)
    assert (await stage.screen(olena))["commands"][0]["command"] == "people"
    assert (await stage.screen(emma))["commands"][0]["command"] == "access"
    assert [c.command for c in await stage.bot.get_my_commands(scope=private)] == ["people"]
    await stage.bot.delete_my_commands(scope=private)
    assert await stage.bot.get_my_commands(scope=private) == []
    with pytest.raises(TelegramBadRequest, match="BOT_COMMAND_INVALID"):
        await stage.bot.set_my_commands([BotCommand(command="Привіт", description="x")])


async def test_descriptions_by_language(stage: Stage) -> None:
    """Name and descriptions are kept by language and fall back to the general one."""
    await stage.bot.set_my_description("I remember")
    await stage.bot.set_my_description("Я помню", language_code="ru")
    assert (await stage.bot.get_my_description(language_code="ru")).description == "Я помню"
    assert (await stage.bot.get_my_description(language_code="de")).description == "I remember"


async def test_every_way_to_pass_parameters(stage: Stage) -> None:
    """Query, form and JSON bodies mean the same; numbers and objects may be text."""
    user = await stage.person()
    address = f"/bot{stage.local.token}/sendMessage"
    markup = '{"inline_keyboard": [[{"text": "x", "callback_data": "y"}]]}'
    values = {"chat_id": str(user), "text": "так", "reply_markup": markup}
    answers = [
        await stage.http.get(address, params=values),
        await stage.http.post(address, data=values),
        await stage.http.post(address.lower().replace("/bot", "/bot"), json={**values, "chat_id": user}),
    ]
    for answer in answers:
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["reply_markup"]["inline_keyboard"][0][0]["callback_data"] == "y"


async def test_ledger_tells_failures_too(stage: Stage) -> None:
    """The ledger holds every call with its outcome, in order, with times that grow."""
    user = await stage.person()
    await stage.bot.send_message(user, "добре")
    await stage.call("sendMessage", chat_id=user, text="")
    calls = await stage.ledger(user)
    assert [(call["status"], call["description"]) for call in calls] == [
        (200, None),
        (400, "Bad Request: message text is empty"),
    ]
    assert calls[0]["message_id"] is not None
    assert calls[0]["at"] <= calls[1]["at"]


async def test_foreign_pages_cannot_act(stage: Stage) -> None:
    """A request from another site's page, or for another host name, is refused."""
    foreign = await stage.http.post("/sim/users", json={"first_name": "X"}, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    rebound = await stage.http.get("/sim/users", headers={"Host": "evil.example"})
    assert rebound.status_code == 403
