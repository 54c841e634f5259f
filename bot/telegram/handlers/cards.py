"""The cards that end a turn in which plain words or a model's tools asked for a change, as the commands show them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.account.forget import choose_person, confirmation, fact_confirmation
from bot.telegram.handlers.account.undo import changes_shown
from bot.telegram.handlers.buttons import (
    NO_WAY_BACK,
    ForgetFactButton,
    ForgetMemoryButton,
    Id,
    KeepButton,
    Owned,
    Rows,
    TaskButton,
    TaskTap,
    button,
)
from bot.telegram.handlers.companion.birthdays import birthdays_shown
from bot.telegram.handlers.companion.brief_button import brief_button
from bot.telegram.handlers.companion.today import brief_shown
from bot.telegram.handlers.empty_lists import nothing_yet
from bot.telegram.handlers.facts.about_owner import about_owner
from bot.telegram.handlers.facts.correct import choose_fact, sure_question
from bot.telegram.handlers.facts.fact_text import fact_lines, number_rows, numbered, quotable, shorten
from bot.telegram.handlers.groups.share import shared_shown
from bot.telegram.handlers.paging import PAGE
from bot.telegram.handlers.tasks.task_text import card_rows, task_line, when_words
from bot.telegram.i18n import day, has_phrase, label, phrase
from bot.telegram.rendering import escape, render
from internal.access.model import User
from internal.dialogue.model import Turn
from internal.flows.turn.commands.model import ActionCard, Changed, ChangeTask, Correct, Forget, ShowTasks
from internal.graph.model import Node
from internal.language.commands.vocabulary import Page
from internal.people.repository import by_ids
from internal.tasks.model import Schedule, Task

_SECTIONS = {"promise": "agenda-promises", "waiting": "agenda-waiting", "contact": "agenda-contacts"}
_TAPS = {"done": TaskTap.DONE, "cancel": TaskTap.CANCEL}


class MoveTaskButton(Owned, prefix="tm", command="/tasks"):
    """Moves a task to `at`, in seconds since 1970 (0 = no time). Also undoes such a change."""

    task: Id
    at: int
    whole_day: bool = False


class CancelAllButton(Owned, prefix="ta", command="/tasks"):
    """Cancels the tasks opened before `before`, in seconds since 1970, when the button was shown."""

    before: int


class CalledButton(Owned, prefix="cn", command="name"):
    """Removes the name by which the owner asked to be called."""


class TelegramCards:
    """Implements `Cards`."""

    def forget(self, connection: Connection, user: User, asked: Forget) -> ActionCard:
        if asked.everything:
            return _card(confirmation(user, None, 0))
        if len(asked.people) == 1:
            return _card(confirmation(user, asked.people[0], asked.messages))
        if asked.people:
            return _card(choose_person(user, asked.words, asked.people))
        data = [ForgetFactButton(owner=user.user_id, fact=one.id) for one in asked.facts]
        if len(data) == 1:
            return _card(fact_confirmation(user, asked.facts[0], data[0]))
        if data:
            rows = number_rows([button(str(number), one) for number, one in enumerate(data, start=1)])
            return _card((f"{phrase(user.lang, 'forget-choose')}\n\n{numbered(fact_lines(user, asked.facts))}", rows))
        text = phrase(user.lang, "forget-nothing", what=shorten(quotable(asked.words), 64))
        return _card((nothing_yet(connection, user, text), []))

    def choose_task(
        self, user: User, asked: ChangeTask, schedule: Schedule | None, found: Sequence[Task]
    ) -> ActionCard:
        rows: Rows = []
        for one in found:
            data: TaskButton | MoveTaskButton
            if asked.how == "move" and schedule is not None and schedule.due_at is not None:
                data = _move_button(user, one, schedule.due_at, whole_day=schedule.whole_day)
            else:
                tap = _TAPS.get(asked.how, TaskTap.SHOW)
                data = TaskButton(owner=user.user_id, task=one.id, tap=tap, back_to=NO_WAY_BACK)
            rows.append([button(shorten(quotable(one.title), 40), data)])
        return _card((phrase(user.lang, "task-choose", how=asked.how), rows))

    def cancel_all(self, user: User, found: Sequence[Task]) -> ActionCard:
        before = int(max(one.created_at for one in found).timestamp())
        yes = button(label(user.lang, "task-button-cancel-all"), CancelAllButton(owner=user.user_id, before=before))
        no = button(label(user.lang, "task-button-cancel-proposed"), KeepButton(owner=user.user_id))
        lines = "\n".join(f"• {escape(quotable(one.title))}" for one in found[:PAGE])
        return _card((f"{phrase(user.lang, 'task-cancel-all', count=len(found))}\n\n{lines}", [[yes, no]]))

    def task(self, user: User, how: str, changed: Changed, now: datetime) -> ActionCard:
        return _card(task_card(user, how, changed, now))

    def refused(self, user: User, reason: str) -> ActionCard:
        key = f"refused-{reason}"
        return _card((phrase(user.lang, key if has_phrase(key) else "refused-other"), []))

    def undone(self, user: User) -> ActionCard:
        return _card((phrase(user.lang, "claim-undone"), []))

    def called(self, user: User, name: str) -> ActionCard:
        undo = button(label(user.lang, "forget-button-undo"), CalledButton(owner=user.user_id))
        return _card((phrase(user.lang, "called", name=name), [[undo]]))

    def correct(self, user: User, asked: Correct) -> ActionCard:
        if asked.coming is None:
            return _card(choose_fact(user, asked.facts))
        return _card(sure_question(user, asked.coming, asked.words))

    def remembered(self, user: User, node: Node) -> ActionCard:
        data = ForgetMemoryButton(owner=user.user_id, node=node.id)
        text = phrase(user.lang, "remembered", text=quotable(str(node.properties.get("content", ""))))
        return _card((text, [[button(label(user.lang, "fact-button-forget"), data)]]))

    def owner(self, connection: Connection, user: User, now: datetime) -> ActionCard:
        return _card(about_owner(connection, user, now))

    def page(self, connection: Connection, user: User, page: Page, turn: Turn, now: datetime) -> ActionCard:
        if page == "shared":
            return _card((shared_shown(connection, user, (turn.bot_id, turn.chat_id)), []))
        return _card((changes_shown if page == "changes" else birthdays_shown)(connection, user, now))

    def brief(self, connection: Connection, user: User, people: Sequence[int], now: datetime) -> ActionCard:
        if len(people) == 1:
            return _card(brief_shown(connection, user, people[0], now))
        known = by_ids(connection, user.user_id, people).values()
        rows: Rows = [[brief_button(user, one.id, one.display_name)] for one in known]
        return _card((phrase(user.lang, "brief-ask"), rows))

    def tasks(self, user: User, asked: ShowTasks, found: Sequence[Task], now: datetime) -> ActionCard:
        if not found and not asked.plans:
            none = "tasks-none" if asked.first is None else "tasks-none-then"
            return _card((phrase(user.lang, none if asked.kind is None else f"tasks-none-{asked.kind.value}"), []))
        shown = found[:PAGE]
        lines = numbered([task_line(user, one, now) for one in shown])
        ids = [TaskButton(owner=user.user_id, task=one.id, tap=TaskTap.SHOW) for one in shown]
        rows = number_rows([button(str(number), one) for number, one in enumerate(ids, start=1)])
        title = phrase(user.lang, "tasks-title", count=len(found))
        if asked.kind is not None:
            title = f"**{phrase(user.lang, _SECTIONS[asked.kind])}**"
        text = [title, lines] if found else []
        if quoted := [
            f"• {phrase(user.lang, 'source-quote', text=quotable(one))} ({day(user.lang, at.date())})"
            for one, at in asked.plans[-PAGE:]
        ]:
            text.append("\n".join([phrase(user.lang, "about-owner-said"), *quoted]))
        return _card(("\n\n".join(text), rows))


def task_card(user: User, how: str, changed: Changed, now: datetime) -> tuple[str, Rows]:
    """A task after it was done, cancelled or moved, with a button to undo that; `when` asks for a time."""
    task, before = changed.task, changed.before
    text = phrase(user.lang, f"task-acted-{how}", title=task.title, when=when_words(user, task, now))
    rows = card_rows(user, task)
    if how == "move":
        at = before.when if before.recurrence is not None else before.due_at
        back = _move_button(user, task, at, whole_day=before.whole_day and before.recurrence is None)
        rows = [[button(label(user.lang, "forget-button-undo"), back)], rows[-1]]
    return text, rows


def _move_button(user: User, task: Task, at: datetime | None, *, whole_day: bool) -> MoveTaskButton:
    seconds = 0 if at is None else int(at.timestamp())
    return MoveTaskButton(owner=user.user_id, task=task.id, at=seconds, whole_day=whole_day)


def _card(shown: tuple[str, Rows]) -> ActionCard:
    text, rows = shown
    return ActionCard(render(text), buttons(rows))
