"""The call behind `laplaced recall`, and the lines that the command prints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Annotated, Final

from pydantic import BaseModel, Field

from bot.web.http.fields import LARGEST_ID, RequestBody
from bot.web.http.routers import APIRouter
from internal.agents.model import PassageLine
from internal.dialogue.search_item_repository import words_of
from internal.knowledge.model import Episode
from internal.language.dates.precision import written
from internal.recall.index.hits import EpisodeHit, FactHit, MemoryHit, NodeHit
from internal.recall.messages.search import MessageHit
from internal.recall.prompt.memories import memory_text, status_of
from internal.recall.prompt.overview import Overview
from internal.recall.search.calibration import episode_chance, fact_chance

RECALL_PATH: Final = "/admin/recall"
MOST_RECALLED: Final = 100

Recall = Callable[[int, str, int], Awaitable[Overview]]
"""Returns everything that a question recalls of one owner, at most a number of each kind. Raises NotFound."""


class RecalledLine(BaseModel):
    """A result; `score` compares with others of its kind, `chance` (0 to 1) with all results.

    `reasons`: the cosine, the share of the question's words, how clearly a name in it is meant.
    """

    id: str
    text: str
    score: float
    chance: float | None = None
    reasons: dict[str, float] = Field(default_factory=dict)

    @property
    def percent(self) -> str:
        """The chance in percent: `87%`, or empty if it is unknown."""
        return "" if self.chance is None else f"{self.chance:.0%}"


class Recalled(BaseModel):
    people: list[RecalledLine]
    facts: list[RecalledLine]
    memories: list[RecalledLine]
    entities: list[RecalledLine]
    messages: list[RecalledLine]
    episodes: list[RecalledLine]

    @classmethod
    def of(cls, overview: Overview) -> Recalled:
        people = [
            (f"{one.person.id}", f"{one.person.display_name} | {one.person.circle}", one) for one in overview.people
        ]
        return cls(
            people=[_line(one_id, f"{person} | {hit.person.bio}", hit.score) for one_id, person, hit in people],
            facts=[_known(hit.fact.id, f"{hit.fact.fact}{_period_text(hit)}", hit) for hit in overview.facts],
            memories=[_known(hit.node.id, _remembered(hit), hit) for hit in overview.memories],
            entities=[_known(hit.node.id, _named(hit.node.name, hit.node.summary), hit) for hit in overview.nodes],
            messages=[_message(hit) for hit in overview.messages],
            episodes=[
                _known(hit.episode.id, _answering_line(hit.episode, overview.lines), hit) for hit in overview.episodes
            ],
        )

    def lines(self) -> Iterator[str]:
        """The printed lines: a heading for each kind with results, best first."""
        for kind in type(self).model_fields:
            lines_of_kind: list[RecalledLine] = getattr(self, kind)
            if lines_of_kind:
                yield kind
                yield from (f"  {one.score:6.3f}  {one.percent:>4}  {one.text}" for one in lines_of_kind)


class RecallOrder(RequestBody):
    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]
    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    limit: Annotated[int, Field(ge=1, le=MOST_RECALLED)] = 10


def recall_router(recall: Recall) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(RECALL_PATH)
    async def recalled(order: RecallOrder) -> Recalled:
        return Recalled.of(await recall(order.user_id, order.query, order.limit))

    return router


def _known(one_id: str, text: str, hit: FactHit | NodeHit | MemoryHit | EpisodeHit) -> RecalledLine:
    line = _line(one_id, text, hit.score)
    line.chance = round(episode_chance(hit.score) if isinstance(hit, EpisodeHit) else fact_chance(hit.score), 4)
    if hit.reasons is not None:
        line.reasons = _rounded(meaning=hit.reasons.meaning, words=hit.reasons.words, name=hit.reasons.name)
    return line


def _message(hit: MessageHit) -> RecalledLine:
    message = hit.message
    who = message.role if message.forward is None else message.forward.name
    line = _line(message.id, f"{message.timestamp:%Y-%m-%d %H:%M} UTC | {who} | {words_of(message)}", hit.score)
    line.chance, reasons = round(hit.chance, 4), hit.reasons
    line.reasons = _rounded(
        meaning=reasons.meaning,
        words=reasons.words,
        context=reasons.context,
        sender=reasons.sender,
        dated=float(reasons.dated),
    )
    return line


def _rounded(**reasons: float | None) -> dict[str, float]:
    return {name: round(value, 4) for name, value in reasons.items() if value is not None}


def _line(one_id: str, text: str, score: float) -> RecalledLine:
    return RecalledLine(id=one_id, text=" ".join(text.split()), score=round(score, 4))


def _named(name: str, summary: str) -> str:
    return f"{name} | {summary}" if summary else name


def _remembered(hit: MemoryHit) -> str:
    """A memory as `Goal | run a marathon | active`; one found over a link has the link's strength too."""
    status = status_of(hit.node)
    beside = f"associated {hit.strength:.2f}" if hit.strength is not None else None
    return " | ".join(filter(None, (hit.node.label, memory_text(hit.node), status, beside)))


def _answering_line(episode: Episode, lines: Mapping[str, PassageLine]) -> str:
    """The line that answers, with time and speaker and, in an import, its name; without such a line, the name."""
    line = lines.get(episode.id)
    if line is None:
        return f"{episode.reference_time:%Y-%m-%d %H:%M} UTC | {episode.name}"
    source = None if episode.source == "message" else episode.name
    return " | ".join(filter(None, (f"{line.at:%Y-%m-%d %H:%M} UTC", line.speaker, line.text, source)))


def _period_text(hit: FactHit) -> str:
    """A period as ` (2020-05-01 .. 2022-01-01)` without unknown ends; empty if neither is known."""
    fact = hit.fact
    dates = ((fact.valid_at, fact.valid_precision), (fact.invalid_at, fact.invalid_precision))
    since, until = (written(at, exact) if at else "" for at, exact in dates)
    return f" ({since} .. {until})".replace(" ..  ", " .. ").replace(" )", ")") if since or until else ""
