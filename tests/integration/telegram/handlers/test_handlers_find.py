"""People are found by a name in any form in which it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import phrase
from bot.telegram.rendering import render
from internal.errors import ModelUnavailable


def text(key: str, **values: str | int) -> str:
    return "".join(part.text for part in render(phrase("en", key, **values)))


KNOWN = ("Маша", "Андрюха Ковалёв", "Олег Петренко", "Ганна")


FORMS = (
    ("Машу", "Маша"),
    ("маше", "Маша"),
    ("Masha", "Маша"),
    ("Андрюху", "Андрюха Ковалёв"),
    ("Андрей", "Андрюха Ковалёв"),
    ("Ковалёва", "Андрюха Ковалёв"),
    ("Олега", "Олег Петренко"),
    ("Олегу Петренку", "Олег Петренко"),
    ("Hanna", "Ганна"),
)


async def test_a_name_is_found_in_any_form(world: World) -> None:
    """Cases, short forms and the other alphabet lead to the person: to look at, to forget, to merge with."""
    ids = {name: (await world.person(name)).id for name in KNOWN}
    other = await world.person("Зинаида")
    for typed, meant in FORMS:
        assert only(await world.send(f"/person {typed}")).text.startswith(meant), typed
        await world.send("/person")
        assert only(await world.send(typed)).text.startswith(meant), typed
        assert only(await world.send(f"/forget {typed}")).text == text(
            "forget-person-confirm", name=meant, count=0, days=7
        )
        await world.press(f"p:1:{other.id}:m")
        merge = only(await world.send(typed))
        assert merge.text == text("merge-confirm", source="Зинаида", target=meant)
        assert merge.buttons["Merge"] == f"m:1:{other.id}:{ids[meant]}:1"


async def test_an_equal_name_comes_first(world: World) -> None:
    """Саша is Саша, though Александр may be called so as well."""
    await world.person("Александр")
    await world.person("Саша")
    assert only(await world.send("/person саша")).text.startswith("Саша")


async def test_the_whole_name_in_another_case_leaves_no_choice(world: World) -> None:
    """A Петров who is not Иван is not offered where Иван Петров was written in full."""
    await world.person("Иван Петров")
    await world.person("Олег Петров")
    assert only(await world.send("/person Ивана Петрова")).text.startswith("Иван Петров")


async def test_a_form_of_a_whole_name_comes_before_the_beginning_of_a_longer_one(world: World) -> None:
    """To forget Катю is not to forget Катюша, whose name happens to begin so."""
    for name in ("Катюша", "Катя", "Павлина"):
        await world.person(name)
    assert only(await world.send("/forget Катю")).text == text("forget-person-confirm", name="Катя", count=0, days=7)
    assert only(await world.send("/facts Катю")).text == text("facts-none", name="Катя")
    assert only(await world.send("/person Кат")).buttons.keys() == {"Катя · Others", "Катюша · Others"}
    assert only(await world.send("/person Павл")).text.startswith("Павлина")


async def test_a_short_form_and_a_beginning_that_fit_equally_are_offered(world: World) -> None:
    """Катя may be Катюша as well as Екатерина."""
    for name in ("Катюша", "Екатерина"):
        await world.person(name)
    assert only(await world.send("/forget Катю")).buttons.keys() == {"Катюша", "Екатерина"}


async def test_several_who_may_be_meant_are_offered(world: World) -> None:
    """Both Marias are, the likelier one first; nobody whom the name does not fit."""
    for name in ("Мария Белова", "Машенька Котова", "Олег"):
        await world.person(name)
    choice = only(await world.send("/person Марию"))
    assert list(choice.buttons) == ["Мария Белова · Others", "Машенька Котова · Others"]


async def test_nobody_is_nobody(world: World) -> None:
    """A name that fits nobody is said to be unknown, in quotes and without a second full stop."""
    await world.person("Маша")
    assert only(await world.send("/person Вася.")).text == "I don't know anyone called “Вася.”."


class NoNames:
    async def boosts(self, query: str, names: Mapping[int, Sequence[str]]) -> Mapping[int, float]:
        raise ModelUnavailable("the language process is closed")


async def test_without_the_language_tools_exact_names_are_found(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Their outage costs the other forms, not the command."""
    await world.person("Маша")
    world.use(names=NoNames())
    assert only(await world.send("/person Маша")).text.startswith("Маша")
    assert only(await world.send("/person Машу")).text == text("person-unknown", name="Машу")
    assert only(await world.send("/brief my sister")).text == text("person-unknown", name="my sister")
    assert "name_forms_unavailable" in caplog.text
