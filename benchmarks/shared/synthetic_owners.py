"""Synthetic owners for recall benchmarks: random words and vectors, stored as the services store them.

Every text is of one of a few hundred topics: half of its words and most of its vector are the topic's own. A question
takes both from its topic, so that messages, facts, memories and people are found for it, and a prompt becomes full.
The words of 100,000 messages are analysed as a vocabulary, each once: through the language process it would take hours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, insert, select

from internal.language.search.message_traits import traits_of
from internal.language.search.terms import ANALYZER, document_terms
from internal.language.text.spelling import name_key
from internal.llm.model import Vectors
from internal.people.model import Circle
from internal.storage.database import Database
from internal.storage.search_items import text_hash
from internal.storage.tables import (
    claims,
    episodes,
    evidence,
    facts,
    graph_edges,
    graph_nodes,
    messages,
    name_keys,
    people,
    search_items,
    users,
    vectors,
)
from internal.storage.vectors import made_by, to_blob

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
MODEL = "benchmark"
CHUNK = 2_000
TOPICS = 400
TOPIC_WORDS = 24
COMMON_WORDS = 2_000
SESSION = 20
"""Messages of one conversation, of one topic; each is a fragment."""

_OWN_SHARE = 0.7
_SYLLABLES = tuple(
    [first + vowel for first in consonants for vowel in vowels]
    for consonants, vowels in (("bdgklmnprstvz", "aeo"), ("бдгклмнпрств", "аео"))
)
_MONTHS = ("in May", "в июне", "у березні", "last October", "вчера", "in 2025")


@dataclass(frozen=True, slots=True)
class Size:
    """How much one owner has. A message without `embedded_messages` has no vector."""

    messages: int
    facts: int
    people: int
    memories: int
    embedded_messages: bool = True

    @classmethod
    def of(cls, messages: int, embedded_messages: bool = True) -> Size:
        """In the proportions of 100,000 messages, 20,000 facts and 1,000 people."""
        return cls(messages, messages // 5, max(1, messages // 100), messages // 50, embedded_messages)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    vector: Any


class Language:
    """The made-up words, their terms, and what each topic is about; the same ones every time."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        chance = random.Random(11)
        count = COMMON_WORDS + TOPICS * TOPIC_WORDS
        made = dict.fromkeys(_word(chance) for _ in range(count * 2))
        self.words = list(islice(made, count))
        self._terms = dict(zip(self.words, document_terms(self.words), strict=True))
        self._rank = [1 / place for place in range(1, COMMON_WORDS + 1)]
        self.centres = unit(np.random.default_rng(11).standard_normal((TOPICS, dimensions)))

    def text(self, topic: int, length: int, chance: random.Random) -> list[str]:
        own = self.words[COMMON_WORDS + topic * TOPIC_WORDS : COMMON_WORDS + (topic + 1) * TOPIC_WORDS]
        common = chance.choices(self.words[:COMMON_WORDS], self._rank, k=length - length // 2)
        found = [*chance.choices(own, k=length // 2), *common]
        chance.shuffle(found)
        return found

    def terms(self, words: Sequence[str]) -> str:
        return " ".join(term for word in words if (term := self._terms.get(word, name_key(word))))

    def about(self, topics: Sequence[int], seed: int) -> Vectors:
        """A vector for each of these topics, shape (topics, dimensions)."""
        own = unit(np.random.default_rng(seed).standard_normal((len(topics), self.dimensions)))
        return unit(_OWN_SHARE * self.centres[list(topics)] + _OWN_SHARE * own)

    def questions(self, count: int, seed: int, people: int = 0) -> list[Question]:
        """Different questions: words of a topic, and of some a name of one of the `people`, or a date."""
        chance = random.Random(seed)
        topics = [chance.randrange(TOPICS) for _ in range(count)]
        made = self.about(topics, seed)
        texts = []
        for number, topic in enumerate(topics):
            words = self.text(topic, 6, chance)
            if people and number % 3 == 0:
                words.append(person_name(chance.randrange(people)))
            if number % 4 == 0:
                words.append(chance.choice(_MONTHS))
            texts.append(" ".join(words) + "?")
        return [Question(text, vector) for text, vector in zip(texts, made, strict=True)]


def _word(chance: random.Random) -> str:
    syllables = chance.choice(_SYLLABLES)
    return "".join(chance.choices(syllables, k=3)) + chance.choice("nt" if syllables[0] == "ba" else "нт")


def unit(rows: Any) -> Vectors:
    found: Vectors = np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
    return found


def person_name(number: int) -> str:
    chance = random.Random(number)
    first, last = (chance.choices(_SYLLABLES[number % 2], k=3) for _ in range(2))
    return f"{''.join(first).title()} {''.join(last).title()}"


class Life:
    """One owner's rows. `texts` and `matrix` are what was stored, for a bare search of the same."""

    def __init__(self, owner: int, size: Size, language: Language) -> None:
        self.owner, self.size, self.language = owner, size, language
        self._chance = random.Random(owner)

    async def store(self, database: Database) -> None:
        """In steps of some thousand rows."""
        await database.write(self._owner)
        steps = (
            (self._messages, self.size.messages),
            (self._people, self.size.people),
            (self._facts, self.size.facts),
            (self._memories, self.size.memories),
        )
        for step, count in steps:
            for start in range(0, count, CHUNK):
                await database.write(partial(step, chosen=range(start, min(start + CHUNK, count))))

    def _owner(self, connection: Connection) -> None:
        row = {"user_id": self.owner, "role": "owner", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
        counted = {"next_seq": self.size.messages + 1, "next_rev": 2}
        connection.execute(insert(users).values(**row, **counted, settings={}, created_at=NOW))

    def _messages(self, connection: Connection, chosen: range) -> None:
        topics = [random.Random(self.owner * 7 + number // SESSION).randrange(TOPICS) for number in chosen]
        texts = [self.language.text(topic, self._chance.randint(6, 20), self._chance) for topic in topics]
        rows = []
        for number in chosen:
            at = NOW - timedelta(
                minutes=(self.size.messages - number) * 2 + (self.size.messages - number) // SESSION * 400
            )
            row = {"seq": number + 1, "id": f"{self.owner}m{number}", "role": "assistant" if number % 2 else "user"}
            row |= {"content": " ".join(texts[number - chosen[0]]), "timestamp": at, "chat_id": self.owner, "rev": 1}
            rows.append(row | {"episode_id": f"{self.owner}e{number // SESSION}", "user_id": self.owner})
        _put(connection, messages, rows)
        first = [number for number in chosen if number % SESSION == 0]
        _put(connection, episodes, [self._episode(rows[number - chosen[0]], number) for number in first])
        named = [(row["id"], words) for row, words in zip(rows, texts, strict=True)]
        self._findable(connection, "message", named, topics, embedded=self.size.embedded_messages)
        some = [(f"{self.owner}e{number // SESSION}", texts[number - chosen[0]]) for number in first]
        self._findable(connection, "episode", some, [topics[number - chosen[0]] for number in first])

    def _episode(self, row: dict[str, Any], number: int) -> dict[str, Any]:
        episode = {"id": row["episode_id"], "source": "message", "name": "", "content": "", "source_description": ""}
        times = {"reference_time": row["timestamp"], "created_at": row["timestamp"]}
        return {"user_id": self.owner, "first_seq": number + 1, "last_seq": number + SESSION} | episode | times

    def _people(self, connection: Connection, chosen: range) -> None:
        topics = [number % TOPICS for number in chosen]
        texts = [
            [*person_name(number).split(), *self.language.text(topic, 10, self._chance)]
            for number, topic in zip(chosen, topics, strict=True)
        ]
        first, circles = self.owner * 1_000_000, tuple(Circle)
        every = {"user_id": self.owner, "first_seen": NOW, "last_seen": NOW, "mention_count": 3, "rev": 1}
        every |= {"aliases": [], "field_meta": {}}
        rows: list[dict[str, Any]] = []
        for number, words in zip(chosen, texts, strict=True):
            row = {"id": first + number, "entity_id": f"{self.owner}p{number}", "display_name": person_name(number)}
            # Of the inner circle, which stands in every prompt, as many as people have.
            circle = circles[number % 2] if number < 20 else circles[2 + number % 3]
            rows.append(every | row | {"circle": circle.value, "bio": " ".join(words[2:])})
        _put(connection, people, rows)
        keys = {"user_id": self.owner, "kind": "name", "set_by": "archivist"}
        _put(
            connection,
            name_keys,
            [keys | {"key": name_key(row["display_name"]), "entity_id": row["entity_id"]} for row in rows],
        )
        given = [(row["entity_id"], "Entity", {"name": row["display_name"], "type": "person"}) for row in rows]
        self._nodes(connection, given)
        self._findable(
            connection, "person", [(str(row["id"]), words) for row, words in zip(rows, texts, strict=True)], topics
        )

    def _facts(self, connection: Connection, chosen: range) -> None:
        topics = [self._chance.randrange(TOPICS) for _ in chosen]
        texts = [self.language.text(topic, self._chance.randint(5, 9), self._chance) for topic in topics]
        edges, stated, said, receipts = [], [], [], []
        for number, words in zip(chosen, texts, strict=True):
            ends = [f"{self.owner}p{self._chance.randrange(self.size.people)}" for _ in range(2)]
            edge_id, text = f"{self.owner}f{number}", " ".join(words)
            edge = {
                "user_id": self.owner,
                "id": edge_id,
                "type": "FACT",
                "source": ends[0],
                "target": ends[1],
                "rev": 1,
            }
            edge |= {"source_origin": ends[0], "target_origin": ends[1], "created_at": NOW, "schema_v": 1}
            edges.append(edge | {"props": {"name": "DOES", "fact": text}})
            claim = {"user_id": self.owner, "id": f"c{edge_id}", "edge_id": edge_id, "name": "DOES", "fact": text}
            claim |= {"source": ends[0], "target": ends[1], "source_origin": ends[0], "target_origin": ends[1]}
            claim |= {"statement": text, "attributes": {}, "valid_stated": False, "said_at": NOW, "created_at": NOW}
            said.append(claim | {"set_by": "archivist"})
            fact = {"user_id": self.owner, "edge_id": edge_id, "name": "DOES", "fact": text, "claim_id": f"c{edge_id}"}
            stated.append(fact | {"attributes": {}, "set_by": "archivist"})
            message = self._chance.randrange(self.size.messages)
            receipt = {"user_id": self.owner, "target": f"claim:c{edge_id}", "segment": 1, "operation": "add"}
            receipt |= {"episode_id": f"{self.owner}e{message // SESSION}", "message_id": f"{self.owner}m{message}"}
            receipts.append(receipt)
        for table, rows in ((graph_edges, edges), (claims, said), (facts, stated), (evidence, receipts)):
            _put(connection, table, rows)
        self._findable(
            connection, "fact", [(edge["id"], words) for edge, words in zip(edges, texts, strict=True)], topics
        )

    def _memories(self, connection: Connection, chosen: range) -> None:
        topics = [self._chance.randrange(TOPICS) for _ in chosen]
        texts = [self.language.text(topic, self._chance.randint(5, 9), self._chance) for topic in topics]
        named = [(f"{self.owner}n{number}", words) for number, words in zip(chosen, texts, strict=True)]
        given = ((node_id, " ".join(words)) for node_id, words in named)
        self._nodes(connection, [(one, "Memory", {"content": text, "summary": text}) for one, text in given])
        self._findable(connection, "node", named, topics)

    def _nodes(self, connection: Connection, texts: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
        every = {"user_id": self.owner, "created_at": NOW, "schema_v": 1, "rev": 1, "field_meta": {}}
        rows = []
        for node_id, label, given in texts:
            name = given.get("name")
            names = {"name": name, "name_key": name_key(name) if name else None, "subtype": given.get("type")}
            rows.append(every | {"id": node_id, "label": label, "props": given} | names)
        _put(connection, graph_nodes, rows)

    def _findable(
        self,
        connection: Connection,
        kind: str,
        texts: Sequence[tuple[str, Sequence[str]]],
        topics: Sequence[int],
        *,
        embedded: bool = True,
    ) -> None:
        by = made_by(MODEL, self.language.dimensions) if embedded else None
        every = {"user_id": self.owner, "kind": kind, "rev": 1, "analyzer": ANALYZER, "embedded": by}
        rows = []
        for ref_id, words in texts:
            text = " ".join(words)
            row = {"item": f"{kind}:{ref_id}", "ref_id": ref_id, "text": text, "terms": self.language.terms(words)}
            row |= {"traits": traits_of(text) if kind == "message" else None}
            rows.append(every | row | dict.fromkeys(("text_hash", "terms_hash"), text_hash(text)))
        _put(connection, search_items, rows)
        if embedded and rows:
            made = self.language.about(topics, self._chance.randrange(1 << 30))
            stored = {"user_id": self.owner, "model": MODEL, "dim": self.language.dimensions}
            of = zip(rows, made, strict=True)
            given = ({"item": row["item"], "text_hash": row["text_hash"], "vec": to_blob(vector)} for row, vector in of)
            _put(connection, vectors, [stored | one for one in given])


def _put(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def stored_matrix(connection: Connection, owner: int, dimensions: int) -> Vectors:
    """Every vector of an owner, shape (items, dimensions)."""
    of_owner = connection.execute(select(vectors.c.vec).where(vectors.c.user_id == owner)).scalars()
    found = [np.frombuffer(blob, dtype=np.float32) for blob in of_owner]
    return np.stack(found).reshape(-1, dimensions)


def stored_texts(connection: Connection, owner: int) -> Iterator[tuple[str]]:
    """Every text an owner can be asked about."""
    rows = connection.execute(select(search_items.c.text).where(search_items.c.user_id == owner))
    return (tuple(row) for row in rows)
