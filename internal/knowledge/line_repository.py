"""Lines: the segments of episodes and the messages behind them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, and_, bindparam, literal, null, select

from internal.storage.chunks import rows_of, rows_with
from internal.storage.engine.expressions import without_index
from internal.storage.evidence import UNPUBLISHED, LineRef
from internal.storage.tables import evidence, messages, observations, people, segments, users


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line as it was said; `speaker` None means nobody in particular."""

    at: datetime
    text: str
    message_id: str | None
    role: str
    speaker: str | None
    forwarded_from: str | None
    url: str | None
    chat_id: int | None
    tg_id: int | None
    thread_id: int | None


def stored_lines(connection: Connection, user_id: int, line_refs: Collection[LineRef]) -> dict[LineRef, StoredLine]:
    """The lines that still exist among these."""
    published = {ref for ref in line_refs if ref[0] != UNPUBLISHED}
    found = _unpublished(connection, user_id, {n for episode_id, n in line_refs if episode_id == UNPUBLISHED})
    if not published:
        return found
    rows = rows_of(
        connection,
        _PUBLISHED,
        sorted({episode_id for episode_id, _ in published}),
        owner=user_id,
        numbers=sorted({n for _, n in published}),
    )
    kept = (row for row in rows if (row.episode_id, row.n) in published and (row.message_id is None or row.m_role))
    return found | {(row.episode_id, row.n): _line(row) for row in kept}


def _unpublished(connection: Connection, user_id: int, numbers: Collection[int]) -> dict[LineRef, StoredLine]:
    """The messages with these numbers that are in no fragment yet."""
    if not numbers:
        return {}
    columns = [messages.c[name].label(f"m_{name}") for name in _MESSAGE]
    nothing = {name: null() for name in ("text", "at", "speaker", "forwarded_from", "url")}
    query = (
        select(
            users.c.name.label("owner"),
            messages.c.seq,
            messages.c.id.label("message_id"),
            *columns,
            *(value.label(name) for name, value in nothing.items()),
        )
        .join_from(messages, users, users.c.user_id == messages.c.user_id)
        .where(messages.c.user_id == user_id, messages.c.seq.in_(sorted(numbers)))
    )
    return {(UNPUBLISHED, row.seq): _line(row) for row in connection.execute(query)}


def entities_by_segment(connection: Connection, user_id: int, episode_id: str) -> dict[int, set[str]]:
    """The nodes that each segment of an episode supports: entities, people, and nodes of the memory graph.

    The segment 0 is the whole episode.
    """
    ours = (evidence.c.user_id == user_id) & (evidence.c.episode_id == episode_id)
    entity, person = evidence.c.target.like(f"{_ENTITY}%"), evidence.c.target.like(f"{_PERSON}%")
    query = select(evidence.c.segment, evidence.c.target).where(ours, entity | person)
    cited = [(segment, target.split(":", 1)) for segment, target in connection.execute(query)]
    profiles = {int(key) for _, (kind, key) in cited if kind == _PERSON[:-1]}
    of_people = _entities_of_people(connection, user_id, sorted(profiles))
    found: dict[int, set[str]] = {}
    for segment, (kind, key) in cited:
        entity_id = of_people.get(int(key)) if kind == _PERSON[:-1] else key
        if entity_id is not None:
            found.setdefault(segment, set()).add(entity_id)
    observed = (observations.c.user_id == user_id) & (observations.c.episode_id == episode_id)
    stated = select(evidence.c.segment, observations.c.target).where(
        ours, evidence.c.target == literal("observation:") + observations.c.id, observed, observations.c.kind == "node"
    )
    for segment, node_id in connection.execute(stated):
        found.setdefault(segment, set()).add(node_id)
    return found


def _entities_of_people(connection: Connection, user_id: int, person_ids: Sequence[int]) -> dict[int, str]:
    query = select(people.c.id, people.c.entity_id).where(without_index(people.c.user_id) == user_id)
    return {row.id: row.entity_id for row in rows_with(connection, query, people.c.id, person_ids)}


_ENTITY: Final = "entity:"
_PERSON: Final = "person:"
_SEGMENT: Final = ("episode_id", "n", "text", "at", "message_id", "speaker", "forwarded_from", "url")
_MESSAGE: Final = ("role", "content", "timestamp", "forward", "chat_id", "tg_id", "thread_id", "user_metadata")
_PUBLISHED: Final = (
    select(
        users.c.name.label("owner"),
        *(segments.c[name] for name in _SEGMENT),
        *(messages.c[name].label(f"m_{name}") for name in _MESSAGE),
    )
    .select_from(
        segments.outerjoin(
            messages, and_(messages.c.user_id == segments.c.user_id, messages.c.id == segments.c.message_id)
        ).join(users, users.c.user_id == segments.c.user_id)
    )
    .where(
        segments.c.user_id == bindparam("owner"),
        segments.c.episode_id.in_(bindparam("ids", expanding=True)),
        segments.c.n.in_(bindparam("numbers", expanding=True)),
    )
)


def _line(row: Row[Any]) -> StoredLine:
    forward = row.m_forward["name"] if row.m_forward else row.forwarded_from
    speaker = row.speaker or (row.m_user_metadata or {}).get("speaker")  # of a member of a group
    return StoredLine(
        at=row.m_timestamp or row.at,
        text=row.text if row.text is not None else row.m_content or "",
        message_id=row.message_id,
        role=row.m_role or "user",
        speaker=speaker or (row.owner or None if row.m_role == "user" else None),
        forwarded_from=forward,
        url=row.url,
        chat_id=row.m_chat_id,
        tg_id=row.m_tg_id,
        thread_id=row.m_thread_id,
    )
