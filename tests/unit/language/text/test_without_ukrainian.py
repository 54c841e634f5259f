"""Ukrainian where its dictionary, an extra, is not installed: the Russian one and rules read it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from internal.flows.operations import health_checks
from internal.flows.operations.health_checks import Level, check_dictionaries
from internal.language.text.ukrainian import ukrainian_name_forms, ukrainian_stem

PROGRAM = """
import json
import internal.language.text.morphology as morphology
morphology.has_ukrainian_dictionary = lambda: False
from internal.agents.archivist.offline.people import *
from internal.language.names.entities import basic_form
from internal.language.names.mentions import find_people
from internal.language.search.terms import ANALYZER, document_terms, query_terms, words_of
from internal.language.tasks.requests import *
import sys
assert not any(name.startswith("pymorphy3_dicts_uk") for name in sys.modules)
def finds(question, text):
    document = {term for word in words_of(document_terms([text])[0]) for term in word}
    return [any(term in document for term, _ in word) for word in query_terms(question)]
print(json.dumps({
    "people": [[(one.name, one.gender, one.circle) for one in find_people(text, "uk")] for text in (
        "Вчора бачився із Сергієм Петренком, він мій друг.",
        "Зустрічалася з Марією Ковальчук у Києві",
        "Моя сестра Наталія працює в лікарні",
        "Завтра дзвоню Ігореві",
    )],
    "forms": [basic_form(name, "uk") for name in ("Сергієм Петренком", "Марією Ковальчук", "Львовом")],
    "searches": [finds(*pair) for pair in (
        ("розмові про зустрічі", "Була розмова, потім зустріч"),
        ("Петренко", "говорив з Петренком"),
        ("у Києві", "Київ гарний"),
        ("лікарем", "був у лікаря"),
    )],
    "analyzer": ANALYZER,
}))
"""


@pytest.fixture(scope="module")
def read() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_people_are_found_in_their_case_forms(read: dict[str, Any]) -> None:
    """Names come into the nominative, with the circle that a word beside them says."""
    assert read["people"] == [
        [["Сергій Петренко", "masc", "Friends"]],
        [["Марія Ковальчук", "femn", None]],
        [["Наталія", "femn", "Family"]],
        [["Ігор", "masc", None]],
    ]
    assert read["forms"] == ["Сергій Петренко", "Марія Ковальчук", "Львов"]


def test_words_are_found_in_other_forms(read: dict[str, Any]) -> None:
    """A stem by rules stands for the dictionary form; every word of each question meets its text."""
    assert all(all(found) for found in read["searches"]), read["searches"]


def test_terms_are_made_anew_once_the_dictionary_is_there(read: dict[str, Any]) -> None:
    """Stored terms say which rules made them, and those without the dictionary are other rules."""
    from internal.language.search.terms import ANALYZER

    assert read["analyzer"] not in ("", ANALYZER)


def test_the_examination_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`laplaced doctor` notes a missing dictionary with the command that installs it."""
    assert check_dictionaries().level is Level.OK
    monkeypatch.setattr(health_checks, "has_ukrainian_dictionary", lambda: False)
    assert check_dictionaries().level is Level.NOTE
    assert "pip install '.[ukrainian]'" in check_dictionaries().message


@pytest.mark.parametrize(
    "forms",
    [
        "книга книгу книгою книги",
        "працює працювати працювала",
        "чорний чорного чорною",
        "лікар лікаря лікареві лікарем",
        "розмова розмові розмову",
    ],
)
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    """The endings of nouns, adjectives and verbs fall off."""
    assert len({ukrainian_stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("form", "nominative"),
    [
        ("петренком", "петренко"),
        ("ковальчукові", "ковальчук"),
        ("вишневського", "вишневський"),
        ("вишневською", "вишневська"),
        ("марією", "марія"),
        ("сергієві", "сергій"),
        ("оленою", "олена"),
    ],
)
def test_a_name_is_read_by_its_ending(form: str, nominative: str) -> None:
    """What ends in an unmistakable way has one nominative."""
    assert [found for found, *_ in ukrainian_name_forms(form)] == [nominative]
