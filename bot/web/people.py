"""`/people`: the profiles of one owner, as the people-graph specification writes a Person, without its vector."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from internal.access import repository as users
from internal.errors import NotFound
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.engine import Database

LARGEST_ID = 2**63 - 1
"""What the database's integers hold."""

UserId = Annotated[int, Query(ge=-LARGEST_ID, le=LARGEST_ID)]
PersonId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Allows = Callable[[int], Awaitable[bool]]
"""Whether a user who has never written would be let in: his memory is empty, not unknown."""


class PersonOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    user_id: int
    display_name: str
    aliases: list[str]
    telegram_id: int | None
    username: str | None
    circle: Circle
    bio: str
    first_seen: datetime
    last_seen: datetime
    mention_count: int


class PeopleOut(BaseModel):
    """`count` is how many there are in all, whatever part of them is listed."""

    people: list[PersonOut]
    count: int


def people_router(database: Database, allows: Allows) -> APIRouter:
    router = APIRouter(prefix="/people")

    @router.get("")
    async def listing(
        user_id: UserId,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0,
    ) -> PeopleOut:
        """Most mentioned first."""
        found = await database.read(lambda connection: _page(connection, user_id, limit, offset))
        if found is None and not await allows(user_id):
            raise NotFound(f"there is no user {user_id}")
        shown, count = found or ([], 0)
        return PeopleOut(people=[PersonOut.model_validate(person) for person in shown], count=count)

    @router.get("/{person_id}")
    async def one(person_id: PersonId, user_id: UserId | None = None) -> PersonOut:
        """The id of a merged person answers with the profile it was merged into."""
        found = await database.read(lambda connection: _person(connection, person_id, user_id))
        if found is None:
            raise NotFound(f"there is no person {person_id}")
        return PersonOut.model_validate(found)

    return router


def _page(connection: Connection, user_id: int, limit: int, offset: int) -> tuple[list[Person], int] | None:
    """None for a user who is not stored."""
    if users.find(connection, user_id) is None:
        return None
    count = sum(people.counts(connection, user_id).values())
    return people.listing(connection, user_id, limit=limit, offset=offset), count


def _person(connection: Connection, person_id: int, user_id: int | None) -> Person | None:
    owner = people.owner_of(connection, person_id)
    if owner is None or user_id not in {None, owner}:
        return None
    return people.resolve(connection, owner, person_id)
