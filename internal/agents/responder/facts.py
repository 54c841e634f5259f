"""The `<facts>` block of a prompt: a line for each fact, with the number by which it is cited and its known dates."""

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from internal.agents.model import RecalledFact
from internal.agents.prompts import block
from internal.language.dates.precision import DatePrecision, written
from internal.language.text.block_tags import escape


def recalled_block(facts: Sequence[RecalledFact], timezone: str) -> str:
    """`<facts>` with one escaped line each; the empty string when there is none."""
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
    """The date of a moment in a zone, as exact as it is known: 2026-02-01, 2026-02; in UTC if there is no such zone."""
    try:
        return written(moment.astimezone(ZoneInfo(timezone)), precision)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return written(moment.astimezone(UTC), precision)
