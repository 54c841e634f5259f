"""Derives nodes and edges of the memory graph from their observations: pure rules, no database.

Later observations override earlier ones in any order of arrival. Between two of the same moment their content
decides, so that the order of arrival makes no difference.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from typing import Any, Final

from internal.graph.labels import NODES
from internal.memory.model import INSTRUCTION, NAMING, Observation
from internal.memory.observations.preference_words import is_dislike

ORDINARY_STRENGTH: Final = 0.5
"""The strength of a like or dislike if none is stated."""

PART: Final = 0.5
"""The share of a question that a partial answer covers if none is stated."""

_WHOLE: Final = 1 - 1e-9
"""The sum from which partial answers are a whole one: sums of shares miss 1 by their last digits."""

COUNTED: Final = frozenset({"accessCount", "lastAccessed"})
"""Properties that count the use of a memory; no observation sets them."""

UNSEARCHED: Final = frozenset({"Source", "Contradiction"})
"""Labels that are not searched by words but found through linked nodes. So is a session's Context."""

SHARED: Final = frozenset({"Entity", "Topic", "Preference"})
"""Labels that the knowledge graph writes too: properties without an observation stay as they are."""

_LOST_TRUST: Final = 0.5
"""The share of its reliability that a source loses if everything from it was superseded."""

_FIRST: Final = frozenset({("Context", "type"), ("Source", "type"), ("TemporalMarker", "type"), ("Entity", "type")})


@dataclass(frozen=True, slots=True)
class AnsweringMemory:
    """A memory that answers a question: to which degree (0..1), and when it was said."""

    completeness: float
    said_at: datetime


@dataclass(frozen=True, slots=True)
class FoldContext:
    """Other inputs of a fold: the answers to a question, the superseded share of a source (0..1), and the episodes
    that cite a preference as a thing, with its `words`.
    """

    answers: Sequence[AnsweringMemory] = ()
    superseded: float = 0.0
    episodes: Collection[str] = ()
    words: str = ""


NO_CONTEXT: Final = FoldContext()


def in_order(observations: Iterable[Observation]) -> list[Observation]:
    """Observations from the earliest to the latest."""
    return sorted(observations, key=lambda one: (one.said_at, _content(one), one.id))


def folded(label: str, observations: Iterable[Observation], context: FoldContext = NO_CONTEXT) -> dict[str, Any]:
    """The properties of a node that follow from its observations; others are left out."""
    ordered = in_order(observations)
    found: dict[str, Any] = {}
    for name in NODES[label].model.model_fields:
        values = [
            observation.properties[name] for observation in ordered if observation.properties.get(name) is not None
        ]
        if not values or name in COUNTED:
            continue
        first = name == NAMING[label] or (label, name) in _FIRST
        found[name] = _joined(values) if name == "aliases" else values[0] if first else values[-1]
    return found | _RULES.get(label, _no_rule)(ordered, context)


def removable_properties(label: str, observations: Iterable[Observation]) -> frozenset[str]:
    """The properties that are removed if no observation has them."""
    if label in SHARED:
        own = {"observations", "strength", "status"} if label == "Preference" else set()
        return frozenset({name for observation in observations for name in observation.properties} | own) - COUNTED
    every = frozenset(NODES[label].model.model_fields) - COUNTED
    return every - {"facts"} if label == "Contradiction" else every


def folded_edge(type: str, observations: Iterable[Observation]) -> dict[str, Any]:
    """The attributes of an edge, the latest value of each, without the strength of RELATES_TO, which changes by use."""
    found: dict[str, Any] = {}
    for observation in in_order(observations):
        found |= {name: value for name, value in observation.properties["attributes"].items() if value is not None}
    if type == "RELATES_TO":
        found.pop("strength", None)
    if type == "PARTIALLY_ANSWERS":
        found.setdefault("completeness", PART)
    return found


def _decision(ordered: Sequence[Observation], context: FoldContext) -> dict[str, Any]:
    """The date of a decision without a stated one: the time of its first observation."""
    stated = any(observation.properties.get("date") is not None for observation in ordered)
    return {} if stated or not ordered else {"date": ordered[0].said_at.isoformat()}


