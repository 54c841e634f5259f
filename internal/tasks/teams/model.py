"""A team: owners who agreed to be notified when another one promises them something. Nothing else is shared."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

LONGEST_NAME: Final = 60
"""Most characters of a team's name: it stands on buttons."""

MOST_TEAMS: Final = 10
"""Most teams that one owner may be in."""

MOST_MEMBERS: Final = 50
"""Most owners in one team, invited ones included: the number that an instance is made for."""

ASKED_AGAIN: Final = timedelta(days=7)
"""The time after a refusal in which a user is not invited again."""


class InvitationState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    """The inviting member left the team before the answer."""


@dataclass(frozen=True, slots=True)
class Member:
    user_id: int
    name: str
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class Team:
    """A team, with `members` in the order of joining."""

    id: str
    name: str
    members: tuple[Member, ...]

    def has(self, user_id: int) -> bool:
        return any(member.user_id == user_id for member in self.members)


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation of `user_id` by the member `invited_by`."""

    user_id: int
    id: str
    team_id: str
    team_name: str
    invited_by: int
    state: InvitationState
    created_at: datetime
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TeamPromise:
    """A promise of `user_id` to `to` of the same team, who was not notified yet."""

    user_id: int
    task_id: str
    title: str
    to: int
