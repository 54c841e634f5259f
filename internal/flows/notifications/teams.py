"""Teams and who is told of them: an invitation asks its invitee, an answer is told to who asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import Language, User
from internal.notifications import repository as notifications
from internal.notifications.model import Notification, NotificationKind
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.row_policies import across_owners
from internal.tasks import repository as tasks
from internal.teams import repository
from internal.teams import service as teams
from internal.teams.model import Invitation, Team, TeamPromise

Buttons = Sequence[Sequence[dict[str, Any]]]
Answers = Callable[[User, Invitation], Buttons]
"""The buttons, in Bot API form, by which an invitee says yes or no."""

_SOURCE = "agent:Teams"
_AT_ONCE = 50


class Phrases(Protocol):
    def __call__(self, lang: Language, key: str, **values: str) -> str:
        """The localised sentence of that key, as Markdown."""
        ...


def invite(
    connection: Connection, user: User, team_id: str, named: str, now: datetime, phrases: Phrases, answers: Answers
) -> Invitation:
    """Invites, and has the invitee asked, once. Raises what `teams.invite` does."""
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


def accept(connection: Connection, user: User, invitation_id: str, now: datetime, phrases: Phrases) -> Team:
    """Joins, and has the other members told. Raises what `teams.accept` does."""
    team = teams.accept(connection, user.user_id, invitation_id, now)
    for member in team.members:
        if member.user_id != user.user_id:
            _tell(connection, member.user_id, "team-joined", user, team, f"{invitation_id}", now, phrases)
    return team


def leave(connection: Connection, user: User, team_id: str, now: datetime, phrases: Phrases) -> Team:
    """Leaves, and has those told who stay. Raises what `teams.leave` does."""
    team = teams.leave(connection, user.user_id, team_id, now)
    for member in team.members:
        if member.user_id != user.user_id:
            _tell(
                connection, member.user_id, "team-left", user, team, f"{user.user_id}:{now.isoformat()}", now, phrases
            )
    return team


@dataclass(frozen=True, slots=True)
class PromiseNotices:
    """Has those told who are in a team with whoever promised them something, once each."""

    database: Database
    clock: Clock
    phrases: Phrases

    async def tell_due(self) -> int:
        """How many were told."""
        if not await self.database.read(lambda c: repository.taken_on(c, limit=1)):
            return 0
        return await self.database.write(self._tell)

    def _tell(self, connection: Connection) -> int:
        found = repository.taken_on(connection, limit=_AT_ONCE)
        return sum(self._tell_one(connection, taken) for taken in found)

    def _tell_one(self, connection: Connection, taken: TeamPromise) -> bool:
        if not repository.mark_notified(connection, taken):
            return False
        giver, to = users.get(connection, taken.user_id), users.get(connection, taken.to)
        told = self.phrases(to.lang, "team-taken-on", name=giver.name or str(giver.user_id), title=taken.title)
        notifications.generate(
            connection,
            to.user_id,
            NotificationKind.TEAM,
            told,
            now=self.clock.now(),
            dedupe=f"taken-on:{taken.task_id}",
            payload={"giver": giver.user_id, "promise": taken.task_id},
            source=_SOURCE,
        )
        return True


def taken_back(connection: Connection, one: Notification) -> bool:
    """Whether it tells of a promise that is not kept open any more, or of somebody who shares no team any more."""
    giver, promise = one.payload.get("giver"), one.payload.get("promise")
    if one.kind is not NotificationKind.TEAM or giver is None or promise is None:
        return False
    with across_owners(connection):
        task = tasks.get(connection, giver, promise)
    return task is None or task.state.closed or not teams.share_a_team(connection, one.user_id, giver)


def _tell(
    connection: Connection, user_id: int, key: str, who: User, team: Team, once: str, now: datetime, phrases: Phrases
) -> None:
    dedupe = f"{key}:{team.id}:{once}"
    with across_owners(connection):
        told = phrases(users.get(connection, user_id).lang, key, name=who.name, team=team.name)
        notifications.generate(
            connection, user_id, NotificationKind.TEAM, told, now=now, dedupe=dedupe, ref_id=team.id, source=_SOURCE
        )
