"""Episodes and their segments in the database."""

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, literal, select, update

from internal.knowledge.model import Episode, EpisodeSource, Segment
from internal.storage import search_items
from internal.storage.change_log import record_change
from internal.storage.chunks import rows_with
from internal.storage.engine.row_policies import across_owners
from internal.storage.rows import owner_lookup, read_one, reader
from internal.storage.tables import episodes, runs, search_items as items, segments

_SEGMENT_FIELDS = [field.name for field in fields(Segment)]

# Run for every prompt: built once, for building a statement takes longer than running it.
_BY_IDS: Final = select(episodes).where(
    episodes.c.user_id == bindparam("owner"), episodes.c.id.in_(bindparam("ids", expanding=True))
)


def add_episode(connection: Connection, episode: Episode, parts: Sequence[Segment]) -> None:
    connection.execute(insert(episodes).values(asdict(episode)))
    if parts:
        owner = {"user_id": episode.user_id, "episode_id": episode.id}
        # asdict copies each value deeply, which took a third of an import's time
        rows = [owner | {name: getattr(part, name) for name in _SEGMENT_FIELDS} for part in parts]
        connection.execute(insert(segments), rows)


def episode(connection: Connection, user_id: int, episode_id: str) -> Episode | None:
    query = select(episodes).where(episodes.c.user_id == user_id, episodes.c.id == episode_id)
    return read_one(connection.execute(query), _episode)


def episodes_by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> dict[str, Episode]:
    """The episodes that exist among these few, by id."""
    rows = connection.execute(_BY_IDS, {"owner": user_id, "ids": list(ids)})
    return {row.id: _episode(row) for row in rows}


def episode_by_dedupe(connection: Connection, user_id: int, dedupe: str) -> Episode | None:
    query = select(episodes).where(episodes.c.user_id == user_id, episodes.c.dedupe == dedupe)
    return read_one(connection.execute(query), _episode)


def ids_of_dedupe(connection: Connection, user_id: int, beginning: str) -> list[str]:
    """The ids of episodes whose `dedupe` has this beginning."""
    ours = (episodes.c.user_id == user_id) & episodes.c.dedupe.startswith(beginning, autoescape=True)
    return list(connection.execute(select(episodes.c.id).where(ours)).scalars())


owner_of = owner_lookup(episodes)


def is_taken(connection: Connection, episode_id: str) -> bool:
    """Whether any owner has an episode of this id."""
    with across_owners(connection):
        return owner_of(connection, episode_id) is not None


def texts_by_key(connection: Connection, user_id: int, keys: Sequence[str]) -> dict[str, str]:
    """The stored texts of these imported messages, by their keys."""
    query = select(segments.c.key, segments.c.text).where(segments.c.user_id == user_id, segments.c.key.in_(keys))
    return {key: text or "" for key, text in connection.execute(query)}


def episode_segments(connection: Connection, user_id: int, episode_id: str, first: int, last: int) -> list[Segment]:
    """The segments first..last of an episode, in order."""
    query = select(segments).where(
        segments.c.user_id == user_id, segments.c.episode_id == episode_id, segments.c.n >= first, segments.c.n <= last
    )
    rows = connection.execute(query.order_by(segments.c.n))
    return [_segment(row) for row in rows]


def by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> dict[str, Episode]:
    """The episodes of this owner among these, by id."""
    query = select(episodes).where(episodes.c.user_id == user_id)
    return {row.id: _episode(row) for row in rows_with(connection, query, episodes.c.id, sorted(set(ids)))}


def listing(
    connection: Connection,
    user_id: int,
    *,
    source: EpisodeSource | None = None,
    limit: int | None = 100,
    offset: int = 0,
) -> list[Episode]:
    """Episodes by `reference_time`, newest first."""
    query = select(episodes).where(*_of(user_id, source))
    query = query.order_by(episodes.c.reference_time.desc(), episodes.c.created_at.desc(), episodes.c.id.desc())
    return [_episode(row) for row in connection.execute(query.limit(limit).offset(offset))]


