"""Names of forgotten people and things are found in texts in any form."""

import pytest

from internal.flows.visibility.name_traces import naming


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("Павел", "Анна любит Павла", True),
        ("Пётр", "вместе с Петром", True),
        ("Фёдор", "видели Федора", True),
        ("Ольга", "сказала Ользі", True),
        ("Анна Петрова", "у Анны Петровой ремонт", True),
        ("Анна Петрова", "у Анны ремонт", False),
        ("Студия «Вихрь»", "работает в студии «Вихрь»", True),
        ("Anna", "Anna's car", True),
        ("Петров", "живёт в Петрозаводске", False),
        ("Маша", "новая машина", False),
        ("Ли", "было ли", False),
    ],
)
def test_a_name_is_found_in_any_form(name: str, text: str, named: bool) -> None:
    """Each word of it in its cases, and no longer word."""
    assert naming([name])(text) == named
