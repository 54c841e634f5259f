"""An edit after the archival: what follows from the new words takes the place of what followed from the old ones."""

from typing import Any

import pytest
from sqlalchemy import Connection, select
from support.flows.erase_stage import ErasingStage, LanguageHere
from support.flows.flow_stage import OWNER, Talk

from internal.agents.archivist.offline.agent import OfflineArchivist
from internal.graph import store
from internal.graph.model import NodeFilter
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.model import FactFilter
from internal.people import service as people_service
from internal.scheduling.run import EDITING
from internal.storage.tables import claims, evidence, mentions, runs


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


def added(name: str, *evidence_: int, **fields: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": name, **fields}, "evidence": list(evidence_)}


def fact(source: str, relation: str, target: str, words: str, *lines: int, **more: Any) -> dict[str, Any]:
    return {"source": source, "relation": relation, "target": target, "fact": words, "evidence": list(lines)} | more


async def edited(stage: ErasingStage, old: str, new: str) -> None:
    """The owner corrects a message in Telegram, and the archivist reads its slice once more."""
    [message] = [one for one in await stage.talk.messages() if one.content == old]
    assert await stage.talk.edit(message, new) is not None
    await stage.archive()


async def states(stage: ErasingStage) -> list[tuple[str, bool]]:
    """The state of each run, and whether it replaces another one."""
    rows = await stage.talk.read(lambda c: c.execute(select(runs.c.state, runs.c.replaces).order_by(runs.c.n)).all())
    return [(row.state, row.replaces is not None) for row in rows]


def rows(connection: Connection) -> list[Any]:
    """All that was derived, without what only says when it was written."""
    told = connection.execute(select(claims.c.id, claims.c.edge_id, claims.c.fact, claims.c.retracted_at)).all()
    cited = select(evidence.c.target, evidence.c.episode_id, evidence.c.segment, evidence.c.quote)
    nodes = store.nodes(connection, OWNER, NodeFilter(), limit=1_000)
    return [
        sorted(map(tuple, told)),
        sorted(map(str, connection.execute(cited).all())),
        sorted((node.id, str(node.properties)) for node in nodes),
        connection.execute(select(mentions)).all(),
    ]


async def test_new_words_take_the_place_of_the_old_ones(stage: ErasingStage) -> None:
    """Fact, thing and person of the old words go; what is told again keeps its ids; nothing counts twice."""
    stage.reply(
        "Канарейкин",
        people_operations=[added("Канарейкин", 1, bio="Работает."), added("Анна", 1, bio="Сестра.")],
        facts=[fact("Канарейкин", "WORKS_FOR", "Рога", "Канарейкин в Рогах", 1),
               fact("Анна", "LIKES", "чай", "Анна любит чай", 1)],
    )  # fmt: skip
    episode = await stage.said("Канарейкин в Рогах, Анна пьёт чай", "А завтра в театр")
    before = {one.fact: one.id for one in await stage.facts()}
    stage.archivist.script.clear()
    stage.reply(
        "Петров",
        people_operations=[added("Петров", 1, bio="Трудится."), added("Анна", 1, bio="Сестра.")],
        facts=[fact("Петров", "WORKS_FOR", "Копыта", "Петров в Копытах", 1),
               fact("Анна", "LIKES", "чай", "Анна любит чай", 1)],
    )  # fmt: skip

    await edited(stage, "Канарейкин в Рогах, Анна пьёт чай", "Петров в Копытах, Анна пьёт чай")

    after = {one.fact: one.id for one in await stage.facts(include_invalid=True)}
    assert after.keys() == {"Петров в Копытах", "Анна любит чай"}
    assert after["Анна любит чай"] == before["Анна любит чай"]
    assert {one.display_name: (one.mention_count, one.bio) for one in await stage.people()} == {
        "Анна": (1, "Сестра."),
        "Петров": (1, "Трудится."),
    }
    names = {node.name for node in await stage.talk.read(lambda c: store.nodes(c, OWNER))}
    assert names == {"чай", "Копыта", "Петров", "Анна"}
    (line,) = await stage.talk.read(lambda c: knowledge.evidence_of_fact(c, OWNER, after["Анна любит чай"]))
    assert line.quote == "Петров в Копытах, Анна пьёт чай"
    assert await states(stage) == [("applied", False), ("applied", True)]
    processed = await stage.talk.read(lambda c: episodes.episode(c, OWNER, episode))
    assert processed is not None
    assert processed.processed_at == stage.talk.clock.now()


async def test_a_slice_that_waits_or_was_given_up_needs_no_second_run(stage: ErasingStage) -> None:
    """Its agent sees the new words anyway; several edits of one slice are one run."""
    await stage.talk.exchange("Раз")
    (message, _) = await stage.talk.messages()
    await stage.talk.edit(message, "Два")
    assert await states(stage) == []
    await stage.talk.publication().publish_now(OWNER)
    await stage.talk.edit(message, "Три")
    assert await states(stage) == [("due", False)]
    await stage.archive()
    assert stage.archivist.asked[-1].transcript[0].text == "Три"
    for text in ("Четыре", "Пять", "Пять"):
        await stage.talk.edit(message, text)
    assert await states(stage) == [("applied", False), ("due", True)]
    due = await stage.talk.read(lambda c: c.execute(select(runs.c.due_at).where(runs.c.state == "due")).scalar_one())
    assert due == stage.talk.clock.now() + EDITING
    await stage.archive()
    assert stage.archivist.asked[-1].transcript[0].text == "Пять"
    assert len(stage.archivist.asked) == 2


async def test_what_a_sentence_of_a_bio_rested_on_goes_with_the_old_words(stage: ErasingStage) -> None:
    """What other messages told of the person stays, and so does the owner's own word."""
    stage.reply("врач", people_operations=[added("Петров", 1, aliases=["Док"], bio="Врач.")])
    await stage.said("Петров врач")
    stage.archivist.script.clear()
    person = {"id": 1, "aliases": ["Ас"], "bio": "Врач. Пилот."}
    stage.reply("пилот", people_operations=[{"type": "Updated", "evidence": [1], "person": person}])
    await stage.said("Он пилот")
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: people_service.edit(c, OWNER, 1, {"circle": "Work_Inner"}, now=now))
    stage.archivist.script.clear()
    await edited(stage, "Он пилот", "Он не тот")
    (petrov,) = await stage.people()
    assert (petrov.names, petrov.bio, petrov.mention_count) == (("Петров", "Док"), "Врач.", 1)
    assert petrov.circle.value == "Work_Inner"


