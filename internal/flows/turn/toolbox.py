"""What the responder may look up while it answers: history, people and tasks of the one who asks."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

from internal.agents.known_task import KnownTask
from internal.agents.model import RecalledFact, RecalledMemory, RecalledPassage, ResponderRequest
from internal.agents.prompts import joined
from internal.agents.responder.facts import recalled_block
from internal.agents.responder.memories import memories_block
from internal.agents.responder.passages import passages_block
from internal.agents.responder.snapshot import tasks_block
from internal.errors import Refused
from internal.events import repository as events
from internal.flows.tasks.find_reminders import Reminder
from internal.flows.turn.prompt import Prompts, Question
from internal.language.tasks.times import TimeFound
from internal.llm.model import Tool, ToolCall
from internal.people.model import people_block
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.tasks import repository as tasks
from internal.tasks.model import MAX_TITLE, recurrence_of

Numbered = TypeVar("Numbered", RecalledFact, RecalledMemory, RecalledPassage)

MOST_TASKS: Final = 50
MOST_CREATED: Final = 5
LONGEST_QUERY: Final = 500
"""Characters of a query; more is no question, and blurs the search."""

_QUERY: Final = {"type": "string", "description": "What to look for, in the owner's words and language"}
_DAY: Final = {"type": "string", "description": "A day, as YYYY-MM-DD"}
TOOLS: Final = (
    Tool(
        "search_history",
        "Searches what the owner told you before: facts, memories and earlier messages, with their numbers to cite.",
        {"type": "object", "properties": {"query": _QUERY, "from": _DAY, "to": _DAY}, "required": ["query"]},
    ),
    Tool(
        "search_people",
        "Searches the people whom the owner told you about.",
        {"type": "object", "properties": {"query": _QUERY}, "required": ["query"]},
    ),
    Tool("list_tasks", "Lists all open tasks of the owner.", {"type": "object", "properties": {}}),
)
CREATE_TASK: Final = Tool(
    "create_task",
    "Opens a task or reminder that the owner asks for in his newest message. He is shown it with buttons to undo it.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to do, in the owner's language, in a few words"},
            "due": {"type": "string", "description": "When, in the owner's time: YYYY-MM-DD or YYYY-MM-DDTHH:MM"},
            "recurrence": {"type": "string", "description": "An RRULE such as FREQ=WEEKLY;BYDAY=MO, for what repeats"},
        },
        "required": ["text"],
    },
)


class _BadArguments(Exception):
    """A model's call cannot be carried out as it is; the message tells it why."""


class Toolbox:
    """The tools of one question. What they find can be cited under the numbers behind those of its request."""

    def __init__(
        self, database: Database, prompts: Prompts, clock: Clock, question: Question, *, opens_tasks: bool
    ) -> None:
        """Without `opens_tasks` no task can be created; nor where every newest message is a forwarded one."""
        self._own = [one for one in question.asked if one.content and one.forward is None and not one.hidden]
        self.tools: Sequence[Tool] = (*TOOLS, CREATE_TASK) if opens_tasks and self._own else TOOLS
        self.reminders: list[Reminder] = []
        """The tasks to open together with the answer."""
        self._database, self._prompts, self._clock, self._question = database, prompts, clock, question
        self._facts: list[RecalledFact] = []
        self._memories: list[RecalledMemory] = []
        self._passages: list[RecalledPassage] = []
        self._uses: dict[str, Callable[[ResponderRequest, dict[str, Any]], Awaitable[str]]] = {
            "search_history": self._search_history,
            "search_people": self._search_people,
            "list_tasks": self._list_tasks,
            "create_task": self._create_task,
        }

    def extended(self, request: ResponderRequest) -> ResponderRequest:
        """The request with everything that was found since, to cite from."""
        return replace(
            request,
            facts=[*request.facts, *self._facts],
            memories=[*request.memories, *self._memories],
            passages=[*request.passages, *self._passages],
        )

    async def use(self, request: ResponderRequest, call: ToolCall) -> str:
        """The answer for the model, which may be what is wrong with its call. Every call becomes an event."""
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
        if use is None or call.name not in {tool.name for tool in self.tools}:
            raise _BadArguments(f"there is no tool {call.name!r}")
        return await use(request, _arguments(call))

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
        pending = await self._database.read(lambda c: tasks.pending(c, user.user_id))
        known = {one.task_id: one for one in request.tasks}
        others = [one for one in pending if one.id not in known][:MOST_TASKS]
        more = [KnownTask.of(number, one, user.tz) for number, one in enumerate(others, len(known) + 1)]
        return tasks_block([*known.values(), *more])

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
        reminder = Reminder(" ".join(text.split())[:MAX_TITLE], due, self._own[-1].id)
        if reminder not in self.reminders:
            self.reminders.append(reminder)
        return "The task is opened with your answer; the owner is shown it below. Do not repeat that it was set."

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
    """What was found, under the numbers it has already or new ones; what is new is added."""
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
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise _BadArguments("the arguments must be a JSON object")
    return arguments


def _query(arguments: dict[str, Any]) -> str:
    query = arguments.get("query")
    if not isinstance(query, str) or not query.strip():
        raise _BadArguments("`query` must be a text")
    return query.strip()[:LONGEST_QUERY]


def _day(arguments: dict[str, Any], name: str) -> date | None:
    given = arguments.get(name)
    if given in (None, ""):
        return None
    try:
        return date.fromisoformat(str(given)[:10])
    except ValueError:
        raise _BadArguments(f"`{name}` must be a day as YYYY-MM-DD") from None


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
