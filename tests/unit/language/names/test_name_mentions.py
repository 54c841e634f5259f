"""Names in messages, put back into the nominative."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings, strategies as st

from internal.language.names.mentions import find_people
from internal.language.text.spelling import Language, sentence_spans


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("ru", "видел Александра вчера", ["Александр"]),
        ("ru", "приехала Александра", ["Александра"]),
        ("ru", "с Александрой Ивановой", ["Александра Иванова"]),
        ("ru", "Юлия Крылова тут", ["Юлия Крылова"]),
        ("ru", "позвонил Петрову", ["Петров"]),
        ("ru", "видел Петрову", ["Петрова"]),
        ("ru", "видел Петрова", ["Петров"]),
        ("ru", "Петрова сказала", ["Петрова"]),
        ("ru", "от Петрова", ["Петров"]),
        ("ru", "со Львом", ["Лев"]),
        ("ru", "с Любовью Андреевной", ["Любовь Андреевна"]),
        ("ru", "с Ильёй Черных", ["Илья Черных"]),
        ("ru", "у Саши Белого", ["Саша Белый"]),
        ("ru", "про Виктора Штольца и с Генри Штольцем", ["Виктор Штольц", "Генри Штольц"]),
        ("ru", "с сергеем ивановичем кузнецовым", ["Сергей Иванович Кузнецов"]),
        ("ru", "созвон с Tom Baker и Машей", ["Tom Baker", "Маша"]),
        ("uk", "з Оленою Петрівною Кравець", ["Олена Петрівна Кравець"]),
        ("uk", "у Миколи Гриценка", ["Микола Гриценко"]),
        ("uk", "для Ігоря", ["Ігор"]),
        ("uk", "бачив Надію Савчук", ["Надія Савчук"]),
        ("uk", "зі Львом Біленьким", ["Лев Біленький"]),
        ("uk", "Тарасові й Наталці", ["Тарас", "Наталка"]),
        ("en", "Lunch with Оксана and Tom", ["Оксана", "Tom"]),
        ("en", "Mr. Henderson and Vincent van Gogh's neighbour", ["Henderson", "Vincent van Gogh"]),
        ("en", "talked to michael", ["Michael"]),
        ("en", "flew to Lisbon to see grandma Rose", ["Rose"]),
        ("en", "See you at the gallery, bring Sophie", ["Sophie"]),
        ("en", "See what I mean? See Tom tomorrow, we can see cousin Tim", ["Tom", "Tim"]),
        ("en", "Hope you're well. Hope is all. Art is long. Faith matters. Love it!", []),
        ("en", "Hope Sophie is fine", ["Sophie"]),
        (
            "en",
            "Hope Miller came. Hope called. Joy is my friend. My sister Faith left",
            ["Hope Miller", "Hope", "Joy", "Faith"],
        ),
        ("en", "Grace walked the dog. Will came. Doris Day sang", ["Grace", "Will", "Doris Day"]),
        ("ru", "Видел Джейми и Рейчел с Джеком", ["Джейми", "Рейчел", "Джек"]),
    ],
)
def test_names_are_restored(language: Language, text: str, names: list[str]) -> None:
    """Case, gender and the words around give back the name as it is called."""
    assert [sighting.name for sighting in find_people(text, language)] == names


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ("мой брат Саша", "Family"),
        ("Саша, мой брат, приехал", "Family"),
        ("Саша — мой брат", "Family"),
        ("брат Саши приехал", None),
        ("бывший начальник Петров", "Work_Outer"),
        ("начальник Петров", "Work_Inner"),
        ("экс-коллега Лена", "Work_Outer"),
        ("мы с Леной работаем вместе", "Work_Inner"),
        ("подруга Лена", "Friends"),
        ("Лена, её брат", None),
        ("клиент Петров", "Work_Outer"),
        ("соседка Галина", "Other"),
        ("дочку зовут Соня", "Family"),
        ("my boss Tom", "Work_Inner"),
        ("Tom is my boss", "Work_Inner"),
        ("Our CTO, Tom Baker, agreed", "Work_Inner"),
        ("Tom, his brother, came", None),
        ("a former colleague, Tom", None),
        ("my former colleague Tom", "Work_Outer"),
    ],
)
def test_circles(text: str, circle: str | None) -> None:
    """A role word counts for the name that it stands with, in its case, and for no other."""
    assert [sighting.circle for sighting in find_people(text, "ru")] == [circle]


@pytest.mark.parametrize(
    ("language", "text", "circles"),
    [
        ("ru", "Дети моей сестры — Миша и Даша", ["Family", "Family"]),
        ("ru", "У моей сестры двое детей: Миша и Даша", ["Family", "Family"]),
        ("ru", "Сын сестры Миша пошёл в школу", ["Family"]),
        ("ru", "Ольга — жена моего коллеги", ["Other"]),
        ("ru", "У коллеги Петра жена Ольга", ["Work_Inner", "Other"]),
        ("ru", "Мой коллега Пётр и его жена Ольга приехали", ["Work_Inner", "Other"]),
        ("ru", "Приехала сестра Аня. Её муж Олег болеет", ["Family", "Family"]),
        ("ru", "Начальник моей жены Карл", ["Other"]),
        ("ru", "Жена Петра Ольга родила дочку", [None, None]),
        ("uk", "Дітей моєї сестри звати Михайло і Даша", ["Family", "Family"]),
        ("uk", "У моєї сестри двоє дітей: Михайло і Даша", ["Family", "Family"]),
        ("uk", "Дружина мого колеги Петра Ольга працює в школі", ["Work_Inner", "Other"]),
        ("uk", "Мій колега Петро і його дружина Ольга приїхали", ["Work_Inner", "Other"]),
        ("en", "My sister's children are Mike and Dasha", ["Family", "Family"]),
        ("en", "My sister has two kids, Mike and Dasha", ["Family", "Family"]),
        ("en", "The children of my sister, Mike and Dasha", ["Family", "Family"]),
        ("en", "Olga is my colleague's wife", ["Other"]),
        ("en", "My colleague Peter and his wife Olga came", ["Work_Inner", "Other"]),
        ("en", "My wife's boss Karl", ["Other"]),
        ("en", "Peter's wife Olga works at a school", [None, None]),
    ],
)
def test_circles_follow_the_chain_of_relations(language: Language, text: str, circles: list[str | None]) -> None:
    """A sister's children are the owner's family, a colleague's wife is not, and only his own has the role."""
    found = find_people(text, language)
    assert [sighting.circle for sighting in found] == circles
    assert {"жена", "дружина", "wife", "сын", "муж"}.isdisjoint(sighting.role for sighting in found)


