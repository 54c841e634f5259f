"""Merging two profiles and splitting one, each after a confirmation."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from bot.console.elements import words
from bot.console.page_context import PageContext
from bot.console.pages.people.circles import circle_name, circle_tone
from bot.console.pages.people.dialogs import DialogError, answer, answers, asking, cancel
from bot.console.rest import Json
from bot.shared.phrases import initials

_OFFERED: Final = 8
_KNOWN: Final = 300
"""The most people offered by name; a longer search goes by meaning too."""


async def merge_dialog(context: PageContext, person: Json, merge: Callable[[Json, Json], Awaitable[None]]) -> None:
    """Asks with whom to merge, then which profile stays."""
    with asking(context, context.say("people-merge-title", name=person["display_name"])) as dialog:
        _MergeDialog(context, person, merge, dialog)


def split_dialog(context: PageContext, part: Json, split: Callable[[], Awaitable[None]]) -> None:
    say, name = context.say, part["display_name"]
    with asking(context, say("people-split-title", name=name), say("people-split-text", name=name)) as dialog:
        fault = DialogError(context)

        async def done() -> None:
            with fault.shown():
                await split()
                dialog.close()

        with answers():
            cancel(context, dialog)
            answer(say("people-split"), done)


class _MergeDialog:
    """`merge` takes the profile that becomes a part and the one that stays."""

    def __init__(
        self, context: PageContext, person: Json, merge: Callable[[Json, Json], Awaitable[None]], dialog: ui.dialog
    ) -> None:
        self._context, self._person, self._merge, self._dialog = context, person, merge, dialog
        self._known: list[Json] | None = None
        self._asked = 0
        self._fault = DialogError(context)
        self._inside = ui.element("div")
        self._choose()

    def _choose(self) -> None:
        self._inside.clear()
        with self._inside:
            with ui.element("label").classes("field"):
                words("span", self._context.say("people-merge-find"))
                field = ui.element("input").props("type=search autocomplete=off autofocus")
                field.on("input", self._find, throttle=0.2, js_handler="(event) => emit({text: event.target.value})")
            self._list = ui.element("ul").classes("candidates")
            with self._list:
                self._nobody = words("li", self._context.say("people-merge-none"), "dim")
            self._nobody.set_visibility(False)
            self._offered: dict[int, ui.element] = {}
            with answers():
                cancel(self._context, self._dialog)
        ui.timer(0.01, partial(self._offer, ""), once=True)

    async def _find(self, event: GenericEventArguments) -> None:
        await self._offer(str(event.args["text"]))

    async def _offer(self, name: str) -> None:
        """Updates the list; people who stay in it keep their buttons, so that a click under way still counts."""
        self._asked += 1
        asked = self._asked
        with self._fault.shown():
            found = (await self._matching(name.strip()))[:_OFFERED]
            if asked != self._asked or self._list.is_deleted:
                return  # more letters were typed meanwhile, or somebody was chosen
            wanted = {one["id"]: one for one in found}
            for gone in self._offered.keys() - wanted.keys():
                self._offered.pop(gone).delete()
            for index, (one_id, one) in enumerate(wanted.items()):
                if one_id not in self._offered:
                    with self._list, ui.element("li") as self._offered[one_id]:
                        self._candidate(one)
                self._offered[one_id].move(target_index=index)
            self._nobody.set_visibility(not wanted)

    async def _matching(self, name: str) -> list[Json]:
        """People whose names contain these letters, most mentioned first; if there are none, search results."""
        rest, user_id = self._context.rest, self._context.user_id
        if self._known is None:
            self._known = (await rest.get("/people", user_id=user_id, limit=_KNOWN))["people"]
        others = [one for one in self._known if one["id"] != self._person["id"]]
        wanted = name.casefold()
        found = [one for one in others if wanted in " ".join((one["display_name"], *one["aliases"])).casefold()]
        if not found and len(name) > 2:
            more = await rest.get("/people/search", user_id=user_id, query=name, limit=_OFFERED)
            found = [one for one in more["people"] if one["id"] != self._person["id"]]
        return found

    def _candidate(self, one: Json) -> None:
        with ui.element("button").props("type=button").classes("someone candidate") as button:
            ui.label(initials(one["display_name"])).classes(f"avatar {circle_tone(one['circle'])}").props(
                "aria-hidden=true"
            )
            with ui.element("span").classes("someone-lines"):
                words("b", one["display_name"])
                words("span", one["bio"] or circle_name(self._context, one["circle"]))
            words("span", str(one["mention_count"]), "someone-count")
        # The more mentioned one stays, unless the reader swaps them.
        pair = sorted((self._person, one), key=lambda person: person["mention_count"])
        button.on("click", partial(self._confirm, *pair))

    def _confirm(self, source: Json, target: Json) -> None:
        say, names = self._context.say, {"source": source["display_name"], "target": target["display_name"]}
        self._inside.clear()
        with self._inside:
            words("h3", say("people-merge-confirm", **names), "ask-confirm")
            with ui.element("div").classes("pair"):
                self._side(source, "")
                words("span", say("people-merge-part"), "dim")
                self._side(target, "stays")
            words("p", say("people-merge-text", **names), "ask-text")
            with answers():
                words("button", say("people-merge-choose"), "act").props("type=button").on("click", self._choose)
                turned = words("button", say("people-merge-swap"), "act").props("type=button")
                turned.on("click", partial(self._confirm, target, source))
                answer(say("people-merge"), partial(self._done, source, target))

    def _side(self, person: Json, kind: str) -> None:
        say = self._context.say
        with ui.element("div").classes(kind):
            words("b", person["display_name"])
            circle = circle_name(self._context, person["circle"])
            words("span", f"{circle} · {say('people-mentions', count=person['mention_count'])}", "dim")

    async def _done(self, source: Json, target: Json) -> None:
        with self._fault.shown():
            await self._merge(source, target)
            self._dialog.close()
