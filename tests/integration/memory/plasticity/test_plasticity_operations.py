"""The five operations of the specification, over real rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sqlalchemy import Connection, insert, select
from support.knowledge.plasticity_stage import DAY, NOON, OWNER, STRANGER, Memories, in_memory
from support.long import examples

from internal.errors import NotFound, Refused
from internal.graph import store
from internal.memory.model import Association
from internal.memory.plasticity import strength_changes as plasticity_operations
from internal.memory.plasticity.decay import PRESETS
from internal.storage.tables import evidence, graph_edges, graph_nodes, observations

LATER = NOON + DAY


@pytest.mark.parametrize(
    ("before", "operation", "amount", "after"),
    [
        (0.5, plasticity_operations.strengthen, 0.2, 0.7),
        (0.5, plasticity_operations.strengthen, 0.5, 1.0),
        (0.9, plasticity_operations.strengthen, 0.2, 1.0),
        (0.5, plasticity_operations.strengthen, 0.0, 0.5),
        (0.5, plasticity_operations.weaken, 0.2, 0.3),
        (0.5, plasticity_operations.weaken, 0.5, 0.0),
        (0.1, plasticity_operations.weaken, 0.2, 0.0),
        (1.0, plasticity_operations.weaken, 1.0, 0.0),
    ],
)
def test_one_link_is_changed_within_its_bounds(
    memories: Memories, before: float, operation: Callable[..., float], amount: float, after: float
) -> None:
    """Only in the direction that was named; the change is logged, and the strength counts from now on."""
    a, b = memories.memory("a"), memories.memory("b")
    there, back = memories.link(a, b, before), memories.link(b, a, before)
    end = memories.log_end
    assert operation(memories.connection, OWNER, a, b, amount, now=LATER) == pytest.approx(after)
    assert memories.strengths() == {(a, b): pytest.approx(after), (b, a): before}
    assert memories.changed(end) == [("edge", there, "put")]
    edges = [store.get_edge(memories.connection, OWNER, one) for one in (there, back)]
    assert [edge.strength_at for edge in edges if edge] == [LATER, NOON]


@pytest.mark.parametrize("operation", [plasticity_operations.strengthen, plasticity_operations.weaken])
def test_memories_that_are_not_linked_are_not_found(
    memories: Memories, stranger: Memories, operation: Callable[..., float]
) -> None:
    """Neither against the direction, nor by another relationship, nor of another owner, nor while being forgotten."""
    a, b, goal = memories.memory("a"), memories.memory("b"), memories.node("Goal", description="g")
    memories.link(a, b)
    memories.edge("SUPPORTS", a, goal)
    before = memories.strengths()
    for user_id, source, target in ((OWNER, b, a), (OWNER, a, goal), (STRANGER, a, b), (OWNER, a, "nothing")):
        with pytest.raises(NotFound, match="no RELATES_TO leads from"):
            operation(memories.connection, user_id, source, target, 0.1, now=NOON)
    memories.hide(b)
    with pytest.raises(NotFound):
        operation(memories.connection, OWNER, a, b, 0.1, now=NOON)
    assert memories.strengths() == before


@pytest.mark.parametrize("amount", [-0.1, 1.1, float("nan"), float("inf")])
def test_amounts_outside_0_and_1_are_refused(memories: Memories, amount: float) -> None:
    """By the name of the field, before anything is changed."""
    a, b = memories.memory("a"), memories.memory("b")
    memories.link(a, b)
    c = memories.connection
    for call, field in (
        (lambda: plasticity_operations.strengthen(c, OWNER, a, b, amount, now=NOON), "amount"),
        (lambda: plasticity_operations.weaken(c, OWNER, a, b, amount, now=NOON), "amount"),
        (lambda: plasticity_operations.decay(c, OWNER, amount, 0.1, now=NOON), "threshold"),
        (lambda: plasticity_operations.decay(c, OWNER, 0.5, amount, now=NOON), "decay"),
        (lambda: plasticity_operations.prune(c, OWNER, amount), "min_strength"),
        (lambda: plasticity_operations.associations(c, OWNER, a, amount), "min_strength"),
    ):
        with pytest.raises(Refused, match=f"{field}: a number from 0 to 1 is expected"):
            call()
    assert memories.strengths() == {(a, b): 0.5}


def test_decay_takes_from_the_weak_alone(memories: Memories, stranger: Memories) -> None:
    """Below the threshold and above 0; the threshold itself, other relationships and other owners stay."""
    ids = [memories.memory(str(n)) for n in range(5)]
    hub, goal = memories.memory("hub"), memories.node("Goal", description="g")
    for one, strength in zip(ids, (0.0, 0.05, 0.2, 0.3, 0.9), strict=True):
        memories.link(hub, one, strength)
    memories.edge("SUPPORTS", hub, goal, strength=0.1)
    stranger.link(stranger.memory("x"), stranger.memory("y"), 0.1)
    end = memories.log_end
    assert plasticity_operations.decay(memories.connection, OWNER, 0.3, 0.1, now=LATER) == 2
    left = memories.strengths()
    assert [left[hub, one] for one in ids] == [0.0, 0.0, pytest.approx(0.1), 0.3, 0.9]
    assert list(stranger.strengths().values()) == [0.1]
    supports = select(graph_edges.c.strength).where(graph_edges.c.type == "SUPPORTS")
    assert memories.connection.execute(supports).scalar_one() == 0.1
    assert [op for _, _, op in memories.changed(end)] == ["put", "put"]
    assert plasticity_operations.decay(memories.connection, OWNER, 0.0, 1.0, now=LATER) == 0


def test_prune_deletes_the_dead_with_what_was_observed_of_them(memories: Memories, stranger: Memories) -> None:
    """The bound itself stays. No observation and no evidence of a pruned link is left, those of others are."""
    a, b, c = (memories.memory(name) for name in "abc")
    dead, alive = memories.link(a, b, 0.09), memories.link(a, c, 0.1)
    stranger.link(stranger.memory("x"), stranger.memory("y"), 0.01)
    for edge_id in (dead, alive):
        observe(memories.connection, edge_id)
    end = memories.log_end
    assert plasticity_operations.prune(memories.connection, OWNER, 0.1) == 1
    assert memories.strengths() == {(a, c): 0.1}
    assert memories.changed(end) == [("edge", dead, "delete")]
    assert memories.connection.execute(select(observations.c.target)).scalars().all() == [alive]
    assert memories.connection.execute(select(evidence.c.target)).scalars().all() == [f"observation:of-{alive}"]
    assert len(stranger.strengths()) == 1
    assert plasticity_operations.prune(memories.connection, OWNER, 0.0) == 0


def observe(connection: Connection, edge_id: str) -> None:
    """As an episode tells of an edge."""
    row = {"user_id": OWNER, "id": f"of-{edge_id}", "target": edge_id, "kind": "edge", "props": {}}
    times = {"said_at": NOON, "created_at": NOON, "episode_id": "e", "set_by": "archivist"}
    connection.execute(insert(observations).values(row | times))
    line = {"user_id": OWNER, "target": f"observation:of-{edge_id}", "episode_id": "e", "segment": 1}
    connection.execute(insert(evidence).values(line | {"operation": "created"}))


def test_associations_lead_from_a_memory_strongest_first(memories: Memories, stranger: Memories) -> None:
    """From the bound on, in the direction of the link, without what is being forgotten."""
    hub, a, b, c = (memories.memory(name) for name in ("hub", "a", "b", "c"))
    for other, strength in ((a, 0.3), (b, 0.9), (c, 0.5)):
        memories.link(hub, other, strength)
    memories.link(a, hub, 1.0)
    find = plasticity_operations.associations
    assert find(memories.connection, OWNER, hub, 0.5) == [Association(b, 0.9), Association(c, 0.5)]
    assert [one.node_id for one in find(memories.connection, OWNER, hub)] == [b, c, a]
    assert [one.node_id for one in find(memories.connection, OWNER, hub, limit=1)] == [b]
    memories.hide(b)
    assert [one.node_id for one in find(memories.connection, OWNER, hub)] == [c, a]
    with pytest.raises(NotFound):
        find(memories.connection, STRANGER, hub)
    with pytest.raises(Refused, match="not from a Goal"):
        find(memories.connection, OWNER, memories.node("Goal", description="g"))


def test_what_was_used_together_is_touched_and_linked_more_strongly(memories: Memories) -> None:
    """Each access is counted; links among the used grow both ways, after decaying to now; others stay."""
    a, b, c = (memories.memory(name) for name in "abc")
    memories.link(a, b, 0.4)
    memories.link(b, a, 0.95)
    memories.link(a, c, 0.4)
    rates = PRESETS["default"]
    assert rates.half_life is not None
    then = NOON + rates.half_life
    assert plasticity_operations.touch_used(memories.connection, OWNER, [a, b, "gone"], then, rates) == 2
    assert memories.strengths() == {(a, b): pytest.approx(0.3), (b, a): pytest.approx(0.575), (a, c): 0.4}
    touched = select(graph_nodes.c.id, graph_nodes.c.access_count, graph_nodes.c.last_accessed)
    found = {row.id: tuple(row)[1:] for row in memories.connection.execute(touched)}
    assert found == {a: (1, then), b: (1, then), c: (0, None)}


def test_off_counts_accesses_and_strengthens_nothing(memories: Memories) -> None:
    """What was recalled when is told all the same."""
    a, b = memories.memory("a"), memories.memory("b")
    memories.link(a, b)
    end = memories.log_end
    assert plasticity_operations.touch_used(memories.connection, OWNER, [a, b], LATER, PRESETS["off"]) == 0
    assert memories.strengths() == {(a, b): 0.5}
    assert [kind for kind, _, _ in memories.changed(end)] == ["node", "node"]


class Model:
    """The specification's statements in plain Python, over {(source, target): strength}."""

    def __init__(self, strengths: dict[tuple[int, int], float]) -> None:
        self.strengths = strengths

    def strengthen(self, source: int, target: int, amount: float) -> None:
        if (source, target) in self.strengths:
            more = self.strengths[source, target] + amount
            self.strengths[source, target] = 1.0 if more > 1.0 else more

    def weaken(self, source: int, target: int, amount: float) -> None:
        if (source, target) in self.strengths:
            less = self.strengths[source, target] - amount
            self.strengths[source, target] = 0.0 if less < 0.0 else less

    def decay(self, threshold: float, amount: float) -> int:
        weak = [ends for ends, strength in self.strengths.items() if 0 < strength < threshold]
        for ends in weak:
            self.weaken(*ends, amount)
        return len(weak)

    def prune(self, min_strength: float) -> int:
        dead = [ends for ends, strength in self.strengths.items() if strength < min_strength]
        for ends in dead:
            del self.strengths[ends]
        return len(dead)

    def associations(self, source: int, min_strength: float) -> list[tuple[int, float]]:
        found = [(b, s) for (a, b), s in self.strengths.items() if a == source and s >= min_strength]
        return sorted(found, key=lambda one: -one[1])


