"""Pictures for the documentation: the real product and its console, photographed by a headless Chromium.

    make screenshots
    PYTHONPATH=tests python docs/screenshots.py [--into docs/images] [--demo .demo] [--only NAME ...]

The chats are of `laplaced run` in a temporary folder with nothing configured but short waits: three people talk with it
in their languages until what they said is archived, and ask. The pages of the console are over the bot of `make demo`,
three weeks of three people; where there is none in `--demo`, it is lived first. In the pictures of media each person
sends a voice, a picture, a table and slides, and asks about them a day later: the bot that gets them lives a day
earlier (libfaketime), and a scripted server stands for the one that writes down speech. Nothing is drawn by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from PIL import Image, ImageDraw, ImageFont
from playwright.async_api import Browser, Page
from support.flows.office_files import presentation, workbook
from support.product.models_tried import MODEL, answers
from support.product.screenshot import chromium, take_screenshot

from bot.simulator.client import ControlClient
from internal.testing import ScriptedModel

LARGEST = 120_000
"""Bytes: the pages are read over slow lines too."""

COLOURS = 256
"""As many as the screens of the product need; Chromium writes all sixteen million."""

LIVED_S = 3_600
"""How long three weeks may take on a busy machine."""

BEGINNING = 40
"""Characters by which an answer is found in the timeline."""

PHONE = 860
"""Pixels: from this width on details stand beside the timeline."""

CONVERSATIONS = {
    "en": (
        ("My colleague Tom Baker moved the Beacon release to March.", "My sister Kate is getting married in Leeds."),
        ("/people", "What did I tell you about Baker?", "Where is Katie getting married?", "Who is Dmitry?"),
    ),
    "uk": (
        ("Учора зустріла Олега Петренка, мого друга зі школи. Він переїхав до Львова.", "Моя сестра Оля чекає дитину."),
        ("/people", "Куди переїхав Петренко?", "Хто така Olya?", "Хто такий Дмитро?"),
    ),
    "ru": (
        ("Обедал с Петровым, мы вместе работаем. Он перенёс релиз на март.", "Сестра Маша приехала из Казани."),
        ("/people", "Что я рассказывал о Петрове?", "Откуда приехала Mariya?", "Кто такой Дмитрий?"),
    ),
}
"""For each language what is told at first, and what is asked once it is archived."""


COMPANIONS = "chat-companion.png"
"""The last of the chats, for more is told for it."""

COMPANION = (
    (
        "My mother Ann has her birthday on December 12.",
        "Kate promised to send me the seating plan by Friday.",
        "My mother Ann lives in York.",
    ),
    ("Remind me today at 23:30 to water the plants", "/today", "/brief Kate", "/map"),
)
"""What the English person tells then, and what she asks of the day, of her sister and of her people."""


@dataclass(frozen=True)
class Picture:
    lang: str
    width: int
    height: int
    dark: bool = False
    scale: float = 1.0
    path: str = ""


PICTURES = {
    "chat.png": Picture("en", 1100, 860),
    "chat-dark.png": Picture("uk", 1100, 860, dark=True),
    "chat-phone.png": Picture("ru", 390, 844, scale=1.5),
    COMPANIONS: Picture("en", 520, 1500),
}

SETUP = "setup.png"
"""The choice of a model, with a server of this machine that answers every agent."""


@dataclass(frozen=True)
class Sent:
    """What somebody sends on the first day, and what he asks on the next."""

    heard: str
    sign: str
    caption: str
    table: tuple[str, Sequence[Sequence[str]]]
    slides: Sequence[str]
    asked: Sequence[str]


MEDIA = {
    "en": Sent(
        "The rehearsal of the choir moves to Thursday at seven, in the old brewery.",
        "Bakery Poppy\nopen from 7 to 19",
        "our new bakery",
        ("Boat", (("Item", "Price"), ("Life jackets", "140 euro"), ("Anchor", "95 euro"))),
        ("Trip to Skye", "The ferry leaves Mallaig at 8:40"),
        (
            "When is the rehearsal of the choir?",
            "When is the bakery open?",
            "What does the anchor cost?",
            "When does the ferry leave?",
        ),
    ),
    "ru": Sent(
        "Репетиция хора переносится на четверг на семь вечера, в старую пивоварню.",
        "Пекарня Мак\nоткрыта с 7 до 19",
        "наша новая пекарня",
        ("Лодка", (("Вещь", "Цена"), ("Жилеты", "14000 рублей"), ("Якорь", "9500 рублей"))),
        ("Поездка на Байкал", "Паром отходит из Хужира в 8:40"),
        ("Когда репетиция хора?", "Когда открыта пекарня?", "Сколько стоит якорь?", "Когда отходит паром?"),
    ),
    "uk": Sent(
        "Репетиція хору переноситься на четвер на сьому вечора, у стару броварню.",
        "Пекарня Мак\nвідчинена з 7 до 19",
        "наша нова пекарня",
        ("Човен", (("Річ", "Ціна"), ("Жилети", "5600 гривень"), ("Якір", "3800 гривень"))),
        ("Мандрівка на Світязь", "Пором відходить о 8:40"),
        ("Коли репетиція хору?", "Коли відчинена пекарня?", "Скільки коштує якір?", "Коли відходить пором?"),
    ),
}

MEDIA_PICTURES = {f"media-{lang}.png": Picture(lang, 430, 1540, dark=lang == "uk") for lang in MEDIA}

HEARD = "test/whisper"
FAKETIME = next(map(str, Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), "")
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"
OFFICE = "application/vnd.openxmlformats-officedocument"

CONSOLE_PICTURES = {
    "console.png": Picture("en", 1440, 900, path="/"),
    "console-dark.png": Picture("uk", 1440, 900, dark=True, path="/"),
    "console-phone.png": Picture("ru", 390, 844, scale=1.5, path="/"),
    "console-people.png": Picture("uk", 1280, 800, path="/people"),
    "console-graph.png": Picture("ru", 1280, 800, dark=True, path="/graph"),
    "console-sessions.png": Picture("uk", 1280, 800, path="/sessions"),
    "console-memory.png": Picture("en", 1280, 800, dark=True, path="/memory"),
    "console-tasks.png": Picture("ru", 1280, 800, path="/tasks"),
    "console-notifications.png": Picture("en", 1280, 800, path="/notifications"),
}
"""Pages that three weeks without a paid model have filled, as the person of that language sees them."""

SHORT_WAITS = {
    "LAPLACED_TELEGRAM__GROUP_WINDOW": "0s",
    "LAPLACED_DIALOGUE__IDLE_TIMEOUT": "3s",
    "LAPLACED_SCHEDULER__TICK": "1s",
}
"""For the chats. Three weeks of the demo are lived as anybody's: with these, every sentence would be a session."""

