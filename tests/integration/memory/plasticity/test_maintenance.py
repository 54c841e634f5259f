"""The nightly maintenance over a real database file: when it is due, what it does, what it only offers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import insert, select
from support.knowledge.plasticity_stage import DAY, NOON, OWNER, Memories, user_row
from support.stores.stores import where

from internal.config.settings import MemoryConfig
from internal.errors import NotFound
from internal.events import repository as events
from internal.flows.operations import nightly as flow
from internal.flows.operations.nightly import NightlyMaintenance, compact_change_log
from internal.graph import store
from internal.memory.plasticity import maintenance, repository, strength_changes as operations
from internal.memory.plasticity.decay import PRESETS
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.tables import changes, evidence, metadata, observations, users
from internal.testing import FrozenClock

T = TypeVar("T")
HALF_LIFE = timedelta(days=90)


@dataclass
class Counted:
    """An observer that remembers."""

    told: list[tuple[int, int]] = field(default_factory=list)

    def memory_maintained(self, *, decayed: int, pruned: int) -> None:
        self.told.append((decayed, pruned))


@dataclass
class World:
    database: Database
    clock: FrozenClock
    observer: Counted

    def nights(self, **config: Any) -> NightlyMaintenance:
        return NightlyMaintenance(self.database, self.clock, MemoryConfig(**config), self.observer)

    async def do(self, work: Callable[[Memories], T], user_id: int = OWNER) -> T:
        return await self.database.write(lambda c: work(Memories(c, user_id)))

    async def strengths(self) -> list[float]:
        return sorted((await self.do(lambda m: m.strengths())).values())

    async def told(self, user_id: int = OWNER) -> list[dict[str, Any]]:
        """The payloads of the events of maintenance."""
        listed = await self.database.read(lambda c: events.listing(c, user_id, event_type="maintenance_done"))
        return [one.payload for one in listed]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with Database.open(where(tmp_path)) as database:
        await database.write(metadata.create_all)  # the migrations make the same, and take longer
        await database.write(lambda c: c.execute(insert(users).values(user_row(OWNER))))
        yield World(database, FrozenClock(NOON), Counted())


def three_links(m: Memories) -> list[str]:
    a, b, c, d = (m.memory(name) for name in "abcd")
    return [m.link(a, b, 0.8), m.link(a, c, 0.4), m.link(b, d, 0.06)]


async def test_links_decay_and_the_weakest_are_pruned(world: World) -> None:
    """By the time that passed; told as an event, to the observer, in the change log, and in the report."""
    *_, dead = await world.do(three_links)
    end = await world.do(lambda m: m.log_end)
    world.clock.advance(HALF_LIFE)
    report = await world.nights().maintain(OWNER)
    assert await world.strengths() == [pytest.approx(0.2), pytest.approx(0.4)]
    assert (report.links, report.decayed, report.pruned, report.memories) == (3, 3, 1, 4)
    assert await world.told() == [
        {"links": 3, "decayed": 3, "pruned": 1, "memories": 4, "faded": 0, "kept": 0},
    ]
    assert world.observer.told == [(3, 1)]
    logged = await world.do(lambda m: m.changed(end))
    assert ("edge", dead, "delete") in logged
    assert len(logged) == 3


async def test_a_dry_run_tells_the_same_and_changes_nothing(world: World) -> None:
    """Strengths, change log, events and the time of the last night stay as they are."""
    await world.do(three_links)
    world.clock.advance(HALF_LIFE)
    before = await world.do(lambda m: (m.strengths(), m.log_end))
    dry = await world.nights().maintain(OWNER, dry_run=True)
    assert await world.do(lambda m: (m.strengths(), m.log_end)) == before
    assert await world.told() == []
    assert world.observer.told == []
    real = await world.nights().maintain(OWNER)
    assert (dry.decayed, dry.pruned, dry.links) == (real.decayed, real.pruned, real.links)
    with pytest.raises(NotFound):
        await world.nights().maintain(404, dry_run=True)


def use(m: Memories, one: str, other: str, now: datetime) -> None:
    """As an answer uses two memories."""
    operations.touch_used(m.connection, OWNER, [one, other], now, PRESETS["default"])


@pytest.mark.parametrize("every", [timedelta(hours=5), timedelta(days=7), timedelta(days=35)])
async def test_how_often_it_runs_does_not_matter(world: World, every: timedelta) -> None:
    """Every five hours, weekly or once: the same strengths, uses between included."""
    first, *_ = await world.do(three_links)
    edge = await world.do(lambda m: store.get_edge(m.connection, OWNER, first))
    assert edge is not None
    nights, used_at = world.nights(prune_below=0), NOON + timedelta(hours=400)
    for moment in range(0, 35 * 24, 5):
        world.clock.set(NOON + timedelta(hours=moment))
        if not (world.clock.now() - NOON) % every:
            await nights.maintain(OWNER)
        if world.clock.now() == used_at:
            await world.do(lambda m: use(m, edge.source, edge.target, used_at))
    world.clock.set(NOON + timedelta(days=35))
    await nights.maintain(OWNER)
    left = 2 ** -(35 / 90)
    touched = 0.8 * left + 0.1 * 2 ** -((35 - 400 / 24) / 90)
    assert await world.strengths() == pytest.approx([0.06 * left, 0.4 * left, touched])


async def test_off_leaves_everything_as_it_is(world: World) -> None:
    """No decay, no pruning, nothing offered, however long it is."""
    await world.do(three_links)
    world.clock.advance(100 * HALF_LIFE)
    report = await world.nights(plasticity="off").maintain(OWNER)
    assert (report.decayed, report.pruned, report.faded) == (0, 0, 0)
    assert await world.strengths() == [0.06, 0.4, 0.8]


@pytest.mark.parametrize("page", [1, 2, 1000])
async def test_many_links_are_aged_page_by_page(world: World, page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, whatever the size of the pages."""
    monkeypatch.setattr(maintenance, "PAGE", page)
    await world.do(three_links)
    world.clock.advance(HALF_LIFE)
    report = await world.nights().maintain(OWNER)
    assert (report.decayed, report.pruned) == (3, 1)
    assert await world.strengths() == [pytest.approx(0.2), pytest.approx(0.4)]


