"""The communities of a life: people and things that are mentioned together, found each night, with stable ids."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import Final

from sqlalchemy import Connection

from internal.chronicle import repository as chronicle
from internal.events import agent_state_repository as agent_state
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.people import repository as people

AGENT: Final = "communities"
LEAST: Final = 3
_OF_FACT: Final = 2
"""The weight of a fact between two entities, compared with a message that names both."""
_CROWD: Final = 12
"""The most names of one message that are tied to each other; a message with more is a list."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Community:
    """A community; `circle` is that of most of its people, `name` the thing, else the person, with most ties."""

    id: str
    circle: str | None
    name: str
    members: Sequence[str]


def grouped(weights: Mapping[Pair, int], before: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The members of each community, most tied first. One that shares most with one of `before` keeps its id."""
    from graspologic_native import leiden  # takes 6 ms, at night only

    edges = [(*pair, float(weight)) for pair, weight in sorted(weights.items())]
    ties = Counter(node for pair in weights for node in pair)
    parts: dict[int, list[str]] = {}
    parted = leiden(edges, None, 1.0, 0.001, 4, use_modularity=True, seed=7, trials=4)[1] if edges else {}
    for node, number in parted.items():
        parts.setdefault(number, []).append(node)
    found: dict[str, list[str]] = {}
    for nodes in sorted((sorted(some) for some in parts.values()), key=lambda some: (-len(some), some)):
        shared = {id: len({*held} & {*nodes}) for id, held in before.items() if id not in found}
        kept = max(shared, key=lambda id: (shared[id], id), default="")
        if len(nodes) >= LEAST:
            id = kept if shared.get(kept) else next(one for one in nodes if one not in found and one not in before)
            found[id] = sorted(nodes, key=lambda one: (-ties[one], one))
    return found


def renew(connection: Connection, user_id: int, now: datetime) -> None:
    """Finds the communities again and stores them until the next night."""
    found = grouped(_weights(connection, user_id, now), _stored_communities(connection, user_id))
    agent_state.save_state(connection, agent_state.agent_id(AGENT, user_id), AGENT, found, user_id=user_id, now=now)


def communities(connection: Connection, user_id: int) -> list[Community]:
    """The communities of the last night with current names, largest first, without members forgotten since."""
    kept, found = _stored_communities(connection, user_id), []
    nodes = store.nodes_by_ids(connection, user_id, {node for some in kept.values() for node in some})
    known = {one.entity_id: one for one in people.listing(connection, user_id)} if kept else {}
    for id, some in kept.items():
        members = [node for node in some if node in nodes]
        circles = Counter(known[node].circle.value for node in members if node in known)
        if len(members) >= LEAST and circles:
            circle, count = circles.most_common(1)[0]
            first = next((node for node in members if node not in known), members[0])
            most = circle if 2 * count > circles.total() and circle != "Other" else None
            found.append(Community(id, most, nodes[first].name, members))
    return sorted(found, key=lambda one: (-len(one.members), one.id))


def _weights(connection: Connection, user_id: int, now: datetime) -> Counter[Pair]:
    """How often two entities are mentioned together or linked by facts, without the owner, who is linked to all."""
    named, weights = dict[str, set[str]](), Counter[Pair]()
    for row in chronicle.words_since(connection, user_id, datetime(1, 1, 2, tzinfo=UTC)):
        named.setdefault(row.message_id, set()).add(row.entity_id)
    for some in named.values():
        weights.update(combinations(sorted(some), 2) if len(some) <= _CROWD else ())
    for fact in knowledge.latest_facts(connection, user_id, FactFilter(), now=now, limit=5_000):
        weights[min(fact.source, fact.target), max(fact.source, fact.target)] += _OF_FACT
    himself = store.owner_node_id(user_id)
    return Counter({pair: weight for pair, weight in weights.items() if himself not in pair and pair[0] != pair[1]})


def _stored_communities(connection: Connection, user_id: int) -> dict[str, list[str]]:
    found = agent_state.get(connection, agent_state.agent_id(AGENT, user_id), AGENT)
    return dict(json.loads(found)) if found else {}
