"""Claims that are recorded become facts with times, receipts and questions."""

from __future__ import annotations

import pytest
from support.knowledge.knowledge_stage import OWNER, STRANGER, Knowledge, year

from internal.errors import Conflict, NotFound, Refused
from internal.events import repository as events
from internal.graph import store
from internal.knowledge import service
from internal.knowledge.claims.changes import BOTH, NEITHER, ClaimLine, NewClaim
from internal.storage.tables import claims, search_items, suggestions


def test_a_later_job_closes_the_earlier(knowledge: Knowledge) -> None:
    """The same edge gets its end; the outcome and the events tell which."""
    first = knowledge.tell("Anna", "works at", "ACME", 2020)
    second = knowledge.tell("Anna", "EMPLOYED_BY", "Beta", 2022)
    assert knowledge.timeline() == [("ACME", 2020, 2022), ("Beta", 2022, None)]
    assert second.changes.closed == list(first.facts)
    told = events.listing(knowledge.connection, OWNER, event_type="fact_closed")
    assert [event.payload for event in told] == [{"ids": list(first.facts)}]


def test_late_history_is_closed_at_birth(knowledge: Knowledge) -> None:
    """What is older than what is known is over from the start, and leaves it alone."""
    knowledge.tell("Anna", "WORKS_FOR", "Beta", 2022)
    late = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    assert knowledge.timeline() == [("ACME", 2020, 2022), ("Beta", 2022, None)]
    assert late.changes.created == late.changes.closed == list(late.facts)


def test_the_same_again_is_the_same_edge(knowledge: Knowledge) -> None:
    """A fact told again keeps its id and gains an episode; the citation says that it was referenced."""
    first = knowledge.tell("Anna", "LIKES", "tea", 2020)
    again = knowledge.tell("Anna", "LIKES", "tea", 2021)
    assert again.facts == first.facts == again.referenced
    fact = knowledge.current("tea")
    assert len(fact.episodes) == 2
    assert fact.valid_at == year(2020)
    citations = service.citations_of_facts(knowledge.connection, OWNER, [fact.id])[fact.id]
    assert [one.operation for one in citations] == ["created", "referenced"]


def test_other_words_are_a_new_version(knowledge: Knowledge) -> None:
    """The old edge expires, the new one follows it and knows its text."""
    first = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    second = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, text="Anna leads the sales of ACME")
    fact = knowledge.current("ACME")
    assert second.changes.updated == [fact.id] != list(first.facts)
    assert (fact.supersedes, fact.original_fact) == (first.facts[0], "Anna works for ACME")
    versions = service.history(knowledge.connection, OWNER, fact.id)
    assert [one.fact for one in versions] == ["Anna works for ACME", "Anna leads the sales of ACME"]
    assert [len(one.episodes) for one in versions] == [1, 2]


def test_each_claim_is_refused_alone(knowledge: Knowledge) -> None:
    """No support, no write; what is refused names its reason, and the rest is recorded."""
    anna, acme = knowledge.entity("Anna"), knowledge.entity("ACME")
    episode, now = knowledge.episode("Anna works for ACME"), knowledge.now
    line = [ClaimLine(1, "Anna works for ACME")]
    given = [
        NewClaim(anna, "KNOWS", acme, "Anna knows ACME", now, episode_id=episode),
        NewClaim(anna, "KNOWS", anna, "Anna knows herself", now, episode_id=episode, lines=line),
        NewClaim(anna, "KNOWS", "nobody", "Anna knows nobody", now, episode_id=episode, lines=line),
        NewClaim(anna, "KNOWS", acme, "Anna knows", now, year(2020), True, year(2019), episode_id=episode, lines=line),
        NewClaim(anna, "?", acme, "Anna knows", now, episode_id=episode, lines=line),
        NewClaim(anna, "KNOWS", acme, "!", now, episode_id=episode, lines=line),
        NewClaim(anna, "WORKS_FOR", acme, "Anna works for ACME", now, now, episode_id=episode, lines=line),
    ]
    outcome = service.record_claims(knowledge.connection, OWNER, given, now=now)
    expected = ["no_support", "self_loop", "unknown_node", "interval", "relation_name", "empty_fact"]
    assert [refusal.reason for refusal in outcome.refused] == expected
    assert len(outcome.facts) == len(knowledge.facts()) == 1


def test_a_claim_of_another_owners_node_is_refused(knowledge: Knowledge) -> None:
    """Nobody can say anything about a node that is not his."""
    anna, acme = knowledge.entity("Anna"), knowledge.entity("ACME")
    line = [ClaimLine(1, "x")]
    claim = NewClaim(anna, "KNOWS", acme, "Anna knows", knowledge.now, episode_id="e", lines=line)
    outcome = service.record_claims(knowledge.connection, STRANGER, [claim], now=knowledge.now)
    assert [refusal.reason for refusal in outcome.refused] == ["unknown_node"]


