"""Known things and facts for the archivist's prompt, so that it uses the same names and repeats nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.agents.model import KnownEntity
from internal.graph.store import owner_node_id
from internal.knowledge import service as knowledge
from internal.knowledge.entities import repository as entities
from internal.knowledge.entities.resolved_names import KnownName
from internal.knowledge.model import Fact, FactFilter
from internal.language.dates.precision import written
from internal.language.text.spelling import tokens

SHOWN_ENTITIES: Final = 60
SHOWN_FACTS: Final = 60
"""The most things and facts in one prompt: those that the slice names, and the newest of the owner's own."""

_STEM: Final = 4
"""Letters in which a name and a word of the text must agree, as the rest is the ending; shorter names must be equal."""


@dataclass(frozen=True, slots=True)
class KnownThings:
    """Things that the texts may mean, and current facts about them and the owner, as sentences with dates."""

    entities: Sequence[KnownEntity]
    facts: Sequence[str]


def known_things(connection: Connection, user: User, texts: Sequence[str], now: datetime) -> KnownThings:
    """What is known about the things these texts seem to name, guessed by the beginnings of words."""
    names = entities.known_names(connection, user.user_id)
    words = {_stem(token.key) for text in texts for token in tokens(text)}
    named = [known for known in names if any(_is_named(name, words) for name in known.names)]
    things = [known for known in named if known.subtype != "person"][:SHOWN_ENTITIES]
    about = {known.node_id for known in named[:SHOWN_ENTITIES]} | {owner_node_id(user.user_id)}
    return KnownThings([_entity(thing) for thing in things], _facts(connection, user, about, now))


def _facts(connection: Connection, user: User, node_ids: Iterable[str], now: datetime) -> list[str]:
    found = {fact.id: fact for node_id in sorted(node_ids) for fact in _newest(connection, user.user_id, node_id, now)}
    newest = sorted(found.values(), key=lambda fact: (fact.created_at, fact.id))[-SHOWN_FACTS:]
    return [_words(fact, user) for fact in newest]


def _newest(connection: Connection, user_id: int, node_id: str, now: datetime) -> list[Fact]:
    filter_ = FactFilter(node_id=node_id)
    count = knowledge.count_facts(connection, user_id, filter_, now=now)
    offset = max(0, count - SHOWN_FACTS)
    return knowledge.facts_about(connection, user_id, filter_, now=now, limit=SHOWN_FACTS, offset=offset)


def _words(fact: Fact, user: User) -> str:
    if fact.valid_at is None:
        return fact.fact
    return f"{fact.fact} (since {written(fact.valid_at.astimezone(ZoneInfo(user.tz)), fact.valid_precision)})"


def _entity(known: KnownName) -> KnownEntity:
    kind = known.labels[0] if known.labels else known.label if known.label != "Entity" else ""
    return KnownEntity(known.names[0], kind, known.names[1:], known.description)


def _is_named(name: str, words: set[str]) -> bool:
    parts = [token.key for token in tokens(name)]
    return bool(parts) and all(_stem(part) in words for part in parts)


def _stem(word: str) -> str:
    return word[: max(_STEM, len(word) - 2)]
