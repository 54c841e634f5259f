"""Queries for the episodes that mention a person, and for the lines that do."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, and_, literal, null, or_, select, union_all

from internal.storage.chunks import chunks
from internal.storage.evidence import of_parts, target
from internal.storage.tables import chronicle, episodes, event_mentions, evidence, mentions, segments

_CHUNK: Final = 200
"""The most values of one IN list."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """An episode that mentions a person, with its time."""

    episode_id: str
    at: datetime


def mentioned(connection: Connection, user_id: int, person_id: int) -> list[Mentioned]:
    """The episodes that mention a person, newest first."""
    same = and_(episodes.c.user_id == mentions.c.user_id, episodes.c.id == mentions.c.episode_id)
    query = select(episodes.c.id, episodes.c.reference_time).join(mentions, same)
    query = query.where(mentions.c.user_id == user_id, mentions.c.person_id == person_id)
    rows = connection.execute(query.order_by(episodes.c.reference_time.desc(), episodes.c.id))
    return [Mentioned(episode_id, at) for episode_id, at in rows]


def support(
    connection: Connection, user_id: int, person_id: int, entity_id: str, episode_ids: Collection[str]
) -> list[Row[Any]]:
    """(episode_id, segment, quote) of the lines in these episodes that support or name a person."""
    found: list[Row[Any]] = []
    cited = select(evidence.c.episode_id, evidence.c.segment, evidence.c.quote).where(
        evidence.c.user_id == user_id,
        or_(evidence.c.target == target("person", person_id), of_parts("profile", person_id)),
        evidence.c.segment > literal(0),
    )
    named = (
        select(segments.c.episode_id, segments.c.n.label("segment"), null().label("quote"))
        .join(
            chronicle, and_(chronicle.c.user_id == segments.c.user_id, chronicle.c.message_id == segments.c.message_id)
        )
        .join(
            event_mentions,
            and_(event_mentions.c.user_id == chronicle.c.user_id, event_mentions.c.event_id == chronicle.c.id),
        )
        .where(segments.c.user_id == user_id, event_mentions.c.entity_id == entity_id)
    )
    for part in chunks(sorted(episode_ids), _CHUNK):
        both = union_all(cited.where(evidence.c.episode_id.in_(part)), named.where(segments.c.episode_id.in_(part)))
        found += connection.execute(both)
    return found
