"""Names of a reply become nodes: what is one, what stays two, and what is refused rather than guessed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest
import pytest_asyncio
from support.knowledge.name_stage import NOON, OWNER, STRANGER, Stage, entity, fact, memory

from internal.agents.archivist.reply.name_matcher import NameMatcher
from internal.graph import store
from internal.knowledge.entities.resolved_names import FactDates, FactLookup, NameMatch, Resolution
from internal.language.worker.process_pool import LanguageWorker
from internal.people import merge, repository as people
from internal.storage.forgetting import hidings
from internal.testing import TrigramEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def resolver() -> AsyncIterator[NameMatcher]:
    worker = LanguageWorker()
    yield NameMatcher(worker, TrigramEmbedder())
    await worker.close()


@pytest.fixture
def stage(resolver: NameMatcher) -> Iterator[Stage]:
    with memory() as connection:
        yield Stage(connection, resolver)


def reasons(found: Resolution) -> list[str]:
    return [refusal.reason for refusal in found.refused]


async def test_what_is_new_is_made_with_all_that_is_told(stage: Stage) -> None:
    """Its type decides the node; its labels, attributes and other names are kept."""
    found = await stage.hears(
        entity("ACME", "Organization", summary="Компания", aliases=["Акме"], attributes={"city": "Львов"}),
        entity("кофе без сахара", "Preference"),
        entity("джаз", "Topic"),
        entity("ответ за секунду", "Requirement", attributes={"project_name": "Альфа", "description": "..."}),
        entity("Сдать отчёт", "Task"),
    )
    acme, coffee, jazz, answer, report = [stage.node(one.node_id) for one in found.entities]
    assert found.created == [one.id for one in (acme, coffee, jazz, answer, report)]
    assert all(one.created for one in found.entities)
    assert (acme.label, acme.subtype, acme.summary, acme.run_id) == ("Entity", "organization", "Компания", "run")
    assert acme.properties["labels"] == ["Organization"]
    assert acme.properties["aliases"] == ["Акме"]
    assert acme.properties["attributes"] == {"city": "Львов"}
    assert (coffee.label, coffee.name, jazz.label) == ("Preference", "кофе без сахара", "Topic")
    assert (answer.subtype, report.subtype, report.properties["labels"]) == ("rule", "concept", ["Task"])


@pytest.mark.parametrize(
    ("known", "said", "label"),
    [
        ("ACME", "acme", "Organization"),
        ("Ромашка", "«Ромашка»", "Organization"),
        ("Ромашка", "ООО «Ромашка»", "Organization"),
        ("Акме", "в Акме", "Organization"),
        ("Яндекс", "Яндексе", "Organization"),
        ("Гугл", "Гуглом", "Organization"),
        ("Приватбанк", "Приватбанку", "Organization"),
        ("Акме", "ACME", "Organization"),
        ("EPAM", "ЕПАМ", "Organization"),
        ("Київ", "Києві", "Location"),
        ("Одесса", "Одессе", "Location"),
        ("Київ", "Киев", "Location"),
        ("Киев", "Kyiv", "Location"),
        ("Львов", "Львові", "Location"),
        ("Польша", "Польщі", "Location"),
        ("Germany", "Германии", "Location"),
        ("New York", "Нью-Йорке", "Location"),
        ("здоровое питание", "здорового питания", "Topic"),
    ],
)
async def test_one_thing_is_one_node_however_it_is_written(stage: Stage, known: str, said: str, label: str) -> None:
    """In case, declension, quotation marks, legal form, alphabet, or a place's name in another language."""
    first = await stage.hears(entity(known, label))
    again = await stage.hears(entity(said, label))
    assert again.entities[0].node_id == first.entities[0].node_id
    assert (again.created, again.entities[0].created) == ([], False)
    plain = await stage.hears(facts=[fact("user", "MENTIONS", said)])
    assert plain.nodes[said] == first.entities[0].node_id


