"""What questions ask for and which dates they name, in three languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from internal.language.search.question_kinds import NamedDates, QuestionKind, named_dates, question_kind

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Anna move?", QuestionKind(when=True)),
        ("In which year was that?", QuestionKind(when=True)),
        ("Когда мы переехали?", QuestionKind(when=True)),
        ("А в каком году это было?", QuestionKind(when=True)),
        ("Коли Оля приїхала?", QuestionKind(when=True)),
        ("У якому році?", QuestionKind(when=True)),
        ("How many cats has she got?", QuestionKind(many=True)),
        ("Сколько стоил билет?", QuestionKind(many=True)),
        ("Скільки в неї котів?", QuestionKind(many=True)),
        ("Where does he live?", QuestionKind(place_or_person=True)),
        ("Who came?", QuestionKind(place_or_person=True)),
        ("В каком городе она родилась?", QuestionKind(place_or_person=True)),
        ("З ким ти був?", QuestionKind(place_or_person=True)),
        ("Де він живе?", QuestionKind(place_or_person=True)),
        ("What does Anna like?", QuestionKind()),
        ("Демид приїхав?", QuestionKind()),
        ("Ктотама кличут?", QuestionKind()),
    ],
)
def test_questions_ask_for_times_numbers_places_and_people(question: str, kind: QuestionKind) -> None:
    """By their first words, not by the beginning of a longer word."""
    assert question_kind(question) == kind


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("What did she buy in May 2023?", NamedDates(frozenset({5}), frozenset({2023}))),
        ("Where was I on 3 June 2021?", NamedDates(frozenset({6}), frozenset({2021}), frozenset({3}))),
        ("Что было 15 августа?", NamedDates(frozenset({8}), days=frozenset({15}))),
        ("Куди ми їздили у червні?", NamedDates(frozenset({6}))),
        ("What did we do last May?", NamedDates(frozenset({5}), frozenset({2025}))),
        ("Что было в июне прошлого года?", NamedDates(frozenset({6}), frozenset({2025}))),
        ("Що було торік у червні?", NamedDates(frozenset({6}), frozenset({2025}))),
        ("When in May did she last call?", NamedDates(frozenset({5}))),
        ("What may that be?", NamedDates()),
        ("Що я маю зробити?", NamedDates()),
        ("How did the 2022 race end?", NamedDates(years=frozenset({2022}))),
        ("Room 15 or 16?", NamedDates()),
        ("What did I eat yesterday?", NamedDates(frozenset({2}), frozenset({2026}), frozenset({6}))),
        ("Где я был в прошлом месяце?", NamedDates(frozenset({1}), frozenset({2026}))),
        ("Where did I live two years ago?", NamedDates(frozenset({2}), frozenset({2024}), frozenset({7}))),
        ("What does Anna like?", NamedDates()),
    ],
)
def test_questions_name_dates(question: str, dates: NamedDates) -> None:
    """Months by name, years in digits, days beside a month; else what is relative to now."""
    assert named_dates(question, NOW) == dates
