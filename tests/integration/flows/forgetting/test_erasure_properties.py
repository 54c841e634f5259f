"""To forget is as if it had never been told: whatever was said, in whatever order, and whatever of it is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, select
from support.flows.random_episodes import EPISODES, NOON, OWNER, Line, memory, tell
from support.long import examples

from internal.flows.forgetting.erase import erase_episode, erase_messages
from internal.graph import store
from internal.graph.model import NodeFilter
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.people import repository
from internal.people.bio import sentences_of_bio
from internal.storage.tables import claims, evidence, facts, graph_edges, mentions, messages


def remembered(connection: Connection) -> Any:
    """All that is known, without ids and without when it was written."""
    now = NOON + timedelta(days=9)
    listed = knowledge.facts_about(connection, OWNER, FactFilter(include_invalid=True), now=now)
    nodes = store.nodes(connection, OWNER, NodeFilter(labels=["Entity"]), limit=1_000)
    return {
        "people": {
            one.display_name: (frozenset(one.aliases), frozenset(_told(one.bio, one.names)), one.mention_count)
            for one in repository.listing(connection, OWNER)
        },
        "facts": sorted(str((one.fact, one.valid_at, one.invalid_at, one.episodes)) for one in listed),
        "nodes": sorted(node.name for node in nodes if node.id != store.owner_node_id(OWNER)),
        "contradictions": len(knowledge.open_contradictions(connection, OWNER)),
        "rows": {
            table.name: len(connection.execute(select(table)).all())
            for table in (messages, claims, facts, graph_edges, mentions, evidence)
        },
    }


def _told(bio: str, names: Sequence[str]) -> list[str]:
    """What a bio says beyond names: one that is made of them may list them in any order."""
    return [one for one in sentences_of_bio(bio) if not {word.strip() for word in one.split(",")} <= set(names)]


def lived(told: Sequence[tuple[int, Sequence[Line]]], forgotten: Sequence[int] = ()) -> Any:
    with memory() as connection:
        for number, lines in told:
            tell(connection, number, lines)
        for number in forgotten:
            erase_episode(connection, OWNER, f"episode-{number}", now=NOON + timedelta(days=1))
        return remembered(connection)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow])
@given(told=EPISODES, data=st.data())
def test_forgotten_episodes_are_as_if_they_had_never_been(told: list[list[Line]], data: st.DataObject) -> None:
    """People, facts with their dates, things, open questions and the number of rows of each table."""
    numbered = list(enumerate(told, start=1))
    forgotten = data.draw(st.lists(st.sampled_from([n for n, _ in numbered]), unique=True))
    rest = [(n, lines) for n, lines in numbered if n not in forgotten]
    assert lived(numbered, forgotten) == lived(rest)


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow])
@given(told=EPISODES)
def test_of_everything_forgotten_nothing_is_left(told: list[list[Line]]) -> None:
    """Episode by episode, or message by message, the memory is as empty as at first."""
    numbered = list(enumerate(told, start=1))
    empty = lived([])
    assert lived(numbered, [n for n, _ in numbered]) == empty
    with memory() as connection:
        for number, lines in numbered:
            tell(connection, number, lines)
        for number, lines in numbered:
            for n in range(1, len(lines) + 1):
                erase_messages(connection, OWNER, [f"message-{number}-{n}"], now=NOON + timedelta(days=1))
        assert remembered(connection) == empty
