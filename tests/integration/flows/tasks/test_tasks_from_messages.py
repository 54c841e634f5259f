"""What is said becomes tasks: at once where it is asked for, with the fragment otherwise, and never twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.flows.erase_stage import LanguageHere
from support.flows.flow_stage import OTHER, OWNER, Talk
from support.stores.stored_values import agent_value

from bot.telegram.handlers.tasks.task_text import confirmation_in_turn, question
from internal.agents.task_manager.offline import OfflineTaskManager
from internal.config.settings import RunsConfig
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.events import agent_state_repository as agent_state
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.forgetting import erase, requests
from internal.flows.runs.loop import RunLoop
from internal.flows.tasks.handler import TaskHandler
from internal.flows.turn.commands.reminder_requests import ReminderRequests
from internal.tasks import repository as tasks, service
from internal.tasks.model import Schedule, Task, TaskKind, TaskOrigin, TaskState

HOUR = timedelta(hours=1)


class Counted:
    """What became of tasks and runs."""

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.refused: list[str] = []

    def tasks_changed(self, outcome: str, count: int = 1) -> None:
        self.changed += [outcome] * count

    def operation_refused(self, agent: str, reason: str) -> None:
        self.refused.append(reason)

    def agent_run(self, agent: str, outcome: str) -> None:
        pass


class Stage:
    """One owner who talks, with the task manager by rules."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.counted = talk, Counted()
        language = LanguageHere()
        names = WorkerNameReader(language)
        talk.reminders = ReminderRequests(
            talk.database, language, names, self.counted, whole_day_at="09:00", render=confirmation_in_turn
        )
        handler = TaskHandler(
            talk.database,
            OfflineTaskManager(language),
            language,
            names,
            self.counted,
            persona_name="Laplaced",
            whole_day_at="09:00",
            question=question,
            wake=lambda: None,
        )
        self.runs = RunLoop(talk.database, talk.clock, [handler], RunsConfig(), self.counted, 0.0, lambda *owed: None)

    async def said(self, *texts: str) -> None:
        """Each gets its answer, and all of them a fragment that is worked off."""
        for text in texts:
            await self.talk.exchange(text)
        await self.publish()

    async def publish(self) -> None:
        await self.talk.publication(agents=("task_manager",)).publish_now(OWNER)
        await self.work_off()

    async def work_off(self) -> None:
        await self.runs.work_off(OWNER, 20)

    async def tasks(self, *states: TaskState) -> list[Task]:
        return await self.talk.read(lambda c: tasks.listing(c, OWNER, states=states))

    async def asked(self) -> list[str]:
        """The questions that wait to be asked."""
        found = await self.talk.read(lambda c: notifications.listing(c, OWNER))
        return [one.text for one in found if one.state == "waiting"]

    async def pending(self) -> Sequence[dict[str, Any]]:
        mine = agent_state.agent_id("task_manager", OWNER)
        return await self.talk.read(lambda c: agent_value(c, mine, "pending_tasks")) or []


@pytest.fixture
def stage(talk: Talk) -> Stage:
    return Stage(talk)


async def test_a_plain_request_is_granted_in_its_turn_without_a_model(stage: Stage) -> None:
    """The answer is the confirmation with its buttons; the task is open, with the message it comes from."""
    turn = await stage.talk.ask("remind me tomorrow at 9 to call Maria")
    await stage.talk.flow().answer(turn)
    (task,) = await stage.tasks()
    assert (task.title, task.state, task.origin) == ("Call Maria", TaskState.OPEN, TaskOrigin.CHAT)
    assert task.next_at == task.due_at
    assert stage.talk.responder.asked == []
    (row,) = [row for row in await stage.talk.outbox() if row.state == "pending"]
    assert "Call Maria" in row.outgoing.text
    assert row.outgoing.keyboard
    *_, answer = await stage.talk.messages()
    assert (answer.role, answer.content) == ("assistant", row.outgoing.text)
    assert [one["title"] for one in await stage.pending()] == ["Call Maria"]


