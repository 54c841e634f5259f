"""The chat page in a real browser: writing, buttons, streaming, several tabs, phones, hostile text."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from aiogram.utils.web_app import check_webapp_signature
from PIL import Image
from playwright.async_api import expect
from support.product.browser_chat import Chat
from support.product.screenshot import take_screenshot

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram

pytestmark = pytest.mark.asyncio(loop_scope="module")

OpenChat = Callable[..., Awaitable[Chat]]


async def new_person(control: ControlClient, name: str, language: str = "uk", **more: Any) -> int:
    return await control.add_user(name, language_code=language, started=True, **more)


async def test_first_sight(open_chat: OpenChat) -> None:
    """The page opens in the browser's language on the first person who speaks it, with a Start that sends /start."""
    russian = await open_chat(None, locale="ru-RU")
    await expect(russian.page.locator(".sidebar-title")).to_have_text("Локальный Telegram")
    await expect(russian.person("Иван")).to_have_class(re.compile("chosen"))
    english = await open_chat(None, locale="de")
    await expect(english.page.locator(".sidebar-title")).to_have_text("Local Telegram")
    await expect(english.person("Emma")).to_have_class(re.compile("chosen"))
    chat = await open_chat(None)
    await expect(chat.page.locator("html")).to_have_attribute("lang", "uk")
    await expect(chat.page.locator(".sidebar-title")).to_have_text("Локальний Telegram")
    for name in ("Олена", "Иван", "Emma"):
        await expect(chat.person(name)).to_be_visible()
    await chat.page.get_by_role("button", name="Почати").click()
    await expect(chat.bubble("/start")).to_be_visible()
    assert [u["message"]["text"] for u in await chat.updates()] == ["/start"]


async def test_writing_and_ticks(open_chat: OpenChat, control: ControlClient) -> None:
    """Enter sends, Shift+Enter breaks the line, one tick turns into two when the bot has taken the message."""
    chat = await open_chat(await new_person(control, "Галина"))
    await chat.field.click()
    await chat.page.keyboard.type("Петров")
    await chat.page.keyboard.press("Shift+Enter")
    await chat.page.keyboard.type("з Харкова")
    await chat.page.keyboard.press("Enter")
    bubble = chat.bubble("з Харкова")
    await expect(bubble.locator(".text")).to_have_text("Петров\nз Харкова", use_inner_text=True)
    await expect(bubble.locator(".ticks")).to_have_text("done")
    await expect(chat.field).to_have_value("")
    assert [u["message"]["text"] for u in await chat.updates()] == ["Петров\nз Харкова"]
    await expect(bubble.locator(".ticks")).to_have_text("done_all")


async def test_the_bot_speaks_the_persons_language_and_the_page_the_browsers(open_chat: OpenChat) -> None:
    """Choosing another person changes address, conversation and what the bot is called there, not the page."""
    chat = await open_chat(1001)
    for language, name in (("uk", "Лаплас"), ("en", "Laplace")):
        await chat.bot("setMyName", name=name, language_code=language)
    await chat.person("Emma").click()
    await expect(chat.page).to_have_url(re.compile(r"user=1003"))
    await expect(chat.page.locator(".head-title")).to_have_text("Laplace")
    await expect(chat.field).to_have_attribute("placeholder", "Повідомлення")
    await chat.person("Олена").click()
    await expect(chat.page).to_have_url(re.compile(r"user=1001"))
    await expect(chat.page.locator(".head-title")).to_have_text("Лаплас")
    for language in ("uk", "en"):
        await chat.bot("setMyName", name="", language_code=language)


async def test_formatting_is_rendered(open_chat: OpenChat, control: ControlClient) -> None:
    """Entities look as in Telegram; a spoiler opens on a click."""
    user = await new_person(control, "Дарина")
    chat = await open_chat(user)
    html = (
        "<b>жирний</b> <i>курсив</i> <code>код</code> <a href='https://example.org/'>сайт</a> "
        "<tg-spoiler>таємниця</tg-spoiler><pre><code class='language-python'>print(1 &lt; 2)</code></pre>"
        "<blockquote>цитата</blockquote>"
    )
    await chat.bot("sendMessage", chat_id=user, text=html, parse_mode="HTML")
    text = chat.bubble("жирний").locator(".text")
    await expect(text.locator("b")).to_have_text("жирний")
    await expect(text.locator("pre code")).to_have_text("print(1 < 2)")
    await expect(text.locator("blockquote")).to_have_text("цитата")
    await expect(text.locator("a")).to_have_attribute("href", "https://example.org/")
    spoiler = text.locator(".spoiler span")
    await expect(spoiler).to_have_css("color", "rgba(0, 0, 0, 0)")
    await spoiler.click()
    await expect(spoiler).not_to_have_css("color", "rgba(0, 0, 0, 0)")


