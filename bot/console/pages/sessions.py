"""Sessions to read: the messages, the analyst's judgement of each answer, and the lessons."""

import asyncio
from typing import Final

from nicegui import ui

from bot.console.elements import chip, empty_list, style, words
from bot.console.lists import AT_ONCE, button
from bot.console.page_context import Page, PageContext
from bot.console.rest import Json, segment

_KINDS: Final = {"correct": "good", "partially_correct": "warn", "incorrect": "bad"}
_ABOUT: Final = 100
"""The most events and nodes around a session that are read."""
_ASKED: Final = ("Request", "Feedback")


async def build(context: PageContext) -> None:
    """Lays out the sessions beside the chosen (`?session=`) or newest one; on a phone one below the other."""
    style("records")
    found = await context.rest.get("/chronicle/sessions", user_id=context.user_id, newest=True, limit=AT_ONCE)
    if not found["sessions"]:
        empty_list("forum", context.say("sessions-empty"), context.say("sessions-empty-text"))
        return
    asked = ui.context.client.request.query_params.get("session")
    chosen = asked or found["sessions"][0]["id"]
    asking = {"user_id": context.user_id, "kind": "chronicle", "limit": _ABOUT}
    view, near = await asyncio.gather(
        context.rest.get(f"/chronicle/sessions/{segment(chosen)}", user_id=context.user_id),
        context.rest.get(f"/graph/around/{segment(chosen)}", **asking),
    )
    with ui.element("div").classes("talks open" if asked else "talks"):
        _List(context, found, chosen)
        with ui.element("div").classes("transcript").props("tabindex=0 role=region") as box:
            box.props["aria-label"] = context.say("session-transcript")
            with ui.element("div").classes("transcript-inner"):
                back = words("a", f"← {context.say('session-back')}", "back-link")
                back.props["href"] = context.at("/sessions")
                _transcript(context, view, [one for one in near["nodes"] if one["label"] == "Entity"])


class _List:
    """The sessions, newest first; earlier ones on demand."""

    def __init__(self, context: PageContext, found: Json, chosen: str) -> None:
        self._context, self._chosen, self._shown = context, chosen, 0
        with ui.element("div").classes("talks-list"), ui.element("nav") as nav:
            nav.props["aria-label"] = context.say("page-sessions")
            self._list = ui.element("div")
            self._more = button(context.say("earlier"), self._earlier, quiet=True)
        self._add(found)

    def _add(self, found: Json) -> None:
        say = self._context.say
        with self._list:
            for one in found["sessions"]:
                link = ui.element("a").classes("talk-link")
                link.props["href"] = self._context.at("/sessions", session=one["id"])
                if one["id"] == self._chosen:
                    link.props("aria-current=true")
                with link:
                    words("div", one["topic"] or say("session-untitled"), "talk-topic")
                    with ui.element("div").classes("talk-when"):
                        words("time", say.moment(one["created_at"], "d MMM y, HH:mm"))
                        if one["status"] == "active":
                            chip(say("session-active"), "good")
        self._shown += len(found["sessions"])
        self._more.set_visibility(self._shown < found["count"])

    async def _earlier(self) -> None:
        query = {"user_id": self._context.user_id, "newest": True, "limit": AT_ONCE, "offset": self._shown}
        self._add(await self._context.rest.get("/chronicle/sessions", **query))


def _transcript(context: PageContext, view: Json, entities: list[Json]) -> None:
    """Lays out the messages in order, the verdict on each answer below it, that on the whole session at the end."""
    say, session = context.say, view["session"]
    about = {edge["source_id"]: edge["target_id"] for edge in view["edges"] if edge["type"] == "ANALYZES"}
    rulings = {about[one["id"]]: one for one in view["events"] if one["id"] in about}
    with ui.element("div").classes("transcript-head"):
        words("h2", session["topic"] or say("session-untitled"))
        with ui.element("div").classes("transcript-sub"):
            words("time", _times(context, session))
            for one in entities:
                person = one["person_id"]
                link = words("a", one["name"], "chip")
                link.props["href"] = (
                    context.at("/people", person=person) if person else context.at("/graph", node=one["id"])
                )
    for event in view["events"]:
        if event["label"] == "Analysis":
            continue
        _said(context, event)
        if event["id"] in rulings:
            _ruling(context, rulings[event["id"]])
    wholes = [one for one in view["events"] if one.get("type") == "session_summary"]
    for whole in wholes:
        _ruling(context, whole, whole=True)
    if not wholes:
        words("p", say("session-unjudged" if session["closed_at"] else "session-goes-on"), "dim")


def _times(context: PageContext, session: Json) -> str:
    begin = context.say.moment(session["created_at"], "EEEE, d MMMM y, HH:mm")
    return begin if session["closed_at"] is None else f"{begin} – {context.say.moment(session['closed_at'], 'HH:mm')}"


def _said(context: PageContext, event: Json) -> None:
    asked = event["label"] in _ASKED
    with ui.element("div").classes("bubble asked" if asked else "bubble"):
        words("span", context.say("session-owner" if asked else "session-bot"), "sr")
        words("p", event["text"] if asked else event["full_text"])
        words("time", context.say.moment(event["created_at"], "HH:mm"))


def _ruling(context: PageContext, ruling: Json, *, whole: bool = False) -> None:
    say = context.say
    with ui.element("div").classes("ruling whole" if whole else "ruling"):
        if whole:
            words("h3", say("session-whole"))
        chip(say(f"verdict-{ruling['verdict']}"), _KINDS.get(ruling["verdict"], ""))
        for part in ("lessons", "errors", "rules_ignored", "rules_used"):
            # Rules are sentences of a prompt, in English: without mistakes they tell a reader nothing.
            if ruling[part] and (part != "rules_used" or ruling["verdict"] != "correct"):
                words("h4", say(f"session-{part.replace('_', '-')}"))
                with ui.element("ul"):
                    for line in ruling[part]:
                        words("li", str(line))


SESSIONS = Page("sessions", "/sessions", "forum", "s", build, wide=True)
