"""The results of looking up a reply's names and dates before its transaction: plain values, no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from internal.errors import Refusal
from internal.knowledge.model import ProposedEntity, ProposedFact
from internal.language.dates.precision import DatePrecision
from internal.language.names.entities import MatchReason

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class KnownName:
    """A known node with its names, which a name of a reply may mean; `subtype` is an entity's type."""

    node_id: str
    label: str
    subtype: str | None
    labels: tuple[str, ...]
    names: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A node whose `name` is similar to a name of a reply; `node_id` None means another name of the same reply."""

    node_id: str | None
    name: str
    reason: MatchReason


@dataclass(frozen=True, slots=True)
class FactDates:
    """The dates of a fact, resolved against the time of its lines, and the time of the lines.

    `valid_at` None = since an unknown moment. `valid_stated` is False where it is only the time of the message.
    """

    said_at: datetime
    valid_at: datetime | None = None
    valid_stated: bool = False
    invalid_at: datetime | None = None
    valid_precision: DatePrecision | None = None
    invalid_precision: DatePrecision | None = None


@dataclass(frozen=True, slots=True)
class FactLookup:
    """The nodes that each name of a reply may mean, and the dates of its facts in their order.

    `vectors` are those of the texts by which the things would be found, of length 1, by the embedding model `model`;
    empty if it could not be asked. Two texts whose cosine reaches `threshold` mean one thing.
    """

    dates: Sequence[FactDates] = ()
    matches: Mapping[str, Sequence[NameMatch]] = field(default_factory=dict)
    model: str = ""
    threshold: float = 1.0
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A proposed entity and the node it became."""

    proposed: ProposedEntity
    node_id: str
    created: bool


@dataclass(frozen=True, slots=True)
class DatedFact:
    """A proposed fact between the nodes it means, with its dates: ready to be recorded as a claim."""

    proposed: ProposedFact
    source: str
    target: str
    dates: FactDates


@dataclass(frozen=True, slots=True)
class Resolution:
    """The resolved names of a reply: `nodes` holds the node ids by the names as written.

    `created` are the ids of new nodes, `changed` of those that got a name, type or summary.
    """

    nodes: Mapping[str, str]
    entities: Sequence[NamedEntity]
    facts: Sequence[DatedFact]
    created: Sequence[str]
    changed: Sequence[str]
    refused: Sequence[Refusal]
