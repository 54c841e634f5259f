"""First meeting, settings and the way around."""

from __future__ import annotations

import pytest
from aiogram.types import Chat, Message
from sqlalchemy import delete
from support.interfaces.handler_stage import World, only

from bot.telegram.handlers.account.start import start_code
from bot.telegram.i18n import phrase
from bot.telegram.menu import COMMANDS, OWNER_COMMANDS
from bot.telegram.rendering import render
from internal.access import service as access
from internal.access.model import LANGUAGES, Author, Language, Role
from internal.storage.tables import users


def text(lang: Language, key: str, **values: str | int) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_start_greets_and_asks_for_the_zone_once(world: World, lang: Language) -> None:
    """The first /start greets in three lines and asks for the zone with buttons; the second only welcomes back."""
    await world.admit(2, "Олена", lang)
    greeting, question = await world.send("/start", 2)
    assert greeting.text == text(lang, "greeting", name="Олена", persona="Laplaced")
    assert len(question.buttons) >= 4
    (again,) = await world.send("/start", 2)
    assert again.text == text(lang, "greeting-again", name="Олена")


async def test_the_owner_code_makes_an_owner(world: World) -> None:
    """`/start CODE` with the printed code says so; the same update handled again says the same."""
    await world.write(lambda c: c.execute(delete(users)))
    code = await world.write(access.issue_owner_code)
    assert code is not None
    newcomer = Author(5, "Taras", None, "en")
    assert await world.write(lambda c: access.claim_ownership(c, newcomer, code, world.clock.now())) is not None
    for _ in range(2):
        first, *_ = await world.send(f"/start {code}", 5)
        assert first.text == text("en", "greeting-owner")
    assert (await world.user(5)).role is Role.OWNER


async def test_a_wrong_code_is_told_so(world: World) -> None:
    """Whoever is in already and sends a wrong code is greeted as usual, and learns that the code is none."""
    await world.admit(2, "Taras")
    first, *_ = await world.send("/start AAAA-BBBB-CCCC", 2)
    assert first.text == text("en", "owner-code-bad")
    assert (await world.user(2)).role is Role.MEMBER


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_help_names_every_command(world: World, lang: Language) -> None:
    """Help lists the commands of the menu; /access only for the owner."""
    await world.admit(2, "Taras", lang)
    help_text = only(await world.send("/help", 2)).text
    for command in set(COMMANDS) - {"start", "help"}:
        assert f"/{command}" in help_text
    assert "/access" not in help_text
    owners = only(await world.send("/help")).text
    assert all(f"/{command}" in owners for command in set(OWNER_COMMANDS) - {"start", "help"})


async def test_an_unknown_command_gets_a_hint(world: World) -> None:
    """A mistyped command is not taken for words to the companion."""
    assert "/peopel" in only(await world.send("/peopel now")).text


async def test_words_are_left_to_the_companion(world: World) -> None:
    """A message that is no command and answers no question is not handled here."""
    assert (await world.send("Вчера видела Петра"))[0].how == "unhandled"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_language_is_chosen_by_button(world: World, lang: Language) -> None:
    """From the pressed button on the bot speaks that language."""
    asked = only(await world.send("/language"))
    assert list(asked.buttons) == ["Русский", "Українська", "English"]
    answer = only(await world.press(list(asked.buttons.values())[LANGUAGES.index(lang)]))
    assert answer.text == text(lang, "language-set")
    assert (await world.user()).lang == lang


@pytest.mark.parametrize(
    ("typed", "zone"), [("Europe/Kyiv", "Europe/Kyiv"), ("UTC+3", "Etc/GMT-3"), ("Київ", "Europe/Kyiv")]
)
async def test_the_zone_is_set_as_typed(world: World, typed: str, zone: str) -> None:
    """IANA names, offsets and cities are understood behind the command."""
    only(await world.send(f"/timezone {typed}"))
    user = await world.user()
    assert (user.tz, user.tz_asked) == (zone, True)


async def test_the_zone_is_set_by_button_or_in_words(world: World) -> None:
    """A button sets the zone; "another" asks for words, asks again when they are no zone, and takes them then."""
    buttons = only(await world.send("/timezone")).buttons
    await world.press(buttons["London, UTC"])
    assert (await world.user()).tz == "Europe/London"
    assert only(await world.press(list(buttons.values())[-1])).force_reply
    assert only(await world.send("на Марсе")).force_reply
    assert "UTC+2" in only(await world.send("Київ")).text
    assert (await world.user()).tz == "Europe/Kyiv"


