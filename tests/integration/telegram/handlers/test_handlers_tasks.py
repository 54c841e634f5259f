"""/tasks and /quiet in three languages: listed by time, added by words, done, put off and cancelled by taps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection
from support.interfaces.handler_stage import World, only

from bot.telegram.handlers.account.quiet import hours_in
from bot.telegram.handlers.tasks.task_text import grouped_reminder_buttons
from bot.telegram.i18n import label
from internal.access import service as access
from internal.access.model import LANGUAGES, Language
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskState

ADDED = {
    "ru": ("/tasks add купить хлеб завтра в 9", "Купить хлеб"),
    "uk": ("/tasks add купити хліб завтра о 9", "Купити хліб"),
    "en": ("/tasks add buy bread tomorrow at 9", "Buy bread"),
}


async def the_task(world: World, user_id: int = 1) -> Task:
    (found,) = await world.read(lambda c: tasks.listing(c, user_id))
    return found


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_task_is_added_listed_and_done_by_a_tap(world: World, lang: Language) -> None:
    """From the words to the list of what is done."""
    await world.admit(2, "Taras", lang)
    words, title = ADDED[lang]
    said = only(await world.send(words, 2))
    assert title in said.text
    listed = only(await world.send("/tasks", 2))
    assert title in listed.text
    card = (await world.press(listed.buttons["1"], 2))[-1]
    done = (await world.press(card.buttons[label(lang, "task-button-done")], 2))[-1]
    assert (await the_task(world, 2)).state is TaskState.DONE
    back = (await world.press(done.buttons[label(lang, "task-button-back")], 2))[-1]
    past = (await world.press(back.buttons[label(lang, "tasks-button-past", count=1)], 2))[-1]
    assert title in past.text


async def test_a_task_is_put_off_changed_and_cancelled(world: World) -> None:
    """By an hour, to a time in words, for good; and it is opened again."""
    await world.admit(1, "Olena")
    said = only(await world.send("/tasks add call mum on 5 December at 9"))
    listed = only(await world.send("/tasks"))
    card = (await world.press(listed.buttons["1"]))[-1]
    later = (await world.press(card.buttons["In an hour"]))[-1]
    assert (await the_task(world)).next_at == world.clock.now() + timedelta(hours=1)
    asked = (await world.press(later.buttons["Another time"]))[-1]
    assert asked.force_reply
    moved = only(await world.send("every Monday at 10"))
    assert "every Monday" in moved.text
    await world.press(said.buttons["✕ Cancel"])
    assert (await the_task(world)).state is TaskState.CANCELLED


async def test_of_reminders_told_together_each_has_its_own_buttons(world: World) -> None:
    """What tells several stays as it is: the one that was tapped is told below, with all that can be done with it."""
    await world.admit(1, "Olena")
    await world.send("/tasks add call mum on 5 December at 9")
    (row,) = grouped_reminder_buttons(await world.user(1), await the_task(world))
    assert [one["text"] for one in row] == ["✓ Call mum", "More…"]
    done, more = [one["callback_data"] for one in row]
    shown = (await world.press(more))[-1]
    assert (shown.how, shown.text.splitlines()[0]) == ("say", "Call mum")
    assert label("en", "task-button-week") in shown.buttons
    told = (await world.press(done))[-1]
    assert (told.how, (await the_task(world)).state) == ("say", TaskState.DONE)
    await world.press(told.buttons[label("en", "task-button-reopen")])
    assert (await the_task(world)).state is TaskState.OPEN


async def test_whoever_moves_to_another_zone_keeps_his_days(world: World) -> None:
    """The day of a task is that day on the new clock."""
    await world.admit(1, "Olena")
    await world.send("/tasks add call mum on 5 December")
    await world.send("/timezone Asia/Tokyo")
    task = await the_task(world)
    assert (task.whole_day, task.tz) == (True, "Asia/Tokyo")
    assert task.due_at == datetime(2026, 12, 4, 15, tzinfo=UTC)
    assert task.next_at == datetime(2026, 12, 5, tzinfo=UTC)


async def test_what_is_no_time_is_asked_again_and_a_sentence_is_no_answer(world: World) -> None:
    """Whoever says something else meanwhile is talking to the companion."""
    await world.admit(1, "Olena")
    said = only(await world.send("/tasks add call mum tomorrow"))
    await world.press(said.buttons["Another time"])
    again = only(await world.send("blue"))
    assert again.force_reply
    assert only(await world.send("I was at the sea with Peter yesterday, it was lovely.")).how == "unhandled"


async def test_nothing_is_promised_for_a_day_that_is_over(world: World) -> None:
    """He is told so, and no task is opened."""
    await world.admit(1, "Olena")
    assert only(await world.send("/tasks add call mum on 5 November 2020")).text == "That time has already passed."
    assert await world.read(lambda c: tasks.listing(c, 1)) == []


async def test_a_time_that_is_over_is_asked_again(world: World) -> None:
    """The task stays where it is until he names one that is still ahead."""
    await world.admit(1, "Olena")
    said = only(await world.send("/tasks add call mum on 5 December at 9"))
    before = await the_task(world)
    await world.press(said.buttons["Another time"])
    again = only(await world.send("on 5 November 2026 at 9"))
    assert (again.text, again.force_reply) == ("That time has already passed.", True)
    assert await the_task(world) == before
    await world.send("on 6 December at 9")
    assert (await the_task(world)).next_at == datetime(2026, 12, 6, 9, tzinfo=UTC)


async def test_somebody_elses_task_cannot_be_touched(world: World) -> None:
    """A button made for another is refused, and nothing changes."""
    await world.admit(1, "Olena")
    await world.admit(2, "Taras")
    said = only(await world.send("/tasks add call mum tomorrow"))
    await world.press(said.buttons["✕ Cancel"], 2)
    assert (await the_task(world)).state is TaskState.OPEN


async def test_a_command_that_comes_again_opens_nothing_more(world: World) -> None:
    """As after a crash behind its effect: the same answer, one task; the same words in another message are another."""
    await world.admit(1, "Olena")
    first = only(await world.send("/tasks add buy milk"))
    assert only(await world.again()) == first
    await the_task(world)
    await world.send("/tasks add buy milk")
    assert len(await world.read(lambda c: tasks.listing(c, 1))) == 2


async def test_a_task_needs_words(world: World) -> None:
    """A time alone is none; without any words it is asked what has to be done."""
    await world.admit(1, "Olena")
    assert "/tasks add" in only(await world.send("/tasks add tomorrow")).text
    assert only(await world.send("/tasks add")).force_reply
    assert "Buy milk" in only(await world.send("buy milk")).text


@pytest.mark.parametrize(
    ("typed", "hours"),
    [
        ("23-7", "23:00-07:00"),
        ("22:30 – 08:00", "22:30-08:00"),
        ("from 9 to 11", "09:00-11:00"),
        ("off", ""),
        ("вимкнути", ""),
        ("выкл", ""),
        ("25-3", None),
        ("hello", None),
    ],
)
def test_quiet_hours_are_read_as_typed(typed: str, hours: str | None) -> None:
    """Two hours, or none at all."""
    assert hours_in(typed) == hours


async def test_quiet_hours_are_set_by_words_and_by_taps(world: World) -> None:
    """Each user has his own."""
    await world.admit(1, "Olena")
    await world.send("/quiet 23-7")
    assert access.quiet_hours(await world.user(), "22:00-08:00") == "23:00-07:00"
    asked = only(await world.send("/quiet"))
    await world.press(asked.buttons["No quiet hours"])
    assert access.quiet_hours(await world.user(), "22:00-08:00") == ""
    asked = only(await world.send("/quiet"))
    await world.press(asked.buttons["21:00-07:00"])
    assert access.quiet_hours(await world.user(), "22:00-08:00") == "21:00-07:00"


@pytest.mark.parametrize("command", ["/quiet off", "/timezone Asia/Tokyo"])
async def test_what_waited_for_other_quiet_hours_is_looked_at_again(world: World, command: str) -> None:
    """At once; what was put off for another reason waits on."""
    await world.admit(1, "Olena")
    now = world.clock.now()
    until = now + timedelta(hours=8)

    def put_off(connection: Connection, reason: str) -> str:
        made = notifications.generate(connection, 1, NotificationKind.CONFIRM, "Meant?", now=now, dedupe=reason)
        assert made is not None
        notifications.defer(connection, 1, [made], until, reason, now)
        return made

    quiet = await world.write(lambda c: put_off(c, notifications.QUIET))
    busy = await world.write(lambda c: put_off(c, "busy"))
    await world.send(command)
    found = {one.id: one.not_before for one in await world.read(lambda c: notifications.listing(c, 1))}
    assert found[quiet] <= world.clock.now()
    assert found[busy] == until
