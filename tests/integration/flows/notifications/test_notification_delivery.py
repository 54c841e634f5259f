"""What is due is told: once, when it fits, in the dialogue, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from support.flows.flow_stage import BOT, OTHER, OWNER, Talk
from support.stores.stored_values import firings

from bot.telegram.i18n import phrase
from bot.telegram.rendering import render, render_plain
from internal.access import repository as users
from internal.agents.model import AgentReply, ContextManager, ContextRequest, WeighingRequest
from internal.dialogue import repository as dialogue
from internal.dialogue.model import HIDDEN_PREFIX
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind, NotificationState
from internal.dialogue.notifications.quiet import quiet_until
from internal.errors import ModelUnavailable
from internal.events.bus import EventTopic, Subscription
from internal.events.trigger import current_cause
from internal.flows.forgetting import requests
from internal.flows.notifications import decisions
from internal.flows.notifications.decisions import NotificationScheduler
from internal.flows.notifications.deliver import Rendering
from internal.flows.notifications.reminders import ReminderScheduler
from internal.flows.tasks import actions
from internal.flows.turn.delivery import Delivery
from internal.storage.types import new_id
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskKind, TaskOrigin, TaskState
from internal.tasks.service import by_owner


@dataclass
class Weigher:
    """A ContextManager whose decisions the test gives, by number; without any it cannot be reached."""

    says: list[Sequence[dict[str, Any]]] = field(default_factory=list)
    asked: list[WeighingRequest] = field(default_factory=list)
    causes: list[Any] = field(default_factory=list)
    seconds: float = 0

    async def weigh(self, request: WeighingRequest) -> AgentReply:
        self.asked.append(request)
        self.causes.append(current_cause())
        await asyncio.sleep(self.seconds)
        if not self.says:
            raise ModelUnavailable("nobody there")
        return AgentReply(json.dumps({"notifications": self.says.pop(0)}), "scripted")

    async def update(self, request: ContextRequest) -> AgentReply:
        raise NotImplementedError


@dataclass
class Stage:
    """One owner to whom something is to be told, at noon unless the test moves the clock."""

    talk: Talk
    manager: ContextManager | None = None
    decided: list[tuple[str, str]] = field(default_factory=list)
    woken: int = 0

    def notification_decided(self, kind: str, decision: str, waited_s: float | None = None) -> None:
        self.decided.append((kind, decision))

    def wake(self) -> None:
        self.woken += 1

    @property
    def now(self) -> datetime:
        return self.talk.clock.now()

    async def look(self) -> None:
        """One tick."""
        await ReminderScheduler(self.talk.database, self.talk.clock, "09:00").fire_due()
        notifying = NotificationScheduler(
            self.talk.database,
            self.talk.clock,
            self.manager,
            quiet_hours="22:00-08:00",
            persona_name="Laplaced",
            daily_cost_usd=0,
            rendering=Rendering(render, render_plain),
            observer=self,
            wake_outbox=self.wake,
        )
        await notifying.work_off()

    async def task(self, title: str, in_s: float = 0, *, user_id: int = OWNER, **more: Any) -> Task:
        at = self.now + timedelta(seconds=in_s)
        fields: dict[str, Any] = {"due_at": at, "next_at": at, "state": TaskState.OPEN, "tz": "UTC"}
        fields |= {"kind": TaskKind.REMINDER} | more
        task = Task(
            user_id=user_id,
            id=new_id(),
            title=title,
            origin=TaskOrigin.CHAT,
            created_at=self.now,
            updated_at=self.now,
            rev=0,
            **fields,
        )
        return await self.talk.write(lambda c: tasks.add(c, task))

    async def generate(self, text: str, kind: str = "notice", **more: Any) -> str:
        fields: dict[str, Any] = {"dedupe": new_id()} | more
        made = await self.talk.write(
            lambda c: notifications.generate(c, OWNER, NotificationKind(kind), text, now=self.now, **fields)
        )
        assert made is not None
        return made

    async def all(self, user_id: int = OWNER) -> list[Notification]:
        """Oldest first."""
        return (await self.talk.read(lambda c: notifications.listing(c, user_id)))[::-1]

    async def states(self) -> list[str]:
        return [one.state.value for one in await self.all()]

    def at(self, hour: int, minute: int = 0) -> None:
        """Moves the clock on to this hour of UTC."""
        now = self.now
        then = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
        self.talk.clock.advance(((then - now) % timedelta(days=1)).total_seconds())


@pytest.fixture
async def stage(talk: Talk) -> Stage:
    await talk.write(lambda c: users.write_setting(c, "bot_id", BOT))
    staged = Stage(talk)
    staged.at(12)
    return staged


async def test_a_due_task_is_told_within_the_dialogue(stage: Stage) -> None:
    """Hidden instruction, the assistant's message, the outbox and the event, each once however often one looks."""
    task = await stage.task("Call Maria")
    for _ in range(3):
        await stage.look()
    instruction, message = await stage.talk.messages()
    assert (instruction.role, instruction.hidden) == ("user", True)
    assert instruction.content.startswith(HIDDEN_PREFIX)
    assert "Call Maria" in instruction.content
    assert (message.role, message.content, message.hidden) == ("assistant", "🔔 Call Maria", False)
    [row] = await stage.talk.outbox()
    assert (row.outgoing.text, row.outgoing.message_id) == ("🔔 Call Maria", message.id)
    [told] = await stage.all()
    assert (told.state, told.message_id, told.ref_id) == (NotificationState.SENT, message.id, task.id)
    [generated] = await stage.talk.events("notification_generated")
    [sent] = await stage.talk.events("notification_sent")
    assert sent.links is not None
    assert sent.links["caused_by"] == generated.id == told.event_id
    assert sent.links["message"] == message.id
    assert sent.payload["reason"]
    assert stage.decided == [("reminder", "now")]
    assert stage.woken == 1
    subscription = Subscription("context_manager", EventTopic.NOTIFICATION, OWNER)
    assert await stage.talk.read(subscription.waiting) == []
    assert len(await stage.talk.read(lambda c: firings(c, OWNER, task.id))) == 1


