"""Fields of requests: whatever comes is a value that can be stored and told, or a ValueError."""

from __future__ import annotations

import ast
import json
from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter, ValidationError
from support.paths import ROOT

from bot.web.http.fields import MOST_ATTRIBUTES, Attributes, GroupId, Moment, in_zone

MOMENT: TypeAdapter[datetime | date] = TypeAdapter(Moment)
ATTRIBUTES: TypeAdapter[dict[str, Any]] = TypeAdapter(Attributes)
KYIV = ZoneInfo("Europe/Kyiv")

offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(timezones=offsets)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=4)
    ),
)


@given(moments)
def test_every_time_is_read_as_the_moment_it_means(moment: datetime) -> None:
    """In UTC, whatever zone it was written in; what lies beyond the calendar there is refused."""
    try:
        read = MOMENT.validate_python(moment.isoformat())
    except ValidationError:
        assert moment.year in {1, 9999}
        return
    assert read == moment
    assert in_zone(read, KYIV) == moment


@given(st.dates())
def test_a_bare_date_is_a_midnight(day: date) -> None:
    """Of the zone it is asked in, in UTC."""
    read = MOMENT.validate_python(day.isoformat())
    assert read == day
    try:
        moment = in_zone(read, KYIV)
    except ValueError:
        assert day == date.min
        return
    assert moment is not None
    assert moment.utcoffset() == timedelta(0)
    assert moment.astimezone(KYIV).replace(tzinfo=None) == datetime(day.year, day.month, day.day)


@given(st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()))
def test_what_is_no_time_is_a_fault_and_never_a_crash(told: object) -> None:
    """Whatever it is."""
    try:
        read = MOMENT.validate_python(told)
    except ValidationError:
        return
    assert isinstance(read, date)


@pytest.mark.parametrize(
    "told",
    [
        "2025-W01-1",
        "20250101",
        "2025-1-1",
        "2025-02-30",
        "2025-01-01T25:00",
        "2025-01-01T10:00:60Z",
        "٢٠٢٥-01-01",
        " 2025-01-01",
        "now",
    ],
)
def test_other_ways_to_write_a_time(told: str) -> None:
    """Are refused: nobody should guess what was meant."""
    with pytest.raises(ValidationError, match=r"ISO 8601|must be in|out of range|day is"):
        MOMENT.validate_python(told)


@given(anything)
def test_attributes_can_always_be_stored_and_told(value: Any) -> None:
    """JSON in UTF-8 without NUL, and not endless; or they are refused."""
    try:
        kept = ATTRIBUTES.validate_python({"a": value})
    except ValidationError:
        return
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in text.replace("\\\\", "")
    assert len(text) <= MOST_ATTRIBUTES
    assert json.loads(text.encode()) == kept


@given(st.text(max_size=30) | st.integers().map(str))
def test_a_group_is_an_integer_that_fits(told: str) -> None:
    """Or it is refused."""
    try:
        group = TypeAdapter(GroupId).validate_python(told)
    except ValidationError:
        return
    assert abs(int(group)) < 2**63
    assert group == told


def test_the_sdk_is_imported_by_those_who_serve_only() -> None:
    """It takes a second and a half; nobody else imports it, or them, at the head of a module."""
    slow = {"mcp", "mcp.types", "mcp_types", "bot.mcp.server", "bot.mcp.stdio"}
    found = set()
    for path in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "internal").rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {str(path.relative_to(ROOT)) for name in names if name in slow or name.startswith("mcp.")}
    assert found == {"bot/mcp/server.py", "bot/mcp/stdio.py"}
