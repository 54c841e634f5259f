"""Finds what a typed name means: people and things of that name in any form and alphabet, or the owner."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from bot.telegram.handlers.people.find import NAMED, SHOWN, WHOLE_NAME, called, capitalised, name_similarities
from bot.telegram.handlers.services import Services
from internal.access.model import User
from internal.graph import store
from internal.graph.model import Node
from internal.language.search.terms import names_oneself
from internal.language.text.spelling import name_key
from internal.people import repository as people, service

_ABOUT = re.compile(r"^(?:о|об|обо|про|about|of)\s+", re.IGNORECASE)
_ONESELF_WORDS = 2
"""The most words of a text that means the owner: "обо мне", "me". In a longer text, "my" belongs to something else."""

_SEARCHED = 24


@dataclass(frozen=True, slots=True)
class FactSubject:
    """A person or thing with facts. `kind` is an entity's type or a node's label, or "owner" for the owner."""

    node_id: str
    name: str
    kind: str


def owner(user: User) -> FactSubject:
    return FactSubject(store.owner_node_id(user.user_id), user.name, "owner")


async def subject(user: User, services: Services, node_id: str) -> FactSubject | None:
    """The subject with this node id, redirects of merges followed; None if it is gone."""
    if node_id == store.owner_node_id(user.user_id):
        return owner(user)
    node = await services.read(lambda c: store.resolve_node(c, user.user_id, node_id))
    return None if node is None else _subject(node)


async def find_subjects(text: str, user: User, services: Services) -> list[FactSubject]:
    """At most ten, the likeliest first: the owner, else exact names, else other forms of the name, or a relation."""
    name = _ABOUT.sub("", text.strip())
    if not name or (names_oneself(name) and len(name.split()) < _ONESELF_WORDS):
        return [owner(user)]
    exact = await services.read(lambda c: _exact(c, user, name))
    if found := exact or await _similar(name, user, services):
        return found[:SHOWN]
    ids = [one.entity_id for one in await called(name, user, services)]
    nodes = await services.read(lambda c: store.nodes_by_ids(c, user.user_id, ids))
    return [_subject(one) for one in nodes.values()]


def _exact(connection: Connection, user: User, name: str) -> list[FactSubject]:
    """Finds subjects by name or alias, @username or Telegram id."""
    nodes = store.nodes_called(connection, user.user_id, [name])
    if not nodes:
        found = [one.entity_id for one in service.identified(connection, user.user_id, name, limit=SHOWN)]
        nodes = list(store.nodes_by_ids(connection, user.user_id, found).values())
    if not nodes and name_key(name) == name_key(user.name):
        return [owner(user)]
    return [_subject(node) for node in nodes if node.id != store.owner_node_id(user.user_id)]


async def _similar(name: str, user: User, services: Services) -> list[FactSubject]:
    """Finds subjects by another form of the name: things by search, people by comparison with all of them."""
    written = capitalised(name)
    likely = await name_similarities(name, user, services)
    entities = await services.read(lambda c: _entities(c, user.user_id, list(likely)))
    scores = {entities[person_id]: score for person_id, score in likely.items() if person_id in entities}
    for hit in await services.knowledge.nodes(user.user_id, written, _SEARCHED):
        scores[hit.node.id] = max(scores.get(hit.node.id, 0.0), hit.reasons.name)
    scores.pop(store.owner_node_id(user.user_id), None)
    least = WHOLE_NAME
    if max(scores.values(), default=0.0) < WHOLE_NAME:
        begun = await services.read(lambda c: people.by_name_prefix(c, user.user_id, name_key(name), limit=SHOWN))
        least = max([NAMED, *(scores.get(person.entity_id, 0.0) for person in begun)])
        scores |= {person.entity_id: max(least, scores.get(person.entity_id, 0.0)) for person in begun}
    best = sorted((node_id for node_id in scores if scores[node_id] >= least), key=lambda one: -scores[one])
    nodes = await services.read(lambda c: store.nodes_by_ids(c, user.user_id, best))
    return [_subject(nodes[node_id]) for node_id in best if node_id in nodes]


def _entities(connection: Connection, user_id: int, person_ids: Sequence[int]) -> dict[int, str]:
    found = (people.get(connection, user_id, person_id) for person_id in person_ids)
    return {person.id: person.entity_id for person in found if person is not None}


def _subject(node: Node) -> FactSubject:
    return FactSubject(node.id, node.name, node.subtype or node.label)
