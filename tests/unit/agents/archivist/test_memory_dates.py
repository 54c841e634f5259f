"""Times of memories, counted from the lines that say so, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from internal.agents.archivist.reply.memory_matcher import MemoryMatcher, proposed_keys, text_of
from internal.agents.model import TranscriptLine
from internal.errors import ModelUnavailable
from internal.language.worker.process_pool import LanguageWorker
from internal.memory.model import NodeRef, ProposedLink, ProposedMemory, RefKey
from internal.testing import TrigramEmbedder

KYIV = ZoneInfo("Europe/Kyiv")
SAID = datetime(2026, 2, 7, 23, 30, tzinfo=KYIV)
LINES = (
    TranscriptLine(1, "user", "Анна", SAID, "..."),
    TranscriptLine(2, "user", "Анна", SAID + timedelta(hours=1), "..."),
)


class InThisProcess(LanguageWorker):
    async def run_bulk(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)


class OutOfReach(LanguageWorker):
    async def run_bulk(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        raise ModelUnavailable("away")


async def dated(*memories: ProposedMemory, worker: LanguageWorker | None = None) -> Sequence[ProposedMemory]:
    resolver = MemoryMatcher(worker or InThisProcess(), TrigramEmbedder())
    return await resolver.dated(memories, LINES, "ru")


def node(label: str, **properties: Any) -> NodeRef:
    return NodeRef(label, properties)


def told(ref: NodeRef, *links: ProposedLink, evidence: tuple[int, ...] = (1,)) -> ProposedMemory:
    return ProposedMemory(ref, links, evidence)


async def test_every_time_is_counted_from_its_own_line() -> None:
    """In the owner's zone: half an hour before midnight "yesterday" is another day than half an hour after it."""
    decision = node("Decision", description="x", date="вчера")
    first, second = await dated(told(decision), told(decision, evidence=(2,)))
    assert first.node.properties["date"] == "2026-02-06T00:00:00+02:00"
    assert second.node.properties["date"] == "2026-02-07T00:00:00+02:00"


async def test_the_times_of_links_are_resolved_too() -> None:
    """A goal lies ahead, an answer has been; a time that cannot be known is left out and costs nothing else."""
    goal = node("Goal", description="x", targetDate="до конца года", priority=1)
    lost = node("Goal", description="y", targetDate="когда-нибудь")
    question = node("Question", text="z", answeredDate="2026-02-01")
    (memory,) = await dated(
        told(node("Memory", content="m"), ProposedLink("SUPPORTS", goal), ProposedLink("SUPPORTS", lost),
             ProposedLink("PARTIALLY_ANSWERS", question))
    )  # fmt: skip
    assert [link.other.properties for link in memory.links] == [
        {"description": "x", "priority": 1, "targetDate": "2026-12-31T00:00:00+02:00"},
        {"description": "y"},
        {"text": "z", "answeredDate": "2026-02-01T00:00:00+02:00"},
    ]


async def test_a_time_marker_without_dates_has_them_in_its_words() -> None:
    """And its year joins its words: next year's summer is another one."""
    marker = node("TemporalMarker", description="прошлым летом")
    (memory,) = await dated(told(node("Memory", content="m"), ProposedLink("OCCURRED_DURING", marker)))
    assert memory.links[0].other.properties == {
        "description": "прошлым летом (2025)",
        "type": "period",
        "startDate": "2025-06-01T00:00:00+03:00",
        "endDate": "2025-08-31T00:00:00+03:00",
    }


async def test_a_time_marker_is_one_wherever_a_reply_names_it() -> None:
    """What the item tells of its dates holds for the link that has only its words."""
    holiday = node("TemporalMarker", description="отпуск", startDate="2026-05-01", endDate="2026-05-14")
    linked = told(
        node("Memory", content="m"), ProposedLink("OCCURRED_DURING", node("TemporalMarker", description="отпуск"))
    )
    memory, item = await dated(linked, told(holiday))
    assert item.node.properties["description"] == "отпуск (2026-05-01)"
    assert memory.links[0].other == item.node


async def test_a_time_marker_that_nobody_can_place_stays_as_it_is() -> None:
    """A sequence keeps its type; an end before its beginning is no end."""
    (plain,) = await dated(told(node("TemporalMarker", description="после школы", type="sequence")))
    assert plain.node.properties == {"description": "после школы", "type": "sequence"}
    (turned,) = await dated(told(node("TemporalMarker", description="x", startDate="2026-05-02", endDate="2026-05-01")))
    assert "endDate" not in turned.node.properties
    (point,) = await dated(
        told(node("TemporalMarker", description="свадьба", startDate="2026-05-02", endDate="2026-05-02"))
    )
    assert point.node.properties["type"] == "point"


async def test_what_is_known_keeps_its_words() -> None:
    """Only what changes is dated."""
    known = NodeRef("Goal", {"targetDate": "2027"}, "node")
    (memory,) = await dated(told(known))
    assert memory.node == NodeRef("Goal", {"targetDate": "2027-12-31T00:00:00+02:00"}, "node")


async def test_without_the_language_process_plain_dates_are_read() -> None:
    """ISO dates and relative words; what else there is has no date."""
    goal = node("Goal", description="x", targetDate="2026-12-31")
    (memory, other) = await dated(
        told(goal), told(node("Goal", description="y", targetDate="mid-year of the dragon")), worker=OutOfReach()
    )
    assert memory.node.properties["targetDate"] == "2026-12-31T00:00:00+02:00"
    assert other.node.properties == {"description": "y"}


async def test_what_may_be_known_already_is_looked_up_once() -> None:
    """By its fullest telling; not entities, which are found as in facts, nor sources, nor what is known by its id."""
    goal, fuller = node("Goal", description="x"), node("Goal", description="x", priority=1)
    keys = proposed_keys(
        [
            told(node("Memory", content="m", summary="s"), ProposedLink("SUPPORTS", goal)),
            told(fuller),
            told(node("Entity", name="ACME")),
            told(node("Source", reference="https://a.example", type="url")),
            told(NodeRef("Goal", {"status": "achieved"}, "node")),
        ]
    )
    assert keys == {RefKey("Memory", "m"): node("Memory", content="m", summary="s"), RefKey("Goal", "x"): fuller}
    assert [text_of(one) for one in keys.values()] == ["s\nm", "x"]