def _question(ordered: Sequence[Observation], context: FoldContext) -> dict[str, Any]:
    """The status: answered if stated or if partial answers sum up to a whole one, until it is stated to be open.

    Answers below a half leave it open: the specification says that such memories might answer it.
    """
    moments: list[tuple[datetime, int, Any]] = [(observation.said_at, 0, observation) for observation in ordered]
    moments += [(answer.said_at, 1, answer) for answer in context.answers]
    status, share, answered = "open", 0.0, None
    for at, _, one in sorted(moments, key=lambda moment: moment[:2]):
        if isinstance(one, AnsweringMemory):
            share += one.completeness
            stated = "answered" if share >= _WHOLE else "partial" if share >= PART else status
        else:
            stated = one.properties.get("status")
            if stated is None or (stated == "partial" and status == "answered"):
                continue
            share = 0.0 if stated == "open" else share
        if stated == "answered" and status != "answered":
            given = None if isinstance(one, AnsweringMemory) else one.properties.get("answeredDate")
            answered = given or at.isoformat()
        if status != "answered" or stated != "partial":
            status = stated
    return {"status": status, "answeredDate": answered if status == "answered" else None}


def _preference(ordered: Sequence[Observation], context: FoldContext) -> dict[str, Any]:
    """The number of episodes that observed it and the mean of its strengths. Only an instruction has a status."""
    strengths: dict[str, float] = {}
    for observation in ordered:
        source = observation.episode_id or observation.id
        stated = observation.properties.get("strength")
        if stated is not None or source not in strengths:
            strengths[source] = _strength(ordered) if stated is None else float(stated)
    count = len(strengths.keys() | set(context.episodes))
    stated_as = {one.properties.get("category") for one in ordered}
    state = {} if INSTRUCTION in stated_as else {"status": None}
    if not strengths:
        return {"observations": max(count, 1), "strength": _by_wording(context.words)} | state
    mean = fsum(sorted(strengths.values())) / len(strengths)
    return {"observations": count, "strength": min(max(mean, -1.0), 1.0)} | state


def _strength(ordered: Sequence[Observation]) -> float:
    """The strength of a preference by its wording alone."""
    words = next(
        (observation.properties["preference"] for observation in ordered if observation.properties.get("preference")),
        "",
    )
    return _by_wording(str(words))


def _by_wording(words: str) -> float:
    return -ORDINARY_STRENGTH if is_dislike(words) else ORDINARY_STRENGTH


def _source(ordered: Sequence[Observation], context: FoldContext) -> dict[str, Any]:
    """The reliability: the mean of its speakers, reduced by the superseded share."""
    stated = sorted(
        float(observation.properties["reliability"])
        for observation in ordered
        if "reliability" in observation.properties
    )
    if not stated:
        return {}
    mean = fsum(stated) / len(stated)
    return {"reliability": round(mean * (1 - _LOST_TRUST * context.superseded), 6)}


def _marker(ordered: Sequence[Observation], context: FoldContext) -> dict[str, Any]:
    """The dates of the last observation that has any; dates of different observations are not combined."""
    stated = [
        observation.properties
        for observation in ordered
        if observation.properties.get("startDate") or observation.properties.get("endDate")
    ]
    if not stated:
        return {}
    return {name: stated[-1].get(name) for name in ("startDate", "endDate")}


def _no_rule(ordered: Sequence[Observation], context: FoldContext) -> dict[str, Any]:
    return {}


_RULES: Final = {
    "Decision": _decision,
    "Question": _question,
    "Preference": _preference,
    "Source": _source,
    "TemporalMarker": _marker,
}


def _joined(values: Iterable[Collection[str]]) -> list[str]:
    return list(dict.fromkeys(value for several in values for value in several))


def _content(one: Observation) -> str:
    content: Mapping[str, Any] = one.properties.get("attributes", {}) if one.kind == "edge" else one.properties
    return json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
