"""Each kind of forgetting takes along all that only it supports, to the last byte, and nothing else."""

import json
from typing import Any

import pytest
from sqlalchemy import insert, select
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.errors import Conflict, NotFound, Refused
from internal.flows.forgetting import erase, requests
from internal.flows.forgetting.requests import UNDO_WINDOW
from internal.flows.visibility import pending_forgettings
from internal.graph import store
from internal.graph.store import owner_node_id
from internal.knowledge import service as knowledge
from internal.knowledge.claims import repository as claim_repository
from internal.people import service as people_service
from internal.storage.tables import evidence, forgettings, messages, model_calls, runs, suggestions
from internal.storage.types import new_id

CANARY = "канарейкин"
WORDS = "Канарейкин зовёт Петрова, Канарейкин-Кота, в Канарейкин Клуб, ACME это Канарейкин и Ко"


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


def added(name: str, *evidence: int, **fields: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": name, **fields}, "evidence": list(evidence)}


def fact(source: str, relation: str, target: str, words: str, *evidence: int, **more: Any) -> dict[str, Any]:
    return {"source": source, "relation": relation, "target": target, "fact": words, "evidence": list(evidence)} | more


def lives(city: str, since: str, *evidence: int) -> dict[str, Any]:
    return fact("user", "LIVES_IN", city, f"Живёт: {city}", *evidence, valid_at=since)


async def called(stage: ErasingStage, text: str, **links: str) -> None:
    """A receipt of a model call whose prompt and reply hold a text."""
    row = {
        "id": new_id(), "user_id": OWNER, "agent": "responder", "model": "m",
        "at": stage.talk.clock.now(), "duration_s": 1, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0,
        "prompt": [{"role": "user", "content": f'It was "{text}" &amp; more'}], "reply": f"About {text}",
        "links": links,
    }  # fmt: skip
    await stage.talk.write(lambda c: c.execute(insert(model_calls).values(row)))


async def test_an_episode_takes_along_all_that_only_it_supports(stage: ErasingStage) -> None:
    """Messages, people, names, sentences, things, facts, prompts: no byte is left, and the other episode stays."""
    stage.reply(
        "Встретил Петрова",
        people_operations=[added("Петров", 1, bio="Коллега.", circle="Friends")],
        facts=[fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", 1)],
    )
    kept = await stage.said("Встретил Петрова, он из ACME")
    stage.reply(
        "Канарейкин",
        people_operations=[
            added("Анна Канарейкина", 1, bio="Разводит канарейкиных бабочек."),
            added("Петров", 1, aliases=["Канарейкин-Кот"], bio="Держит канарейкин огород."),
        ],
        entities=[{"name": "Канарейкин Клуб", "labels": ["Organization"], "summary": "канарейкин", "evidence": [1]},
                  {"name": "ACME", "labels": ["Organization"], "aliases": ["Канарейкин и Ко"], "evidence": [1]}],
        facts=[fact("Петров", "LIKES", "Канарейкин Клуб", "Петров ходит в Канарейкин Клуб", 1)],
    )  # fmt: skip
    episode = await stage.said(WORDS)
    await called(stage, "зовёт Петрова, Канарейкин-Кота", fragment=episode)
    await called(stage, WORDS)
    assert {"messages", "people", "facts", "claims", "graph_nodes", "runs", "model_calls", "evidence"} <= (
        await stage.tables_with(CANARY)
    )

    erased = await stage.forget("episode", episode)

    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(CANARY) == []
    assert erased.log_emptied
    assert erased.erased["episodes"] == 1
    assert (erased.erased["messages"], erased.erased["people"], erased.erased["facts"]) == (2, 1, 1)
    (petrov,) = await stage.people()
    assert (petrov.names, petrov.bio, petrov.mention_count) == (("Петров",), "Коллега.", 1)
    (works,) = await stage.facts()
    assert (works.fact, works.episodes) == ("Петров работает в ACME", (kept,))
    assert [message.content for message in await stage.talk.messages()] == ["Встретил Петрова, он из ACME", "Answer."]


async def test_what_an_episode_had_superseded_holds_again(stage: ErasingStage) -> None:
    """The later fact closed the earlier one; with its episode the end of the earlier one goes."""
    stage.reply("Киев", facts=[lives("Київ", "2020-01-01", 1)])
    stage.reply("Львов", facts=[lives("Львів", "2024-01-01", 1)])
    await stage.told("Живу в Киеве")
    episode = await stage.told("Теперь во Львове")
    assert [one.target_name for one in await stage.facts()] == ["Львів"]
    await stage.forget("episode", episode)
    (held,) = await stage.facts(include_invalid=True)
    assert (held.target_name, held.invalid_at) == ("Київ", None)


async def test_a_message_takes_along_what_no_other_line_says(stage: ErasingStage) -> None:
    """Of one fragment the other messages, their facts and sentences stay; the person keeps what they told of him."""
    stage.reply(
        "Канарейкин",
        people_operations=[
            added("Петров", 1, bio="Друг детства."),
            {"type": "Updated", "person": {"id": 1, "aliases": ["Канарейкин"], "bio": "Друг детства. Канарейкин брат."},
             "evidence": [3]},
        ],
        facts=[fact("Петров", "LIKES", "чай", "Петров любит чай", 1),
               fact("Петров", "OWNS", "дача", "У Петрова дача от Канарейкина", 3)],
    )  # fmt: skip
    episode = await stage.said("Петров пьёт чай", "У Петрова дача, он же Канарейкин")
    spoken = [message for message in await stage.talk.messages() if message.role == "user"]
    await called(stage, "дача, он же Канарейкин", turn=spoken[1].turn_id or "")

    erased = await stage.forget("message", spoken[1].id)

    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(CANARY) == []
    assert erased.erased["messages"] == 1
    (petrov,) = await stage.people()
    assert (petrov.names, petrov.bio, petrov.mention_count) == (("Петров",), "Друг детства.", 1)
    assert [one.fact for one in await stage.facts()] == ["Петров любит чай"]
    assert await stage.talk.read(lambda c: claim_repository.of_episode(c, OWNER, episode))


async def test_a_sentence_that_took_the_place_of_another_falls_with_what_it_repeats(stage: ErasingStage) -> None:
    """A bio that was written again keeps the lines of what it replaced: the old words do not live on in the new."""
    stage.reply("бабочки", people_operations=[added("Петров", 1, bio="Разводит канарейкиных бабочек.")])
    first = await stage.said("Петров и его канарейкины бабочки")
    stage.reply(
        "переехал",
        people_operations=[
            {"type": "Updated", "evidence": [1],
             "person": {"id": 1, "bio": "Переехал в Киев с канарейкиными бабочками. Работает врачом."}},
        ],
    )  # fmt: skip
    await stage.said("Петров переехал в Киев, он врач")
    await stage.forget("episode", first)
    (petrov,) = await stage.people()
    assert petrov.bio == "Работает врачом."
    assert await stage.tables_with("бабочк") == set()


async def test_who_was_only_mentioned_there_is_forgotten_with_it_unless_the_owner_touched_him(
    stage: ErasingStage,
) -> None:
    """A circle that the owner chose keeps a person, though nothing of what was said of him is left."""
    stage.reply("гости", people_operations=[added("Анна", 1, bio="Врач."), added("Борис", 1, bio="Пилот.")])
    episode = await stage.said("Были гости: Анна и Борис")
    ids = {person.display_name: person.id for person in await stage.people()}
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: people_service.edit(c, OWNER, ids["Анна"], {"circle": "Family"}, now=now))
    await stage.forget("episode", episode)
    (anna,) = await stage.people()
    assert (anna.display_name, anna.circle.value, anna.bio, anna.mention_count) == ("Анна", "Family", "Анна", 0)


async def test_a_merged_profile_loses_what_the_episode_told(stage: ErasingStage) -> None:
    """Neither the target nor the profile behind the redirect nor what a split would bring back holds it."""
    stage.reply("Саша", people_operations=[added("Саша", 1, aliases=["Канарейкин"], bio="Канарейкин сосед.")])
    stage.reply("Петров", people_operations=[added("Петров", 1, bio="Врач.")])
    await stage.said("Видел: Петров")
    episode = await stage.said("Вот и Саша")
    now = stage.talk.clock.now()
    ids = {person.display_name: person.id for person in await stage.people()}
    await stage.talk.write(lambda c: people_service.merge(c, OWNER, ids["Саша"], ids["Петров"], now=now))
    await stage.forget("episode", episode)
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(CANARY) == []
    (petrov,) = await stage.people()
    assert petrov.bio == "Врач."


async def test_a_fact_goes_with_its_versions_and_what_tells_it_again(stage: ErasingStage) -> None:
    """Words of every version, what repeats it elsewhere, the thing that only it knew; the message stays."""
    stage.reply(
        "дача",
        people_operations=[added("Петров", 1, bio="Друг. Канарейкин дачник.")],
        facts=[fact("Петров", "OWNS", "Канарейкин хутор", "У Петрова Канарейкин хутор", 1),
               fact("Петров", "LIKES", "чай", "Петров любит чай", 1)],
    )  # fmt: skip
    stage.reply("Хутор", entities=[{"name": "Канарейкин хутор", "labels": ["Location"], "evidence": [1]}])
    await stage.told("Петров, дача и чай")
    [owned] = [one for one in await stage.facts() if one.name == "OWNS"]
    now = stage.talk.clock.now()
    _, new = await stage.talk.write(
        lambda c: knowledge.update_fact(c, OWNER, owned.id, "У Петрова канарейкин дом", reason="канарейкин", now=now)
    )
    await stage.forget("fact", new.id)
    assert await stage.tables_with(CANARY) == {"people", "graph_nodes", "search_items"}  # the bio says more than it
    assert [one.fact for one in await stage.facts()] == ["Петров любит чай"]
    assert await stage.tables_with("хутор") == set()
    assert stage.files_with("хутор") == []
    assert await stage.tables_with("дача") == {"episodes", "segments", "search_items", "evidence"}


async def test_what_was_said_before_does_not_bring_a_fact_back(stage: ErasingStage) -> None:
    """The same slice read once more is refused it; said again later it counts."""
    works = fact("Петров", "WORKS_FOR", "ACME", "Петров работает в ACME", 1)
    stage.reply("ACME", people_operations=[added("Петров", 1)], facts=[works])
    await stage.said("Петров работает в ACME")
    (known,) = await stage.facts()
    await stage.forget("fact", known.id)
    await stage.talk.publication().backfill("archivist", [OWNER], again=True)
    await stage.archive()
    assert await stage.facts() == []
    await stage.said("Петров всё ещё в ACME")
    assert [one.fact for one in await stage.facts()] == ["Петров работает в ACME"]


async def test_a_thing_goes_with_every_fact_about_it(stage: ErasingStage) -> None:
    """What a fact of it had ended holds again, and older lines do not bring the thing back."""
    stage.reply("ACME", facts=[fact("user", "WORKS_FOR", "ACME", "Работает в ACME", 1, valid_at="2020-01-01")])
    later = {"valid_at": "2024-01-01", "entity_types": {"Канарейкин": "Organization"}}
    stage.reply("Канарейкин", facts=[fact("user", "WORKS_FOR", "Канарейкин", "Ушёл в Канарейкин", 1, **later)])
    await stage.told("Работаю в ACME")
    episode = await stage.told("Теперь Канарейкин")
    (now_there,) = await stage.facts()
    await stage.forget("entity", now_there.target)
    (held,) = await stage.facts(include_invalid=True)
    assert (held.target_name, held.invalid_at) == ("ACME", None)
    assert await stage.tables_with(CANARY) == {"episodes", "segments", "search_items"}  # what was said
    await stage.talk.publication().backfill("archivist", [OWNER], again=True)
    await stage.archive()
    assert [one.target_name for one in await stage.facts()] == ["ACME"]
    await stage.forget("episode", episode)
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(CANARY) == []


async def test_a_person_goes_with_facts_that_name_him_and_what_he_had_ended_holds_again(stage: ErasingStage) -> None:
    """Facts at his entity and facts elsewhere that name him; of two people of a name the other one keeps his."""
    stage.reply(
        "семья",
        people_operations=[
            added("Иван Канарейкин", 1, aliases=["Иван"]),
            added("Иван Сидоров", 1, aliases=["Иван"], distinct_from=[1]),
        ],
        entities=[{"name": "ACME", "labels": ["Organization"], "summary": "Фирма Канарейкина", "evidence": [1]}],
        facts=[
            fact("user", "WORKS_FOR", "ACME", "Работает в ACME у Канарейкина", 1),
            fact("Person:1", "LIKES", "чай", "Канарейкин любит чай", 1),
            fact("Person:2", "LIKES", "кофе", "Иван любит кофе", 1),
            fact("user", "MARRIED_TO", "Person:2", "Замужем за Иваном", 1, valid_at="2020-01-01"),
            fact("user", "MARRIED_TO", "Person:1", "Замужем за Канарейкиным", 1, valid_at="2024-01-01"),
        ],
    )
    await stage.told("Моя семья")
    names = {person.display_name for person in await stage.people()}
    assert names == {"Иван Канарейкин", "Иван Сидоров"}
    stage.reply("ещё", facts=[fact("Person:2", "LIKES", "кофе", "Иван любит кофе", 1)])
    await stage.told("ещё кофе")
    canary = next(person for person in await stage.people() if "Канарейкин" in person.display_name)
    await stage.forget("person", str(canary.id))
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(CANARY) == []
    assert [person.display_name for person in await stage.people()] == ["Иван Сидоров"]


async def test_everything_goes(stage: ErasingStage) -> None:
    """Not a byte is left of graph, facts, claims, evidence, profiles and messages."""
    stage.reply(
        "Канарейкин",
        people_operations=[added("Канарейкин", 1, bio="Канарейкин.")],
        facts=[fact("Канарейкин", "LIKES", "канарейкин чай", "Канарейкин любит чай", 1)],
    )
    await stage.said("Канарейкин любит чай")
    await stage.told("Канарейкин пишет")
    assert stage.database.path is None or stage.files_with(CANARY)
    await stage.forget("everything", None)
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(CANARY) == []


# Hidden first


@pytest.mark.parametrize("kind", ["fact", "entity", "episode", "message", "everything"])
async def test_what_is_asked_for_is_out_of_sight_at_once_and_comes_back(stage: ErasingStage, kind: Any) -> None:
    """From the asking on no list and no prompt holds it; an undo restores all of it, the passing of time erases it."""
    stage.reply("ACME", people_operations=[], facts=[fact("user", "WORKS_FOR", "ACME", "Работает в ACME", 1)])
    episode = await stage.said("Работаю в ACME")
    (known,) = await stage.facts()
    (question, _) = await stage.talk.messages()
    refs = {"fact": known.id, "entity": known.target, "episode": episode, "message": question.id, "everything": None}
    now = stage.talk.clock.now()

    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, kind, refs[kind], now=now))
    again = await stage.talk.write(lambda c: requests.ask(c, OWNER, kind, refs[kind], now=now))
    assert again.id == asked.id
    assert await stage.facts(include_invalid=True) == []
    going = await stage.talk.read(lambda c: pending_forgettings.messages_to_forget(c, OWNER))
    assert (question.id in going) == (kind in ("episode", "message"))
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert [one.id for one in await stage.facts()] == [known.id]

    await stage.talk.write(lambda c: requests.ask(c, OWNER, kind, refs[kind], now=now))
    stage.talk.clock.advance(UNDO_WINDOW)
    assert await stage.eraser.erase_due() == 1
    assert await stage.facts(include_invalid=True) == []
    assert bool(await stage.talk.messages()) == (kind in ("fact", "entity", "message"))


