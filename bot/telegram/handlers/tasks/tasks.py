"""/tasks: the list of tasks by time, a task's card and actions; /tasks add."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from aiogram import Router
from aiogram.dispatcher.event.bases import SkipHandler
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import NO_WAY_BACK, SEVERAL_TASKS, Rows, TaskButton, TasksButton, TaskTap, button
from bot.telegram.handlers.cards import CancelAllButton, MoveTaskButton, task_card
from bot.telegram.handlers.facts.fact_text import number_rows, numbered
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.people.find import answer_text, reads_like_sentence
from bot.telegram.handlers.services import Services
from bot.telegram.handlers.tasks.task_text import PAST, card, confirmation, task_line
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.errors import Refused
from internal.events import repository as events
from internal.events.trigger import current_trigger
from internal.flows.tasks import actions
from internal.flows.tasks.parse import TypedTask
from internal.flows.turn.commands.apply import change_task
from internal.flows.turn.commands.model import Changed
from internal.tasks import repository, service
from internal.tasks.model import Postponement, Schedule, Task, TaskState, postponed, time_of_day

_PENDING: Final = (TaskState.PROPOSED, TaskState.OPEN)
_CLOSED: Final = (TaskState.DONE, TaskState.CANCELLED)
_ADD: Final = re.compile(r"(?:add|new|добавь|добавить|додай|додати|нова|новая)\b[\s:,-]*", re.IGNORECASE)
_LATER: Final[Mapping[TaskTap, Postponement]] = {
    TaskTap.HOUR: "hour",
    TaskTap.TOMORROW: "tomorrow",
    TaskTap.WEEK: "week",
}


async def tasks_command(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    words = (command.args or "").strip()
    if not words:
        await chat.say(*await _listing(chat.user, services))
        return
    task_words = _ADD.sub("", words, count=1)
    if not task_words:
        await ask(chat, services, AwaitedAnswer("task"), phrase(chat.user.lang, "task-ask"))
        return
    await _add(task_words, chat, services)


async def task_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    await _add(answer_text(message), chat, services)


async def _add(words: str, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    read = await services.task_words.task(words, user, now)
    task = await services.write(lambda c: _create(c, user, read, now, services))
    await chat.say(*confirmation(user, task, now))


def _create(connection: Connection, user: User, read: TypedTask, now: datetime, services: Services) -> Task:
    """The new task, or the one already created by an aborted run of this command."""
    before = repository.opened_by(connection, user.user_id, events.led_to(connection, current_trigger()))
    if before is not None:
        return before
    new, teller = service.NewTask(read.title, read.schedule, read.kind), _occurrence_context(user, services, now)
    task = service.open_task(connection, user.user_id, new, teller)
    if task.due_at is not None and task.next_at is None:
        raise Refused("past", "that moment is over")
    return task


async def page_pressed(query: CallbackQuery, callback_data: TasksButton, chat: Chat, services: Services) -> None:
    shown = await _listing(chat.user, services, callback_data.page, past=callback_data.past)
    await chat.edit(*shown)


async def _listing(user: User, services: Services, page: int = 0, *, past: bool = False) -> tuple[str, Rows]:
    states, others = (_CLOSED, _PENDING) if past else (_PENDING, _CLOSED)
    now = services.clock.now()

    def read(connection: Connection) -> tuple[list[Task], int, int, int]:
        count = repository.count(connection, user.user_id, states)
        other = repository.count(connection, user.user_id, others)
        here = clamp(page, count)
        found = repository.listing(connection, user.user_id, states=states, limit=PAGE, offset=here * PAGE)
        return found, count, other, here

    found, count, other, here = await services.read(read)
    kind = "-past" if past else ""
    if count:
        lines = numbered([task_line(user, one, now) for one in found], here * PAGE + 1)
        text = f"{phrase(user.lang, f'tasks-title{kind}', count=count)}\n\n{lines}"
    else:
        text = phrase(user.lang, f"tasks-none{kind}")
    back_to = f"{PAST if past else ''}{here}"
    shown = [TaskButton(owner=user.user_id, task=one.id, tap=TaskTap.SHOW, back_to=back_to) for one in found]
    rows: Rows = number_rows([button(str(n), one) for n, one in enumerate(shown, here * PAGE + 1)])
    data = TasksButton(owner=user.user_id, past=past)
    rows += page_row(user.lang, here, count, lambda to: data.model_copy(update={"page": to}))
    if other or past:
        words = label(user.lang, "tasks-button-current" if past else "tasks-button-past", count=other)
        rows.append([button(words, TasksButton(owner=user.user_id, past=not past))])
    return text, rows


async def action_pressed(query: CallbackQuery, callback_data: TaskButton, chat: Chat, services: Services) -> None:
    """Carries out the pressed action and shows the task."""
    user, now, data = chat.user, services.clock.now(), callback_data
    if data.tap is TaskTap.CHANGE:
        await services.read(lambda c: service.task(c, user.user_id, data.task))
        await ask(chat, services, AwaitedAnswer("task_when", {"task": data.task}), phrase(user.lang, "task-ask-when"))
        return
    task, context = await services.write(lambda c: _mark_done(c, user, data, services, now))
    await chat.toast("" if data.tap is TaskTap.SHOW else label(user.lang, f"task-now-{data.tap.name.casefold()}"))
    if data.back_to == SEVERAL_TASKS:
        await chat.say(*card(user, task, now, context))
    else:
        await chat.edit(*card(user, task, now, context, data.back_to))


def _mark_done(
    connection: Connection, user: User, data: TaskButton, services: Services, now: datetime
) -> tuple[Task, actions.TaskContext]:
    teller, user_id = _occurrence_context(user, services, now), user.user_id
    match data.tap:
        case TaskTap.CONFIRM:
            task = actions.confirm(connection, user_id, data.task, teller)
        case TaskTap.DONE:
            task = actions.mark_done(connection, user_id, data.task, teller)
        case TaskTap.CANCEL:
            task = actions.cancel(connection, user_id, data.task, teller)
        case TaskTap.REOPEN:
            task = service.reopen(connection, user_id, data.task, teller)
        case TaskTap.HOUR | TaskTap.TOMORROW | TaskTap.WEEK:
            moment = postponed(_LATER[data.tap], now, user.tz, teller.whole_day_at)
            task = actions.postpone(connection, user_id, data.task, moment, teller)
        case _:
            task = service.task(connection, user_id, data.task)
    return task, actions.context_of(connection, task)


async def move_pressed(query: CallbackQuery, callback_data: MoveTaskButton, chat: Chat, services: Services) -> None:
    """Moves a task to the time on the button and offers to undo that."""
    user, now, data = chat.user, services.clock.now(), callback_data
    due = datetime.fromtimestamp(data.at, UTC) if data.at else None
    schedule = Schedule(due, data.whole_day, None, user.tz)

    def work(connection: Connection) -> Changed:
        before = service.task(connection, user.user_id, data.task)
        if before.state.closed:
            raise Refused("task_closed", "that task is closed")
        author = _occurrence_context(user, services, now)
        return Changed(change_task(connection, before, "move", schedule, author), before)

    changed = await services.write(work)
    await chat.edit(*task_card(user, "move", changed, now))


async def cancel_all_pressed(
    query: CallbackQuery, callback_data: CancelAllButton, chat: Chat, services: Services
) -> None:
    """Cancels the tasks that were open when the question was asked; each can be reopened among the past ones."""
    user, now = chat.user, services.clock.now()

    def work(connection: Connection) -> int:
        author = _occurrence_context(user, services, now)
        before = datetime.fromtimestamp(callback_data.before + 1, UTC)
        found = [one for one in repository.pending(connection, user.user_id) if one.created_at < before]
        for one in found:
            actions.cancel(connection, user.user_id, one.id, author)
        return len(found)

    count = await services.write(work)
    await chat.edit(phrase(user.lang, "task-cancelled-all", count=count), [])


async def time_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    """Sets a new time for a task; a sentence without one is not an answer."""
    user, now, words = chat.user, services.clock.now(), answer_text(message)
    schedule = await services.task_words.schedule(words, user, now)
    if schedule is None and reads_like_sentence(words):
        raise SkipHandler
    if schedule is None:
        await ask(chat, services, awaiting, phrase(user.lang, "task-when-unknown"))
        return
    try:
        task, context = await services.write(
            lambda c: _reschedule(c, user, awaiting.details["task"], schedule, services, now)
        )
    except Refused as refusal:
        if refusal.reason != "past":
            raise
        await ask(chat, services, awaiting, phrase(user.lang, "refused-past"))
        return
    await chat.say(*card(user, task, now, context, NO_WAY_BACK))


def _reschedule(
    connection: Connection, user: User, task_id: str, schedule: Schedule, services: Services, now: datetime
) -> tuple[Task, actions.TaskContext]:
    teller = _occurrence_context(user, services, now)
    if service.task(connection, user.user_id, task_id).state.closed:
        raise Refused("task_closed", "that task is closed")
    task = actions.reschedule(connection, user.user_id, task_id, schedule, teller)
    return task, actions.context_of(connection, task)


def _occurrence_context(user: User, services: Services, now: datetime) -> service.TaskAuthor:
    return service.by_owner(user.user_id, now, time_of_day(services.config.notifications.whole_day_at))


def router() -> Router:
    built = Router(name="tasks")
    built.message.register(tasks_command, Command("tasks", "task", ignore_mention=True, ignore_case=True))
    built.message.register(task_typed, Answers("task"))
    built.message.register(time_typed, Answers("task_when"))
    built.callback_query.register(page_pressed, TasksButton.filter())
    built.callback_query.register(action_pressed, TaskButton.filter())
    built.callback_query.register(cancel_all_pressed, CancelAllButton.filter())
    built.callback_query.register(move_pressed, MoveTaskButton.filter())
    return built
