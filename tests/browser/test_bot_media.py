"""What a bot sends is seen on the chat page: each kind of media, polls, pins, quotes, and what it finds inline."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from PIL import Image
from playwright.async_api import expect
from support.patience import PATIENCE_S
from support.product.browser_chat import Chat

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram

pytestmark = pytest.mark.asyncio(loop_scope="module")

OpenChat = Callable[..., Awaitable[Chat]]


def picture(kind: str = "PNG") -> bytes:
    """A small picture; as GIF one that moves."""
    frames = [Image.linear_gradient("L").convert("RGB").rotate(turn).resize((240, 160)) for turn in (0, 90)]
    out = io.BytesIO()
    frames[0].save(out, kind, **({"save_all": True, "append_images": frames[1:], "loop": 0} if kind == "GIF" else {}))
    return out.getvalue()


def sound() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(bytes(8000))
    return out.getvalue()


class Sender:
    """A bot that sends to one chat."""

    def __init__(self, local: LocalTelegram, chat_id: int) -> None:
        self._url, self._chat_id = f"{local.url}/bot{local.token}", chat_id

    async def __call__(self, method: str, file: tuple[str, str, bytes, str] | None = None, **values: Any) -> Any:
        """The result of a method; `file` is the parameter's name, the file's name, its content and its type."""
        data = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
        files = {} if file is None else {file[0]: file[1:]}
        async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
            answer = await http.post(f"{self._url}/{method}", data={"chat_id": self._chat_id, **data}, files=files)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


async def test_each_kind_of_media_is_shown(open_chat: OpenChat, control: ControlClient, local: LocalTelegram) -> None:
    """Pictures and sounds are loaded, files offered, places and polls told; a vote counts; a pin stands above."""
    user = await control.add_user("Дарина", language_code="uk", started=True)
    send, chat = Sender(local, user), await open_chat(user)
    png, wav = picture(), sound()
    first = await send("sendPhoto", ("photo", "a.png", png, "image/png"), caption="<b>Дача</b>", parse_mode="HTML")
    await send("sendAnimation", ("animation", "a.gif", picture("GIF"), "image/gif"))
    await send("sendSticker", ("sticker", "a.webp", picture("WEBP"), "image/webp"))
    await send("sendVoice", ("voice", "a.wav", wav, "audio/wav"), duration=1)
    await send("sendAudio", ("audio", "a.wav", wav, "audio/wav"), performer="Океан", title="Весна")
    await send("sendDocument", ("document", "план.txt", b"plan", "text/plain"))
    await send("sendLocation", latitude=50.45, longitude=30.52)
    await send("sendVenue", latitude=1, longitude=2, title="Кав’ярня", address="Поділ 1")
    await send("sendContact", phone_number="+380", first_name="Іра")
    await send("sendDice", emoji="🎲")
    poll = await send("sendPoll", question="Чай?", options=["так", "ні"])
    await send("forwardMessage", from_chat_id=user, message_id=first["message_id"])
    asked = await control.say(user, "Куди поїдемо у суботу?")
    quote = {"message_id": asked["message_id"], "quote": "у суботу"}
    last = await send("sendMessage", text="На дачу", reply_parameters=quote)
    await send("setMessageReaction", message_id=asked["message_id"], reaction=[{"type": "emoji", "emoji": "🔥"}])
    await send("pinChatMessage", message_id=last["message_id"])
    page = chat.page
    await expect(page.locator("img.photo")).to_have_count(3)
    await page.wait_for_function("[...document.querySelectorAll('.list img')].every((one) => one.naturalWidth > 0)")
    await page.wait_for_function("[...document.querySelectorAll('.list audio')].every((one) => one.duration > 0)")
    await expect(page.locator("img.sticker")).to_have_count(1)
    for shown in ("Океан — Весна", "план.txt", "Кав’ярня", "Поділ 1", "Іра", "«у суботу»", "Переслано від Laplaced"):
        await expect(page.get_by_text(shown).first).to_be_visible()
    await page.locator(".poll-option", has_text="так").click()
    await expect(page.locator(".poll-option", has_text="так")).to_contain_text("100%")
    await expect(page.locator(".reaction")).to_have_text("🔥")
    await expect(page.locator(".pinned")).to_contain_text("На дачу")
    await send("stopPoll", message_id=poll["message_id"])
    await expect(page.get_by_text("Опитування закрито")).to_be_visible()
    await send("editMessageCaption", message_id=first["message_id"], caption="Сад")
    await expect(page.get_by_text("Сад", exact=True)).to_be_visible()
    await send("unpinAllChatMessages")
    await expect(page.locator(".pinned")).to_be_hidden()


async def test_what_is_found_inline_is_sent_by_a_tap(
    open_chat: OpenChat, control: ControlClient, local: LocalTelegram
) -> None:
    """Typing after the bot's name asks it; its results stand above the field, and the chosen one is a message."""
    user = await control.add_user("Лілія", language_code="uk", started=True)
    send, chat = Sender(local, user), await open_chat(user)
    await chat.field.click()
    await chat.page.keyboard.type("@lap")
    await chat.page.locator(".inline-result").click()
    await expect(chat.field).to_have_value("@laplaced_bot ")
    await expect(chat.field).to_be_focused()  # the click took the focus, and keys typed before it is back are lost
    await chat.page.keyboard.type("човен")
    query, offset = {"query": None}, 0
    await expect(chat.field).to_have_value("@laplaced_bot човен")
    while query["query"] != "човен":  # slow fingers ask for what is there so far, too
        for update in await send("getUpdates", timeout=5, offset=offset):
            query, offset = update.get("inline_query", query), update["update_id"] + 1
    assert query["from"]["id"] == user
    found = {"message_text": "Човен <i>біля</i> причалу", "parse_mode": "HTML"}
    article = {"type": "article", "id": "1", "title": "Човен", "description": "з літа", "input_message_content": found}
    await send("answerInlineQuery", inline_query_id=query["id"], results=[article], cache_time=0)
    row = chat.page.locator(".inline-result")
    await expect(row).to_contain_text("з літа")
    await row.click()
    await expect(chat.bubble("Човен біля причалу")).to_contain_text("@laplaced_bot")
    await expect(chat.field).to_have_value("")


async def test_a_table_has_columns(open_chat: OpenChat, control: ControlClient, local: LocalTelegram) -> None:
    """A rich message shows its cells, escaped; the list of chats shows its words."""
    user = await control.add_user("Тарас", language_code="uk", started=True)
    send, chat = Sender(local, user), await open_chat(user)
    rows = ("| Назва | Кава | Від дому |", "|---|---:|---|", "| Кит | 90 ₴ | 5 хв |", "| <b>Сова</b> | 75 ₴ | 12 хв |")
    await send("sendRichMessage", rich_message={"markdown": "\n".join(("Кав'ярні поруч:", "", *rows))})
    cells = chat.page.locator(".bubble td")
    await expect(cells).to_have_text(["Кит", "90 ₴", "5 хв", "<b>Сова</b>", "75 ₴", "12 хв"])
    await expect(chat.page.locator(".bubble th")).to_have_count(3)
    await expect(chat.bubble("поруч")).not_to_contain_text("не можна")
    await expect(chat.page.locator(".chosen .person-preview")).to_contain_text("Кав'ярні поруч: Назва | Кава")
