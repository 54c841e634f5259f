"""`/teams`: the teams in which an owner shares his promises, and the invitations he has."""

from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Out
from internal.storage.database import Database
from internal.teams import repository as teams


class MemberOut(Out):
    user_id: int
    name: str
    joined_at: datetime


class TeamOut(Out):
    """`members` in the order in which they joined."""

    id: str
    name: str
    members: list[MemberOut]


class InvitationOut(Out):
    """An invitation that waits for this owner's answer, which he gives in the chat."""

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
