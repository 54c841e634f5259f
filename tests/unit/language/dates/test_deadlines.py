"""Dates that lie ahead, and the ends of what is named."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from internal.language.dates import deadlines
from internal.language.dates.deadlines import Kind, Period

KYIV = ZoneInfo("Europe/Kyiv")
AT = datetime(2026, 2, 7, 14, 30, tzinfo=KYIV)
"""A Saturday."""


def day(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d}" if moment else None


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("до конца года", "2026-12-31"),
        ("до кінця року", "2026-12-31"),
        ("by the end of the year", "2026-12-31"),
        ("до конца 2027 года", "2027-12-31"),
        ("до кінця травня", "2026-05-31"),
        ("to the end of March", None),
        ("by the end of March", "2026-03-31"),
        ("к весне", "2026-03-01"),
        ("до літа", "2026-06-01"),
        ("летом", "2026-08-31"),
        ("к концу лета", "2026-08-31"),
        ("this summer", "2026-08-31"),
        ("next spring", "2026-05-31"),
        ("by next spring", "2026-03-01"),
        ("в мае", "2026-05-31"),
        ("у червні", "2026-06-30"),
        ("в январе", "2027-01-31"),
        ("к июню", "2026-06-01"),
        ("by June 2027", "2027-06-01"),
        ("до 15 мая", "2026-05-15"),
        ("до 1 січня", "2027-01-01"),
        ("by September 1", "2026-09-01"),
        ("в пятницу", "2026-02-13"),
        ("by Friday", "2026-02-13"),
        ("завтра", "2026-02-08"),
        ("через два месяца", "2026-04-07"),
        ("in two years", "2028-02-07"),
        ("наступного року", "2027-12-31"),
        ("до нового года", "2027-01-01"),
        ("2027", "2027-12-31"),
        ("2026-12", "2026-12-31"),
        ("2026-12-24", "2026-12-24"),
        ("когда-нибудь", None),
        ("", None),
    ],
)
def test_what_is_aimed_at_lies_ahead(phrase: str, meant: str | None) -> None:
    """To the last day of what is named, unless it is to be done before that begins."""
    assert day(deadlines.resolve(phrase, AT, "ahead", "ru")) == meant


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [
        ("до зимы", "2026-12-01"),
        ("до зими", "2026-12-01"),
        ("by winter", "2026-12-01"),
        ("к февралю", "2027-02-01"),
        ("до лютого", "2027-02-01"),
        ("by February", "2027-02-01"),
        ("до конца зимы", "2026-02-28"),
        ("до кінця лютого", "2026-02-28"),
        ("зимой", "2026-02-28"),
        ("by February 7", "2026-02-07"),
    ],
)
def test_what_has_begun_begins_again_next_year(phrase: str, meant: str) -> None:
    """Before winter, said in winter, is before the next one; its end, and a day that is not over, are this year's."""
    assert day(deadlines.resolve(phrase, AT, "ahead", "ru")) == meant


@pytest.mark.parametrize(
    ("phrase", "kind", "meant"),
    [
        ("в мае", "past", "2025-05-01"),
        ("в мае", "begin", "2025-05-01"),
        ("в мае 2025", "end", "2025-05-31"),
        ("2025-08-14", "end", "2025-08-14"),
        ("торік", "begin", "2025-01-01"),
        ("торік", "end", "2025-12-31"),
        ("вчера", "past", "2026-02-06"),
    ],
)
def test_what_has_been_lies_behind(phrase: str, kind: Kind, meant: str) -> None:
    """A period begins with the first day of what is named and ends with its last."""
    assert day(deadlines.resolve(phrase, AT, kind, "ru")) == meant


@pytest.mark.parametrize(
    ("phrase", "begin", "end", "point"),
    [
        ("летом 2025", "2025-06-01", "2025-08-31", False),
        ("осінь 2025 року", "2025-09-01", "2025-11-30", False),
        ("last week", "2026-01-26", "2026-02-01", False),
        ("вчера", "2026-02-06", "2026-02-06", True),
    ],
)
def test_a_time_marker_says_itself_when_it_was(phrase: str, begin: str, end: str, point: bool) -> None:
    """A day is a point, anything longer a period."""
    found = deadlines.period(phrase, AT, "ru")
    assert found is not None
    assert (day(found[0].begin), day(found[0].end), found[1]) == (begin, end, point)


def test_what_names_no_time_is_none() -> None:
    """Nothing is guessed; many are asked in one call."""
    assert deadlines.periods([("отпуск", AT), ("2024", AT)], "ru") == [
        None,
        (Period(datetime(2024, 1, 1, tzinfo=KYIV), datetime(2024, 12, 31, tzinfo=KYIV)), False),
    ]
    assert deadlines.resolve_all([("отпуск", AT, "ahead")], "ru") == [None]


WORDS = st.lists(
    st.sampled_from(
        [
            *(
                "до",
                "к",
                "by",
                "in",
                "конца",
                "кінця",
                "end",
                "of",
                "the",
                "года",
                "року",
                "year",
                "мае",
                "May",
                "лета",
            ),
            *("summer", "15", "31", "2027", "0", "29", "февраля", "next", "this", "через", "два", "пятницу", "нового"),
        ]
    ),
    max_size=5,
).map(" ".join)


@given(WORDS, st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(tzinfo=KYIV)))
def test_whatever_is_written_is_read_or_not(phrase: str, at: datetime) -> None:
    """Nothing is raised, and every time has the zone of the line."""
    kinds: tuple[Kind, ...] = ("ahead", "past", "begin", "end")
    for kind in kinds:
        found = deadlines.resolve(phrase, at, kind, "ru")
        assert found is None or found.tzinfo is not None