async def test_the_fragment_does_not_open_it_twice(stage: Stage) -> None:
    """The task manager reads the same message half an hour later."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    assert [task.title for task in await stage.tasks()] == ["Call Maria"]
    assert await stage.asked() == []


async def test_a_reminder_for_a_moment_that_is_over_is_refused(stage: Stage) -> None:
    """In the chat, with the reason; the fragment that holds it does not open it either."""
    await stage.said("remind me on 5 January 2026 at 9 to call Maria")
    assert [one.content for one in await stage.talk.messages()][1:] == ["That time has already passed."]
    assert await stage.tasks() == []


async def test_what_else_is_asked_is_answered_too(stage: Stage) -> None:
    """The responder is told that the reminder is taken care of; its confirmation stands below the answer."""
    turn = await stage.talk.ask("Remind me tomorrow to call Maria. And where does Peter live?")
    stage.talk.responder.script.append(["In Tula."])
    await stage.talk.flow().answer(turn)
    (request,) = stage.talk.responder.asked
    assert any("Call Maria" in line for line in request.system_lines)
    told = await stage.talk.owed()
    assert told[0] == "In Tula."
    assert "Call Maria" in told[1]


async def test_what_one_has_to_do_is_proposed_and_asked_about(stage: Stage) -> None:
    """On a day that is not sure, or on none: it is told of only after a yes. At a stated time it is open at once."""
    await stage.said("I have to send the report next week", "I have to buy milk")
    found = {task.title: task for task in await stage.tasks()}
    assert {title: task.state for title, task in found.items()} == {
        "Send the report": TaskState.PROPOSED,
        "Buy milk": TaskState.PROPOSED,
    }
    assert all(task.next_at is None for task in found.values())
    (only,) = await stage.asked()  # what has no date is not asked about
    assert "Send the report" in only
    now = stage.talk.clock.now()
    teller = service.by_owner(OWNER, now, datetime.min.time().replace(hour=9))
    report = found["Send the report"]
    confirmed = await stage.talk.write(lambda c: service.confirm(c, OWNER, report.id, teller))
    assert confirmed.next_at is not None
    assert confirmed.next_at > now


async def test_promises_of_both_sides_are_open_at_once(stage: Stage) -> None:
    """With a card and its way back, below the answer; the fragment opens none of them twice, nor what was repeated."""
    await stage.said("I promised Anna to send the report by Friday", "Tom promised he'd call me", "обещал Оле книгу")
    await stage.said("I promised Anna to send the report")
    known = {task.title: (task.kind, task.state) for task in await stage.tasks()}
    assert known == {
        "Send the report (Anna)": (TaskKind.PROMISE, TaskState.OPEN),
        "Tom: call me": (TaskKind.WAITING, TaskState.OPEN),
        "Книгу (Оле)": (TaskKind.PROMISE, TaskState.OPEN),
    }
    assert await stage.asked() == []
    said = [one.content for one in await stage.talk.messages() if one.role == "assistant"]
    assert [one.rpartition("\n\n")[2].split(":")[0] for one in said[:2]] == ["🤝 You promised", "⏳ You wait for"]


async def test_what_is_said_to_be_done_is_closed(stage: Stage) -> None:
    """In a later fragment; its question is withdrawn with it."""
    await stage.said("I have to call Maria next week")
    assert len(await stage.asked()) == 1
    await stage.said("I already called Maria")
    (task,) = await stage.tasks()
    assert task.state is TaskState.DONE
    assert await stage.asked() == []
    assert await stage.pending() == []
    assert stage.counted.changed == ["proposed", "done"]


async def test_an_edited_message_moves_its_task(stage: Stage) -> None:
    """It keeps its id and gets the new day; what waits to be told of the old one is withdrawn."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    (before,) = await stage.tasks()
    reminder: dict[str, Any] = {"ref_id": before.id, "dedupe": "of the old hour", "now": stage.talk.clock.now()}
    await stage.talk.write(lambda c: notifications.generate(c, OWNER, NotificationKind.REMINDER, "x", **reminder))
    assert await stage.asked() == ["x"]
    said = next(one for one in await stage.talk.messages() if one.role == "user")
    stage.talk.clock.advance(60)
    await stage.talk.edit(said, "remind me tomorrow at 11 to call Maria")
    stage.talk.clock.advance(120)
    await stage.work_off()
    (after,) = await stage.tasks()
    assert after.id == before.id
    assert after.next_at is not None
    assert before.next_at is not None
    assert after.next_at - before.next_at == 2 * HOUR
    assert await stage.asked() == []


async def test_the_fragment_leaves_a_moment_that_is_about_to_come(stage: Stage) -> None:
    """A task manager tells minutes: read with seconds in the chat, the moment would lie behind it and never be told."""
    stage.talk.clock.advance(35 - stage.talk.clock.now().second % 60)
    await stage.talk.exchange("remind me in 2 minutes to turn off the kettle")
    (before,) = await stage.tasks()
    assert before.next_at is not None
    assert before.next_at.second > 2
    waited = before.next_at.replace(second=1) - stage.talk.clock.now()
    stage.talk.clock.advance(waited.total_seconds())
    await stage.publish()
    assert [one.next_at for one in await stage.tasks()] == [before.next_at]


async def test_what_its_owner_put_elsewhere_stays_there(stage: Stage) -> None:
    """By a button or in the console, before the fragment that holds his messages is read."""
    await stage.talk.exchange("remind me in 40 minutes to call Maria")
    await stage.talk.exchange("remind me tomorrow at 9 to feed the cat")
    call, cat = await stage.tasks()
    now = stage.talk.clock.now()
    teller = service.by_owner(OWNER, now, datetime.min.time().replace(hour=9))
    evening = Schedule(now + 20 * HOUR)
    await stage.talk.write(lambda c: service.postpone(c, OWNER, call.id, now + 3 * HOUR, teller))
    await stage.talk.write(lambda c: service.change(c, OWNER, cat.id, teller, schedule=evening))
    await stage.publish()
    assert {one.id: one.next_at for one in await stage.tasks()} == {call.id: now + 3 * HOUR, cat.id: now + 20 * HOUR}


