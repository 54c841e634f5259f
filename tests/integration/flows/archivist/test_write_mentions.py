"""What events mention: by what rests on them and by the names in them, through second readings, merges and erasures."""

from __future__ import annotations

from typing import Any

import pytest
from support.flows.analyst_stage import AnalysisStage
from support.flows.flow_stage import OWNER, Talk

from internal.chronicle import repository as chronicle, view
from internal.errors import ModelUnavailable
from internal.flows.archivist.write_mentions import MentionedNames, MentionFinder, NewNames
from internal.flows.merging import people as merging_people
from internal.graph import store
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.recall.index import people_repository as changes

ACME = {"name": "ACME", "labels": ["Organization"], "relevance": 5, "evidence": [1]}
OLEG = {"type": "Added", "person": {"display_name": "Олег", "circle": "Friends"}, "evidence": [1]}


@pytest.fixture
def stage(talk: Talk) -> AnalysisStage:
    return AnalysisStage(talk)


async def mentioned(stage: AnalysisStage) -> list[dict[str, int | None]]:
    """What each event mentions, by name, in the order of NEXT."""

    def work(connection: Any) -> list[dict[str, int | None]]:
        events = chronicle.events(connection, OWNER)
        found: dict[str, dict[str, int | None]] = {event.id: {} for event in events}
        for one in chronicle.mentions(connection, OWNER):
            node = store.get_node(connection, OWNER, one.entity_id, hidden=True)
            assert node is not None
            found[one.event_id][node.name] = one.relevance
        return list(found.values())

    return await stage.talk.read(work)


async def touched(stage: AnalysisStage, after: int) -> set[str]:
    """Events that the change log tells of since."""
    log = await stage.talk.read(lambda c: changes.log_after(c, OWNER, after))
    return {ref for kind, ref in log.entries or () if kind == chronicle.EVENT_CHANGE}


async def last_change(stage: AnalysisStage) -> int:
    return await stage.talk.read(lambda c: changes.last_seq(c, OWNER))


async def person(stage: AnalysisStage, name: str) -> Person:
    """Somebody who is known already."""
    now = stage.talk.clock.now()
    one = Person(0, OWNER, f"of {name}", name, Circle.OTHER, "", now, now)
    return await stage.talk.write(lambda c: people.create(c, one, by="archivist", now=now))


async def test_a_line_mentions_what_rests_on_it_and_what_it_names(stage: AnalysisStage) -> None:
    """As central as the reply says, 4 where it does not; a name in the owner's line 3, in the assistant's 2."""
    fact = {"source": "user", "relation": "WORKS_FOR", "target": "ACME", "fact": "Работает в ACME", "evidence": [1]}
    stage.archival.reply("работаю", people_operations=[OLEG], entities=[ACME], facts=[fact])
    await stage.talk.exchange("Я и Олег работаем... я работаю в ACME", "ACME — это где?")
    await stage.archival.said("Про Олега и ACME потом", "Хорошо.")
    first, second, third, fourth = (await mentioned(stage))[:4]
    assert first == {"ACME": 5, "Олег": 4}
    assert second == {"ACME": 2}
    assert third == {"Олег": 3, "ACME": 3}
    assert fourth == {}
    shown = await stage.talk.read(lambda c: view.of_owner(c, OWNER))
    assert len([edge for edge in shown.edges if edge.type == "INVOLVES"]) == 2


async def test_topics_concepts_and_preferences_are_mentioned_too(stage: AnalysisStage) -> None:
    """By the line that states them and by those that name them later; goals and memories are no names."""
    yoga = {"type": "HAS_CONCEPT", "to": {"label": "Concept", "properties": {"name": "йога"}}}
    memories = [
        {"label": "Memory", "properties": {"content": "Начала заниматься йогой"}, "links": [yoga], "evidence": [1]},
        {"label": "Preference", "properties": {"preference": "зелёный чай"}, "evidence": [1]},
        {"label": "Goal", "properties": {"description": "Сесть на шпагат"}, "evidence": [1]},
    ]
    health = {"name": "здоровье", "labels": ["Topic"], "relevance": 5, "evidence": [1]}
    stage.archival.reply("йогой", entities=[health], memories=memories)
    await stage.archival.said("Занимаюсь йогой для здоровья, люблю зелёный чай и хочу сесть на шпагат")
    await stage.archival.said("Сегодня была йога")
    everything = {"здоровье": 5, "йога": 4, "зелёный чай": 4}
    assert await mentioned(stage) == [everything, {}, {"йога": 3}, {}]
    shown = await stage.talk.read(lambda c: view.of_owner(c, OWNER))
    labels = [edge.target_label for edge in shown.edges if edge.type == "INVOLVES"]
    assert sorted(labels) == ["Concept", "Preference", "Topic"]
    assert {node.name for node in shown.entities} == set(everything)
    tea = next(node for node in shown.entities if node.label == "Preference")
    await stage.archival.forget("memory", tea.id)
    assert await mentioned(stage) == [{"здоровье": 5, "йога": 4}, {}, {"йога": 3}, {}]


async def test_what_only_an_entitys_line_supports_counts_for_four(stage: AnalysisStage) -> None:
    """The reply did not say how central it is. The owner himself is in every line, and so in none."""
    fact = {"source": "user", "relation": "LIVES_IN", "target": "Львов", "fact": "Живёт во Львове", "evidence": [1]}
    stage.archival.reply("живу", facts=[fact])
    await stage.archival.said("Я живу во Львове")
    assert (await mentioned(stage))[0] == {"Львов": 4}


