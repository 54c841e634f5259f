"""The blocks of a prompt: `<facts>`, `<memories>`, `<lessons>`, `<past_messages>`, `<tasks>`, `<instructions>` etc.

Each item has a line with the number by which it is cited; a block without lines is left out.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from internal.agents.known_task import KnownTask
from internal.agents.model import PassageLine, RecalledFact, RecalledMemory, RecalledPassage, StandingInstruction
from internal.agents.prompts import block
from internal.dialogue.snapshots.model import PARTS, Part, Snapshot, SnapshotItem
from internal.language.dates.precision import DatePrecision, written
from internal.language.text.block_tags import escape


def recalled_block(facts: Sequence[RecalledFact], timezone: str) -> str:
    """The block `<facts>` with one escaped line for each; the empty string without facts."""
    return block("facts", [fact_line(fact, timezone) for fact in facts])


def fact_line(fact: RecalledFact, timezone: str) -> str:
    """`[F1] Петров работает в ACME | since 2026-02 | said 2026-02-03`: in the owner's days, without unknown ones.

    A date is as exact as it was stated.
    """
    dates = (
        ("since", fact.valid_at, fact.valid_precision),
        ("until", fact.invalid_at, fact.invalid_precision),
        ("said", fact.said_at, None),
    )
    said = [f"{word} {day(moment, timezone, exact)}" for word, moment, exact in dates if moment is not None]
    return " | ".join((f"[F{fact.n}] {escape(fact.text)}", *said))


def day(moment: datetime, timezone: str, precision: DatePrecision | None = None) -> str:
    """The date of a moment in a zone, as exact as it is known: 2026-02-01, 2026-02; in UTC for an unknown zone."""
    try:
        return written(moment.astimezone(ZoneInfo(timezone)), precision)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return written(moment.astimezone(UTC), precision)


def memories_block(memories: Sequence[RecalledMemory], timezone: str) -> str:
    """The block `<memories>` with one line for each."""
    return block("memories", [memory_line(one, timezone) for one in memories])


def memory_line(memory: RecalledMemory, timezone: str) -> str:
    """`[M1] Goal: run a marathon (active, 2026-02-03, by 2026-12-31)`: in the owner's days, without unknown parts."""
    details = [
        *([escape(memory.status)] if memory.status else []),
        *([day(memory.at, timezone)] if memory.at else []),
        *([f"by {day(memory.due, timezone)}"] if memory.due else []),
        *(["associated"] if memory.associated else []),
    ]
    around = f" ({', '.join(details)})" if details else ""
    return f"[M{memory.n}] {memory.label}: {escape(memory.text)}{around}"


def lessons_block(lessons: Sequence[str]) -> str:
    """The block `<lessons>` with one line for each, equal ones once."""
    return block("lessons", [f"- {one}" for one in dict.fromkeys(map(escape, lessons)) if one])


_CALLED: Final[dict[Part, str]] = {"who": "Who", "now": "Now", "threads": "Open"}


def snapshot_block(snapshot: Snapshot, timezone: str) -> str:
    """`<context_snapshot>` with one item a line, as `Now: text (said 2026-02-07)`; the empty string without any.

    Items made by rules are the owner's own words, in quotes.
    """
    zone = ZoneInfo(timezone)
    return block(
        "context_snapshot",
        [_line(_CALLED[part], item, zone, snapshot.by_rules) for part in PARTS for item in snapshot.part(part)],
    )


def tasks_block(tasks: Sequence[KnownTask]) -> str:
    """`<tasks>` with one open task a line, as `[T1] text | 2026-02-07 14:00`, in the owner's zone."""
    return block("tasks", [_task(task) for task in tasks])


def instructions_block(instructions: Sequence[StandingInstruction], timezone: str) -> str:
    """`<instructions>` with one a line, as `[I1] text | since 2026-02-07`, in the owner's days."""
    return block(
        "instructions", [f"[I{one.n}] {escape(one.text)} | since {day(one.since, timezone)}" for one in instructions]
    )


def _task(task: KnownTask) -> str:
    due = "" if task.due is None else f"{task.due:%Y-%m-%d}" if task.whole_day else f"{task.due:%Y-%m-%d %H:%M}"
    return f"[{task.handle}] {escape(task.title)} | {due}"


def _line(called: str, item: SnapshotItem, zone: ZoneInfo, quoted: bool) -> str:
    text = escape(item.text)
    text = f"“{text}”" if quoted else text
    return f"{called}: {text} (said {item.at.astimezone(zone):%Y-%m-%d})"


ASSISTANT: Final = "you"
"""The speaker of the assistant's own words in its prompt."""


def passages_block(passages: Sequence[RecalledPassage], timezone: str) -> str:
    """`<past_messages>` with the lines of every passage; the empty string when there is none."""
    return block("past_messages", [line for passage in passages for line in passage_lines(passage, timezone)])


def page_block(n: int, page: Sequence[str]) -> str:
    """`<page>` with the title, the address and the text of a web page, to be cited as `[S<n>]`."""
    title, url, text = map(escape, page)
    return block("page", [f"[S{n}] {title} | {url}", text])


def results_block(found: Sequence[Sequence[str]]) -> str:
    """`<results>` of a web search: titles, addresses and a few words of each page."""
    return block("results", [escape(" | ".join(one)) for one in found])


def passage_lines(passage: RecalledPassage, timezone: str) -> list[str]:
    """`[S1] 2026-02-03 Tue 14:30 Оля: Купила билеты`, then its other lines, indented, with the time if on that day.

    A line that does not hold any more ends with ` (outdated since 2026-05-03)`.
    """
    lines: list[str] = []
    day = ""
    for line in passage.lines:
        at = local(line.at, timezone)
        date, time = f"{at:%Y-%m-%d %a}", f"{at:%H:%M}"
        when = time if date == day else f"{date} {time}"
        late = "" if line.outdated is None else f" (outdated since {local(line.outdated, timezone):%Y-%m-%d})"
        lines.append(f"{when} {_dialogue_line(line)}{late}")
        day = date
    return [f"[S{passage.n}] {lines[0]}", *(f"  {line}" for line in lines[1:])] if lines else []


def local(moment: datetime, timezone: str) -> datetime:
    """A moment in a zone; in UTC if there is no such zone."""
    try:
        return moment.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return moment.astimezone(UTC)


def _dialogue_line(line: PassageLine) -> str:
    speaker = ASSISTANT if line.kind == "assistant" else escape(line.speaker)
    if line.kind == "other":
        speaker = f"{speaker} (not the owner)".lstrip()
    return f"{speaker}: {escape(line.text)}" if speaker else escape(line.text)
