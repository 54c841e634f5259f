"""From all that a command, a button or an answer did one walks back to the update that brought it."""

from __future__ import annotations

from support.interfaces.handler_stage import World, only

from bot.telegram.handlers import buttons
from bot.telegram.handlers.buttons import BUTTONS, Owned
from bot.telegram.i18n import label
from internal.dialogue.mailbox.model import update_key
from internal.events import repository as events
from internal.events.chain import chain
from internal.events.model import Event
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService


async def newest(world: World, kind: str) -> Event:
    return (await world.read(lambda c: events.listing(c, 1, event_type=kind)))[-1]


async def brought_by(world: World, kind: str) -> list[dict[str, object]]:
    """What is told of the commands that stand behind the newest event of a kind, without the number of the update."""
    event = await newest(world, kind)
    found = await world.read(lambda c: chain(c, 1, event.id))
    assert found is not None
    commands = [one for one in found.back if one.event_type == "command_received"]
    assert all(one.links and one.links["update"] == update_key(7, one.payload["update_id"]) for one in commands)
    return [{name: told for name, told in one.payload.items() if name != "update_id"} for one in commands]


async def test_what_becomes_of_a_task_leads_to_who_pressed_what(world: World) -> None:
    """Opened by a command, put off and done by buttons, moved by an answer: each stands behind the next."""
    await world.admit(1, "Olena")
    said = only(await world.send("/tasks add call mum on 5 December at 9"))
    opened: dict[str, object] = {"command": "/tasks"}
    assert await brought_by(world, "task_open") == [opened]
    card = (await world.press((only(await world.send("/tasks"))).buttons["1"]))[-1]
    later = (await world.press(card.buttons["In an hour"]))[-1]
    put_off: dict[str, object] = {"button": "/tasks", "action": "hour"}
    assert await brought_by(world, "task_postponed") == [opened, put_off]
    await world.press(later.buttons["Another time"])
    await world.send("every Monday at 10")
    answered: dict[str, object] = {"answer": "/tasks"}
    assert await brought_by(world, "task_changed") == [opened, put_off, answered]
    await world.press(said.buttons[label("en", "task-button-cancel")])
    assert (await brought_by(world, "task_cancelled"))[-1] == {"button": "/tasks", "action": "cancel"}


async def test_what_is_forgotten_leads_to_who_asked_for_it(world: World) -> None:
    """Asked by a button, taken back by another, and erased for good when its time has come."""
    await world.admit(1, "Olena")
    peter = await world.person("Peter")
    asked = only(await world.send("/forget Peter"))
    done = (await world.press(asked.buttons[label("en", "forget-button-yes")]))[-1]
    forget: dict[str, object] = {"button": "/forget"}
    assert await brought_by(world, "forgetting_asked") == [forget]
    await world.press(done.buttons[label("en", "forget-button-undo")])
    assert await brought_by(world, "forgetting_undone") == [forget, forget]
    await world.press(asked.buttons[label("en", "forget-button-yes")])
    world.clock.advance(UNDO_WINDOW.total_seconds() + 1)
    await ForgettingService(world.database, world.clock, b"k" * 32).erase_due()
    assert await world.known(peter.id) is None
    assert await brought_by(world, "forgotten") == [forget]
    assert (await newest(world, "forgotten")).payload["erased"]["people"] == 1


async def test_who_was_merged_edited_and_split_leads_to_the_button(world: World) -> None:
    """And the words of an answer stand in no event."""
    await world.admit(1, "Olena")
    one, other = await world.person("Petro", telegram_id=100), await world.person("Peter")
    await world.write(lambda c: c.exec_driver_sql("UPDATE people SET telegram_id = NULL WHERE telegram_id != 100"))
    sure = buttons.MergeButton(owner=1, source=one.id, target=other.id, sure=True)
    merged = (await world.press(sure.pack()))[-1]
    assert await brought_by(world, "people_merged") == [{"button": "/person"}]
    await world.press(merged.buttons[label("en", "merge-button-undo")])
    assert await brought_by(world, "people_split") == [{"button": "/person"}]
    await world.press(buttons.FieldButton(owner=1, person=one.id, field="bio").pack())
    await world.send("Plays the cello")
    assert await brought_by(world, "person_changed") == [{"answer": "/person"}]
    everything = await world.read(lambda c: events.listing(c, 1, limit=1000))
    assert not any("cello" in str(one.payload) for one in everything)


async def test_a_command_that_is_none_may_be_a_word_of_his(world: World) -> None:
    """It is not told by name."""
    await world.admit(1, "Olena")
    await world.send("/marry_taras")
    assert not any("taras" in str(one) for one in await world.read(lambda c: events.listing(c, 1)))


def every_button(of: type[Owned] = Owned) -> list[type[Owned]]:
    return [made for one in of.__subclasses__() for made in (one, *every_button(one))]


def test_every_button_has_its_place() -> None:
    """One that is added and forgotten here would be told without saying where it belongs."""
    assert {made.__prefix__ for made in every_button()} == set(BUTTONS)
