"""Facts and episodes, read from the store in the form of the API."""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import Connection

from bot.web.graph.schemas import EntityEdge, EpisodeOut, ProcessedEpisode
from internal.flows.archival.ingestion import content_of
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.model import Episode, Fact
from internal.storage.forgetting.forgettings import EVERYTHING, pending

_LAST_SEGMENT = 2**31 - 1


def edges(connection: Connection, user_id: int, facts: Iterable[Fact]) -> list[EntityEdge]:
    """Facts with the citations and lines of the episodes that support them; for a past state, those known then."""
    listed = list(facts)
    ids = [fact.id for fact in listed]
    citations = knowledge.citations_of_facts(connection, user_id, ids)
    evidence = knowledge.evidence_of_facts(connection, user_id, ids)
    return [
        EntityEdge.of(
            fact,
            [one for one in citations.get(fact.id, ()) if one.episode_uuid in fact.episodes],
            [line for line in evidence.get(fact.id, ()) if line.episode_id in fact.episodes],
        )
        for fact in listed
    ]


def edge(connection: Connection, user_id: int, fact: Fact) -> EntityEdge:
    return edges(connection, user_id, [fact])[0]


def being_forgotten(connection: Connection, user_id: int) -> Collection[str] | None:
    """The ids of episodes that a pending forgetting hides, or None if it hides all."""
    asked = pending(connection, user_id)
    if any(one.kind == EVERYTHING for one in asked):
        return None
    files = episodes.by_ids(connection, user_id, messages_to_forget(connection, user_id))
    return {one.ref_id or "" for one in asked if one.kind == "episode"}.union(files)


def wire_episodes(connection: Connection, user_id: int, listed: Sequence[Episode]) -> list[EpisodeOut]:
    """Episodes with their content, which may be that of their messages; hidden ones are left out."""
    hidden = being_forgotten(connection, user_id)
    listed = [one for one in listed if hidden is not None and one.id not in hidden]
    return [EpisodeOut.of(one, _content(connection, user_id, one), knowledge.wire_description(one)) for one in listed]


def processed_episode(connection: Connection, user_id: int, episode: Episode) -> ProcessedEpisode:
    """An episode with its content, and the time at which the agents had processed it."""
    content, description = _content(connection, user_id, episode), knowledge.wire_description(episode)
    processed: ProcessedEpisode = ProcessedEpisode.of(episode, content, description, processed_at=episode.processed_at)
    return processed


def _content(connection: Connection, user_id: int, episode: Episode) -> str:
    if episode.content:
        return episode.content
    if episode.source == "message":
        return knowledge.episode_content(connection, user_id, episode, without=messages_to_forget(connection, user_id))
    return content_of(episode, episodes.episode_segments(connection, user_id, episode.id, 0, _LAST_SEGMENT))
