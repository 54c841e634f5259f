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
        ("In which order did I meet them?", QuestionKind(order=True)),
        ("List, in order, what I told you about the roof", QuestionKind(order=True)),
        ("How has my plan for the shop evolved?", QuestionKind(order=True)),
        ("How did the garden progress?", QuestionKind(order=True)),
        ("Перечисли по порядку, как шёл ремонт", QuestionKind(order=True)),
        ("В какой последовательности я брал кредиты?", QuestionKind(order=True)),
        ("Как менялись мои планы на лето?", QuestionKind(order=True)),
        ("У якому порядку я ходив до лікарів?", QuestionKind(order=True)),
        ("Як змінювалися мої плани на літо?", QuestionKind(order=True)),
        ("Give me a summary of the move", QuestionKind(summary=True)),
        ("Подведи итог наших разговоров о даче", QuestionKind(summary=True)),
        ("Подведи итог всей истории с дачей", QuestionKind(summary=True)),
        ("Підсумуй, як я шукав роботу", QuestionKind(summary=True)),
        ("What did I buy in order to paint the fence?", QuestionKind()),
        ("How can I make progress with the fence?", QuestionKind()),
        ("Как изменить рецепт?", QuestionKind()),
        ("Как у меня дела?", QuestionKind()),
        ("Чи огляне мене лікар?", QuestionKind()),
        ("What does Anna like?", QuestionKind()),
        ("Демид приїхав?", QuestionKind()),
        ("Ктотама кличут?", QuestionKind()),
    ],
)
def test_questions_ask_for_something(question: str, kind: QuestionKind) -> None:
    """Times, places and people by their first words, numbers, orders and summaries by any; not by a part of a word."""
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
