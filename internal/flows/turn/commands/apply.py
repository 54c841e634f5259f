"""Carries out what plain words or a model's tools ask for in a turn: tasks at once with a way back, the rest by a card.

What loses something ends in buttons: nothing is forgotten or corrected before the owner taps.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import service as access
from internal.access.model import AwaitedAnswer, User
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.errors import Conflict, ModelUnavailable, NotFound, Refused
from internal.events import repository as events
from internal.flows.correcting.facts import FactCorrections
from internal.flows.forgetting.messages_about import messages_about
from internal.flows.tasks import actions
from internal.flows.tasks.parse import schedule_in
from internal.flows.turn.commands.meant_pages import MeantPages
from internal.flows.turn.commands.model import (
    NO_COMMANDS,
    Action,
    ActionCard,
    CallOwner,
    Cards,
    Changed,
    ChangeTask,
    Commands,
    Correct,
    Forget,
    Remember,
    ShowBrief,
    ShowOwner,
    ShowPage,
    ShowTasks,
    Undone,
)
from internal.flows.turn.commands.recognise import Recognised, asks_for, best_facts, object_of, recognise
from internal.flows.turn.enqueue import react
from internal.flows.turn.prompt import PromptInputs
from internal.flows.visibility.messages import messages_shown
from internal.knowledge.model import Fact
from internal.language.commands.plans import plans_within
from internal.language.search.grounding import Proposed, stated, ungrounded
from internal.language.tasks.times import TimeFound
from internal.language.text.spelling import unquoted
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.memory import service as memory
from internal.people import repository as people
from internal.recall.search.knowledge import KnowledgeSearch
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.forgetting.tombstone_repository import any_forgotten
from internal.tasks import repository as tasks
from internal.tasks.model import Schedule, Task, TaskKind, TaskState, time_of_day
from internal.tasks.service import BACK, BEFORE, TaskAuthor, move_back

log = logging.getLogger(__name__)

_OPEN_ENDS: Final = {"waiting": TaskKind.WAITING, "promised": TaskKind.PROMISE, "contacts": TaskKind.CONTACT}
LONGEST: Final = 400
"""Characters of a message in which commands are looked for; more is a story or a pasted text."""
CARD_LASTS: Final = timedelta(minutes=15)
"""How long "cancel it" means what the last card is about."""
READ: Final = 600
"""Newest messages in which plans for a day are looked for."""
OFFERED: Final = 6
"""Buttons of one choice."""
_HALF_DAY: Final = 12
WAITING: Final = "correct-sure"
"""The question that the buttons of a correction answer; it keeps the owner's sentence meanwhile."""