@pytest.mark.parametrize(("lang", "yours"), [("en", "Your words"), ("ru", "Твои слова"), ("uk", "Твої слова")])
async def test_the_reminder_of_a_promise_quotes_the_words_that_make_it(stage: Stage, lang: str, yours: str) -> None:
    """As long as they may be shown; what was ordered is not repeated."""
    await stage.talk.write(lambda c: users.change(c, OWNER, lang=lang))
    said = await stage.talk.write(lambda c: dialogue.add(c, OWNER, "user", "Promised Maria the tent", now=stage.now))
    await stage.task("The tent", kind=TaskKind.PROMISE, message_id=said.id)
    await stage.look()
    await stage.task("The tent!", message_id=said.id)
    await stage.look()
    promised, ordered = [row.outgoing.text for row in await stage.talk.outbox()]
    assert promised.startswith(f"🔔 The tent\n{yours}, ")
    assert "Promised Maria the tent" in promised
    assert ordered == "🔔 The tent!"


async def test_later_prompts_hold_the_reminder_and_not_its_instruction(stage: Stage) -> None:
    """The answer to what the owner says next is written from what he saw."""
    await stage.task("Call Maria")
    await stage.look()
    await stage.talk.exchange("Done!")
    [request] = stage.talk.responder.asked
    assert [line.text for line in request.dialogue] == ["🔔 Call Maria", "Done!"]
    assert not any("notification" in (line.metadata or {}) for line in request.dialogue)