async def test_a_message_that_is_to_be_forgotten_is_in_no_prompt(stage: ErasingStage) -> None:
    """Neither the responder nor the archivist is shown it while the time to undo runs."""
    await stage.talk.exchange("Канарейкин секрет")
    (secret, _) = await stage.talk.messages()
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", secret.id, now=now))
    await stage.said("Что нового?")
    shown = [line.text for request in stage.talk.responder.asked[1:] for line in request.dialogue]
    read = [line.text for request in stage.archivist.asked for line in request.transcript]
    assert "Что нового?" in shown
    assert "Что нового?" in read
    assert "Канарейкин секрет" not in [*shown, *read]


# Refusals


async def test_what_is_not_there_cannot_be_forgotten(stage: ErasingStage) -> None:
    """Unknown ids of each kind, those of another owner, and the owner's own entity."""
    stage.reply("ACME", facts=[fact("user", "WORKS_FOR", "ACME", "Работает в ACME", 1)])
    await stage.told("Я в ACME")
    for kind in ("fact", "entity", "episode", "message"):
        with pytest.raises(NotFound):
            await stage.forget(kind, "nothing")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await stage.forget("person", "42")
    with pytest.raises(Refused):
        await stage.forget("person", "Пётр")
    with pytest.raises(Refused):
        await stage.forget("entity", owner_node_id(OWNER))
    (known,) = await stage.facts()
    now = stage.talk.clock.now()
    with pytest.raises(NotFound):
        await stage.talk.write(lambda c: requests.ask(c, OTHER, "fact", known.id, now=now))