async def test_hostile_text_stays_text(open_chat: OpenChat, control: ControlClient) -> None:
    """Markup in names, texts, buttons and file names is shown, never run."""
    evil = "<img src=x onerror='document.title=\"pwned\"'>"
    user = await new_person(control, evil)
    chat = await open_chat(user)
    await chat.write(evil)
    await chat.bot(
        "sendMessage", chat_id=user, text=evil + "{{1+1}}",
        reply_markup={"inline_keyboard": [[{"text": evil, "callback_data": "x"}]]},
    )  # fmt: skip
    await control.say(user, document={"name": f"{evil}.txt", "content": "eA=="}, caption=evil)
    await control.say(user, contact={"phone_number": evil, "first_name": evil})
    await expect(chat.page.locator(".bubble")).to_have_count(4)
    await expect(chat.bubble("{{1+1}}").locator(".text")).to_have_text(evil + "{{1+1}}")
    assert await chat.page.locator("img[src=x]").count() == 0
    assert await chat.page.title() == "Laplaced · Telegram"


async def test_inline_buttons(open_chat: OpenChat, control: ControlClient) -> None:
    """A press waits for the bot; its answer is a toast or an alert; an edit changes bubble and buttons at once."""
    user = await new_person(control, "Єва")
    chat = await open_chat(user)
    markup = {
        "inline_keyboard": [
            [{"text": "Сім’я", "callback_data": "family"}, {"text": "Друзі", "callback_data": "friends"}]
        ]
    }
    sent = await chat.bot("sendMessage", chat_id=user, text="Коло?", reply_markup=markup)
    await chat.updates()
    # Within the message: the row of the chat in the list is a button too, and its preview repeats the edited text.
    button = chat.page.locator(".keyboard").get_by_role("button", name="Друзі", exact=True)
    await button.click()
    await expect(button.locator(".q-spinner")).to_be_visible()
    (update,) = await chat.updates()
    assert update["callback_query"]["data"] == "friends"
    await chat.bot("answerCallbackQuery", callback_query_id=update["callback_query"]["id"], text="Записано")
    await expect(chat.page.get_by_text("Записано")).to_be_visible()
    await expect(button.locator(".q-spinner")).to_have_count(0)
    await chat.bot("editMessageText", chat_id=user, message_id=sent["message_id"], text="Коло: друзі")
    await expect(chat.bubble("Коло: друзі")).to_be_visible()
    await expect(button).to_have_count(0)
    await expect(chat.bubble("Коло: друзі").locator(".meta")).to_contain_text("змінено")


async def test_streamed_draft_and_stop(open_chat: OpenChat, control: ControlClient) -> None:
    """A draft grows in place, can be stopped, and gives way to the message."""
    user = await new_person(control, "Жанна")
    chat = await open_chat(user)
    await chat.bot("sendChatAction", chat_id=user, action="typing")
    await expect(chat.page.locator(".preview .dots")).to_be_visible()
    await expect(chat.page.locator(".head-status")).to_have_text("друкує…")
    for text in ("Пам’ятаю", "Пам’ятаю Петрова"):
        await chat.bot("sendMessageDraft", chat_id=user, draft_id=5, text=text, can_stop=True)
        await expect(chat.page.locator(".draft .text")).to_have_text(text)
    await chat.page.get_by_role("button", name="Зупинити").click()
    await expect(chat.page.locator(".draft")).to_have_count(0)
    assert [u["stopped_message_generation"]["draft_id"] for u in await chat.updates()] == [5]
    await chat.bot("sendMessage", chat_id=user, text="Пам’ятаю Петрова.")
    await expect(chat.bubble("Пам’ятаю Петрова.")).to_be_visible()


