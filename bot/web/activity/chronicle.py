"""`/chronicle`: the sessions of the chronicle, their transcripts, and the audit of its integrity with its repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from bot.web.http.fields import LARGEST_ID, Limit, Offset, Out, RequestBody, UserFilter, UserId, Uuid
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter
from internal.access import repository as users
from internal.chronicle import repository
from internal.chronicle.model import ChronicleEvent, EventLabel, Session
from internal.chronicle.view import ViewNode, entity_node, session_node
from internal.errors import NotFound, expect_found
from internal.flows.sessions.audit import ChronicleAudit
from internal.flows.visibility import sessions as visibility_sessions
from internal.flows.visibility.sessions import ShownSession, Transcript
from internal.storage.database import Database


class SessionOut(BaseModel):
    id: str
    name: str
    topic: str
    status: Literal["active", "closed"]
    trigger: Literal["/db", "/sa", "/ss"]
    created_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, session: Session) -> SessionOut:
        properties = session_node(session).properties
        return cls(id=session.id, **properties, created_at=session.opened_at, closed_at=session.closed_at)


class SessionsOut(BaseModel):
    """`count` is the number of all sessions."""

    sessions: list[SessionOut]
    count: int


class ChronicleEventOut(BaseModel):
    """An event under the attributes of its label; the judgement of a whole session also has its `summary`.

    `message_id` is the message of the log whose words it has.
    """

    model_config = ConfigDict(extra="allow")

    id: str
    label: Literal["Request", "Response", "Feedback", "Analysis"]
    name: str
    created_at: datetime
    message_id: str | None


class ViewNodeOut(BaseModel):
    """A day, a year, or an entity as the chronicle names it."""

    model_config = ConfigDict(extra="allow")

    id: str
    label: Literal["Day", "Year", "Entity"]
    name: str


class ViewEdgeOut(BaseModel):
    """An edge with its attributes; NEXT may lead to an event of another session."""

    model_config = ConfigDict(extra="allow")

    type: str
    source_id: str
    target_id: str


class SessionViewOut(BaseModel):
    """A session; `events` are in the order of NEXT, `nodes` are the other ends of the edges."""

    session: SessionOut
    events: list[ChronicleEventOut]
    edges: list[ViewEdgeOut]
    nodes: list[ViewNodeOut]

    @classmethod
    def of(cls, visible: ShownSession) -> SessionViewOut:
        nodes = {node.id: node for node in visible.view.nodes}
        events = [
            ChronicleEventOut(
                id=event.id,
                label=event.label.value,
                created_at=event.at,
                message_id=event.message_id,
                **_summary(event),
                **nodes[event.id].properties,
            )
            for event in visible.events
        ]
        edges = [
            ViewEdgeOut(type=edge.type, source_id=edge.source, target_id=edge.target, **edge.properties)
            for edge in visible.view.edges
        ]
        around = [node for node in visible.view.nodes if node.label in ("Day", "Year")]
        around += [entity_node(node) for node in visible.view.entities]
        return cls(
            session=SessionOut.of(visible.session), events=events, edges=edges, nodes=[_around(n) for n in around]
        )


def _summary(event: ChronicleEvent) -> dict[str, str]:
    """The analyst's summary of a whole session, for which the specified label has no attribute."""
    summary = event.attrs.get("summary") if event.label is EventLabel.ANALYSIS else None
    return {"summary": summary} if summary else {}


class AuditOut(Out):
    """Shares from 0 to 1 (1 is best), and counts of nodes, events and references without a counterpart."""

    next_integrity: float = Field(ge=0, le=1)
    full_text: float = Field(ge=0, le=1)
    analysis_coverage: float = Field(ge=0, le=1)
    entity_uniqueness: float = Field(ge=0, le=1)
    orphans: int = Field(ge=0)


class RepairOrder(RequestBody):
    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]