def test_steps_shrink_while_they_take_long() -> None:
    """Down to some links, and grow again as far as they began."""
    slow = maintenance.next_size(maintenance.PAGE, took=1.0)
    assert slow < maintenance.PAGE
    assert 0 < maintenance.next_size(1, took=1.0) < slow < maintenance.next_size(slow, took=0.001) <= maintenance.PAGE


async def test_a_link_that_changed_meanwhile_is_left_to_the_next_night(world: World) -> None:
    """What a page was read with holds no more: the use that came between is not undone."""
    a, b = await world.do(lambda m: (m.memory("a"), m.memory("b")))
    await world.do(lambda m: m.link(a, b, 0.4))
    now, rates = NOON + HALF_LIFE, PRESETS["default"]
    page = await world.do(lambda m: repository.links_after(m.connection, OWNER, None, maintenance.PAGE))
    await world.do(lambda m: operations.strengthen(m.connection, OWNER, a, b, 0.5, now=now))
    done = await world.do(lambda m: maintenance.step(m.connection, OWNER, page, rates, now, prune=True))
    assert done == maintenance.LinkPageResult(0, 0)
    assert await world.strengths() == [pytest.approx(0.9)]


# When it is due


@pytest.mark.parametrize(
    ("zone", "last", "now", "due"),
    [
        ("UTC", "2026-02-07T03:00", "2026-02-08T02:59", False),
        ("UTC", "2026-02-07T03:00", "2026-02-08T03:00", True),
        ("UTC", "2026-02-08T03:00", "2026-02-08T23:00", False),
        ("UTC", "2026-02-01T03:00", "2026-02-08T00:30", True),
        ("Europe/Kyiv", "2026-02-07T05:00", "2026-02-08T00:59", False),
        ("Europe/Kyiv", "2026-02-07T05:00", "2026-02-08T01:00", True),
        ("America/New_York", "2026-02-07T12:00", "2026-02-08T07:59", False),
        ("America/New_York", "2026-02-07T12:00", "2026-02-08T08:00", True),
        # Clocks go forward at 03:00 in Kyiv: that night's is 04:00; back at 04:00: 03:00 comes twice, and counts once.
        ("Europe/Kyiv", "2026-03-28T02:00", "2026-03-29T00:59", False),
        ("Europe/Kyiv", "2026-03-28T02:00", "2026-03-29T01:00", True),
        ("Europe/Kyiv", "2026-10-25T00:00", "2026-10-25T01:00", False),
        # A clock that was a year ahead does not put it off for a year.
        ("UTC", "2027-02-08T03:00", "2026-02-08T12:00", True),
    ],
)
def test_a_night_is_due_once_where_the_owner_lives(zone: str, last: str, now: str, due: bool) -> None:
    """At the hour of his own zone, also where a change of time takes that hour away."""
    moments = [datetime.fromisoformat(one).replace(tzinfo=UTC) for one in (last, now)]
    assert maintenance.night_due(*moments, ZoneInfo(zone), 3) is due


