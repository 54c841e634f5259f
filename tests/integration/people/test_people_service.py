"""What the owner, his contacts and his forwards do to people."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from support.knowledge.people_stage import NOON, OWNER, STRANGER, Archive

from internal.errors import Refused
from internal.people import removal_repository, repository, service
from internal.people.model import Circle
from internal.people.operations import Added, Updated
from internal.people.service import TelegramAccount
from internal.storage.forgetting import hidings

LATER = NOON + timedelta(days=1)


def test_the_list_goes_by_mentions_in_pages_and_by_circle(archive: Archive, connection: Connection) -> None:
    """Most mentioned first; pages do not overlap; counts name every circle."""
    archive.fragment(*(Added(f"Имя{n}", circle=Circle.FRIENDS if n % 2 else Circle.FAMILY) for n in range(5)))
    archive.fragment(Updated(4))
    first = repository.listing(connection, OWNER, limit=2)
    second = repository.listing(connection, OWNER, limit=2, offset=2)
    assert [person.id for person in (*first, *second)] == [4, 1, 2, 3]
    assert [p.id for p in repository.listing(connection, OWNER, circles=[Circle.FRIENDS])] == [4, 2]
    assert repository.counts(connection, OWNER) == {
        Circle.FAMILY: 3,
        Circle.WORK_INNER: 0,
        Circle.FRIENDS: 2,
        Circle.WORK_OUTER: 0,
        Circle.OTHER: 0,
    }


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("петров", ["Петров"]),
        ("  ПЕТРОВ ", ["Петров"]),
        ("саша", ["Петров"]),
        ("@petrov", ["Петров"]),
        ("Petrov", ["Петров"]),
        ("777", ["Петров"]),
        ("пет", ["Петров", "Петренко"]),
        ("%", []),
        ("", []),
        ("_", []),
    ],
)
def test_a_person_is_found_by_what_one_types(
    archive: Archive, connection: Connection, typed: str, found: list[str]
) -> None:
    """By name, alias, username, Telegram id, in any case, else by the beginning of a name; never by a wildcard."""
    archive.fragment(Added("Петров", ("Саша",), "petrov", 777), telegram_ids=(777,))
    archive.fragment(Updated(1), Added("Петренко"))
    assert [person.display_name for person in service.find(connection, OWNER, typed)] == found
    assert service.find(connection, STRANGER, typed) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"display_name": " "}, "no_name"),
        ({"display_name": None}, "no_name"),
        ({"circle": "Enemies"}, "unknown_circle"),
        ({"username": "не то"}, "bad_username"),
        ({"username": "maria"}, "username_taken"),
        ({"aliases": "Саша"}, "bad_value"),
        ({"bio": "x" * 2000}, "bad_value"),
        ({"telegram_id": 5}, "unknown_field"),
        ({"mention_count": 5}, "unknown_field"),
    ],
)
def test_an_edit_that_breaks_a_rule_changes_nothing(
    archive: Archive, connection: Connection, changes: dict[str, Any], reason: str
) -> None:
    """Each refusal names its rule; `telegram_id` comes from message metadata only."""
    archive.fragment(Added("Петров"), Added("Мария", username="maria"))
    before = archive.people
    with pytest.raises(Refused) as refusal:
        service.edit(connection, OWNER, 1, changes, now=LATER)
    assert refusal.value.reason == reason
    assert archive.people == before


def test_an_edit_marks_the_fields_as_the_owners(archive: Archive, connection: Connection) -> None:
    """Only what he edited, confirmed values included."""
    archive.fragment(Added("Петров", circle=Circle.FRIENDS))
    person = service.edit(connection, OWNER, 1, {"circle": "friends", "bio": "Сосед."}, now=LATER)
    assert [field for field in repository.CONTENT if person.owner_set(field)] == ["circle", "bio"]


def test_a_bio_that_the_owner_empties_is_made_of_the_names(archive: Archive, connection: Connection) -> None:
    """A profile always has a bio; one made of names follows the names."""
    archive.fragment(Added("Петров", bio="Коллега."))
    assert service.edit(connection, OWNER, 1, {"bio": ""}, now=LATER).bio == "Петров"
    assert service.edit(connection, OWNER, 1, {"display_name": "Иванов"}, now=LATER).bio == "Иванов, Петров"


def test_an_alias_without_a_letter_is_none(archive: Archive, connection: Connection) -> None:
    """An empty alias would match everybody."""
    archive.fragment(Added("Петров"))
    assert service.edit(connection, OWNER, 1, {"aliases": ["  ", "!", "Саша"]}, now=LATER).aliases == ("Саша",)


@pytest.mark.parametrize(
    ("field", "value"),
    [("aliases", []), ("username", None), ("circle", "other"), ("display_name", "Петров"), ("bio", "Коллега.")],
)
def test_a_field_that_the_owner_confirms_is_his(
    archive: Archive, connection: Connection, field: str, value: object
) -> None:
    """Nothing changes but the mark, and an empty list or no username can be the owner's word as well."""
    archive.fragment(Added("Петров", bio="Коллега."))
    before = archive.person("Петров")
    confirmed = service.edit(connection, OWNER, 1, {field: value}, now=LATER)
    assert getattr(confirmed, field) == getattr(before, field)
    assert [name for name in service.EDITABLE if confirmed.owner_set(name)] == [field]


