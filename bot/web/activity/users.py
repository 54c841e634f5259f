"""`/users`, `/messages` and `/teams`: the users of the bot, their messages in both directions, and their teams."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.fields import LARGEST_ID, Limit, Out, UserFilter, UserId, filled
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, APIRouter
from internal.access import repository as users
from internal.access.model import User, UserState
from internal.dialogue.traffic_repository import Traffic, last_words, traffic
from internal.flows.visibility.messages import messages_shown
from internal.storage.database import Database
from internal.tasks.teams import repository as teams

Before = Annotated[int | None, Query(ge=0, le=LARGEST_ID, description="A message's seq, which is itself left out.")]


class UserOut(BaseModel):
    """A user; `sent` and `received` count messages from and to the user; `paused`: the user blocked the bot."""

    user_id: int
    name: str
    username: str | None
    lang: str
    tz: str
    role: str
    state: UserState
    paused: bool
    created_at: datetime
    last_activity: datetime | None
    sent: int
    received: int

    @classmethod
    def of(cls, user: User, traffic_of_user: Traffic) -> UserOut:
        return filled(
            cls,
            user,
            role=user.role.value,
            paused=user.state is UserState.PAUSED,
            last_activity=traffic_of_user.last,
            sent=traffic_of_user.sent,
            received=traffic_of_user.received,
        )


class UsersOut(BaseModel):
    users: list[UserOut]
    count: int


class MessageOut(Out):
    id: str
    seq: int
    role: Literal["user", "assistant"]
    content: str
    timestamp: datetime
    edited_at: datetime | None
    turn_id: str | None
    delivery: str | None


class MessagesOut(BaseModel):
    """Messages, oldest first. `earlier` is the `before` of the page before this one, None at the beginning."""

    messages: list[MessageOut]
    earlier: int | None


def users_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(dependencies=KEYED)

    @router.get("/users", responses=READING, tags=["users"])
    async def list_users(user_filter: UserFilter = None) -> UsersOut:
        """Users, the last active first."""
        if user_filter is not None:
            await owners.stored(user_filter)

        def read(connection: Connection) -> UsersOut:
            known = [user for user in users.everybody(connection) if user_filter in {None, user.user_id}]
            traffic_of = traffic(connection, [user.user_id for user in known])
            listed = [UserOut.of(user, traffic_of.get(user.user_id, Traffic())) for user in known]
            listed.sort(key=lambda user: user.last_activity or user.created_at, reverse=True)
            return UsersOut(users=listed, count=len(listed))

        return await database.read(read)

    @router.get("/messages", responses=READING, tags=["users"])
    async def list_messages(user_id: UserId, before: Before = None, limit: Limit = 50) -> MessagesOut:
        """The newest messages in both directions, or those before a `seq`, without those a pending forgetting hides."""
        await owners.stored(user_id)

        def read(connection: Connection) -> MessagesOut:
            rows, earlier = last_words(connection, user_id, before_seq=before, limit=limit)
            visible = messages_shown(connection, user_id, rows)
            return MessagesOut(messages=[MessageOut.of(one) for one in visible], earlier=earlier)

        return await database.read(read)

    return router


class MemberOut(Out):
    user_id: int
    name: str
    joined_at: datetime


class TeamOut(Out):
    """A team; `members` are in the order in which they joined."""

    id: str
    name: str
    members: list[MemberOut]


class InvitationOut(Out):
    """An invitation that waits for this owner's answer in the chat."""

    id: str
    team_id: str
    team_name: str
    invited_by: int
    created_at: datetime


class TeamsOut(BaseModel):
    teams: list[TeamOut]
    invitations: list[InvitationOut]


def teams_router(database: Database, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/teams", tags=["teams"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_teams(user_id: UserId) -> TeamsOut:
        """The owner's teams and pending invitations."""
        await owners.stored(user_id)

        def read(connection: Connection) -> TeamsOut:
            mine = [TeamOut.of(one) for one in teams.teams_of(connection, user_id)]
            pending = [InvitationOut.of(one) for one in teams.pending(connection, user_id)]
            return TeamsOut(teams=mine, invitations=pending)

        return await database.read(read)

    return router
