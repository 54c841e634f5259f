"""`/graph/episodes`: what is told from outside is stored before it is acknowledged, and read by the agents later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from sqlalchemy import Connection

from bot.web.graph.read import being_forgotten, processed_episode, wire_episodes
from bot.web.graph.schemas import EpisodeCreateRequest, EpisodeCreateResponse, EpisodesOut, ProcessedEpisode
from bot.web.http.errors import KEYED, READING, WRITING, refusals
from bot.web.http.fields import AskedUser, GroupQuery, Limit, Offset, Uuid, in_zone
from bot.web.http.owners import Owners, owner_of, zone_of
from internal.errors import Conflict, NotFound, Refused
from internal.flows.archival.ingestion import Stored, add_episode, fingerprint, json_segments, text_segments
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Segment
from internal.scheduling.clock import Clock
from internal.storage.database import Database

_YEARS: Final = range(1000, 9999)
"""Years in which something can have happened: what is told as "ten years before" must still have a date."""

EraseEpisode = Callable[[int, str], Awaitable[None]]
"""Erases an episode of an owner with all that only it supports. Raises NotFound, and Conflict while it is in use."""


@dataclass(frozen=True, slots=True)
class EpisodeIntake:
    """How episodes are taken: `agents` get runs of them, `woken` is called when there are some."""

    agents: Sequence[str]
    woken: Callable[[], None]
    erase: EraseEpisode


def episodes_router(database: Database, clock: Clock, owners: Owners, taking: EpisodeIntake) -> APIRouter:
    router = APIRouter(prefix="/graph/episodes", tags=["episodes"], dependencies=KEYED)

    @router.post("", status_code=202, responses={**WRITING, **refusals(409)})
    async def add(told: EpisodeCreateRequest) -> EpisodeCreateResponse:
        """Stored when this answers, read by the agents in the order of the group afterwards.

        The same again changes nothing: by its `uuid`, else by everything it says. 409 if that `uuid` says otherwise.
        """
        user_id = await owners.of_group(told.group_id)
        now = clock.now()
        at = _happened(told, await database.read(lambda c: zone_of(c, user_id))) or now
        segments = await asyncio.to_thread(_segments, told, at)

        def work(connection: Connection) -> Stored:
            owners.expect(connection, user_id, now)
            return _store(connection, user_id, told, segments, at, taking.agents, now)

        stored = await database.write(work, point="C7")
        if stored.created:
            taking.woken()
        done = "is stored" if stored.created else "was stored before"
        return EpisodeCreateResponse(
            status="accepted",
            message=f"episode '{told.name}' {done}",
            episode_name=stored.episode.name,
            group_id=str(user_id),
            uuid=stored.episode.id,
        )

    @router.get("", responses=READING)
    async def listing(group_id: GroupQuery = None, limit: Limit = 100, offset: Offset = 0) -> EpisodesOut:
        """Newest first, by when they happened."""
        user_id = await owners.of_group(group_id)

        def read(connection: Connection) -> EpisodesOut:
            listed = episodes.listing(connection, user_id, limit=limit, offset=offset)
            hidden = being_forgotten(connection, user_id)
            count = episodes.count(connection, user_id) - len(hidden) if hidden is not None else 0
            return EpisodesOut(episodes=wire_episodes(connection, user_id, listed), count=count)

        return await database.read(read)

    @router.get("/{uuid}", responses=READING)
    async def one(uuid: Uuid, asked: AskedUser = None) -> ProcessedEpisode:
        """One episode, and when the agents were done with it."""

        def read(connection: Connection) -> ProcessedEpisode:
            user_id = owner_of(connection, episodes.owner_of, "episode", uuid, asked)
            known, hidden = episodes.episode(connection, user_id, uuid), being_forgotten(connection, user_id)
            if known is None or hidden is None or uuid in hidden:
                raise NotFound(f"there is no episode {uuid}")
            return processed_episode(connection, user_id, known)

        return await database.read(read)

    @router.delete("/{uuid}", status_code=204, responses={**READING, **refusals(409)})
    async def erase(uuid: Uuid, asked: AskedUser = None) -> None:
        """Removes it with all that only it supports, and reopens what that had superseded. 409 while it is in use."""
        user_id = await database.read(lambda c: owner_of(c, episodes.owner_of, "episode", uuid, asked))
        await taking.erase(user_id, uuid)

    return router


def _happened(told: EpisodeCreateRequest, zone: ZoneInfo) -> datetime | None:
    try:
        at = in_zone(told.reference_time, zone)
    except ValueError as error:
        raise Refused("reference_time", f"reference_time: {error}") from None
    if at is not None and at.year not in _YEARS:
        expected = f"a year from {_YEARS.start} to {_YEARS.stop - 1} is expected"
        raise Refused("reference_time", f"reference_time: {expected}")
    return at


def _segments(told: EpisodeCreateRequest, at: datetime) -> Sequence[Segment]:
    """What evidence will point to. A `message` is taken as it was given: who speaks in it is for the agents to see."""
    cut = json_segments if told.source == "json" else text_segments
    segments = cut(told.content, at)
    if not segments:
        raise Refused("empty", "content: there is nothing to read in it")
    return segments


def _store(
    connection: Connection,
    user_id: int,
    told: EpisodeCreateRequest,
    segments: Sequence[Segment],
    at: datetime,
    agents: Sequence[str],
    now: datetime,
) -> Stored:
    said = (told.name, told.content, told.source, told.source_description or "", told.source_url or None)
    when = None if told.reference_time is None else at
    stored = add_episode(
        connection,
        user_id,
        source=told.source,
        name=told.name,
        segments=segments,
        source_description=told.source_description or "",
        source_url=told.source_url or None,
        reference_time=at,
        dedupe=None if told.uuid else f"rest:{fingerprint(*said, when)}",
        agents=agents,
        now=now,
        episode_id=told.uuid,
        content=told.content,
    )
    known = stored.episode
    same = said == (known.name, known.content, known.source, known.source_description, known.source_url)
    if not (same and when in (None, known.reference_time)):
        raise Conflict(f"uuid: there is an episode {told.uuid} already, and it says something else")
    return stored
