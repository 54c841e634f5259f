"""Creates, joins and leaves teams: members agree to join, and leave at will."""

from datetime import datetime

from sqlalchemy import Connection

from internal.errors import Conflict, NotFound, Refused
from internal.events import repository as events
from internal.storage.engine.row_policies import across_owners
from internal.storage.types import new_id
from internal.tasks.teams import repository
from internal.tasks.teams.model import (
    ASKED_AGAIN,
    LONGEST_NAME,
    MOST_MEMBERS,
    MOST_TEAMS,
    Invitation,
    InvitationState,
    Team,
)


def create(connection: Connection, user_id: int, name: str, now: datetime) -> Team:
    """Creates a team of one. Refused("team_name") for other than 1-60 characters, ("team_count") for too many teams."""
    name = " ".join(name.split())
    if not 0 < len(name) <= LONGEST_NAME:
        raise Refused("team_name", f"a team's name has 1 to {LONGEST_NAME} characters")
    _expect_room(connection, user_id)
    team_id = new_id()
    repository.add_member(connection, team_id, name, user_id, now)
    _record(connection, "team_created", user_id, team_id, now)
    return _existing(connection, team_id)


def invite(connection: Connection, user_id: int, team_id: str, named: str, now: datetime) -> Invitation:
    """Invites the user with this id or @username, or returns the earlier unanswered invitation.

    Raises NotFound for a team of others; Refused("team_stranger") for no admitted user, ("team_member") for a member,
    ("team_full"), ("team_declined") for a user who refused within a week.
    """
    team = of_member(connection, user_id, team_id)
    invitee = repository.admitted(connection, named)
    if invitee is None:
        raise Refused("team_stranger", "nobody who talks to this bot is called that")
    if team.has(invitee):
        raise Refused("team_member", "he is in the team already")
    before = repository.latest(connection, team_id, invitee)
    if before is not None and before.state is InvitationState.PENDING:
        return before
    declined = before is not None and before.state is InvitationState.DECLINED
    if before is not None and declined and now < (before.decided_at or before.created_at) + ASKED_AGAIN:
        raise Refused("team_declined", "he has said no; that is not asked again for a week")
    if len(team.members) + repository.count_invitations(connection, team_id) >= MOST_MEMBERS:
        raise Refused("team_full", f"a team has at most {MOST_MEMBERS} members")
    asked = Invitation(invitee, new_id(), team_id, team.name, user_id, InvitationState.PENDING, now)
    repository.add_invitation(connection, asked)
    _record(connection, "team_invited", user_id, team_id, now)
    _record(connection, "team_invitation_received", invitee, team_id, now, source="system:teams")
    return asked


def accept(connection: Connection, user_id: int, invitation_id: str, now: datetime) -> Team:
    """Joins the team. Raises NotFound without an invitation, Conflict if it was decided or the team is empty."""
    asked = _invitation(connection, user_id, invitation_id)
    if asked.state is not InvitationState.PENDING or repository.get(connection, asked.team_id) is None:
        raise Conflict("this invitation is not open any more")
    _expect_room(connection, user_id)
    repository.decide(connection, asked, InvitationState.ACCEPTED, now)
    repository.add_member(connection, asked.team_id, asked.team_name, user_id, now)
    _record(connection, "team_joined", user_id, asked.team_id, now)
    return _existing(connection, asked.team_id)


def decline(connection: Connection, user_id: int, invitation_id: str, now: datetime) -> Invitation:
    """Declines an invitation. Raises NotFound without one, Conflict if it was decided."""
    asked = _invitation(connection, user_id, invitation_id)
    if not repository.decide(connection, asked, InvitationState.DECLINED, now):
        raise Conflict("this invitation is not open any more")
    _record(connection, "team_declined", user_id, asked.team_id, now)
    return asked


def leave_team(connection: Connection, user_id: int, team_id: str, now: datetime) -> Team:
    """Leaves a team and withdraws own unanswered invitations. Returns the team as it was. Raises NotFound."""
    team = of_member(connection, user_id, team_id)
    repository.drop_member(connection, team_id, user_id)
    repository.withdraw(connection, team_id, user_id, now)
    _record(connection, "team_left", user_id, team_id, now)
    return team


def of_member(connection: Connection, user_id: int, team_id: str) -> Team:
    """The team. Raises NotFound if this user is not in it."""
    team = repository.get(connection, team_id)
    if team is None or not team.has(user_id):
        raise NotFound(f"there is no team {team_id}")
    return team


def share_a_team(connection: Connection, one: int, other: int) -> bool:
    """Whether one member may be notified of the other's promises, checked at each notification."""
    return other in repository.teammates(connection, one)


def _invitation(connection: Connection, user_id: int, invitation_id: str) -> Invitation:
    asked = repository.invitation(connection, user_id, invitation_id)
    if asked is None:
        raise NotFound(f"there is no invitation {invitation_id}")
    return asked


def _existing(connection: Connection, team_id: str) -> Team:
    team = repository.get(connection, team_id)
    assert team is not None, "a member was added in this transaction"
    return team


def _expect_room(connection: Connection, user_id: int) -> None:
    if len(repository.teams_of(connection, user_id)) >= MOST_TEAMS:
        raise Refused("team_count", f"one is in at most {MOST_TEAMS} teams")


def _record(
    connection: Connection, kind: str, user_id: int, team_id: str, now: datetime, *, source: str | None = None
) -> None:
    """Records an event for each owner with the team's id, and no other owner's name or id."""
    author = source or f"user:{user_id}"
    with across_owners(connection):
        events.append(connection, kind, source=author, now=now, user_id=user_id, links={"team": team_id})