async def test_a_recurring_task_fires_once_after_a_standstill(stage: Stage) -> None:
    """A week without the program is one reminder, and the next is due when the next is."""
    task = await stage.task("Pills", recurrence="FREQ=DAILY")
    stage.talk.clock.advance(7 * 86_400 + 60)
    await stage.look()
    await stage.look()
    assert len(await stage.all()) == 1
    stage.talk.clock.advance(86_400)
    await stage.look()
    assert await stage.states() == ["sent", "sent"]
    moved = await stage.talk.read(lambda c: tasks.get(c, OWNER, task.id))
    assert moved is not None
    assert moved.next_at is not None
    assert moved.next_at > stage.now


async def test_quiet_hours_are_those_of_the_owners_clock(stage: Stage) -> None:
    """What waits is put off to their end once, with its reason; an hour that he set himself is kept."""
    await stage.talk.write(lambda c: users.change(c, OWNER, tz="Asia/Tokyo"))  # 21:00 UTC is 06:00 there
    stage.at(21)
    await stage.generate("Backup failed")
    await stage.task("Take the early train")
    await stage.look()
    await stage.look()
    assert await stage.states() == ["deferred", "sent"]
    [put_off] = await stage.talk.events("notification_weighed")
    assert put_off.payload["decision"] == "later"
    assert put_off.payload["reason"] == "quiet"
    stage.at(23, 1)
    await stage.look()
    assert await stage.states() == ["sent", "sent"]


def test_quiet_hours_end_by_the_clock_on_the_wall() -> None:
    """Over midnight, within a day, and in the night when the clock is set."""
    night = datetime.fromisoformat
    assert quiet_until("22:00-08:00", night("2026-03-28T23:30:00+01:00"), "Europe/Berlin") == night(
        "2026-03-29T08:00:00+02:00"
    )
    assert quiet_until("22:00-08:00", night("2026-03-28T08:00:00+01:00"), "Europe/Berlin") is None
    assert quiet_until("13:00-15:00", night("2026-03-28T14:59:59+01:00"), "Europe/Berlin") == night(
        "2026-03-28T15:00:00+01:00"
    )
    assert quiet_until("", night("2026-03-28T14:59:59+01:00"), "Europe/Berlin") is None
    assert quiet_until("08:00-08:00", night("2026-03-28T14:59:59+01:00"), "Europe/Berlin") is None


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        ("22:00-02:30", "2026-10-25T02:45:00+02:00", "2026-10-25T02:30:00+01:00"),
        ("22:00-02:30", "2026-10-25T02:15:00+01:00", "2026-10-25T02:30:00+01:00"),
        ("22:00-02:30", "2026-10-25T02:30:00+01:00", None),
        ("02:30-08:00", "2026-10-25T02:10:00+01:00", "2026-10-25T08:00:00+01:00"),
        ("02:30-08:00", "2026-10-25T02:10:00+02:00", None),
        ("22:00-02:30", "2026-03-29T03:10:00+02:00", "2026-03-29T03:30:00+02:00"),
        ("22:00-02:30", "2026-03-29T03:30:00+02:00", None),
    ],
)
def test_an_hour_that_comes_twice_is_quiet_throughout(hours: str, now: str, until: str | None) -> None:
    """No quiet hours end in the past or begin again in one night; where an hour is left out they end as much later."""
    expected = None if until is None else datetime.fromisoformat(until)
    assert quiet_until(hours, datetime.fromisoformat(now), "Europe/Berlin") == expected