@dataclass(slots=True)
class CommandFlow:
    """Finds commands in questions, and carries out what they and the tools ask for."""

    database: Database
    clock: Clock
    worker: LanguageWorker
    knowledge: KnowledgeSearch
    corrections: FactCorrections
    cards: Cards
    whole_day_at: str
    converses: bool = field(default=True)
    """Whether a model answers: then questions get its words besides the card."""
    speaks: bool = False
    """Whether an answer can be sent as a voice message too."""
    read_first: Callable[[int], Awaitable[bool]] | None = None
    """Has what the owner said archived at once; whether there was anything. Asked where nothing is found to forget."""
    pages: MeantPages | None = None

    async def read(self, question: PromptInputs) -> Commands:
        """The commands of a question in the owner's own words; nothing that was forwarded or quoted counts."""
        own = [one for one in question.asked if one.content and one.forward is None and not one.hidden]
        texts = [
            (one.id, words, one.timestamp.astimezone(ZoneInfo(question.user.tz)))
            for one in own
            if len(words := unquoted(one.content)) <= LONGEST
        ]
        if not texts:
            return NO_COMMANDS
        try:
            found, only = await self._recognised(question, own, texts)
            acts = [await self._action(question.user, one) for one in found]
            nothing = any(_found_nothing(one, act) for one, act in zip(found, acts, strict=True))
            if nothing and self.read_first is not None and await self.read_first(question.user.user_id):
                known = await self.database.read_quickly(lambda c: tasks.pending(c, question.user.user_id))
                found, only = await self._recognised(replace(question, tasks=tuple(known)), own, texts)
                acts = [await self._action(question.user, one) for one in found]
        except (ModelUnavailable, LanguageCallFailed, NotFound) as error:
            log.warning("commands_not_read", extra={"turn": question.turn.id, "reason": type(error).__name__})
            return NO_COMMANDS
        actions_ = [one for one in acts if one is not None]
        asks = any(isinstance(one, ShowOwner | ShowTasks | ShowBrief | ShowPage) for one in actions_)
        whole = only and len(own) == len(question.asked) and None not in acts
        return Commands(actions_, bool(actions_) and whole and not (asks and self.converses))

    async def _recognised(
        self, question: PromptInputs, own: Sequence[Message], texts: Sequence[tuple[str, str, datetime]]
    ) -> tuple[list[Recognised], bool]:
        titles = {one.id: one.title for one in question.tasks}
        quoted = next((one.quoted.text for one in own if one.quoted is not None and one.quoted.by == "assistant"), None)
        quoted = _last_card(question) if quoted is None else quoted
        lines = [one for one in question.earlier if one.role == "user" and one.forward is None]
        how = (quoted, question.user.lang, unquoted(lines[-1].content) if lines else "")
        found = await self.worker.run(recognise, texts, titles, None, *how)
        if found is None:
            everybody = await self.database.read(lambda c: people.listing(c, question.user.user_id))
            found = await self.worker.run(recognise, texts, titles, everybody, *how)
        if self.pages is not None and not (found and found[0]) and len(question.asked) == 1:
            return await self.pages.find(question.user, texts), True
        return found or ([], False)

    async def _action(self, user: User, one: Recognised) -> Action | None:
        if one.kind in ("cancel", "done", "move") or (one.kind == "show" and not self.converses):
            asked = ChangeTask(one.kind, one.tasks, one.time, one.every, one.sure, one.last)
            unknown: Action | None = ShowPage() if one.last else None if self.converses else asked
            return asked if one.tasks else unknown
        himself = user.user_id > 0  # in a group "me" is who speaks
        match one.kind:
            case "forget":
                return await self.to_forget(user, one)
            case "forget_all":
                return Forget(everything=True)
            case "name" if himself:
                return CallOwner(one.words)
            case "agenda" | "brief" | "waiting" | "promised" | "contacts" | "changes" | "birthdays" | "shared":
                return await (self._open_ends(user, one) if one.kind in _OPEN_ENDS else self._on_days(user, one))
            case _:
                return ShowOwner() if himself and one.kind == "about_me" else None

    async def _open_ends(self, user: User, one: Recognised) -> ShowTasks | None:
        """What others owe or the owner promised; None if the named person has nothing open."""
        asked = ShowTasks(kind=_OPEN_ENDS[one.kind], tasks=one.tasks)
        pending = await self.database.read(lambda c: tasks.pending(c, user.user_id))
        found = any(_is_due_within(task, asked) for task in pending)
        return replace(asked, none=not found) if found or not one.tasks else None

    async def _on_days(self, user: User, one: Recognised) -> ShowTasks | ShowBrief | ShowPage:
        """The tasks of some days, and what the owner said of them; nothing is quoted while a name may be forgotten."""
        asked = _agenda(one, user)
        if not isinstance(asked, ShowTasks) or asked.first is None or asked.last is None or user.user_id < 0:
            return asked

        def said(connection: Connection) -> list[tuple[str, datetime]]:
            if any_forgotten(connection, user.user_id, or_asked=True):
                return []
            recent = messages_shown(connection, user.user_id, dialogue.recent(connection, user.user_id, limit=READ))
            own = [one for one in recent if one.role == "user" and one.forward is None and not one.hidden]
            known = {one.message_id for one in tasks.of_lines(connection, user.user_id, [one.id for one in own])}
            zone = ZoneInfo(user.tz)
            return [(unquoted(one.content), one.timestamp.astimezone(zone)) for one in own if one.id not in known]

        lines = await self.database.read(said)
        plans = await self.worker.run(plans_within, lines, asked.first, asked.last, user.lang) if lines else []
        return replace(asked, plans=plans)

    async def to_forget(self, user: User, one: Recognised) -> Forget | None:
        """What is to be forgotten; None where nothing is found and the words may mean something else."""
        if one.people:
            known = await self.database.read(lambda c: people.by_ids(c, user.user_id, one.people[:OFFERED]))
            found = list(known.values())
            messages = 0
            if len(found) == 1:
                messages = len(await messages_about(self.database, user.user_id, found[0].id, now=self.clock.now()))
            return Forget(people=found, words=one.words, messages=messages)
        facts = await self.facts(user, one.words)
        return Forget(facts=facts, words=one.words) if facts or one.sure else None

    async def facts(self, user: User, words: str) -> list[Fact]:
        """The facts that share most of these words."""
        known = [hit.fact for hit in await self.knowledge.facts(user.user_id, words, 2 * OFFERED)]
        best = await self.worker.run(best_facts, words, [one.fact for one in known]) if known else []
        return [known[index] for index in best][:OFFERED]

    async def to_correct(self, user: User, words: str) -> Correct | None:
        """The correction that a statement makes; None if it is about nothing that is known."""

        async def known() -> Sequence[Fact]:
            return [hit.fact for hit in await self.knowledge.facts(user.user_id, words, OFFERED)]

        facts = (await self.corrections.meant(user, (), known, words))[:OFFERED]
        if len(facts) != 1:
            return Correct(words, facts) if facts else None
        coming = await self.corrections.preview(user, facts[0].id, words)
        return None if coming.outcome == "same" else Correct(words, [coming.fact], coming)

    async def named(self, user: User, what: str) -> Forget | None:
        """What a model's words name, to be forgotten."""
        everybody = await self.database.read(lambda c: people.listing(c, user.user_id))
        one = await self.worker.run(object_of, what, everybody)
        return Forget(everything=True) if one.kind == "forget_all" else await self.to_forget(user, one)

    async def said(self, user: User, own: Sequence[Message], text: str, *, whole: bool = False) -> bool:
        """Whether these messages say something in their writer's own words; `whole`: all of it, not a word of it."""
        proposed = Proposed((), text, tuple(unquoted(one.content) for one in own))
        if whole:
            return await self.worker.run(stated, proposed)
        return not await self.worker.run(ungrounded, [proposed], user.lang)

    async def asks(
        self,
        user: User,
        own: Sequence[Message],
        title: str,
        how: Literal["done", "cancel", "move"],
        time: TimeFound | None,
    ) -> bool:
        """Whether these messages name a task and what is to become of it: a model's word alone changes none."""
        texts = [(one.id, unquoted(one.content), one.timestamp.astimezone(ZoneInfo(user.tz))) for one in own]
        named = await self.said(user, own, title)
        return named and await self.worker.run(asks_for, texts, title, how, time, user.lang)

    def carry_out(
        self, connection: Connection, question: PromptInputs, asked: Sequence[Action], now: datetime
    ) -> list[ActionCard]:
        """Does everything that is asked for, in the caller's transaction, and returns a card for each."""
        user, links = question.user, {"turn": question.turn.id}
        cards = []
        for one in asked:
            source, known = f"user:{user.user_id}", {"payload": {"action": type(one).__name__}, "links": links}
            event = events.append(connection, "wish_understood", source=source, now=now, user_id=user.user_id, **known)
            author = TaskAuthor(source, now, time_of_day(self.whole_day_at), {**links, "caused_by": event})
            try:
                cards.append(self._done(connection, question, one, author))
                if isinstance(one, ChangeTask) and one.how == "done" and len(one.tasks) == 1:
                    react(connection, question.turn, question.asked[-1], "👌", now)
            except Refused as refusal:
                cards.append(self.cards.refused(user, refusal.reason))
            except (NotFound, Conflict):  # it changed meanwhile
                cards.append(self.cards.refused(user, "other"))
        return cards

    def _done(self, connection: Connection, question: PromptInputs, asked: Action, author: TaskAuthor) -> ActionCard:
        user, now, user_id = question.user, author.now, question.user.user_id
        match asked:
            case Forget():
                card = self.cards.forget(connection, user, asked)
            case ChangeTask():
                card = self._change(connection, user, asked, author)
            case Undone():
                card = self.cards.undone(user)
            case CallOwner():
                access.call(connection, user_id, asked.name, now)
                card = self.cards.called(user, asked.name)
            case Correct():
                details = {"words": asked.words} | ({"fact": asked.facts[0].id} if asked.coming else {})
                access.await_answer(connection, user_id, AwaitedAnswer(WAITING, details), now)
                card = self.cards.correct(user, asked)
            case Remember():
                properties, zone = {"content": asked.text}, ZoneInfo(user.tz)
                node = memory.put_node(connection, user_id, "Memory", properties, now=now, zone=zone)
                card = self.cards.remembered(user, node)
            case ShowBrief():
                card = self.cards.brief(connection, user, asked.people, now)
            case ShowOwner():
                card = self.cards.owner(connection, user, now)
            case ShowPage():
                card = self.cards.page(connection, user, asked.name, question.turn, now)
            case ShowTasks():
                found = [one for one in tasks.pending(connection, user_id) if _is_due_within(one, asked, now)]
                card = self.cards.tasks(user, asked, found, now)
        return card

    def _change(self, connection: Connection, user: User, asked: ChangeTask, author: TaskAuthor) -> ActionCard:
        if not asked.tasks:
            raise Refused("no_task", "no task is about that")
        known = [tasks.get(connection, user.user_id, one) for one in asked.tasks]
        found = [one for one in known if one is not None and not one.state.closed]
        if not found:
            raise NotFound("the task is gone")
        schedule = None if asked.time is None else schedule_in(asked.time, user.tz)
        if len(found) > 1 and asked.every and asked.how == "cancel":
            return self.cards.cancel_all(user, found)
        if len(found) > 1 or not asked.sure:
            return self.cards.choose_task(user, asked, schedule, found[:OFFERED])
        [before] = found
        if asked.how == "move" and schedule is None:
            return self.cards.task(user, "when", Changed(before, before), author.now)
        if schedule is not None and asked.time is not None and asked.time.hour_only:
            schedule = _on_its_day(before, schedule, author.now, loose=asked.time.loose)
        how = "move" if asked.last and _just_moved(connection, before, author.now) else asked.how
        task = (
            move_back(connection, user.user_id, before.id, author)
            if how != asked.how
            else change_task(connection, before, how, schedule, author)
        )
        person = actions.person_name(connection, task)
        return self.cards.task(user, how, Changed(task, before, person), author.now)