SHOWN = ".event, .dot, .node, .fact, .bubble, .memory-row, .task, .notice-row, .mind-row, details.row, .figure, .empty"
"""What tells that a page is there, with something of its own or without."""


@dataclass(frozen=True)
class Running:
    """A started product: its chat page, its console, its server and the key to both."""

    chat_page: str
    console: str
    url: str
    key: str

    async def people(self, user_id: int) -> list[dict[str, Any]]:
        async with httpx.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {self.key}"}) as http:
            answer = await http.get("/people", params={"user_id": user_id})
        found: list[dict[str, Any]] = answer.raise_for_status().json()["people"]
        return found


def environment(data_dir: Path, waits: Mapping[str, str]) -> dict[str, str]:
    """Without any settings of our own but for free ports and how long is waited."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LAPLACED_")} | {
        "LAPLACED_DATA_DIR": str(data_dir),
        "LAPLACED_SERVER__PORT": "0",
        "LAPLACED_MCP__PORT": "0",
        "LAPLACED_SERVER__CONSOLE_PORT": "0",
        "LAPLACED_TELEGRAM__LOCAL__PORT": "0",
        **waits,
    }


@asynccontextmanager
async def product(
    data_dir: Path, waits: Mapping[str, str] = MappingProxyType({}), *words: str
) -> AsyncIterator[Running]:
    """`laplaced run` on free ports, stopped in order at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run", *words, env=environment(data_dir, waits), stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(60):
            said = await _said_until_ready(process)
        [chat_page] = re.findall(r"Open (\S+)", said)
        [console] = re.findall(r"Console: (\S+)", said)
        [url] = re.findall(r"REST: (\S+)", said)
        yield Running(chat_page, console, url, (data_dir / "server_api_key").read_text().strip())
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def live(data_dir: Path) -> None:
    """The three weeks of `make demo`, if nobody has lived there yet."""
    if (data_dir / "laplaced.db").exists():
        return
    command = ("simulate", "demo", "--offline", "--until-today", "--data", str(data_dir))
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bot", *command, env=environment(data_dir, {}))
    async with asyncio.timeout(LIVED_S):
        if await process.wait():
            raise SystemExit(f"laplaced simulate ended with {process.returncode}")


