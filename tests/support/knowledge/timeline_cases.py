"""Claims written shortly: `said("ACME", 2020, 2022)`, and timelines as one can read them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import Any

from internal.knowledge.claims.time_rules import Projection
from internal.knowledge.model import Claim, SetBy
from internal.knowledge.relations import statement_key

_NUMBERS = count(1)
SAID = datetime(2030, 1, 1, tzinfo=UTC)


def year(number: int | None) -> datetime | None:
    return None if number is None else datetime(number, 1, 1, tzinfo=UTC)


def said(
    target: str,
    start: int | None = None,
    end: int | None = None,
    *,
    fact: str | None = None,
    by: SetBy = "archivist",
    at: int = 2030,
    also: bool = False,
    name: str = "WORKS_FOR",
    **changes: Any,
) -> Claim:
    """A claim about Anna, with years for times; `at` is the year in which it was said."""
    words = fact or f"Anna works for {target}"
    given: dict[str, Any] = {
        "user_id": 1,
        "id": f"c{next(_NUMBERS):04}",
        "source": "anna",
        "name": name,
        "target": target,
        "statement": statement_key(words),
        "fact": words,
        "said_at": datetime(at, 1, 1, tzinfo=UTC),
        "created_at": datetime(at, 1, 1, tzinfo=UTC),
        "valid_at": year(start),
        "valid_stated": start is not None,
        "invalid_at": year(end),
        "attributes": {"also": True} if also else {},
        "set_by": by,
    }
    return Claim(**{**given, **changes})


def year_of(moment: datetime | None) -> int | None:
    return None if moment is None else moment.year


def years(projection: Projection) -> list[tuple[str, int | None, int | None]]:
    """The spans of a timeline as (target, first year, last year)."""
    return [(span.target, year_of(span.valid_at), year_of(span.invalid_at)) for span in projection.spans]


def disputes(projection: Projection) -> list[tuple[tuple[str, ...], list[str]]]:
    """The conflicts of a timeline as (reasons, targets)."""
    return [(conflict.reasons, [span.target for span in conflict.spans]) for conflict in projection.conflicts]
