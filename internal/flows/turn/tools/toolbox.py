"""The tools of the responder: history, people and tasks of the asker, web pages, and a few changes.

Tools that write take effect with the answer, and only for the owner's own newest message. After a web page was read
they are refused. Beside words of somebody else (a forward, a file) only statements that stand whole in the
owner's newest words are stored, and a task is changed by his tap.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final, Literal, TypeVar
from zoneinfo import ZoneInfo

from internal.agents.json_reply import read_arguments
from internal.agents.known_task import KnownTask
from internal.agents.model import PassageLine, RecalledFact, RecalledMemory, RecalledPassage, ResponderRequest
from internal.agents.prompts import joined
from internal.agents.responder.blocks import (
    memories_block,
    page_block,
    passages_block,
    recalled_block,
    results_block,
    tasks_block,
)
from internal.errors import Refused
from internal.events import repository as events
from internal.flows.tasks.find_reminders import Reminder
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.model import Action, ChangeTask, Remember
from internal.flows.turn.files import beside_others, read_file
from internal.flows.turn.prompt import PromptInputs, Prompts
from internal.flows.turn.tools.definitions import (
    CHANGING,
    CREATE_TASK,
    READ_FILE,
    READ_URL,
    REPLY_BY_VOICE,
    TOOLS,
    WEB_SEARCH,
    WRITING,
)
from internal.flows.turn.tools.web_pages import PageRefused, Web, stands_in
from internal.language.discretion.recipients import is_reminder
from internal.language.tasks.times import TimeFound
from internal.language.text.spelling import unquoted
from internal.llm.model import Tool, ToolCall
from internal.people.model import people_block
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks import repository as tasks
from internal.tasks.model import MAX_TITLE, Task, recurrence_of

Numbered = TypeVar("Numbered", RecalledFact, RecalledMemory, RecalledPassage)

MOST_TASKS: Final = 50
MOST_CREATED: Final = 5
LONGEST_QUERY: Final = 500
"""The most characters of a query; a longer one is not a question, and blurs the search."""


class _BadArguments(Exception):
    """A call of the model cannot be carried out; the message tells it why."""


class Toolbox:
    """The tools of one question. Their results can be cited by the numbers that follow those of its request."""

    def __init__(
        self,
        database: Database,
        prompts: Prompts,
        clock: Clock,
        question: PromptInputs,
        *,
        opens_tasks: bool,
        commands: CommandFlow | None = None,
        web: Web | None = None,
        files: bool = False,
    ) -> None:
        """Without `opens_tasks` and `commands`, or if all newest messages are forwarded, nothing can be changed.

        `files`: the owner has files that may be read.
        """
        self._own = [one for one in question.asked if one.content and one.forward is None and not one.hidden]
        self._commands, self._web, self.has_read = commands, web, False
        self._listed: dict[str, str] = {}
        self._addresses: list[str] = []
        self._offered: Sequence[Tool] = (
            *TOOLS,
            *([CREATE_TASK] if opens_tasks and self._own else []),
            *(CHANGING if commands is not None and self._own else []),
            *([REPLY_BY_VOICE] if commands is not None and commands.speaks else []),
            *([READ_FILE] if files else []),
            *([READ_URL] if web is not None and web.reads else []),
            *([WEB_SEARCH] if web is not None and web.searches else []),
        )
        self.by_voice = False
        self.reminders: list[Reminder] = []
        """The tasks to open together with the answer."""
        self.actions: list[Action] = []
        """Other actions to carry out with it."""
        self._database, self._prompts, self._clock, self._question = database, prompts, clock, question
        self._facts: list[RecalledFact] = []
        self._memories: list[RecalledMemory] = []
        self._passages: list[RecalledPassage] = []
        self._uses: dict[str, Callable[[ResponderRequest, dict[str, Any]], Awaitable[str]]] = {
            "search_history": self._search_history,
            "search_people": self._search_people,
            "list_tasks": self._list_tasks,
            "create_task": self._create_task,
            "update_task": self._update_task,
            "remember": self._remember,
            "correct": self._correct,
            "forget": self._forget,
            "reply_by_voice": self._reply_by_voice,
            "read_file": self._read_file,
            "read_url": self._read_url,
            "web_search": self._web_search,
        }

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that may be used now."""
        return [one for one in self._offered if not (self.has_read and one.name in WRITING)]

    def extended(self, request: ResponderRequest) -> ResponderRequest:
        """The request with everything found since, which can be cited."""
        return replace(
            request,
            facts=[*request.facts, *self._facts],
            memories=[*request.memories, *self._memories],
            passages=[*request.passages, *self._passages],
        )

    async def use(self, request: ResponderRequest, call: ToolCall) -> str:
        """The answer for the model, which may be what is wrong with its call. Every call is recorded as an event."""
        failed = None
        try:
            answer = await self._use(request, call) or "nothing found"
        except _BadArguments as error:
            answer = failed = f"error: {error}"
        user_id, now = self._question.user.user_id, self._clock.now()
        payload = {"tool": call.name[:100], "arguments": call.arguments[:1000]} | ({"error": failed} if failed else {})
        links = {"turn": self._question.turn.id}
        await self._database.write(
            lambda c: events.append(
                c, "tool_used", source="agent:Responder", now=now, user_id=user_id, payload=payload, links=links
            )
        )
        return answer

    async def _use(self, request: ResponderRequest, call: ToolCall) -> str:
        use = self._uses.get(call.name)
        if self.has_read and call.name in WRITING:
            raise _BadArguments("a page was read in this turn: nothing may be changed in it any more")
        if use is None or call.name not in {tool.name for tool in self.tools}:
            raise _BadArguments(f"there is no tool {call.name!r}")
        return await use(request, _arguments(call))

    async def _reply_by_voice(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        self.by_voice = True
        return "Write the answer now, as it is to be spoken: plain sentences, no lists, no links."

    async def _search_history(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        first, last = _day(arguments, "from"), _day(arguments, "to")
        found = await self._prompts.search(self._question, _query(arguments), people=False)
        zone = ZoneInfo(request.owner.timezone)
        before = self.extended(request)
        facts = _numbered(found.facts, before.facts, lambda one: one.fact_id, self._facts)
        memories = _numbered(found.memories, before.memories, lambda one: one.node_id, self._memories)
        passages = _numbered(
            [one for one in found.passages if any(_within(line.at, zone, first, last) for line in one.lines)],
            before.passages,
            lambda one: one.ref_id,
            self._passages,
        )
        name = request.owner.timezone
        return joined(recalled_block(facts, name), memories_block(memories, name), passages_block(passages, name))

    async def _search_people(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        found = await self._prompts.search(self._question, _query(arguments), people=True)
        return people_block("people", found.relevant_people)

    async def _list_tasks(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        user = self._question.user
        pending = await self._pending()
        known = {one.task_id: one for one in request.tasks}
        others = [one for one in pending if one.id not in known][:MOST_TASKS]
        shown = await self._prompts.may_see(self._question, [one.title for one in others])
        others = [one for one, may in zip(others, shown, strict=True) if may]
        more = [KnownTask.of(number, one, user.tz) for number, one in enumerate(others, len(known) + 1)]
        listed = [*known.values(), *more]
        self._listed |= {one.handle: one.task_id for one in listed}
        return tasks_block(listed)

    async def _pending(self) -> list[Task]:
        return await self._database.read(lambda c: tasks.pending(c, self._question.user.user_id))

    async def _create_task(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        text, recurrence = arguments.get("text"), arguments.get("recurrence") or None
        if not isinstance(text, str) or not text.strip():
            raise _BadArguments("`text` must say what to do")
        if len(self.reminders) >= MOST_CREATED:
            raise _BadArguments(f"no more than {MOST_CREATED} tasks at once")
        due = _moment(arguments.get("due"), ZoneInfo(request.owner.timezone))
        if recurrence is not None:
            due = self._recurring(due, str(recurrence), request.owner.timezone)
        if due is not None and not due.whole_day and due.moment <= self._clock.now():
            raise _BadArguments("`due` is over already")
        title = " ".join(text.split())[:MAX_TITLE]
        # The newest message requests it, or the line before says what it is about.
        wished = any(is_reminder(unquoted(one.content)) for one in self._own) and not self.reminders
        asks = wished or not self._beside_others(request)
        evidence = [*(self._question.earlier[-1:] if asks else ()), *self._own]
        flow, user = self._commands, self._question.user
        if flow is not None and not await flow.said(user, evidence, title, whole=not asks):
            raise _BadArguments("the owner's newest message does not ask for that")
        pending = await self._pending()
        if any(one.title.casefold() == title.casefold() and one.due_at == (due and due.moment) for one in pending):
            return "This task is open already."
        reminder = Reminder(title, due, self._own[-1].id)
        if reminder not in self.reminders:
            self.reminders.append(reminder)
        return "The task is opened with your answer; the owner is shown it below. Do not repeat that it was set."

    async def _update_task(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        handle = _text(arguments, "id").strip("[] ").upper()
        known = {one.handle: one.task_id for one in request.tasks} | self._listed
        task_id = known.get(handle) or known.get(f"T{handle}")
        if task_id is None:
            raise _BadArguments("there is no such task; list_tasks shows their numbers")
        how = _HOW.get(str(arguments.get("action")))
        if how is None:
            raise _BadArguments("`action` must be done, cancel or reschedule")
        time = _moment(arguments.get("due"), ZoneInfo(request.owner.timezone)) if how == "move" else None
        if how == "move" and (time is None or (not time.whole_day and time.moment <= self._clock.now())):
            raise _BadArguments("to reschedule, `due` must name a time to come")
        title = next((one.title for one in await self._pending() if one.id == task_id), "")
        sure = not self._beside_others(request) and await self._flow().asks(
            self._question.user, self._own, title, how, time
        )
        return self._ask(ChangeTask(how, (task_id,), time, sure=sure))

    async def _remember(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        text = _text(arguments, "text")[:LONGEST_QUERY]
        whole, flow = self._beside_others(request), self._flow()
        if not await flow.said(self._question.user, self._own, text, whole=whole):
            raise _BadArguments("the owner's newest message does not say that")
        return self._ask(Remember(text))

    async def _correct(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        found = await self._flow().to_correct(self._question.user, _text(arguments, "statement")[:LONGEST_QUERY])
        if found is None:
            raise _BadArguments("no known fact says otherwise; what the owner tells is noted anyway")
        return self._ask(found)

    async def _forget(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        found = await self._flow().named(self._question.user, _text(arguments, "what")[:LONGEST_QUERY])
        if found is None:
            raise _BadArguments("nothing of that is known")
        return self._ask(found)

    def _beside_others(self, request: ResponderRequest) -> bool:
        return beside_others(self._question, self.extended(request).passages)

    def _flow(self) -> CommandFlow:
        if self._commands is None:
            raise _BadArguments("nothing can be changed here")
        return self._commands

    def _ask(self, action: Action) -> str:
        if len(self.actions) >= MOST_CREATED:
            raise _BadArguments(f"no more than {MOST_CREATED} changes at once")
        if action not in self.actions:
            self.actions.append(action)
        return "The owner is shown it below your answer, with buttons. Do not say that it is done."

    async def _read_url(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        url = _text(arguments, "url")
        if not stands_in(url, [*(line.text for line in request.dialogue), *self._addresses]):
            raise _BadArguments("only an address that the owner wrote or that web_search found can be read")
        assert self._web is not None
        self.has_read = True
        try:
            page = await self._web.read(url)
        except PageRefused as refusal:
            raise _BadArguments(str(refusal)) from None
        line = PassageLine(self._clock.now(), page.title or page.url, page.text, "other")
        found = [RecalledPassage(0, "page", page.url, [line])]
        [shown] = _numbered(found, self.extended(request).passages, lambda one: one.ref_id, self._passages)
        return page_block(shown.n, (page.title, page.url, page.text))

    async def _read_file(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        name, first, last = _text(arguments, "id").strip("[]"), *_pages(arguments.get("pages"))
        shown_here = {f"S{one.n}": one.ref_id for one in self.extended(request).passages if one.kind == "episode"}
        user_id = self._question.user.user_id
        read = await self._database.read(lambda c: read_file(c, user_id, shown_here.get(name, name), first, last))
        if read is None:
            raise _BadArguments("there is no such file, or no such page in it")
        passage, rest = read
        kept = [one for one in self.extended(request).passages if one.ref_id == passage.ref_id]
        [shown] = _numbered([passage], kept or self.extended(request).passages, lambda one: one.ref_id, self._passages)
        return joined(passages_block([replace(passage, n=shown.n)], request.owner.timezone), rest)

    async def _web_search(self, request: ResponderRequest, arguments: dict[str, Any]) -> str:
        assert self._web is not None
        try:
            found = await self._web.search(_query(arguments), request.owner.language)
        except PageRefused as refusal:
            raise _BadArguments(str(refusal)) from None
        self.has_read = self.has_read or bool(found)
        self._addresses += [one.url for one in found]
        return results_block([(one.title, one.url, one.text) for one in found])

    def _recurring(self, due: TimeFound | None, rule: str, tz: str) -> TimeFound:
        if due is None:
            raise _BadArguments("what repeats needs a first `due`")
        try:
            return replace(due, recurrence=recurrence_of(rule, due.moment, tz))
        except Refused:
            raise _BadArguments("`recurrence` must be an RRULE of hours, days, weeks, months or years") from None


def _numbered(
    found: Iterable[Numbered], given: Sequence[Numbered], key: Callable[[Numbered], str], added: list[Numbered]
) -> list[Numbered]:
    """The found items with their existing or new numbers; new items are added to `added`."""
    known = {key(one): one for one in given}
    following = max((one.n for one in given), default=0) + 1
    shown = []
    for one in found:
        if key(one) not in known:
            known[key(one)] = replace(one, n=following)
            added.append(known[key(one)])
            following += 1
        shown.append(known[key(one)])
    return shown


def _arguments(call: ToolCall) -> dict[str, Any]:
    arguments = read_arguments(call.arguments)
    if arguments is None:
        raise _BadArguments("the arguments must be a JSON object")
    return arguments


def _query(arguments: dict[str, Any]) -> str:
    query = arguments.get("query")
    if not isinstance(query, str) or not query.strip():
        raise _BadArguments("`query` must be a text")
    return query.strip()[:LONGEST_QUERY]


def _text(arguments: dict[str, Any], name: str) -> str:
    text = arguments.get(name)
    if not isinstance(text, str) or not text.strip():
        raise _BadArguments(f"`{name}` must be a text")
    return " ".join(text.split())


_HOW: Final[Mapping[str, Literal["done", "cancel", "move"]]] = {
    "done": "done", "cancel": "cancel", "reschedule": "move",
}  # fmt: skip


def _day(arguments: dict[str, Any], name: str) -> date | None:
    given = arguments.get(name)
    if given in (None, ""):
        return None
    try:
        return date.fromisoformat(str(given)[:10])
    except ValueError:
        raise _BadArguments(f"`{name}` must be a day as YYYY-MM-DD") from None


def _pages(given: object) -> tuple[int | None, int | None]:
    """The first and last page requested; None for any."""
    numbers = [int(one) for one in re.findall(r"\d{1,6}", str(given or ""))]
    return (numbers[0], numbers[-1]) if numbers else (None, None)


def _moment(given: object, zone: ZoneInfo) -> TimeFound | None:
    if given in (None, ""):
        return None
    try:
        moment = datetime.fromisoformat(str(given))
    except ValueError:
        raise _BadArguments("`due` must be YYYY-MM-DD or YYYY-MM-DDTHH:MM") from None
    moment = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)
    return TimeFound(moment, len(str(given).strip()) == len("YYYY-MM-DD"), None, ())


def _within(at: datetime, zone: ZoneInfo, first: date | None, last: date | None) -> bool:
    day = at.astimezone(zone).date()
    return (first is None or day >= first) and (last is None or day <= last)
