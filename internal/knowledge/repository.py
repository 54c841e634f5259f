"""Episodes and their segments in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from internal.knowledge.model import Episode, Segment
from internal.storage.tables import episodes, segments


def add_episode(connection: Connection, episode: Episode, parts: Sequence[Segment]) -> None:
    connection.execute(insert(episodes).values(asdict(episode)))
    if parts:
        rows = [asdict(part) | {"user_id": episode.user_id, "episode_id": episode.id} for part in parts]
        connection.execute(insert(segments), rows)


def episode(connection: Connection, user_id: int, episode_id: str) -> Episode | None:
    query = select(episodes).where(episodes.c.user_id == user_id, episodes.c.id == episode_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else _episode(row)


def episode_segments(connection: Connection, user_id: int, episode_id: str, first: int, last: int) -> list[Segment]:
    """The segments first..last of an episode, in order."""
    query = select(segments).where(
        segments.c.user_id == user_id,
        segments.c.episode_id == episode_id,
        segments.c.n >= first,
        segments.c.n <= last,
    )
    rows = connection.execute(query.order_by(segments.c.n))
    return [_segment(row) for row in rows]


def _episode(row: Row[Any]) -> Episode:
    return Episode(
        user_id=row.user_id,
        id=row.id,
        source=row.source,
        name=row.name,
        content=row.content,
        source_description=row.source_description,
        source_url=row.source_url,
        reference_time=row.reference_time,
        created_at=row.created_at,
        first_seq=row.first_seq,
        last_seq=row.last_seq,
        dedupe=row.dedupe,
        processed_at=row.processed_at,
    )


def _segment(row: Row[Any]) -> Segment:
    return Segment(
        n=row.n,
        at=row.at,
        text=row.text,
        message_id=row.message_id,
        speaker=row.speaker,
        own=row.own,
        forwarded_from=row.forwarded_from,
        url=row.url,
        key=row.key,
    )