MEMORIES = range(4)
PAIRS = [(a, b) for a, b in product(MEMORIES, MEMORIES) if a != b]
SHARES = st.floats(0, 1, allow_nan=False) | st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])
OPERATIONS = st.one_of(
    st.tuples(st.sampled_from(["strengthen", "weaken"]), st.sampled_from(PAIRS), SHARES),
    st.tuples(st.just("decay"), SHARES, SHARES),
    st.tuples(st.just("prune"), SHARES),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Connection]:
    with in_memory() as connection:
        yield connection


@settings(max_examples=examples(60))
@given(st.dictionaries(st.sampled_from(PAIRS), SHARES), st.lists(OPERATIONS, max_size=12))
def test_the_operations_are_the_specifications_statements(
    shared: Connection, strengths: dict[tuple[int, int], float], operations: list[tuple[Any, ...]]
) -> None:
    """Whatever is done in whatever order, strengths, counts and associations are the plain model's, in [0, 1]."""
    with shared.begin_nested() as undone:
        memories, model = Memories(shared), Model(dict(strengths))
        ids = [memories.memory(str(n)) for n in MEMORIES]
        for (a, b), strength in strengths.items():
            memories.link(ids[a], ids[b], strength)
        for operation in operations:
            apply(memories.connection, ids, model, operation)
            numbered = {(ids.index(a), ids.index(b)): s for (a, b), s in memories.strengths().items()}
            assert numbered == model.strengths
            assert all(0.0 <= strength <= 1.0 for strength in numbered.values())
        found = plasticity_operations.associations(memories.connection, OWNER, ids[0], 0.1)
        assert [one.strength for one in found] == [strength for _, strength in model.associations(0, 0.1)]
        assert {(ids.index(one.node_id), one.strength) for one in found} == set(model.associations(0, 0.1))
        undone.rollback()


def apply(connection: Connection, ids: list[str], model: Model, operation: tuple[Any, ...]) -> None:
    match operation:
        case ("decay", threshold, amount):
            expected = model.decay(threshold, amount)
            assert plasticity_operations.decay(connection, OWNER, threshold, amount, now=LATER) == expected
        case ("prune", min_strength):
            assert plasticity_operations.prune(connection, OWNER, min_strength) == model.prune(min_strength)
        case (name, (a, b), amount) if (a, b) in model.strengths:
            getattr(model, name)(a, b, amount)
            done = getattr(plasticity_operations, name)(connection, OWNER, ids[a], ids[b], amount, now=LATER)
            assert done == model.strengths[a, b]
        case (name, (a, b), amount):
            with pytest.raises(NotFound):
                getattr(plasticity_operations, name)(connection, OWNER, ids[a], ids[b], amount, now=LATER)
