"""The model calls, newest first, each with its exact prompt and reply."""

from functools import partial

from nicegui import ui

from bot.console.elements import card, chip, empty_list, trouble_notice, words
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_AT_ONCE = 50


async def build(context: PageContext) -> None:
    """Lays out the first page; older calls follow on demand."""
    found = await context.rest.get("/model-calls", user_id=context.user_id, limit=_AT_ONCE)
    if not found["calls"]:
        empty_list("receipt_long", context.say("calls-empty"), context.say("calls-empty-text"))
        return
    words("p", context.say("calls-count", count=found["count"]), "lead")
    with card():
        _Calls(context, found["calls"], found["count"])


class _Calls:
    """The rows so far, and a button while there are more."""

    def __init__(self, context: PageContext, calls: list[Json], count: int) -> None:
        self._context, self._count, self._shown = context, count, 0
        self._list = ui.element("ul").classes("rows")
        self._more = ui.button(context.say("earlier"), color=None, on_click=self._earlier).props("flat no-caps")
        self._more.classes("button")
        self._add(calls)

    def _add(self, calls: list[Json]) -> None:
        with self._list:
            for call in calls:
                _row(self._context, call)
        self._shown += len(calls)
        self._last = calls[-1]["id"] if calls else None
        self._more.set_visibility(self._shown < self._count and bool(calls))

    async def _earlier(self) -> None:
        query = {"user_id": self._context.user_id, "before": self._last, "limit": _AT_ONCE}
        with trouble_notice(self._context):
            self._add((await self._context.rest.get("/model-calls", **query))["calls"])


def _row(context: PageContext, call: Json) -> None:
    say = context.say
    with ui.element("li"), ui.element("details").classes("row") as row:
        with ui.element("summary"):
            words("span", say.known(f"agent-{call['agent']}", call["agent"]), "row-title")
            words("span", call["model"], "row-text")
            if call["error"]:
                chip(say("call-failed"), "bad")
            words("span", price(context, call), "row-aside")
            words("time", say.moment(call["at"]), "row-aside")
        body = ui.element("div").classes("row-body")
    row.on("toggle", partial(open_call, context, call["id"], body), throttle=1.0)


async def open_call(context: PageContext, call_id: str, body: ui.element) -> None:
    """Fetches and shows a call when its row is opened: the texts are long."""
    if not body.default_slot.children:
        with trouble_notice(context):
            whole = await context.rest.get(f"/model-calls/{call_id}", user_id=context.user_id)
            with body:
                whole_call(context, whole)


def whole_call(context: PageContext, call: Json) -> None:
    """Prompt and reply exactly as they were sent and received."""
    say = context.say
    if call["error"]:
        words("p", call["error"], "fault")
    if call["prompt"] is None:
        words("p", say("call-forgotten"), "dim")
        return
    for message in call["prompt"]:
        words("p", say.known(f"role-{message['role']}", str(message["role"])), "exact-title")
        words("pre", _text(message["content"]), "exact").props("tabindex=0")
    words("p", say("call-reply"), "exact-title")
    words("pre", call["reply"] or "—", "exact reply").props("tabindex=0")


def price(context: PageContext, call: Json) -> str:
    """`1,204 → 96 tokens · $0.0012 · 1.3 s`."""
    say = context.say
    tokens = say(
        "call-tokens", prompt=say.number(call["prompt_tokens"]), completion=say.number(call["completion_tokens"])
    )
    return f"{tokens} · ${call['cost_usd']:.4f} · {say('seconds', count=round(call['duration_s'], 1))}"


def _text(content: object) -> str:
    """The texts of a message with several parts; pictures and sounds are only named."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in parts if isinstance(part, dict))


CALLS = Page("calls", "/calls", "receipt_long", "m", build, everybody=True)
