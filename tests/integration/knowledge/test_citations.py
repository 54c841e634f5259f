"""Receipts: the episodes and the very lines from which facts and entities come, and the episodes themselves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import insert
from support.knowledge.knowledge_stage import NOON, OWNER, STRANGER, Knowledge

from internal.errors import NotFound
from internal.knowledge import episode_repository, service
from internal.knowledge.claims.changes import ClaimLine
from internal.knowledge.model import Episode, Segment
from internal.storage.tables import messages, runs

URL = "https://example.org/a,b?c=1"


def message(knowledge: Knowledge, seq: int, text: str, **changes: Any) -> str:
    """Stores one message of the log; its id."""
    row = {
        "user_id": OWNER,
        "seq": seq,
        "id": f"m{seq}",
        "role": "user",
        "content": text,
        "timestamp": NOON + timedelta(minutes=seq),
        "rev": seq,
    }
    knowledge.connection.execute(insert(messages).values(row | changes))
    return f"m{seq}"


def fragment(knowledge: Knowledge, *message_ids: str) -> str:
    """Stores an episode of these messages; its id."""
    episode = Episode(
        user_id=OWNER, id="fragment", source="message", name="fragment", content="", source_description="Telegram",
        source_url=None, reference_time=NOON, created_at=NOON, first_seq=1, last_seq=len(message_ids),
    )  # fmt: skip
    parts = [Segment(n, NOON, None, message_id) for n, message_id in enumerate(message_ids, 1)]
    episode_repository.add_episode(knowledge.connection, episode, parts)
    return episode.id


def test_each_line_tells_who_said_it_and_where_it_stands(knowledge: Knowledge) -> None:
    """Own words, a forward with its origin, and a message of a supergroup with its link; private chats have none."""
    group = {"chat_id": -1001234567890, "tg_id": 77}
    forward = {"forward": {"kind": "user", "name": "Boris", "user_id": 5, "username": None, "date": None}}
    ids = [
        message(knowledge, 1, "Anna works for ACME, I think", chat_id=OWNER, tg_id=5),
        message(knowledge, 2, "ACME has hired Anna", **forward),
        message(knowledge, 3, "yes, ACME", **group),
    ]
    episode = fragment(knowledge, *ids)
    lines = [
        ClaimLine(n, quote, ids[n - 1]) for n, quote in ((3, "yes, ACME"), (1, "Anna works for ACME"), (2, "ACME"))
    ]
    outcome = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=episode, lines=lines)
    found = service.evidence_of_fact(knowledge.connection, OWNER, str(outcome.facts[0]))
    assert [(line.message_id, line.quote, line.speaker, line.forwarded_from) for line in found] == [
        ("m1", "Anna works for ACME", "Оля", None),
        ("m2", "ACME", "Оля", "Boris"),
        ("m3", "yes, ACME", "Оля", None),
    ]
    assert [line.telegram_link for line in found] == [None, None, "https://t.me/c/1234567890/77"]
    with pytest.raises(NotFound):
        service.evidence_of_fact(knowledge.connection, STRANGER, str(outcome.facts[0]))


def test_a_citation_shows_the_url_whole(knowledge: Knowledge) -> None:
    """The column is shown, since the specified expression cuts at a comma; the description holds it as on the wire."""
    episode = knowledge.episode("Anna works for ACME", url=URL)
    outcome = knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=episode)
    (fact_id,) = outcome.facts
    (citation,) = service.citations_of_facts(knowledge.connection, OWNER, [str(fact_id)])[str(fact_id)]
    assert (citation.episode_uuid, citation.source, citation.source_url) == (episode, "text", URL)
    assert citation.source_description == f"notes, source_url: {URL}"
    assert citation.operation == "created"


def test_a_foreign_description_gives_its_url(knowledge: Knowledge) -> None:
    """An episode without the column is read by the specified expression."""
    episode = knowledge.episode("x", description="issue, source_url: https://example.org/1, by Anna")
    fact_id = str(knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=episode).facts[0])
    (citation,) = service.citations_of_facts(knowledge.connection, OWNER, [fact_id])[fact_id]
    assert citation.source_url == "https://example.org/1"


def test_the_chain_of_an_entity_names_each_episode_once(knowledge: Knowledge) -> None:
    """Created, updated, referenced: the strongest of each episode, in the order of time."""
    acme = knowledge.entity("ACME")
    first, second = knowledge.episode("ACME is a firm"), knowledge.episode("ACME, a large firm")
    service.cite_node(knowledge.connection, OWNER, acme, first, {1: None}, operation="created")
    service.cite_node(knowledge.connection, OWNER, acme, second, {1: None}, operation="updated")
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020, episode=second)
    knowledge.tell("Boris", "WORKS_FOR", "ACME", 2021)
    chain = service.citation_chain(knowledge.connection, OWNER, acme)
    assert [one.operation for one in chain] == ["created", "updated", "referenced"]
    assert [one.episode_uuid for one in chain][:2] == [first, second]


def test_the_content_of_a_fragment_is_that_of_its_messages(knowledge: Knowledge) -> None:
    """It is put together when it is asked for; a text episode has its own."""
    ids = [message(knowledge, 1, "Привіт"), message(knowledge, 2, "Вітаю!", role="assistant")]
    episode = episode_repository.episode(knowledge.connection, OWNER, fragment(knowledge, *ids))
    assert episode is not None
    assert service.episode_content(knowledge.connection, OWNER, episode) == "Оля: Привіт\nassistant: Вітаю!"
    text = episode_repository.episode(knowledge.connection, OWNER, knowledge.episode("one", "two"))
    assert text is not None
    assert service.episode_content(knowledge.connection, OWNER, text) == "one\ntwo"


@pytest.mark.parametrize(("name", "told"), [("Boris", "Boris"), ("", "somebody else")])
def test_a_forward_is_told_as_its_authors_word(knowledge: Knowledge, name: str, told: str) -> None:
    """Whoever reads an episode, a model too, must not take "I" in a forward for the owner."""
    forward = {"kind": "hidden_user", "name": name, "user_id": None, "username": None, "date": None}
    episode = episode_repository.episode(
        knowledge.connection, OWNER, fragment(knowledge, message(knowledge, 1, "I live in Rome", forward=forward))
    )
    assert episode is not None
    content = service.episode_content(knowledge.connection, OWNER, episode)
    assert content == f"Оля (forwarded from {told}): I live in Rome"


def test_an_episode_is_processed_when_its_last_run_has_ended(knowledge: Knowledge) -> None:
    """Not while a run of it is open, and only once."""
    episode = knowledge.episode("x")
    run = {
        "id": "run", "user_id": OWNER, "agent": "archivist", "episode_id": episode, "rev": 1, "first_n": 1, "last_n": 1,
        "state": "claimed", "due_at": NOON, "created_at": NOON,
    }  # fmt: skip
    knowledge.connection.execute(insert(runs).values(run))
    assert not episode_repository.mark_processed(knowledge.connection, OWNER, episode, NOON)
    knowledge.connection.execute(runs.update().values(state="dead"))
    assert episode_repository.mark_processed(knowledge.connection, OWNER, episode, NOON)
    assert not episode_repository.mark_processed(knowledge.connection, OWNER, episode, NOON + timedelta(days=1))
    stored = episode_repository.episode(knowledge.connection, OWNER, episode)
    assert stored is not None
    assert stored.processed_at == NOON


def test_episodes_are_listed_newest_first(knowledge: Knowledge) -> None:
    """Page by page, of one source if that is asked, of one owner always."""
    told = []
    for line in "abc":
        knowledge.later()
        told.append(knowledge.episode(line))
    assert [one.id for one in episode_repository.listing(knowledge.connection, OWNER)] == told[::-1]
    assert [one.id for one in episode_repository.listing(knowledge.connection, OWNER, limit=1, offset=1)] == [told[1]]
    assert episode_repository.listing(knowledge.connection, OWNER, source="json") == []
    assert episode_repository.count(knowledge.connection, OWNER, source="text") == 3
    assert episode_repository.count(knowledge.connection, STRANGER) == 0
    assert set(episode_repository.by_ids(knowledge.connection, OWNER, told[:2])) == set(told[:2])


@given(st.text(max_size=30).filter(lambda text: "source_url:" not in text), st.sampled_from(["", "a", "path/to?x=1"]))
def test_an_embedded_url_is_read_back(description: str, path: str) -> None:
    """What is embedded as specified is found by the specified expression."""
    url = f"https://example.org/{path}"
    embedded = episode_repository.embed_source_url(description, url)
    assert embedded == (f"{description}, source_url: {url}" if description else f"source_url: {url}")
    assert episode_repository.extract_source_url(embedded) == url
    assert episode_repository.embed_source_url(description, None) == description


@pytest.mark.parametrize("description", [None, "", "no url", "source_url: ftp://x", "url: https://example.org"])
def test_a_description_without_url_gives_none(description: str | None) -> None:
    """Only http and https after the specified word count."""
    assert episode_repository.extract_source_url(description) is None


def test_an_old_version_cites_what_supported_it_then(knowledge: Knowledge) -> None:
    """Not what another target or statement had said, though a correction has made both one fact since."""
    knowledge.tell("Anna", "WORKS_FOR", "ACME", 2020)
    knowledge.tell("Boris", "WORKS_FOR", "Beta", 2024)
    knowledge.tell("Anna", "WORKS_FOR", "Beta", text="Anna works for Beta", start=2020)
    for target, text in (("rowing", "Anna likes rowing on Sundays"), ("rowing", "Anna likes to watch a race")):
        knowledge.tell("Anna", "LIKES", target, text=text)
    facts = {fact.fact: fact for fact in knowledge.facts() if fact.source == knowledge.entities["Anna"]}
    episodes = {text: fact.episodes for text, fact in facts.items()}
    for wrong, right, target in (
        ("Anna works for ACME", "Anna works for Beta", "Beta"),
        ("Anna likes rowing on Sundays", "Anna likes to watch a race", "rowing"),
    ):
        moved = {"target_id": knowledge.entities[target], "now": knowledge.later()}
        old, new = service.update_fact(knowledge.connection, OWNER, facts[wrong].id, right, **moved)
        before, after = (service.history(knowledge.connection, OWNER, new.id)[place] for place in (0, -1))
        assert (before.id, before.episodes) == (facts[wrong].id, episodes[wrong])
        assert set(after.episodes) == {*episodes[wrong], *episodes[right]}
        cited = service.citations_of_facts(knowledge.connection, OWNER, [old.id])[old.id]
        assert tuple(citation.episode_uuid for citation in cited) == episodes[wrong]
        assert [line.quote for line in service.evidence_of_fact(knowledge.connection, OWNER, old.id)] == [wrong]
