"""The mirror of the graph: what stands in it, how it follows what changes, and when it is rebuilt."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from sqlalchemy import select, update
from support.flows.flow_stage import OTHER, OWNER, until
from support.flows.mirror_stage import ROWS, TARGET, MirrorStage, following
from support.patience import PATIENCE_S

from internal.errors import MirrorUnavailable, NotFound, Refused
from internal.flows.forgetting import requests
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.indexing.mirror import MirrorSync, StoredCursors, TemporaryCursors
from internal.graph import store
from internal.graph.labels import NODES
from internal.graph.mirror import repository
from internal.graph.mirror.falkordb import Falkor
from internal.graph.mirror.falkordb_server import EmbeddedFalkor, running
from internal.graph.mirror.projection import Batch, MirrorMark
from internal.graph.relationships import RELATIONSHIPS
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.forgetting.forgettings import EVERYTHING
from internal.storage.tables import mirrors, users as users_table
from internal.storage.types import new_id


async def test_nodes_have_what_the_specification_lists(mirror: MirrorStage) -> None:
    """Labels, properties and types of values as specified, times as ISO 8601 in UTC, objects as JSON."""
    told = "Мама сказала: \"чай\" \\ 'кава' `x`\n\tі ще"
    await mirror.node("Memory", content=told, summary="чай", confidence=0.25)
    await mirror.node("Goal", description="Learn Spanish", priority=1, targetDate="2027-01-01T00:00:00+02:00")
    await mirror.node(
        "Entity", name="Київська політехніка", type="organization", aliases=["КПІ", "KPI"], attributes={"beds": [1, 2]}
    )
    nodes = dict((await mirror.followed()).nodes.values())
    memory, goal, entity = nodes["Memory"], nodes["Goal"], nodes["Entity"]
    assert memory.items() >= {"content": told.strip(), "confidence": 0.25, "accessCount": 0}.items()
    assert memory["created"] == "2026-02-07T12:00:00+00:00"
    assert "lastAccessed" not in memory
    assert goal.items() >= {"status": "active", "priority": 1, "targetDate": "2026-12-31T22:00:00+00:00"}.items()
    assert entity.items() >= {"type": "organization", "attributes": '{"beds": [1, 2]}'}.items()
    assert entity.items() >= {"camelName": "КиївськаПолітехніка", "chronicleType": "Concept"}.items()
    assert entity["description"] == "Київська політехніка"  # required by the chronicle, and nobody told more
    assert entity["aliases"] == ["КПІ", "KPI"]


async def test_nothing_is_mirrored_that_the_registry_does_not_know(mirror: MirrorStage) -> None:
    """Labels, relationships and their attributes are those of the registry, but for the additions to an entity."""
    memory, concept = await mirror.node("Memory", content="x"), await mirror.node("Concept", name="tea")
    await mirror.edge("HAS_CONCEPT", memory, concept, relevance=0.5)
    await mirror.node("Entity", name="ACME")
    await mirror.talk.exchange("hello")
    await mirror.mirroring.follow(OWNER)
    for row in await mirror.ask("MATCH (n) UNWIND keys(n) AS k RETURN DISTINCT labels(n) AS l, k"):
        [label] = row["l"]
        added = {"id", "created"} | ({"camelName", "chronicleType"} if label == "Entity" else set())
        assert row["k"] in {*NODES[label].model.model_fields, *added}
    query = "MATCH (a)-[r]->(b) RETURN DISTINCT type(r) AS t, labels(a)[0] AS a, labels(b)[0] AS b, keys(r) AS k"
    edges = await mirror.ask(query)
    for row in edges:
        known = RELATIONSHIPS[row["t"], row["a"], row["b"]]
        assert set(row["k"]) <= {*known.attributes.model_fields, *(() if known.derived else ("id",))}
    assert {row["t"] for row in edges} >= {"HAS_CONCEPT", "NEXT", "PART_OF", "MONTH", "HAPPENED_AT", "LAST_EVENT"}


async def test_a_person_is_an_entity(mirror: MirrorStage) -> None:
    """With the profile's name, aliases and description, changed as they change."""
    now = mirror.now
    person = Person(
        0,
        OWNER,
        new_id(),
        "Петров",
        circle=Circle.FRIENDS,
        aliases=("Саша",),
        bio="Друг.",
        first_seen=now,
        last_seen=now,
    )
    made = await mirror.write(lambda c: people.create(c, person, by="archivist", now=now))
    told = dict((await mirror.followed()).nodes.values())["Entity"]
    assert told.items() >= {"id": made.entity_id, "name": "Петров", "type": "person", "description": "Друг."}.items()
    assert told["aliases"] == ["Саша"]


