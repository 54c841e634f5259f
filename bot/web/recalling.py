"""What `laplaced recall` asks of a running server, and the lines it prints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from bot.web.fields import LARGEST_ID
from internal.knowledge.model import Episode
from internal.recall.hits import FactHit, MemoryHit
from internal.recall.memories import status_of, told_words
from internal.recall.overview import Overview

RECALL_PATH: Final = "/admin/recall"
MOST_RECALLED: Final = 100

Recall = Callable[[int, str, int], Awaitable[Overview]]
"""Everything a question brings to mind of one owner, at most so many of each kind. Raises NotFound."""


class RecalledLine(BaseModel):
    """One thing that was found; `score` compares with others of its kind."""

    id: str
    text: str
    score: float


class Recalled(BaseModel):
    people: list[RecalledLine]
    facts: list[RecalledLine]
    memories: list[RecalledLine]
    entities: list[RecalledLine]
    episodes: list[RecalledLine]

    @classmethod
    def of(cls, found: Overview) -> Recalled:
        people = [(f"{one.person.id}", f"{one.person.display_name} | {one.person.circle}", one) for one in found.people]
        return cls(
            people=[_line(one_id, f"{told} | {hit.person.bio}", hit.score) for one_id, told, hit in people],
            facts=[_line(hit.fact.id, f"{hit.fact.fact}{_when(hit)}", hit.score) for hit in found.facts],
            memories=[_line(hit.node.id, _remembered(hit), hit.score) for hit in found.memories],
            entities=[_line(hit.node.id, _named(hit.node.name, hit.node.summary), hit.score) for hit in found.nodes],
            episodes=[_line(hit.episode.id, _dated(hit.episode), hit.score) for hit in found.episodes],
        )

    def lines(self) -> Iterator[str]:
        """What a person reads: a heading for each kind that was found, the best first."""
        for kind in type(self).model_fields:
            found: list[RecalledLine] = getattr(self, kind)
            if found:
                yield kind
                yield from (f"  {one.score:6.3f}  {one.text}" for one in found)


class RecallOrder(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]
    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    limit: Annotated[int, Field(ge=1, le=MOST_RECALLED)] = 10


def recall_router(recall: Recall) -> APIRouter:
    router = APIRouter()

    @router.post(RECALL_PATH)
    async def recalled(order: RecallOrder) -> Recalled:
        return Recalled.of(await recall(order.user_id, order.query, order.limit))

    return router


def _line(one_id: str, text: str, score: float) -> RecalledLine:
    return RecalledLine(id=one_id, text=" ".join(text.split()), score=round(score, 4))


def _named(name: str, summary: str) -> str:
    return f"{name} | {summary}" if summary else name


def _remembered(hit: MemoryHit) -> str:
    """`Goal | run a marathon | active`; one that came along over a link says so, with the link's strength."""
    status = status_of(hit.node)
    beside = f"associated {hit.strength:.2f}" if hit.strength is not None else None
    return " | ".join(filter(None, (hit.node.label, told_words(hit.node), status, beside)))


def _dated(episode: Episode) -> str:
    return f"{episode.name} | {episode.reference_time:%Y-%m-%d %H:%M} UTC"


def _when(hit: FactHit) -> str:
    """` (2020-05-01 .. 2022-01-01)`, open ends left out; nothing if neither is known."""
    since, until = (f"{at:%Y-%m-%d}" if at else "" for at in (hit.fact.valid_at, hit.fact.invalid_at))
    return f" ({since} .. {until})".replace(" ..  ", " .. ").replace(" )", ")") if since or until else ""
