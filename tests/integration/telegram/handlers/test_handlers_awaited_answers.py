"""A question is over once it is answered, cancelled or left: nothing said later is taken for its answer."""

from __future__ import annotations

from typing import Any

import pytest
from support.interfaces.handler_stage import Said, World, only

from bot.telegram.i18n import phrase
from bot.telegram.rendering import render

SAID = "Вчера мой сосед Игорь приходил за дрелью."
SENTENCES = (
    SAID,
    "Мой дядя Коля живёт в Твери",
    "Маша звонила.",
    "Кто такой Петров?",
    "Ура!",
    "а потом…",
    "Маша\nи Дима",
)


def text(key: str, **values: str | int) -> str:
    return "".join(part.text for part in render(phrase("en", key, **values)))


async def goes_to_the_companion(world: World, words: str) -> bool:
    return (await world.send(words))[0].how == "unhandled"


async def press_all(world: World, shown: Said, labels: list[str]) -> None:
    """Presses a button of what is shown, then one of what that shows, and so on."""
    for name in labels:
        shown = only(await world.press(shown.buttons[name]))


@pytest.mark.parametrize("way", [["« Back"], ["Пётр"], ["Пётр", "Merge"], ["Пётр", "Cancel"]])
async def test_a_merge_that_was_left_by_button_swallows_nothing(world: World, way: list[str]) -> None:
    """Back, cancelled, chosen from the list or done: a bare name said next is a message again."""
    masha = await world.person("Маша", 100)
    await world.person("Пётр")
    await world.write(lambda c: c.exec_driver_sql("UPDATE people SET telegram_id = NULL WHERE telegram_id != 100"))
    await press_all(world, only(await world.press(f"p:1:{masha.id}:m")), way)
    assert await goes_to_the_companion(world, "Зинаида")
    assert await goes_to_the_companion(world, SAID)


@pytest.mark.parametrize(
    "way", [["Forget everything"], ["Forget everything", "Cancel"], ["Forget everything", "Yes, forget"]]
)
async def test_forgetting_that_was_left_by_button_swallows_nothing(world: World, way: list[str]) -> None:
    """Above all no name said next leads to "Forget him?"."""
    await world.person("Пётр")
    await press_all(world, only(await world.send("/forget")), way)
    assert await goes_to_the_companion(world, "Пётр")


async def test_any_other_button_withdraws_a_question(world: World) -> None:
    """Old buttons under other messages count as well, those of /access and of the zone among them."""
    peter = await world.person("Пётр")
    await world.admit(2, "Taras")
    remove = only(await world.send("/access")).buttons["Remove Taras"]
    for asking in ("/person", "/forget", "/access"):
        for pressed in (f"p:1:{peter.id}:s", f"p:1:{peter.id}:e", "pp:1::0", "z:1:Europe/Kyiv", remove, "k:1"):
            await world.send(asking)
            await world.press(pressed)
            assert await goes_to_the_companion(world, "Зинаида"), (asking, pressed)


async def test_a_button_that_asks_is_asked_anew(world: World) -> None:
    """A button may leave one question for another; turning pages of a list leaves the question open."""
    peter = await world.person("Пётр")
    for number in range(10):
        await world.person(f"Person {number:02d}")
    await world.send("/forget")
    await world.press(f"e:1:{peter.id}:bio")
    assert text("person-saved") in only(await world.send("Врач.")).text
    candidates = only(await world.press(f"p:1:{peter.id}:m"))
    await world.press(candidates.buttons["»"])
    assert "Person 09" in only(await world.send("person 09")).text


@pytest.mark.parametrize("asking", ["/person", "/forget", "/access", "merge"])
async def test_a_sentence_goes_on_to_the_companion(world: World, asking: str) -> None:
    """Who changes the subject is understood, also when the sentence names somebody known."""
    masha = await world.person("Маша")
    await world.person("Пётр")
    for words in SENTENCES:
        if asking == "merge":
            await world.press(f"p:1:{masha.id}:m")
        else:
            await world.send(asking)
        assert await goes_to_the_companion(world, words), words
        assert await goes_to_the_companion(world, "Зинаида")


@pytest.mark.parametrize("name", ["Зинаида", "Саша Б.", "тётя Галя из Одессы", "J. R. R. Tolkien"])
async def test_a_name_is_answered_though_nobody_has_it(world: World, name: str) -> None:
    """What reads like a name gets an answer, initials and their full stops included."""
    await world.send("/person")
    assert only(await world.send(name)).text == text("person-unknown", name=name)


async def test_a_sentence_that_is_somebodys_name_is_that_name(world: World) -> None:
    """An exact name wins over how it reads."""
    await world.person("Тётя Галя, которая из Одессы!")
    await world.send("/person")
    assert only(await world.send("Тётя Галя, которая из Одессы!")).text.startswith("Тётя Галя")


async def test_an_answer_handled_again_goes_the_same_way(world: World) -> None:
    """After a crash the same sentence goes to the companion once more, and is not taken for an answer."""
    await world.send("/person")
    message: dict[str, Any] = {"text": SAID, "message_id": 1_000_000}
    assert (await world.message(message))[0].how == "unhandled"
    assert (await world.message(message))[0].how == "unhandled"
