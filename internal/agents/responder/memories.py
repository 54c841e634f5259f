"""The `<memories>` and `<lessons>` blocks of a prompt: one escaped line each, left out where there is none."""

from collections.abc import Sequence

from internal.agents.model import RecalledMemory
from internal.agents.prompts import block
from internal.agents.responder.facts import day
from internal.language.text.block_tags import escape


def memories_block(memories: Sequence[RecalledMemory], timezone: str) -> str:
    """`<memories>` with one line for each."""
    return block("memories", [memory_line(one, timezone) for one in memories])


def memory_line(memory: RecalledMemory, timezone: str) -> str:
    """`[M1] Goal: run a marathon (active, 2026-02-03, by 2026-12-31)`: in the owner's days, without what is unknown."""
    details = [
        *([escape(memory.status)] if memory.status else []),
        *([day(memory.at, timezone)] if memory.at else []),
        *([f"by {day(memory.due, timezone)}"] if memory.due else []),
        *(["associated"] if memory.associated else []),
    ]
    around = f" ({', '.join(details)})" if details else ""
    return f"[M{memory.n}] {memory.label}: {escape(memory.text)}{around}"


def lessons_block(lessons: Sequence[str]) -> str:
    """`<lessons>` with one line for each, equal ones once."""
    return block("lessons", [f"- {one}" for one in dict.fromkeys(map(escape, lessons)) if one])
