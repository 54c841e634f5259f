"""Forgetting takes observations away, and what is left of the memory graph follows from the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import select
from support.knowledge.memory_stage import CONVERSATION, NOON, OWNER, Memories, database, link, ref, told
from support.long import examples

from internal.graph import store
from internal.memory import service
from internal.memory.model import ProposedMemory
from internal.storage.tables import TEXT, evidence, graph_edges, graph_nodes, metadata, name_keys, observations

CANARY = "zanzibar7"


def everything(memories: Memories) -> str:
    """Every text that is stored anywhere."""
    found = []
    for table in metadata.sorted_tables:
        columns = [column for column in table.c if column.info.items() >= TEXT.items()]
        if columns:
            found += [str(tuple(row)) for row in memories.connection.execute(select(*columns))]
    return "\n".join(found).casefold()


def full(word: str) -> list[ProposedMemory]:
    """An item of every label, each holding this word in every text it has."""
    memory = ref("Memory", f"we chose {word}", summary=f"{word}!")
    return [
        told(
            memory,
            link("HAS_CONCEPT", ref("Concept", f"concept {word}", description=f"about {word}")),
            link("HAS_KEYWORD", ref("Keyword", word)),
            link("BELONGS_TO", ref("Topic", f"topic {word}", description=word, aliases=[f"{word} too"])),
            link("INFORMED", ref("Decision", f"take {word}", rationale=word, outcome=word)),
            link("SUPPORTS", ref("Goal", f"reach {word}")),
            link("REVEALS", ref("Preference", f"likes {word}", category=word)),
            link("PARTIALLY_ANSWERS", ref("Question", f"why {word}?")),
            link("IN_CONTEXT", ref("Context", f"project {word}", type="project", description=word)),
            link("OCCURRED_DURING", ref("TemporalMarker", f"the {word} days", type="period")),
            link("RELATES_TO", ref("Memory", f"besides {word}"), relType=f"like {word}"),
        ),
        told(
            ref("Contradiction", f"{word} or not", resolution=word),
            link("CONFLICTS_WITH", memory),
            link("CONFLICTS_WITH", ref("Memory", f"besides {word}")),
        ),
    ]


def test_nothing_of_a_forgotten_episode_is_left_anywhere(memories: Memories) -> None:
    """Nodes of every label, links, quotes, keys and what they are found by."""
    memories.tell(*full(CANARY), said=(f"We chose {CANARY}",), source=CONVERSATION, episode="e")
    assert everything(memories).count(CANARY) > 30
    memories.forget("e")
    assert CANARY not in everything(memories)
    for table in (graph_nodes, graph_edges, observations, evidence, name_keys):
        assert memories.count(table) == 0, table.name


def test_words_of_a_forgotten_line_leave_nodes_that_others_tell_too(memories: Memories) -> None:
    """The node stays in the words of the line that is left."""
    memories.tell(
        told(ref("Decision", "take Postgres", rationale=f"because of {CANARY}", outcome="fine")),
        told(ref("Goal", "migrate", status="achieved")),
        episode="e",
        at=NOON,
    )
    memories.tell(told(ref("Decision", "Take Postgres.", rationale="free")), told(ref("Goal", "migrate")), at=NOON)
    memories.forget("e")
    node = memories.node("Decision")
    assert (node.name, node.properties.get("rationale"), node.properties.get("outcome")) == (
        "Take Postgres.", "free", None,
    )  # fmt: skip
    assert memories.node("Goal").properties["status"] == "active"
    assert CANARY not in everything(memories)


def test_a_message_takes_only_what_it_alone_tells(memories: Memories) -> None:
    """What two lines tell stays, unless its words hold one that only the forgotten line said."""
    both = (1, 2)
    memories.tell(
        told(ref("Memory", "we go to Lviv"), link("HAS_CONCEPT", ref("Concept", "travel")), lines=both),
        told(ref("Memory", f"we go with {CANARY}"), lines=both),
        said=(f"To Lviv, with {CANARY}", "Yes, we go to Lviv"),
        source=CONVERSATION,
        episode="e",
    )
    service.remove_messages(memories.connection, OWNER, ["e/1"], now=memories.now)
    assert [node.name for node in memories.nodes("Memory")] == ["we go to Lviv"]
    assert memories.edge("FROM_SOURCE").properties == {"excerpt": "Yes, we go to Lviv"}
    assert CANARY not in everything(memories)


def test_what_is_known_under_a_handle_goes_with_its_words(memories: Memories) -> None:
    """Later lines that only changed it do not tell what it was."""
    memories.tell(told(ref("Goal", f"reach {CANARY}")), episode="e")
    known = memories.node("Goal").id
    memories.tell(told(ref("Memory", "I am close"), link("SUPPORTS", ref("Goal", node_id=known))))
    memories.tell(told(ref("Goal", node_id=known, status="achieved")))
    memories.forget("e")
    assert memories.nodes("Goal") == []
    assert memories.edges("SUPPORTS") == []
    assert memories.node("Memory").name == "I am close"
    assert CANARY not in everything(memories)


def test_a_thing_of_the_knowledge_graph_stays(memories: Memories) -> None:
    """A topic that a fact is about outlives the memory that belongs to it, without what that told of it."""
    topic = store.add_node(memories.connection, OWNER, "Topic", {"name": "Chess", "aliases": ["шахи"]}, now=NOON)
    cited = {"user_id": OWNER, "target": f"entity:{topic.id}", "episode_id": "other", "segment": 1}
    memories.connection.execute(evidence.insert().values(**cited, operation="created"))
    memories.tell(
        told(
            ref("Memory", "I play"),
            link("BELONGS_TO", ref("Topic", "chess", description=CANARY, aliases=[f"{CANARY} too"])),
        ),
        episode="e",
    )
    assert memories.node("Topic").properties["description"] == CANARY
    memories.forget("e")
    assert memories.node("Topic").properties == {"name": "Chess", "aliases": ["шахи"], "attributes": {}}


def test_what_mentions_somebody_goes_with_him(memories: Memories) -> None:
    """And so does what only names him, of whatever label."""
    petrov = memories.entity("Petrov", type="person")
    memories.tell(told(ref("Memory", "he is ill"), link("MENTIONS", ref("Entity", "Petrov"))))
    memories.tell(told(ref("Goal", "visit Petrov")), told(ref("Goal", "sleep")))
    removal = service.remove_mentioning(
        memories.connection, OWNER, [petrov], lambda text: "petrov" in text.casefold(), now=NOON
    )
    assert sorted(removal.nodes.values()) == ["he is ill", "visit Petrov"]
    assert [node.name for node in memories.nodes("Goal")] == ["sleep"]


# --- A second reading


def test_what_a_second_reading_tells_again_keeps_its_ids(memories: Memories) -> None:
    """With what was learnt of it since; what it does not tell again goes."""
    memories.tell(told(ref("Memory", "near")), episode="before")
    near = memories.node("Memory").id
    shared = link("HAS_CONCEPT", ref("Concept", "SQL"))
    memories.tell(told(ref("Memory", "one"), shared), told(ref("Goal", "old goal")), episode="e", at=NOON)
    memories.tell(told(ref("Memory", "near"), shared), episode="before")
    one = next(node for node in memories.nodes("Memory") if node.name == "one")
    service.put_edge(memories.connection, OWNER, "RELATES_TO", one.id, near, {}, now=NOON)
    edges = {edge.id for edge in memories.edges("HAS_CONCEPT")}
    store.touch_nodes(memories.connection, OWNER, [one.id], NOON)
    reread(memories, "e", told(ref("Memory", "one"), shared), told(ref("Goal", "new goal")))
    again = next(node for node in memories.nodes("Memory") if node.name == "one")
    assert (again.id, again.access_count) == (one.id, 1)
    assert {edge.id for edge in memories.edges("HAS_CONCEPT")} == edges
    assert [node.name for node in memories.nodes("Goal")] == ["new goal"]


def test_a_likeness_that_was_learnt_survives_a_second_reading(memories: Memories) -> None:
    """Its strength is what use has made of it, whether or not the memories are still the nearest."""
    shared = link("HAS_CONCEPT", ref("Concept", "SQL"))
    memories.tell(told(ref("Memory", "first"), shared))
    memories.tell(told(ref("Memory", "second"), shared), episode="e", at=NOON)
    edge = memories.edge("RELATES_TO")
    store.update_edge(memories.connection, OWNER, edge.id, now=NOON, properties={"strength": 0.77})
    reread(memories, "e", told(ref("Memory", "second")))
    assert (memories.edge("RELATES_TO").id, memories.edge("RELATES_TO").strength) == (edge.id, 0.77)
    reread(memories, "e")
    assert memories.edges("RELATES_TO") == []


def reread(memories: Memories, episode: str, *items: ProposedMemory) -> None:
    before = service.remove_slice_observations(memories.connection, OWNER, episode, [1])
    memories.tell(*items, episode=episode, at=NOON)
    service.remove_unsupported(memories.connection, OWNER, before, now=memories.now)


# --- A merge and its split


def test_a_merge_and_its_split_leave_every_mention_to_its_own(memories: Memories) -> None:
    """A mention that became a double of another supports that one meanwhile, and is itself again after the split."""
    petrov, sasha = memories.entity("Petrov"), memories.entity("Sasha")
    memories.tell(told(ref("Memory", "he is ill"), link("MENTIONS", ref("Entity", "Petrov"))), episode="a")
    memories.tell(told(ref("Memory", "he is ill"), link("MENTIONS", ref("Entity", "Sasha"), role="x")), episode="b")
    before = memories.graph()
    moved = store.repoint(memories.connection, OWNER, sasha, petrov)
    store.redirect_node(memories.connection, OWNER, sasha, petrov)
    service.reproject(memories.connection, OWNER, [petrov], now=NOON)
    assert memories.edge("MENTIONS").properties == {"role": "x"}
    assert {one.episode_id for one in memories.observations(memories.edge("MENTIONS").id)} == {"a", "b"}
    store.redirect_node(memories.connection, OWNER, sasha, None)
    store.restore_ends(memories.connection, OWNER, sasha, petrov, [sasha], moved)
    service.reproject(memories.connection, OWNER, [petrov, sasha], now=NOON)
    assert memories.graph() == before
    memories.forget("b")
    assert memories.edge("MENTIONS").target == petrov


# --- Any order, any forgetting


def _items() -> st.SearchStrategy[ProposedMemory]:
    words = st.sampled_from(("one", "two", "three"))
    share = st.none() | st.sampled_from((0.0, 0.25, 0.5, 1.0))

    def node(label: str, **properties: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.builds(
            lambda name, given: ref(label, name, **{key: value for key, value in given.items() if value is not None}),
            words.map(lambda word: f"{label} {word}") | words.map(lambda word: f"{label} {word}.".upper()),
            st.fixed_dictionaries(properties),
        )

    goal = node(
        "Goal", status=st.none() | st.sampled_from(("active", "achieved")), priority=st.none() | st.integers(1, 3)
    )
    question = node("Question", status=st.none() | st.sampled_from(("open", "partial", "answered")))
    decision = node("Decision", rationale=st.none() | words, reversible=st.none() | st.booleans())
    preference = node("Preference", strength=st.none() | st.sampled_from((-1.0, -0.25, 0.5, 1.0)))
    concept = node("Concept", description=st.none() | words)
    memory = node("Memory", confidence=share)

    def links(type: str, other: st.SearchStrategy[Any], **properties: st.SearchStrategy[Any]) -> Any:
        return st.builds(
            lambda one, given: link(type, one, **{key: value for key, value in given.items() if value is not None}),
            other,
            st.fixed_dictionaries(properties),
        )

    of_memory = st.lists(
        st.one_of(
            links("HAS_CONCEPT", concept, relevance=share),
            links("SUPPORTS", goal, strength=share),
            links("PARTIALLY_ANSWERS", question, completeness=share),
            links("REVEALS", preference),
            links("INFORMED", decision),
        ),
        max_size=3,
    )
    memories = st.builds(lambda one, several: told(one, *several), memory, of_memory)
    return memories | st.one_of(goal, question, decision, preference, concept).map(told)


EPISODES = st.lists(st.tuples(st.integers(0, 3), st.lists(_items(), min_size=1, max_size=3)), min_size=1, max_size=5)


def lived(
    episodes: Sequence[tuple[int, Sequence[ProposedMemory]]],
    order: Sequence[int],
    forgotten: Sequence[int] = (),
) -> dict[str, Any]:
    """What is known after these episodes (hour, items) arrived in this order and some were forgotten."""
    with database() as connection:
        memories = Memories(connection)
        for number in order:
            hour, items = episodes[number]
            memories.now = NOON + timedelta(days=30)
            memories.tell(*items, episode=f"e{number}", at=at(hour), source=CONVERSATION)
        memories.forget(*(f"e{number}" for number in forgotten))
        return without_likeness(memories.graph())


def without_likeness(graph: dict[str, Any]) -> dict[str, Any]:
    return graph | {"edges": [edge for edge in graph["edges"] if "RELATES_TO" not in edge]}


def at(hour: int) -> datetime:
    return NOON + timedelta(hours=hour)


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(episodes=EPISODES, data=st.data())
def test_any_order_of_arrival_ends_in_the_same_graph(episodes: list[Any], data: st.DataObject) -> None:
    """Nodes, their properties, and links, those apart that are made of likeness to what was there already."""
    numbers = list(range(len(episodes)))
    order = data.draw(st.permutations(numbers))
    one, other = lived(episodes, numbers), lived(episodes, order)
    assert (one["nodes"], one["edges"]) == (other["nodes"], other["edges"])


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(episodes=EPISODES, data=st.data())
def test_what_is_forgotten_was_never_told(episodes: list[Any], data: st.DataObject) -> None:
    """Nodes, links, observations and evidence are as they would be without the forgotten episodes."""
    numbers = list(range(len(episodes)))
    forgotten = data.draw(st.lists(st.sampled_from(numbers), unique=True))
    rest = [number for number in numbers if number not in forgotten]
    one, other = lived(episodes, numbers, forgotten), lived(episodes, rest)
    assert (one["nodes"], one["edges"]) == (other["nodes"], other["edges"])


@settings(max_examples=examples(10), suppress_health_check=[HealthCheck.too_slow])
@given(episodes=EPISODES)
def test_strengths_and_shares_stay_in_their_ranges(episodes: list[Any]) -> None:
    """Whatever is told how often: the registry takes every node and edge as it is stored."""
    with database() as connection:
        memories = Memories(connection)
        for number, (hour, items) in enumerate(episodes):
            memories.tell(*items, episode=f"e{number}", at=at(hour), source=CONVERSATION)
        for node in memories.nodes("Preference"):
            assert -1 <= node.properties["strength"] <= 1
            assert 1 <= node.properties["observations"] <= len(episodes)
        for type in ("RELATES_TO", "SUPPORTS"):
            assert all(0 <= (edge.strength or 0) <= 1 for edge in memories.edges(type))
        assert 0 <= memories.node("Source").properties["reliability"] <= 1 if memories.nodes("Source") else True


@settings(max_examples=examples(10), suppress_health_check=[HealthCheck.too_slow])
@given(items=st.lists(_items(), min_size=1, max_size=4))
def test_a_second_reading_that_tells_the_same_changes_nothing(items: list[ProposedMemory]) -> None:
    """Not even an id."""
    with database() as connection:
        memories = Memories(connection)
        memories.tell(*items, episode="e", at=NOON, source=CONVERSATION)
        ids = connection.execute(select(graph_nodes.c.id, graph_nodes.c.props)).all()
        before = service.remove_slice_observations(connection, OWNER, "e", [1])
        memories.tell(*items, episode="e", at=NOON, source=CONVERSATION)
        removal = service.remove_unsupported(connection, OWNER, before, now=memories.now)
        assert not removal.nodes
        assert connection.execute(select(graph_nodes.c.id, graph_nodes.c.props)).all() == ids
