"""Names of things: their basic form, when two are alike, and which of them a text may mean."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from internal.language.names.entities import basic_form, is_place, match_names, name_forms, named_in, plain_forms
from internal.language.names.places import place_ids


@pytest.mark.parametrize(
    ("written", "basic"),
    [
        ("Туле", "Тула"),
        ("Нью-Йорке", "Нью-Йорк"),
        ("Львові", "Львів"),
        ("Києві", "Київ"),
        ("Яндексе", "Яндекс"),
        ("«Ромашка»", "Ромашка"),
        ("зелёного чая", "зеленый чай"),
        ("каву", "кава"),
        ("МГУ", "МГУ"),
        ("Acme Corp", "Acme Corp"),
        ("Киев", "Киев"),
    ],
)
def test_a_name_gets_its_basic_form(written: str, basic: str) -> None:
    """As a dictionary writes it, with its capitals."""
    assert basic_form(written) == basic


@pytest.mark.parametrize("name", ["Киев", "Києві", "Kyiv", "Germany", "Тула", "Варшаву", "New York"])
def test_places_are_known_in_any_form(name: str) -> None:
    """By CLDR or by the dictionaries."""
    assert is_place(name)


@pytest.mark.parametrize("name", ["Яндекс", "МГУ", "ACME", "Ромашка", "чай"])
def test_what_is_no_place_is_none(name: str) -> None:
    """Also where a rare river has the same letters."""
    assert not is_place(name)


def test_one_place_has_one_mark_in_three_languages() -> None:
    """Countries and cities of CLDR, and those listed by hand."""
    same = [("Київ", "Киев", "Kyiv", "Kiev"), ("Польща", "Польша", "Poland"), ("Лондон", "London"), ("США", "USA")]
    for names in same:
        assert len({place_ids()[name.casefold()] for name in names}) == 1
    assert len({place_ids()[name] for name in ("київ", "львів", "польща", "лондон", "сша")}) == 5


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_is_symmetric_and_never_breaks(one: str, other: str) -> None:
    """Whatever is written; equal names are no likeness."""
    (there,) = match_names([one], [[other]])
    (back,) = match_names([other], [[one]])
    assert [reason for *_, reason in there] == [reason for *_, reason in back]
    assert match_names([one], [[one]]) == [[]]
    assert name_forms([one])[0].keys == plain_forms(one).keys


def test_a_text_may_mean_things_by_any_form_of_their_names() -> None:
    """All words of a name must stand in it."""
    known = [["Яндекс"], ["Новая почта"], ["ACME", "Акме"], ["Киев"], ["Москва-Сити"]]
    assert named_in(["Был в Яндексе, потом на Новой почте"], known) == [0, 1]
    assert named_in(["акме закрылась", "погода в Киеве"], known) == [2, 3]
    assert named_in(["новая жизнь", "почта"], known) == []
    assert named_in([], known) == []
