"""The owner admits and removes users."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from aiogram import Bot
from aiogram.client.session.base import BaseSession
from aiogram.exceptions import TelegramBadRequest
from aiogram.methods import SetMyCommands, TelegramMethod
from aiogram.types import Message
from support.interfaces.handler_stage import World, only

from bot.telegram.handlers.people.contacts import describe_unreadable
from bot.telegram.i18n import label, phrase
from bot.telegram.menu import MENU, OWNER_COMMANDS, ChatMenus, commands, set_menu
from bot.telegram.rendering import render
from internal.access import repository, service
from internal.access.model import LANGUAGES, Language, Role, User, UserState


def text(lang: Language, key: str, **values: str | int) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_only_the_owner_may(world: World, lang: Language) -> None:
    """A member learns that it is not his to decide; a forged button does nothing."""
    await world.admit(2, "Taras", lang)
    assert only(await world.send("/access", 2)).text == text(lang, "access-not-owner")
    assert only(await world.send("/access 5", 2)).text == text(lang, "access-not-owner")
    for data in ("a:2:1", "a:2:1:1", "a:2:1:0"):
        assert only(await world.press(data, 2)).text == text(lang, "button-stale")
    assert (await world.user()).state is UserState.ACTIVE


ORIGIN = {"type": "user", "date": 1_700_000_000, "sender_user": {"id": 55, "is_bot": False, "first_name": "Anna"}}
CARD = {"phone_number": "1", "first_name": "Anna", "user_id": 55}


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ({"text": "55"}, "55"),
        ({"contact": CARD}, "Anna"),
        ({"text": "hello", "forward_origin": ORIGIN}, "Anna"),
        ({"sticker": None, "forward_origin": ORIGIN, "dice": {"emoji": "🎲", "value": 1}}, "Anna"),
    ],
)
async def test_the_owner_admits_by_id_card_or_forward(world: World, answer: dict[str, object], name: str) -> None:
    """Each way of naming somebody lets him in, and makes no person of him."""
    asked = only(await world.send("/access"))
    assert "Olena (1)" in asked.text
    assert only(await world.message(answer)).text == text("en", "access-admitted", name=name, id="55")
    assert (await world.user(55)).state is UserState.ACTIVE
    assert await world.known(1) is None


async def test_what_names_nobody_is_asked_again(world: World) -> None:
    """A hidden author or a word is no id: the bot says what would do, and waits on."""
    await world.send("/access")
    hidden = {"type": "hidden_user", "date": 1_700_000_000, "sender_user_name": "Somebody"}
    for answer in ({"text": "Anna"}, {"text": "hi", "forward_origin": hidden}, {"text": "9" * 20}):
        assert only(await world.message(answer)).text == text("en", "access-unreadable")
    assert only(await world.send("55")).text == text("en", "access-admitted", name="55", id="55")


async def test_the_owner_removes_a_user(world: World) -> None:
    """After a confirmation the user is out; the owner himself has no such button."""
    await world.admit(2, "Taras")
    listed = only(await world.send("/access"))
    assert list(listed.buttons) == ["Remove Taras"]
    asked = only(await world.press(listed.buttons["Remove Taras"]))
    assert (await world.user(2)).state is UserState.ACTIVE
    assert only(await world.press(asked.buttons["Yes, remove"])).text == text("en", "access-removed", name="Taras")
    assert (await world.user(2)).state is UserState.REMOVED
    assert only(await world.press("a:1:1:1")).text == text("en", "refused-owner")
    assert [user.user_id for user in await world.read(service.members)] == [1]
    assert len(await world.read(repository.everybody)) == 2


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_menu_fits_telegram(lang: Language) -> None:
    """At most 100 commands of lower-case Latin letters, each described in up to 256 characters, none twice."""
    listed = commands(lang, OWNER_COMMANDS)
    assert len({command.command for command in listed}) == len(listed) <= 100
    for command in listed:
        assert command.command.isascii()
        assert command.command.islower()
        assert 1 <= len(command.description) <= 256


class Recording(BaseSession):
    """A session that answers True to everything and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[TelegramMethod[object]] = []

    async def make_request(self, bot: Bot, method: TelegramMethod[object], timeout: int | None = None) -> object:  # type: ignore[override] # noqa: ASYNC109 - aiogram's own signature
        self.asked.append(method)
        return True

    async def stream_content(self, *args: object, **more: object) -> None:  # type: ignore[override]
        raise NotImplementedError

    async def close(self) -> None:
        return None


class Refusing(Recording):
    async def make_request(self, bot: Bot, method: TelegramMethod[object], timeout: int | None = None) -> object:  # type: ignore[override] # noqa: ASYNC109 - aiogram's own signature
        raise TelegramBadRequest(method, "chat not found")


async def test_the_menu_is_set_for_each_language_and_by_default() -> None:
    """Users of other languages see the default; it is ten commands."""
    session = Recording()
    olena = User(1, Role.OWNER, UserState.ACTIVE, "Olena", None, "uk", "UTC", True, datetime.now(UTC))
    bot = Bot("7:secret", session=session)
    await set_menu(bot)
    await ChatMenus(bot).show(replace(olena, role=Role.OWNER))
    await ChatMenus(bot).show(replace(olena, role=Role.MEMBER))
    asked = [method for method in session.asked if isinstance(method, SetMyCommands)]
    assert [method.language_code for method in asked] == [None, "ru", "uk", "en", None, None]
    assert [len(method.commands) for method in asked] == [len(MENU)] * 6
    assert len(MENU) == 10
    for method in (asked[2], *asked[4:]):
        assert method.commands[0].description == label("uk", "menu-today")


async def test_a_menu_that_telegram_refuses_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It is cosmetic: that it was not set is in the log, and the next start sets it."""
    olena = User(1, Role.OWNER, UserState.ACTIVE, "Olena", None, "uk", "UTC", True, datetime.now(UTC))
    bot = Bot("7:secret", session=Refusing())
    await ChatMenus(bot).show(olena)
    assert "menu_not_set" in caplog.text


async def test_whoever_becomes_the_owner_gets_his_menu(world: World) -> None:
    """With the code, at once; a wrong code changes no menu."""
    await world.admit(2, "Taras")
    await world.send("/start AAAA-BBBB-CCCC", 2)
    assert world.menus.shown == []
    await world.write(lambda c: repository.change(c, 1, role=Role.MEMBER.value))
    code = await world.write(service.issue_owner_code)
    await world.send(f"/start {code}", 2)
    assert world.menus.shown == [(2, "en")]


async def test_a_chosen_language_is_the_menus_too(world: World) -> None:
    """The menu of the chat follows /language, whatever Telegram's own language is."""
    await world.admit(2, "Taras")
    choice = only(await world.send("/language", 2))
    await world.press(choice.buttons["Українська"], 2)
    assert world.menus.shown == [(2, "uk")]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"text": "hi"}, None),
        ({"voice": {"file_id": "1", "file_unique_id": "1", "duration": 1}}, "voice"),
        ({"photo": [{"file_id": "1", "file_unique_id": "1", "width": 1, "height": 1}]}, "photo"),
        ({"photo": [{"file_id": "1", "file_unique_id": "1", "width": 1, "height": 1}], "caption": "we two"}, None),
        ({}, "other"),
    ],
)
async def test_what_cannot_be_read_is_named(world: World, content: dict[str, object], kind: str | None) -> None:
    """A caption is read as words; without words the kind of thing is told."""
    chat = {"id": 1, "type": "private"}
    message = Message.model_validate({"message_id": 1, "date": 1_700_000_000, "chat": chat, **content})
    assert describe_unreadable(message) == kind
