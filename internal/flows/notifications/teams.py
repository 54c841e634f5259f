"""Notifies members of teams: an invitation asks the invitee, an answer is sent to the inviter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import Language, User
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.row_policies import across_owners
from internal.tasks import repository as tasks
from internal.tasks.teams import repository, service as teams
from internal.tasks.teams.model import Invitation, Team, TeamPromise

Buttons = Sequence[Sequence[dict[str, Any]]]
Answers = Callable[[User, Invitation], Buttons]
"""The buttons, in Bot API form, with which an invitee answers yes or no."""

_SOURCE = "agent:Teams"
_AT_ONCE = 50


class TeamPhrases(Protocol):
    def __call__(self, lang: Language, key: str, **values: str) -> str:
        """The localised sentence of that key, as Markdown."""


def invite(
    connection: Connection, user: User, team_id: str, named: str, now: datetime, phrases: TeamPhrases, answers: Answers
) -> Invitation:
    """Invites a user, and asks him, once. Raises what `teams.invite` raises."""
    asked = teams.invite(connection, user.user_id, team_id, named, now)
    with across_owners(connection):
        invitee = users.get(connection, asked.user_id)
        notifications.generate(
            connection,
            invitee.user_id,
            NotificationKind.TEAM,
            phrases(invitee.lang, "team-invitation", name=user.name, team=asked.team_name),
            now=now,
            dedupe=f"team-invitation:{asked.id}",
            ref_id=asked.id,
            payload={"buttons": [list(row) for row in answers(invitee, asked)]},
            source=_SOURCE,
        )
    return asked


def accept(connection: Connection, user: User, invitation_id: str, now: datetime, phrases: TeamPhrases) -> Team:
    """Joins, and notifies the other members. Raises what `teams.accept` raises."""
    team = teams.accept(connection, user.user_id, invitation_id, now)
    for member in team.members:
        if member.user_id != user.user_id:
            _notify(connection, member.user_id, "team-joined", user, team, f"{invitation_id}", now, phrases)
    return team


def leave_team(connection: Connection, user: User, team_id: str, now: datetime, phrases: TeamPhrases) -> Team:
    """Leaves, and notifies those who stay. Raises what `teams.leave_team` raises."""
    team = teams.leave_team(connection, user.user_id, team_id, now)
    for member in team.members:
        if member.user_id != user.user_id:
            _notify(
                connection, member.user_id, "team-left", user, team, f"{user.user_id}:{now.isoformat()}", now, phrases
            )
    return team


@dataclass(frozen=True, slots=True)
class PromiseNotices:
    """Notifies members of a team of each promise made to them, once."""

    database: Database
    clock: Clock
    phrases: TeamPhrases

    async def notify_due(self) -> int:
        """Writes the due notices. Returns their number."""
        if not await self.database.read(lambda c: repository.taken_on(c, limit=1)):
            return 0
        return await self.database.write(self._notify)

    def _notify(self, connection: Connection) -> int:
        found = repository.taken_on(connection, limit=_AT_ONCE)
        return sum(self._notify_one(connection, taken) for taken in found)

    def _notify_one(self, connection: Connection, taken: TeamPromise) -> bool:
        if not repository.mark_notified(connection, taken):
            return False
        giver, to = users.get(connection, taken.user_id), users.get(connection, taken.to)
        text = self.phrases(to.lang, "team-taken-on", name=giver.name or str(giver.user_id), title=taken.title)
        notifications.generate(
            connection,
            to.user_id,
            NotificationKind.TEAM,
            text,
            now=self.clock.now(),
            dedupe=f"taken-on:{taken.task_id}",
            payload={"giver": giver.user_id, "promise": taken.task_id},
            source=_SOURCE,
        )
        return True


def taken_back(connection: Connection, one: Notification) -> bool:
    """Whether it is about a promise that is not open any more, or a person who is in no common team any more."""
    giver, promise = one.payload.get("giver"), one.payload.get("promise")
    if one.kind is not NotificationKind.TEAM or giver is None or promise is None:
        return False
    with across_owners(connection):
        task = tasks.get(connection, giver, promise)
    return task is None or task.state.closed or not teams.share_a_team(connection, one.user_id, giver)


def _notify(
    connection: Connection,
    user_id: int,
    key: str,
    who: User,
    team: Team,
    once: str,
    now: datetime,
    phrases: TeamPhrases,
) -> None:
    dedupe = f"{key}:{team.id}:{once}"
    with across_owners(connection):
        text = phrases(users.get(connection, user_id).lang, key, name=who.name, team=team.name)
        notifications.generate(
            connection, user_id, NotificationKind.TEAM, text, now=now, dedupe=dedupe, ref_id=team.id, source=_SOURCE
        )