async def test_reply_and_edit(open_chat: OpenChat, control: ControlClient) -> None:
    """A reply quotes the bot's message; editing an own message changes it in place; Escape gives it up."""
    user = await new_person(control, "Зоя")
    chat = await open_chat(user)
    await chat.bot("sendMessage", chat_id=user, text="Хто такий Петров?")
    question = chat.page.locator(".message", has_text="Хто такий Петров?")
    await question.hover()
    await question.get_by_label("Відповісти").click()
    await expect(chat.page.locator(".context")).to_contain_text("Laplaced")
    await chat.write("колега")
    await expect(chat.bubble("колега").locator(".quote")).to_contain_text("Хто такий Петров?")
    own = chat.page.locator(".message.mine", has_text="колега")
    await own.hover()
    await own.get_by_label("Змінити").click()
    await expect(chat.field).to_have_value("колега")
    await expect(chat.field).to_be_focused()
    await chat.page.keyboard.press("Escape")
    await expect(chat.field).to_have_value("")
    await own.hover()
    await own.get_by_label("Змінити").click()
    await expect(chat.field).to_have_value("колега")
    await chat.field.fill("старий друг")
    await chat.page.keyboard.press("Enter")
    await expect(chat.bubble("старий друг").locator(".meta")).to_contain_text("змінено")
    kinds = [next(key for key in update if key != "update_id") for update in await chat.updates()]
    assert kinds == ["message", "edited_message"]


async def test_commands(open_chat: OpenChat, control: ControlClient) -> None:
    """The menu is the bot's, in the person's language; typing / offers it; arrows and Enter choose."""
    user = await new_person(control, "Ілона")
    commands = [("help", "Що я вмію"), ("people", "Кого я знаю"), ("person", "Профіль людини")]
    chat = await open_chat(user)
    await chat.bot(
        "setMyCommands", commands=[{"command": c, "description": d} for c, d in commands], language_code="uk"
    )
    await chat.page.get_by_label("Меню").click()
    await chat.page.locator(".command-menu").get_by_text("/help").click()
    await expect(chat.bubble("/help")).to_be_visible()
    await chat.field.click()
    await chat.page.keyboard.type("/pe")
    await expect(chat.page.locator(".suggestions .command")).to_have_count(2)
    await chat.page.keyboard.press("ArrowDown")
    await expect(chat.page.locator(".suggestions .chosen")).to_contain_text("Профіль людини")
    await chat.page.keyboard.press("Enter")
    await expect(chat.bubble("/person")).to_be_visible()
    await expect(chat.page.locator(".suggestions")).to_be_hidden()
    await chat.bubble("/help").locator(".bot-command").click()
    await expect(chat.bubble("/help")).to_have_count(2)


async def test_attachments(open_chat: OpenChat, control: ControlClient, tmp_path: Path) -> None:
    """Media, a contact card, forwards of each origin and a real file reach the bot."""
    user = await new_person(control, "Катерина")
    chat = await open_chat(user)
    await chat.attach("Наліпка")
    (update,) = await eventually_updates(chat)
    assert "sticker" in update["message"]
    await chat.attach("Контакт")
    dialog = chat.page.locator(".dialog")
    await dialog.get_by_label("Ім’я").fill("Марія")
    await dialog.get_by_role("button", name="Надіслати").click()
    (update,) = await eventually_updates(chat)
    assert update["message"]["contact"]["first_name"] == "Марія"
    assert update["message"]["contact"]["user_id"] > 0
    for option, kind in (
        ("Від людини, яка приховала акаунт", "hidden_user"),
        ("З каналу", "channel"),
        ("З групи", "chat"),
    ):
        await chat.attach("Переслати повідомлення")
        await dialog.locator(".q-select").click()
        await chat.page.get_by_role("option", name=option, exact=True).click()
        await dialog.get_by_label("Ім’я").fill("Тьотя Галя")
        await dialog.get_by_label("Текст").fill("переслане")
        await dialog.get_by_role("button", name="Надіслати").click()
        (update,) = await eventually_updates(chat)
        assert update["message"]["forward_origin"]["type"] == kind
        await expect(dialog).to_have_count(0)
    for label, kind, name in (("Файл", "document", "план.txt"), ("Голосове повідомлення", "voice", "запис.ogg")):
        file = tmp_path / name
        file.write_text("зустріч о 10", encoding="utf-8")
        async with chat.page.expect_file_chooser() as chooser:
            await chat.attach(label)
        await (await chooser.value).set_files(file)
        (update,) = await eventually_updates(chat)
        assert update["message"][kind].get("file_name") == (name if kind == "document" else None)
        assert await chat.file(update["message"][kind]["file_id"]) == file.read_bytes()
    pictures = [picture(tmp_path / f"{number}.png", number) for number in (1, 2)]
    await chat.field.fill("дача")
    async with chat.page.expect_file_chooser() as chooser:
        await chat.attach("Фото")
    await (await chooser.value).set_files(pictures)
    await expect(chat.page.locator("img.photo")).to_have_count(2)
    await chat.page.wait_for_function("[...document.querySelectorAll('img.photo')].every((one) => one.naturalWidth)")
    first, second = (update["message"] for update in await eventually_updates(chat))
    assert first["media_group_id"] == second["media_group_id"]
    assert (first["caption"], second.get("caption")) == ("дача", None)
    assert [one["photo"][-1]["width"] for one in (first, second)] == [41, 42]


