"""The memory graph's requests and answers, under the names of the memory-graph specification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field, model_validator

from bot.web.http.fields import NodeId, Owner, Properties, RequestBody, Share, Short, Statement, filled
from internal.graph import registry
from internal.graph.model import Edge, Node
from internal.memory.observations.owner_statement import StatedLink, StatedNode


class LinkEnd(RequestBody):
    """A node by its `id`, or by label and properties: the one of that name, else a new one."""

    id: NodeId | None = None
    label: Short | None = None
    properties: Properties = Field(default_factory=dict)

    @model_validator(mode="after")
    def _said_once(self) -> Self:
        if (self.id is None) == (self.label is None):
            raise ValueError("either id, or label and properties, are expected")
        return self


class NodeLink(RequestBody):
    """A relationship that leads from the new node `to` another."""

    type: Short
    to: LinkEnd
    properties: Properties = Field(default_factory=dict)

    def statement(self) -> StatedLink:
        return StatedLink(self.type, self.properties, self.to.id, self.to.label or "", self.to.properties)


class NodeCreateRequest(RequestBody):
    user_id: Owner
    label: Short = Field(description="One of the 13 of the memory graph.")
    properties: Properties
    links: list[NodeLink] = Field([], max_length=50)

    def statement(self) -> StatedNode:
        return StatedNode(self.label, self.properties, [link.statement() for link in self.links])


class NodeChangeRequest(RequestBody):
    """Changes; absent properties stay, null removes an optional property."""

    properties: Properties
    user_id: Owner | None = None


class NodeMergeOrder(RequestBody):
    target_id: NodeId


class EdgeCreateRequest(RequestBody):
    user_id: Owner
    type: Short = Field(description="One of the 18 relationships of the memory graph.")
    source_id: NodeId
    target_id: NodeId
    properties: Properties = Field(default_factory=dict)


class NodeOut(BaseModel):
    """A node; `properties` are those of the specification, with `id`, `created` and the access counters."""

    id: str
    label: str
    properties: dict[str, Any]

    @classmethod
    def of(cls, node: Node) -> NodeOut:
        return cls(id=node.id, label=node.label, properties=registry.specified_properties(node))


class NodesOut(BaseModel):
    """Nodes; `count` is the number of all nodes, not only the listed ones."""

    nodes: list[NodeOut]
    count: int

    @classmethod
    def of(cls, nodes: Sequence[Node], count: int | None = None) -> NodesOut:
        return cls(nodes=[NodeOut.of(node) for node in nodes], count=len(nodes) if count is None else count)


class NodeSplitOut(BaseModel):
    """Both sides of a merge that was undone; a side without any evidence left is null."""

    source: NodeOut | None
    target: NodeOut | None


class EdgeOut(BaseModel):
    id: str
    type: str
    source_id: str
    target_id: str
    properties: dict[str, Any]
    created_at: datetime
    valid_at: datetime | None
    invalid_at: datetime | None
    expired_at: datetime | None

    @classmethod
    def of(cls, edge: Edge) -> EdgeOut:
        return filled(cls, edge, source_id=edge.source, target_id=edge.target, properties=dict(edge.properties))


class EdgesOut(BaseModel):
    edges: list[EdgeOut]
    count: int


class AssociationOut(BaseModel):
    node: NodeOut
    strength: float


class AssociationsOut(BaseModel):
    """Associations, strongest first."""

    associations: list[AssociationOut]
    count: int


class RecallRequest(RequestBody):
    user_id: Owner
    query: Statement
    limit: int = Field(10, ge=1, le=100, strict=True)
    labels: list[Short] = Field(["Memory"], min_length=1, max_length=20, description="Of the memory graph, but Entity.")
    min_strength: Share = Field(0.0, description="The weakest link of an association.")


class RecalledOut(BaseModel):
    """A memory; `score` compares within one answer, `associations` are strongest first."""

    node: NodeOut
    score: float
    associations: list[AssociationOut]


class RecalledMemories(BaseModel):
    memories: list[RecalledOut]
    count: int


class LinkChange(RequestBody):
    """Changes the strength of RELATES_TO from the source to the target by `amount`."""

    user_id: Owner
    source_id: NodeId
    target_id: NodeId
    amount: Share


class DecayOrder(RequestBody):
    """Every link weaker than `threshold` loses `decay`."""

    user_id: Owner
    threshold: Share
    decay: Share


class PruneOrder(RequestBody):
    """Deletes every link weaker than this."""

    user_id: Owner
    min_strength: Share


class StrengthOut(BaseModel):
    strength: float


class ChangedOut(BaseModel):
    changed: int


class RemovedOut(BaseModel):
    removed: int


class MaintenanceOrder(RequestBody):
    user_id: Owner
    dry_run: bool = Field(False, strict=True, description="Only tell what it would come to.")


class FadedOut(BaseModel):
    id: str
    summary: str
    retention: float


class MaintenanceOut(BaseModel):
    """`decayed` and `pruned` of `links`; `faded` of `memories` are offered for forgetting, the most faded listed.

    `kept` memories have faded too but are the only record of something. None is deleted by maintenance.
    """

    user_id: int
    at: datetime
    dry_run: bool
    links: int
    decayed: int
    pruned: int
    memories: int
    faded: int
    kept: int
    offered: list[FadedOut]


class AnsweringOut(BaseModel):
    question: NodeOut
    memory: NodeOut


class AnsweringsOut(BaseModel):
    pairs: list[AnsweringOut]
    count: int


class ContradictingOut(BaseModel):
    contradiction: NodeOut
    memory: NodeOut


class ContradictingsOut(BaseModel):
    pairs: list[ContradictingOut]
    count: int


def edges_out(edges: Iterable[Edge]) -> EdgesOut:
    listed = [EdgeOut.of(edge) for edge in edges]
    return EdgesOut(edges=listed, count=len(listed))