async def test_the_owners_corrections_outlive_an_edit(stage: ErasingStage) -> None:
    """A fact that he told in his own words is neither lost nor asked about because its slice is read again."""
    told = [fact("user", "WORKS_FOR", "ACNE", "Работает в ACNE", 1, entity_types={"ACNE": "Organization"}),
            fact("user", "LIKES", "чай", "Любит чай", 1)]  # fmt: skip
    stage.reply("ACNE", facts=told)
    await stage.said("Я в ACNE, люблю чай")
    [works] = [one for one in await stage.facts() if one.name == "WORKS_FOR"]
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: knowledge.update_fact(c, OWNER, works.id, "Работает в ACME", now=now))
    await edited(stage, "Я в ACNE, люблю чай", "Я в ACNE, очень люблю чай")
    assert {one.fact for one in await stage.facts()} == {"Работает в ACME", "Любит чай"}
    assert await stage.talk.read(lambda c: knowledge.open_contradictions(c, OWNER)) == []


async def test_what_had_been_superseded_by_the_old_words_holds_again(stage: ErasingStage) -> None:
    """The edit takes back that he moved; the earlier fact has no end any more."""
    stage.reply("Киев", facts=[fact("user", "LIVES_IN", "Київ", "Живёт в Киеве", 1, valid_at="2020-01-01")])
    await stage.said("Живу в Киеве")
    stage.archivist.script.clear()
    stage.reply("Львов", facts=[fact("user", "LIVES_IN", "Львів", "Живёт во Львове", 1, valid_at="2024-01-01")])
    await stage.said("Переехал во Львов")
    await edited(stage, "Переехал во Львов", "Мечтаю о море")
    (held,) = await stage.facts(include_invalid=True)
    assert (held.target_name, held.invalid_at) == ("Київ", None)


async def test_only_the_slice_of_the_message_is_read_again(stage: ErasingStage) -> None:
    """Of a long fragment the other slices keep what they told, and cost nothing."""
    stage.reply("чай", facts=[fact("user", "LIKES", "чай", "Любит чай", 1)])
    stage.reply("кофе", facts=[fact("user", "LIKES", "кофе", "Любит кофе", 1)])
    await stage.said("Люблю чай", *(f"Сообщение {number}" for number in range(34)), "Люблю кофе")
    assert len(stage.archivist.asked) == 2
    assert {one.fact for one in await stage.facts()} == {"Любит чай", "Любит кофе"}
    stage.archivist.script.clear()
    await edited(stage, "Люблю кофе", "Люблю воду")
    assert len(stage.archivist.asked) == 3
    assert {one.fact for one in await stage.facts()} == {"Любит чай"}


async def test_the_same_reply_once_more_changes_nothing(stage: ErasingStage) -> None:
    """`archive --backfill archivist --again`: no row, no id, no count and no quote differs, however often."""
    stage.reply(
        "Петров",
        people_operations=[added("Петров", 1, aliases=["Саша"], bio="Врач. Друг."), added("Анна", 1)],
        entities=[{"name": "ACME", "labels": ["Organization"], "summary": "Фирма", "evidence": [1]}],
        facts=[fact("Петров", "WORKS_FOR", "ACME", "Петров в ACME", 1, valid_at="2020-01-01"),
               fact("user", "LIKES", "чай", "Любит чай", 1)],
    )  # fmt: skip
    await stage.said("Петров и Анна из ACME, а я люблю чай")
    stage.reply("Globex", facts=[fact("Петров", "WORKS_FOR", "Globex", "Петров в Globex", 1, valid_at="2023-01-01")])
    await stage.told("Теперь Петров в Globex")
    before = await stage.talk.read(rows)
    people_before = [(one.names, one.bio, one.mention_count) for one in await stage.people()]
    for _ in range(2):
        assert await stage.talk.publication().backfill("archivist", [OWNER], again=True) == 2
        await stage.archive()
        assert await stage.talk.read(rows) == before
        assert [(one.names, one.bio, one.mention_count) for one in await stage.people()] == people_before
    assert {state for state, _ in await states(stage)} == {"applied"}


