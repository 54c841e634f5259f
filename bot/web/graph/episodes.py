"""`/graph/episodes`: texts sent by other programs, stored before they are acknowledged, read by the agents later."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from bot.web.graph.read import being_forgotten, processed_episode, wire_episodes
from bot.web.graph.schemas import EpisodeCreateRequest, EpisodeCreateResponse, EpisodesOut, ProcessedEpisode
from bot.web.http.fields import GroupQuery, Limit, Offset, UserFilter, Uuid, in_zone
from bot.web.http.owners import Owners, owner_of, zone_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter, refusals
from internal.errors import Conflict, NotFound, Refused
from internal.flows.archival.ingestion import StoredEpisode, add_episode, fingerprint, json_segments, text_segments
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Segment
from internal.scheduling.clock import Clock
from internal.storage.database import Database

_YEARS: Final = range(1000, 9999)
"""Years that a text may refer to: a date "ten years before" must be valid too."""

EraseEpisode = Callable[[int, str], Awaitable[None]]
"""Erases an owner's episode with everything that only it supports. Raises NotFound, and Conflict while in use."""


@dataclass(frozen=True, slots=True)
class EpisodeIntake:
    """Stores episodes; `agents` get runs of them, `wake` is called when there are some."""

    agents: Sequence[str]
    wake: Callable[[], None]
    erase: EraseEpisode


def episodes_router(database: Database, clock: Clock, owners: Owners, intake: EpisodeIntake) -> APIRouter:
    router = APIRouter(prefix="/graph/episodes", tags=["episodes"], dependencies=KEYED)

    @router.post("", status_code=202, responses={**WRITING, **refusals(409)})
    async def accept_episode(request: EpisodeCreateRequest) -> EpisodeCreateResponse:
        """Stores an episode before it answers; the agents read it afterwards, in the order of the group.

        A repetition changes nothing: same `uuid`, else same content. 409 if that `uuid` has other content.
        """
        user_id = await owners.of_group(request.group_id)
        now = clock.now()
        at = _happened(request, await database.read(lambda c: zone_of(c, user_id))) or now
        segments = await asyncio.to_thread(_segments, request, at)

        def work(connection: Connection) -> StoredEpisode:
            owners.expect(connection, user_id, now)
            return _store(connection, user_id, request, segments, at, intake.agents, now)

        stored = await database.write(work, point="C7")
        if stored.created:
            intake.wake()
        done = "is stored" if stored.created else "was stored before"
        return EpisodeCreateResponse(
            status="accepted",
            message=f"episode '{request.name}' {done}",
            episode_name=stored.episode.name,
            group_id=str(user_id),
            uuid=stored.episode.id,
        )

    @router.get("", responses=READING)
    async def list_episodes(group_id: GroupQuery = None, limit: Limit = 100, offset: Offset = 0) -> EpisodesOut:
        """Episodes, newest first by the time they are about."""
        user_id = await owners.of_group(group_id)

        def read(connection: Connection) -> EpisodesOut:
            listed = episodes.listing(connection, user_id, limit=limit, offset=offset)
            hidden = being_forgotten(connection, user_id)
            count = episodes.count(connection, user_id) - len(hidden) if hidden is not None else 0
            return EpisodesOut(episodes=wire_episodes(connection, user_id, listed), count=count)

        return await database.read(read)

    @router.get("/{uuid}", responses=READING)
    async def get_episode(uuid: Uuid, user_filter: UserFilter = None) -> ProcessedEpisode:
        """One episode, and when the agents had processed it."""

        def read(connection: Connection) -> ProcessedEpisode:
            user_id = owner_of(connection, episodes.owner_of, "episode", uuid, user_filter)
            known, hidden = episodes.episode(connection, user_id, uuid), being_forgotten(connection, user_id)
            if known is None or hidden is None or uuid in hidden:
                raise NotFound(f"there is no episode {uuid}")
            return processed_episode(connection, user_id, known)

        return await database.read(read)

    @router.delete("/{uuid}", status_code=204, responses={**READING, **refusals(409)})
    async def delete_episode(uuid: Uuid, user_filter: UserFilter = None) -> None:
        """Deletes an episode with everything that only it supports, and reopens what that superseded. 409 if in use."""
        user_id = await database.read(lambda c: owner_of(c, episodes.owner_of, "episode", uuid, user_filter))
        await intake.erase(user_id, uuid)

    return router


def _happened(request: EpisodeCreateRequest, zone: ZoneInfo) -> datetime | None:
    try:
        at = in_zone(request.reference_time, zone)
    except ValueError as error:
        raise Refused("reference_time", f"reference_time: {error}") from None
    if at is not None and at.year not in _YEARS:
        expected = f"a year from {_YEARS.start} to {_YEARS.stop - 1} is expected"
        raise Refused("reference_time", f"reference_time: {expected}")
    return at


def _segments(request: EpisodeCreateRequest, at: datetime) -> Sequence[Segment]:
    """The segments that evidence points to. A `message` is stored as it is; the agents find out who speaks in it."""
    cut = json_segments if request.source == "json" else text_segments
    segments = cut(request.content, at)
    if not segments:
        raise Refused("empty", "content: there is nothing to read in it")
    return segments


def _store(
    connection: Connection,
    user_id: int,
    request: EpisodeCreateRequest,
    segments: Sequence[Segment],
    at: datetime,
    agents: Sequence[str],
    now: datetime,
) -> StoredEpisode:
    said = (request.name, request.content, request.source, request.source_description or "", request.source_url or None)
    when = None if request.reference_time is None else at
    stored = add_episode(
        connection,
        user_id,
        source=request.source,
        name=request.name,
        segments=segments,
        source_description=request.source_description or "",
        source_url=request.source_url or None,
        reference_time=at,
        dedupe=None if request.uuid else f"rest:{fingerprint(*said, when)}",
        agents=agents,
        now=now,
        episode_id=request.uuid,
        content=request.content,
    )
    known = stored.episode
    same = said == (known.name, known.content, known.source, known.source_description, known.source_url)
    if not (same and when in (None, known.reference_time)):
        raise Conflict(f"uuid: there is an episode {request.uuid} already, and it says something else")
    return stored
