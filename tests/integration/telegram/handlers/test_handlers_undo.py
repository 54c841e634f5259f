"""/undo: a list of changes and a tap that takes one back."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import label as text
from internal.access.model import Language
from internal.flows.merging import people as merging
from internal.people import service as people
from internal.people.service import TelegramAccount
from internal.tasks import service as tasks
from internal.tasks.model import Schedule


async def test_a_tap_takes_a_change_back(world: World) -> None:
    """A task that was added by mistake is cancelled; pressed twice, it is said that it is too late."""
    assert only(await world.send("/undo")).text == text("en", "undo-nothing")
    await world.send("/tasks add water the *cactus*")
    listed = only(await world.send("/undo"))
    assert "1. Task: Water the *cactus*" in listed.text
    data = listed.buttons["1"]
    toast, left = await world.press(data)
    assert toast.text == "Taken back. Task: Water the *cactus*"
    assert "1. Task closed: Water the *cactus*" in left.text
    assert (await world.press(data))[0].text == text("en", "undo-too-late")
    await world.press(left.buttons["1"])
    assert "cactus" in only(await world.send("/tasks")).text


@pytest.mark.parametrize(
    ("lang", "edited", "moved"),
    [
        ("en", "Profile edited: Anna (circle)", "Moved: Call Anna"),
        ("ru", "Карточка изменена: Anna (круг)", "Перенесено: Call Anna"),
        ("uk", "Картку змінено: Anna (коло)", "Перенесено: Call Anna"),
    ],
)
async def test_edits_of_a_profile_and_another_time_are_taken_back(
    world: World, lang: Language, edited: str, moved: str
) -> None:
    """The circle, the name with its aliases and the time are what they were before; then the next older one is."""
    await world.admit(2, "Taras", lang)
    now, author = world.clock.now(), tasks.by_owner(2, world.clock.now(), time(9))
    found = await world.database.write(
        lambda c: merging.note_contact(c, 2, TelegramAccount(77, "Anna"), seen_at=now, now=now)
    )
    for changes in ({"display_name": "Anya", "bio": "Sings."}, {"display_name": "Anna"}, {"circle": "family"}):
        await world.database.write(lambda c, it=changes: merging.edit(c, 2, found.id, it, now=now))
    due = now + timedelta(days=1)
    task = await world.database.write(
        lambda c: tasks.open_task(c, 2, tasks.NewTask("Call Anna", Schedule(due, tz="UTC")), author)
    )
    later = Schedule(due + timedelta(hours=2), tz="UTC")
    await world.database.write(lambda c: tasks.change(c, 2, task.id, author, schedule=later))
    listed = only(await world.send("/undo", 2))
    assert moved in listed.text
    assert edited in listed.text
    _, left = await world.press(listed.buttons["1"], 2)
    assert await world.database.read(lambda c: tasks.task(c, 2, task.id).due_at) == due
    for _ in range(3):
        _, left = await world.press(left.buttons["2"], 2)
    person = await world.database.read(lambda c: people.person(c, 2, found.id))
    assert (person.circle, person.names, person.bio) == (found.circle, found.names, found.bio)
    await world.press(left.buttons["2"], 2)
    assert "Anna" not in only(await world.send("/people", 2)).text
