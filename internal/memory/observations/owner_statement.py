"""A node and its links as the owner wrote them, before they are resolved or checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class StatedLink:
    """A relationship from the new node to another: `node_id`, else the one described by label and properties."""

    type: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    node_id: str | None = None
    label: str = ""
    other: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatedNode:
    label: str
    properties: Mapping[str, Any]
    links: Sequence[StatedLink] = ()
