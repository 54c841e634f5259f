"""Teams in the database: a row for each membership, written only for users who agreed."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import BigInteger, Connection, cast, delete, func, insert, select, update

from internal.storage.engine.row_policies import across_owners
from internal.storage.rows import read_one, reader
from internal.storage.tables import forgettings, notifications, people, tasks, team_invitations, team_members, users
from internal.tasks.teams.model import Invitation, InvitationState, Member, Team, TeamPromise

_ADMITTED = users.c.state != "removed"


def teams_of(connection: Connection, user_id: int) -> list[Team]:
    """The teams of a user, the oldest membership first."""
    theirs = select(team_members.c.team_id).where(team_members.c.user_id == user_id)
    found = connection.execute(theirs.order_by(team_members.c.joined_at, team_members.c.team_id)).scalars().all()
    return [team for team in (get(connection, team_id) for team_id in found) if team is not None]


def get(connection: Connection, team_id: str) -> Team | None:
    """The team; None once everybody has left."""
    query = (
        select(team_members.c.user_id, team_members.c.team_name, team_members.c.joined_at, users.c.name)
        .join(users, users.c.user_id == team_members.c.user_id)
        .where(team_members.c.team_id == team_id)
        .order_by(team_members.c.joined_at, team_members.c.user_id)
    )
    with across_owners(connection):
        rows = connection.execute(query).all()
    if not rows:
        return None
    members = tuple(Member(row.user_id, row.name or str(row.user_id), row.joined_at) for row in rows)
    return Team(team_id, rows[0].team_name, members)


def add_member(connection: Connection, team_id: str, name: str, user_id: int, now: datetime) -> None:
    connection.execute(insert(team_members).values(user_id=user_id, team_id=team_id, team_name=name, joined_at=now))


def drop_member(connection: Connection, team_id: str, user_id: int) -> bool:
    """Removes a member. Returns False for a user who was none."""
    one = (team_members.c.user_id == user_id) & (team_members.c.team_id == team_id)
    return connection.execute(delete(team_members).where(one)).rowcount == 1


def teammates(connection: Connection, user_id: int) -> set[int]:
    """All admitted members of this user's teams, except the user."""
    theirs = select(team_members.c.team_id).where(team_members.c.user_id == user_id)
    query = (
        select(team_members.c.user_id)
        .join(users, users.c.user_id == team_members.c.user_id)
        .where(team_members.c.team_id.in_(theirs), team_members.c.user_id != user_id, _ADMITTED)
    )
    with across_owners(connection):
        return set(connection.execute(query).scalars())


def admitted(connection: Connection, named: str) -> int | None:
    """The admitted user with this id or @username; None if there is none."""
    name = named.strip().removeprefix("@")
    query = select(users.c.user_id).where(_ADMITTED)
    if name.isascii() and name.isdigit() and len(name) <= 16:
        query = query.where(users.c.user_id == int(name))
    else:
        query = query.where(func.lower(users.c.username) == name.lower())
    with across_owners(connection):
        found = connection.execute(query.limit(2)).scalars().all()
    return found[0] if len(found) == 1 else None


def taken_on(connection: Connection, *, limit: int) -> list[TeamPromise]:
    """Open promises to team members who were not notified yet, except those of users with a pending forgetting."""
    giver, taker = team_members.alias("giver"), team_members.alias("taker")
    forgets = select(forgettings.c.user_id).where(forgettings.c.state == "pending")
    unannounced = (tasks.c.state == "open", tasks.c.kind == "promise", tasks.c.for_user.is_(None))
    to = select(tasks.c.user_id, tasks.c.id, tasks.c.person_id).where(*unannounced).cte("to", recursive=True)
    merged = (people.c.user_id == to.c.user_id) & (people.c.id == to.c.person_id) & people.c.merged_into.is_not(None)
    to = to.union(select(to.c.user_id, to.c.id, people.c.merged_into).join(people, merged))
    query = (
        select(tasks.c.user_id, tasks.c.id, tasks.c.title, people.c.telegram_id)
        .join(to, (to.c.user_id == tasks.c.user_id) & (to.c.id == tasks.c.id))
        .join(people, (people.c.user_id == to.c.user_id) & (people.c.id == to.c.person_id))
        .join(giver, giver.c.user_id == tasks.c.user_id)
        .join(taker, (taker.c.team_id == giver.c.team_id) & (taker.c.user_id == people.c.telegram_id))
        .join(users, users.c.user_id == taker.c.user_id)
        .where(people.c.merged_into.is_(None), _ADMITTED)
        .where(taker.c.user_id != tasks.c.user_id, tasks.c.user_id.not_in(forgets))
        .distinct()
        .order_by(tasks.c.user_id, tasks.c.id, people.c.telegram_id)
        .limit(limit)
    )
    return [TeamPromise(*row) for row in connection.execute(query)]