def test_the_owners_word_that_there_is_no_username_holds(archive: Archive, connection: Connection) -> None:
    """A model may ask about one, and does not write it."""
    archive.fragment(Added("Петров"))
    service.edit(connection, OWNER, 1, {"username": None}, now=LATER)
    assert archive.fragment(Updated(1, username="petrov")).suggested == 1
    assert archive.person("Петров").username is None


# Contacts and forwards


def test_a_contact_makes_a_person_who_is_updated_by_the_next(connection: Connection, archive: Archive) -> None:
    """The Telegram id decides: a new name becomes an alias, a new username replaces the old one."""
    service.from_metadata(connection, OWNER, TelegramAccount(77, "Иван Петров", "ivan"), seen_at=NOON, now=NOON)
    person = service.from_metadata(connection, OWNER, TelegramAccount(77, "Ваня", "vanya"), seen_at=LATER, now=LATER)
    assert [p.id for p in archive.people] == [person.id]
    assert (person.display_name, person.aliases, person.username) == ("Иван Петров", ("Ваня",), "vanya")
    assert (person.telegram_id, person.circle, person.bio) == (77, Circle.OTHER, "Иван Петров")
    assert (person.first_seen, person.last_seen, person.mention_count) == (NOON, LATER, 0)


def test_a_contact_never_touches_a_namesake(connection: Connection, archive: Archive) -> None:
    """A person of the same name keeps his own Telegram id, or none."""
    archive.fragment(Added("Иван"), Added("Пётр", telegram_id=5), telegram_ids=(5,))
    service.from_metadata(connection, OWNER, TelegramAccount(77, "Иван"), seen_at=NOON, now=NOON)
    service.from_metadata(connection, OWNER, TelegramAccount(78, "Пётр"), seen_at=NOON, now=NOON)
    assert [(p.display_name, p.telegram_id) for p in archive.people] == [
        ("Иван", None),
        ("Пётр", 5),
        ("Иван", 77),
        ("Пётр", 78),
    ]


def test_a_contact_with_a_known_username_gives_that_person_the_telegram_id(
    connection: Connection, archive: Archive
) -> None:
    """Equal usernames are one person, unless he is known to be another account."""
    archive.fragment(Added("Петров", username="petrov"))
    person = service.from_metadata(connection, OWNER, TelegramAccount(77, "Alex", "Petrov"), seen_at=NOON, now=NOON)
    assert (person.id, person.telegram_id) == (1, 77)
    other = service.from_metadata(connection, OWNER, TelegramAccount(78, "Другой", "petrov"), seen_at=NOON, now=NOON)
    assert (other.id, other.username) == (2, None)


def test_a_username_from_metadata_is_not_overruled_by_a_model(connection: Connection, archive: Archive) -> None:
    """Telegram knows better; the model's word becomes a suggestion."""
    service.from_metadata(connection, OWNER, TelegramAccount(77, "Иван", "ivan"), seen_at=NOON, now=NOON)
    assert archive.fragment(Updated(1, username="vanya")).suggested == 1
    assert archive.person("Иван").username == "ivan"


def test_a_contact_without_a_name_is_refused(connection: Connection) -> None:
    """Nobody is stored without a name."""
    with pytest.raises(Refused) as refusal:
        service.from_metadata(connection, OWNER, TelegramAccount(77, "🙂"), seen_at=NOON, now=NOON)
    assert refusal.value.reason == "no_name"


def test_somebody_who_is_being_forgotten_is_nowhere(connection: Connection, archive: Archive) -> None:
    """Hidden from lists, names, redirects, contacts and the archivist, until he is shown again."""
    archive.fragment(Added("Петров", ("Саша",), "petrov", 7), telegram_ids=(7,))
    removal_repository.hide_nodes(connection, OWNER, "asked", repository.entity_ids(connection, OWNER, [1]))
    assert archive.people == []
    assert repository.resolve(connection, OWNER, 1) is None
    assert service.find(connection, OWNER, "Петров") == []
    assert sum(repository.counts(connection, OWNER).values()) == 0
    outcome = archive.fragment(Updated(1, bio="x"), Added("Некто", username="petrov"))
    assert [refused.reason for refused in outcome.refused] == ["unknown_person", "being_forgotten"]
    with pytest.raises(Refused):
        service.from_metadata(connection, OWNER, TelegramAccount(7, "Петров"), seen_at=NOON, now=NOON)
    removal_repository.show_nodes(connection, OWNER, hidings.end_hiding(connection, OWNER, "asked")["node"])
    assert archive.person("Петров").username == "petrov"
