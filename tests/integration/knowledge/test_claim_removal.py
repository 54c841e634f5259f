"""What is removed leaves no trace, and what it had closed is open again."""

from __future__ import annotations

import pytest
from sqlalchemy import insert
from support.knowledge.knowledge_stage import NOON, OWNER, Knowledge

from internal.errors import NotFound
from internal.graph import store
from internal.knowledge import service
from internal.knowledge.claims.changes import ClaimLine
from internal.storage.forgetting import hidings
from internal.storage.tables import people

CANARY = "zanzibarov"


def episode_of(knowledge: Knowledge, target: str) -> str:
    """The episode that told of this target."""
    (episode_id,) = knowledge.current(target).episodes
    return episode_id


def test_what_an_episode_had_closed_reopens(knowledge: Knowledge) -> None:
    """Without the later job the earlier one goes on, under its own id."""
    first = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell("Anna", "WORKS_FOR", "Beta", 2022)
    removal = service.remove_episode_claims(
        knowledge.connection, OWNER, episode_of(knowledge, "Beta"), now=knowledge.later()
    )
    assert knowledge.timeline() == [("ACME", 2020, None)]
    assert removal.changes.reopened == list(first.facts)
    assert len(removal.changes.deleted) == 1
    assert removal.nodes == [knowledge.entities["Beta"]]


def test_a_removed_episode_is_as_if_it_had_never_been(knowledge: Knowledge) -> None:
    """Every wording of it is gone: facts, old versions, original texts, searched texts, entities, questions, events."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    told = knowledge.tell("Anna", "LIVES_IN", f"{CANARY}grad", 2020, text=f"Anna lives in {CANARY}grad, she says")
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020, text="Anna lives in Kyiv, near the river")
    fact_id = str(told.facts[0])
    service.update_fact(
        knowledge.connection, OWNER, fact_id, f"Anna lives in the {CANARY} street",
        reason=f"not {CANARY}grad", now=knowledge.later(),
    )  # fmt: skip
    assert CANARY in knowledge.everything()
    episode = episode_of(knowledge, f"{CANARY}grad")
    service.remove_episode_claims(knowledge.connection, OWNER, episode, now=knowledge.later())
    assert CANARY not in knowledge.everything()
    assert knowledge.timeline() == [("Kyiv", 2020, None)]
    assert service.open_contradictions(knowledge.connection, OWNER) == []


def test_a_fact_that_two_episodes_support_stays_in_the_others_words(knowledge: Knowledge) -> None:
    """The same edge, told as the episode that is left told it; the version between is gone, and its text nowhere."""
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2021, text=f"Anna works for ACME as {CANARY}")
    before = knowledge.current("ACME")
    service.remove_episode_claims(knowledge.connection, OWNER, before.episodes[1], now=knowledge.later())
    after = knowledge.current("ACME")
    assert (after.id, after.fact) == (before.id, "Anna works for ACME")
    assert CANARY not in knowledge.everything()


def test_an_original_text_goes_with_the_episode_that_told_it(knowledge: Knowledge) -> None:
    """The old version falls; the new one forgets what it replaced."""
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, text=f"Anna works for ACME as {CANARY}")
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2021, text="Anna leads ACME")
    before = knowledge.current("ACME")
    service.remove_episode_claims(knowledge.connection, OWNER, before.episodes[0], now=knowledge.later())
    after = knowledge.current("ACME")
    assert (after.id, after.supersedes, after.original_fact) == (before.id, None, None)
    assert CANARY not in knowledge.everything()


def test_a_description_may_be_the_removed_words(knowledge: Knowledge) -> None:
    """An entity that stays loses the description that a model wrote of it; the owner's own stays."""
    episode = knowledge.episode("x")
    for name, by in (("Kyiv", "archivist"), ("Lviv", "owner")):
        node_id = knowledge.entity(name)
        knowledge.tell("Anna", "VISITED", name, 2020)
        properties = {"description": f"{CANARY} {name}"}
        store.update_node(knowledge.connection, OWNER, node_id, properties, now=NOON, by=by)
        service.cite_node(knowledge.connection, OWNER, node_id, episode, {1: None}, operation="updated")
    service.remove_episode_claims(knowledge.connection, OWNER, episode, now=knowledge.later())
    texts = {node.name: node.properties.get("description") for node in store.nodes(knowledge.connection, OWNER)}
    assert texts["Kyiv"] is None
    assert texts["Lviv"] == f"{CANARY} Lviv"


