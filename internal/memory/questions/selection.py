"""The next question to the owner: about contradictions, suggestions, open questions or fading memories."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from internal.graph import store
from internal.graph.model import Node, NodeFilter
from internal.memory.observations import owner_changes
from internal.memory.plasticity import maintenance
from internal.memory.plasticity.decay import Plasticity
from internal.memory.queries import repository
from internal.memory.questions import repository as question_repository
from internal.memory.questions.repository import About

AGAIN_AFTER: Final[dict[About, timedelta]] = {
    "contradiction": timedelta(days=7),
    "suggestion": timedelta(days=30),
    "question": timedelta(days=30),
    "fading": timedelta(days=30),
}
"""The time before a question without a final answer is repeated; about fading memories at most monthly."""

SETTLING: Final = timedelta(days=1)
"""The age from which the owner is asked about an open question."""

OFFERED: Final = 5
"""Most fading memories of one question."""

_LOOKED_AT: Final = 50

Next = tuple[About, Sequence[str]]


def next_question(
    connection: Connection, user_id: int, plasticity: Plasticity, now: datetime, *, fading: bool = True
) -> Next | None:
    """The subject of the next question and the ids of its nodes or its suggestion; None if there is none.

    Without `fading` the search for fading memories is left out: it reads every memory unused for long.
    """
    for about in AGAIN_AFTER:
        if about == "fading" and not fading:
            continue
        before = question_repository.ever_asked(connection, user_id, about)
        recent = now - AGAIN_AFTER[about]
        tired = {
            ref
            for question in before
            if question.state == "declined" or question.asked_at > recent
            for ref in question.refs
        }
        if about == "fading" and any(question.state == "declined" or question.asked_at > recent for question in before):
            continue
        refs = _candidate(connection, user_id, about, tired, plasticity, now)
        if refs:
            return about, refs
    return None


def _candidate(
    connection: Connection, user_id: int, about: About, tired: set[str], plasticity: Plasticity, now: datetime
) -> list[str]:
    match about:
        case "contradiction":
            open_ones = (node.id for node in _unresolved(connection, user_id) if node.id not in tired)
            return next(([node] for node in open_ones if _has_sides(connection, user_id, node)), [])
        case "suggestion":
            waiting = (one.id for one in owner_changes.suggestions(connection, user_id))
            return next(([question] for question in waiting if question not in tired), [])
        case "question":
            nodes = repository.listing(connection, user_id, "Question", ("open", "partial"), limit=_LOOKED_AT)
            old = (node.id for node in reversed(nodes) if node.created_at <= now - SETTLING)
            return next(([memory] for memory in old if memory not in tired), [])
        case "fading":
            faded, _ = maintenance.faded_memories(connection, user_id, plasticity, now)
            return [memory.id for memory in faded[:OFFERED]]


def _unresolved(connection: Connection, user_id: int) -> list[Node]:
    wanted = NodeFilter(labels=["Contradiction"], status="unresolved")
    nodes = store.nodes(connection, user_id, wanted, limit=_LOOKED_AT)
    return [node for node in nodes if not node.properties.get("facts")]


def _has_sides(connection: Connection, user_id: int, node_id: str) -> bool:
    return len(owner_changes.contradiction_sides(connection, user_id, node_id)) > 1