async def test_each_owner_is_maintained_once_a_night(world: World) -> None:
    """In his own night; not again until the next; a new owner's first night is the one after he came."""
    await world.database.write(lambda c: c.execute(insert(users).values(user_row(2, "Asia/Tokyo"))))
    await world.do(three_links)
    await world.do(three_links, user_id=2)
    nights, told = world.nights(), []
    for hours in range(73):
        world.clock.set(NOON + timedelta(hours=hours))
        for _ in range(2):
            before = [len(await world.told(user_id)) for user_id in (OWNER, 2)]
            await nights.maintain_due()
            after = [len(await world.told(user_id)) for user_id in (OWNER, 2)]
            told += [(hours, user) for user, b, a in zip(("utc", "tokyo"), before, after, strict=True) if a > b]
    assert told == [(6, "tokyo"), (15, "utc"), (30, "tokyo"), (39, "utc"), (54, "tokyo"), (63, "utc")]


async def test_a_night_of_downtime_is_made_up_for_and_prunes_the_night_after(world: World) -> None:
    """After a long time, or a clock that jumped ahead, links decay but none goes before one more night."""
    await world.do(three_links)
    nights = world.nights()
    world.clock.set(NOON + 10 * HALF_LIFE)
    await nights.maintain_due()
    assert len(await world.strengths()) == 3
    world.clock.advance(DAY)
    await nights.maintain_due()
    assert await world.strengths() == []
    assert [one["pruned"] for one in await world.told()] == [0, 3]


async def test_a_clock_that_jumps_ahead_and_back_does_no_harm(world: World) -> None:
    """What decayed in a night of the wrong year is back the night after, and nothing was pruned."""
    await world.do(three_links)
    nights = world.nights()
    for moment in (NOON + DAY, NOON + timedelta(days=700), NOON + DAY + timedelta(hours=1)):
        world.clock.set(moment)
        await nights.maintain_due()
    left = 2 ** -(25 / 24 / 90)
    assert await world.strengths() == pytest.approx([0.06 * left, 0.4 * left, 0.8 * left])
    world.clock.set(NOON + 2 * DAY)
    await nights.maintain_due()
    assert len(await world.strengths()) == 3


async def test_who_has_no_memories_hears_of_no_night(world: World) -> None:
    """His night is noted, without an event; who was removed is left alone."""
    await world.database.write(lambda c: c.execute(insert(users).values(user_row(2, state="removed"))))
    await world.do(three_links, user_id=2)
    world.clock.advance(DAY)
    await world.nights().maintain_due()
    assert await world.told() == []
    assert await world.told(2) == []
    assert await world.database.read(flow.night_repository.last_nights) == {OWNER: NOON + DAY}


# What fades


def supported(m: Memories, node_id: str) -> None:
    """A stored line says it."""
    row = {"user_id": m.user_id, "id": f"of-{node_id}", "target": node_id, "kind": "node", "props": {}}
    times = {"said_at": NOON, "created_at": NOON, "episode_id": "e", "set_by": "archivist"}
    m.connection.execute(insert(observations).values(row | times))
    line = {"user_id": m.user_id, "target": f"observation:of-{node_id}", "episode_id": node_id, "segment": 1}
    m.connection.execute(insert(evidence).values(line | {"operation": "created"}))


