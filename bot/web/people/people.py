"""`/people`: the profiles of one owner, as the people-graph specification writes a Person, and their mentions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Path, Query
from pydantic import BaseModel, Field, StringConstraints, WithJsonSchema
from sqlalchemy import Connection
from starlette.convertors import Convertor, register_url_convertor

from bot.web.graph.schemas import EvidenceOut
from bot.web.http.fields import LARGEST_ID, NUL_FREE, Limit, Name, Offset, RequestBody, Short, UserFilter, UserId
from bot.web.http.owners import Owners, zone_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter, join, refusals
from bot.web.people.schemas import FoundPeople, FoundPerson, MessagesAbout, PeopleOut, PersonOut, SplitPerson
from internal.errors import NotFound, Refused
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.merging import people as merging_people
from internal.flows.views.person_mentions import EpisodeMention, mentions_of
from internal.knowledge.model import EpisodeSource
from internal.people import merge_repository, repository as people
from internal.people.bio import MAX_BIO
from internal.people.model import Circle, Person
from internal.recall.prompt.overview import PeopleFinder
from internal.scheduling.clock import Clock
from internal.storage.database import Database

AnyPerson = Annotated[int, Field(ge=1, le=LARGEST_ID)]
PersonId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


Username = Annotated[Short, WithJsonSchema({"type": "string", "pattern": "^(@?[A-Za-z][A-Za-z0-9_]{2,31})?$"})]
CircleName = Annotated[Short, WithJsonSchema({"type": "string", "enum": list(Circle)})]
"""A circle, accepted in any case and returned in the usual one."""


class PersonChanges(RequestBody):
    """Changes; absent fields stay. `aliases` is the whole new list; null removes `username`."""

    display_name: Name = ""
    aliases: list[Short] = Field([], max_length=100)
    username: Username | None = None
    circle: CircleName = ""
    bio: Annotated[str, StringConstraints(max_length=MAX_BIO), NUL_FREE] = ""

    def changed_fields(self) -> dict[str, Any]:
        """The fields of the request only."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class MergeOrder(RequestBody):
    source_id: AnyPerson
    target_id: AnyPerson
    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)] | None = None


class _PersonInPath(Convertor[str]):
    """Matches any id except the words that name calls of their own."""

    regex = "(?!(?:map|map.svg|merge|search)(?:/|$))[^/]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("person", _PersonInPath())

_PEOPLE: Final[dict[str, Any]] = {"prefix": "/people", "tags": ["people"], "dependencies": KEYED}


def people_router(
    database: Database, clock: Clock, owners: Owners, finder: PeopleFinder | None, eraser: ForgettingService | None
) -> APIRouter:
    router = APIRouter(**_PEOPLE)

    @router.get("", responses=READING)
    async def list_people(user_id: UserId, limit: Limit = 100, offset: Offset = 0) -> PeopleOut:
        """People, the most mentioned first."""
        await owners.stored(user_id)
        shown, count = await database.read(lambda connection: _page(connection, user_id, limit, offset))
        return PeopleOut(people=[PersonOut.of(person) for person in shown], count=count)

    if finder is not None:
        join(router, _search(owners, finder))
    if eraser is not None:
        join(router, _forgetting(database, eraser))

    @router.get("/{person_id:person}", responses=READING)
    async def get_person(person_id: PersonId, user_filter: UserFilter = None) -> PersonOut:
        """A person. The id of a merged one answers with the profile it was merged into."""
        found = await database.read(lambda c: person_meant(c, person_id, user_filter))
        return PersonOut.of(found)

    @router.patch("/{person_id:person}", responses=WRITING)
    async def edit_person(person_id: PersonId, changes: PersonChanges, user_filter: UserFilter = None) -> PersonOut:
        """Changes a profile by the owner's own statement, which no model overrides."""

        def work(connection: Connection) -> Person:
            known = person_meant(connection, person_id, user_filter)
            return merging_people.edit(connection, known.user_id, known.id, changes.changed_fields(), now=clock.now())

        return PersonOut.of(await database.write(work))

    @router.post("/merge", responses=WRITING)
    async def merge_people(order: MergeOrder, user_filter: UserFilter = None) -> PersonOut:
        """Merges the source into the target, which is the answer. The source's id leads there from now on."""

        def work(connection: Connection) -> Person:
            source, target = (person_meant(connection, one, user_filter) for one in (order.source_id, order.target_id))
            if source.user_id != target.user_id or order.user_id not in {None, source.user_id}:
                raise NotFound(f"target_id: there is no person {order.target_id}")
            try:
                return merging_people.merge(connection, source.user_id, order.source_id, target.id, now=clock.now())
            except Refused as error:
                raise Refused(error.reason, f"source_id: {error}") from None

        return PersonOut.of(await database.write(work))

    @router.post("/{person_id:person}/split", responses={**READING, **refusals(404)})
    async def split_person(person_id: PersonId, user_filter: UserFilter = None) -> SplitPerson:
        """Undoes the merge that made this person part of another, else the last merge into him."""

        def work(connection: Connection) -> tuple[Person, Person]:
            known = person_meant(connection, person_id, user_filter)
            return merging_people.split(connection, known.user_id, person_id, now=clock.now())

        source, target = await database.write(work)
        mine, other = (source, target) if source.id == person_id else (target, source)
        fields = PersonOut.of(mine).model_dump()
        return SplitPerson(**fields, other=PersonOut.of(other))

    return router


