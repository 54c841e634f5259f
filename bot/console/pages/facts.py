"""Facts with their sources, their earlier versions, and their correction by the owner."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, style, trouble_notice, words
from bot.console.lists import AT_ONCE, Choices, EmptyText, GrowingList, answers, button, field, question
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_NOTHING: Final = EmptyText("fact_check", "facts-empty", "facts-empty-text")
_FOUND: Final = 30
"""The most facts that a search returns, best first."""


async def build(context: PageContext) -> None:
    """Lays out the current facts; past ones and old versions on demand."""
    style("records")
    await _Facts(context).show("current")


class _Facts:
    """The list and the search above it, whose results replace the list while it has text."""

    def __init__(self, context: PageContext) -> None:
        self._context, say = context, context.say
        self._names: dict[str, str] = {}
        with ui.element("div").classes("toolbar"):
            self._asked = ui.input(say("facts-search")).props("outlined dense clearable debounce=400 maxlength=500")
            self._asked.props["clear-icon"] = "close"
            self._asked.classes("search").props("data-search").on_value_change(self._search)
            self._which = Choices(
                context,
                say("facts-which"),
                {one: say(f"facts-{one}") for one in ("current", "ended", "all")},
                "current",
                self.show,
            )
        self._lead = words("p", "", "lead").props("role=status")
        with card(classes="list-card"):
            self._list = GrowingList(context, self._listed, self._row, _NOTHING, keeps=True)

    async def show(self, which: str) -> None:
        self._tell("facts-count", await self._list.show(partial(self._listed, which=which)))

    async def _search(self) -> None:
        query = (self._asked.value or "").strip()
        with trouble_notice(self._context):
            if not query:
                await self.show(self._which.chosen)
                return
            self._tell("facts-found", await self._list.show(partial(self._found, query)))

    def _tell(self, phrase: str, count: int | None) -> None:
        if count is not None:
            self._lead.set_text(self._context.say(phrase, count=count))

    async def _listed(self, offset: int, which: str = "current") -> tuple[list[Json], int]:
        query = {"user_id": self._context.user_id, "which": which, "limit": AT_ONCE, "offset": offset}
        found = await self._context.rest.get("/graph/facts", **query)
        self._names |= found["names"]
        return found["facts"], found["count"]

    async def _found(self, query: str, offset: int) -> tuple[list[Json], int]:
        group = str(self._context.user_id)
        asked: Json = {"query": query, "group_ids": [group], "max_results": _FOUND}
        asked["include_invalid"] = self._which.chosen != "current"
        # An owner's session needs no other name; the admin sees the owner's name.
        found = await self._context.rest.post("/graph/search", asked, user_id=self._context.user_id)
        return found["results"], found["count"]

    def _row(self, fact: Json) -> None:
        _Fact(self._context, fact, self._names, self._again)

    async def _again(self) -> None:
        await self.show(self._which.chosen)


class _Fact:
    """One row; opened, it shows the sources, the history and the actions."""

    def __init__(
        self, context: PageContext, fact: Json, names: dict[str, str], changed: Callable[[], Awaitable[None]]
    ) -> None:
        self._context, self._fact, self._changed = context, fact, changed
        say = context.say
        over = fact["expired_at"] is not None or fact["invalid_at"] is not None
        with ui.element("li"), ui.element("details").classes("row fact over" if over else "row fact") as row:
            with ui.element("summary"):
                words("span", fact["fact"], "fact-words")
                since = say.day(fact, "valid_at") if fact["valid_at"] else say.moment(fact["created_at"], "d MMM y")
                words("time", since, "row-aside fact-since")
                with ui.element("span").classes("fact-meta"):
                    self._meta(names)
            self._body = ui.element("div").classes("row-body")
        row.on("toggle", self._open, throttle=1.0)

    def _meta(self, names: dict[str, str]) -> None:
        say, fact = self._context.say, self._fact
        ends = [names.get(fact[f"{end}_node_uuid"]) for end in ("source", "target")]
        chip(say.relation(fact["name"]))
        if all(ends):
            words("span", " → ".join(str(one) for one in ends), "fact-ends")
        if fact["expired_at"]:
            chip(say("fact-replaced"), "warn")
        elif fact["invalid_at"]:
            chip(say("fact-until", day=say.day(fact, "invalid_at")), "warn")
        if fact["update_reason"] or fact["original_fact"]:
            chip(say("fact-corrected"), "good")
        words("span", say("fact-source-count", count=len(fact["evidence"])))

    async def _open(self) -> None:
        if self._body.default_slot.children:
            return
        with trouble_notice(self._context):
            uuid, user_id = self._fact["uuid"], self._context.user_id
            history = (await self._context.rest.get(f"/graph/facts/{uuid}/history", user_id=user_id))["history"]
            with self._body:
                self._lay_sources()
                self._history(history)
                if self._fact["expired_at"] is None:
                    with ui.element("div").classes("actions"):
                        button(self._context.say("fact-correct"), self._correct, icon="edit", quiet=True)

    def _lay_sources(self) -> None:
        say = self._context.say
        words("h2", say("fact-sources"), "exact-title")
        if not self._fact["evidence"]:
            words("p", say("fact-no-sources"), "dim")
        sources = {one["episode_uuid"]: one for one in self._fact["citations"]}
        with ui.element("ul").classes("fact-sources"):
            for line in self._fact["evidence"]:
                with ui.element("li").classes("fact-source"):
                    words("blockquote", line["quote"])
                    with ui.element("footer"):
                        self._source(line, sources.get(line["episode_uuid"]))

    def _source(self, line: Json, episode: Json | None) -> None:
        say = self._context.say
        if line["forwarded_from"] or line["speaker"]:
            words("span", line["forwarded_from"] or line["speaker"])
        words("time", say.moment(line["at"]))
        if episode is not None and say.source(episode["episode_name"]) == episode["episode_name"]:
            words("span", episode["episode_name"])
        address = line["telegram_link"] or line["url"] or (episode or {}).get("source_url")
        if address and str(address).startswith(("https://", "http://")):
            link = words("a", say("fact-open"), "").props("target=_blank").props('rel="noopener noreferrer"')
            link.props["href"] = address

    def _history(self, history: list[Json]) -> None:
        say = self._context.say
        if len(history) < 2:
            return
        words("h2", say("fact-history"), "exact-title")
        with ui.element("ol").classes("versions"):
            for one in reversed(history):
                with ui.element("li").classes("version" if one["expired_at"] else "version now"):
                    words("div", one["fact"])
                    words("time", say.moment(one["created_at"]), "row-aside")
                    if one["update_reason"]:
                        words("div", say("fact-why", reason=one["update_reason"]), "why")

    def _correct(self) -> None:
        say, fact = self._context.say, self._fact
        with question(say("fact-correct-title")) as dialog:
            words("p", say("fact-correct-text"), "dim")
            corrected = field(say("fact-words"), fact["fact"], lines=True)
            reason = field(say("fact-reason"))

            async def done() -> None:
                body = {"fact": corrected.value.strip(), "reason": (reason.value or "").strip() or None}
                await self._context.rest.patch(f"/graph/facts/{fact['uuid']}", body, user_id=self._context.user_id)
                ui.notify(say("fact-corrected-now"), type="positive")
                await self._changed()

            answers(self._context, dialog, say("records-save"), done)
        dialog.open()


FACTS = Page("facts", "/facts", "fact_check", "f", build)