async def offered(world: World, **config: Any) -> list[str]:
    report = await world.nights(**config).maintain(OWNER, dry_run=True)
    assert report.faded == len(report.offered)
    return [one.summary for one in report.offered]


async def test_what_nobody_used_for_long_is_offered_and_never_deleted(world: World) -> None:
    """The most faded first: unused and uncertain ones before those that were used."""

    def tell(m: Memories) -> None:
        for name, more in (("plain", {}), ("doubtful", {"confidence": 0.5}), ("used", {}), ("young", {})):
            node_id = m.memory(name, NOON + (300 * DAY if name == "young" else timedelta()), **more)
            supported(m, node_id)
            if name == "used":
                m.set_accessed(node_id, NOON + DAY, 5)

    await world.do(tell)
    world.clock.set(NOON + 5 * HALF_LIFE)
    assert await offered(world) == ["doubtful", "plain"]
    assert await offered(world, plasticity="conservative") == []
    assert await offered(world, forget_below=0) == []
    await world.nights().maintain(OWNER)
    assert await world.database.read(lambda c: store.count_nodes(c, OWNER)) == 4
    [event] = await world.told()
    assert (event["faded"], event["memories"]) == (2, 4)
    assert "plain" not in str(event)


async def test_an_uncertain_memory_is_not_offered_on_its_first_day(world: World) -> None:
    """It has not faded yet."""
    await world.do(lambda m: supported(m, m.memory("hardly", confidence=0.01)))
    assert await offered(world) == []
    world.clock.advance(HALF_LIFE + DAY)
    assert await offered(world) == ["hardly"]


THINGS = [
    ("INFORMED", "Decision", {"description": "x"}),
    ("SUPPORTS", "Goal", {"description": "x"}),
    ("PARTIALLY_ANSWERS", "Question", {"text": "x"}),
    ("REVEALS", "Preference", {"preference": "x"}),
    ("MENTIONS", "Entity", {"name": "x"}),
    ("OCCURRED_DURING", "TemporalMarker", {"type": "point", "description": "x"}),
]


@pytest.mark.parametrize(("type", "label", "properties"), THINGS)
async def test_the_only_record_of_a_thing_is_not_offered(
    world: World, type: str, label: str, properties: dict[str, str]
) -> None:
    """As soon as another memory speaks of the thing it is; one that is being forgotten does not count."""

    def tell(m: Memories) -> tuple[str, str]:
        only, thing = m.memory("only"), m.node(label, **properties)
        supported(m, only)
        m.edge(type, only, thing)
        return only, thing

    _, thing = await world.do(tell)
    world.clock.set(NOON + 10 * HALF_LIFE)
    assert await offered(world) == []
    assert (await world.nights().maintain(OWNER, dry_run=True)).kept == 1
    other = await world.do(lambda m: m.memory("other", world.clock.now()))
    await world.do(lambda m: m.edge(type, other, thing))
    assert await offered(world) == ["only"]
    await world.do(lambda m: m.hide(other))
    assert await offered(world) == []


async def test_a_fact_about_a_thing_is_a_record_of_it(world: World) -> None:
    """Until that fact is replaced by nothing."""

    def tell(m: Memories) -> str:
        memory, acme, olha = m.memory("only"), m.node("Entity", name="ACME"), m.node("Entity", name="Olha")
        supported(m, memory)
        m.edge("MENTIONS", memory, acme)
        return m.edge("FACT", olha, acme, name="WORKS_FOR", fact="Olha works for ACME")

    fact = await world.do(tell)
    world.clock.set(NOON + 10 * HALF_LIFE)
    assert await offered(world) == ["only"]
    times = {"expired_at": NOON}
    await world.do(lambda m: store.update_edge(m.connection, OWNER, fact, now=NOON, times=times))
    assert await offered(world) == []


