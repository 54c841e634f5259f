"""The REST calls about people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import Connection, update

from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage import tables
from internal.storage.database import Database
from internal.storage.types import new_id

ANNA, BORIS = 100, 200
NOW = datetime(2026, 2, 7, 12, 0, 0, 250_000, tzinfo=UTC)


def user(user_id: int) -> User:
    return User(user_id, Role.MEMBER, UserState.ACTIVE, f"user {user_id}", None, "ru", "UTC", True, NOW)


def person(user_id: int, name: str, mentions: int) -> Person:
    return Person(
        id=0,
        user_id=user_id,
        entity_id=new_id(),
        display_name=name,
        aliases=("Саша",),
        telegram_id=700 + mentions,
        username=f"user{mentions}",
        circle=Circle.WORK_INNER,
        bio="Коллега по проекту X",
        first_seen=NOW,
        last_seen=NOW,
        mention_count=mentions,
    )


@pytest.fixture
async def known(database: Database) -> Sequence[Person]:
    """Two owners: Anna knows three people, Boris one."""

    def work(connection: Connection) -> list[Person]:
        users.add(connection, user(ANNA))
        users.add(connection, user(BORIS))
        profiles = [
            person(ANNA, "Петров", 9),
            person(ANNA, "Ганна", 5),
            person(ANNA, "Kim", 1),
            person(BORIS, "Olga", 3),
        ]
        return [people.create(connection, profile, by="archivist", now=NOW) for profile in profiles]

    return await database.write(work)


async def test_person_is_written_as_specified(caller: httpx.AsyncClient, known: Sequence[Person]) -> None:
    """A profile carries the specified fields, times in UTC, and no vector."""
    answer = await caller.get(f"/people/{known[0].id}")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": known[0].id,
        "user_id": ANNA,
        "display_name": "Петров",
        "aliases": ["Саша"],
        "telegram_id": 709,
        "username": "user9",
        "circle": "Work_Inner",
        "bio": "Коллега по проекту X",
        "first_seen": "2026-02-07T12:00:00.250000Z",
        "last_seen": "2026-02-07T12:00:00.250000Z",
        "mention_count": 9,
    }


async def test_list_holds_one_owner_only(caller: httpx.AsyncClient, known: Sequence[Person]) -> None:
    """Nobody sees another owner's people."""
    for owner, names in ((ANNA, ["Петров", "Ганна", "Kim"]), (BORIS, ["Olga"])):
        body = (await caller.get("/people", params={"user_id": owner})).json()
        assert [item["display_name"] for item in body["people"]] == names
        assert body["count"] == len(names)


async def test_pages_cover_the_list_once(caller: httpx.AsyncClient, known: Sequence[Person]) -> None:
    """limit and offset cut the list; count stays the total."""
    pages = [
        (await caller.get("/people", params={"user_id": ANNA, "limit": 2, "offset": offset})).json()
        for offset in (0, 2, 4)
    ]
    assert [[item["display_name"] for item in page["people"]] for page in pages] == [["Петров", "Ганна"], ["Kim"], []]
    assert {page["count"] for page in pages} == {3}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "user_id"),
        ("user_id=anna", "user_id"),
        ("user_id=99999999999999999999", "user_id"),
        ("user_id=100&limit=0", "limit"),
        ("user_id=100&limit=1001", "limit"),
        ("user_id=100&offset=-1", "offset"),
        ("user_id=100&offset=99999999999999999999", "offset"),
        ("user_id=100&offset=2147483648", "offset"),
    ],
)
async def test_wrong_parameters_are_named(caller: httpx.AsyncClient, query: str, field: str) -> None:
    """A parameter out of range is 422, in words that begin with its name."""
    answer = await caller.get(f"/people?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{field}: ")


async def test_limit_up_to_a_thousand(caller: httpx.AsyncClient, known: Sequence[Person]) -> None:
    """The largest page is allowed."""
    assert (await caller.get("/people", params={"user_id": ANNA, "limit": 1000})).status_code == 200


async def test_allowed_user_is_valid_before_the_first_message(caller: httpx.AsyncClient) -> None:
    """Who may write has an empty memory; who may not is unknown."""
    answer = await caller.get("/people", params={"user_id": 500})
    assert (answer.status_code, answer.json()) == (200, {"people": [], "count": 0})
    stranger = await caller.get("/people", params={"user_id": 501})
    assert (stranger.status_code, stranger.json()) == (404, {"detail": "there is no user 501"})


async def test_known_user_need_not_be_in_the_allow_list(caller: httpx.AsyncClient, database: Database) -> None:
    """A user whom the owner admitted in the chat is valid too."""
    await database.write(lambda connection: users.add(connection, user(ANNA)))
    assert (await caller.get("/people", params={"user_id": ANNA})).json() == {"people": [], "count": 0}


async def test_merged_id_answers_with_the_target(
    caller: httpx.AsyncClient, known: Sequence[Person], database: Database
) -> None:
    """An id that somebody kept from before a merge still works."""
    source, target = known[2].id, known[0].id
    merged = update(tables.people).where(tables.people.c.id == source).values(merged_into=target)
    await database.write(lambda connection: connection.execute(merged))
    answer = await caller.get(f"/people/{source}", params={"user_id": ANNA})
    assert (answer.status_code, answer.json()["id"]) == (200, target)
    assert (await caller.get("/people", params={"user_id": ANNA})).json()["count"] == 2


async def test_other_owners_id_is_not_found(caller: httpx.AsyncClient, known: Sequence[Person]) -> None:
    """Asked with another owner's user_id, an id does not exist."""
    assert (await caller.get(f"/people/{known[0].id}", params={"user_id": ANNA})).status_code == 200
    assert (await caller.get(f"/people/{known[0].id}", params={"user_id": BORIS})).status_code == 404


@pytest.mark.parametrize(("person_id", "status"), [("999", 404), ("0", 422), ("x", 422), ("99999999999999999999", 422)])
async def test_ids_that_are_none(caller: httpx.AsyncClient, person_id: str, status: int) -> None:
    """An unknown id is 404, an impossible one 422 with the parameter's name."""
    answer = await caller.get(f"/people/{person_id}")
    assert answer.status_code == status
    assert ("person_id: " if status == 422 else "999") in answer.json()["detail"]