async def _said_until_ready(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    said = ""
    while "REST: " not in said:
        line = await process.stdout.readline()
        if not line:
            raise SystemExit(f"laplaced ended with {await process.wait()}")
        said += line.decode()
    return said


async def converse(running: Running, people: ControlClient, user_id: int, lang: str) -> None:
    lines, asked = CONVERSATIONS[lang]
    for text in lines:
        await say(people, user_id, text)
    async with asyncio.timeout(60):
        while len(await running.people(user_id)) < len(lines):  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.2)
    for text in asked:
        await say(people, user_id, text)


async def accompany(running: Running, people: ControlClient, user_id: int) -> None:
    """What the commands of a day show once it is read what was told: the pictures of a chat taken before stay short."""
    lines, asked = COMPANION
    for text in lines:
        await say(people, user_id, text)
    async with asyncio.timeout(60):
        while not any("Ann" in one["display_name"] for one in await running.people(user_id)):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    for text in asked:
        await say(people, user_id, text)


async def say(people: ControlClient, user_id: int, text: str) -> None:
    """Says it, waits for the answer and lets it be read."""
    message = await people.say(user_id, text)
    answer = await people.wait_for_message(user_id, lambda _: True, after=message["message_id"], within=60)
    print(f"  {text}\n    {answer.get('text', '(a picture)')}")


async def take_pictures(into: Path, demo: Path | None, only: Sequence[str]) -> None:
    chats = {name: picture for name, picture in PICTURES.items() if not only or name in only}
    pages = {name: picture for name, picture in CONSOLE_PICTURES.items() if not only or name in only}
    with tempfile.TemporaryDirectory() as folder:
        if chats:
            await picture_chats(into, Path(folder) / "data", chats)
        if not only or SETUP in only:
            await picture_setup(into / SETUP, Path(folder))
        if media := {name: picture for name, picture in MEDIA_PICTURES.items() if not only or name in only}:
            await picture_media(into, Path(folder) / "media", media)
        if pages:
            lived = (demo or Path(folder) / "demo").resolve()
            await live(lived)
            await picture_pages(into, lived, pages)


async def picture_chats(into: Path, data_dir: Path, pictures: Mapping[str, Picture]) -> None:
    async with product(data_dir, SHORT_WAITS) as running, ControlClient(running.chat_page) as people:
        users = {user["language_code"]: user["id"] for user in (await people.request("GET", "/users"))["users"]}
        for lang in CONVERSATIONS:
            await converse(running, people, users[lang], lang)
        for name, picture in pictures.items():
            if name == COMPANIONS:
                await accompany(running, people, users[picture.lang])
            await take_screenshot(
                running.chat_page, into / name, user_id=users[picture.lang], language=picture.lang, width=picture.width,
                height=picture.height, dark=picture.dark, scale=picture.scale,
            )  # fmt: skip
            compress(into / name)


async def picture_media(into: Path, data_dir: Path, pictures: Mapping[str, Picture]) -> None:
    yesterday = {
        "LD_PRELOAD": FAKETIME,
        "FAKETIME": "-1d",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }
    async with ScriptedModel() as speech:
        heard = {
            "LAPLACED_MEDIA__TRANSCRIPTION__MODEL": HEARD,
            "LAPLACED_MEDIA__TRANSCRIPTION__BASE_URL": speech.url,
            "LAPLACED_MEDIA__TRANSCRIPTION__API_KEY": "test",
            "LAPLACED_TELEGRAM__GROUP_WINDOW": "0s",
        }
        async with product(data_dir, heard | yesterday) as running, ControlClient(running.chat_page) as people:
            users = {user["language_code"]: user["id"] for user in (await people.request("GET", "/users"))["users"]}
            for lang, sent in MEDIA.items():
                speech.script(HEARD, sent.heard)
                await send_media(people, users[lang], sent)
        async with product(data_dir, heard) as running, ControlClient(running.chat_page) as people:
            for lang, sent in MEDIA.items():
                for text in sent.asked:
                    await say(people, users[lang], text)
            for name, picture in pictures.items():
                await take_screenshot(
                    running.chat_page, into / name, user_id=users[picture.lang], language=picture.lang,
                    width=picture.width, height=picture.height, dark=picture.dark,
                )  # fmt: skip
                compress(into / name)


def answers_it(message: Mapping[str, Any]) -> bool:
    """Whether it is the answer, not the transcript before it."""
    return not message["text"].startswith("🎙")


