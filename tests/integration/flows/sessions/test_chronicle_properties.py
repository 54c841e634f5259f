"""Whatever happens in whatever order, an owner's chronicle is one line of all that the log holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, insert
from support.flows.chronicle_stage import check_line
from support.long import examples
from support.stores.stores import memory_store

from bot.telegram.i18n import phrase
from internal.access import repository as users
from internal.chronicle import audit, repository, service
from internal.chronicle.model import EventLabel
from internal.config.settings import AccessConfig, DialogueConfig
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import Incoming, Message, Turn, TurnState
from internal.errors import Conflict
from internal.flows.archival.publication import Publication
from internal.flows.forgetting.erase import erase_episode, erase_messages
from internal.flows.sessions.lifecycle import SessionLifecycle
from internal.flows.turn.intake import Intake
from internal.flows.turn.prompt import freeze
from internal.scheduling import run_repository as runs
from internal.storage.tables import users as users_table
from internal.testing import FIRST_MOMENT, FrozenClock

OWNER, OTHER, BOT = 1, 2, 7
SENT = 1_000_000
"""The Telegram id of the first answer."""
ZONES = ("UTC", "Europe/Kyiv", "America/Los_Angeles")


@dataclass(frozen=True)
class Step:
    """One thing that happens; what it is not about is not looked at. `place` chooses among what is there."""

    kind: str
    user_id: int
    place: int
    killed: bool
    words: str
    command: Any
    thread: int | None
    passed: int
    choice: bool


STEPS = st.builds(
    Step,
    kind=st.sampled_from(
        [
            "say",
            "react",
            "react",
            "exchange",
            "exchange",
            "exchange",
            "exchange",
            "answer",
            "fail",
            "silence",
            "/ss",
            "/archive",
            "edit",
            "erase",
            "erase",
            "erase",
            "judge",
            "move",
        ]
    ),
    user_id=st.sampled_from([OWNER, OWNER, OWNER, OTHER]),
    place=st.integers(0, 1_000),
    killed=st.sampled_from([False, False, False, True]),
    words=st.sampled_from(["Hi", "How are you today?", "", "x" * 200]),
    command=st.sampled_from([None, None, None, "/db", "/sa"]),
    thread=st.sampled_from([None, None, 5]),
    passed=st.sampled_from([60, 1, 0]),
    choice=st.booleans(),
)


class Life:
    """Turns, closings, edits, erasures, judgements and kills of two owners, each step a transaction of its own."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        for user_id in (OWNER, OTHER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "Olena", "lang": "en", "tz": "UTC"}
            self.connection.execute(insert(users_table).values(**row, settings={}, created_at=FIRST_MOMENT))
        self.clock, self.lifecycle, self.sent = FrozenClock(), SessionLifecycle(["analyst"]), 0
        self.delivered = 0
        config: Any = None  # the transactions alone are run here, never the database's thread
        window = timedelta(seconds=2)
        self.intake = Intake(
            config, self.clock, DialogueBuffers(), AccessConfig(), phrase, window, lifecycle=self.lifecycle
        )
        self.publication = Publication(
            config, self.clock, DialogueBuffers(), DialogueConfig(max_messages=6), ["archivist"], self.lifecycle
        )

    def done(self, work: Callable[[Connection], Any], *, killed: bool) -> None:
        """A transaction, of which nothing is left if the process is killed in it."""
        savepoint = self.connection.begin_nested()
        try:
            work(self.connection)
        except Conflict:
            killed = True
        if killed:
            savepoint.rollback()
        else:
            savepoint.commit()

    def log(self, user_id: int) -> list[Message]:
        return dialogue.recent(self.connection, user_id, limit=10_000)

    def open_turns(self) -> list[Turn]:
        return turns.unfinished(self.connection, BOT)

    def happen(self, step: Step) -> None:
        match step.kind:
            case "say":
                self.say(step)
            case "exchange":
                self.say(replace(step, passed=60, killed=False))
                self.answer(replace(step, place=len(self.open_turns()) - 1, killed=False))
            case "react":
                self.react(step)
            case "answer" | "fail":
                self.answer(step)
            case "silence" | "/ss" | "/archive":
                self.close(step)
            case "edit":
                self.edit(step)
            case "erase":
                self.erase(step)
            case "judge":
                self.judge(step)
            case "move":
                zone = ZONES[step.place % len(ZONES)]
                self.done(lambda c: service.move_zone(c, step.user_id, zone), killed=step.killed)

    def say(self, step: Step) -> None:
        self.clock.advance(step.passed)
        user_id, now = step.user_id, self.clock.now()
        self.sent += 1
        attachments = [] if step.words else [{"kind": "photo"}]
        incoming = Incoming(
            user_id,
            BOT,
            user_id,
            self.sent,
            step.words,
            now,
            step.thread,
            reply_to=SENT + step.place % (self.delivered + 1) if step.choice else None,
            attachments=attachments,
            command=step.command,
        )
        [row] = mailbox.receive(self.connection, BOT, [(self.sent, "{}")], now)

        def work(connection: Connection) -> None:
            self.intake._take(connection, row.n, users.get(connection, user_id), incoming, now, answer=True)

        self.done(work, killed=step.killed)

    def react(self, step: Step) -> None:
        """A reaction to an answer, taken back when it is chosen without words."""
        answers = [message for message in self.log(step.user_id) if message.role == "assistant"]
        if answers:
            answer, now = answers[step.place % len(answers)], self.clock.now()
            self.done(lambda c: service.react(c, step.user_id, answer.id, step.words[:2], now), killed=step.killed)

    def answer(self, step: Step) -> None:
        open_turns = self.open_turns()
        if not open_turns:
            return
        turn = open_turns[step.place % len(open_turns)]
        question = freeze(self.connection, turn)
        assert question is not None
        self.clock.advance(3)
        now, fails = self.clock.now(), step.kind == "fail"

        def work(connection: Connection) -> None:
            state = TurnState.FAILED if fails else TurnState.ANSWERED
            if turns.finish(connection, turn, state) and not fails:
                message = dialogue.add(connection, turn.user_id, "assistant", "Answer.", now=now, turn_id=turn.id)
                self.deliver(connection, message)
                self.lifecycle.answered(connection, message, question.asked, tz=question.user.tz, now=now)

        self.done(work, killed=step.killed)

    def deliver(self, connection: Connection, message: Message) -> None:
        owed = Outgoing(message.user_id, BOT, message.user_id, "Answer.", message.id, message_id=message.id)
        row_id = mailbox.enqueue(connection, owed, self.clock.now())
        mailbox.mark_sent(connection, message.user_id, row_id or "", SENT + self.delivered)
        self.delivered += 1

    def close(self, step: Step) -> None:
        if step.kind == "silence":
            self.clock.advance(1_801)
        user_id, now = step.user_id, self.clock.now()

        def work(connection: Connection) -> None:
            if step.kind == "/ss":
                self.lifecycle.close(connection, user_id, now, "/ss")
            closes, ended = step.kind == "silence", step.kind == "/ss"
            self.publication._publish(connection, user_id, now, closes=closes, ended=ended, idle_before=None)

        self.done(work, killed=step.killed)

    def edit(self, step: Step) -> None:
        user_id, now = step.user_id, self.clock.now()
        said = [message for message in self.log(user_id) if message.role == "user"]
        if not said:
            return
        message = said[step.place % len(said)]
        incoming = Incoming(user_id, BOT, user_id, message.tg_id or 0, "Edited " + message.content[:9], now)
        self.sent += 1
        [row] = mailbox.receive(self.connection, BOT, [(100_000 + self.sent, "{}")], now)
        self.done(lambda c: self.intake._edit(c, row.n, incoming, now), killed=step.killed)

    def erase(self, step: Step) -> None:
        user_id, now = step.user_id, self.clock.now()
        owed = {turn.id for turn in self.open_turns()}
        log = [message for message in self.log(user_id) if message.turn_id not in owed]
        if not log:
            return
        message = log[step.place % len(log)]
        if step.choice and message.episode_id is not None:
            self.done(lambda c: erase_episode(c, user_id, message.episode_id or "", now=now), killed=step.killed)
        else:
            self.done(lambda c: erase_messages(c, user_id, [message.id], now=now), killed=step.killed)

    def judge(self, step: Step) -> None:
        """The analyst's C10, behind whatever came since."""
        closed = [one for one in repository.listing(self.connection, step.user_id) if one.closed_at is not None]
        if closed:
            session_id = closed[step.place % len(closed)].id
            self.done(lambda c: self._judge(c, step.user_id, session_id), killed=step.killed)

    def _judge(self, connection: Connection, user_id: int, session_id: str) -> None:
        now = self.clock.now()
        service.drop_analyses(connection, user_id, session_id)
        for event in repository.events_of_session(connection, user_id, session_id):
            if event.label is EventLabel.RESPONSE:
                told = {"verdict": "correct", "lessons": ["Be brief."]}
                service.analyse(
                    connection,
                    user_id,
                    session_id,
                    "response_analysis",
                    told,
                    answers_n=event.n,
                    now=now,
                    run_id=None,
                )
        told = {"verdict": "correct"}
        service.analyse(connection, user_id, session_id, "session_summary", told, answers_n=None, now=now, run_id=None)
        service.name_topic(connection, user_id, session_id, "Judged")
        for run in runs.of_session(connection, user_id, session_id):
            runs.finish(connection, run, now)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, min_size=15, max_size=30))
def test_there_is_one_line_whatever_happens(steps: list[Step]) -> None:
    """After every step of any life, kills included, the line of each owner is whole; a repair finds nothing to do."""
    with memory_store() as connection:
        life = Life(connection)
        for step in steps:
            life.happen(step)
            check_line(connection, step.user_id)
        for user_id in (OWNER, OTHER):
            assert audit.repair(connection, user_id).counts == {}
            check_line(connection, user_id)