async def test_a_second_reading_takes_the_place_of_the_first(stage: AnalysisStage) -> None:
    """An edited line mentions what its new words do; a line that stayed the same is not told again."""
    stage.archival.reply("ACME", entities=[ACME])
    stage.archival.reply("Globex", entities=[{**ACME, "name": "Globex", "relevance": 3}])
    await stage.archival.said("Работаю в ACME")
    message, _ = await stage.talk.messages()
    await stage.talk.edit(message, "Работаю в Globex")
    assert (await mentioned(stage))[0] == {"ACME": 5}
    await stage.archival.archive()
    assert (await mentioned(stage))[0] == {"Globex": 3}


async def test_a_merge_moves_mentions_and_a_split_moves_them_back(stage: AnalysisStage) -> None:
    """Only those that were the source's; the change log tells of the events each time."""
    oleg, olezha = await person(stage, "Олег"), await person(stage, "Лёша Браун")
    await stage.archival.said("Олег пришёл", "Лёша Браун ушёл")
    before = [{"Олег": 3}, {}, {"Лёша Браун": 3}, {}]
    assert await mentioned(stage) == before
    seq, now = await last_change(stage), stage.talk.clock.now()
    await stage.talk.write(lambda c: merging_people.merge(c, OWNER, olezha.id, oleg.id, now=now))
    assert await mentioned(stage) == [{"Олег": 3}, {}, {"Олег": 3}, {}]
    events = await stage.talk.read(lambda c: chronicle.events(c, OWNER))
    assert await touched(stage, seq) == {events[2].id}
    seq = await last_change(stage)
    await stage.talk.write(lambda c: merging_people.split(c, OWNER, olezha.id, now=now))
    assert await mentioned(stage) == before
    assert await touched(stage, seq) == {events[2].id}


async def test_a_forgotten_thing_is_mentioned_nowhere(stage: AnalysisStage) -> None:
    """Its events are told of, so that a mirror forgets it too."""
    stage.archival.reply("ACME", entities=[ACME])
    await stage.archival.said("Работаю в ACME")
    (mention,) = await stage.talk.read(lambda c: chronicle.mentions(c, OWNER))
    seq = await last_change(stage)
    await stage.archival.forget("entity", mention.entity_id)
    assert await mentioned(stage) == [{}, {}]
    events = await stage.talk.read(lambda c: chronicle.events(c, OWNER))
    assert events[0].id in await touched(stage, seq)


async def test_an_analysis_mentions_what_it_names_whoever_came_first(stage: AnalysisStage) -> None:
    """What the analyst wrote before the archivist knew the names learns them with the slice."""
    stage.archival.reply("ACME", entities=[ACME])
    summary = {"verdict": "correct", "summary": "Говорили об ACME."}
    reply = {"topic": "ACME", "responses": [{"message": 2, "verdict": "correct"}], "session_summary": summary}
    stage.analyst.script += [reply, reply]
    await stage.conversation(("Работаю в ACME", "Понял."))
    await stage.judge()
    assert await mentioned(stage) == [{}, {}, {}, {}, {}]
    await stage.archival.said()
    assert await mentioned(stage) == [{"ACME": 5}, {}, {}, {}, {"ACME": 3}]

    session = await stage.conversation(("Ещё раз про ACME", "Понял."))
    await stage.judge()
    analysis, closing = await stage.events(session)
    found = {one.event_id: one.relevance for one in await stage.talk.read(lambda c: chronicle.mentions(c, OWNER))}
    assert analysis.id not in found
    assert found[closing.id] == 3


@pytest.mark.parametrize("first", ["the archivist is done first", "the analyst is done first"])
async def test_agents_side_by_side_miss_no_name_of_one_another(stage: AnalysisStage, first: str) -> None:
    """Whoever is second looks names up again, from the reply that he has; nobody is asked twice."""
    stage.archival.reply("ACME", entities=[ACME])
    summary = {"verdict": "correct", "summary": "Говорили об ACME."}
    reply = {"topic": "ACME", "responses": [{"message": 2, "verdict": "correct"}], "session_summary": summary}
    stage.analyst.script.append(reply)
    await stage.conversation(("Работаю в ACME", "Понял."))
    if first.startswith("the archivist"):
        stage.names.between.append(stage.archival.said)
        await stage.judge()
    else:
        stage.archival.names.between.append(stage.judge)
        await stage.archival.said()
    assert await mentioned(stage) == [{"ACME": 5}, {}, {}, {}, {"ACME": 3}]
    assert (len(stage.analyst.asked), len(stage.archival.archivist.asked)) == (1, 1)


class NoReader:
    """A language process that does not answer."""

    async def people_named(self, texts: Any, names: Any) -> list[set[int]]:
        raise ModelUnavailable("closed")

    async def things_named(self, texts: Any, names: Any) -> list[set[int]]:
        raise ModelUnavailable("closed")


async def test_without_the_language_process_nothing_is_named(stage: AnalysisStage) -> None:
    """A reply that was paid for is applied all the same."""
    new = NewNames({"Олег": ("Олег",)}, {"ACME": ("ACME",)})
    assert await MentionFinder(stage.talk.database, NoReader()).read(OWNER, ["Олег из ACME"], new) == [MentionedNames()]