async def test_several_that_wait_are_told_together(stage: Stage) -> None:
    """One message, a line each; who was away gets them when he is back."""
    keyboard = [[{"text": "Done", "callback_data": "t:1"}]]
    await stage.talk.write(lambda c: users.change(c, OWNER, state="paused"))
    await stage.generate("Buy milk", "reminder", payload={"buttons": keyboard})
    await stage.generate("Water the plants", "reminder")
    await stage.look()
    assert await stage.states() == ["waiting", "waiting"]
    assert (
        await stage.talk.read(lambda c: Subscription("context_manager", EventTopic.NOTIFICATION, OWNER).waiting(c))
        != []
    )
    await stage.talk.write(lambda c: users.change(c, OWNER, state="active"))
    await stage.look()
    assert await stage.states() == ["sent", "merged"]
    first, second = await stage.all()
    assert (second.merged_into, second.message_id) == (first.id, first.message_id)
    [row] = await stage.talk.outbox()
    assert row.outgoing.text == (
        "🔔 Several things at once:\n• Buy milk\n• Water the plants\n\n/tasks shows them all, to settle or put off."
    )
    assert row.outgoing.keyboard is None
    [sent] = await stage.talk.events("notification_sent")
    assert sent.links is not None
    assert sent.links["caused_by"] == [first.event_id, second.event_id]


async def test_told_together_each_keeps_its_rows(stage: Stage) -> None:
    """Below one message stand the rows of all, and nothing needs to be said of where else they can be settled."""
    for word in ("Buy milk", "Water the plants"):
        rows = [[{"text": f"✓ {word}", "callback_data": f"t:{word}"}]]
        await stage.generate(word, "reminder", payload={"buttons": rows * 2, "together": rows})
    await stage.look()
    [row] = await stage.talk.outbox()
    assert row.outgoing.text == "🔔 Several things at once:\n• Buy milk\n• Water the plants"
    assert [[one["text"] for one in line] for line in row.outgoing.keyboard or ()] == [
        ["✓ Buy milk"],
        ["✓ Water the plants"],
    ]


async def test_nobody_is_interrupted_while_he_is_being_answered(stage: Stage) -> None:
    """A reminder stands behind the answer that was being written."""
    turn = await stage.talk.ask("Tell me a story")
    await stage.task("Call Maria")
    await stage.look()
    assert await stage.states() == ["waiting"]
    await stage.talk.flow().answer(turn)
    await stage.look()
    assert [message.content for message in await stage.talk.messages() if not message.hidden] == [
        "Tell me a story",
        "Answer.",
        "🔔 Call Maria",
    ]


async def test_the_context_manager_decides(stage: Stage) -> None:
    """Rephrased, put off and never told, each with its reason; it sees the dialogue and everything that waits."""
    weigher = Weigher()
    stage.manager = weigher
    await stage.talk.exchange("I have bought the milk")
    for text in ("Call Maria", "Buy milk", "Read a book"):
        await stage.generate(text, "reminder")
    later = (stage.now + timedelta(hours=3)).isoformat()
    weigher.says = [
        [
            {"id": 1, "decision": "now", "text": "Maria waits for **your call**.", "reason": "It is time"},
            {"id": 2, "decision": "drop", "text": "", "reason": "He has bought it"},
            {"id": 3, "decision": "later", "until": later, "text": "", "reason": "In the evening"},
        ]
    ]
    await stage.look()
    assert await stage.states() == ["sent", "dropped", "deferred"]
    [asked] = weigher.asked
    assert weigher.causes == [{"notification": [one.id for one in await stage.all()]}]
    assert [line.text for line in asked.recent] == ["I have bought the milk", "Answer."]
    assert [one.reason for one in await stage.all()] == ["It is time", "He has bought it", "In the evening"]
    *_, row = await stage.talk.outbox()
    assert row.outgoing.text == "Maria waits for your call."
    assert [entity["type"] for entity in row.outgoing.entities] == ["bold"]
    told = {
        event.payload["decision"]: event.payload["reason"] for event in await stage.talk.events("notification_weighed")
    }
    assert told == {"drop": "He has bought it", "later": "In the evening"}
    stage.talk.clock.advance(3 * 3600)
    weigher.says = [[{"id": 1, "decision": "now", "text": "", "reason": "Now"}]]
    await stage.look()
    assert (await stage.states())[2] == "sent"