@pytest.mark.parametrize(
    ("known", "said", "labels"),
    [
        ("Альфа", "Альфа-Банк", ("Organization", "Organization")),
        ("Алекс", "Александр", ("Organization", "Organization")),
        ("iPhone 14", "iPhone 15", ("Object", "Object")),
        ("Acme", "Akme", ("Organization", "Organization")),
        ("Роза", "Розы", ("Organization", "Organization")),
        ("Мир", "Mir", ("Organization", "Location")),
        ("Георгий", "Georgia", ("Organization", "Location")),
        ("Львів", "Львівська політехніка", ("Location", "Organization")),
    ],
)
async def test_two_things_stay_two(stage: Stage, known: str, said: str, labels: tuple[str, str]) -> None:
    """A beginning, a short form, another number, a like sound in one alphabet, or another type proves nothing."""
    first = await stage.hears(entity(known, labels[0]))
    again = await stage.hears(entity(said, labels[1]))
    assert again.created == [again.entities[0].node_id]
    assert again.created != first.created


async def test_another_name_of_a_thing_is_learnt_and_a_declined_form_is_not(stage: Stage) -> None:
    """So that next time no dictionary is needed."""
    (made,) = (await stage.hears(entity("Акме", "Organization"))).created
    await stage.hears(entity("ACME", "Organization"))
    await stage.hears(entity("Акмой", "Organization"), entity("Яндексе", "Organization"))
    assert stage.node(made).properties["aliases"] == ["ACME"]
    assert [one.id for one in store.nodes_called(stage.connection, OWNER, {"acme"})] == [made]


async def test_forms_within_one_reply_are_one_thing(stage: Stage) -> None:
    """Though none of them was known before."""
    found = await stage.hears(entity("Акме", "Organization"), facts=[fact("user", "WORKS_FOR", "в Акме")])
    assert found.facts[0].target == found.entities[0].node_id
    assert stage.names() == ["Акме"]


async def test_a_person_is_found_by_id_username_and_name(stage: Stage) -> None:
    """People's own rules; a merged one is found at the end of his redirects."""
    petrov, old = stage.person("Петров", "Саша", username="petrov"), stage.person("Пётр")
    merge.merge(stage.connection, OWNER, old.id, petrov.id, now=NOON)
    said = [f"Person:{petrov.id}", f"Person:{old.id}", "@Petrov", "саша", "Петровым"]
    found = await stage.hears(facts=[fact(name, "WORKS_FOR", "ACME") for name in said])
    assert [one.source for one in found.facts] == [petrov.entity_id] * len(said)


@pytest.mark.parametrize("said", ["Петрова", "Petrov", "Петр"])
async def test_a_likeness_of_people_is_never_taken_for_the_person(stage: Stage, said: str) -> None:
    """Петрова may be his wife, Petrov and Петр somebody else: whoever has no profile is a person of his own."""
    petrov = stage.person("Петров")
    found = await stage.hears(facts=[fact(said, "WORKS_FOR", "ACME")])
    assert found.facts[0].source != petrov.entity_id
    assert stage.node(found.facts[0].source).subtype == "person"


async def test_of_two_namesakes_nobody_is_taken(stage: Stage) -> None:
    """The fact is refused, its neighbours are kept."""
    stage.person("Иван", username="ivan_a"), stage.person("Иван", username="ivan_b")
    found = await stage.hears(facts=[fact("Иван", "LIVES_IN", "Киев"), fact("Оля", "LIVES_IN", "Киев")])
    assert reasons(found) == ["ambiguous"]
    assert [one.proposed.source for one in found.facts] == ["Оля"]
    assert stage.names().count("Иван") == 2


async def test_a_person_being_forgotten_is_meant_by_nobody(stage: Stage) -> None:
    """Neither found nor made again while the owner may still undo."""
    petrov = stage.person("Петров")
    reply = stage.read([], [fact(petrov.id, "LIKES", "чай"), fact("Петров", "LIKES", "кофе")])
    hidings.hide(stage.connection, OWNER, "asked", "node", [petrov.entity_id])
    found = stage.resolve(reply, FactLookup(dates=[FactDates(NOON)] * 2))
    assert reasons(found) == ["unknown_person", "being_forgotten"]


