"""Same-person hints, mentions and boosts over case, short forms, languages and alphabets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, strategies as st

from internal.language.names.name_index import NameIndex
from internal.language.names.name_words import may_be_pet_name
from internal.language.names.person_names import mentions, name_boosts, same_person_reason

SAME = [
    ("Мария", "Мария Ивановна", "patronymic"),
    ("Иван Фёдорович", "Иван", "patronymic"),
    ("Мария", "Мария Петрова", "prefix"),
    ("Петров", "Иван Петров", "prefix"),
    ("Иван", "Иван Петров", "prefix"),
    ("И. Петров", "Иван Петров", "prefix"),
    ("Петров Иван", "Иван Петров", "prefix"),
    ("Tom Baker", "Tom", "prefix"),
    ("тётя Света", "Света", "prefix"),
    ("Петров", "Петровым", "declension"),
    ("Петров", "Петрова", "declension"),
    ("Мария Петрова", "Марии Петровой", "declension"),
    ("Олена", "Олену", "declension"),
    ("Олена", "Олені", "declension"),
    ("Шевченко", "Шевченка", "declension"),
    ("Пётр", "Петра", "declension"),
    ("Ігор", "Ігорем", "declension"),
    ("Маша", "Мария", "diminutive"),
    ("Маша", "Мария Ивановна", "diminutive"),
    ("Саша", "Александр", "diminutive"),
    ("Саша", "Александра", "diminutive"),
    ("Сашко", "Олександр", "diminutive"),
    ("Оленка", "Олена", "diminutive"),
    ("Лёха", "Алексей", "diminutive"),
    ("Катерина Шевченко", "Катя", "diminutive"),
    ("Bob", "Robert", "diminutive"),
    ("Bob Smith", "Robert Smith", "diminutive"),
    ("Masha", "Мария", "diminutive"),
    ("Petrov", "Петров", "transliteration"),
    ("Petrov", "Петровым", "transliteration"),
    ("Olena", "Олена", "transliteration"),
    ("Elena", "Олена", "transliteration"),
    ("Aleksandr", "Александр", "transliteration"),
    ("Alexander", "Олександр", "transliteration"),
    ("Aleksandr", "Alexander", "transliteration"),
    ("Alexander", "Александр", "transliteration"),
    ("Николай", "Микола", "transliteration"),
    ("Алексей", "Олексій", "transliteration"),
    ("Кравець", "Кравец", "transliteration"),
    ("Олексієнко", "Алексеенко", "transliteration"),
    ("Зеленський", "Зеленского", "transliteration"),
    ("Masha", "Маша", "transliteration"),
    ("Shcherbakov", "Щербаков", "transliteration"),
    ("Галина Ивановна", "Галина Іванівна", "transliteration"),
]

DIFFERENT = [
    ("Иван Петров", "Иван Сидоров"),
    ("Иван Фёдорович", "Иван Петрович"),
    ("Анна Петрова", "Иван Петров"),
    ("Олена Коваль", "Олена Бондар"),
    ("Tom Baker", "Tom Smith"),
    ("Мар", "Мария"),
    ("Петр", "Петров"),
    ("Иван", "Иванов"),
    ("Ivan", "Ivanov"),
    ("Петров", "Петренко"),
    ("Коваль", "Ковальчук"),
    ("Марина", "Мария"),
    ("Олег", "Ольга"),
    ("Саша", "Маша"),
    ("Влад", "Владимир"),
    ("Вера", "Вероника"),
    ("Валерий", "Валентин"),
    ("Анна", "Алла"),
    ("Лена", "Лина"),
    ("Марк", "Марта"),
    ("Артём", "Артур"),
    ("John", "Joan"),
    ("Sam", "Sandra"),
    ("Дмитро", "Дмитрівна"),
    ("тётя Света", "тётя Оля"),
    ("Ивановна", "Мария Ивановна"),
    ("Мария", "мария"),
    ("", "Мария"),
    ("123", "Мария"),
]


@pytest.mark.parametrize(("one", "other", "reason"), SAME)
def test_names_that_may_be_one_person(one: str, other: str, reason: str) -> None:
    """A hint says by which step two names meet."""
    assert same_person_reason(one, other) == reason


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_that_are_not_hinted(one: str, other: str) -> None:
    """Two Ivans with other surnames, short beginnings and sounds that only resemble are no hint; nor are equals."""
    assert same_person_reason(one, other) is None


some_names = st.sampled_from(sorted({name for pair in [*SAME, *DIFFERENT] for name in pair[:2]}))


@given(some_names, some_names)
def test_hints_are_symmetric(one: str, other: str) -> None:
    """Which name was known first makes no difference."""
    assert same_person_reason(one, other) == same_person_reason(other, one)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    """Names are whatever people type."""
    assert same_person_reason(one, other) == same_person_reason(other, one)


PEOPLE: Mapping[int, Sequence[str]] = {
    1: ["Петров"],
    2: ["Мария Ивановна", "Маша"],
    3: ["Олена Коваль"],
    4: ["Олена Бондар"],
    5: ["Tom Baker", "@tom_b"],
    6: ["Вера"],
    7: ["Рома"],
    8: ["Надежда Соколова"],
    9: ["Will"],
    10: ["May Lee"],
    11: ["Иван Сидоров"],
    12: ["Шевченко"],
    13: ["Галина", "мама"],
    14: ["Mark"],
    15: ["Микола Гриценко"],
    16: ["Петрова"],
    17: ["Anna Petrenko"],
    18: ["Костя"],
    19: ["Jamie"],
    20: ["Hope"],
}


SPOKEN = (
    *("петровым", "Мария", "Ивановна", "машей", "Олену", "Бондар", "Коваль", "Тому", "tom", "baker", "@Tom_B"),
    *("Вера", "вере", "Рому", "Надежде", "Will", "Mark", "Иваном", "мама", "галине", "Николай", "Mykola", "Hope"),
    *("Петровой", "петренко", "костя", "Masha", "Джейми", "Sidorov", "дома", "and", "звонила"),
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("говорил с петровым вчера", {1}),
        ("Петров и Мария Ивановна пришли", {1, 2}),
        ("машей доволен", {2}),
        ("бачив Олену Бондар", {4}),
        ("Зустрів Олену Коваль у кав'ярні", {3}),
        ("дай Тому шанс", {5}),
        ("Tom's car", {5}),
        ("talked to tom baker", {5}),
        ("напиши @Tom_B", {5}),
        ("Вера звонила", {6}),
        ("Рома приехал", {7}),
        ("встретил Надежду", {8}),
        ("saw Will and Mark yesterday", {9, 14}),
        ("Will called me", {9}),
        ("с Иваном", {11}),
        ("з Шевченком", {12}),
        ("мама звонила", {13}),
        ("передай галине", {13}),
        ("Николай приезжал", {15}),
        ("Mykola came", {15}),
        ("позвони Петровой", {16}),
        ("Petrov wrote", {1}),
        ("анна петренко тут", {17}),
        ("Костя дома", {18}),
        ("Masha wrote", {2}),
        ("Джейми звонил", {19}),
        ("Hope called", {20}),
    ],
)
def test_mentions(text: str, meant: set[int]) -> None:
    """Names, aliases and usernames are found over declension, case, languages and alphabets."""
    assert set(mentions(text, PEOPLE)) == meant


@pytest.mark.parametrize(
    "text",
    [
        "вера в людей",
        "Hope you're well",
        "тому що так треба",
        "бутылка рома",
        "надежда умирает последней",
        "Will you come? I will.",
        "May I ask? may be",
        "mark my words",
        "Mark my words",
        "рыба без кости",
        "КУДА УШЛА ВЕРА",
        "Олена прийшла",
        "петровка 38, улица иванова",
        "tom_b без собачки",
        "Ивановна",
        "",
    ],
)
def test_what_mentions_nobody(text: str) -> None:
    """Ordinary words, parts of words, and names that fit two people equally well mean nobody."""
    assert mentions(text, PEOPLE) == {}


def test_the_written_form_is_told() -> None:
    """A mention carries what was written."""
    assert mentions("вчера с Марией Ивановной и @tom_b", PEOPLE) == {2: "Марией Ивановной", 5: "@tom_b"}


def test_a_whole_name_takes_its_words_from_shorter_ones() -> None:
    """Иван Сидоров is not also the other Иван."""
    people = {1: ["Иван"], 2: ["Иван Сидоров"]}
    assert set(mentions("Иван Сидоров пришёл", people)) == {2}
    assert set(mentions("Иван пришёл", people)) == {1}


def test_two_of_one_name_stay_two() -> None:
    """A name that two people share points at neither, but a search boosts both."""
    people = {1: ["Иван"], 2: ["Иван"]}
    assert mentions("Иван пришёл", people) == {}
    assert name_boosts("где Иван", people) == {1: 1.0, 2: 1.0}


@given(st.text(max_size=60))
def test_no_text_breaks_mentions(text: str) -> None:
    """Messages are whatever people type."""
    assert set(mentions(text, PEOPLE)) <= set(PEOPLE)


@given(st.lists(st.sampled_from(SPOKEN), min_size=1, max_size=6).map(" ".join), st.sets(st.sampled_from(range(1, 21))))
def test_the_part_of_an_index_that_a_text_can_match_finds_the_same(text: str, people: set[int]) -> None:
    """Names of which the text holds no form are not missed."""
    known = {number: PEOPLE[number] for number in sorted(people)}
    found = NameIndex.for_text(known, text).matches(text, strict=False)
    assert sorted(map(repr, found)) == sorted(map(repr, NameIndex.of(known).matches(text, strict=False)))


def test_boosts_are_graded() -> None:
    """A whole name counts more than a part, its own alphabet more than the other, a short form least."""

    def boost(query: str) -> float:
        return name_boosts(query, {0: ["Иван Сидоров"]}).get(0, 0.0)

    whole = boost("кто такой Иван Сидоров?")
    surname = boost("кто такой Сидоров?")
    latin = boost("who is Sidorov?")
    short = boost("что с Ваней?")
    assert 1.0 == whole > surname > latin > short > 0.0 == boost("кто такой Петренко?")


@pytest.mark.parametrize(
    ("written", "name", "may"),
    [
        ("кларочка", "Клара", True),
        ("богдася", "Богдана", True),
        ("eddy", "Edgar", True),
        ("wills", "Will", True),
        ("кларнет", "Клара", False),
        ("маринка", "Мария", False),
        ("стефания", "Стефан", False),
        ("edge", "Edgar", False),
    ],
)
def test_a_pet_form_that_no_table_holds_is_told_by_its_beginning_and_ending(written: str, name: str, may: bool) -> None:
    """One that is known as a form of another name is none."""
    assert may_be_pet_name(written, name) is may
