"""Dates as they are written, against a labelled set; and what may never happen whatever is written."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from support.long import examples
from support.paths import DATA

from internal.language.dates.parse import Dated, end_of, resolve, resolve_all, resolve_plainly
from internal.language.text.spelling import Language
from internal.language.worker.process_pool import LanguageWorker

KYIV = ZoneInfo("Europe/Kyiv")
SET = DATA / "dates.yaml"
SATURDAY = datetime(2026, 2, 7, 14, 30, tzinfo=KYIV)


def moment(written: Any) -> datetime:
    if isinstance(written, str) and "T" not in written:
        written = date.fromisoformat(written)
    if isinstance(written, date) and not isinstance(written, datetime):
        return datetime.combine(written, time(), KYIV)
    return datetime.fromisoformat(str(written)).replace(tzinfo=KYIV)


def labelled() -> list[tuple[str, str, datetime, Dated | None]]:
    """Phrase, language, when it was said, and what it means."""
    return [
        (str(phrase), language, moment(block["at"]), Dated(moment(meant[0]), meant[1]) if meant else None)
        for block in yaml.safe_load(SET.read_text(encoding="utf-8"))
        for language in ("uk", "ru", "en")
        for phrase, meant in block.get(language, {}).items()
    ]


@pytest.mark.parametrize("language", ["uk", "ru", "en"])
def test_a_phrase_means_what_the_set_says(language: Language) -> None:
    """To the minute, with its precision; and what cannot be known is unknown."""
    cases = [(phrase, at, meant) for phrase, of_it, at, meant in labelled() if of_it == language]
    found = [(phrase, at, resolve(phrase, at, language)) for phrase, at, _ in cases]
    assert found == cases


def test_the_set_is_large_enough_to_mean_something() -> None:
    """Each language has its share, unknown phrases too."""
    cases = labelled()
    assert len(cases) >= 120
    assert all(sum(language == one for _, language, _, _ in cases) >= 50 for one in ("uk", "ru", "en"))
    assert sum(meant is None for *_, meant in cases) >= 20


@pytest.mark.parametrize("zone", ["Europe/Kyiv", "America/Los_Angeles", "Pacific/Auckland", "UTC"])
def test_a_bare_date_is_midnight_where_the_owner_lives(zone: str) -> None:
    """Not in UTC, and "yesterday" is his own yesterday."""
    late = datetime(2026, 7, 1, 23, 30, tzinfo=ZoneInfo(zone))
    found = [resolve(phrase, late) for phrase in ("2026-06-30", "yesterday")]
    assert found == [Dated(datetime(2026, 6, 30, tzinfo=ZoneInfo(zone)), "day")] * 2


def test_what_begins_also_ends() -> None:
    """A year ends with the next one, a day at midnight, a moment at once."""
    phrases = ("2020", "2020-02", "2020-02-28", "now", "last week", "summer 2019", "90s")
    ends = [end_of(found) for phrase in phrases if (found := resolve(phrase, SATURDAY))]
    assert [f"{end:%Y-%m-%d}" for end in ends] == [
        *("2021-01-01", "2020-03-01", "2020-02-29", "2026-02-07", "2026-02-02", "2019-09-01", "2000-01-01"),
    ]


@given(st.text(max_size=120), st.sampled_from(["ru", "uk", "en"]))
def test_no_text_breaks_it(text: str, language: Language) -> None:
    """What comes out is aware and has a precision; most is unknown."""
    found = resolve_plainly(text, SATURDAY, language)
    assert found is None or found.moment.tzinfo is not None


@settings(max_examples=examples(60))
@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.sampled_from(["{:%Y-%m-%d}", "{:%d.%m.%Y}", "{:%d %B %Y}"]))
def test_a_whole_date_is_itself_whenever_it_is_said(day: date, form: str) -> None:
    """Neither the language nor the present moves it."""
    wanted = Dated(datetime.combine(day, time(), KYIV), "day")
    for language in ("ru", "en"):
        assert resolve(form.format(day), SATURDAY, language) == wanted  # type: ignore[arg-type] # a literal


@given(st.integers(0, 400))
def test_days_ago_are_counted_on_the_calendar(days: int) -> None:
    """Also over changes of the clock."""
    found = resolve_plainly(f"{days} days ago", SATURDAY)
    assert found is not None
    assert found.moment.date() == SATURDAY.date() - timedelta(days=days)


async def test_it_runs_in_the_language_process() -> None:
    """Phrases and zones go there and back."""
    worker = LanguageWorker()
    try:
        found = await worker.run_bulk(
            resolve_all, [("вчера", SATURDAY), ("10/Sep/2019", SATURDAY), ("?", SATURDAY)], "ru"
        )
    finally:
        await worker.close()
    assert [one and one.moment.astimezone(UTC).isoformat() for one in found] == [
        "2026-02-05T22:00:00+00:00", "2019-09-09T21:00:00+00:00", None,
    ]  # fmt: skip
