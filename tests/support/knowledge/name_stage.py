"""A reply's way from its text to nodes, as the product takes it: read, resolved, written in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert
from support.stores.stores import memory_store

from internal.agents.archivist.output import ArchivistReply, parse
from internal.agents.archivist.reply.name_matcher import NameMatcher
from internal.agents.model import TranscriptLine
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge.entities import repository as entity_repository, resolve as entities_resolve
from internal.knowledge.entities.resolve import ResolveContext
from internal.knowledge.entities.resolved_names import FactLookup, Resolution
from internal.knowledge.entities.types import EntityTypes
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.tables import users
from internal.storage.types import new_id

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
TYPES = EntityTypes([("Task", "A work item")])


@contextmanager
def memory() -> Iterator[Connection]:
    """Two owners and nothing else."""
    with memory_store() as connection:
        for user_id in (OWNER, STRANGER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
            connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield connection


def entity(name: str, *labels: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "labels": list(labels), "evidence": [1], **more}


def fact(source: Any, relation: str, target: str, **more: Any) -> dict[str, Any]:
    told = {"source": source, "relation": relation, "target": target, "fact": f"{source} {relation} {target}"}
    return {**told, "evidence": [1], **more}


def line(number: int, **more: Any) -> TranscriptLine:
    return TranscriptLine(number, "user", "Анна", NOON + timedelta(minutes=number), "...", **more)


@dataclass(slots=True)
class Stage:
    """One owner, Анна (@anna), and replies about her life. A name of a second line is a forward's."""

    connection: Connection
    resolver: NameMatcher
    user_id: int = OWNER
    lines: Sequence[TranscriptLine] = (line(1), line(2, forwarded_from="Оксана"))
    digests: list[FactLookup] = field(default_factory=list)

    def person(self, name: str, *aliases: str, username: str | None = None) -> Person:
        profile = Person(
            id=0,
            user_id=self.user_id,
            entity_id=new_id(),
            display_name=name,
            circle=Circle.OTHER,
            bio="",
            first_seen=NOON,
            last_seen=NOON,
            aliases=aliases,
            username=username,
        )
        return people.create(self.connection, profile, by="archivist", now=NOON)

    async def hears(
        self, *entities: dict[str, Any], facts: Sequence[dict[str, Any]] = (), snapshot_rev: int | None = None
    ) -> Resolution:
        """What becomes of a reply."""
        reply = self.read(entities, facts)
        known = entity_repository.known_names(self.connection, self.user_id)
        resolved = await self.resolver.resolve(reply, self.lines, known, "ru", user_id=self.user_id)
        return self.resolve(reply, resolved, snapshot_rev)

    def read(self, entities: Sequence[dict[str, Any]], facts: Sequence[dict[str, Any]]) -> ArchivistReply:
        written = json.dumps({"entities": list(entities), "facts": list(facts)}, ensure_ascii=False)
        ids = {person.id for person in people.listing(self.connection, self.user_id)}
        ids |= set(people.redirected_ids(self.connection, self.user_id))
        reply = parse(written, self.lines, ids, TYPES)
        assert not reply.refused
        return reply

    def resolve(self, reply: ArchivistReply, digest: FactLookup, snapshot_rev: int | None = None) -> Resolution:
        circumstances = ResolveContext(
            now=NOON,
            owner_name="Анна",
            owner_username="anna",
            own_lines=[one.number for one in self.lines if one.owners_word],
            run_id="run",
            snapshot_rev=people.current_rev(self.connection, self.user_id) if snapshot_rev is None else snapshot_rev,
        )
        return entities_resolve.resolve(
            self.connection, self.user_id, reply.entities, reply.facts, digest, circumstances, TYPES
        )

    def node(self, node_id: str) -> Node:
        found = store.get_node(self.connection, self.user_id, node_id)
        assert found is not None
        return found

    def names(self) -> list[str]:
        """Of all nodes but the owner's."""
        return [one.names[0] for one in entity_repository.known_names(self.connection, self.user_id)]
