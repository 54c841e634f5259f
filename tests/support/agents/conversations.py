"""Transcripts, people and an owner for the tests of agents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from internal.agents.model import OwnerProfile, TranscriptLine
from internal.people.model import Circle, Person

NOON = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)
OWNER = OwnerProfile(
    user_id=7, name="Анна", username="anna", language="ru", timezone="Europe/Kyiv", facts=("Живёт в Киеве",)
)


def line(number: int, text: str, **more: object) -> TranscriptLine:
    """A line of the owner, one minute after the line before; `more` overrides its fields."""
    fields = {"role": "user", "speaker": "Анна", "at": NOON + timedelta(minutes=number), **more}
    return TranscriptLine(number=number, text=text, **fields)  # type: ignore[arg-type] # fields come by keyword


def person(person_id: int, name: str, circle: Circle = Circle.FRIENDS, bio: str = "", **more: object) -> Person:
    fields = {"first_seen": NOON, "last_seen": NOON, "entity_id": f"entity-{person_id}", "user_id": 7, **more}
    return Person(id=person_id, display_name=name, circle=circle, bio=bio, **fields)  # type: ignore[arg-type] # the same
