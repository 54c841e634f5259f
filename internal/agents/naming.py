"""The names of a person as the language room takes them."""

from __future__ import annotations

from internal.people.model import Person


def names_of(person: Person) -> list[str]:
    """Display name, aliases and "@username"."""
    return [*person.names, *([f"@{person.username}"] if person.username else [])]
