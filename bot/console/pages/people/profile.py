"""One person: the profile, the facts over time, the mentions, and the actions."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, icon_button, trouble_notice, words
from bot.console.page_context import PageContext
from bot.console.pages.people.circles import circle_name, circle_tone
from bot.console.pages.people.edit import edit_dialog
from bot.console.pages.people.forget import forget_dialog
from bot.console.pages.people.history import lay_history
from bot.console.pages.people.mentions import lay_mentions
from bot.console.pages.people.merge import merge_dialog, split_dialog
from bot.console.rest import Json
from bot.shared.phrases import initials

Step = Callable[[], Awaitable[None]]

_FACTS: Final = 500
"""The most facts of a person that are shown."""

_EDITED: Final = ("display_name", "aliases", "username", "circle", "bio")


async def lay_profile(context: PageContext, person_id: int) -> None:
    """Lays out the profile of a person. Raises Trouble."""
    with ui.element("div").classes("profile").props("tabindex=0 role=region") as region:
        region.props["aria-label"] = context.say("page-people")
        inside = ui.element("div").classes("profile-column")
    await _Profile(context, inside).show(person_id)


class _Profile:
    """The open profile. Changes appear at once and can be undone."""

    def __init__(self, context: PageContext, inside: ui.element) -> None:
        self._context, self._inside = context, inside
        self._undo = _Undo(context)

    async def show(self, person_id: int) -> None:
        """Shows a person. Raises Trouble."""
        rest, user_id = self._context.rest, self._context.user_id
        person = await rest.get(f"/people/{person_id}", user_id=user_id)
        known = await rest.get(f"/people/{person['id']}/known", user_id=user_id)
        facts = await rest.get(
            f"/graph/nodes/{known['node_id']}/facts", user_id=user_id, include_invalid=True, limit=_FACTS
        )
        self._inside.clear()
        with self._inside:
            self._back()
            self._head(person, known)
            with ui.element("div").classes("profile-two"):
                with ui.element("div"):
                    self._about(person, known)
                    lay_history(self._context, facts["facts"], circle_tone(person["circle"]))
                with ui.element("div"):
                    await lay_mentions(self._context, person["id"])
                    self._merged(person, known["merged"])

    def _back(self) -> None:
        with ui.element("a").classes("back").props(f'href="{self._context.at("/people")}"'):
            ui.icon("chevron_left").props("aria-hidden=true").style("font-size: 22px")
            words("span", self._context.say("people-all"))

    def _head(self, person: Json, known: Json) -> None:
        say, tone = self._context.say, circle_tone(person["circle"])
        with card():
            with ui.element("div").classes("profile-head"):
                ui.label(initials(person["display_name"])).classes(f"avatar {tone}").props("aria-hidden=true")
                with ui.element("div"):
                    words("h2", person["display_name"], "profile-name")
                    with ui.element("div").classes("profile-chips"):
                        chip(circle_name(self._context, person["circle"]), f"circle {tone}")
                        if person["username"]:
                            chip(f"@{person['username']}")
                with ui.element("div").classes("profile-acts"):
                    self._acts(person, known)
            with ui.element("dl").classes("figures"):
                _figure(say("people-mentioned"), say.number(person["mention_count"]))
                _figure(say("people-first-seen"), say.moment(person["first_seen"], "d MMM y"))
                _figure(say("people-last-seen"), say.moment(person["last_seen"], "d MMM y"))
                if person["telegram_id"] is not None:
                    _figure(say("people-telegram"), str(person["telegram_id"]))

    def _acts(self, person: Json, known: Json) -> None:
        say = self._context.say
        act("edit", say("people-edit"), partial(edit_dialog, self._context, person, self._edit))
        act("merge", say("people-merge"), partial(merge_dialog, self._context, person, self._merge))
        act("delete", say("people-forget"), partial(self._forget, person))
        with ui.element("a").classes("act") as link:
            link.props["href"] = self._context.at("/graph", node=known["node_id"])
            ui.icon("hub").props("aria-hidden=true")
            words("span", say("people-in-graph"))

    def _about(self, person: Json, known: Json) -> None:
        say = self._context.say
        with card(say("people-about")):
            words("p", person["bio"] or say("people-no-bio"), "bio" if person["bio"] else "dim")
            if "bio" in known["set_by_owner"]:
                chip(say("people-by-owner"), "good").classes("bio-mark")
            if person["aliases"]:
                words("h3", say("people-aliases"), "details-title")
                with ui.element("div").classes("profile-chips"):
                    for alias in person["aliases"]:
                        chip(alias)

    def _merged(self, person: Json, merged: list[Json]) -> None:
        if not merged:
            return
        say = self._context.say
        with card(say("people-merged")):
            words("p", say("people-merged-text"), "dim")
            for one in merged:
                with ui.element("div").classes("part"):
                    with ui.element("div").classes("part-words"):
                        words("b", one["display_name"])
                        if one["at"]:
                            words("span", say("people-merged-at", at=say.moment(one["at"], "d MMM y")), "dim")
                    split = partial(split_dialog, self._context, one, partial(self._split, one, person))
                    act("call_split", say("people-split"), split).classes("small")

    # Actions

    async def _forget(self, person: Json) -> None:
        with trouble_notice(self._context):
            await forget_dialog(self._context, person)

    async def _edit(self, person: Json, changes: Json) -> None:
        """Saves changes of a profile. Raises Trouble."""
        before: Json = {name: person[name] for name in _EDITED if name in changes}
        await self._change(person["id"], changes)
        self._undo.offer(self._context.say("people-saved"), partial(self._change, person["id"], before))

    async def _change(self, person_id: int, changes: Json) -> None:
        await self._context.rest.patch(f"/people/{person_id}", changes, user_id=self._context.user_id)
        await self.show(person_id)

    async def _merge(self, source: Json, target: Json) -> None:
        """Merges two profiles. Raises Trouble."""
        await self._join(source["id"], target["id"])
        names = {"source": source["display_name"], "target": target["display_name"]}
        self._undo.offer(
            self._context.say("people-merge-done", **names), partial(self._apart, source["id"], source["id"])
        )

    async def _split(self, source: Json, target: Json) -> None:
        """Splits a merged profile. Raises Trouble."""
        await self._apart(source["id"], target["id"])
        text = self._context.say("people-split-done", name=source["display_name"])
        self._undo.offer(text, partial(self._join, source["id"], target["id"]))

    async def _join(self, source_id: int, target_id: int) -> None:
        order = {"source_id": source_id, "target_id": target_id, "user_id": self._context.user_id}
        await self._context.rest.post("/people/merge", order, user_id=self._context.user_id)
        await self._go(target_id)

    async def _apart(self, source_id: int, shown_id: int) -> None:
        await self._context.rest.post(f"/people/{source_id}/split", user_id=self._context.user_id)
        await self._go(shown_id)

    async def _go(self, person_id: int) -> None:
        await self.show(person_id)
        with self._inside:  # the clicked element is gone by now
            ui.navigate.history.replace(self._context.at("/people", person=person_id))


class _Undo:
    """A bar at the bottom that says what was done and can undo it."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._box = ui.element("div").props("role=status")

    def offer(self, text: str, back: Step) -> None:
        self._box.clear()
        with self._box, ui.element("div").classes("undo"):
            words("span", text)
            words("button", self._context.say("people-undo")).props("type=button").on(
                "click", partial(self._take, back)
            )
            icon_button("close", self._context.say("close")).on("click", self._box.clear).style("color: inherit")

    async def _take(self, back: Step) -> None:
        self._box.clear()
        with self._box, trouble_notice(self._context):
            await back()
            ui.notify(self._context.say("people-undone"))


def act(icon: str, text: str, do: Callable[[], object]) -> ui.element:
    """A button with an icon and a label."""
    button = ui.element("button").props("type=button").classes("act").on("click", do)
    with button:
        ui.icon(icon).props("aria-hidden=true")
        words("span", text)
    return button


def _figure(name: str, value: str) -> None:
    with ui.element("div"):
        words("dt", name)
        words("dd", value)
