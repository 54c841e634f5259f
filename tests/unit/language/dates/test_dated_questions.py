"""A question about another time is read as people write it: the date first or last, in words, in three languages."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from internal.language.dates.questions import dated_question, dated_question_plainly
from internal.language.text.spelling import Language

SAID = datetime(2026, 11, 22, 15, 0, tzinfo=ZoneInfo("Europe/Kyiv"))

ASKED: tuple[tuple[Language, str, str, str | None, str], ...] = (
    ("ru", "2024 где я жил?", "2024-01-01", "2025-01-01", "где я жил?"),
    ("ru", "май 2023: где я работал?", "2023-05-01", "2023-06-01", "где я работал?"),
    ("ru", "прошлым летом с кем я жил", "2026-06-01", "2026-09-01", "с кем я жил"),
    ("ru", "летом 2023 года кто был моим начальником?", "2023-06-01", "2023-09-01", "кто был моим начальником?"),
    ("ru", "где я жил в 2020?", "2020-01-01", "2021-01-01", "где я жил?"),
    ("ru", "три года назад где работал Петров", "2023-11-22", "2023-11-23", "где работал Петров"),
    ("ru", "в самом начале мая 2023 года где я был?", "2023-05-01", "2023-06-01", "где я был?"),
    ("ru", "на прошлой неделе что пил Саша", "2026-11-09", "2026-11-16", "что пил Саша"),
    ("ru", "15.05.2020, где я был", "2020-05-15", "2020-05-16", "где я был"),
    ("ru", "вчера", "2026-11-21", "2026-11-22", ""),
    ("uk", "торік де я жив?", "2025-01-01", "2026-01-01", "де я жив?"),
    ("uk", "у травні 2023 де я працював", "2023-05-01", "2023-06-01", "де я працював"),
    ("uk", "минулого літа де жила Оля", "2026-06-01", "2026-09-01", "де жила Оля"),
    ("uk", "де я жив два роки тому?", "2024-11-22", "2024-11-23", "де я жив?"),
    ("uk", "1 вересня 2021 хто був директором?", "2021-09-01", "2021-09-02", "хто був директором?"),
    ("en", "last summer where did I live?", "2026-06-01", "2026-09-01", "where did I live?"),
    ("en", "where did I live in May 2023?", "2023-05-01", "2023-06-01", "where did I live?"),
    ("en", "as of 2020 where did Tom work", "2020-01-01", "2021-01-01", "where did Tom work"),
    ("en", "May 15, 2020 where was I", "2020-05-15", "2020-05-16", "where was I"),
    ("en", "2024 was it Tom who led?", "2024-01-01", "2025-01-01", "was it Tom who led?"),
    ("en", "May I ask where I lived in 2020?", "2020-01-01", "2021-01-01", "May I ask where I lived?"),
    ("en", "in the nineties where did I live", "1990-01-01", "2000-01-01", "where did I live"),
)


@pytest.mark.parametrize(("language", "text", "begins", "ends", "question"), ASKED)
def test_the_date_is_told_from_what_is_asked(
    language: Language, text: str, begins: str, ends: str | None, question: str
) -> None:
    """A year is a whole year, a month a month, and "three years ago" the day three years ago."""
    found = dated_question(text, SAID, language)
    assert found is not None
    assert (found.begins.date(), found.question) == (date.fromisoformat(begins), question)
    assert found.ends is not None
    assert found.ends.date().isoformat() == ends


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ru", "32 мая 2020 где я жил?"),
        ("ru", "где я жил 45 марта?"),
        ("ru", "31 февраля 2021, где я жил?"),
        ("uk", "30 лютого де я жив?"),
        ("en", "May 32, 2020 where did I live?"),
        ("en", "where did I live on February 30?"),
    ],
)
def test_a_day_that_no_calendar_has_is_no_date(language: Language, text: str) -> None:
    """Neither its number nor its month alone is taken for what was meant."""
    assert dated_question(text, SAID, language) is None


@pytest.mark.parametrize("text", ["где я жил", "до войны где я жил", "де я жив?", "where did I live?", "", "  ?! "])
def test_what_holds_no_date_gives_none(text: str) -> None:
    """Nothing is guessed: the bot asks for the date instead."""
    assert dated_question(text, SAID, "ru") is None


def test_a_time_of_day_is_a_moment() -> None:
    """It has no end: what held then is asked."""
    found = dated_question("2024-05-01 14:30 where was I", SAID, "en")
    assert found is not None
    assert (found.begins.hour, found.begins.minute, found.ends) == (14, 30, None)


def test_without_the_language_process_plain_dates_are_read() -> None:
    """Years, ISO dates and relative words need no library; a date written out does."""
    found = dated_question_plainly("прошлым летом где я жил", SAID, "ru")
    assert found == dated_question("прошлым летом где я жил", SAID, "ru")
    assert dated_question_plainly("somewhen in 15 where was I", SAID, "en") is None


@given(st.text(alphabet=st.sampled_from("2024 мая last yr.,?—год in5"), max_size=60))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    """What comes back lies in order, and what is asked is made of the text's own words."""
    found = dated_question_plainly(text, SAID, "ru")
    if found is not None:
        assert found.ends is None or found.begins < found.ends <= found.begins + timedelta(days=3660)
        assert all(word.strip("?") in text for word in found.question.split())