async def test_a_reminder_waits_for_no_provider(stage: Stage) -> None:
    """Where the model cannot be reached, or says nothing of something, the rules decide at once."""
    weigher = Weigher()
    stage.manager = weigher
    await stage.task("Call Maria")
    await stage.look()
    assert await stage.states() == ["sent"]
    weigher.says = [[]]
    await stage.generate("Backup failed")
    await stage.look()
    assert await stage.states() == ["sent", "sent"]


async def test_a_reminder_waits_a_minute_for_a_slow_model(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model on a processor may weigh for many minutes; the reminder comes in time, as the rules word it."""
    monkeypatch.setattr(decisions, "WEIGHED_WITHIN", timedelta(milliseconds=50))
    stage.manager = Weigher([[{"id": 1, "decision": "drop", "text": "", "reason": "No"}]], seconds=60)
    await stage.task("Call Maria")
    await stage.look()
    assert await stage.states() == ["sent"]


async def test_nothing_is_put_off_for_ever(stage: Stage) -> None:
    """A model that says "later" every time is heard three times; what is urgent waits an hour at most each time."""
    weigher = Weigher()
    stage.manager = weigher
    await stage.task("Call Maria")
    for _ in range(4):
        weigher.says = [[{"id": 1, "decision": "later", "until": "2099-01-01T00:00", "text": "", "reason": "Busy"}]]
        await stage.look()
        stage.talk.clock.advance(3600)
    assert await stage.states() == ["sent"]
    assert stage.decided == [("reminder", "later")] * 3 + [("reminder", "now")]


async def test_a_question_is_told_in_its_own_words(stage: Stage) -> None:
    """Its buttons answer them, so a model can neither change nor drop it, and is not asked about it alone."""
    weigher = Weigher([[{"id": 1, "decision": "drop", "text": "Something else", "reason": "No"}]])
    stage.manager = weigher
    buttons = {"buttons": [[{"text": "Yes", "callback_data": "y"}]]}
    await stage.generate("Is it *right*?", "team", payload=buttons)
    await stage.look()
    assert weigher.asked == []
    await stage.generate("Is it *left*?", "team", payload=buttons)
    await stage.generate("The disk is full.")
    await stage.look()
    assert len(weigher.asked) == 1
    (first, second, _) = await stage.talk.outbox()
    assert [first.outgoing.text, second.outgoing.text] == ["Is it right?", "Is it left?"]
    assert first.outgoing.keyboard == second.outgoing.keyboard == [[{"text": "Yes", "callback_data": "y"}]]


async def test_what_is_done_meanwhile_is_not_told(stage: Stage) -> None:
    """A task that is closed while its reminder waits drops it."""
    task = await stage.task("Call Maria")
    turn = await stage.talk.ask("Hi")
    await stage.look()
    await stage.talk.write(lambda c: tasks.change(c, tasks.get(c, OWNER, task.id), stage.now, state="done"))  # type: ignore[arg-type]
    await stage.talk.flow().answer(turn)
    await stage.look()
    assert await stage.states() == ["dropped"]


async def test_what_was_owed_to_someone_who_left_comes_when_he_is_back(stage: Stage) -> None:
    """A 403 at the delivery holds the message; nothing more is decided until he writes."""
    await stage.task("Call Maria")
    await stage.look()
    [row] = await stage.talk.outbox()
    await Delivery(stage.talk.database, stage.talk.clock, phrase).left(row, "blocked")
    await stage.task("Buy milk")
    await stage.look()
    assert await stage.states() == ["sent", "waiting"]
    assert [one.state for one in await stage.talk.outbox()] == ["held"]


async def test_who_left_stands_before_nobody(stage: Stage) -> None:
    """However much waits for owners who are not there, it is not them who are looked at."""
    await stage.task("Call Maria")
    await stage.task("Theirs", user_id=OTHER)
    write = stage.talk.database.write
    await write(lambda c: c.exec_driver_sql(f"UPDATE users SET state = 'paused' WHERE user_id = {OWNER}"))
    await stage.look()
    due = await stage.talk.database.read(lambda c: notifications.owners_due(c, stage.talk.clock.now()))
    assert due == []
    assert [row.outgoing.user_id for row in await stage.talk.outbox()] == [OTHER]


async def test_nobody_hears_of_anybody_elses(stage: Stage) -> None:
    """Each owner is told of his own."""
    await stage.task("Mine")
    await stage.task("Theirs", user_id=OTHER)
    await stage.look()
    assert {(row.outgoing.user_id, row.outgoing.text) for row in await stage.talk.outbox()} == {
        (OWNER, "🔔 Mine"),
        (OTHER, "🔔 Theirs"),
    }


async def test_a_forgotten_message_takes_its_reminder_along(stage: Stage) -> None:
    """Hidden at once it is not told; erased, neither row, event, instruction nor answer holds its words."""
    await stage.talk.exchange("Remind me of the zebrafinch tomorrow")
    said = (await stage.talk.messages())[0]
    await stage.task("Zebrafinch", message_id=said.id)
    await stage.look()
    await stage.task("Zebrafinch again", message_id=said.id)
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", said.id, now=stage.now))
    await stage.look()
    assert len(await stage.all()) == 1  # the second does not even fire
    stage.talk.clock.advance(3600)
    assert asked.due_at < stage.now
    await requests.ForgettingService(stage.talk.database, stage.talk.clock, b"key").erase_due()
    assert await stage.all() == []
    assert [message.content for message in await stage.talk.messages()] == ["Answer."]


async def test_a_reminder_that_nobody_answers_teaches_nothing(stage: Stage) -> None:
    """Published alone it gets no run; it opens no session and is no gap in the chronicle."""
    await stage.task("Call Maria")
    await stage.look()
    publication = stage.talk.publication(agents=("archivist", "context_manager"))
    assert await publication.publish_due() == 0
    await stage.talk.exchange("Thanks")
    await publication.publish_now(OWNER)
    assert [message.episode_id is not None for message in await stage.talk.messages()] == [True] * 4


async def test_what_was_put_off_into_quiet_hours_waits_for_their_end(stage: Stage) -> None:
    """An hour is kept when it comes, and is nothing to be woken for long after."""
    stage.at(21, 50)
    later = (stage.now + timedelta(minutes=50)).isoformat()
    stage.manager = weigher = Weigher([[{"id": 1, "decision": "later", "until": later, "text": "", "reason": "Busy"}]])
    await stage.task("Call Maria")
    await stage.look()
    assert await stage.states() == ["deferred"]
    stage.at(23)
    await stage.look()
    assert len(weigher.asked) == 1
    assert await stage.states() == ["deferred"]
    stage.at(8)
    await stage.look()
    assert await stage.states() == ["sent"]


async def test_a_whole_day_put_off_by_its_owner_is_told_at_his_hour(stage: Stage) -> None:
    """In an hour is in an hour, in quiet hours too."""
    stage.at(21, 30)
    task = await stage.task("Pay the rent", 3600, whole_day=True)
    other = await stage.task("Water the plants", 3600, whole_day=True)
    teller = by_owner(OWNER, stage.now, time(9))
    await stage.talk.write(lambda c: actions.postpone(c, OWNER, task.id, stage.now + timedelta(hours=1), teller))
    stage.at(22, 31)
    await stage.look()
    told = {one.ref_id: one.state.value for one in await stage.all()}
    assert told == {task.id: "sent", other.id: "deferred"}


async def test_a_promise_that_is_kept_no_more_is_not_told(stage: Stage) -> None:
    """Whoever was to hear of it hears nothing; an invitation is told."""
    await stage.generate("Olena will bring the book", "team", payload={"giver": OTHER, "promise": new_id()})
    await stage.generate("Olena invites you", "team")
    await stage.look()
    assert await stage.states() == ["dropped", "sent"]