def test_the_role_is_told_with_the_name() -> None:
    """Each name has the role word that stands with it, in its dictionary form."""
    found = find_people("My wife Alice, our son Ben and I visited aunt Rose. Tom came.", "en")
    assert [(sighting.name, sighting.role) for sighting in found] == [
        ("Alice", "wife"),
        ("Ben", "son"),
        ("Rose", "aunt"),
        ("Tom", None),
    ]


@pytest.mark.parametrize(
    "text",
    ["сестры " * 3_000 + "Миша", "my sister's " * 2_000 + "Mike", "My kids Tom" + " " * 5_000 + "and Mike. " * 30],
)
def test_endless_chains_are_read_to_their_end(text: str) -> None:
    """A message that a machine made of one relation costs no more than any other, and stops nobody."""
    began = time.process_time()
    assert find_people(text, "ru")
    assert time.process_time() - began < 10


def test_letters_without_a_name_are_no_words() -> None:
    """Letters newer than Unicode's tables here are read past."""
    assert find_people("А𗀀 и Маша", "ru")[0].name == "Маша"


def test_a_username_beside_a_name_is_his() -> None:
    """One person is not seen twice; a bot is nobody."""
    found = find_people("Юлия (@yulia_k) и @taras, спроси у @weatherbot", "ru")
    assert [(sighting.name, sighting.username) for sighting in found] == [("Юлия", "yulia_k"), ("taras", "taras")]


def test_sentences_are_not_cut_at_abbreviations() -> None:
    """Dr. Foster and И. Петров stay whole."""
    text = "Dr. Foster came. И. Петров ушёл! Конец"
    assert [text[start:end].strip() for start, end in sentence_spans(text)] == [
        "Dr. Foster came.",
        "И. Петров ушёл!",
        "Конец",
    ]


@settings(deadline=None)
@given(st.text(max_size=80), st.sampled_from(["ru", "uk", "en"]))
def test_any_text_can_be_read(text: str, language: Language) -> None:
    """Sightings stand where they say, in order, without overlapping."""
    end = 0
    for sighting in find_people(text, language):
        assert end <= sighting.start < sighting.end <= len(text)
        assert text[sighting.start : sighting.end] == sighting.written
        end = sighting.end


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("uk", "Зустрів Петра на ринку", "Петро"),
        ("uk", "Бачив Павла вчора", "Павло"),
        ("ru", "Видел Петра на рынке", "Пётр"),
        ("ru", "Встретил Павла вчера", "Павел"),
    ],
)
def test_a_name_of_two_languages_is_that_of_the_sentence(language: Language, text: str, name: str) -> None:
    """Петра and Павла are forms of both."""
    assert [one.name for one in find_people(text, language)] == [name]