async def test_what_changes_is_followed(mirror: MirrorStage) -> None:
    """A changed node, a deleted edge and a deleted node, each as it stands after the change."""
    memory = await mirror.node("Memory", content="before")
    concept, other = await mirror.node("Concept", name="tea"), await mirror.node("Concept", name="sea")
    edge = await mirror.edge("HAS_CONCEPT", memory, concept, relevance=0.5)
    await mirror.edge("HAS_CONCEPT", memory, other)
    await mirror.mirroring.follow(OWNER)

    await mirror.write(lambda c: store.update_node(c, OWNER, memory.id, {"content": "after"}, now=mirror.now))
    await mirror.write(lambda c: store.delete_edges(c, OWNER, [edge.id]))
    await mirror.write(lambda c: store.delete_node(c, OWNER, other.id))
    after = await mirror.followed()
    assert after.nodes[memory.id][1]["content"] == "after"
    assert set(after.nodes) == {memory.id, concept.id}
    assert not after.edges


async def test_what_is_hidden_and_shown_again_comes_back_with_its_edges(mirror: MirrorStage) -> None:
    """An entity whose forgetting is undone is linked in the mirror as before, though no edge of it was written."""
    memory, entity = await mirror.node("Memory", content="x"), await mirror.node("Entity", name="ACME")
    await mirror.edge("MENTIONS", memory, entity, role="subject")
    before = await mirror.followed()
    asked = await mirror.write(lambda c: requests.ask(c, OWNER, "entity", entity.id, now=mirror.now))
    hidden = await mirror.followed()
    assert entity.id not in hidden.nodes
    assert not hidden.edges
    await mirror.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await mirror.followed() == before


async def test_a_forgotten_owner_has_no_graph(mirror: MirrorStage) -> None:
    """The graph is dropped with everything else; another owner's stays, and the next word begins a new one."""
    await mirror.node("Memory", content="mine")
    other = await mirror.node("Memory", OTHER, content="theirs")
    await mirror.mirroring.follow_due()
    eraser = ForgettingService(mirror.database, mirror.talk.clock, b"k" * 32)
    await eraser.erase_now(OWNER, EVERYTHING, None)
    await mirror.mirroring.follow_due()
    assert await mirror.falkor.mark(OWNER) == MirrorMark(await _version(mirror), await _newest(mirror), graph=False)
    assert (await mirror.mirroring.query(OWNER, "MATCH (n) RETURN n", {})).rows == []
    assert set((await mirror.mirrored(OTHER)).nodes) == {other.id}

    memory = await mirror.node("Memory", content="new")
    assert set((await mirror.followed()).nodes) == {memory.id}


async def test_a_lost_mirror_is_built_anew(mirror: MirrorStage, falkordb: EmbeddedFalkor) -> None:
    """Whoever deleted the graph, or gave it back from an older copy, the next look finds it out."""
    memory = await mirror.node("Memory", content="x")
    before = await mirror.followed()
    async with Redis.from_url(falkordb.url) as redis:
        await redis.delete(f"laplaced:{OWNER}")
        await mirror.mirroring.follow(OWNER)
        assert await mirror.mirrored() == before
        await redis.flushall()
        await mirror.mirroring.follow(OWNER)
        assert await mirror.mirrored() == before
        await redis.hset(f"{{laplaced:{OWNER}}}:mark", "seq", 0)
    await mirror.falkor.apply(OWNER, _without(memory.id), MirrorMark(await _version(mirror), 0))
    assert await mirror.followed() == before


async def test_another_stores_mirror_is_replaced(mirror: MirrorStage) -> None:
    """A graph of the same user's id that another database wrote is not taken for ours."""
    await mirror.node("Memory", content="x")
    before = await mirror.followed()
    seen = await _newest(mirror)
    await mirror.falkor.apply(OWNER, _without(*before.nodes), MirrorMark("1:another-store:UTC", seen))
    assert await mirror.followed() == before


async def test_a_cursor_before_the_log_is_that_of_another_life(mirror: MirrorStage) -> None:
    """A database given back from a backup has less in its log than the mirror has seen: rebuilt."""
    memory = await mirror.node("Memory", content="x")
    before = await mirror.followed()
    ahead = await _newest(mirror) + 100
    await mirror.write(lambda c: repository.move_cursor(c, OWNER, TARGET, ahead, mirror.now))
    await mirror.falkor.apply(OWNER, _without(memory.id), MirrorMark(await _version(mirror), ahead))
    assert await mirror.followed() == before


