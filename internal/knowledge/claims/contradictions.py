"""Contradictions of facts: nodes that hold the ids of the facts, and questions to the owner."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import fact_repository
from internal.knowledge.claims.changes import Changes
from internal.knowledge.claims.time_rules import Span, SpanConflict
from internal.knowledge.relations import Group

UNRESOLVED: Final = "unresolved"
RESOLVED: Final = "resolved"
ACCEPTED: Final = "accepted"


class Contradictions:
    """Updates Contradiction nodes and questions to the conflicts of projections, within one transaction."""

    def __init__(
        self, connection: Connection, user_id: int, now: datetime, run_id: str | None, changes: Changes
    ) -> None:
        self._connection, self._user_id, self._now, self._run_id = connection, user_id, now, run_id
        self._changes = changes
        self._nodes: dict[str, Node] | None = None

    def compare(
        self, group: Group, conflicts: Sequence[SpanConflict], edges: Mapping[Span, str], group_edges: Collection[str]
    ) -> None:
        """Opens new contradictions, updates those that persist and settles those that are gone."""
        wanted = {
            frozenset(edges[span] for span in conflict.spans if span in edges): conflict for conflict in conflicts
        }
        wanted = {facts: conflict for facts, conflict in wanted.items() if len(facts) > 1}
        for node in self._known(ACCEPTED):
            wanted = {facts: conflict for facts, conflict in wanted.items() if not facts <= _facts(node)}
        for node in self._known(UNRESOLVED):
            if not _facts(node) & set(group_edges):
                continue
            same = next((facts for facts in wanted if facts & _facts(node)), None)
            if same is None:
                self.settle(node.id, RESOLVED, "stale")
            else:
                self._change(node, same)
                del wanted[same]
        for facts, conflict in wanted.items():
            self._open(group[1], facts, conflict)

    def follow(self, old_id: str, new_id: str) -> None:
        """Moves contradictions of a fact to its new version."""
        for status in (UNRESOLVED, ACCEPTED):
            for node in self._known(status):
                if old_id in _facts(node):
                    self._change(node, _facts(node) - {old_id} | {new_id})

    def forget(self, fact_ids: Collection[str]) -> None:
        """Deletes every contradiction that lost a side."""
        for status in (UNRESOLVED, ACCEPTED, RESOLVED):
            for node in self._known(status):
                if _facts(node) & set(fact_ids):
                    fact_repository.close_question(self._connection, self._user_id, node.id, "stale", self._now)
                    store.delete_node(self._connection, self._user_id, node.id)
                    self._all().pop(node.id)
                    self._changes.settled.append(node.id)

    def settle(self, node_id: str, status: str, answer: str, resolution: str | None = None) -> None:
        """Closes a contradiction and its question; `answer` is the state of the question."""
        changes = {"status": status} | ({"resolution": resolution} if resolution else {})
        by = "owner" if answer == "accepted" else "archivist"
        self._all()[node_id] = store.update_node(
            self._connection, self._user_id, node_id, changes, now=self._now, by=by
        )
        fact_repository.close_question(self._connection, self._user_id, node_id, answer, self._now)
        self._changes.settled.append(node_id)

    def _open(self, relation: str, facts: Collection[str], conflict: SpanConflict) -> None:
        # Ids and the relation's name only: a description would keep words that are forgotten later.
        properties = {"description": f"{relation}: {', '.join(conflict.reasons)}", "facts": sorted(facts)}
        node = store.add_node(
            self._connection,
            self._user_id,
            fact_repository.CONTRADICTION,
            properties,
            now=self._now,
            run_id=self._run_id,
            findable=False,
        )
        fact_repository.ask(self._connection, self._user_id, node.id, self._now, self._run_id)
        self._all()[node.id] = node
        self._changes.contradictions.append(node.id)

    def _change(self, node: Node, facts: Collection[str]) -> None:
        if set(facts) != _facts(node):
            changed = store.update_node(
                self._connection, self._user_id, node.id, {"facts": sorted(facts)}, now=self._now
            )
            self._all()[node.id] = changed

    def _known(self, status: str) -> list[Node]:
        return [node for node in self._all().values() if node.properties["status"] == status]

    def _all(self) -> dict[str, Node]:
        """Every contradiction of facts by its id, read once, since a reply of the archivist touches many facts."""
        if self._nodes is None:
            found = fact_repository.contradictions(self._connection, self._user_id)
            self._nodes = {node.id: node for node in found}
        return self._nodes


def _facts(node: Node) -> set[str]:
    return set(node.properties["facts"])
