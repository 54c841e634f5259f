"""Tasks as text: a line in a list, a card, a question; with their buttons."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_skeleton, format_time

from bot.shared.recurrence_words import repeat_words
from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.buttons import (
    NO_WAY_BACK,
    SEVERAL_TASKS,
    Button,
    Rows,
    TaskButton,
    TasksButton,
    TaskTap,
    button,
)
from bot.telegram.handlers.companion.brief_button import brief_button
from bot.telegram.handlers.facts.fact_text import message_line, quotable, shorten
from bot.telegram.i18n import has_phrase, label, phrase
from bot.telegram.rendering import escape, render
from internal.access.model import Language, User
from internal.dialogue.mailbox.model import Rendered
from internal.flows.tasks.actions import TaskContext
from internal.tasks.model import Task, TaskKind, TaskState

PAST: Final = "p"
_ON_A_BUTTON: Final = 30
"""The most characters of a title that a phone still shows beside another button."""


def when_words(user: User, task: Task, now: datetime) -> str:
    """When a task is due: "tomorrow, 09:00 · every Monday"; empty for one without a date."""
    again = "" if task.recurrence is None else repeat_words(task.recurrence, partial(label, user.lang))
    return " · ".join(one for one in (_moment_words(user, task, now), again) if one)


def _moment_words(user: User, task: Task, now: datetime) -> str:
    if task.when is None:
        return ""
    moment = task.when.astimezone(ZoneInfo(user.tz))
    whole = task.whole_day and task.when == task.due_at
    day = day_words(user.lang, moment, now.astimezone(ZoneInfo(user.tz)))
    words = day if whole else f"{day}, {format_time(moment, 'short', locale=Locale(user.lang))}"
    over = task.state is TaskState.OPEN and moment.date() < now.astimezone(ZoneInfo(user.tz)).date()
    return label(user.lang, "task-overdue", when=words) if over else words


def day_words(lang: Language, moment: datetime, now: datetime) -> str:
    """Today, tomorrow, or the day with its weekday; both dates are in the user's zone."""
    ahead = (moment.date() - now.date()).days
    if 0 <= ahead <= 1:
        return label(lang, "task-today" if ahead == 0 else "task-tomorrow")
    skeleton = "MMMEd" if abs(moment.date() - now.date()) < timedelta(days=300) else "yMMMEd"
    return str(format_skeleton(skeleton, moment, locale=Locale(lang)))


def task_line(user: User, task: Task, now: datetime) -> str:
    """One line of a list."""
    mark = {TaskState.PROPOSED: "❔ ", TaskState.DONE: "✓ ", TaskState.CANCELLED: "✕ "}.get(task.state, "")
    when = "" if task.state.closed else when_words(user, task, now)
    title = escape(quotable(task.title))
    return f"{mark}{title} — {escape(when)}" if when else f"{mark}{title}"


def card(user: User, task: Task, now: datetime, context: TaskContext, back_to: str = NO_WAY_BACK) -> tuple[str, Rows]:
    """A task with its buttons, the person it is about, and the words that state it."""
    lines = [f"**{escape(task.title)}**"]
    if task.details:
        lines.append(escape(shorten(task.details, 500)))
    lines.append(escape(when_words(user, task, now)) or phrase(user.lang, "task-no-date"))
    if context.person is not None:
        lines.append(phrase(user.lang, "task-person", name=context.person))
    lines.append(phrase(user.lang, f"task-state-{task.state.value}"))
    if context.said is not None:
        lines.append(message_line(user, context.said))
    return "\n".join(lines), [*card_rows(user, task, back_to), *_back_button(user, back_to)]


def card_rows(user: User, task: Task, back_to: str = NO_WAY_BACK) -> Rows:
    """The buttons of a task."""
    if task.state.closed:
        return [[_action_button(user, task, TaskTap.REOPEN, back_to)]]
    if task.state is TaskState.PROPOSED:
        return [_row(user, task, back_to, TaskTap.CONFIRM, TaskTap.CHANGE, TaskTap.CANCEL)]
    return [
        _row(user, task, back_to, TaskTap.DONE, TaskTap.HOUR),
        _row(user, task, back_to, TaskTap.TOMORROW, TaskTap.WEEK),
        _row(user, task, back_to, TaskTap.CHANGE, TaskTap.CANCEL),
    ]