async def test_another_zone_moves_what_happened(mirror: MirrorStage) -> None:
    """The day on which an entity came to be known is the owner's: when he moves, the mirror follows."""
    mirror.talk.clock.advance(11 * 3600)
    await mirror.node("Entity", name="ACME")
    query = "MATCH (:Entity)-[h:HAPPENED_AT]->(d:Day) RETURN d.date AS d, h.time AS t"
    await mirror.mirroring.follow(OWNER)
    assert await mirror.ask(query) == [{"d": "2026-02-07", "t": "23:00:00"}]
    moved = update(users_table).where(users_table.c.user_id == OWNER).values(tz="Europe/Kyiv")
    await mirror.write(lambda c: c.execute(moved))
    await mirror.mirroring.follow(OWNER)
    assert await mirror.ask(query) == [{"d": "2026-02-08", "t": "01:00:00"}]
    assert [row["d"] for row in await mirror.ask("MATCH (d:Day) RETURN d.date AS d")] == ["2026-02-08"]


async def test_a_batch_that_was_applied_already_changes_nothing(mirror: MirrorStage) -> None:
    """Killed before its cursor moved, it is applied again, and all is there once."""
    memory, concept = await mirror.node("Memory", content="x"), await mirror.node("Concept", name="tea")
    await mirror.mirroring.follow(OWNER)
    seen = await _newest(mirror)
    await mirror.edge("HAS_CONCEPT", memory, concept)
    await mirror.talk.exchange("hello")
    after = await mirror.followed()
    await mirror.write(lambda c: repository.move_cursor(c, OWNER, TARGET, seen, mirror.now))
    version = await _version(mirror)
    await mirror.falkor.apply(OWNER, _without(), MirrorMark(version, seen))
    await following(mirror.talk, mirror.falkor).follow(OWNER)
    assert await mirror.mirrored() == after


async def test_a_restart_goes_on_where_it_was(mirror: MirrorStage) -> None:
    """Cursor and mark agree: nothing is rebuilt, and only what came since is followed."""
    await mirror.node("Memory", content="x")
    await mirror.mirroring.follow(OWNER)
    again = following(mirror.talk, mirror.falkor)
    assert await again.follow(OWNER) == 0
    await mirror.node("Memory", content="y")
    behind = await mirror.database.read(lambda c: repository.lag(c, TARGET))
    assert behind == 2
    assert await again.follow(OWNER) == behind
    assert await mirror.database.read(lambda c: repository.lag(c, TARGET)) == 0


async def test_how_far_each_owner_is_behind_is_added_up(mirror: MirrorStage) -> None:
    """Whoever is up to date hides nothing of another who is not."""
    await mirror.node("Memory", user_id=OTHER, content="x")
    seen = await _newest(mirror, OTHER)
    await mirror.write(lambda c: repository.move_cursor(c, OTHER, TARGET, seen, mirror.now))
    await mirror.node("Memory", user_id=OTHER, content="y")
    await mirror.node("Memory", content="z")
    newest = await _newest(mirror)
    await mirror.write(lambda c: repository.move_cursor(c, OWNER, TARGET, newest, mirror.now))
    behind = await _newest(mirror, OTHER) - seen
    assert behind > 0
    assert await mirror.database.read(lambda c: repository.lag(c, TARGET)) == behind


async def test_a_mirror_that_is_down_holds_up_nobody_and_catches_up(mirror: MirrorStage, tmp_path: Path) -> None:
    """Messages are answered meanwhile; once it is there, empty, all of it is built."""
    server = EmbeddedFalkor(tmp_path / "late", rows=ROWS)
    falkor = Falkor(server.url, "falkor://late", timeout=timedelta(seconds=5), rows=ROWS)
    late = MirrorSync(
        mirror.database,
        mirror.talk.clock,
        falkor,
        StoredCursors(mirror.database, mirror.talk.clock, falkor.target),
        retry_base=timedelta(seconds=0.05),
        retry_max=timedelta(seconds=0.1),
    )
    running = asyncio.create_task(late.run())
    try:
        await mirror.talk.exchange("hello", "here I am")
        assert (await mirror.talk.messages())[-1].content == "here I am"
        with pytest.raises(MirrorUnavailable):
            await late.query(OWNER, "MATCH (n) RETURN n", {})
        await server.start()
        seen = _cursor(mirror, falkor.target)
        await until(lambda: seen() is not None)
        assert (await late.query(OWNER, "MATCH (r:Response) RETURN r.full_text AS t", {})).rows == [{"t": "here I am"}]
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await late.aclose()
        await falkor.aclose()
        await server.stop()


async def test_a_question_sees_what_was_written_before_it(mirror: MirrorStage) -> None:
    """Nobody waits for the background to follow: the question follows first."""
    await mirror.node("Memory", content="x")
    found = await mirror.mirroring.query(OWNER, "MATCH (m:Memory) RETURN m.content AS told", {})
    assert (found.columns, found.rows) == (["told"], [{"told": "x"}])


