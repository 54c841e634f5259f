"""The words of the console: in three languages alike, and fitted to times and numbers."""

from __future__ import annotations

import ast
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax.ast import Message

from bot.application import doctor, mirror
from bot.console import phrases
from bot.console.pages.health import check_text
from bot.console.phrases import Phrases
from bot.shared.languages import LANGUAGES, preferred
from bot.shared.recurrence_words import repeat_words
from bot.telegram import health_check
from internal.agents.archivist.offline.fact_patterns import SHAPES
from internal.flows.contacts.matching import RELATIONS
from internal.flows.operations import health_checks
from internal.flows.operations.health_checks import check_clock
from internal.knowledge.relations import FUNCTIONAL
from internal.language.facts.occasion_names import KINDS
from internal.language.kinship.kinds import Kin
from internal.language.text.tables import table

LOCALES = Path(phrases.__file__).parent / "locales"
CHECKING = (health_checks, doctor, mirror, health_check)
EXACT = ("year", "month", "day", None)
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


def test_every_lane_has_its_words() -> None:
    """Whichever agent leaves an event, its lane of the control room is named in the reader's language."""
    root = Path(phrases.__file__).parents[2]
    texts = (file.read_text(encoding="utf-8") for part in ("bot", "internal") for file in (root / part).rglob("*.py"))
    sources = {name for text in texts for name in re.findall(r'"agent:([A-Za-z]+)"', text)}
    lanes = {re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower() for name in sources}
    assert "teams" in lanes
    shown = set.union(*(names(file) for file in (LOCALES / "en").iterdir()))
    assert {f"agent-{name}" for name in lanes} <= shown


def test_every_finding_has_its_words() -> None:
    """English ones stand in the checks themselves; the others know the key of each, and of each way to mend it."""
    uk, ru = (names(LOCALES / lang / "checks.ftl") for lang in ("uk", "ru"))
    assert uk == ru
    told = {name.removeprefix("found-") for name in uk if not name.endswith("-fix")}
    mended = {name.removeprefix("found-").removesuffix("-fix") for name in uk if name.endswith("-fix")}
    nodes = [node for module in CHECKING for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text()))]
    strings = {node.value for node in nodes if isinstance(node, ast.Constant)}
    made = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    keys = {(one.func.id, one.args[-1].value) for one in made if _is_check(one)}  # type: ignore[attr-defined]
    assert {key for _, key in keys} <= told <= strings
    assert {key for kind, key in keys if kind == "finding"} <= mended


def _is_check(call: ast.Call) -> bool:
    known = isinstance(call.func, ast.Name) and call.func.id in {"fine", "note", "finding"}
    return known and isinstance(call.args[-1], ast.Constant)


@pytest.mark.parametrize(("language", "hours"), [("uk", "3 год"), ("ru", "3 ч")])
def test_a_finding_is_told_in_the_readers_language(language: str, hours: str) -> None:
    """With its way out, and with times as the reader has them; what has no key yet stays as it was told."""
    say = Phrases(language, "Europe/Kyiv")
    late = asdict(check_clock(NOON, NOON + timedelta(hours=3)))
    message, fix = check_text(say, late)
    assert hours in message
    assert "NTP" in fix
    assert fix != late["fix"]
    shown, none = check_text(say, asdict(check_clock(NOON, None)))
    assert "14:00" in shown
    assert none == ""
    assert check_text(say, late | {"key": "never-heard-of"}) == (late["message"], late["fix"])


def test_no_phrase_stands_twice() -> None:
    """All files of a language make one list, in which the last would win."""
    listed = [name for file in (LOCALES / "en").iterdir() for name in names(file)]
    assert sorted(listed) == sorted(set(listed))


def test_every_relation_has_its_words() -> None:
    """Whatever the rules, the archivist without a model and a contact card state is told in the reader's language."""
    kinds = [row[0] for row in table("internal.language.kinship", "kinds")["kinds"]]
    kinds = [Kin(kind, gender).relation for kind in kinds for gender in (None, "masc", "femn")]
    stated = {*kinds, *KINDS.values(), *FUNCTIONAL, *RELATIONS.values(), *(shape.relation for shape in SHAPES)}
    assert {"NIECE_OF", "ANNIVERSARY_ON", "MARRIED_TO", "STUDIES_AT", "HAS_PHONE"} <= stated
    for language in LANGUAGES:
        words = {name: Phrases(language).known(f"relation-{name}", "") for name in stated}
        assert [name for name, said in words.items() if not said] == []
        latin = {said for said in words.values() if re.search("[A-Za-z]", said)}
        assert len(latin) == (len(set(words.values())) if language == "en" else 0)


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
    shown = [say.day({"valid_at": NOON.isoformat(), "valid_at_precision": one}, "valid_at") for one in EXACT]
    assert shown == ["2026", "лист. 2026", "22 лист. 2026", "22 лист. 2026"]
    assert say.ago(NOON - timedelta(hours=3), NOON) == "3 год тому"
    assert [say.span(timedelta(seconds=n)) for n in (12, 170, 7300)] == ["12 с", "3 хв", "2 год"]
    assert say.number(100_000) == "100\xa0000"


@pytest.mark.parametrize(
    ("language", "rule", "words"),
    [
        ("ru", "FREQ=WEEKLY;BYDAY=MO", "по понедельникам"),
        ("uk", "FREQ=WEEKLY;BYDAY=MO,WE,FR", "щопонеділка, щосереди і щоп’ятниці"),
        ("en", "FREQ=DAILY;INTERVAL=2", "every 2 days"),
        ("en", "FREQ=WEEKLY;BYDAY=SA,SU", "at weekends"),
        ("ru", "FREQ=YEARLY", "каждый год"),
    ],
)
def test_what_comes_again_is_told_in_words(language: str, rule: str, words: str) -> None:
    """As in the chat, never as a rule."""
    assert repeat_words(rule, Phrases(language)) == words


def test_what_the_console_does_not_know_is_told_as_it_is() -> None:
    """An event that the product learned after the console keeps its own name."""
    assert Phrases("en").known("event-never-heard-of", "Never heard of") == "Never heard of"
