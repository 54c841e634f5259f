"""Writes the chronicle in the transactions of turns: messages join its line, and a session that closes gets its runs.

`/db` opens a session, `/sa` continues it, `/ss` closes it; without a command the first message opens one and silence
closes it. Each topic of a chat has sessions of its own; silence is that of the whole dialogue.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from internal.chronicle import repository as chronicle_repository, service as chronicle
from internal.chronicle.model import ChronicleEvent, Session, SessionCommand
from internal.chronicle.service import ChronicleMessage, RemovedEvents
from internal.dialogue import turn_repository as turns
from internal.dialogue.model import Message
from internal.dialogue.notifications import repository as notifications
from internal.events import link_repository as links, repository as events
from internal.memory.observations import targets_repository as memory
from internal.scheduling import run_repository as runs
from internal.scheduling.run import BEHIND, EDITING, RunState
from internal.storage.forgetting import traces
from internal.storage.owner_counters import next_rev

ANALYST: Final = "analyst"

_CLOSED: Final = "session_closed"

ANSWERING: Final = timedelta(minutes=1)
"""How long the analyst waits for an answer that is still being written when its session is closed."""


@dataclass(frozen=True, slots=True)
class SessionLifecycle:
    """Records turns in the chronicle. `agents` get a run over every closed session."""

    agents: Sequence[str] = ()

    def heard(
        self,
        connection: Connection,
        message: Message,
        *,
        tz: str,
        now: datetime,
        command: SessionCommand | None = None,
        about: str | None = None,
    ) -> bool:
        """C2: adds a user's message to the line. Returns whether it closed another session first, as `/db` does.

        `about` is the id of the answer that it replies to.
        """
        if message.hidden:
            return False
        closed = None
        if command == chronicle.OPENING:
            topic = message.thread_id or 0
            closed = self.close(connection, message.user_id, now, before_seq=message.seq, thread_id=topic)
        chronicle.hear(connection, _spoken(message), tz=tz, command=command, about=about)
        return closed is not None

    def answered(
        self, connection: Connection, message: Message, asked: Sequence[Message], *, tz: str, now: datetime
    ) -> ChronicleEvent:
        """C4: adds an answer to the session of its question; a closed one is analysed with it."""
        event, closed = chronicle.answer(connection, _spoken(message), asked[-1].id if asked else None, tz=tz)
        if (
            closed
            and (session := chronicle_repository.session(connection, message.user_id, event.session_id)) is not None
        ):
            self._analyse(connection, session, now, now)
        return event

    def close(
        self,
        connection: Connection,
        user_id: int,
        now: datetime,
        command: SessionCommand | None = None,
        *,
        before_seq: int | None = None,
        thread_id: int = 0,
    ) -> Session | None:
        """Closes the open session of a topic (`/ss` or `/db`) and has it analysed. None if there is none.

        `before_seq` is the message that opens the next session, to which its turn belongs.
        """
        session = chronicle.close(connection, user_id, now, thread_id)
        if session is not None:
            memory.complete_session(connection, user_id, session.id, now=now)
            asked = turns.first_open_seq(connection, user_id, None)
            writing = asked is not None and (before_seq is None or asked < before_seq)
            self._analyse(connection, session, now, now + ANSWERING if writing else now)
            _tell_closed(connection, session, command, now)
        return session

    def close_all(self, connection: Connection, user_id: int, now: datetime) -> None:
        """Closes the open sessions of all topics after a silence (C7)."""
        for session in chronicle_repository.open_sessions(connection, user_id):
            self.close(connection, user_id, now, thread_id=session.thread_id)

    def judge_again(self, connection: Connection, user_id: int, session_id: str, now: datetime) -> bool:
        """Has a closed session judged again. Returns False if it is open or being judged."""
        session = chronicle_repository.session(connection, user_id, session_id)
        held = runs.of_session(connection, user_id, session_id)
        busy = {run.agent for run in held if run.state in (RunState.DUE, RunState.CLAIMED, RunState.REPLIED)}
        if session is None or session.closed_at is None or not set(self.agents) - busy:
            return False
        SessionLifecycle([agent for agent in self.agents if agent not in busy])._analyse(connection, session, now, now)
        return True

    def backfill(self, connection: Connection, user_id: int, now: datetime, *, again: bool = False) -> int:
        """Has closed sessions judged that never were, or with `again` all of them. Returns their number."""
        closed = [
            session for session in chronicle_repository.listing(connection, user_id) if session.closed_at is not None
        ]
        wanted = [one for one in closed if again or not runs.of_session(connection, user_id, one.id)]
        return sum(self.judge_again(connection, user_id, one.id, now) for one in wanted)

    def _analyse(self, connection: Connection, session: Session, now: datetime, due_at: datetime) -> None:
        """Creates the runs of a closed session; for a run that has not begun yet only its time is set."""
        for agent in self.agents:
            held = [run for run in runs.of_session(connection, session.user_id, session.id) if run.agent == agent]
            if held and held[-1].state is RunState.DUE:
                runs.set_due(connection, held[-1], due_at)
                continue
            replaces = held[-1].id if held else None
            rev = next_rev(connection, session.user_id)
            runs.create_for_session(
                connection, session.user_id, agent, session.id, rev=rev, now=now, due_at=due_at, replaces=replaces
            )


def closed_by(connection: Connection, session: Session) -> str | None:
    """The command that closed a session; None if it is open, or was closed by silence or a new beginning."""
    closings = links.linking_to(connection, session.user_id, "session", [session.id], [_CLOSED])
    event = events.get(connection, session.user_id, closings[-1]) if closings else None
    return None if event is None else event.payload.get("command")


def _tell_closed(connection: Connection, session: Session, command: SessionCommand | None, now: datetime) -> None:
    said = [one.message_id for one in chronicle_repository.events_of_session(connection, session.user_id, session.id)]
    events.append(
        connection,
        _CLOSED,
        source="system:chronicle",
        now=now,
        user_id=session.user_id,
        payload={"messages": len(said)} | ({"command": command} if command else {}),
        links={"session": session.id},
        about={"messages": [message_id for message_id in said if message_id is not None]},
    )


UNJUDGED: Final = SessionLifecycle()
"""The lifecycle without agents that judge closed sessions."""


def after_edit(connection: Connection, message: Message, now: datetime) -> None:
    """Updates the event of an edited message, with its topic and mirror, and has the session judged again.

    A session that is not judged yet needs no rerun: its analyst sees the new words.
    """
    chronicle.edited(connection, _spoken(message))
    for session_id in chronicle_repository.session_of_messages(connection, message.user_id, [message.id]).values():
        _judge_anew(connection, message.user_id, session_id, now, now + EDITING, behind=BEHIND)


def lose_messages(connection: Connection, user_id: int, message_ids: Collection[str], now: datetime) -> RemovedEvents:
    """Removes messages that are being erased from the chronicle, before they are removed from the log.

    Prompts and replies of the analyst about their sessions are emptied; judged sessions are judged again.
    """
    lost = chronicle.lose_messages(connection, user_id, message_ids)
    for session_id in (*lost.gone, *lost.touched):
        traces.blank_calls(connection, user_id, session_id=session_id)
    for session_id in lost.gone:
        runs.drop_of_session(connection, user_id, session_id)
    for session_id in lost.touched:
        held = runs.of_session(connection, user_id, session_id)
        runs.forget_replies(connection, user_id, [run.id for run in held])
        _judge_anew(connection, user_id, session_id, now, now)
    return lost


def _judge_anew(
    connection: Connection, user_id: int, session_id: str, now: datetime, due_at: datetime, *, behind: int = 0
) -> None:
    """Makes a run for each agent whose last one over the session is applied."""
    latest = {run.agent: run for run in runs.of_session(connection, user_id, session_id)}
    for agent, run in sorted(latest.items()):
        if run.state is RunState.APPLIED:
            rev = next_rev(connection, user_id) + behind
            runs.create_for_session(
                connection, user_id, agent, session_id, rev=rev, now=now, due_at=due_at, replaces=run.id
            )


def drop_wiped(connection: Connection, user_id: int, holds: Callable[[str], bool]) -> None:
    """Drops Analyses that lost their words in an erasure, and renames sessions whose names `holds` finds."""
    chronicle.drop_emptied(connection, user_id)
    chronicle.name_again(connection, user_id, holds)


def _spoken(message: Message) -> ChronicleMessage:
    said = (message.user_id, message.id, message.content, message.timestamp)
    return ChronicleMessage(*said, message.rev, message.thread_id or 0)


def withdraw_about(connection: Connection, user_id: int, ref_id: str, reason: str, now: datetime) -> int:
    """Drops what is not sent yet about a thing, in the caller's transaction. Returns the number of notifications.

    For callers that settle it: a task that is done needs no reminder. `reason` is a key for the event, not a sentence.
    """
    gone = notifications.withdraw(connection, user_id, ref_id, reason, now)
    for one in gone:
        events.append(
            connection,
            notifications.WEIGHED,
            source="agent:ContextManager",
            now=now,
            user_id=user_id,
            payload={"decision": "drop", "reason": reason},
            links={"caused_by": one.event_id, "notification": one.id, "ref": ref_id},
        )
    return len(gone)