def test_the_same_claim_of_one_episode_is_stored_once(knowledge: Knowledge) -> None:
    """A reply that is applied again changes nothing."""
    episode = knowledge.episode("Anna works for ACME")
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=episode)
    before = knowledge.everything()
    again = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=episode)
    assert again.changes.counts() == {}
    assert knowledge.everything() == before


def test_every_fact_can_be_searched_by_its_words_and_names(knowledge: Knowledge) -> None:
    """The text of a fact's search item holds its words, and the names that they leave out."""
    outcome = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, text="She leads the sales")
    items = {row["item"]: row["text"] for row in knowledge.rows(search_items)}
    assert items[f"fact:{outcome.facts[0]}"].split("\n") == ["She leads the sales", "Anna", "ACME"]


def test_as_of_and_known_at_are_two_questions(knowledge: Knowledge) -> None:
    """What held in 2021 is one thing, what was known before a message another; both can be asked at once."""
    knowledge.tell("Anna", "WORKS_FOR", "Beta", 2022)
    before = knowledge.now
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell("Anna", "WORKS_FOR", "Gamma", 2024)
    assert [one.target_name for one in knowledge.facts(as_of=year(2021))] == ["ACME"]
    assert [one.target_name for one in knowledge.facts(as_of=year(2023))] == ["Beta"]
    assert knowledge.timeline(known_at=before) == [("Beta", 2022, None)]
    assert knowledge.facts(known_at=before, as_of=year(2021)) == []
    assert [one.target_name for one in knowledge.facts(known_at=before, as_of=year(2025))] == ["Beta"]
    assert [one.target_name for one in knowledge.facts()] == ["Gamma"]


def test_the_words_of_then_are_known_then(knowledge: Knowledge) -> None:
    """Before a correction the old version was known, under its own id."""
    first = knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    before = knowledge.later()
    service.update_fact(
        knowledge.connection, OWNER, str(first.facts[0]), "Anna lives in Podil, Kyiv", now=knowledge.later()
    )
    (then,) = knowledge.facts(known_at=before)
    assert (then.id, then.fact, then.expired_at) == (first.facts[0], "Anna lives in Kyiv", None)
    found = service.facts(
        knowledge.connection, OWNER, [knowledge.current("Kyiv").id],
        wanted=service.FactFilter(known_at=before), now=knowledge.now,
    )  # fmt: skip
    assert [one.id for one in found.values()] == [first.facts[0]]


def test_facts_are_filtered_by_relation_type_and_end(knowledge: Knowledge) -> None:
    """Relations in any spelling, types of an end, one entity."""
    knowledge.entity("ACME", type="organization")
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell("Anna", "LIKES", "tea", 2020)
    knowledge.tell("Boris", "LIKES", "coffee", 2021)
    assert knowledge.timeline(relations=["works at"]) == [("ACME", 2020, None)]
    assert knowledge.timeline(entity_types=["organization"]) == [("ACME", 2020, None)]
    assert knowledge.timeline(node_id=knowledge.entity("coffee")) == [("coffee", 2021, None)]
    wanted = service.FactFilter(relations=["LIKES"])
    assert service.count_facts(knowledge.connection, OWNER, wanted, now=knowledge.now) == 2
    assert service.facts_about(knowledge.connection, STRANGER, wanted, now=knowledge.now) == []


def test_a_soft_update_keeps_what_it_replaces(knowledge: Knowledge) -> None:
    """The old version expires; the new one has a new id, the episodes, the previous text and the reason."""
    first = knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020, role="home")
    fact_id = str(first.facts[0])
    old, new = service.update_fact(
        knowledge.connection, OWNER, fact_id, "Anna lives in Lviv",
        reason="misheard", target_id=knowledge.entity("Lviv"), attributes={"sure": True, "role": None},
        now=knowledge.later(),
    )  # fmt: skip
    assert (old.id, old.expired_at) == (fact_id, knowledge.now)
    assert (new.original_fact, new.update_reason, new.updated_at) == ("Anna lives in Kyiv", "misheard", knowledge.now)
    assert (new.target_name, new.valid_at, new.attributes, new.set_by) == ("Lviv", year(2020), {"sure": True}, "owner")
    assert new.episodes == old.episodes
    assert len(new.episodes) == 1
    assert knowledge.timeline() == [("Lviv", 2020, None)]
    assert [one.id for one in service.history(knowledge.connection, OWNER, fact_id)] == [old.id, new.id]


