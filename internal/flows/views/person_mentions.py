"""The mentions of a person, down to the messages, without those being forgotten."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.flows.views import mention_repository
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.knowledge import episode_repository as episodes
from internal.knowledge.facts.citations import evidence_lines
from internal.knowledge.model import Episode, EvidenceLine
from internal.people.model import Person
from internal.storage import evidence
from internal.storage.forgetting.forgettings import EVERYTHING, pending


@dataclass(frozen=True, slots=True)
class EpisodeMention:
    """An episode that mentions a person, with the lines that do, if they are known."""

    episode: Episode
    lines: Sequence[EvidenceLine]


@dataclass(frozen=True, slots=True)
class MentionPage:
    """A page of mentions, newest first, with the number of all, and of each month ("2026-03")."""

    page: Sequence[EpisodeMention]
    count: int
    months: Sequence[tuple[str, int]]


def profile_lines(connection: Connection, person: Person) -> list[EvidenceLine]:
    """The lines from which a person's profile was made, oldest first, without those being forgotten."""
    unseen, key = messages_to_forget(connection, person.user_id), str(person.id)
    rows = evidence.rows(connection, person.user_id, "person", [key]).get(key, [])
    lines = evidence_lines(connection, person.user_id, [row for row in rows if row.segment])
    return sorted((one for one in lines if one.message_id not in unseen), key=lambda one: one.at)


def mentions_of(
    connection: Connection, person: Person, *, zone: ZoneInfo, limit: int = 20, offset: int = 0
) -> MentionPage:
    """A page of the mentions of a person. Months are in the owner's zone, oldest first."""
    user_id = person.user_id
    asked = pending(connection, user_id)
    if any(one.kind == EVERYTHING for one in asked):
        return MentionPage((), 0, ())
    unseen = messages_to_forget(connection, user_id)
    hidden = unseen.union(one.ref_id or "" for one in asked if one.kind == "episode")
    seen = [one for one in mention_repository.mentioned(connection, user_id, person.id) if one.episode_id not in hidden]
    shown = [one.episode_id for one in seen[offset : offset + limit]]
    support = mention_repository.support(connection, user_id, person.id, person.entity_id, shown)
    lines: dict[str, list[EvidenceLine]] = {}
    for line in evidence_lines(connection, user_id, support):
        if line.message_id not in unseen:
            lines.setdefault(line.episode_id, []).append(line)
    known = episodes.episodes_by_ids(connection, user_id, shown)
    months = Counter(f"{one.at.astimezone(zone):%Y-%m}" for one in seen)
    page = [EpisodeMention(known[one], lines.get(one, [])) for one in shown if one in known]
    return MentionPage(page, len(seen), sorted(months.items()))
