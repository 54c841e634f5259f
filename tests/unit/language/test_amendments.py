"""Lines that only correct the one before, and lines that only look so."""

from datetime import UTC, datetime, timedelta

import pytest

from internal.language.commands.amendments import SOON, amend_lines, amended

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("Our flight lands in Porto", "sorry, Lisbon", "Our flight lands in Lisbon"),
        ("The wedding is on December 9", "I meant December 19, not the 9th", "The wedding is on December 19"),
        ("Anna moved to Berlin", "sorry, I meant Hanna", "Hanna moved to Berlin"),
        ("She got a bike", "I mean a scooter", "She got a scooter"),
        ("Lunch on Friday with Tom at 2", "no, thursday", "Lunch on thursday with Tom at 2"),
        ("Dinner is at 7", "sorry, 7:30", "Dinner is at 7:30"),
        ("The meeting is in room 12", "*21", "The meeting is in room 21"),
        ("He works at Bosch", "Siemens, not Bosch", "He works at Siemens"),
        ("Её зовут Марина", "ой, не Марина, а Карина", "Её зовут Карина"),
        ("Вчера ездили с Мариной", "ой, Карина", "Вчера ездили с Кариной"),
        ("Сын пошёл в пятый класс", "в шестой, извини", "Сын пошёл в шестой класс"),
        ("У Оли двое детей", "вернее, трое", "У Оли трое детей"),
        ("Отпуск с 3 марта", "виноват, с 13 марта", "Отпуск с 13 марта"),
        ("Співбесіда у вівторок", "ні, в середу", "Співбесіда в середу"),
        ("Ремонт коштував 30 тисяч", "помилився, 40", "Ремонт коштував 40 тисяч"),
    ],
)
def test_the_value_takes_the_place_of_that_of_its_kind(before: str, line: str, after: str) -> None:
    """A number, a name, a day or what is named to be wrong gives way to the new one."""
    assert amended(before, line) == after


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("We ate at Marco's", "sorry, Lisa is calling"),
        ("The wedding is on December 9", "no, the wedding is in Leeds"),
        ("Anna lives in Kyiv", "Not anymore, she moved"),
        ("Paid 300 for the bike", "50 for the lock"),
        ("Дядя приехал", "ой, звонит Марина"),
        ("Мама в больнице", "нет, уже дома"),
        ("Оля не приедет", "ой, а мама?"),
        ("Когда поезд?", "нет, в среду"),
    ],
)
def test_other_lines_correct_nothing(before: str, line: str) -> None:
    """A line with more than one value, another verb or without a word of correction changes nothing."""
    assert amended(before, line) is None


def test_a_line_behind_a_pause_and_one_of_somebody_else_correct_nothing() -> None:
    """Only the next line of the same speaker, soon after, is a correction."""
    lines = [("We meet in Porto", NOW), ("sorry, Lisbon", NOW + SOON + timedelta(minutes=1))]
    assert amend_lines(lines, lambda line: line) == lines
    assert amend_lines(lines, lambda _: None) == lines
