"""The snapshot of an owner that stands in every prompt: its versions, and restoring one."""

from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, empty_list, style, trouble_notice, words
from bot.console.lists import AT_ONCE, answers, button, question
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json

_PARTS: Final = ("who", "now", "threads")


async def build(context: PageContext) -> None:
    """Lays out the latest version, with the earlier ones below."""
    style("records")
    await _ContextView(context).show()


class _ContextView:
    """Shows one version of the snapshot; `_shown` is its number, or None for the latest."""

    def __init__(self, context: PageContext) -> None:
        self._context, self._box = context, ui.element("div")
        self._limit = AT_ONCE
        self._shown: int | None = None

    async def show(self) -> None:
        found = await self._context.rest.get("/snapshots", user_id=self._context.user_id, limit=self._limit)
        versions: list[Json] = found["snapshots"]
        self._box.clear()
        with self._box:
            if not versions:
                empty_list("psychology", self._context.say("context-empty"), self._context.say("context-empty-text"))
                return
            index = next((n for n, one in enumerate(versions) if one["version"] == self._shown), 0)
            before = versions[index + 1] if index + 1 < len(versions) else None
            self._content(versions[index], before, latest=index == 0)
            self._versions(versions, found["count"], versions[index]["version"])

    def _content(self, version: Json, before: Json | None, *, latest: bool) -> None:
        say = self._context.say
        with ui.element("div").classes("toolbar"):
            words("p", say("context-latest" if latest else "context-earlier", version=version["version"]), "lead")
            if version["by"] == "rules":
                chip(say("context-rules"), "warn")
            if not latest:
                ui.element("div").classes("toolbar-space")
                button(say("context-restore"), partial(self._ask, version["version"]), icon="restore")
        known = {item["text"] for part in _PARTS for item in (before or version)[part]}
        with ui.element("div").classes("mind"):
            for part in _PARTS:
                with card(say(f"context-{part}")):
                    if not version[part]:
                        words("p", say("context-nothing"), "dim")
                    with ui.element("ul"):
                        for item in version[part]:
                            with ui.element("li"):
                                words("span", item["text"] + " ")
                                if item["text"] not in known:
                                    chip(say("context-new"), "good")
                                words("time", say.moment(item["at"]))

    def _versions(self, versions: list[Json], count: int, shown: int) -> None:
        say = self._context.say
        with card(say("context-versions"), "mind-versions"):
            with ui.element("ul").classes("rows"):
                for one in versions:
                    with ui.element("li").classes("mind-row"):
                        words("span", say("context-version", version=one["version"]), "row-title")
                        words("time", say.moment(one["created_at"]), "row-text")
                        if one["restored_from"]:
                            chip(say("context-restored", version=one["restored_from"]))
                        words("span", say("context-items", count=sum(len(one[part]) for part in _PARTS)), "row-aside")
                        if one["version"] == shown:
                            chip(say("context-shown"), "good")
                        else:
                            button(say("context-look"), partial(self._look, one["version"]), quiet=True)
            if len(versions) < count:
                button(say("earlier"), self._earlier, quiet=True)

    async def _look(self, version: int) -> None:
        self._shown = version
        with trouble_notice(self._context):
            await self.show()

    async def _earlier(self) -> None:
        self._limit += AT_ONCE
        with trouble_notice(self._context):
            await self.show()

    def _ask(self, version: int) -> None:
        say = self._context.say
        with question(say("context-restore-title", version=version)) as dialog:
            words("p", say("context-restore-text"), "dim")

            async def done() -> None:
                await self._context.rest.post(f"/snapshots/{version}/restore", user_id=self._context.user_id)
                self._shown = None
                await self.show()

            answers(self._context, dialog, say("context-restore"), done)
        dialog.open()


CONTEXT = Page("context", "/context", "psychology", "x", build)