async def send_media(people: ControlClient, user_id: int, sent: Sent) -> None:
    """A voice, a picture with words, a table and slides; each is read before the next is sent."""
    sign, drawn = Image.new("RGB", (640, 200), "#f4ead2"), io.BytesIO()
    ImageDraw.Draw(sign).text((30, 30), sent.sign, font=ImageFont.truetype(FONT, 48), fill="#5b2a12")
    sign.save(drawn, "PNG")
    title, rows = sent.table
    files = (
        ("voice", "voice.ogg", b"OggS", "audio/ogg", {"duration": 6}),
        ("photo", "sign.png", drawn.getvalue(), "image/png", {"caption": sent.caption}),
        ("document", f"{title}.xlsx", workbook({title: (1, rows)}), f"{OFFICE}.spreadsheetml.sheet", {}),
        ("document", f"{sent.slides[0]}.pptx", presentation(*sent.slides), f"{OFFICE}.presentationml.presentation", {}),
    )
    for media, name, content, mime, more in files:
        message = await people.send_file(user_id, media, name, content, mime, **more)
        answer = await people.wait_for_message(user_id, answers_it, after=message["message_id"], within=120)
        print(f"  {name}\n    {answer['text']}")


async def picture_setup(path: Path, folder: Path) -> None:
    configuration = folder / "config.yaml"
    configuration.write_text("# of the picture\n", encoding="utf-8")
    async with ScriptedModel(offered=[MODEL]) as ollama, chromium() as browser:
        ollama.always(MODEL, answers)
        here = {"OLLAMA_HOST": f"127.0.0.1:{ollama.port}"}
        async with product(folder / "chosen", here, "--config", str(configuration)) as running:
            page = await browser.new_page(viewport={"width": 760, "height": 520}, locale="en", reduced_motion="reduce")
            await page.goto(f"{running.chat_page}/setup")
            await page.locator(f"input[value='{MODEL}']").wait_for()
            await page.get_by_role("button", name="Try and write").click()
            await page.get_by_role("button", name="Start the bot").wait_for()
            await page.screenshot(path=path)
            compress(path)


async def picture_pages(into: Path, data_dir: Path, pictures: Mapping[str, Picture]) -> None:
    async with product(data_dir) as running, ControlClient(running.chat_page) as people, chromium() as browser:
        users = {user["language_code"]: user["id"] for user in (await people.request("GET", "/users"))["users"]}
        for name, picture in pictures.items():
            await picture_console(browser, running, into / name, picture, users[picture.lang])
            compress(into / name)


async def picture_console(browser: Browser, running: Running, path: Path, picture: Picture, user_id: int) -> None:
    """A page over one person; of the control room with what led to an answer, but on a phone."""
    page = await browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.dark else "light",
        device_scale_factor=picture.scale,
        locale=picture.lang,
        reduced_motion="reduce",
    )
    await page.goto(f"{running.console}/login?back=/costs")
    await page.fill("#key", running.key)
    await page.press("#key", "Enter")
    await page.locator("#main").wait_for()
    await page.goto(f"{running.console}{picture.path}?user={user_id}")
    await page.locator(SHOWN).first.wait_for()
    if picture.path == "/" and picture.width > PHONE:
        await choose_answer(page)
    await page.evaluate("document.fonts.ready")
    await page.wait_for_timeout(1500)  # rows, drawings and details come one after another
    await page.screenshot(path=path)
    await page.close()


async def choose_answer(page: Page) -> None:
    """Opens the event of the last answer but one, with what led to it and what came of it."""
    answers = page.locator(".talk .said.assistant p")
    await answers.nth(1).wait_for()
    words = (await answers.nth(await answers.count() - 2).inner_text())[:BEGINNING]
    event = page.locator(".event", has_text=words).first
    while not await event.count():  # only rows in sight are there
        await page.locator(".events").evaluate("one => { one.scrollTop -= one.clientHeight / 2 }")
        await page.wait_for_timeout(200)
    await event.click()
    await page.locator(".details-title").first.wait_for()


def compress(path: Path) -> None:
    """Fewer colours, and a third of the bytes. The rare ones stay what they are: they tell the lanes apart."""
    with Image.open(path) as taken:
        few = taken.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=5, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    weigh(path)


def weigh(path: Path) -> None:
    size = path.stat().st_size
    print(f"{path}: {size // 1000} kB")
    if size > LARGEST:
        raise SystemExit(f"{path.name} is larger than {LARGEST // 1000} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=Path(__file__).parent / "images")
    parser.add_argument("--demo", type=Path, help="the data folder of `make demo`; by default one of its own")
    parser.add_argument("--only", nargs="+", choices=[*PICTURES, *MEDIA_PICTURES, *CONSOLE_PICTURES, SETUP], default=[])
    asked = parser.parse_args()
    asyncio.run(take_pictures(asked.into, asked.demo, asked.only))


if __name__ == "__main__":
    main()
