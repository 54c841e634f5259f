"""Two things that are one are merged in the chat, in three languages, and taken apart again."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection
from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import label
from internal.access.model import LANGUAGES, Language
from internal.graph import store


async def things(world: World, user_id: int, *names: str, kind: str = "organization") -> list[str]:
    """Their ids."""
    now = world.clock.now()

    def work(connection: Connection) -> list[str]:
        told = [{"name": name, "type": kind} for name in names]
        return [store.add_node(connection, user_id, "Entity", one, now=now).id for one in told]

    return await world.write(work)


async def stands_for(world: World, user_id: int, node_id: str) -> str:
    found = await world.read(lambda c: store.resolve_node(c, user_id, node_id))
    assert found is not None
    return str(found.id)


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_thing_is_merged_and_split_again(world: World, lang: Language) -> None:
    """Below what is known of it; the other is named, confirmed, and pressing twice changes nothing."""
    await world.admit(2, "Taras", lang)
    source, target = await things(world, 2, "Rubin", "Rubin Software")
    listed = only(await world.send("/facts Rubin", 2))
    asked = (await world.press(listed.buttons[label(lang, "person-button-merge")], 2))[-1]
    assert asked.force_reply
    sure = only(await world.send("Rubin Software", 2))
    assert "Rubin Software" in sure.text
    yes = sure.buttons[label(lang, "merge-button-yes")]
    done = (await world.press(yes, 2))[-1]
    assert await stands_for(world, 2, source) == target
    again = (await world.press(yes, 2))[-1]
    assert again.text == done.text
    known = (await world.press(done.buttons["Rubin Software"], 2))[-1]
    assert "Rubin Software" in known.text
    apart = (await world.press(done.buttons[label(lang, "merge-button-undo")], 2))[-1]
    assert set(apart.buttons) == {"Rubin", "Rubin Software"}
    assert await stands_for(world, 2, source) == source


async def test_only_things_of_its_kind_are_offered(world: World) -> None:
    """Nobody is merged into a thing, of several one is chosen, and what is unknown is said to be."""
    await world.admit(1, "Olena")
    source, *others = await things(world, 1, "Falcon", "Rubin", "Rubin", kind="project")
    await world.person("Petro")
    merge = only(await world.send("/facts Falcon")).buttons["Merge with…"]
    await world.press(merge)
    assert only(await world.send("Petro")).text == "I don't know anything of that kind called “Petro”."
    await world.press(merge)
    which = only(await world.send("Rubin"))
    assert which.text == "Several things could be “Rubin”. Which one?"
    sure = (await world.press(which.buttons["Rubin"]))[-1]
    await world.press(sure.buttons["Merge"])
    assert await stands_for(world, 1, source) in others
    assert "Merge with…" not in only(await world.send("/facts Petro")).buttons