def test_a_claim_that_another_line_supports_stays(knowledge: Knowledge) -> None:
    """Unless its words hold one that only the removed line said."""
    lines = [ClaimLine(1, "Anna works for ACME", "m1"), ClaimLine(2, f"Yes, ACME, she is {CANARY} there", "m2")]
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, lines=lines)
    knowledge.tell("Anna", "KNOWS", "Boris", 2020, text=f"Anna is a {CANARY}", lines=lines)
    removal = service.remove_claims_of_messages(knowledge.connection, OWNER, ["m2"], now=knowledge.later())
    assert removal.claims == 1
    assert [one.target_name for one in knowledge.facts()] == ["ACME"]
    assert CANARY not in knowledge.everything()
    service.remove_claims_of_messages(knowledge.connection, OWNER, ["m1"], now=knowledge.later())
    assert knowledge.facts() == []


def test_a_fact_is_erased_with_all_its_versions(knowledge: Knowledge) -> None:
    """Any version names the whole fact; what it had closed reopens."""
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    told = knowledge.tell("Anna", "WORKS_FOR", CANARY, 2022)
    service.update_fact(knowledge.connection, OWNER, str(told.facts[0]), f"Anna leads {CANARY}", now=knowledge.later())
    service.erase_fact(knowledge.connection, OWNER, str(told.facts[0]), now=knowledge.later())
    assert knowledge.timeline() == [("ACME", 2020, None)]
    assert CANARY not in knowledge.everything()
    with pytest.raises(NotFound):
        service.erase_fact(knowledge.connection, OWNER, str(told.facts[0]), now=knowledge.later())


def test_an_entity_is_erased_with_its_facts(knowledge: Knowledge) -> None:
    """Neighbours that nothing else supports go too, others stay."""
    knowledge.tell("Anna", "WORKS_FOR", CANARY, 2022)
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell(CANARY, "MAKES", "chairs", 2020)
    removal = service.erase_node(knowledge.connection, OWNER, knowledge.entities[CANARY], now=knowledge.later())
    assert set(removal.nodes) == {knowledge.entities[CANARY], knowledge.entities["chairs"]}
    assert knowledge.timeline() == [("ACME", 2020, None)]
    assert CANARY not in knowledge.everything()


def test_people_and_the_owner_are_not_dropped_with_their_facts(knowledge: Knowledge) -> None:
    """A person is kept by his profile, the owner by being the owner."""
    owner = store.ensure_owner_node(knowledge.connection, OWNER, "Оля", knowledge.now)
    knowledge.entities |= {"user": owner.id}
    petrov = knowledge.entity("Petrov", type="person")
    row = {"user_id": OWNER, "entity_id": petrov, "display_name": "Petrov", "aliases": [], "circle": "Other", "bio": ""}
    stored = insert(people).values(**row, first_seen=NOON, last_seen=NOON, rev=1, field_meta={})
    knowledge.connection.execute(stored)
    knowledge.tell("user", "KNOWS", "Petrov", 2020)
    removal = service.remove_episode_claims(
        knowledge.connection, OWNER, episode_of(knowledge, "Petrov"), now=knowledge.later()
    )
    assert knowledge.facts() == []
    assert removal.nodes == []


def test_a_fact_can_be_hidden_and_shown_again(knowledge: Knowledge) -> None:
    """While a forgetting can be undone its facts are in no list, at no moment and by no id."""
    episode = knowledge.episode("Anna works for ACME and likes tea")
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=episode)
    knowledge.tell("Anna", "LIKES", "tea", 2020, episode=episode)
    knowledge.tell("Anna", "LIKES", "tea", 2020)
    [works, *_] = [one.id for one in knowledge.facts() if one.target_name == "ACME"]
    hidings.hide(knowledge.connection, OWNER, "asked", "edge", [works])
    assert [one.target_name for one in knowledge.facts()] == ["tea"]
    assert [one.target_name for one in knowledge.facts(known_at=knowledge.now)] == ["tea"]
    with pytest.raises(NotFound):
        service.fact(knowledge.connection, OWNER, works)
    assert hidings.end_hiding(knowledge.connection, OWNER, "asked")["edge"] == {works}
    assert len(knowledge.facts()) == 2
