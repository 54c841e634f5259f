"""A fact in the owner's own words: also its other end follows, where the words now name another thing.

"Петров работает в Beta" must not stay a fact about ACME, or the next word about Beta would seem to contradict it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from internal.access.model import User
from internal.errors import ModelUnavailable
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import entity_repository
from internal.knowledge import service as knowledge
from internal.knowledge.digest import KnownName
from internal.knowledge.model import Fact
from internal.language import entity_names
from internal.language.restated import renamed
from internal.language.spelling import text_language
from internal.language.worker import LanguageCallFailed
from internal.scheduling.clock import Clock
from internal.storage.engine import Database

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_NAMED_BY = {"Entity": "name", "Preference": "preference", "Topic": "name"}


class Runs(Protocol):
    """Where language is understood: the language process."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the function. May raise ModelUnavailable or LanguageCallFailed."""
        ...


@dataclass(frozen=True, slots=True)
class Restated:
    """`fact` is the version that holds now; `changed` is False if it said so already."""

    fact: Fact
    changed: bool


@dataclass(frozen=True, slots=True)
class _Other:
    """The thing that the new words name: a known one, or (`node_id` None) a new one of this name."""

    name: str
    node_id: str | None


class Restating:
    """Takes the owner's words for a fact as a soft update."""

    def __init__(self, database: Database, clock: Clock, language: Runs) -> None:
        self._database, self._clock, self._language = database, clock, language

    async def restate(self, user: User, fact_id: str, words: str) -> Restated:
        """Replaces the newest version of a fact; any version may be named, and the same words change nothing.

        Raises NotFound for a fact that is gone, Conflict for one that is held true no more, and Refused("empty_fact" |
        "too_long").
        """
        said, now = " ".join(words.split()), self._clock.now()
        read = await self._database.read(lambda c: _newest(c, user.user_id, fact_id))
        other = await self._other(user, read, said)

        def work(connection: Connection) -> Restated:
            current = _newest(connection, user.user_id, fact_id)
            if current.fact == said:
                return Restated(current, changed=current.set_by == "owner" and current.id != fact_id)
            target = None if other is None or current.id != read.id else _target(connection, current, other, now)
            _, new = knowledge.update_fact(connection, user.user_id, current.id, said, target_id=target, now=now)
            return Restated(new, changed=True)

        return await self._database.write(work)

    async def _other(self, user: User, fact: Fact, said: str) -> _Other | None:
        """What the words now name in place of the fact's target; None if that is the same, or cannot be told."""
        user_id = user.user_id
        target = await self._database.read(lambda c: store.get_node(c, user_id, fact.target))
        if target is None or target.label not in _NAMED_BY or target.id == store.owner_node_id(user_id):
            return None
        names = [target.name, *target.properties.get("aliases", ())]
        try:
            name = await self._language.run(renamed, fact.fact, said, names, text_language(said, user.lang))
            if not name:
                return None
            exact, likely = await self._database.read(lambda c: _candidates(c, user_id, target, name))
            found = exact or await self._alike(name, likely)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("restated_in_words_only", extra={"reason": type(error).__name__})
            return None
        if fact.source in found or len(found) > 1:
            return None
        if not found and target.subtype == "person":
            return None  # a person is made by people's own rules
        return _Other(name, found[0] if found else None)

    async def _alike(self, name: str, likely: Sequence[KnownName]) -> list[str]:
        [hits] = await self._language.run(entity_names.alike, [name], [one.names for one in likely])
        return list(dict.fromkeys(likely[place].node_id for place, _, _ in hits))


def _newest(connection: Connection, user_id: int, fact_id: str) -> Fact:
    return knowledge.history(connection, user_id, fact_id)[-1]


def _candidates(connection: Connection, user_id: int, target: Node, name: str) -> tuple[list[str], list[KnownName]]:
    """The ids of things that are called exactly so, and everything of the target's kind that may be."""
    exact = [node.id for node in store.nodes_called(connection, user_id, [name])]
    known = entity_repository.known_names(connection, user_id)
    return exact, [one for one in known if (one.label, one.subtype) == (target.label, target.subtype)]


def _target(connection: Connection, fact: Fact, other: _Other, now: datetime) -> str | None:
    """The node of what is named now, made like the one it takes the place of, and supported by the same lines."""
    if other.node_id is not None:
        node = store.resolve_node(connection, fact.user_id, other.node_id)
        return None if node is None else node.id
    before = store.get_node(connection, fact.user_id, fact.target)
    if before is None:
        return None
    properties: dict[str, Any] = {_NAMED_BY[before.label]: other.name}
    if before.label == "Entity":
        properties |= {"type": before.subtype, "labels": before.properties.get("labels", [])}
    node = store.add_node(connection, fact.user_id, before.label, properties, now=now, by="owner")
    for line in knowledge.evidence_of_fact(connection, fact.user_id, fact.id):
        segments = {line.segment: line.message_id}
        knowledge.cite_node(connection, fact.user_id, node.id, line.episode_id, segments, operation="created")
    return node.id
