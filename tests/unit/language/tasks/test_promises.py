"""Promises of both sides, debts and rhythms, in everyday words of three languages: kept, asked for and settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from support.paths import ROOT

from internal.flows.tasks.find_reminders import find_reminders
from internal.language.commands.recognise import find_commands
from internal.language.tasks.completion import find_completions
from internal.language.tasks.contacts import contacts_in
from internal.language.tasks.promises import find_promised
from internal.language.tasks.requests import find_tasks

AT = datetime(2026, 3, 2, 12, tzinfo=ZoneInfo("Europe/Kyiv"))
TABLES: Any = yaml.safe_load((ROOT / "tests/data/promises.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", ["en", "ru", "uk"])
def test_what_is_plainly_promised_owed_or_repeated_is_kept(language: Any) -> None:
    """Whose promise it is follows from grammar; what others promise to others is none of the owner's."""

    def kept(text: str) -> str:
        found, only = find_reminders([("m", text, AT)], None, language)
        assert not only or "remind me" in text, "it is answered too"
        return "; ".join(f"{one.kind}: {one.title}{f' {one.time.moment.day}' if one.time else ''}" for one in found)

    rows = dict(TABLES["said"][language])
    assert {text: kept(text) or "-" for text in rows} == rows


@pytest.mark.parametrize(
    ("text", "language", "title", "at"),
    [
        ("wake me up at 7", "en", "Alarm", "07:00"),
        ("set an alarm for 6:30", "en", "Alarm", "06:30"),
        ("поставь будильник на 7", "ru", "Будильник", "07:00"),
        ("разбуди меня завтра в 6:30", "ru", "Будильник", "06:30"),
        ("постав будильник на 7:15", "uk", "Будильник", "07:15"),
        ("увімкни будильник на завтра на 8", "uk", "Будильник", "08:00"),
        ("wake me up at 7 for the flight", "en", "The flight", "07:00"),
    ],
)
def test_an_alarm_without_words_is_called_so(text: str, language: Any, title: str, at: str) -> None:
    """And not by the words that ask for it; its hour may stand behind "on" and "for"."""
    [found], only = find_reminders([("m", text, AT)], None, language)
    assert only
    assert found.time is not None
    assert (found.title, f"{found.time.moment:%H:%M}"[-2:]) == (title, at[-2:])


@pytest.mark.parametrize("language", ["en", "ru", "uk"])
def test_what_others_will_do_for_the_owner_or_by_a_day_is_waited_for(language: Any) -> None:
    """By the future of any verb; feelings, states and mere plans of others are not waited for."""
    rows = dict(TABLES["foreseen"][language])
    found = {text: "; ".join(one.title for one in find_promised(text, AT, language)) or "-" for text in rows}
    assert found == rows


@pytest.mark.parametrize("language", ["en", "ru", "uk"])
def test_it_is_known_whose_promises_are_asked_for(language: Any) -> None:
    """ "Who owes me" is about others, "what do I owe" about the owner."""

    def asked(text: str) -> str:
        found = list(find_commands(text, AT, language))
        return " ".join(f"{one.kind} {'' if one.kind == 'agenda' else one.about}".strip() for one in found)

    rows = dict(TABLES["asked"][language])
    assert {text: asked(text) or "-" for text in rows} == rows


def test_what_others_did_settles_what_was_waited_for() -> None:
    """By any verb of the same meaning; other deeds of the same person settle nothing."""
    rows = dict(TABLES["settled"])
    found = {text: find_completions(text, TABLES["open"]) for text in rows}
    assert {text: one[0].index if one else "-" for text, one in found.items()} == rows


@pytest.mark.parametrize("language", ["en", "ru", "uk"])
def test_what_was_done_together_is_being_in_touch(language: Any) -> None:
    """By any verb, if the owner did it; what others did with each other is none."""
    names = {1: ["Ben", "Боря", "Борис"], 2: ["Olga", "Оля"]}
    rows = dict(TABLES["together"][language])
    assert {text: bool(contacts_in([text], names)[0]) for text in rows} == rows


def test_what_a_pronoun_means_stands_in_the_title() -> None:
    """Also if it means a thing."""
    found = [one.title for text in TABLES["pronouns"] for one in find_tasks(text, AT, "en")]
    assert found == list(TABLES["pronouns"].values())