async def test_an_owners_statements_go_one_after_the_other(mirror: MirrorStage, falkordb: EmbeddedFalkor) -> None:
    """However many he asks at once, another owner's statement finds the engine free."""
    for user_id in (OWNER, OTHER):
        await mirror.node("Memory", user_id, content="x")
        await mirror.mirroring.follow(user_id)
    heavy = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b UNWIND range(1, 3000) AS c RETURN count(*)"
    async with aclosing(Falkor(falkordb.url, TARGET, timeout=timedelta(seconds=0.2), rows=ROWS)) as hasty:
        sync = following(mirror.talk, hasty)
        asked = [asyncio.create_task(sync.query(OWNER, heavy, {})) for _ in range(6)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        assert (await sync.query(OTHER, "RETURN 1 AS n", {})).rows == [{"n": 1}]
        assert sum(one.done() for one in asked) <= 2
        results = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in results] == [Refused] * 6


async def test_who_has_the_engine_ended_waits_for_his_next_statement(mirror: MirrorStage, tmp_path: Path) -> None:
    """Some expressions are computed to their end whatever the time: the engine goes, with all that it held for others.

    It is started again, and others are answered.
    """
    doubling = "RETURN reduce(s = 'ab', x IN range(0, 60) | s + s) AS s"
    await mirror.node("Memory", OTHER, content="y")
    async with running(tmp_path / "own", rows=ROWS) as server:
        falkor = Falkor(server.url, TARGET, timeout=timedelta(seconds=0.4), rows=ROWS, stuck=server.kill)
        async with aclosing(falkor):
            sync = following(mirror.talk, falkor)
            await mirror.node("Memory", content="x")
            with pytest.raises(Refused, match=r"0\.4 s"):
                await sync.query(OWNER, doubling, {})
            with pytest.raises(MirrorUnavailable, match="10 minutes"):
                await _when_it_answers(sync, OWNER)
            assert await _when_it_answers(sync, OTHER) == [{"t": "y"}]
            mirror.talk.clock.advance(timedelta(minutes=10))
            assert await _when_it_answers(sync, OWNER) == [{"t": "x"}]


async def _when_it_answers(sync: MirrorSync, user_id: int) -> Sequence[Mapping[str, Any]]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return (await sync.query(user_id, "MATCH (m:Memory) RETURN m.content AS t", {})).rows
            except MirrorUnavailable as error:
                if "cannot be used" not in str(error):
                    raise
                await asyncio.sleep(0.05)


async def test_a_passing_mirror_leaves_no_cursor(mirror: MirrorStage) -> None:
    """What is made for a few questions is remembered nowhere in the database."""
    await mirror.node("Memory", content="x")
    passing = MirrorSync(mirror.database, mirror.talk.clock, mirror.falkor, TemporaryCursors())
    assert (await passing.query(OWNER, "MATCH (n) RETURN count(n) AS n", {})).rows == [{"n": 1}]
    assert await mirror.database.read(lambda c: c.execute(select(mirrors)).all()) == []


async def test_many_changes_are_followed_in_batches(mirror: MirrorStage) -> None:
    """More changes than one batch holds, among them nodes whose edges come first."""
    await mirror.node("Concept", name="first")
    await mirror.mirroring.follow(OWNER)
    nodes = await mirror.write(
        lambda c: [store.add_node(c, OWNER, "Memory", {"content": f"{n}"}, now=mirror.now).id for n in range(700)]
    )
    await mirror.write(
        lambda c: [
            store.add_edge(c, OWNER, "RELATES_TO", nodes[n], nodes[0], {}, now=mirror.now) for n in range(1, 700)
        ]
    )
    await mirror.write(lambda c: store.touch_nodes(c, OWNER, nodes[:600], mirror.now))
    followed = await mirror.followed()
    assert (len(followed.nodes), followed.edges.total()) == (701, 699)
    assert followed == await mirror.built_anew()


async def test_an_unknown_user_has_no_mirror(mirror: MirrorStage) -> None:
    """Refused, and no graph is made."""
    with pytest.raises(NotFound):
        await mirror.mirroring.rebuild(404)
    assert await mirror.mirroring.follow(404) == 0
    assert await mirror.falkor.mark(404) is None


def _cursor(mirror: MirrorStage, target: str) -> Callable[[], object]:
    """The cursor as another program would see it."""

    def read() -> object:
        with sqlite3.connect(f"file:{mirror.database.path}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT seq FROM mirrors WHERE target = ?", [target]).fetchone()

    return read


def _without(*ids: str) -> Batch:
    return Batch(gone_nodes=set(ids))


async def _version(mirror: MirrorStage, user_id: int = OWNER) -> str:
    return await mirror.mirroring._version(user_id)


async def _newest(mirror: MirrorStage, user_id: int = OWNER) -> int:
    return await mirror.database.read(lambda c: repository.newest(c, user_id))
