"""A forgotten fact is not told on by the profiles of those whom it was about."""

import pytest
from support.flows.erase_stage import KEY, ErasingStage, added, bios, fact
from support.flows.flow_stage import OWNER, Talk

from internal.flows.forgetting import bio_sentences, erase, requests
from internal.flows.forgetting.requests import UNDO_WINDOW
from internal.people import service as people_service


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


async def the_fact(stage: ErasingStage, words: str) -> str:
    return next(one.id for one in await stage.facts() if one.fact == words)


@pytest.mark.parametrize(
    ("name", "bio", "target", "words", "left"),
    [
        ("Катажина", "Сестра. Работает в Zalando.", "Zalando", "Катажина работает в Zalando", "Сестра."),
        ("Катажина", "Сестра. Працює в Заландо.", "Zalando", "Катажина працює в Zalando", "Сестра."),
        ("Anna", "A friend. Has lived in Berlin for years.", "Берлін", "Anna lives in Berlin", "A friend."),
        ("Петров", "Врач. Живёт в Новой Одессе.", "Новая Одесса", "Петров живёт в Новой Одессе", "Врач."),
        ("Olha", "Olha loves tea.", "tea", "Olha loves tea", "Olha"),
    ],
)
async def test_what_tells_the_fact_once_more_goes_with_it(
    stage: ErasingStage, name: str, bio: str, target: str, words: str, left: str
) -> None:
    """In whatever case, form and alphabet it names the other end; other sentences of the same line stay."""
    stage.reply("слышно", people_operations=[added(name, bio, 1)], facts=[fact(name, "IS_AT", target, words, 1)])
    await stage.told("Вот что слышно")
    await stage.forget("fact", await the_fact(stage, words))
    assert await bios(stage) == {name: left}
    assert await stage.facts(include_invalid=True) == []


async def test_the_next_prompt_holds_nothing_of_it(stage: ErasingStage) -> None:
    """From the button on the inner circle is sent without the sentence; an undo brings it back to its place."""
    bio = "Сестра. Работает в Канарейке. Любит чай."
    stage.reply(
        "Канарейка",
        people_operations=[added("Анна", bio, 1, circle="Family")],
        facts=[fact("Анна", "WORKS_FOR", "Канарейка", "Анна работает в Канарейке", 1)],
    )
    await stage.told("Анна, моя сестра, работает: Канарейка")
    fact_id, now = await the_fact(stage, "Анна работает в Канарейке"), stage.talk.clock.now()

    async def sent() -> str:
        await stage.talk.exchange("Как там Анна?")
        request = stage.talk.responder.asked[-1]
        return " ".join(one.bio for one in (*request.inner_circle, *request.relevant_people))

    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "fact", fact_id, now=now))
    assert await bios(stage) == {"Анна": "Сестра. Любит чай."}
    assert "анарей" not in await sent()
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await bios(stage) == {"Анна": bio}

    await stage.talk.write(lambda c: requests.ask(c, OWNER, "fact", fact_id, now=now))
    stage.talk.clock.advance(UNDO_WINDOW)
    await stage.eraser.erase_due()
    assert await bios(stage) == {"Анна": "Сестра. Любит чай."}
    assert "анарей" not in await sent()
    assert await stage.tables_with("анарей") == {"episodes", "segments", "search_items"}  # the message itself


async def test_an_undo_keeps_what_was_told_meanwhile(stage: ErasingStage) -> None:
    """The sentence comes back behind a bio that became another one."""
    stage.reply(
        "ACME",
        people_operations=[added("Анна", "Сестра. Из ACME.", 1)],
        facts=[fact("Анна", "AT", "ACME", "Анна в ACME", 1)],
    )
    await stage.told("Анна в ACME")
    fact_id, now = await the_fact(stage, "Анна в ACME"), stage.talk.clock.now()
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "fact", fact_id, now=now))
    stage.archivist.script.clear()
    again = {"type": "Updated", "person": {"id": 1, "bio": "Сестра. Любит чай."}, "evidence": [1]}
    stage.reply("чай", people_operations=[again])
    await stage.told("Анна любит чай")
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await bios(stage) == {"Анна": "Сестра. Любит чай. Из ACME."}


