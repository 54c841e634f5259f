"""Finds pending requests that may together erase something that each of them alone would leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Row, Table, select

from internal.graph.store import owner_node_id
from internal.knowledge.relations import is_functional
from internal.storage import evidence
from internal.storage.chunks import rows_with
from internal.storage.evidence import Lines
from internal.storage.forgetting.forgettings import Forgetting
from internal.storage.forgetting.hidings import Targets
from internal.storage.tables import claims, graph_edges, graph_nodes, hidings, observations, people, segments


@dataclass(slots=True)
class _Footprint:
    """The nodes, episodes and functional relations that a request takes support from.

    `ends` are people who lose facts only: two requests do not meet in them alone.
    """

    nodes: set[str] = field(default_factory=set)
    ends: set[str] = field(default_factory=set)

    def meets(self, other: _Footprint) -> bool:
        return not (
            self.nodes.isdisjoint(other.nodes)
            and self.nodes.isdisjoint(other.ends)
            and self.ends.isdisjoint(other.nodes)
        )


def sharing(connection: Connection, asked: Forgetting, requests: Sequence[Forgetting]) -> list[Forgetting]:
    """The requests that take support from the same things as this one, directly or through others, in order.

    Facts of one person are independent, as none of them keeps the person, unless their relation is functional:
    such facts end one another.
    """
    left = _footprints(connection, asked.user_id, requests)
    found, look = {asked.id}, [left.pop(asked.id, _Footprint())]
    while look:
        one = look.pop()
        near = [id for id, other in left.items() if one.meets(other)]
        found.update(near)
        look += [left.pop(id) for id in near]
    return [one for one in requests if one.id in found]


def supporting_messages(connection: Connection, user_id: int, targets: Targets) -> set[str]:
    """The ids of the messages that support these nodes, edges and parts of profiles."""
    nodes, edges = targets.get("node", set()), targets.get("edge", set())
    found = {*targets.get("part", ()), *(f"entity:{node}" for node in nodes)}
    found |= {f"claim:{row.id}" for row in _rows(connection, user_id, claims, edges, "edge_id")}
    found |= {f"observation:{row.id}" for row in _rows(connection, user_id, observations, nodes | edges, "target")}
    supporting = set()
    for row in _rows(connection, user_id, people, nodes, "entity_id"):
        of_person = evidence.rows_with_parts(connection, user_id, f"person:{row.id}", "profile", row.id)
        supporting |= {line.message_id for line in of_person}
    supporting |= {line.message_id for line in evidence.rows_of_targets(connection, user_id, found)}
    return supporting - {None}


def _footprints(connection: Connection, user_id: int, requests: Sequence[Forgetting]) -> dict[str, _Footprint]:
    targets = _targets(connection, user_id, requests)
    by_kind: dict[str, set[str]] = defaultdict(set)
    for kind, id in {one for found in targets.values() for one in found}:
        by_kind[kind].add(id)
    edges = {row.id: (row.source, row.target) for row in _rows(connection, user_id, graph_edges, by_kind["edge"])}
    claimed = _rows(connection, user_id, claims, by_kind["claim"])
    edges |= {row.id: (row.source, row.target) for row in claimed}
    claimed += _rows(connection, user_id, claims, by_kind["edge"], "edge_id")
    claimed = [row for row in claimed if is_functional(row.name)]
    groups = {id: f"{row.source} {row.name}" for row in claimed for id in (row.id, row.edge_id)}
    observed = {row.id: row.target for row in _rows(connection, user_id, observations, by_kind["observation"])}
    edges |= {row.id: (row.source, row.target) for row in _rows(connection, user_id, graph_edges, observed.values())}
    profiles = {str(row.id): row.entity_id for row in _rows(connection, user_id, people, map(int, by_kind["person"]))}
    nodes = {*by_kind["node"], *observed.values(), *profiles.values(), *chain.from_iterable(edges.values())}
    merged = {row.id: row.merged_into for row in _rows(connection, user_id, graph_nodes, nodes) if row.merged_into}
    persons = {row.entity_id for row in _rows(connection, user_id, people, nodes, "entity_id")}
    found: dict[str, _Footprint] = {}
    for forgetting_id, supported in targets.items():
        found[forgetting_id] = one = _Footprint()
        for kind, id in supported:
            holder = {"observation": observed, "person": profiles}.get(kind, {}).get(id, id)
            if holder not in edges:
                one.nodes.add(merged.get(holder, holder))
            if holder in groups:
                one.nodes.add(groups[holder])
            for end in set(edges.get(holder, ())) - {owner_node_id(user_id)}:
                (one.ends if end in persons else one.nodes).add(merged.get(end, end))
    return found


def _targets(connection: Connection, user_id: int, requests: Sequence[Forgetting]) -> dict[str, set[tuple[str, str]]]:
    """What each request hides, and what its lines support, as kinds and ids; a part counts as its whole."""
    found: dict[str, set[tuple[str, str]]] = {one.id: set() for one in requests}
    lines: dict[str, set[str]] = defaultdict(set)
    for row in _rows(connection, user_id, hidings, found, "forgetting_id"):
        if row.kind == "message":
            lines[row.target].add(row.forgetting_id)
        else:
            found[row.forgetting_id].add(_whole(row.target if row.kind == "part" else f"{row.kind}:{row.target}"))
    for row in evidence.rows_of_lines(connection, user_id, Lines(lines)):
        for forgetting_id in lines[row.message_id]:
            found[forgetting_id].add(_whole(row.target))
    for row in _rows(connection, user_id, segments, lines, "message_id"):  # the episode is erased with its last line
        for forgetting_id in lines[row.message_id]:
            found[forgetting_id].add(("episode", row.episode_id))
    for one in requests:
        if one.kind == "episode":
            of_episode = evidence.rows_of_lines(connection, user_id, Lines(episode_id=one.ref_id, segments=None))
            found[one.id] |= {("episode", one.ref_id or ""), *(_whole(row.target) for row in of_episode)}
    return found


def _whole(target: str) -> tuple[str, str]:
    kind, id = target.split(":")[:2]
    return {"profile": "person", "name": "node", "entity": "node"}.get(kind, kind), id


def _rows(connection: Connection, user_id: int, table: Table, ids: Iterable[Any], column: str = "id") -> list[Row[Any]]:
    """The rows of an owner with one of these values."""
    return rows_with(connection, select(table).where(table.c.user_id == user_id), table.c[column], ids)