def fragments_not_found(connection: Connection, *, limit: int) -> list[tuple[int, str]]:
    """Fragments of all owners that no search finds, as (user id, episode id)."""
    item = and_(items.c.user_id == episodes.c.user_id, items.c.item == literal("episode:") + episodes.c.id)
    query = (
        select(episodes.c.user_id, episodes.c.id)
        .outerjoin(items, item)
        .where(episodes.c.first_seq.is_not(None), items.c.item.is_(None))
    )
    return [(row.user_id, row.id) for row in connection.execute(query.limit(limit))]


def count(connection: Connection, user_id: int, *, source: EpisodeSource | None = None) -> int:
    query = select(func.count()).select_from(episodes).where(*_of(user_id, source))
    return connection.execute(query).scalar_one()


def lines_of_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> list[tuple[str, int]]:
    """The segments of these messages: (episode id, segment number)."""
    query = select(segments.c.episode_id, segments.c.n).where(segments.c.user_id == user_id)
    found = rows_with(connection, query, segments.c.message_id, sorted(set(message_ids)))
    return [(episode_id, n) for episode_id, n in found]


def numbers(connection: Connection, user_id: int, episode_id: str) -> list[int]:
    """The numbers of an episode's segments, in order."""
    query = select(segments.c.n).where(segments.c.user_id == user_id, segments.c.episode_id == episode_id)
    return list(connection.execute(query.order_by(segments.c.n)).scalars())


def drop_segments(connection: Connection, user_id: int, episode_id: str, gone: Collection[int] | None = None) -> None:
    """Deletes segments of an episode (None = all); the others keep their numbers."""
    ours = (segments.c.user_id == user_id) & (segments.c.episode_id == episode_id)
    if gone is not None:
        ours &= segments.c.n.in_(sorted(gone))
    connection.execute(delete(segments).where(ours))


def drop(connection: Connection, user_id: int, episode_id: str) -> None:
    """Deletes an episode with its segments and search item; the caller removes what was derived from it."""
    drop_segments(connection, user_id, episode_id)
    connection.execute(delete(episodes).where(episodes.c.user_id == user_id, episodes.c.id == episode_id))
    passages = search_items.passages_of(connection, user_id, episode_id)
    search_items.remove(connection, user_id, "episode", [episode_id, *passages])
    record_change(connection, user_id, "episode", episode_id, "delete")


def reopen(connection: Connection, user_id: int, episode_id: str) -> None:
    """Marks an episode as not processed, because an agent works on it again."""
    one = (episodes.c.user_id == user_id) & (episodes.c.id == episode_id)
    connection.execute(update(episodes).where(one).values(processed_at=None))


def mark_processed(connection: Connection, user_id: int, episode_id: str, now: datetime) -> bool:
    """Marks an episode as processed. Returns False while a run of it is open, or if it was marked before."""
    open_runs = select(runs.c.id).where(
        runs.c.user_id == user_id, runs.c.episode_id == episode_id, runs.c.state.in_(_OPEN_RUNS)
    )
    done = (
        update(episodes)
        .where(episodes.c.user_id == user_id, episodes.c.id == episode_id, episodes.c.processed_at.is_(None))
        .where(~open_runs.exists())
        .values(processed_at=now)
    )
    return connection.execute(done).rowcount == 1


def embed_source_url(source_description: str, source_url: str | None) -> str:
    """The description as clients get it, with its URL embedded; source: graph metadata, "source_url"."""
    if not source_url:
        return source_description
    url = f"source_url: {source_url}"
    return f"{source_description}, {url}" if source_description else url


def extract_source_url(source_description: str | None) -> str | None:
    """The URL in a description; it ends at a space or comma; source: graph metadata, "source_url"."""
    match = _SOURCE_URL.search(source_description or "")
    return match.group(1) if match else None


_OPEN_RUNS: Final = ("due", "claimed", "replied")
_SOURCE_URL: Final = re.compile(r"source_url:\s*(https?://[^\s,]+)")


def _of(user_id: int, source: EpisodeSource | None) -> list[ColumnElement[bool]]:
    ours: list[ColumnElement[bool]] = [episodes.c.user_id == user_id]
    return ours if source is None else [*ours, episodes.c.source == source]


_episode = reader(Episode)
_segment = reader(Segment)
