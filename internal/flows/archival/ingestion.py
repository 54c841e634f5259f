"""Stores text that did not come through Telegram as an episode, with its segments and runs, in one transaction."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.errors import Refused
from internal.events import repository as events
from internal.flows.archival.publication import slices
from internal.flows.indexing.fragments import EPISODE_ITEM, FOUND_BY
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.import_formats.json_stream import json_lines
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.model import OF_FILE, Episode, EpisodeSource, Segment
from internal.language.text.passages import MAX_CHARACTERS, passages
from internal.scheduling import run_repository as runs
from internal.storage import search_items
from internal.storage.owner_counters import next_rev
from internal.storage.types import new_id

BEHIND = 1 << 48
"""Offset added to the place of an import's runs, so that years of old messages come after new ones."""


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """A stored episode; `created` is False if it was stored before, and nothing was changed."""

    episode: Episode
    created: bool


def add_episode(
    connection: Connection,
    user_id: int,
    *,
    source: EpisodeSource,
    name: str,
    segments: Sequence[Segment],
    source_description: str,
    source_url: str | None,
    reference_time: datetime,
    dedupe: str | None,
    agents: Sequence[str],
    now: datetime,
    episode_id: str | None = None,
    content: str = "",
    behind: bool = False,
    archived: int | None = None,
) -> StoredEpisode:
    """Stores an episode, its segments (numbered 1, 2, ...) and a run of each agent for each slice of them.

    For an `episode_id` or `dedupe` that this owner has already, the stored one is returned. `content` is the text as it
    was given, empty if the segments are all there is (`content_of`). `behind`: its runs wait for all others.
    `archived`: agents read this number of its first segments and no more.

    Raises NotFound for an unknown owner; Refused "forgetting" while all his data is about to be forgotten, and
    "taken" when the id belongs to somebody else's episode.
    """
    known = _stored_episode(connection, user_id, episode_id, dedupe)
    if known is not None:
        return StoredEpisode(known, created=False)
    if everything_asked(connection, user_id) is not None:
        raise Refused("forgetting", "everything is about to be forgotten; undo that first, or wait until it is done")
    episode = Episode(
        user_id=user_id,
        id=episode_id or new_id(),
        source=source,
        name=name,
        content=content,
        source_description=source_description,
        source_url=source_url,
        reference_time=reference_time,
        created_at=now,
        dedupe=dedupe,
    )
    episodes.add_episode(connection, episode, segments)
    rev = next_rev(connection, user_id)
    put_episode_item(connection, episode, segments, rev)
    run_rev = rev + (BEHIND if behind else 0)
    for agent in agents:
        runs.create(connection, user_id, agent, episode.id, slices(len(segments[:archived])), rev=run_rev, now=now)
    episodes.mark_processed(connection, user_id, episode.id, now)  # if no agent works on it
    payload = {"episode": episode.id, "source": source, "segments": len(segments)}
    links = {"fragment": episode.id}
    events.append(
        connection, "episode_added", source="system:ingestion", now=now, user_id=user_id, payload=payload, links=links
    )
    return StoredEpisode(episode, created=True)


def put_episode_item(connection: Connection, episode: Episode, segments: Sequence[Segment], rev: int) -> None:
    """Stores the search item of an episode, the beginning of its text, and for a file also one for each passage."""
    found_by = f"{episode.name}\n{content_of(episode, segments)}"[:FOUND_BY]
    search_items.save_search_item(connection, episode.user_id, EPISODE_ITEM, episode.id, found_by, rev)
    for part in segments if episode.source_description == OF_FILE else ():
        ref_id, text = search_items.passage_of(episode.id, part.n), part.text or ""
        search_items.save_search_item(
            connection, episode.user_id, EPISODE_ITEM, ref_id, text, rev, context=episode.name
        )


def text_segments(content: str, at: datetime) -> tuple[Segment, ...]:
    """A text as segments of a few hundred characters, all with the time `at` and without a speaker."""
    return _segments(passages(content), at)


def json_segments(content: str, at: datetime) -> tuple[Segment, ...]:
    """A JSON text as lines `path: value`, some in each segment. Raises Refused "json"."""
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise Refused("json", "content: it should be JSON, since source is json") from None
    parts: list[str] = []
    for line in json_lines(value):
        for piece in passages(line) if len(line) > MAX_CHARACTERS else [line]:
            if parts and len(parts[-1]) + len(piece) < MAX_CHARACTERS:
                parts[-1] += f"\n{piece}"
            else:
                parts.append(piece)
    return _segments(parts, at)


def content_of(episode: Episode, segments: Sequence[Segment]) -> str:
    """The original content of an episode, or its lines with their speakers."""
    if episode.content:
        return episode.content
    return "\n".join(knowledge.spoken(part.text or "", part.speaker, part.forwarded_from) for part in segments)


def fingerprint(*parts: object) -> str:
    """A key by which equal parts are stored only once."""
    return hashlib.sha256(json.dumps([str(part) for part in parts], ensure_ascii=False).encode()).hexdigest()


def _segments(texts: Sequence[str], at: datetime) -> tuple[Segment, ...]:
    return tuple(Segment(n, at, _storable(text), None) for n, text in enumerate(texts, start=1))


def _storable(text: str) -> str:
    """The text without halves of surrogate pairs, which no database stores, and NUL, which some do not."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _stored_episode(connection: Connection, user_id: int, episode_id: str | None, dedupe: str | None) -> Episode | None:
    if episode_id is not None:
        known = episodes.episode(connection, user_id, episode_id)
        if known is None and episodes.is_taken(connection, episode_id):
            raise Refused("taken", "uuid: it is taken")
        if known is not None:
            return known
    return None if dedupe is None else episodes.episode_by_dedupe(connection, user_id, dedupe)
