"""Text that did not come through Telegram: stored whole with its runs, once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, func, select
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.errors import NotFound, Refused
from internal.flows.archival.ingestion import (
    StoredEpisode,
    add_episode,
    content_of,
    fingerprint,
    json_segments,
    text_segments,
)
from internal.flows.forgetting.requests import ask_forget
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Segment
from internal.scheduling import run_repository as runs
from internal.storage.tables import (
    episodes as episodes_table,
    runs as runs_table,
    search_items,
    segments as segments_table,
)

MAY = datetime(2024, 5, 1, 9, tzinfo=UTC)


def store(
    connection: Connection, talk: Talk, segments: Sequence[Segment] | None = None, user_id: int = OWNER, **more: Any
) -> StoredEpisode:
    fields: dict[str, Any] = {
        "source": "text",
        "name": "slack_123",
        "source_description": "Slack",
        "source_url": "https://slack.com/archives/C1/p2",
        "reference_time": MAY,
        "dedupe": None,
        "agents": ["archivist"],
        "now": talk.clock.now(),
    }
    given = text_segments("Петров переїхав до Львова.", MAY) if segments is None else segments
    return add_episode(connection, user_id, segments=given, **fields | more)


async def ready(talk: Talk) -> list[tuple[str, int, int]]:
    """The owner's run that is next, as episode and first and last segment."""
    found = await talk.read(lambda c: runs.ready_runs(c, "archivist", talk.clock.now(), limit=9))
    return [(run.episode_id, run.first_n, run.last_n) for run in found]


async def count(talk: Talk) -> list[int]:
    tables = (episodes_table, segments_table, runs_table)
    return await talk.read(lambda c: [c.execute(select(func.count()).select_from(t)).scalar_one() for t in tables])


async def test_an_episode_is_stored_with_its_segments_and_runs(talk: Talk) -> None:
    """Everything it was given can be read again, and an agent finds its slices of at most sixty segments."""
    lines = [Segment(n, MAY, f"рядок {n}", None, speaker="Bob", own=False, key=f"k:{n}") for n in range(1, 131)]
    stored = await talk.write(lambda c: store(c, talk, lines, content="як дано"))
    assert stored.created
    episode = await talk.read(lambda c: episodes.episode(c, OWNER, stored.episode.id))
    assert episode == stored.episode
    assert (episode.source, episode.content, episode.reference_time, episode.created_at) == (
        "text",
        "як дано",
        MAY,
        talk.clock.now(),
    )
    assert await talk.read(lambda c: episodes.episode_segments(c, OWNER, stored.episode.id, 1, 200)) == lines
    assert await ready(talk) == [(stored.episode.id, 1, 43)]
    assert await count(talk) == [1, 130, 3]
    [item] = await talk.read(lambda c: c.execute(select(search_items.c.item, search_items.c.text)).all())
    assert tuple(item) == (f"episode:{stored.episode.id}", "slack_123\nяк дано")
    [event] = await talk.events("episode_added")
    assert event.payload == {"episode": stored.episode.id, "source": "text", "segments": 130}


async def test_repeating_one_changes_nothing(talk: Talk) -> None:
    """By its id or by its key for doubles; another owner's key is his own affair, his id is not."""
    first = await talk.write(lambda c: store(c, talk, episode_id="e-1", dedupe="d-1"))
    for again in ({"episode_id": "e-1"}, {"dedupe": "d-1"}, {"episode_id": "e-1", "dedupe": "d-2"}):
        repeated = await talk.write(lambda c, again=again: store(c, talk, name="other", **again))  # type: ignore[misc]
        assert repeated == StoredEpisode(first.episode, created=False)
    assert (await count(talk))[0] == 1
    assert (await talk.write(lambda c: store(c, talk, user_id=OTHER, dedupe="d-1"))).created
    with pytest.raises(Refused, match="uuid"):
        await talk.write(lambda c: store(c, talk, user_id=OTHER, episode_id="e-1"))


async def test_nobodys_episode_is_not_stored(talk: Talk) -> None:
    """An unknown owner has no memory, and one who is about to lose it gets nothing new into it."""
    with pytest.raises(NotFound):
        await talk.write(lambda c: store(c, talk, user_id=404))
    await talk.write(lambda c: ask_forget(c, OWNER, None, now=talk.clock.now()))
    with pytest.raises(Refused, match="about to be forgotten"):
        await talk.write(lambda c: store(c, talk))
    assert await count(talk) == [0, 0, 0]


async def test_what_is_said_now_comes_before_an_import(talk: Talk) -> None:
    """Years of old messages wait for the fragment of today, whichever was stored first."""
    old = [await talk.write(lambda c: store(c, talk, behind=True)) for _ in range(2)]
    await talk.exchange("Зустрів Петрова")
    [_] = await talk.publication().publish_now(OWNER)
    order = []
    while waiting := await ready(talk):
        order.append(waiting[0][0])
        [run] = await talk.read(lambda c: runs.ready_runs(c, "archivist", talk.clock.now(), limit=1))
        await talk.write(lambda c, run=run: runs.finish(c, run, talk.clock.now()))  # type: ignore[misc]
    assert order[1:] == [stored.episode.id for stored in old]
    assert len(order) == 3


async def test_content_is_told_as_given_or_by_its_lines(talk: Talk) -> None:
    """An import's content is who said what; a text is itself."""
    lines = [
        Segment(1, MAY, "Привіт", None, speaker="Олена"),
        Segment(2, MAY, "(сміх)", None),
        Segment(3, MAY, "Я в Римі", None, speaker="Олена", own=False, forwarded_from="Борис"),
        Segment(4, MAY, "Я в Осло", None, own=False, forwarded_from="Ганна"),
    ]
    imported = await talk.write(lambda c: store(c, talk, lines))
    forwards = ["Олена (forwarded from Борис): Я в Римі", "(forwarded from Ганна): Я в Осло"]
    assert content_of(imported.episode, lines).splitlines() == ["Олена: Привіт", "(сміх)", *forwards]
    text = await talk.write(lambda c: store(c, talk, content="  Сам текст\n"))
    assert content_of(text.episode, lines) == "  Сам текст\n"


def test_json_becomes_lines_that_can_be_cited() -> None:
    """Short lines share a segment, long values are cut, and every value is there."""
    people = [
        {"name": f"Особа {n}", "city": "Львів", "bio": "працює тут. " * (200 if n == 3 else 2)} for n in range(40)
    ]
    segments = json_segments(json.dumps({"people": people}, ensure_ascii=False), MAY)
    assert [segment.n for segment in segments] == list(range(1, len(segments) + 1))
    assert all(len(segment.text or "") <= 1_000 for segment in segments)
    whole = "\n".join(segment.text or "" for segment in segments)
    assert all(f"people[{n}].name: Особа {n}\n" in whole for n in range(40))
    assert whole.count("працює") == 39 * 2 + 200
    assert json_segments("[]", MAY) == ()
    for broken in ("{", "[" * 100_000):
        with pytest.raises(Refused, match="content"):
            json_segments(broken, MAY)


def test_fingerprints_tell_parts_apart() -> None:
    """The same parts have the same, others another, wherever the border runs."""
    assert fingerprint("a", MAY, None) == fingerprint("a", MAY, None)
    assert len({fingerprint("ab", "c"), fingerprint("a", "bc"), fingerprint("abc"), fingerprint("abc", None)}) == 4