async def test_a_voice_message_is_recorded(open_chat: OpenChat, control: ControlClient) -> None:
    """The microphone records until it is pressed again; the sound reaches the bot with its length."""
    user = await new_person(control, "Ольга")
    chat = await open_chat(user)
    record = chat.page.get_by_label("Записати голосове повідомлення")
    await record.click()
    await expect(record).to_contain_text("stop_circle")
    await record.click()
    await expect(chat.page.locator("audio.sound")).to_be_visible()
    (update,) = await eventually_updates(chat)
    assert update["message"]["voice"]["mime_type"].startswith("audio/")
    assert await chat.file(update["message"]["voice"]["file_id"])


def picture(path: Path, number: int) -> Path:
    Image.new("RGB", (40 + number, 30), "navy").save(path)
    return path


async def eventually_updates(chat: Chat) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await chat.bot("getUpdates", timeout=5)
    await chat.bot("getUpdates", offset=found[-1]["update_id"] + 1)
    return found


async def test_document_downloads(open_chat: OpenChat, control: ControlClient, tmp_path: Path) -> None:
    """A document is downloaded with its name and content."""
    user = await new_person(control, "Леся")
    chat = await open_chat(user)
    await control.say(user, document={"name": "дані.json", "content": "eyJhIjoxfQ=="})
    async with chat.page.expect_download() as download:
        await chat.page.locator("a.card").click()
    loaded = await download.value
    assert loaded.suggested_filename == "дані.json"
    await loaded.save_as(tmp_path / "got")
    assert (tmp_path / "got").read_text() == '{"a":1}'


async def test_two_tabs_stay_alike(open_chat: OpenChat, control: ControlClient) -> None:
    """What is written in one tab appears in the other; a person elsewhere sees it as unread until it is opened."""
    user = await new_person(control, "Мар’яна")
    one, two, other = await open_chat(user), await open_chat(user), await open_chat(1003)
    await one.write("звідси видно?")
    await expect(two.bubble("звідси видно?")).to_be_visible()
    await two.page.close()
    await one.person("Emma").click()
    await expect(one.person("Emma")).to_have_class(re.compile("chosen"))  # until then she still looks at the chat
    await one.bot("sendMessage", chat_id=user, text="видно")
    await expect(other.person("Мар’яна").locator(".person-unread")).to_have_text("1")
    await expect(other.person("Мар’яна").locator(".person-preview")).to_have_text("видно")
    await other.person("Мар’яна").click()
    await expect(other.bubble("видно").last).to_be_visible()
    await expect(other.person("Мар’яна").locator(".person-unread")).to_be_hidden()


async def test_adding_a_person(open_chat: OpenChat, control: ControlClient, caplog: pytest.LogCaptureFixture) -> None:
    """A new person gets a name and a language and is chosen at once, and the log is quiet; without a name none is."""
    chat = await open_chat(1003, locale="en")
    before = len((await control.request("GET", "/users"))["users"])
    await chat.page.get_by_role("button", name="Add a person").click()
    dialog = chat.page.locator(".dialog")
    await dialog.get_by_role("button", name="Add", exact=True).click()
    assert len((await control.request("GET", "/users"))["users"]) == before
    await dialog.get_by_label("First name").fill("Наталья")
    await dialog.locator(".q-select").click()
    await chat.page.get_by_role("option", name="Русский").click()
    await dialog.get_by_role("button", name="Add", exact=True).click()
    await expect(chat.person("Наталья")).to_have_class(re.compile("chosen"))
    await chat.write("Привет")
    assert [u["message"]["from"]["language_code"] for u in await eventually_updates(chat)] == ["ru"]
    assert "deleted" not in caplog.text  # the page was laid again while the dialog was still there