def _forgetting(database: Database, eraser: ForgettingService) -> APIRouter:
    router = APIRouter(**_PEOPLE)

    @router.get("/{person_id:person}/messages", responses={**READING, **refusals(404)})
    async def count_messages(person_id: PersonId, user_filter: UserFilter = None) -> MessagesAbout:
        """The number of messages that name a person or state what is deleted with him: they stay without `messages`."""
        known = await database.read(lambda c: person_meant(c, person_id, user_filter))
        return MessagesAbout(count=len(await eraser.messages_with(known.user_id, "person", str(known.id))))

    @router.delete("/{person_id:person}", status_code=204, responses={**READING, **refusals(409)})
    async def delete_person(person_id: PersonId, messages: bool = False, user_filter: UserFilter = None) -> None:
        """Deletes a person for good with the facts, memories and notes that name them; `messages`: those too."""
        known = await database.read(lambda c: person_meant(c, person_id, user_filter))
        await eraser.erase_now(known.user_id, "person", str(known.id), messages=messages)

    return router


def _search(owners: Owners, finder: PeopleFinder) -> APIRouter:
    router = APIRouter(**_PEOPLE)

    @router.get("/search", responses=READING)
    async def search_people(
        user_id: UserId,
        query: Annotated[str, Query(min_length=1, max_length=2_000)],
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> FoundPeople:
        """People by meaning and by name, best first; `count` is how many were found."""
        await owners.stored(user_id)
        hits = await finder.people(user_id, query, limit)
        found = [FoundPerson(**PersonOut.of(hit.person).model_dump(), score=hit.score) for hit in hits]
        return FoundPeople(people=found, count=len(found))

    return router


def _page(connection: Connection, user_id: int, limit: int, offset: int) -> tuple[list[Person], int]:
    count = sum(people.counts(connection, user_id).values())
    return people.listing(connection, user_id, limit=limit, offset=offset), count


def person_meant(connection: Connection, person_id: int, user_filter: int | None) -> Person:
    """The person that an id currently leads to. Raises NotFound, also for another owner's."""
    owner = people.owner_of(connection, person_id)
    found = people.resolve(connection, owner, person_id) if owner is not None and user_filter in {None, owner} else None
    if found is None:
        raise NotFound(f"there is no person {person_id}")
    return found


class MergedOut(BaseModel):
    """A person who was merged into this one. `POST /people/{id}/split` separates them again."""

    id: int
    display_name: str
    at: datetime | None


class KnownOut(BaseModel):
    """More about a person; `node_id` is his node in the graph; no model changes the fields in `set_by_owner`."""

    id: int
    node_id: str
    set_by_owner: list[str]
    merged: list[MergedOut]


class MentionOut(BaseModel):
    """An episode that mentions the person, with the `lines` that do, oldest first."""

    episode_uuid: str
    episode_name: str
    source: EpisodeSource
    at: datetime
    lines: list[EvidenceOut]

    @classmethod
    def of(cls, mention: EpisodeMention) -> MentionOut:
        episode = mention.episode
        lines = [EvidenceOut.of(line) for line in mention.lines]
        return cls(
            episode_uuid=episode.id,
            episode_name=episode.name,
            source=episode.source,
            at=episode.reference_time,
            lines=lines,
        )


class MonthOut(BaseModel):
    """`month` as 2026-03."""

    month: str
    count: int


class MentionsOut(BaseModel):
    """Mentions, newest first. `count` and `months` are of all mentions, not only the listed ones."""

    mentions: list[MentionOut]
    count: int
    months: list[MonthOut]


def receipts_router(database: Database) -> APIRouter:
    router = APIRouter(prefix="/people/{person_id:person}", tags=["people"], dependencies=KEYED)

    @router.get("/known", responses=READING)
    async def list_known(person_id: PersonId, user_filter: UserFilter = None) -> KnownOut:
        """The people merged into this person, the fields the owner set himself, and the node with the facts."""

        def read(connection: Connection) -> KnownOut:
            person = person_meant(connection, person_id, user_filter)
            merged = merge_repository.merged_people(connection, person.user_id, person.id)
            return KnownOut(
                id=person.id,
                node_id=person.entity_id,
                set_by_owner=sorted(name for name in person.field_meta if person.owner_set(name)),
                merged=[MergedOut(id=one.id, display_name=one.display_name, at=one.at) for one in merged],
            )

        return await database.read(read)

    @router.get("/mentions", responses=READING)
    async def list_mentions(
        person_id: PersonId,
        user_filter: UserFilter = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        offset: Offset = 0,
    ) -> MentionsOut:
        """The conversations and documents that mention the person, with the exact lines."""

        def read(connection: Connection) -> MentionsOut:
            person = person_meant(connection, person_id, user_filter)
            zone = zone_of(connection, person.user_id)
            found = mentions_of(connection, person, zone=zone, limit=limit, offset=offset)
            return MentionsOut(
                mentions=[MentionOut.of(one) for one in found.page],
                count=found.count,
                months=[MonthOut(month=month, count=count) for month, count in found.months],
            )

        return await database.read(read)

    return router
