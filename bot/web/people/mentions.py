"""`/people/{id}/known` and `/people/{id}/mentions`: what a profile consists of, and where the person is mentioned."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.graph.schemas import EvidenceOut
from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import Offset, UserFilter
from bot.web.http.owners import zone_of
from bot.web.http.routers import APIRouter
from bot.web.people.people import PersonId, person_meant
from internal.flows.views.person_mentions import Mention, mentions_of
from internal.knowledge.model import EpisodeSource
from internal.people import mention_repository
from internal.storage.database import Database


class MergedOut(BaseModel):
    """A person who was merged into this one. `POST /people/{id}/split` separates them again."""

    id: int
    display_name: str
    at: datetime | None


class KnownOut(BaseModel):
    """`node_id` is the person's node in the graph, with the facts; no model changes the fields in `set_by_owner`."""

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
    def of(cls, mention: Mention) -> MentionOut:
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
    """Newest first. `count` and `months` are of all mentions, whatever part of them is listed."""

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
            merged = mention_repository.merged_people(connection, person.user_id, person.id)
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