def test_an_expired_fact_is_not_updated(knowledge: Knowledge) -> None:
    """Only the newest version can be corrected; an unknown one or another owner's is not found."""
    fact_id = str(knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020).facts[0])
    service.update_fact(knowledge.connection, OWNER, fact_id, "Anna lives in Podil", now=knowledge.later())
    with pytest.raises(Conflict, match="expired"):
        service.update_fact(knowledge.connection, OWNER, fact_id, "Anna lives there", now=knowledge.later())
    for user_id, asked in ((OWNER, "nothing"), (STRANGER, fact_id)):
        with pytest.raises(NotFound):
            service.update_fact(knowledge.connection, user_id, asked, "Anna", now=knowledge.later())
    with pytest.raises(Refused, match="fact"):
        service.update_fact(knowledge.connection, OWNER, knowledge.current("Kyiv").id, " ", now=knowledge.later())


def test_the_owners_correction_is_not_overruled(knowledge: Knowledge) -> None:
    """A model that claims otherwise later opens a question instead of closing the owner's word."""
    fact_id = str(knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020).facts[0])
    service.update_fact(knowledge.connection, OWNER, fact_id, "Anna lives in Kyiv, really", now=knowledge.later())
    later = knowledge.tell("Anna", "LIVES_IN", "Lviv", 2022)
    assert knowledge.timeline() == [("Kyiv", 2020, None), ("Lviv", 2022, None)]
    assert len(later.changes.contradictions) == 1


def question(knowledge: Knowledge) -> tuple[str, dict[str, str]]:
    """The one open contradiction, and its facts by the names of their targets."""
    (found,) = service.open_contradictions(knowledge.connection, OWNER)
    sides = service.facts(knowledge.connection, OWNER, found.facts, now=knowledge.now)
    return found.id, {fact.target_name: fact.id for fact in sides.values()}


def test_an_unknown_date_is_asked_about(knowledge: Knowledge) -> None:
    """Both facts stand, a node names them, and a question waits for the owner."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    knowledge.tell("Anna", "LIVES_IN", "Lviv")
    assert knowledge.timeline() == [("Lviv", None, None), ("Kyiv", 2020, None)]
    node_id, sides = question(knowledge)
    assert set(sides) == {"Kyiv", "Lviv"}
    node = store.get_node(knowledge.connection, OWNER, node_id)
    assert node is not None
    assert (node.label, node.properties["status"]) == ("Contradiction", "unresolved")
    asked = [(row["kind"], row["state"], row["payload"]) for row in knowledge.rows(suggestions)]
    assert asked == [("contradiction", "pending", {"contradiction": node_id})]


def test_a_later_claim_settles_a_question(knowledge: Knowledge) -> None:
    """When the date becomes known nobody needs to be asked any more."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    knowledge.tell("Anna", "LIVES_IN", "Lviv")
    node_id, _ = question(knowledge)
    settled = knowledge.tell("Anna", "LIVES_IN", "Lviv", 2022)
    assert settled.changes.settled == [node_id]
    assert knowledge.timeline() == [("Kyiv", 2020, 2022), ("Lviv", 2022, None)]
    assert service.open_contradictions(knowledge.connection, OWNER) == []
    assert [row["state"] for row in knowledge.rows(suggestions)] == ["stale"]


