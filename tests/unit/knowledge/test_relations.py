"""Names of relations and wordings of statements."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from internal.errors import Refused
from internal.knowledge.relations import (
    MAX_RELATION,
    denies,
    is_functional,
    materially_different,
    relation_name,
    statement_key,
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("WORKS_FOR", "WORKS_FOR"),
        ("works at", "WORKS_FOR"),
        ("worksAt", "WORKS_FOR"),
        ("Employed-By", "WORKS_FOR"),
        ("работает в", "WORKS_FOR"),
        ("працює у", "WORKS_FOR"),
        ("Живёт в", "LIVES_IN"),
        ("мешкає в", "LIVES_IN"),
        ("born", "BORN_ON"),
        ("день рождения", "BORN_ON"),
        ("likes", "LIKES"),
        ("играет в", "ИГРАЕТ_В"),
        ("  is   friend_of ", "IS_FRIEND_OF"),
    ],
)
def test_a_relation_has_one_name(written: str, name: str) -> None:
    """Case, spaces and the usual synonyms of three languages lead to one name; other names keep their alphabet."""
    assert relation_name(written) == name


@pytest.mark.parametrize("written", ["", "  ", "___", "42", "x" * (MAX_RELATION + 1)])
def test_what_is_no_name_is_refused(written: str) -> None:
    """A relation without a letter, or as long as a sentence, is none."""
    with pytest.raises(Refused, match="relation"):
        relation_name(written)


@given(st.text(max_size=MAX_RELATION))
def test_a_name_is_its_own_name(written: str) -> None:
    """Folding a stored name changes nothing."""
    try:
        name = relation_name(written)
    except Refused:
        return
    assert relation_name(name) == name


def test_only_what_holds_once_is_functional() -> None:
    """Home, employer, spouse and birth hold once at a time; friends and likings do not."""
    assert all(map(is_functional, ("LIVES_IN", "WORKS_FOR", "BORN_ON", "MARRIED_TO")))
    assert not any(map(is_functional, ("LIKES", "KNOWS", "FRIEND_OF", "OWNS")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna works for ACME", "anna works for acme."),
        ("Анна живёт в Киеве", "Анна живет в Киеве"),
        ("Анна любит чай", "чай любит Анна"),
        ("Анна работала в Киеве", "Анна работала в Киева"),
    ],
)
def test_the_same_in_other_letters_says_the_same(one: str, other: str) -> None:
    """Case, punctuation, order and endings are no other statement."""
    assert not materially_different(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna has 2 cats", "Anna has 3 cats"),
        ("Anna earns 3.5 a day", "Anna earns 35 a day"),
        ("Анна любит чай", "Анна не любит чай"),
        ("Олег женат", "Олег неженат"),
        ("Оля переїхала до Києва", "Оля переїхала з Києва"),
        ("Анна любит кофе с молоком", "Анна любит кофе с сахаром"),
        ("Anna works for ACME", "Anna works for ACME as a lead"),
    ],
)
def test_another_number_word_or_negation_says_something_else(one: str, other: str) -> None:
    """What changes the meaning makes two statements."""
    assert materially_different(one, other)


WORDS = st.lists(
    st.sampled_from(["анна", "не", "любит", "любила", "чай", "чая", "2", "3", "with", "tea", "teas"]), max_size=6
).map(" ".join)


@given(WORDS, WORDS)
def test_difference_and_denial_know_no_direction(one: str, other: str) -> None:
    """Comparing is symmetric, nothing differs from itself, and what denies also differs."""
    assert materially_different(one, other) == materially_different(other, one)
    assert denies(one, other) == denies(other, one)
    assert not materially_different(one, one)
    assert not denies(one, other) or materially_different(one, other)


@given(st.text(max_size=60))
def test_a_statement_key_is_its_own_key(text: str) -> None:
    """Folding twice is folding once."""
    assert statement_key(statement_key(text)) == statement_key(text)