class RepairOut(Out):
    """`mended` counts repairs by kind; `judged` sessions wait for the analyst, `offered` merges for the owner.

    `doubled` are names that differ only in case, alphabet or declension, and stay until the owner decides.
    """

    before: AuditOut
    after: AuditOut
    mended: Mapping[str, int]
    judged: int
    offered: int
    doubled: list[list[str]]


@dataclass(frozen=True, slots=True)
class Chronicle:
    """The port of the chronicle; `agent` is the name that signs the answers in transcripts."""

    auditing: ChronicleAudit
    agent: str


def chronicle_router(database: Database, owners: Owners, chronicle: Chronicle) -> APIRouter:
    router = APIRouter(prefix="/chronicle", tags=["chronicle"], dependencies=KEYED)

    @router.get("/sessions", responses=READING)
    async def list_sessions(
        user_id: UserId, newest: bool = False, limit: Limit = 100, offset: Offset = 0
    ) -> SessionsOut:
        """Sessions, oldest or newest first."""
        await owners.stored(user_id)

        def work(connection: Connection) -> SessionsOut:
            found = visibility_sessions.sessions(connection, user_id, limit=limit, offset=offset, newest_first=newest)
            count = visibility_sessions.count_sessions(connection, user_id)
            return SessionsOut(sessions=[SessionOut.of(one) for one in found], count=count)

        return await database.read(work)

    @router.get("/sessions/{session_id}", responses=READING)
    async def get_session(session_id: Uuid, user_filter: UserFilter = None) -> SessionViewOut:
        """A session with its events in order, and its edges in the chronicle."""
        return SessionViewOut.of(await database.read(lambda c: _visible_session(c, session_id, user_filter)))

    @router.get("/sessions/{session_id}/transcript", responses={**READING, 200: _MARKDOWN}, response_class=Response)
    async def get_transcript(
        session_id: Uuid,
        user_filter: UserFilter = None,
        lang: Annotated[Literal["ru", "uk", "en"] | None, Query(description="The owner's own if absent.")] = None,
    ) -> Response:
        """The transcript of a session as Markdown, with the analyst's judgements."""
        document = await database.read(lambda c: _transcript(c, session_id, user_filter, lang, chronicle.agent))
        return Response(document.markdown, media_type="text/markdown; charset=utf-8")

    @router.get("/audit", responses=READING)
    async def audit_chronicle(user_id: UserId) -> AuditOut:
        """How complete the chronicle is, compared with the log. Changes nothing."""
        await owners.stored(user_id)
        return AuditOut.of(await chronicle.auditing.audit(user_id))

    @router.post("/repair", responses=WRITING)
    async def repair_chronicle(order: RepairOrder) -> RepairOut:
        """Repairs what can be repaired, has sessions judged that were not, and proposes merges of duplicates."""
        await owners.about(order.user_id)
        return RepairOut.of(await chronicle.auditing.repair(order.user_id))

    return router


_MARKDOWN: dict[str, Any] = {"content": {"text/markdown": {"schema": {"type": "string"}}}}


def _visible_session(connection: Connection, session_id: str, user_filter: int | None) -> ShownSession:
    owner = owner_of(connection, repository.owner_of_session, "session", session_id, user_filter)
    return expect_found(visibility_sessions.session(connection, owner, session_id), f"there is no session {session_id}")


def _transcript(
    connection: Connection, session_id: str, user_filter: int | None, lang: Literal["ru", "uk", "en"] | None, agent: str
) -> Transcript:
    owner = owner_of(connection, repository.owner_of_session, "session", session_id, user_filter)
    spoken = lang or users.get(connection, owner).lang
    found = visibility_sessions.transcript(connection, owner, session_id, lang=spoken, agent=agent)
    if found is None:
        raise NotFound(f"there is no session {session_id}")
    return found


def _around(node: ViewNode) -> ViewNodeOut:
    return ViewNodeOut(id=node.id, label=node.label, **node.properties)
