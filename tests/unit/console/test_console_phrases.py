"""The words of the console: in three languages alike, and fitted to times and numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax.ast import Message

from bot.console import phrases
from bot.console.phrases import LANGUAGES, Phrases, preferred

LOCALES = Path(phrases.__file__).parent / "locales"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def names(file: Path) -> set[str]:
    read = FluentParser().parse(file.read_text(encoding="utf-8"))
    return {entry.id.name for entry in read.body if isinstance(entry, Message)}


@pytest.mark.parametrize("file", sorted(file.name for file in (LOCALES / "en").iterdir()))
def test_every_phrase_is_there_in_every_language(file: str) -> None:
    """A page in Ukrainian never stumbles over a phrase that only English has."""
    told = {lang: names(LOCALES / lang / file) for lang in LANGUAGES}
    assert told["uk"] == told["en"]
    assert told["ru"] == told["en"]


def test_no_phrase_stands_twice() -> None:
    """All files of a language make one list, in which the last would win."""
    listed = [name for file in (LOCALES / "en").iterdir() for name in names(file)]
    assert sorted(listed) == sorted(set(listed))


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("uk-UA,uk;q=0.9,en;q=0.8", "uk"), ("de-DE,de;q=0.9,ru;q=0.5", "ru"), ("fr", "en"), ("", "en"), ("RU", "ru")],
)
def test_the_browsers_language_is_taken_if_it_is_spoken(accepted: str, language: str) -> None:
    """The first of those the browser names that the console speaks."""
    assert preferred(accepted) == language


def test_times_are_told_in_the_owners_zone() -> None:
    """In words of the language; a dash where there is none."""
    say = Phrases("uk", "Europe/Kyiv")
    assert say.moment(NOON.isoformat()) == "22 лист. 2026, 14:00"
    assert say.moment(None) == "—"
    assert say.ago(NOON - timedelta(hours=3), NOON) == "3 год тому"
    assert say.number(100_000) == "100\xa0000"


def test_what_the_console_does_not_know_is_told_as_it_is() -> None:
    """An event that the product learned after the console keeps its own name."""
    assert Phrases("en").known("event-never-heard-of", "Never heard of") == "Never heard of"