async def test_older_lines_do_not_bring_the_sentence_back(stage: ErasingStage) -> None:
    """The same slice read once more tells it to nobody; said again later it counts."""
    stage.reply(
        "ACME",
        people_operations=[added("Анна", "Сестра. Из ACME.", 1)],
        facts=[fact("Анна", "WORKS_FOR", "ACME", "Анна из ACME", 1)],
    )
    await stage.said("Анна из ACME")
    await stage.forget("fact", await the_fact(stage, "Анна из ACME"))
    await stage.talk.publication().backfill("archivist", [OWNER], again=True)
    await stage.archive()
    assert await bios(stage) == {"Анна": "Сестра."}
    await stage.said("Анна всё ещё из ACME")
    assert await bios(stage) == {"Анна": "Сестра. Из ACME."}


async def test_what_cannot_be_decided_is_offered(stage: ErasingStage) -> None:
    """A sentence from the same line that names nothing stays until its owner drops it, and comes back with an undo."""
    stage.reply(
        "Zalando",
        people_operations=[added("Катажина", "Трудится у немецкого торговца одеждой.", 1)],
        facts=[fact("Катажина", "WORKS_FOR", "Zalando", "Катажина работает в Zalando", 1)],
    )
    await stage.told("Катажина теперь: Zalando")
    fact_id, now = await the_fact(stage, "Катажина работает в Zalando"), stage.talk.clock.now()
    (rest,) = await stage.talk.read(lambda c: bio_sentences.remaining(c, OWNER, fact_id))
    assert (rest.name, rest.sentence) == ("Катажина", "Трудится у немецкого торговца одеждой.")

    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "fact", fact_id, now=now))
    assert await bios(stage) == {"Катажина": rest.sentence}
    await stage.talk.write(lambda c: bio_sentences.hide(c, OWNER, 1, rest.key[:8], fact_id, now=now))
    assert await bios(stage) == {"Катажина": "Катажина"}
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await bios(stage) == {"Катажина": rest.sentence}

    erased = await stage.forget("fact", fact_id)
    assert erased.remaining == ["Катажина: Трудится у немецкого торговца одеждой."]
    assert await bios(stage) == {"Катажина": rest.sentence}
    await stage.talk.write(lambda c: erase.erase_sentence(c, OWNER, 1, rest.key[:8], key=KEY, now=now))
    assert await bios(stage) == {"Катажина": "Катажина"}
    assert await stage.tables_with("торговц") == set()


async def test_what_the_owner_wrote_himself_is_offered_not_taken(stage: ErasingStage) -> None:
    """His own bio of somebody is his word; he may drop the sentence."""
    stage.reply(
        "ACME", people_operations=[added("Анна", "Сестра.", 1)], facts=[fact("Анна", "AT", "ACME", "Анна в ACME", 1)]
    )
    await stage.told("Анна в ACME")
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: people_service.edit(c, OWNER, 1, {"bio": "Моя сестра. Из ACME."}, now=now))
    fact_id = await the_fact(stage, "Анна в ACME")
    offered = await stage.talk.read(lambda c: bio_sentences.remaining(c, OWNER, fact_id))
    assert [one.sentence for one in offered] == ["Из ACME."]
    await stage.forget("fact", fact_id)
    assert await bios(stage) == {"Анна": "Моя сестра. Из ACME."}


async def test_others_who_share_the_line_lose_only_what_names_both(stage: ErasingStage) -> None:
    """The husband's profile tells where she works: that goes; what else the line told of him stays."""
    stage.reply(
        "ACME",
        people_operations=[added("Анна", "Сестра.", 1), added("Пётр", "Муж Анны, она из ACME. Сам врач.", 1)],
        facts=[fact("Анна", "WORKS_FOR", "ACME", "Анна работает в ACME", 1)],
    )
    await stage.told("Анна в ACME, её муж Пётр врач")
    await stage.forget("fact", await the_fact(stage, "Анна работает в ACME"))
    assert await bios(stage) == {"Анна": "Сестра.", "Пётр": "Сам врач."}