async def edited(stage: Stage, text: str) -> None:
    """The owner's only message gets other words, and the fragment is read once more."""
    said = next(one for one in await stage.talk.messages() if one.role == "user")
    stage.talk.clock.advance(60)
    await stage.talk.edit(said, text)
    stage.talk.clock.advance(120)


async def test_what_was_put_off_after_an_edit_stays_put_off(stage: Stage) -> None:
    """The edit is read later than the button was pressed; the words it has now are kept, and so is his decision."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    (task,) = await stage.tasks()
    await edited(stage, "remind me tomorrow at 11 to call Mary")
    now = stage.talk.clock.now()
    teller = service.by_owner(OWNER, now, datetime.min.time().replace(hour=9))
    await stage.talk.write(lambda c: service.postpone(c, OWNER, task.id, now + 3 * HOUR, teller))
    await stage.work_off()
    (after,) = await stage.tasks()
    assert (after.title, after.next_at, after.due_at) == ("Call Mary", now + 3 * HOUR, task.due_at)


async def test_an_edit_after_a_put_off_moves_the_task(stage: Stage) -> None:
    """What he says last counts."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    (task,) = await stage.tasks()
    now = stage.talk.clock.now()
    teller = service.by_owner(OWNER, now, datetime.min.time().replace(hour=9))
    await stage.talk.write(lambda c: service.postpone(c, OWNER, task.id, now + 3 * HOUR, teller))
    await edited(stage, "remind me tomorrow at 11 to call Maria")
    await stage.work_off()
    assert task.next_at is not None
    assert [one.next_at for one in await stage.tasks()] == [task.next_at + 2 * HOUR]


async def test_an_edit_to_an_hour_that_is_over_is_told_at_once(stage: Stage) -> None:
    """It was to be told two hours ago: he hears of it now, and not never."""
    stage.talk.clock.set(stage.talk.clock.now().replace(hour=15))
    await stage.said("remind me today at 20:00 to call Maria")
    await edited(stage, "remind me today at 13:00 to call Maria")
    await stage.work_off()
    (task,) = await stage.tasks()
    assert (task.state, task.next_at) == (TaskState.OPEN, stage.talk.clock.now())


async def test_an_edit_to_a_day_that_is_over_leaves_the_task_where_it_is(stage: Stage) -> None:
    """A reminder does not vanish; that it was not moved is told as an event."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    (before,) = await stage.tasks()
    await edited(stage, "remind me on 2 January 2026 at 9 to call Maria")
    await stage.work_off()
    (after,) = await stage.tasks()
    assert (after.state, after.next_at, after.due_at) == (TaskState.OPEN, before.next_at, before.due_at)
    assert stage.counted.refused == ["past"]
    assert [one.payload["reason"] for one in await stage.talk.events("operation_refused")] == ["past"]


async def test_what_an_edited_message_says_no_more_is_taken_back(stage: Stage) -> None:
    """A proposal goes, a reminder is cancelled."""
    await stage.said("remind me tomorrow at 9 to call Maria", "I have to buy milk")
    for said in [one for one in await stage.talk.messages() if one.role == "user"]:
        stage.talk.clock.advance(60)
        await stage.talk.edit(said, "It is raining.")
    stage.talk.clock.advance(300)
    await stage.work_off()
    assert [task.state for task in await stage.tasks()] == [TaskState.CANCELLED]
    assert await stage.asked() == []


async def test_the_cursor_moves_with_the_effects(stage: Stage) -> None:
    """It names the run and the fragment."""
    await stage.said("I have to buy milk")
    mine = agent_state.agent_id("task_manager", OWNER)
    cursor = await stage.talk.read(lambda c: agent_value(c, mine, "cursor"))
    said = next(one for one in await stage.talk.messages() if one.role == "user")
    assert cursor is not None
    assert cursor["fragment"] == said.episode_id
    assert [one.payload["tasks"] for one in await stage.talk.events("agent_result") if "tasks" in one.payload] == [
        {"proposed": 1}
    ]


async def test_a_task_is_forgotten_with_its_message(stage: Stage) -> None:
    """Out of sight at once, back with an undo, gone for good when it is erased."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    said = next(one for one in await stage.talk.messages() if one.role == "user")
    now = stage.talk.clock.now()
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", said.id, now=now))
    assert await stage.tasks() == []
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert len(await stage.tasks()) == 1
    await stage.talk.write(lambda c: erase.erase_messages(c, OWNER, [said.id], now=now))
    assert await stage.tasks() == []
    assert "Maria" not in json.dumps(await stage.pending())


async def test_a_task_of_another_owner_is_not_seen(stage: Stage) -> None:
    """Neither in lists nor by its id."""
    await stage.said("remind me tomorrow at 9 to call Maria")
    (task,) = await stage.tasks()
    assert await stage.talk.read(lambda c: tasks.listing(c, OTHER)) == []
    assert await stage.talk.read(lambda c: tasks.get(c, OTHER, task.id)) is None