def test_a_question_goes_on_as_one(knowledge: Knowledge) -> None:
    """A third side joins the question that is open; the owner is not asked twice."""
    for index in ("Kyiv", "Lviv", "Odesa"):
        knowledge.tell("Anna", "LIVES_IN", index, 2020)
    _, sides = question(knowledge)
    assert set(sides) == {"Kyiv", "Lviv", "Odesa"}
    assert len(knowledge.rows(suggestions)) == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("Kyiv", [("Kyiv", 2020, None)]),
        ("Lviv", [("Lviv", 2020, None)]),
        (BOTH, [("Kyiv", 2020, None), ("Lviv", 2020, None)]),
        (NEITHER, []),
    ],
)
def test_the_owner_settles_a_question(
    knowledge: Knowledge, choice: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    """The chosen side holds, the other is not held any more; the question is answered once."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    knowledge.tell("Anna", "LIVES_IN", "Lviv", 2020)
    node_id, sides = question(knowledge)
    answer = sides.get(choice, choice)
    service.resolve_contradiction(knowledge.connection, OWNER, node_id, answer, now=knowledge.later())
    assert knowledge.timeline() == expected
    assert service.open_contradictions(knowledge.connection, OWNER) == []
    assert [row["state"] for row in knowledge.rows(suggestions)] == ["accepted"]
    with pytest.raises(NotFound):
        service.resolve_contradiction(knowledge.connection, OWNER, node_id, answer, now=knowledge.later())


def test_a_chosen_fact_ends_what_was_before(knowledge: Knowledge) -> None:
    """Asked about an unknown date, the owner picks the new home: the old one ended when that was said."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    knowledge.tell("Anna", "LIVES_IN", "Lviv")
    node_id, sides = question(knowledge)
    service.resolve_contradiction(knowledge.connection, OWNER, node_id, sides["Lviv"], now=knowledge.later())
    assert knowledge.timeline() == [("Lviv", None, None), ("Kyiv", 2020, 2026)]
    assert service.open_contradictions(knowledge.connection, OWNER) == []


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("Paris", [("Paris", 2025, None)]),
        ("Berlin", [("Paris", 2025, 2026), ("Berlin", 2026, None)]),
        (BOTH, [("Paris", 2025, None), ("Berlin", 2026, None)]),
        (NEITHER, []),
    ],
)
def test_news_about_an_earlier_time_is_asked_about_once(
    knowledge: Knowledge, choice: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    """Told "lives in Berlin", then "moved to Paris last year", the owner says which holds, and is asked no more."""
    knowledge.tell("Anna", "LIVES_IN", "Berlin", 2026, stated=False)
    knowledge.tell("Anna", "LIVES_IN", "Paris", 2025)
    assert knowledge.timeline() == [("Paris", 2025, 2026), ("Berlin", 2026, None)]
    node_id, sides = question(knowledge)
    service.resolve_contradiction(
        knowledge.connection, OWNER, node_id, sides.get(choice, choice), now=knowledge.later()
    )
    assert knowledge.timeline() == expected
    knowledge.tell("Anna", "LIVES_IN", "Rome", 2010)
    assert service.open_contradictions(knowledge.connection, OWNER) == []


def test_a_choice_that_is_no_side_is_refused(knowledge: Knowledge) -> None:
    """Only a side, both or neither can be the answer."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv", 2020)
    knowledge.tell("Anna", "LIVES_IN", "Lviv", 2020)
    node_id, _ = question(knowledge)
    with pytest.raises(Refused, match="choice"):
        service.resolve_contradiction(knowledge.connection, OWNER, node_id, "maybe", now=knowledge.later())


def test_a_merge_joins_facts_and_a_split_parts_them(knowledge: Knowledge) -> None:
    """Two entities that turn out to be one have one timeline; taken apart each has its own again."""
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell("Anya", "WORKS_FOR", "Beta", 2022)
    knowledge.tell("Anya", "WORKS_FOR", "ACME", 2019)
    anna, anya = knowledge.entity("Anna"), knowledge.entity("Anya")
    before = sorted(knowledge.timeline(), key=str)
    moved = store.repoint(knowledge.connection, OWNER, anya, anna)
    store.redirect_node(knowledge.connection, OWNER, anya, anna)
    service.reproject(knowledge.connection, OWNER, [anna, anya], now=knowledge.later())
    assert knowledge.timeline() == [("ACME", 2019, 2022), ("Beta", 2022, None)]
    store.redirect_node(knowledge.connection, OWNER, anya, None)
    store.restore_ends(knowledge.connection, OWNER, anya, anna, [anya], moved)
    service.reproject(knowledge.connection, OWNER, [anna, anya], now=knowledge.later())
    assert sorted(knowledge.timeline(), key=str) == before


def test_a_split_leaves_nothing_with_the_one_whose_words_were_forgotten(knowledge: Knowledge) -> None:
    """Of one fact that two had told of, only the other's claim is left: taken apart, it is the other's alone."""
    knowledge.tell("Anna", "LIVES_IN", "Kyiv")
    knowledge.tell("Anya", "LIVES_IN", "Kyiv")
    anna, anya = knowledge.entity("Anna"), knowledge.entity("Anya")
    moved = store.repoint(knowledge.connection, OWNER, anya, anna)
    store.redirect_node(knowledge.connection, OWNER, anya, anna)
    service.reproject(knowledge.connection, OWNER, [anna, anya], now=knowledge.later())
    annas = next(row["episode_id"] for row in knowledge.rows(claims) if row["source_origin"] == anna)
    service.remove_episode_claims(knowledge.connection, OWNER, annas, now=knowledge.later())
    store.redirect_node(knowledge.connection, OWNER, anya, None)
    store.restore_ends(knowledge.connection, OWNER, anya, anna, [anya], moved)
    service.reproject(knowledge.connection, OWNER, [anna, anya], now=knowledge.later())
    assert [fact.source for fact in knowledge.facts()] == [anya]