async def test_sorting_alone_makes_no_record(world: World) -> None:
    """Concepts, keywords, topics, contexts and sources say where a memory belongs: nothing is lost with them."""

    def tell(m: Memories) -> None:
        memory = m.memory("plain")
        supported(m, memory)
        m.edge("HAS_CONCEPT", memory, m.node("Concept", name="x"))
        m.edge("HAS_KEYWORD", memory, m.node("Keyword", term="x"))
        m.edge("BELONGS_TO", memory, m.node("Topic", name="x"))
        m.edge("IN_CONTEXT", memory, m.node("Context", name="x", type="project"))
        m.edge("FROM_SOURCE", memory, m.node("Source", type="url", reference="x"))

    await world.do(tell)
    world.clock.set(NOON + 10 * HALF_LIFE)
    assert await offered(world) == ["plain"]


async def test_one_side_of_an_open_contradiction_is_not_offered(world: World) -> None:
    """It is settled first."""

    def tell(m: Memories) -> str:
        memory, conflict = m.memory("one side"), m.node("Contradiction", description="x")
        supported(m, memory)
        m.edge("CONFLICTS_WITH", conflict, memory)
        return conflict

    conflict = await world.do(tell)
    world.clock.set(NOON + 10 * HALF_LIFE)
    assert await offered(world) == []
    settled = {"status": "resolved"}
    await world.do(lambda m: store.update_node(m.connection, OWNER, conflict, settled, now=NOON))
    assert await offered(world) == ["one side"]


async def test_what_no_stored_line_says_is_offered_only_beside_another_about_the_same(world: World) -> None:
    """Its lines were erased, or it came by REST: it is the only record of itself unless another memory is near."""

    def tell(m: Memories) -> tuple[str, str]:
        return m.memory("alone"), m.node("Concept", name="tea")

    alone, tea = await world.do(tell)
    world.clock.set(NOON + 10 * HALF_LIFE)
    assert await offered(world) == []
    other = await world.do(lambda m: m.memory("other", world.clock.now()))
    await world.do(lambda m: (m.edge("HAS_CONCEPT", alone, tea), m.edge("HAS_CONCEPT", other, tea)))
    assert await offered(world) == ["alone"]
    await world.do(lambda m: store.delete_node(m.connection, OWNER, tea))
    assert await offered(world) == []
    await world.do(lambda m: m.link(other, alone, 0.9, world.clock.now()))
    assert await offered(world) == ["alone"]


# The change log


async def test_the_change_log_keeps_the_last_change_of_each_thing(world: World) -> None:
    """A reader that stopped anywhere still meets all that changed since, in the order of the last changes."""
    [a, b] = await world.do(lambda m: [m.memory("a"), m.memory("b")])
    await world.do(lambda m: m.link(a, b))
    for _ in range(5):
        await world.do(lambda m: operations.strengthen(m.connection, OWNER, a, b, 0.01, now=NOON))
    log = select(changes.c.seq, changes.c.kind, changes.c.id, changes.c.op)
    before = await world.database.read(lambda c: c.execute(log.order_by(changes.c.seq)).all())
    assert await compact_change_log(world.database, OWNER) == 5
    after = await world.database.read(lambda c: c.execute(log.order_by(changes.c.seq)).all())
    for place in range(before[-1].seq + 1):
        wanted = {(row.kind, row.id): row.op for row in before if row.seq > place}
        assert {(row.kind, row.id): row.op for row in after if row.seq > place} == wanted
    assert len(after) == len({(row.kind, row.id) for row in before})


async def test_a_year_of_nights_does_not_grow_the_log(world: World) -> None:
    """Each link stands in it once, however often it decayed."""
    await world.do(three_links)
    nights, sizes = world.nights(prune_below=0), []
    for _ in range(20):
        world.clock.advance(DAY)
        await nights.maintain_due()
        sizes.append(await world.do(lambda m: m.log_end))
    assert sizes[0] == sizes[-1]


async def test_forgetting_everything_forgets_the_nights(world: World) -> None:
    """The stored time goes with the owner's rows, as all of them do."""
    world.clock.advance(DAY)
    await world.nights().maintain_due()
    await world.database.write(lambda c: flow.users.change(c, OWNER, created_at=world.clock.now()))
    await world.database.write(lambda c: forgettings.erase_everything(c, OWNER, "2026-01-01"))
    assert await world.database.read(flow.night_repository.last_nights) == {}
