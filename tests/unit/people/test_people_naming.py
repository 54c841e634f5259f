"""Names as they are kept and compared."""

import pytest
from hypothesis import given, strategies as st

from internal.language.text.spelling import name_key
from internal.people.names import MAX_ALIASES, MAX_NAME, clean_name, clean_username, surnames_differ, unique_names


@pytest.mark.parametrize("text", ["", "   ", "\n", "…", "@", "—", "😀"])
def test_text_without_a_letter_or_a_digit_is_no_name(text: str) -> None:
    """What could not be a name is cleaned to nothing, so it can neither be stored nor match everybody."""
    assert clean_name(text) == ""


def test_a_name_stays_on_one_line_and_within_its_length() -> None:
    """A name with line breaks becomes one line; an endless one is cut."""
    assert clean_name(" Анна \n Мария ") == "Анна Мария"
    assert len(clean_name("я" * 1000)) == MAX_NAME


@pytest.mark.parametrize(
    ("text", "username"),
    [
        ("@petrov", "petrov"),
        (" Ivan_P ", "Ivan_P"),
        ("t.me/petrov", "petrov"),
        ("https://t.me/petrov", "petrov"),
        ("https://example.org/petrov", ""),
        ("@@petrov", ""),
        ("иван", ""),
        ("a b", ""),
        ("ab", ""),
        ("", ""),
        ("1van", ""),
    ],
)
def test_only_what_can_be_a_username_is_one(text: str, username: str) -> None:
    """Usernames lose their @ and their link; anything Telegram would not allow is none."""
    assert clean_username(text) == username


def test_aliases_are_unique_by_key_and_never_the_excluded_ones() -> None:
    """An alias in other case, with ё as е or empty is not kept twice or at all."""
    assert unique_names(["Фёдор", "федор", "", "ФЕДЯ", "Саша"], without={name_key("саша")}) == ("Фёдор", "ФЕДЯ")


@given(st.lists(st.text(max_size=30), max_size=80))
def test_unique_names_hold_their_promises_for_any_input(names: list[str]) -> None:
    """Whatever a model lists: no empty key, no key twice, never too many, and cleaning again changes nothing."""
    kept = unique_names(names)
    keys = [name_key(name) for name in kept]
    assert all(keys)
    assert len(set(keys)) == len(keys) <= MAX_ALIASES
    assert unique_names(kept) == kept


@pytest.mark.parametrize(
    ("one", "other", "shared", "differ"),
    [
        (["Иван Петров"], ["Иван Сидоров"], {"иван"}, True),
        (["Петров Иван"], ["Сидоров Иван"], {"иван"}, True),
        (["Иван"], ["Иван Петров"], {"иван"}, False),
        (["Иван Петров"], ["Иван Петров"], {"иван петров"}, False),
        (["Иван Фёдорович"], ["Иван Петров"], {"иван"}, False),
        (["Иван Фёдорович Петров"], ["Иван Петров"], {"иван"}, False),
        (["Мария Петрова"], ["Маша Петрова"], {"маруся"}, False),
        (["Мария Коваль", "Мария Бондар"], ["Мария Бондар"], {"мария"}, False),
        (["Ivan Petrov"], ["Иван Сидоров"], {"ваня"}, False),
        (["John Smith"], ["John Brown"], {"john"}, True),
        (["Тётя Маша"], ["Маша Петрова"], {"маша"}, False),
        (["Олександр Шевченко"], ["Олександр Іваненко"], {"олександр"}, True),
    ],
)
def test_namesakes_are_told_apart_by_surname(one: list[str], other: list[str], shared: set[str], differ: bool) -> None:
    """Two Ivans of different surnames are two; a missing surname, a patronymic, another alphabet decide nothing."""
    assert surnames_differ(one, other, shared) is differ
    assert surnames_differ(other, one, shared) is differ
