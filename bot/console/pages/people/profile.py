"""One person: the profile, the facts over time, where the person is mentioned, and what can be done about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import card, chip, icon_button, told, words
from bot.console.page_context import PageContext, initials
from bot.console.pages.people.circles import circle_name, circle_tone
from bot.console.pages.people.edit import edit_dialog
from bot.console.pages.people.history import lay_history
from bot.console.pages.people.mentions import lay_mentions
from bot.console.pages.people.merge import merge_dialog, split_dialog
from bot.console.rest import Json

Step = Callable[[], Awaitable[None]]

_FACTS: Final = 500
"""Most facts of one person that are shown."""

_EDITED: Final = ("display_name", "aliases", "username", "circle", "bio")


async def lay_profile(seat: PageContext, person_id: int) -> None:
    """Raises Trouble."""
    with ui.element("div").classes("profile").props("tabindex=0 role=region") as region:
        region.props["aria-label"] = seat.say("page-people")
        inside = ui.element("div").classes("profile-column")
    await _Profile(seat, inside).show(person_id)


class _Profile:
    """The open profile. What is done to it is shown at once, with a way back."""

    def __init__(self, seat: PageContext, inside: ui.element) -> None:
        self._seat, self._inside = seat, inside
        self._undo = _Undo(seat)

    async def show(self, person_id: int) -> None:
        """Raises Trouble."""
        rest, user_id = self._seat.rest, self._seat.user_id
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
                    lay_history(self._seat, facts["facts"], circle_tone(person["circle"]))
                with ui.element("div"):
                    await lay_mentions(self._seat, person["id"])
                    self._merged(person, known["merged"])

    def _back(self) -> None:
        with ui.element("a").classes("back").props(f'href="{self._seat.at("/people")}"'):
            ui.icon("chevron_left").props("aria-hidden=true").style("font-size: 22px")
            words("span", self._seat.say("people-all"))

    def _head(self, person: Json, known: Json) -> None:
        say, tone = self._seat.say, circle_tone(person["circle"])
        with card():
            with ui.element("div").classes("profile-head"):
                ui.label(initials(person["display_name"])).classes(f"avatar {tone}").props("aria-hidden=true")
                with ui.element("div"):
                    words("h2", person["display_name"], "profile-name")
                    with ui.element("div").classes("profile-chips"):
                        chip(circle_name(self._seat, person["circle"]), f"circle {tone}")
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
        say = self._seat.say
        act("edit", say("people-edit"), partial(edit_dialog, self._seat, person, self._edit))
        act("merge", say("people-merge"), partial(merge_dialog, self._seat, person, self._merge))
        with ui.element("a").classes("act") as link:
            link.props["href"] = self._seat.at("/graph", node=known["node_id"])
            ui.icon("hub").props("aria-hidden=true")
            words("span", say("people-in-graph"))

    def _about(self, person: Json, known: Json) -> None:
        say = self._seat.say
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
        say = self._seat.say
        with card(say("people-merged")):
            words("p", say("people-merged-text"), "dim")
            for one in merged:
                with ui.element("div").classes("part"):
                    with ui.element("div").classes("part-words"):
                        words("b", one["display_name"])
                        if one["at"]:
                            words("span", say("people-merged-at", at=say.moment(one["at"], "d MMM y")), "dim")
                    split = partial(split_dialog, self._seat, one, partial(self._split, one, person))
                    act("call_split", say("people-split"), split).classes("small")

    # What is done

    async def _edit(self, person: Json, changes: Json) -> None:
        """Raises Trouble."""
        before: Json = {name: person[name] for name in _EDITED if name in changes}
        await self._change(person["id"], changes)
        self._undo.offer(self._seat.say("people-saved"), partial(self._change, person["id"], before))

    async def _change(self, person_id: int, changes: Json) -> None:
        await self._seat.rest.patch(f"/people/{person_id}", changes, user_id=self._seat.user_id)
        await self.show(person_id)

    async def _merge(self, source: Json, target: Json) -> None:
        """Raises Trouble."""
        await self._join(source["id"], target["id"])
        names = {"source": source["display_name"], "target": target["display_name"]}
        self._undo.offer(self._seat.say("people-merge-done", **names), partial(self._apart, source["id"], source["id"]))

    async def _split(self, source: Json, target: Json) -> None:
        """Raises Trouble."""
        await self._apart(source["id"], target["id"])
        text = self._seat.say("people-split-done", name=source["display_name"])
        self._undo.offer(text, partial(self._join, source["id"], target["id"]))

    async def _join(self, source_id: int, target_id: int) -> None:
        order = {"source_id": source_id, "target_id": target_id, "user_id": self._seat.user_id}
        await self._seat.rest.post("/people/merge", order, user_id=self._seat.user_id)
        await self._go(target_id)

    async def _apart(self, source_id: int, shown_id: int) -> None:
        await self._seat.rest.post(f"/people/{source_id}/split", user_id=self._seat.user_id)
        await self._go(shown_id)

    async def _go(self, person_id: int) -> None:
        await self.show(person_id)
        with self._inside:  # whatever was clicked is gone by now
            ui.navigate.history.replace(self._seat.at("/people", person=person_id))


class _Undo:
    """A bar at the bottom that tells what was done, and takes it back."""

    def __init__(self, seat: PageContext) -> None:
        self._seat = seat
        self._place = ui.element("div").props("role=status")

    def offer(self, text: str, back: Step) -> None:
        self._place.clear()
        with self._place, ui.element("div").classes("undo"):
            words("span", text)
            words("button", self._seat.say("people-undo")).props("type=button").on("click", partial(self._take, back))
            icon_button("close", self._seat.say("close")).on("click", self._place.clear).style("color: inherit")

    async def _take(self, back: Step) -> None:
        self._place.clear()
        with self._place, told(self._seat):
            await back()
            ui.notify(self._seat.say("people-undone"))


def act(icon: str, text: str, do: Callable[[], object]) -> ui.element:
    """A button with a sign and words."""
    button = ui.element("button").props("type=button").classes("act").on("click", do)
    with button:
        ui.icon(icon).props("aria-hidden=true")
        words("span", text)
    return button


def _figure(name: str, value: str) -> None:
    with ui.element("div"):
        words("dt", name)
        words("dd", value)
