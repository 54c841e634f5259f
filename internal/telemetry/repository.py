"""The gauges that `/metrics` reads from the database when it is scraped."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, Connection, func, or_, select

from internal.graph.mirror import repository as mirror_repository
from internal.storage.engine.postgres_server import database_bytes
from internal.storage.forgetting import hidings
from internal.storage.tables import inbox, merges, messages, notifications, outbox, people, runs, segments, tasks, users
from internal.storage.types import one_of

_VISIBLE = people.c.merged_into.is_(None) & hidings.visible(people.c.entity_id)
_UNSENT = ("pending", "sending", "unknown")


@dataclass(frozen=True, slots=True)
class StoredGauges:
    """`people` is (user_id, circle, count), `mentions` (person_id, mention_count).

    `mentions` has the people known first, `other_mentions` the sum of all others. Merged and hidden profiles do not
    count. `merges` is (user_id, count) for all owners. `database_bytes` is the size of a database on a server.
    """

    people: Sequence[tuple[int, str, int]]
    mentions: Sequence[tuple[int, int]]
    other_mentions: int
    inbox_depth: int
    outbox_depth: int
    runs_dead: int
    oldest_unarchived: datetime | None
    oldest_inbox: datetime | None = None
    oldest_outbox: datetime | None = None
    quarantined: int = 0
    mirror_lag: int = 0
    notifications_waiting: int = 0
    tasks_open: int = 0
    tasks_proposed: int = 0
    oldest_notification: datetime | None = None
    database_bytes: int | None = None
    merges: Sequence[tuple[int, int]] = ()


def stored_gauges(connection: Connection, *, most_people: int, mirror: str = "") -> StoredGauges:
    """All stored gauges in one snapshot; at most `most_people` people are listed one by one.

    `mirror` is the target whose cursors are read; empty for none.
    """
    mentions = _mentions(connection, most_people)
    return StoredGauges(
        people=_people(connection),
        mentions=mentions,
        other_mentions=_all_mentions(connection) - sum(count for _, count in mentions),
        inbox_depth=_count(connection, inbox.c.state, "received"),
        outbox_depth=_count(connection, outbox.c.state, *_UNSENT),
        runs_dead=_count(connection, runs.c.state, "dead"),
        oldest_unarchived=_oldest_unarchived(connection),
        oldest_inbox=_oldest(connection, inbox.c.received_at, inbox.c.state, "received"),
        oldest_outbox=_oldest(connection, outbox.c.created_at, outbox.c.state, *_UNSENT),
        quarantined=_count(connection, inbox.c.state, "quarantined"),
        tasks_open=_count(connection, tasks.c.state, "open"),
        tasks_proposed=_count(connection, tasks.c.state, "proposed"),
        notifications_waiting=_count(connection, notifications.c.state, "waiting", "deferred"),
        oldest_notification=_oldest_notification(connection),
        mirror_lag=mirror_repository.lag(connection, mirror) if mirror else 0,
        database_bytes=database_bytes(connection),
        merges=_merges(connection),
    )


def _people(connection: Connection) -> list[tuple[int, str, int]]:
    query = (
        select(people.c.user_id, people.c.circle, func.count())
        .where(_VISIBLE)
        .group_by(people.c.user_id, people.c.circle)
        .order_by(people.c.user_id, people.c.circle)
    )
    return [(user_id, circle, count) for user_id, circle, count in connection.execute(query)]


def _merges(connection: Connection) -> tuple[tuple[int, int], ...]:
    query = select(merges.c.user_id, func.count()).group_by(merges.c.user_id).order_by(merges.c.user_id)
    return tuple((user_id, count) for user_id, count in connection.execute(query))


def _mentions(connection: Connection, most_people: int) -> list[tuple[int, int]]:
    query = select(people.c.id, people.c.mention_count).where(_VISIBLE).order_by(people.c.id).limit(most_people)
    return [(person_id, count) for person_id, count in connection.execute(query)]


def _all_mentions(connection: Connection) -> int:
    query = select(func.coalesce(func.sum(people.c.mention_count), 0)).where(_VISIBLE)
    return int(connection.execute(query).scalar_one())


def _count(connection: Connection, state: Column[str], *wanted: str) -> int:
    return int(connection.execute(select(func.count()).where(state.in_(wanted))).scalar_one())


def _oldest(connection: Connection, moment: Column[datetime], state: Column[str], *wanted: str) -> datetime | None:
    return connection.execute(select(func.min(moment)).where(state.in_(wanted))).scalar_one()


def _oldest_notification(connection: Connection) -> datetime | None:
    """The time since which the first waiting notification of a reachable user could have been sent."""
    reachable = (users.c.user_id == notifications.c.user_id) & (users.c.state == "active")
    query = select(func.min(notifications.c.not_before)).join_from(notifications, users, reachable)
    found: datetime | None = connection.execute(
        query.where(one_of(notifications.c.state, ("waiting", "deferred")))
    ).scalar_one()
    return found


def _oldest_unarchived(connection: Connection) -> datetime | None:
    """The oldest message in no fragment, or in a slice that the archivist still has to process (dead ones excepted).

    Notifications do not count: they are published with an answer, which may never come.
    """
    notification = messages.c.user_metadata["notification"].as_string()
    said = or_(messages.c.user_metadata.is_(None), notification.is_(None))
    waiting = select(func.min(messages.c.timestamp)).where(messages.c.episode_id.is_(None), said)
    of_run = (
        (segments.c.user_id == runs.c.user_id)
        & (segments.c.episode_id == runs.c.episode_id)
        & (segments.c.n == runs.c.first_n)
    )
    unfinished = (
        select(func.min(segments.c.at))
        .join_from(runs, segments, of_run)
        .where(runs.c.agent == "archivist", runs.c.state.in_(("due", "claimed", "replied")))
    )
    found = [connection.execute(query).scalar_one() for query in (waiting, unfinished)]
    return min((moment for moment in found if moment is not None), default=None)