def _just_moved(connection: Connection, task: Task, now: datetime) -> bool:
    """Whether the last that happened to a task is that it got another time, and not its old one back."""
    last = events.get(connection, task.user_id, task.event_id or "")
    moved = last is not None and BEFORE in last.payload and BACK not in last.payload
    return moved and last is not None and now - last.timestamp <= CARD_LASTS


def _on_its_day(task: Task, schedule: Schedule, now: datetime, *, loose: bool) -> Schedule:
    """The hour on the day on which the task comes up, if that is still ahead: "move it to 12" names no other day.

    A `loose` one may be a.m. or p.m.: the nearer to the hour of before is meant.
    """
    if task.when is None or schedule.due_at is None:
        return schedule
    zone = ZoneInfo(schedule.tz)
    before, hour = task.when.astimezone(zone), schedule.due_at.astimezone(zone).timetz()
    hours = (
        [hour, hour.replace(hour=(hour.hour + _HALF_DAY) % (2 * _HALF_DAY))] if loose and not task.whole_day else [hour]
    )
    moved = min((datetime.combine(before.date(), one) for one in hours), key=lambda one: abs(one - before))
    return replace(schedule, due_at=moved) if moved > now else schedule


def _found_nothing(one: Recognised, act: Action | None) -> bool:
    """Whether something is asked for, or to be forgotten, that memory may know only after reading what was said."""
    if isinstance(act, ChangeTask | ShowOwner):
        return isinstance(act, ShowOwner) or not act.tasks
    empty = act is None or (isinstance(act, Forget) and not (act.everything or act.people or act.facts))
    return (one.kind == "forget" and empty) or (isinstance(act, ShowTasks) and act.none)