async def test_blocking(open_chat: OpenChat, control: ControlClient) -> None:
    """Blocked, the field gives way to a button that unblocks; the bot is told both times."""
    user = await new_person(control, "Оксана")
    chat = await open_chat(user)
    await chat.page.get_by_label("Ще").click()
    await chat.page.get_by_text("Заблокувати бота").click()
    await expect(chat.field).to_be_hidden()
    await chat.page.get_by_role("button", name="Розблокувати бота").click()
    await expect(chat.field).to_be_visible()
    statuses = [u["my_chat_member"]["new_chat_member"]["status"] for u in await chat.updates()]
    assert statuses == ["kicked", "member"]


async def test_force_reply_and_reply_keyboard(open_chat: OpenChat, control: ControlClient) -> None:
    """ForceReply opens a reply; a keyboard's keys send their text until the bot takes it away."""
    user = await new_person(control, "Поліна")
    chat = await open_chat(user)
    await chat.bot("sendMessage", chat_id=user, text="Як звати?", reply_markup={"force_reply": True})
    await expect(chat.page.locator(".context")).to_contain_text("Як звати?")
    await chat.bot(
        "sendMessage", chat_id=user, text="Мова?", reply_markup={"keyboard": [[{"text": "Українська"}, "English"]]}
    )
    await chat.page.get_by_role("button", name="Українська").click()
    await expect(chat.bubble("Українська")).to_be_visible()
    await chat.bot("sendMessage", chat_id=user, text="Добре", reply_markup={"remove_keyboard": True})
    await expect(chat.page.get_by_role("button", name="English")).to_have_count(0)


async def test_long_history(open_chat: OpenChat, control: ControlClient) -> None:
    """A long chat opens at its end and shows earlier messages on request, in order."""
    user = await new_person(control, "Роксолана")
    for number in range(70):
        await control.say(user, f"повідомлення {number}")
    chat = await open_chat(user)
    await expect(chat.bubble("повідомлення 69")).to_be_in_viewport()
    await expect(chat.page.locator(".bubble")).to_have_count(60)
    await chat.page.get_by_role("button", name="Показати давніші").click()
    await expect(chat.page.locator(".bubble")).to_have_count(70)
    texts = await chat.page.locator(".bubble .text").all_inner_texts()
    assert texts == [f"повідомлення {number}" for number in range(70)]


async def test_group_view(open_chat: OpenChat, control: ControlClient) -> None:
    """A person's groups stand below the person; others' messages bear their names."""
    one, two = await new_person(control, "Соломія"), await new_person(control, "Тетяна")
    group = await control.request("POST", "/chats", {"title": "Дача", "members": [one, two]})
    await control.say(two, "хто копає?", chat_id=group["id"])
    chat = await open_chat(one)
    await chat.person("Дача").click()
    await expect(chat.bubble("хто копає?").locator(".author")).to_have_text("Тетяна")
    await expect(chat.page.locator(".head-status")).to_have_text("3 учасники")
    await chat.write("я")
    await expect(chat.bubble("я").last).to_be_visible()


async def test_a_group_with_topics_and_reactions(open_chat: OpenChat, control: ControlClient) -> None:
    """A group is made on the page, a topic begun in it, and a reaction given and taken back."""
    one = await new_person(control, "Ганна")
    chat = await open_chat(one)
    page = chat.page
    await page.get_by_role("button", name="Створити групу").click()
    await page.get_by_label("Назва групи").fill("Город")
    await page.get_by_role("switch").click()  # the bot reads everything
    await page.get_by_role("button", name="Додати", exact=True).click()
    await expect(page.locator(".head-title")).to_have_text("Город")
    await chat.write("копаємо о восьмій")
    await page.get_by_label("Нова тема").click()
    await page.get_by_label("Назва теми").fill("Насіння")
    await page.get_by_role("button", name="Додати", exact=True).click()
    await expect(page.locator(".topic.chosen")).to_have_text("Насіння")
    await chat.write("чого насіємо?")
    await expect(chat.bubble("чого насіємо?")).to_be_visible()
    await expect(chat.bubble("копаємо о восьмій")).to_have_count(0)
    message = page.locator(".message", has_text="чого насіємо?")
    await message.hover()
    await message.get_by_label("Поставити реакцію").click()
    await page.locator(".reaction-menu").get_by_text("👍").click()
    await expect(message.locator(".reaction.own")).to_have_text("👍")
    await message.locator(".reaction.own").click()
    await expect(message.locator(".reaction")).to_have_count(0)
    [group] = [u["message"] for u in await chat.updates() if u.get("message", {}).get("text") == "чого насіємо?"]
    assert group["is_topic_message"]