def confirmation(user: User, task: Task | str, now: datetime) -> tuple[str, Rows]:
    """The message after a reminder was requested in the chat, or (for a key) why it was not created."""
    if isinstance(task, str):
        key = f"refused-{task}"
        return phrase(user.lang, key if has_phrase(key) else "refused-other"), []
    if (kind := task.kind) in (TaskKind.PROMISE, TaskKind.WAITING, TaskKind.CONTACT):
        text = phrase(user.lang, f"task-opened-{kind.value}", title=task.title)
        text += f" — {escape(when)}" if (when := when_words(user, task, now)) else ""
        return text, [_row(user, task, NO_WAY_BACK, TaskTap.CHANGE, TaskTap.CANCEL)]
    if task.when is None:
        text = phrase(user.lang, "task-opened-undated", title=task.title)
        times = _row(user, task, NO_WAY_BACK, TaskTap.HOUR, TaskTap.TOMORROW, TaskTap.WEEK)
        return text, [times, _row(user, task, NO_WAY_BACK, TaskTap.CHANGE, TaskTap.CANCEL)]
    text = phrase(user.lang, "task-opened", title=task.title, when=when_words(user, task, now))
    return text, [_row(user, task, NO_WAY_BACK, TaskTap.CHANGE, TaskTap.CANCEL)]


def confirmation_in_turn(
    user: User, task: Task | str, now: datetime, unread: str = ""
) -> tuple[Rendered, list[list[dict[str, Any]]]]:
    """Returns `confirmation` in the form of the outbox, with the words of a time that could not be read."""
    text, rows = confirmation(user, task, now)
    if unread and rows:
        text += f"\n\n{phrase(user.lang, 'task-time-unread', words=unread)}"
    [part] = render(text)
    return part, list(buttons(rows) or [])


def question(user: User, task: Task, now: datetime) -> tuple[str, list[list[dict[str, str]]]]:
    """The question whether a task is meant, as plain text, with its buttons."""
    text = label(user.lang, "task-question", title=quotable(task.title), when=when_words(user, task, now))
    return text, buttons([_row(user, task, NO_WAY_BACK, TaskTap.CONFIRM, TaskTap.CHANGE, TaskTap.CANCEL)]) or []


def reminder_buttons(user: User, task: Task) -> list[list[dict[str, str]]]:
    """The buttons below a reminder."""
    rows = [
        _row(user, task, NO_WAY_BACK, TaskTap.DONE, TaskTap.HOUR),
        _row(user, task, NO_WAY_BACK, TaskTap.TOMORROW, TaskTap.WEEK),
    ]
    if task.recurrence:
        rows.append([_action_button(user, task, TaskTap.CANCEL, NO_WAY_BACK)])
    if task.person_id is not None:
        rows.append([brief_button(user, task.person_id)])
    return buttons(rows) or []


def grouped_reminder_buttons(user: User, task: Task) -> list[list[dict[str, str]]]:
    """The buttons below a message with several reminders: done, and the further actions on this task."""
    title = shorten(quotable(task.title), _ON_A_BUTTON)
    data = TaskButton(owner=user.user_id, task=task.id, tap=TaskTap.DONE, back_to=SEVERAL_TASKS)
    done = button(label(user.lang, "task-button-done-together", title=title), data)
    more = button(label(user.lang, "task-button-more"), data.model_copy(update={"tap": TaskTap.SHOW}))
    return buttons([[done, more]]) or []


def _row(user: User, task: Task, back_to: str, *taps: TaskTap) -> list[Button]:
    return [_action_button(user, task, tap, back_to) for tap in taps]


def _action_button(user: User, task: Task, tap: TaskTap, back_to: str) -> Button:
    key = f"task-button-{tap.name.casefold()}"
    if tap is TaskTap.CANCEL:
        key += "-proposed" if task.state is TaskState.PROPOSED else "-repeated" if task.recurrence else ""
    return button(label(user.lang, key), TaskButton(owner=user.user_id, task=task.id, tap=tap, back_to=back_to))


def _back_button(user: User, back_to: str) -> Rows:
    if back_to == NO_WAY_BACK:
        return []
    data = TasksButton(owner=user.user_id, page=int(back_to.removeprefix(PAST) or 0), past=back_to.startswith(PAST))
    return [[button(label(user.lang, "task-button-back"), data)]]