def _last_card(question: PromptInputs) -> str:
    """The newest message of the bot in this chat where it is a card or a reminder and still fresh: "cancel it"."""
    here = [one for one in question.earlier if one.role == "assistant" and one.chat_id == question.turn.chat_id]
    last = here[-1] if here else None
    if last is None or question.asked[0].timestamp - last.timestamp > CARD_LASTS:
        return ""
    return last.content if last.notification_id is not None else last.content[len(last.spoken) :]


def change_task(connection: Connection, task: Task, how: str, schedule: Schedule | None, author: TaskAuthor) -> Task:
    """Does, cancels or moves a task; of a recurring one only the next time moves. Raises as `actions` does."""
    user_id = task.user_id
    if how == "done":
        return actions.mark_done(connection, user_id, task.id, author)
    if how == "cancel":
        return actions.cancel(connection, user_id, task.id, author)
    if schedule is None:
        raise Refused("past", "no time was named")
    if schedule.whole_day and schedule.due_at is not None and not task.whole_day and task.when is not None:
        hour = task.when.astimezone(ZoneInfo(schedule.tz)).timetz()
        moved = datetime.combine(schedule.due_at.astimezone(ZoneInfo(schedule.tz)).date(), hour)
        schedule = replace(schedule, due_at=moved, whole_day=False)
    if task.recurrence is not None and schedule.recurrence is None and schedule.due_at is not None:
        moment = schedule.due_at
        if schedule.whole_day:
            day = moment.astimezone(ZoneInfo(schedule.tz)).date()
            moment = datetime.combine(day, author.whole_day_at, ZoneInfo(schedule.tz))
        return actions.postpone(connection, user_id, task.id, moment, author)
    return actions.reschedule(connection, user_id, task.id, schedule, author)


def _agenda(one: Recognised, user: User) -> ShowTasks | ShowBrief | ShowPage:
    if one.kind in ("changes", "birthdays", "shared"):
        return ShowPage(one.kind)
    if one.kind == "brief":
        return ShowBrief(one.people[:OFFERED])
    if one.time is None:
        return ShowTasks()
    first = one.time.moment.astimezone(ZoneInfo(user.tz)).replace(hour=0, minute=0, second=0, microsecond=0)
    return ShowTasks(first, first + timedelta(days=one.days))


def _is_due_within(task: Task, asked: ShowTasks, now: datetime | None = None) -> bool:
    """Whether a task is due on the days, or of the kind; what is overdue belongs to today."""
    if asked.kind is not None:
        return task.kind is asked.kind and (not asked.tasks or task.id in asked.tasks)
    if asked.first is None or asked.last is None:
        return True
    if task.when is None or task.state is TaskState.PROPOSED:
        return False
    return task.when < asked.last and (asked.first <= task.when or (now is not None and asked.first <= now))