async def test_phone(open_chat: OpenChat, control: ControlClient) -> None:
    """On a phone's width the list and the chat take turns, and nothing is wider than the screen."""
    user = await new_person(control, "Уляна")
    await control.say(user, "дуже " * 60 + "https://example.org/" + "x" * 200)
    chat = await open_chat(user, viewport={"width": 360, "height": 640})
    await expect(chat.field).to_be_visible()
    await expect(chat.page.locator(".sidebar")).to_be_hidden()
    assert await chat.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert await chat.page.locator(".scroller").evaluate("e => e.scrollWidth <= e.clientWidth")
    await chat.page.get_by_label("Назад").click()
    await expect(chat.field).to_be_hidden()
    await chat.person("Emma").click()
    await expect(chat.field).to_be_visible()


async def test_appearance(open_chat: OpenChat, control: ControlClient) -> None:
    """By itself the page follows the system; a choice holds over a reload."""
    chat = await open_chat(1003, color_scheme="dark", locale="en")
    body = chat.page.locator("body")
    await expect(body).to_have_class(re.compile("body--dark"))
    await chat.page.get_by_label("Appearance").click()
    await chat.page.get_by_text("Light", exact=True).click()
    await expect(body).to_have_class(re.compile("body--light"))
    await chat.page.reload()
    await expect(body).to_have_class(re.compile("body--light"))
    await chat.page.get_by_label("Appearance").click()
    await chat.page.get_by_text("Same as system").click()
    await expect(body).to_have_class(re.compile("body--dark"))


async def test_screenshot_for_the_documentation(local: LocalTelegram, tmp_path: Path) -> None:
    """A script can take a picture of a conversation in one call."""
    await take_screenshot(local.url, tmp_path / "chat.png", user_id=1001, width=600, height=400, scale=2)
    header = (tmp_path / "chat.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")) == (1200, 800)


_APP = """<p></p><script>
const said = document.querySelector("p");
said.textContent = new URLSearchParams(location.hash.slice(1)).get("tgWebAppData");
const tell = (eventType, eventData) => parent.postMessage(JSON.stringify({eventType, eventData}), "*");
tell("web_app_setup_back_button", {is_visible: true});
addEventListener("message", (event) => {
  said.textContent = event.data;
  setTimeout(() => tell("web_app_close"), 300);
});
</script>"""


async def test_a_mini_app_is_opened_as_telegram_opens_it(open_chat: OpenChat, control: ControlClient) -> None:
    """From the menu button or a button of a message: with data that the bot's token signed, and the back button."""
    chat = await open_chat(await new_person(control, "Марко"))
    url = f"data:text/html,{quote(_APP)}"
    button = {"type": "web_app", "text": "Пам'ять", "web_app": {"url": url}}
    await chat.bot("setChatMenuButton", menu_button=button)
    await chat.page.locator(".menu-button").click()
    await chat.page.get_by_text("Пам'ять").click()
    told = chat.page.frame_locator(".mini-app-frame").locator("p")
    await expect(told).to_contain_text("auth_date")
    data = await told.inner_text()
    assert check_webapp_signature(chat.token, data)
    assert "Марко" in unquote(data)
    await chat.page.locator(".mini-app-back").click()
    await expect(told).to_contain_text("back_button_pressed")
    await expect(chat.page.locator(".mini-app")).to_have_count(0)
    await chat.bot("setChatMenuButton", menu_button={"type": "default"})
    keyboard = {"inline_keyboard": [[{"text": "Відкрити", "web_app": {"url": url}}]]}
    await chat.bot("sendMessage", chat_id=chat.user_id, text="Ось", reply_markup=keyboard)
    await chat.page.get_by_role("button", name="Відкрити").click()
    await expect(told).to_contain_text("auth_date")
