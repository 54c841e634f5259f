"""What the bot says, in three languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache

import pytest
from fluent.syntax import FluentParser, ast
from fluent.syntax.visitor import Visitor

from bot.telegram.i18n import LOCALES, Markdown, Value, label, phrase
from bot.telegram.rendering import render
from internal.access.model import LANGUAGES, Language


class Variables(Visitor):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_VariableReference(self, node: ast.VariableReference) -> None:
        self.names.add(node.id.name)


def entries(lang: str) -> Iterator[ast.EntryType]:
    for path in sorted((LOCALES / lang).glob("*.ftl")):
        yield from FluentParser().parse(path.read_text(encoding="utf-8")).body


@cache
def messages(lang: str) -> dict[str, set[str]]:
    """By key, the values it takes."""
    found: dict[str, set[str]] = {}
    for entry in entries(lang):
        if isinstance(entry, ast.Message):
            assert entry.id.name not in found, f"{lang}: {entry.id.name} stands twice"
            variables = Variables()
            variables.visit(entry)
            found[entry.id.name] = variables.names
    return found


EARLY, LATE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC), datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SAMPLES: dict[str, Value] = {
    **dict.fromkeys(("first", "since", "at"), EARLY),
    **dict.fromkeys(("last", "until"), LATE),
    "day": date(2026, 11, 21),
}
NUMBERS = ("count", "limit", "seconds", "minutes", "page", "pages", "spent", "n")


def sample(name: str) -> Value:
    return SAMPLES.get(name, 5 if name in NUMBERS else "Олена_К")


def test_every_message_exists_in_every_language_with_the_same_values() -> None:
    """A sentence added in one language only, or one that forgets a value, does not pass."""
    english = messages("en")
    for lang in ("ru", "uk"):
        assert messages(lang) == english


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_in_the_files_is_unreadable(lang: Language) -> None:
    """A slip in the syntax is an error here, not a missing sentence in a chat."""
    assert [entry.content for entry in entries(lang) if isinstance(entry, ast.Junk)] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_message_can_be_said(lang: Language) -> None:
    """Each sentence can be filled in and rendered, and keeps the words put into it."""
    for key, names in messages("en").items():
        values = {name: sample(name) for name in names}
        (part,) = render(phrase(lang, key, **values))
        if "name" in values:
            assert "Олена_К" in part.text, key
        assert label(lang, key, **values).strip(), key


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        (
            "ru",
            {1: "1 человек", 2: "2 человека", 5: "5 человек", 11: "11 человек", 21: "21 человек", 102: "102 человека"},
        ),
        ("uk", {1: "1 людина", 2: "2 людини", 5: "5 людей", 11: "11 людей", 21: "21 людина", 102: "102 людини"}),
        ("en", {1: "1 person", 2: "2 people", 5: "5 people", 11: "11 people", 21: "21 people", 102: "102 people"}),
    ],
)
def test_numbers_agree_with_their_words(lang: Language, words: dict[int, str]) -> None:
    """Plural forms follow each language's own rules."""
    assert {count: phrase(lang, "people-count", count=count) for count in words} == words


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("ru", {1: "1 человека", 2: "2 человека", 3: "3 человека", 5: "5 человек", 22: "22 человека"}),
        ("uk", {1: "1 людину", 2: "2 людини", 3: "3 людини", 5: "5 людей", 22: "22 людини"}),
        ("en", {1: "1 person", 2: "2 people", 3: "3 people", 5: "5 people", 22: "22 people"}),
    ],
)
def test_whom_the_bot_knows_agrees_with_its_number(lang: Language, words: dict[int, str]) -> None:
    """Inside a sentence the case is another one, and two to four have a form of their own in it too."""
    for count, known in words.items():
        assert f" {known}. " in phrase(lang, "people-overview", count=count)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_ends_twice(lang: Language) -> None:
    """A name such as "Саша Б." and a date such as "2026 г." end with a full stop: no other may follow."""
    for key, names in messages("en").items():
        values = {name: "Саша Б." if isinstance(sample(name), str) else sample(name) for name in names}
        stops = re.findall(r".{0,20}\.\.(?!\.)", label(lang, key, **values))
        assert stops == [], key


def test_numbers_and_dates_are_written_as_the_language_does() -> None:
    """Decimal commas, grouped thousands and month names belong to the language, not to the program."""
    spent = {lang: phrase(lang, "status-spent", spent=0.0125, limit=5.0) for lang in LANGUAGES}
    assert "0,0125 $ из 5,00 $" in spent["ru"]
    assert "0,0125 $ із 5,00 $" in spent["uk"]
    assert "$0.0125 of $5.00" in spent["en"]
    seen = {lang: phrase(lang, "export-caption", day=date(2026, 11, 21)) for lang in LANGUAGES}
    assert "21 ноября 2026" in seen["ru"]
    assert "21 листопада 2026" in seen["uk"]
    assert "November 21, 2026" in seen["en"]


def test_words_put_in_cannot_format() -> None:
    """A person called *Bold* is shown with the stars, unless the value is Markdown on purpose."""
    (escaped,) = render(phrase("en", "contact-added", name="*Bold* [x](https://a.b)"))
    assert (escaped.text, escaped.entities) == ("Now I know *Bold* [x](https://a.b).", [])
    (meant,) = render(phrase("en", "contact-added", name=Markdown("**Bold**")))
    assert meant.text == "Now I know Bold."
    assert label("en", "contact-added", name="*Bold*") == "Now I know *Bold*."


def test_mistakes_of_the_program_are_errors() -> None:
    """An unknown key or a forgotten value is not shown to anybody."""
    with pytest.raises(KeyError, match="no message"):
        phrase("en", "no-such-key")
    with pytest.raises(KeyError, match="people-count"):
        phrase("ru", "people-count")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_value_is_too_long(lang: Language) -> None:
    """A fact, or what somebody typed, may be longer than the library takes: whole, escaped, and several at once."""
    name, value = "Ї" * 5_000, "a*b" * 1_000
    text = phrase(lang, "suggestion-circle", name=name, value=value, current="short")
    assert name in text
    assert value.replace("*", "\\*") in text
    assert "short" in text
    assert label(lang, "unknown-command", command="/q" * 2_000).count("/q" * 2_000) == 1


@pytest.mark.parametrize("key", ["too-fast", "daily-cost-reached", "stranger", "works-in-private"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_sent_without_rendering_hold_no_marks(lang: Language, key: str) -> None:
    """Limits and the line for strangers are sent as they stand, so Markdown would be seen."""
    values = {name: sample(name) for name in messages("en")[key]}
    (part,) = render(phrase(lang, key, **values))
    assert part.text == phrase(lang, key, **values)
    assert part.entities == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_greeting_is_three_lines(lang: Language) -> None:
    """Who has just come learns what this is, what it does and how to keep control, and no more."""
    assert len(phrase(lang, "greeting", name="Олена", persona="Laplaced").splitlines()) == 3


@pytest.mark.parametrize(("lang", "letters"), [("ru", "іїєґ"), ("uk", "ыэёъ")])
def test_no_letter_of_the_other_language_slips_in(lang: str, letters: str) -> None:
    """Russian and Ukrainian share an alphabet only in part: a stray letter betrays a copied sentence."""
    text = "".join(path.read_text(encoding="utf-8") for path in (LOCALES / lang).glob("*.ftl"))
    assert not set(text.casefold()) & set(letters)