@pytest.mark.parametrize("asked", ["/timezone", "/start"])
async def test_a_place_sets_the_zone_that_was_asked_for(world: World, asked: str) -> None:
    """Where several zones are near, their times are offered; a place that nobody asked for sets nothing."""
    await world.admit(2, "Олена", "uk")
    kyiv, lviv = ({"latitude": at, "longitude": east} for at, east in ((50.45, 30.52), (49.84, 24.03)))
    assert only(await world.message({"location": kyiv}, 2)).text == text("uk", "cannot-read", kind="location")
    await world.send(asked, 2)
    assert only(await world.message({"location": kyiv}, 2)).text == text("uk", "zone-set", zone="Київ, UTC+2")
    await world.send("/timezone", 2)
    offered = only(await world.message({"location": lviv}, 2))
    assert offered.text == text("uk", "zone-near")
    await world.press(offered.buttons["Варшава, UTC+1"], 2)
    assert (await world.user(2)).tz == "Europe/Warsaw"


@pytest.mark.parametrize("asked", ["/timezone", "/start"])
async def test_a_city_may_be_typed_instead_of_a_button(world: World, asked: str) -> None:
    """The question with buttons takes a typed place too, with a full stop or without."""
    await world.admit(2, "Олена")
    await world.send(asked, 2)
    assert "UTC+2" in only(await world.send("Киев.", 2)).text
    assert (await world.user(2)).tz == "Europe/Kyiv"
    assert (await world.send("Киев", 2))[0].how == "unhandled"


@pytest.mark.parametrize("words", ["Привет!", "моя сестра Маша"])
async def test_what_is_no_place_answers_the_greeting(world: World, words: str) -> None:
    """Who is asked for his zone at the first meeting and simply begins to talk is listened to."""
    await world.admit(2, "Олена")
    await world.send("/start", 2)
    assert (await world.send(words, 2))[0].how == "unhandled"
    assert (await world.send("Киев", 2))[0].how == "unhandled"
    assert (await world.user(2)).tz == "UTC"


async def test_a_command_withdraws_the_question(world: World) -> None:
    """After /cancel, or any other command, the next message is just a message."""
    for command in ("/cancel", "/status"):
        await world.send("/person")
        await world.send(command)
        assert (await world.send("Пётр"))[0].how == "unhandled"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_cancelling_nothing_is_told_so(world: World, lang: Language) -> None:
    """/cancel withdraws a question; without one there is nothing to withdraw."""
    await world.admit(2, "Олена", lang)
    assert only(await world.send("/cancel", 2)).text == text(lang, "cancelled-nothing")
    await world.send("/person", 2)
    assert only(await world.send("/cancel", 2)).text == text(lang, "cancelled")
    assert only(await world.send("/cancel", 2)).text == text(lang, "cancelled-nothing")


async def test_a_question_expires(world: World) -> None:
    """Ten minutes later an answer is not taken for one."""
    await world.send("/person")
    world.clock.advance(600)
    assert (await world.send("Пётр"))[0].how == "unhandled"


async def test_only_the_first_of_two_messages_is_the_answer(world: World) -> None:
    """The second message sent right behind the answer goes to the companion."""
    await world.send("/person")
    assert only(await world.send("Пётр")).how == "say"
    assert (await world.send("и ещё кое-что"))[0].how == "unhandled"


async def test_a_voice_is_no_answer(world: World) -> None:
    """A voice message where words were asked gets an honest line, and the question stays open."""
    voice = {"voice": {"file_id": "1", "file_unique_id": "1", "duration": 1}}
    await world.send("/person")
    assert only(await world.message(voice)).text == text("en", "cannot-read", kind="voice")
    assert only(await world.send("Пётр")).text == text("en", "person-unknown", name="Пётр")


async def test_anothers_button_and_a_stale_one_get_a_toast(world: World) -> None:
    """Nothing changes when a foreign, an old or a forged button is pressed."""
    await world.admit(2, "Taras")
    buttons = only(await world.send("/language")).buttons
    assert only(await world.press(buttons["Русский"], 2)).text == text("en", "button-not-yours")
    assert (await world.user(2)).lang == "en"
    for data in ("old", "l:1:xx", "p:1", "zz:1:2"):
        assert only(await world.press(data)).text == text("en", "button-stale")


@pytest.mark.parametrize("link", ["ref_123", "утка", "a" * 64, "123"])
async def test_what_a_link_adds_to_start_is_no_wrong_code(world: World, link: str) -> None:
    """t.me/bot?start=... greets as /start does."""
    await world.admit(2, "Олена")
    first, *_ = await world.send(f"/start {link}", 2)
    assert first.text == text("en", "greeting", name="Олена", persona="Laplaced")


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("/start K7QF-9M2X-4HTA", "K7QF-9M2X-4HTA"),
        ("/start@bot  k7qf 9m2x4hta ", "k7qf 9m2x4hta"),
        ("/start", None),
        ("start K7QF-9M2X-4HTA", None),
        ("/start ref_123", None),
    ],
)
async def test_the_code_is_what_stands_behind_start(world: World, typed: str, code: str | None) -> None:
    """A stranger's /start is read before anybody is admitted."""
    message = Message(message_id=1, date=world.clock.now(), chat=Chat(id=1, type="private"), text=typed)
    assert start_code(message) == code
