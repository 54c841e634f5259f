"""What the search takes for a name, erasing and hiding take for it too, without the dictionaries of the search."""

import pytest
from hypothesis import given, strategies as st

from internal.flows.visibility.name_traces import naming_person
from internal.language.names.forms import keys_in, sentence_forms
from internal.language.names.name_index import word_forms
from internal.language.names.name_words import name_words
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.text.declension import written_forms
from internal.language.text.morphology import ordinary
from internal.language.text.spelling import name_key
from internal.language.text.tables import table

TABLE = table("internal.language.names", "first_names")
GIVEN = [sorted({name for part in row[1:] for name in part.split()}) for row in TABLE]
"""The spellings of each first name: Russian, Ukrainian, Latin, long and short."""

NO_NAMES = ("ович", "ольгя", "маряно")
"""What the dictionaries derive though nobody writes it: patronymics of short names, wrong vocatives."""


@given(st.sampled_from(GIVEN).flatmap(st.sampled_from))
def test_every_form_that_the_search_finds_is_erased(name: str) -> None:
    """Cases, vocatives, other spellings, long and short forms, in the three languages."""
    [word] = name_words(name)
    forms = sentence_forms([name])
    found = [form for form in word_forms(word) if not form.startswith("~") and len(form) > 1]
    sentences = [f"вчора {form.capitalize()}, а" for form in found if not any(part in form for part in NO_NAMES)]
    assert [sentence for sentence in sentences if forms.isdisjoint(keys_in(sentence))] == []


@given(st.sampled_from(GIVEN).flatmap(lambda names: st.tuples(st.sampled_from(names), st.sampled_from(names))))
def test_a_name_in_another_spelling_is_erased_wherever_it_is_found(names: tuple[str, str]) -> None:
    """As the search ranks people: with a surname, by either test that erasing uses."""
    name, other = names
    for sentence in (f"Видели: {other} тут", f"там {other} Ковальчук был", f"by {other} Kovalchuk"):
        if name_boosts(sentence, {1: [f"{name} Ковальчук"]}).get(1, 0.0) >= NAMED:
            assert naming_person([f"{name} Ковальчук", name, "Ковальчук"], [])(sentence), sentence


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("Николай", "Коля звонил", True),
        ("Микола", "видел Колю вчера", True),
        ("Олександр", "Саша приехал", True),
        ("Саша", "Олександром довольны", True),
        ("Robert", "Bob called", True),
        ("Иван Петров", "met Petrov again", True),
        ("Olena Petrenko", "розмовляв з Петренком", True),
        ("Tom", "видел Тома вчера", True),
        ("Ян", "Ян приехал", True),
        ("Ian", "Видели: Ян тут", True),
        ("Jo", "I met Jo today", True),
        ("Ли", "приехал ли он", False),
        ("Николай", "коли ти прийдеш", False),
        ("Николай", "Коли ти прийдеш?", False),
        ("Tom", "Тому що втомився", False),
        ("Tom", "к дому и тому же", False),
        ("Виктория", "уже много веков и вику", False),
        ("Александр", "читал Сашу Соколова вчера", False),
        ("Маша", "новая машина", False),
    ],
)
def test_ordinary_words_and_other_people_stay(name: str, text: str, named: bool) -> None:
    """An ordinary word needs a capital inside a sentence; a short name with another surname is somebody else."""
    assert naming_person([name, *name.split()], [])(text) == named


@pytest.mark.parametrize(
    ("name", "other", "text", "named"),
    [
        ("Александр", "Саша Белый", "видел Сашу", False),
        ("Саша", "Александр Белый", "видел Сашу", True),
        ("Александр", "Александра", "видел Сашу", False),
        ("Александр", "Борис", "видел Сашу", True),
        ("Anna", "Анна", "Anna called", True),
    ],
)
def test_a_form_that_means_another_known_person_as_closely_stays(name: str, other: str, text: str, named: bool) -> None:
    """Of two people whom a short form fits, nobody is erased by it; who is called so is."""
    assert naming_person([name], [other])(text) == named


@pytest.mark.parametrize("row", TABLE[::20], ids=lambda row: row[1])
def test_the_table_of_homographs_is_what_the_dictionaries_say(row: list[str]) -> None:
    """It is used where no dictionary may be loaded."""
    known = set(table("internal.language.names", "homographs"))
    names = [name_key(name) for part in row[1:] for name in part.split() if not name.isascii()]
    forms = {form for name in names for form in written_forms(name)}
    assert {form for form in forms if ordinary(form)} == forms & known
