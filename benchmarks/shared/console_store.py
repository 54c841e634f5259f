"""Fills a store for every page of the console: conversations, events, model calls, tasks, notifications."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, insert, select, update

from benchmarks.shared.synthetic_owners import Life, Size, person_name
from internal.chronicle import service as chronicle
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot, SnapshotItem
from internal.dialogue.snapshots.repository import KEPT
from internal.flows.sessions.lifecycle import UNJUDGED
from internal.storage.database import Database
from internal.storage.owner_counters import next_rev
from internal.storage.tables import (
    event_links,
    events,
    graph_nodes,
    model_calls,
    notifications,
    spend,
    tasks as task_rows,
    users,
)

CHUNK: Final = 5_000
OF_A_SESSION: Final = 20
"""Messages of one conversation of the chronicle."""

_AGENTS: Final = ("responder", "archivist", "analyst", "enricher", "reranker", "task_manager", "context_manager")
_STEPS: Final = (
    ("message_received", "user:{owner}"),
    ("turn_completed", "system:turn"),
    ("agent_result", "agent:Responder"),
    ("message_sent", "system:delivery"),
    ("fragment_created", "system:publication"),
    ("agent_result", "agent:Archivist"),
    ("entities_updated", "agent:Archivist"),
    ("facts_created", "agent:Archivist"),
    ("agent_result", "agent:ContextManager"),
    ("agent_result", "agent:TaskManager"),
)
"""What a question and its answer leave behind them."""

_PROMPT: Final = "What is known of the owner, and what was said before. " * 30


class LivedConsole:
    """Stores the rows of one owner: `size` as in `synthetic_owners`, `happened` events, the others in proportion."""

    def __init__(self, life: Life, size: Size, happened: int, now: datetime) -> None:
        self._life, self._size, self._happened, self._now = life, size, happened, now
        self._owner, self._chance = life.owner, random.Random(life.owner)

    async def store(self, database: Database) -> None:
        """In steps, so that none holds the database for long."""
        await self._life.store(database)
        await database.write(self._named)
        await database.write(self._weighed)
        for start in range(0, self._size.messages, OF_A_SESSION * 50):
            await database.write(partial(self._conversations, chosen=range(start, start + OF_A_SESSION * 50)))
        await self._in_steps(database, self._events, self._happened)
        await self._in_steps(database, self._calls, self._happened // 5)
        await self._in_steps(database, self._notifications, self._happened // 20)
        await self._in_steps(database, self._tasks, self._happened // 50)
        await database.write(self._minded)
        await database.write(self._spent)

    @staticmethod
    async def _in_steps(database: Database, step: Callable[..., None], count: int) -> None:
        for start in range(0, count, CHUNK):
            chosen = range(start, min(start + CHUNK, count))
            await database.write(partial(step, chosen=chosen))

    def _named(self, connection: Connection) -> None:
        known = update(users).where(users.c.user_id == self._owner)
        connection.execute(known.values(name=person_name(self._owner), lang="en"))

    def _weighed(self, connection: Connection) -> None:
        """What the archivist tells of a memory besides its words."""
        own = (graph_nodes.c.user_id == self._owner) & (graph_nodes.c.label == "Memory")
        for node_id, props in connection.execute(select(graph_nodes.c.id, graph_nodes.c.props).where(own)).all():
            filled = props | {"summary": props["content"], "confidence": 0.9}
            connection.execute(update(graph_nodes).where(own, graph_nodes.c.id == node_id).values(props=filled))

    def _ago(self, number: int, count: int) -> datetime:
        """Evenly over half a year, the last a minute ago."""
        return self._now - timedelta(minutes=1) - timedelta(days=180) * ((count - 1 - number) / max(1, count))

    # --- Conversations

    def _conversations(self, connection: Connection, chosen: range) -> None:
        log = dialogue.recent(connection, self._owner, before_seq=chosen.stop + 1, limit=len(chosen))
        for start in range(0, len(log), OF_A_SESSION):
            self._conversation(connection, log[start : start + OF_A_SESSION])

    def _conversation(self, connection: Connection, said: list[Message]) -> None:
        answers, session = [], None
        in_order = [replace(message, rev=next_rev(connection, self._owner)) for message in said]
        for question, answer in zip(in_order[::2], in_order[1::2], strict=False):
            UNJUDGED.heard(connection, question, tz="UTC", now=question.timestamp)
            event = UNJUDGED.answered(connection, answer, [question], tz="UTC", now=answer.timestamp)
            answers.append(event.n)
            session = event.session_id
        if session is None:
            return
        at = said[-1].timestamp
        UNJUDGED.close(connection, self._owner, at)
        verdict: dict[str, Any] = {"verdict": "correct", "errors": [], "rules_used": [], "rules_ignored": []}
        verdict |= {"lessons": ["Answer in a sentence."]}
        for answered in answers:
            chronicle.analyse(
                connection, self._owner, session, "response_analysis", verdict, answers_n=answered, now=at, run_id=None
            )
        chronicle.analyse(
            connection, self._owner, session, "session_summary", verdict, answers_n=None, now=at, run_id=None
        )

    # --- What happened

    def _events(self, connection: Connection, chosen: range) -> None:
        rows, links = [], []
        for number in chosen:
            turn, step = divmod(number, len(_STEPS))
            kind, source = _STEPS[step]
            payload: dict[str, Any] = {"note": self._words()}
            if kind.startswith("message_"):
                payload = {"message": f"{self._owner}m{min(2 * turn + step // 3, self._size.messages - 1)}"}
            given = {"turn": f"{self._owner}t{turn}"}
            row: dict[str, Any] = {"id": f"{self._owner}v{number}", "user_id": self._owner, "event_type": kind}
            row |= {"source": source.format(owner=self._owner), "payload": payload, "links": given}
            rows.append(row | {"timestamp": self._ago(number, self._happened)})
        connection.execute(insert(events), rows)
        last = connection.execute(events.select().order_by(events.c.seq.desc()).limit(1)).one().seq
        for place, row in enumerate(rows):
            link = {"user_id": self._owner, "ref": row["links"]["turn"], "name": "turn"}
            links.append(link | {"event_seq": last - len(rows) + 1 + place})
        connection.execute(insert(event_links), links)

    def _calls(self, connection: Connection, chosen: range) -> None:
        rows = []
        for number in chosen:
            prompt = [{"role": "system", "content": _PROMPT}, {"role": "user", "content": self._words()}]
            row = {"id": f"{self._owner}l{number}", "user_id": self._owner, "agent": _AGENTS[number % len(_AGENTS)]}
            row |= {"model": "made-up", "at": self._ago(number, self._happened // 5), "duration_s": 1.2}
            row |= {"prompt_tokens": 900, "completion_tokens": 60, "cost_usd": 0.001, "prompt": prompt}
            row |= {"reply": self._words(), "error": None, "links": {"turn": f"{self._owner}t{number // 2}"}}
            rows.append(row)
        connection.execute(insert(model_calls), rows)

    def _notifications(self, connection: Connection, chosen: range) -> None:
        rows = []
        for number in chosen:
            at = self._ago(number, self._happened // 20)
            state = ("sent", "sent", "dropped", "merged")[number % 4]
            row = {"user_id": self._owner, "id": f"{self._owner}w{number:08}", "kind": "reminder", "payload": {}}
            row |= {"text": self._words(), "state": state}
            row |= {"not_before": at, "created_at": at, "decided_at": at}
            row |= {"reason": self._words(), "event_id": f"{self._owner}v{number}", "dedupe": f"made-up-{number}"}
            rows.append(row)
        connection.execute(insert(notifications), rows)

    def _tasks(self, connection: Connection, chosen: range) -> None:
        """The last few hundred are open: a person may have a thousand."""
        rows, count = [], self._happened // 50
        for number in chosen:
            at, is_open = self._ago(number, count), number >= count - 300
            due = self._now + timedelta(hours=number % 700 - 20) if is_open else at
            row = {"user_id": self._owner, "id": f"{self._owner}k{number:08}", "kind": "task", "title": self._words()}
            row |= {"state": "open" if is_open else "done", "due_at": due, "tz": "UTC", "origin": "command"}
            row |= {"next_at": due if is_open else None, "created_at": at, "updated_at": at, "rev": 1}
            rows.append(row | {"closed_at": None if is_open else at})
        connection.execute(insert(task_rows), rows)

    def _minded(self, connection: Connection) -> None:
        """As many versions as are kept."""
        for number in range(KEPT):
            at = self._ago(number, KEPT)
            who, current, threads = (tuple(SnapshotItem(self._words(), at) for _ in range(6)) for _ in range(3))
            snapshots.add(connection, self._owner, Snapshot(who, current, threads), now=at)

    def _spent(self, connection: Connection) -> None:
        rows = []
        for days in range(180 if self._happened > CHUNK else 3):
            day = (self._now - timedelta(days=days)).date().isoformat()
            for agent in _AGENTS:
                row = {"user_id": self._owner, "day": day, "agent": agent, "calls": 9, "tokens": 9_000}
                rows.append(row | {"cost_usd": 0.01})
        connection.execute(insert(spend), rows)

    def _words(self) -> str:
        return " ".join(self._life.language.text(self._chance.randrange(300), 8, self._chance))