async def test_a_person_and_a_city_may_have_one_name(stage: Stage) -> None:
    """The type that is told, or that the relation implies, decides; where nothing tells, people go first."""
    washington = stage.person("Вашингтон")
    found = await stage.hears(
        entity("Вашингтон", "Location"),
        facts=[
            fact("user", "LIVES_IN", "Вашингтон"),
            fact("Вашингтон", "WORKS_FOR", "ACME", entity_types={"Вашингтон": "Person"}),
        ],
    )
    city = found.entities[0].node_id
    assert stage.node(city).subtype == "place"
    assert [found.facts[0].target, found.facts[1].source] == [city, washington.entity_id]


async def test_the_relation_tells_what_nothing_else_does(stage: Stage) -> None:
    """Whoever works somewhere is a person, and where is an organisation; but what is known stays what it is."""
    known = (await stage.hears(entity("Мурка", "Object"))).entities[0].node_id
    found = await stage.hears(facts=[fact("Оля", "WORKS_FOR", "Initech"), fact("Мурка", "LIVES_IN", "Тула")])
    olya, tula = found.facts[0], found.facts[1]
    assert [stage.node(one).subtype for one in (olya.source, olya.target, tula.target)] == [
        "person",
        "organization",
        "place",
    ]
    assert tula.source == known


async def test_the_owner_is_himself_by_whatever_name(stage: Stage) -> None:
    """`user`, his username, and his name unless somebody else has it; only his own words speak of him."""
    owner = store.owner_node_id(OWNER)
    said = ("user", "@anna", "Анна")
    found = await stage.hears(facts=[fact(name, "LIKES", "чай") for name in said])
    assert [one.source for one in found.facts] == [owner] * 3
    forwarded = await stage.hears(facts=[fact("Анна", "LIKES", "чай", evidence=[2])])
    assert reasons(forwarded) == ["not_own_words"]
    friend = stage.person("Анна")
    assert (await stage.hears(facts=[fact("Анна", "LIKES", "кофе")])).facts[0].source == friend.entity_id


async def test_a_fact_between_two_names_of_one_thing_is_none(stage: Stage) -> None:
    """It is refused, not stored as a loop."""
    stage.person("Петров", "Саша")
    assert reasons(await stage.hears(facts=[fact("Саша", "KNOWS", "Петров")])) == ["self_fact"]


async def test_what_was_untyped_learns_its_type_and_keeps_it(stage: Stage) -> None:
    """The first type that is told stays; a later one changes nothing."""
    (made,) = (await stage.hears(entity("Орион"))).created
    await stage.hears(entity("Орион", "Organization", summary="Завод"))
    assert (stage.node(made).subtype, stage.node(made).summary) == ("organization", "Завод")
    again = await stage.hears(entity("Орион", "Location", attributes={"floor": 2}))
    assert again.changed == [made]
    assert (stage.node(made).subtype, stage.node(made).properties["labels"]) == ("organization", ["Organization"])
    assert stage.node(made).properties["attributes"] == {"floor": 2}


async def test_what_the_owner_wrote_stays(stage: Stage) -> None:
    """His words are never written over, nor what changed while the model was thinking."""
    (made,) = (await stage.hears(entity("Орион", "Organization"))).created
    store.update_node(stage.connection, OWNER, made, {"description": "Мой завод"}, now=NOON, by="owner")
    await stage.hears(entity("Орион", summary="Кинотеатр"))
    assert stage.node(made).summary == "Мой завод"
    rev = people.current_rev(stage.connection, OWNER)
    store.update_node(stage.connection, OWNER, made, {"attributes": {"a": 1}}, now=NOON)
    await stage.hears(entity("Орион", attributes={"a": 2}), snapshot_rev=rev)
    assert stage.node(made).properties["attributes"] == {"a": 1}


