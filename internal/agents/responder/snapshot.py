"""The blocks `<instructions>`, `<context_snapshot>` and `<tasks>` of the prompt: what is so whatever the owner asks."""

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.known_task import KnownTask
from internal.agents.model import StandingInstruction
from internal.agents.prompts import block
from internal.agents.responder.facts import day
from internal.language.text.block_tags import escape
from internal.snapshots.model import PARTS, Item, Part, Snapshot

_CALLED: Final[dict[Part, str]] = {"who": "Who", "now": "Now", "threads": "Open"}


def snapshot_block(snapshot: Snapshot, timezone: str) -> str:
    """`<context_snapshot>` with one item a line, as `Now: text (said 2026-02-07)`; the empty string without any.

    What was made by rules is the owner's own words, in quotes.
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
    """`<instructions>` with one a line, as `[I1] text | since`, in the owner's days."""
    return block(
        "instructions", [f"[I{one.n}] {escape(one.text)} | {day(one.since, timezone)}" for one in instructions]
    )


def _task(task: KnownTask) -> str:
    due = "" if task.due is None else f"{task.due:%Y-%m-%d}" if task.whole_day else f"{task.due:%Y-%m-%d %H:%M}"
    return f"[{task.handle}] {escape(task.title)} | {due}"


def _line(called: str, item: Item, zone: ZoneInfo, quoted: bool) -> str:
    text = escape(item.text)
    text = f"“{text}”" if quoted else text
    return f"{called}: {text} (said {item.at.astimezone(zone):%Y-%m-%d})"
