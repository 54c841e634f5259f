"""What a correction says of a fact's time, in three languages."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from internal.language.facts.corrections import Correction, Status, read_correction
from internal.language.text.spelling import Language, text_language

KYIV = ZoneInfo("Europe/Kyiv")
AT = datetime(2026, 11, 22, 15, 30, tzinfo=KYIV)
NAMES = ("Anna", "Анна", "Zalando", "Berlin", "Берлин", "Берлін")


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=KYIV)


def read(said: str, old: str = "Anna works for Zalando in Berlin") -> Correction:
    language: Language = text_language(said, "en")
    return read_correction(old, said, NAMES, AT, language)


@pytest.mark.parametrize(
    ("said", "begins", "ends"),
    [
        ("Anna works for Zalando since May 2024", day(2024, 5), None),
        ("Анна работает в Zalando с мая 2024", day(2024, 5), None),
        ("Анна работает в Zalando с 15 мая 2024 года", day(2024, 5, 15), None),
        ("Анна працює в Zalando від травня 2024", day(2024, 5), None),
        ("Анна працює в Zalando з травня 2024 року", day(2024, 5), None),
        ("С 2021 года Анна работает в Zalando", day(2021), None),
        ("Anna worked for Zalando until 2023", None, day(2023)),
        ("Анна работала в Zalando до 2023", None, day(2023)),
        ("Анна працювала в Zalando до 2023 року", None, day(2023)),
        ("Анна работала в Zalando по 2023 год", None, day(2024)),
        ("Анна работала в Zalando с 2019 до 2023", day(2019), day(2023)),
        ("Anna worked for Zalando from 2019 until March 2023", day(2019), day(2023, 3)),
        ("Anna moved to Berlin in 2021", day(2021), None),
        ("Анна переїхала до Берліна вчора", day(2026, 11, 21), None),
        ("Анна переехала в Берлин в прошлом году", day(2025), None),
        ("Anna works for Zalando", None, None),
        ("Анна работает в Zalando в отделе 12", None, None),
        ("Anna has 3 cats", None, None),
    ],
)
def test_dates_are_read_from_the_words(said: str, begins: datetime | None, ends: datetime | None) -> None:
    """Since, until and in, against the moment of the message in the owner's zone; a number is no date."""
    found = read(said)
    assert (found.status, found.begins, found.ends) == ("holds", begins, ends)


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ("Anna no longer works for Zalando", AT),
        ("Anna doesn't work for Zalando anymore", AT),
        ("She quit Zalando in March 2025", day(2025, 3)),
        ("Анна больше не работает в Zalando", AT),
        ("Нет, она уже не работает там с мая 2024", day(2024, 5)),
        ("Анна уволилась из Zalando вчера", day(2026, 11, 21)),
        ("Анна вже не працює в Zalando", AT),
        ("Ні, вона більше не працює там від травня 2024", day(2024, 5)),
        ("Анна звільнилася з Zalando у 2023", day(2023)),
        ("Anna has not lived in Berlin since 2024", day(2024)),
        ("Анна не живёт в Берлине с 2024 года", day(2024)),
        ("Анна не мешкає в Берліні з минулого року", day(2025)),
    ],
)
def test_what_is_over_ends(said: str, ends: datetime) -> None:
    """With the date that was said, else with the message; a denial since a date is an end too."""
    found = read(said)
    assert (found.status, found.begins, found.ends) == ("over", None, ends)


def test_a_date_is_as_exact_as_it_was_said() -> None:
    """A year stays a year, a month a month; the moment of the message is no stated date."""
    for said, begins, ends in (
        ("С 2021 года Анна работает в Zalando", "year", None),
        ("Anna worked for Zalando from 2019 until March 2023", "year", "month"),
        ("Анна переїхала до Берліна 15 травня 2021", "day", None),
        ("Anna no longer works for Zalando", None, None),
    ):
        found = read(said)
        assert (found.begins_as, found.ends_as) == (begins, ends), said


@pytest.mark.parametrize(
    "said",
    [
        "Anna does not live in Berlin",
        "Anna doesn't live in Berlin",
        "Anna has never lived in Berlin",
        "Анна не живёт в Берлине",
        "Анна никогда не жила в Берлине",
        "Анна не мешкає в Берліні",
        "Анна ніколи не жила в Берліні",
        "Це неправда",
        "Неправда",
        "That is not true",
        "Анна не живёт в Берлине, это ошибка",
        "Анна не мешкає в Берліні, 20 листопада помилка",
        "2024 is wrong",
    ],
)
def test_a_denial_takes_the_fact_back(said: str) -> None:
    """It was never so, as far as the owner says."""
    assert read(said) == Correction("denied")


@pytest.mark.parametrize(
    ("said", "old"),
    [
        ("Anna does not live in Berlin but in Paris", "Anna lives in Berlin"),
        ("Анна живёт не в Берлине, а в Париже", "Анна живёт в Берлине"),
        ("Анна мешкає не в Берліні, а у Львові", "Анна мешкає в Берліні"),
        ("Anna no longer works for Zalando, she works for Google", "Anna works for Zalando"),
        ("Анна больше не в Zalando, теперь в Google", "Анна работает в Zalando"),
        ("Anna lives not only in Berlin", "Anna lives in Berlin"),
        ("Анна не любит чай", "Анна не любит кофе"),
        ("Anna doesn't like tea", "Anna does not like coffee"),
        ("Анна працює в Google", "Анна працює в Zalando"),
    ],
)
def test_what_tells_something_else_is_no_denial(said: str, old: str) -> None:
    """What is so instead is a fact in other words."""
    assert read(said, old).status == "holds"


@given(st.text(max_size=400), st.text(max_size=60))
def test_any_words_are_read(said: str, old: str) -> None:
    """Whatever somebody types is read as something."""
    standings: tuple[Status, ...] = ("holds", "over", "denied")
    assert read_correction(old, said, NAMES, AT, "ru").status in standings