async def test_a_person_with_a_profile_learns_from_his_profile_only(stage: Stage) -> None:
    """An entity of his name tells nothing about him; people's operations do."""
    petrov = stage.person("Петров")
    found = await stage.hears(entity("Петров", "Person", summary="Шпион", aliases=["Агент"]))
    assert (found.entities[0].node_id, found.changed) == (petrov.entity_id, [])
    assert stage.node(petrov.entity_id).summary != "Шпион"


async def test_owners_never_meet(stage: Stage) -> None:
    """The same name is another node for another owner."""
    mine = await stage.hears(entity("ACME", "Organization"))
    stage.user_id = STRANGER
    theirs = await stage.hears(entity("ACME", "Organization"))
    assert mine.created != theirs.created
    assert len(theirs.created) == 1


async def test_what_was_renamed_meanwhile_is_not_what_was_compared(stage: Stage) -> None:
    """A likeness found before the transaction is looked at again inside it."""
    (made,) = (await stage.hears(entity("Акме", "Organization"))).created
    reply = stage.read([entity("ACME", "Organization")], [])
    store.update_node(stage.connection, OWNER, made, {"name": "Заря"}, now=NOON, by="owner")
    stale = FactLookup(matches={"ACME": [NameMatch(made, "Акме", "transliteration")]})
    assert stage.resolve(reply, stale).created != []


async def test_without_the_language_process_only_equal_names_are_one(stage: Stage) -> None:
    """Nothing fails, nothing is lost; ISO and relative dates are read all the same."""
    closed = LanguageWorker()
    await closed.close()
    stage.resolver = NameMatcher(closed, TrigramEmbedder())
    first = await stage.hears(entity("Акме", "Organization"))
    found = await stage.hears(entity("акме"), facts=[fact("user", "WORKS_FOR", "ACME", valid_at="вчера")])
    assert found.entities[0].node_id == first.entities[0].node_id
    assert found.facts[0].target != first.entities[0].node_id
    assert found.facts[0].dates.valid_at == NOON.replace(hour=0) - timedelta(days=1)


@pytest.mark.parametrize(
    ("known", "said", "labels", "one"),
    [
        ("Торговый дом Север", "Север, торговый дом", ("Organization", "Organization"), True),
        ("Торговый дом Север", "Север, торговый дом", ("Organization", "Location"), False),
        ("iPhone 14 Pro", "Pro iPhone 15", ("Object", "Object"), False),
        ("Иван Петров", "Петров Иван", ("Person", "Person"), False),
    ],
)
async def test_a_near_vector_is_not_enough_by_itself(
    stage: Stage, known: str, said: str, labels: tuple[str, str], one: bool
) -> None:
    """The types must agree and the numbers be the same, and of people no likeness counts."""
    (made,) = (await stage.hears(entity(known, labels[0]))).created
    found = stage.resolve(
        stage.read([entity(said, labels[1])], []), FactLookup(matches={said: [NameMatch(made, known, "vector")]})
    )
    assert (found.entities[0].node_id == made) is one


async def test_a_likeness_to_several_things_is_none(stage: Stage) -> None:
    """A third is made rather than one of two chosen."""
    made = (await stage.hears(entity("Акме", "Organization"), entity("Акмэ", "Organization"))).created
    likely = [NameMatch(made[0], "Акме", "transliteration"), NameMatch(made[1], "Акмэ", "transliteration")]
    found = stage.resolve(stage.read([entity("Acme", "Organization")], []), FactLookup(matches={"Acme": likely}))
    assert found.entities[0].created


async def test_a_name_the_owner_took_away_does_not_come_back(stage: Stage) -> None:
    """Neither as an alias that a reply brings nor as one that was learnt by likeness."""
    (made,) = (await stage.hears(entity("Акме", "Organization", aliases=["ACME"]))).created
    people.reject_keys(stage.connection, OWNER, made, ["acme"])
    store.update_node(stage.connection, OWNER, made, {"aliases": []}, now=NOON, by="owner")
    await stage.hears(entity("Акме", aliases=["Acme", "Акме Груп"]))
    assert stage.node(made).properties["aliases"] == ["Акме Груп"]
