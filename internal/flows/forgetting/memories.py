"""Memories that are erased with people, things and facts, with tombstones against older lines."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection

from internal.flows.forgetting.fact_tombstones import mark_memories_forgotten
from internal.flows.visibility.name_traces import is_proper
from internal.graph.model import Node
from internal.graph.store import owner_node_id
from internal.knowledge.model import Claim, Fact
from internal.knowledge.relations import materially_different
from internal.memory import service as memory
from internal.memory.model import NAMING
from internal.memory.observations.changes import Removal
from internal.storage import evidence

_TELLING = 8
"""The shortest text of several words, in characters, that is searched in other texts; shorter ones are too common."""


def with_entities(
    connection: Connection,
    user_id: int,
    node_ids: Collection[str],
    holds: Callable[[str], bool] | None,
    *,
    key: bytes,
    asked_at: datetime,
    now: datetime,
) -> Removal:
    """Removes the memories that mention these entities, and those whose texts satisfy `holds`."""
    return _forgotten(
        connection, user_id, memory.remove_mentioning(connection, user_id, node_ids, holds, now=now), key, asked_at
    )


def with_facts(
    connection: Connection, user_id: int, facts: Sequence[Fact], stated: Sequence[Claim], *, key: bytes, now: datetime
) -> Removal:
    """Removes the memories that repeat these facts; `stated` are the claims beneath them."""
    words = [fact.fact for fact in facts]
    line_refs = evidence.supporting_lines(connection, user_id, "claim", [claim.id for claim in stated])
    ends = {end for fact in facts for end in (fact.source, fact.target)} - {owner_node_id(user_id)}
    removal = memory.remove_repeating(
        connection,
        user_id,
        line_refs,
        ends,
        lambda text: any(not materially_different(text, one) for one in words),
        now=now,
    )
    return _forgotten(connection, user_id, removal, key, now)


def with_node(
    connection: Connection, user_id: int, node_id: str, *, key: bytes, asked_at: datetime, now: datetime
) -> Removal:
    """Removes a node of memory. Raises NotFound."""
    return _forgotten(connection, user_id, memory.remove_node(connection, user_id, node_id, now=now), key, asked_at)


def mark_memory_forgotten(connection: Connection, user_id: int, node: Node, key: bytes, at: datetime) -> None:
    """Keeps lines up to `at` from bringing back a topic or preference that is erased as a thing."""
    if node.label == "Entity":
        return
    stated = [one.properties.get(NAMING[node.label]) for one in memory.observations_of(connection, user_id, node.id)]
    words = {node.name, *node.properties.get("aliases", ()), *(one for one in stated if one)}
    mark_memories_forgotten(connection, user_id, [(node.label, one) for one in words], key, at)


def identifying_texts(removal: Removal) -> list[str]:
    """The erased words that are searched for in other texts: sentences, and proper names.

    A common word that was a concept or keyword occurs in unrelated texts.
    """
    sentences = [text for text in removal.said if len(text) >= _TELLING and " " in text.strip()]
    return [*sentences, *(name for name in removal.nodes.values() if is_proper(name))]


def _forgotten(connection: Connection, user_id: int, removal: Removal, key: bytes, at: datetime) -> Removal:
    mark_memories_forgotten(connection, user_id, removal.known_as, key, at)
    return removal