def mark_notified(connection: Connection, taken: TeamPromise) -> bool:
    """Records that the recipient was notified of a promise. Returns False if that was recorded already."""
    one = (tasks.c.user_id == taken.user_id) & (tasks.c.id == taken.task_id) & tasks.c.for_user.is_(None)
    return connection.execute(update(tasks).where(one).values(for_user=taken.to)).rowcount == 1


def erase_unsent(connection: Connection, giver: int, task_ids: Collection[str] | None = None) -> int:
    """Deletes pending notices about promises of `giver`, all or these. Returns how many."""
    his = cast(notifications.c.payload["giver"].as_string(), BigInteger) == giver
    unannounced = delete(notifications).where(his, notifications.c.state.in_(("waiting", "deferred")))
    if task_ids is not None:
        unannounced = unannounced.where(notifications.c.payload["promise"].as_string().in_(list(task_ids)))
    with across_owners(connection):
        return connection.execute(unannounced).rowcount


def add_invitation(connection: Connection, invitation: Invitation) -> None:
    values = {name: getattr(invitation, name) for name in Invitation.__dataclass_fields__}
    with across_owners(connection):
        connection.execute(insert(team_invitations).values(values | {"state": invitation.state.value}))


def invitation(connection: Connection, user_id: int, invitation_id: str) -> Invitation | None:
    one = (team_invitations.c.user_id == user_id) & (team_invitations.c.id == invitation_id)
    return read_one(connection.execute(select(team_invitations).where(one)), _invitation)


def pending(connection: Connection, user_id: int) -> list[Invitation]:
    """A user's unanswered invitations, oldest first."""
    query = select(team_invitations).where(
        team_invitations.c.user_id == user_id, team_invitations.c.state == InvitationState.PENDING.value
    )
    return [_invitation(row) for row in connection.execute(query.order_by(team_invitations.c.created_at))]


def latest(connection: Connection, team_id: str, user_id: int) -> Invitation | None:
    """The last invitation of this user to that team, in any state."""
    both = (team_invitations.c.user_id == user_id) & (team_invitations.c.team_id == team_id)
    query = select(team_invitations).where(both).order_by(team_invitations.c.created_at.desc()).limit(1)
    with across_owners(connection):
        return read_one(connection.execute(query), _invitation)


def count_invitations(connection: Connection, team_id: str) -> int:
    """The number of unanswered invitations to a team."""
    waiting = (team_invitations.c.team_id == team_id) & (team_invitations.c.state == InvitationState.PENDING.value)
    with across_owners(connection):
        return connection.execute(select(func.count()).select_from(team_invitations).where(waiting)).scalar_one()


def decide(connection: Connection, one: Invitation, state: InvitationState, now: datetime) -> bool:
    """Stores the answer to an invitation. Returns False if it was decided before."""
    this = (team_invitations.c.user_id == one.user_id) & (team_invitations.c.id == one.id)
    changed = update(team_invitations).where(this, team_invitations.c.state == InvitationState.PENDING.value)
    return connection.execute(changed.values(state=state.value, decided_at=now)).rowcount == 1


def withdraw(connection: Connection, team_id: str, invited_by: int, now: datetime) -> None:
    """Withdraws a member's unanswered invitations."""
    his = (team_invitations.c.team_id == team_id) & (team_invitations.c.invited_by == invited_by)
    open_ = his & (team_invitations.c.state == InvitationState.PENDING.value)
    values = {"state": InvitationState.WITHDRAWN.value, "decided_at": now}
    with across_owners(connection):
        connection.execute(update(team_invitations).where(open_).values(values))


_invitation = reader(Invitation, state=InvitationState)