async def test_a_message_that_is_being_answered_waits(stage: ErasingStage) -> None:
    """It is not pulled away under the reply that is being written: now it is refused, asked for it stays due."""
    turn = await stage.talk.ask("Канарейкин")
    (message,) = await stage.talk.messages()
    with pytest.raises(Conflict):
        await stage.forget("message", message.id)
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", message.id, now=now))
    stage.talk.clock.advance(UNDO_WINDOW)
    await stage.eraser.erase_due()
    assert len(await stage.talk.messages()) == 1
    await stage.talk.flow().answer(turn)
    await stage.eraser.erase_due()
    assert [message.role for message in await stage.talk.messages()] == ["assistant"]


async def test_a_rest_call_leaves_nothing_in_the_log(stage: ErasingStage) -> None:
    """What another writer erased is noticed at the next tick, which empties the log; a restored backup learns it."""
    stage.reply("Канарейкин", facts=[fact("user", "LIKES", "Канарейкин", "Любит Канарейкина", 1)])
    episode = await stage.told("Канарейкин")
    await stage.eraser.erase_due()
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: erase.erase_episode(c, OWNER, episode, now=now))
    await stage.eraser.erase_due()
    assert stage.files_with(CANARY) == []
    noted = await stage.talk.read(lambda c: c.execute(select(forgettings.c.kind, forgettings.c.state)).all())
    assert [tuple(row) for row in noted] == [("episode", "done")]


async def test_nothing_of_the_others_is_touched(stage: ErasingStage) -> None:
    """Erasing one of two texts leaves every row of the other as it was."""
    stage.reply("чай", people_operations=[added("Петров", 1)], facts=[fact("Петров", "LIKES", "чай", "Любит чай", 1)])
    await stage.told("Петров любит чай")

    def rows(connection: Any) -> list[Any]:
        told = [connection.execute(select(table)).all() for table in (evidence, messages, suggestions)]
        return [*told, connection.execute(select(runs.c.id, runs.c.state)).all(), store.nodes(connection, OWNER)]

    before = await stage.talk.read(rows)
    stage.reply("кофе", people_operations=[added("Анна", 1)], facts=[fact("Анна", "LIKES", "кофе", "Любит кофе", 1)])
    episode = await stage.told("Анна любит кофе")
    await stage.forget("episode", episode)
    assert await stage.talk.read(rows) == before
    assert json.dumps([person.display_name for person in await stage.people()], ensure_ascii=False) == '["Петров"]'
