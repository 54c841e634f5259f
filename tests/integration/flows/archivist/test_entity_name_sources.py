"""Every name of a thing knows the lines that call it so, and goes with the last of them; forgotten names stay away."""

from typing import Any

import pytest
from sqlalchemy import select
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import OWNER, Talk

from internal.flows.runs import rerun
from internal.graph import store
from internal.graph.model import NodeFilter
from internal.storage.tables import evidence


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


def firm(name: str, *aliases: str, line: int = 1) -> dict[str, Any]:
    return {"name": name, "labels": ["Organization"], "aliases": list(aliases), "evidence": [line]}


def fact(source: str, relation: str, target: str, words: str) -> dict[str, Any]:
    return {"source": source, "relation": relation, "target": target, "fact": words, "evidence": [1]}


async def names(stage: ErasingStage) -> dict[str, list[str]]:
    """What things are called, with their other names; the owner left out."""
    found = await stage.talk.read(lambda c: store.nodes(c, OWNER, NodeFilter(labels=("Entity",))))
    own = store.owner_node_id(OWNER)
    return {node.name: list(node.properties.get("aliases", ())) for node in found if node.id != own}


async def kept(stage: ErasingStage) -> list[str]:
    """What evidence there is of names."""
    query = select(evidence.c.target).where(evidence.c.target.startswith("name:"))
    return await stage.talk.read(lambda c: list(c.execute(query).scalars()))


async def again(stage: ErasingStage) -> None:
    """Everything is read once more."""
    await stage.talk.write(lambda c: rerun.again(c, OWNER, "archivist", stage.talk.clock.now()))
    await stage.archive()


@pytest.mark.parametrize("kind", ["episode", "message"])
async def test_an_alias_goes_with_the_last_line_that_told_it(stage: ErasingStage, kind: Any) -> None:
    """Also one that stands in no word of that line, or is too short to give it away; the others stay."""
    stage.reply("МТС", entities=[firm("Мобильные телесистемы", "МТС")])
    stage.reply("Красные", entities=[firm("Мобильные телесистемы", "MTS", "ОМС")])
    await stage.said("МТС подорожал, это Мобильные телесистемы")
    episode = await stage.said("Красные опять звонили")
    assert await names(stage) == {"Мобильные телесистемы": ["МТС", "MTS", "ОМС"]}
    messages = [one for one in await stage.talk.messages() if one.content == "Красные опять звонили"]
    await stage.forget(kind, episode if kind == "episode" else messages[0].id)
    assert await names(stage) == {"Мобильные телесистемы": ["МТС"]}


async def test_a_name_that_others_tell_too_stays(stage: ErasingStage) -> None:
    """Two episodes tell it: it goes with the second."""
    stage.reply("Акме", entities=[firm("ACME", "Акме")])
    stage.reply("третий", entities=[firm("ACME")])
    first, second = await stage.told("ACME, Акме раз"), await stage.told("ACME, Акме два")
    await stage.told("ACME третий")
    await stage.forget("episode", first)
    assert await names(stage) == {"ACME": ["Акме"]}
    await stage.forget("episode", second)
    assert await names(stage) == {"ACME": []}


async def test_a_thing_whose_name_is_gone_is_called_by_one_that_is_told(stage: ErasingStage) -> None:
    """By its facts too; with no other name it keeps its own, to be called something."""
    stage.reply("первая", entities=[firm("Acme", "Акме")])
    stage.reply("вторая", facts=[fact("user", "WORKS_FOR", "Акме", "Работает в Акме")])
    first = await stage.told("Acme, она же Акме, первая")
    await stage.told("Работаю в Акме, вторая")
    await stage.forget("episode", first)
    assert await names(stage) == {"Акме": []}
    [works] = await stage.facts()
    assert works.target_name == "Акме"


async def test_a_second_reading_takes_names_back(stage: ErasingStage) -> None:
    """What the new reply does not call the thing is no name of it, unless another episode does."""
    stage.reply("ACME", entities=[firm("ACME", "Акме", "АК")])
    await stage.told("ACME, Акме, АК")
    stage.reply("ACME", entities=[firm("ACME", "Акме")])
    await again(stage)
    assert await names(stage) == {"ACME": ["Акме"]}
    assert len(await kept(stage)) == 2


async def test_a_thing_takes_along_what_supported_its_names(stage: ErasingStage) -> None:
    """No row of evidence points to a node that is gone."""
    stage.reply("ACME", entities=[firm("ACME", "Акме")])
    await stage.told("ACME, Акме")
    assert len(await kept(stage)) == 2
    [node] = [one for one in await stage.talk.read(lambda c: store.nodes(c, OWNER, NodeFilter())) if one.name == "ACME"]
    await stage.forget("entity", node.id)
    assert await kept(stage) == []


async def test_older_lines_make_no_thing_of_a_forgotten_person(stage: ErasingStage) -> None:
    """Nor do they bring back what is called after him, or what was said of other things and named him."""
    stage.reply(
        "Петров",
        people_operations=[
            {"type": "Added", "person": {"display_name": "Петров", "bio": "Коллега."}, "evidence": [1]},
        ],
        entities=[firm("Клуб Петрова"), firm("ACME")],
        facts=[
            fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME"),
            fact("ACME", "OWNS", "Клуб Петрова", "ACME держит Клуб Петрова"),
            fact("ACME", "LOCATED_IN", "Киев", "ACME, где Петров, в Киеве"),
        ],
    )
    await stage.said("Встретил Петрова, он из ACME, где Клуб Петрова, в Киеве")
    assert set(await names(stage)) == {"Петров", "Клуб Петрова", "ACME", "Киев"}
    [petrov] = await stage.people()
    await stage.forget("person", str(petrov.id))
    await again(stage)
    assert set(await names(stage)) <= {"ACME", "Киев"}
    assert await stage.facts(include_invalid=True) == []
    assert await stage.people() == []
