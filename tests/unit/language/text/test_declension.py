"""Forms of names by rules are at least those that the dictionaries know."""

import pytest

from internal.language.text.declension import written_forms
from internal.language.text.morphology import parses
from internal.language.text.spelling import Language, name_key

RUSSIAN = """
    Петров Пушкин Сергеев Королёв Петрова Пушкина Сергеева Достоевский Достоевская Толстой Толстая Черных Павел Лев Пётр
    Игорь Илья Мария Анна Ольга Любовь Наталья Маша Саша Никита Фёдор Андрей Сергей Дмитрий Кравец Гоголь Шевчук
    Бондаренко Гришин Гришина Кац Мороз Жук Петровна Ильич Фомин Ильин Лёша Катя Софья Зоя Марк Ваня Алексей Михаил Вера
    Астафьев Соловьёв Зайцев Кутузов Репин Гагарин Голицын Куницына Бунин Грин Дарвин Чаплин Трубецкой Гаврилюк
"""
UKRAINIAN = """
    Петренко Шевченко Ковальчук Кравець Швець Коваль Мельник Петрів Ковалів Петришин Ільїн Сергєєв Корольов Пушкін
    Петров Петрова Пушкіна Сковорода Грушевський Грушевська Косач Леся Оксана Ольга Наталка Марійка Галя Юлія Любов Ігор
    Федір Антін Яків Олег Сергій Андрій Василь Тарас Петро Дмитро Марко Олексій Лев Павло Іван Ганна Софія Білий Біла
    Чорновіл Кобзар Гнат Ілля Микола Тимчук Жанна Бойко Петрівна Коцюбинська Рудий Руда Горобець Сергєєва Іванович
"""
ADDRESSED = {"маш", "саш", "никит", "леш", "кать", "зой", "вань", "вер", "ольгя"}
"""Colloquial vocatives: a sentence about somebody does not hold them, and some are other words. Ольгя is none."""


@pytest.mark.parametrize(("language", "names"), [("ru", RUSSIAN), ("uk", UKRAINIAN)])
def test_every_form_that_the_dictionaries_know(language: Language, names: str) -> None:
    """Each singular case of first names, patronymics and surnames in -ов, -ин, -ский, -ець and others."""
    missing = {}
    for name in names.split():
        readings = [one for one in parses(name, language) if name_key(one.word) == name_key(name)]
        readings = [one for one in readings if one.tag.grammemes & {"Name", "Surn", "Patr"} and one.tag.case == "nomn"]
        lexemes = [(one.tag, form) for one in readings if one.tag.number != "plur" for form in one.lexeme]
        known = {
            name_key(form.word)
            for tag, form in lexemes
            if form.tag.number != "plur" and str(form.tag.gender) in (str(tag.gender), "None")
        }
        assert known, name
        left = known - written_forms(name_key(name)) - ADDRESSED
        if left:
            missing[name] = left
    assert missing == {}


def test_english_names_are_found_in_possessives() -> None:
    """Anna's car, the Petrovs, James' car; and no Cyrillic ending behind a Latin name."""
    assert {"anna", "anna's"} <= written_forms("anna")
    assert {"petrovs", "petrovs'"} <= written_forms("petrov")
    assert all(form.isascii() for form in written_forms("james"))


def test_no_vowel_is_dropped_from_a_surname() -> None:
    """Павел is Павла, and Петров is not Петрва."""
    assert "павла" in written_forms("павел")
    assert {form for form in written_forms("петров") if "петрв" in form} == set()