async def test_a_backfill_works_on_what_was_archived_before_facts_existed(stage: ErasingStage) -> None:
    """Its people are there; read once more, it tells its facts too."""
    stage.reply("Петров", people_operations=[added("Петров", 1, bio="Врач.")])
    await stage.said("Петров работает в ACME")
    stage.reply("Петров", people_operations=[added("Петров", 1, bio="Врач.")],
                facts=[fact("Петров", "WORKS_FOR", "ACME", "Петров в ACME", 1)])  # fmt: skip
    assert await stage.talk.publication().backfill("archivist", [OWNER]) == 0
    assert await stage.talk.publication().backfill("archivist", [OWNER], again=True) == 1
    await stage.archive()
    assert [one.fact for one in await stage.facts()] == ["Петров в ACME"]
    assert [one.mention_count for one in await stage.people()] == [1]


async def test_an_episode_that_nobody_works_on_is_processed_at_once(stage: ErasingStage) -> None:
    """Without an agent, or without a line to read, there is nothing to wait for."""
    await stage.talk.exchange("Привет")
    await stage.talk.publication(agents=()).publish_now(OWNER)
    [known] = await stage.talk.read(lambda c: episodes.listing(c, OWNER))
    assert known.processed_at == stage.talk.clock.now()
    now = stage.talk.clock.now()
    facts = await stage.talk.read(lambda c: knowledge.facts_about(c, OWNER, FactFilter(), now=now))
    assert facts == []


# The archivist by rules, which quotes the bio that it is shown


@pytest.fixture
def by_rules(stage: ErasingStage, monkeypatch: pytest.MonkeyPatch) -> ErasingStage:
    monkeypatch.setattr(stage.archivist, "ask", OfflineArchivist(LanguageHere()).ask)
    return stage


@pytest.mark.parametrize(
    ("kept", "old", "new", "name", "bio"),
    [
        ("Моя сестра Анна любит чай.", "Анна живёт в Киеве.", "Анна живёт во Львове.", "Анна",
         "Моя сестра Анна любит чай. Анна живёт во Львове."),
        ("Моя сестра Олена любить каву.", "Олена працює в Zalando.", "Олена працює в Google.", "Олена",
         "Моя сестра Олена любить каву. Олена працює в Google."),
        ("My sister Anna likes tea.", "Anna lives in Berlin.", "Anna lives in Paris.", "Anna",
         "My sister Anna likes tea. Anna lives in Paris."),
    ],
)  # fmt: skip
async def test_a_bio_follows_an_edit(
    by_rules: ErasingStage, kept: str, old: str, new: str, name: str, bio: str
) -> None:
    """The sentence of the old words gives way to that of the new ones, also after a fragment in between repeated it."""
    await by_rules.said(kept)
    await by_rules.said(old)
    await by_rules.said(
        f"{name} 👍" if name.isascii() else f"{name} передавала привет" if name == "Анна" else f"{name} вітала"
    )
    assert old in next(one.bio for one in await by_rules.people() if one.display_name == name)
    await edited(by_rules, old, new)
    told = next(one.bio for one in await by_rules.people() if one.display_name == name)
    assert old not in told
    assert all(sentence in told for sentence in bio.split(". ")[1:])
    assert told.startswith(kept)


async def test_a_bio_loses_what_was_edited_away(by_rules: ErasingStage) -> None:
    """Where the new words tell nothing, the old sentence goes and nothing comes."""
    await by_rules.said("Моя сестра Анна любит чай.")
    await by_rules.said("Анна живёт в Киеве.")
    await edited(by_rules, "Анна живёт в Киеве.", "Завтра дождь.")
    assert [one.bio for one in await by_rules.people()] == ["Моя сестра Анна любит чай."]


async def test_a_sentence_is_told_again_only_by_lines_that_say_it(stage: ErasingStage) -> None:
    """A model that repeats the bio it was shown gives a sentence no line; one whose words it quotes does."""
    stage.reply("врач", people_operations=[added("Петров", 1, bio="Врач.")])
    await stage.said("Петров врач")
    repeated = {"type": "Updated", "evidence": [1], "person": {"id": 1, "bio": "Врач. Пилот."}}
    stage.archivist.script.clear()
    stage.reply("пилот", people_operations=[repeated])
    await stage.said("Он ещё и пилот")
    stage.archivist.script.clear()
    await edited(stage, "Петров врач", "Петров зубной")
    assert [one.bio for one in await stage.people()] == ["Пилот."]
