"""Conversations to read: who said what, what the analyst judged of each answer, and what was learned from it."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from bot.console.elements import chip, empty, style, words
from bot.console.lists import AT_ONCE, button
from bot.console.page import Page
from bot.console.page_context import PageContext
from bot.console.rest import Json, segment

_KINDS: Final = {"correct": "good", "partially_correct": "warn", "incorrect": "bad"}
_ASKED: Final = ("Request", "Feedback")


async def build(seat: PageContext) -> None:
    """The sessions beside the chosen one, `?session=`; without one, the newest. On a phone one after the other."""
    style("records")
    found = await seat.rest.get("/chronicle/sessions", user_id=seat.user_id, newest=True, limit=AT_ONCE)
    if not found["sessions"]:
        empty("forum", seat.say("sessions-empty"), seat.say("sessions-empty-text"))
        return
    asked = ui.context.client.request.query_params.get("session")
    chosen = asked or found["sessions"][0]["id"]
    view = await seat.rest.get(f"/chronicle/sessions/{segment(chosen)}", user_id=seat.user_id)
    with ui.element("div").classes("talks open" if asked else "talks"):
        _List(seat, found, chosen)
        with ui.element("div").classes("transcript").props("tabindex=0 role=region") as place:
            place.props["aria-label"] = seat.say("session-transcript")
            with ui.element("div").classes("transcript-inner"):
                back = words("a", f"← {seat.say('session-back')}", "back-link")
                back.props["href"] = seat.at("/sessions")
                _transcript(seat, view)


class _List:
    """The sessions, newest first; earlier ones on demand."""

    def __init__(self, seat: PageContext, found: Json, chosen: str) -> None:
        self._seat, self._chosen, self._shown = seat, chosen, 0
        with ui.element("div").classes("talks-list"), ui.element("nav") as nav:
            nav.props["aria-label"] = seat.say("page-sessions")
            self._list = ui.element("div")
            self._more = button(seat.say("earlier"), self._earlier, quiet=True)
        self._add(found)

    def _add(self, found: Json) -> None:
        say = self._seat.say
        with self._list:
            for one in found["sessions"]:
                link = ui.element("a").classes("talk-link")
                link.props["href"] = self._seat.at("/sessions", session=one["id"])
                if one["id"] == self._chosen:
                    link.props("aria-current=true")
                with link:
                    words("div", one["topic"] or one["name"], "talk-topic")
                    with ui.element("div").classes("talk-when"):
                        words("time", say.moment(one["created_at"], "d MMM y, HH:mm"))
                        if one["status"] == "active":
                            chip(say("session-active"), "good")
        self._shown += len(found["sessions"])
        self._more.set_visibility(self._shown < found["count"])

    async def _earlier(self) -> None:
        query = {"user_id": self._seat.user_id, "newest": True, "limit": AT_ONCE, "offset": self._shown}
        self._add(await self._seat.rest.get("/chronicle/sessions", **query))


def _transcript(seat: PageContext, view: Json) -> None:
    """Every word in order; a judgement stands under the answer that it is about, that of the whole at the end."""
    say, session = seat.say, view["session"]
    about = {edge["source_id"]: edge["target_id"] for edge in view["edges"] if edge["type"] == "ANALYZES"}
    rulings = {about[one["id"]]: one for one in view["events"] if one["id"] in about}
    with ui.element("div").classes("transcript-head"):
        words("h2", session["topic"] or session["name"])
        with ui.element("div").classes("transcript-sub"):
            words("time", _times(seat, session))
            for node in view["nodes"]:
                if node["label"] == "Entity":
                    chip(str(node.get("description") or node["name"])[:60])
    for event in view["events"]:
        if event["label"] == "Analysis":
            continue
        _said(seat, event)
        if event["id"] in rulings:
            _ruling(seat, rulings[event["id"]])
    wholes = [one for one in view["events"] if one.get("type") == "session_summary"]
    for whole in wholes:
        _ruling(seat, whole, whole=True)
    if not wholes:
        words("p", say("session-unjudged" if session["closed_at"] else "session-goes-on"), "dim")


def _times(seat: PageContext, session: Json) -> str:
    begin = seat.say.moment(session["created_at"], "EEEE, d MMMM y, HH:mm")
    return begin if session["closed_at"] is None else f"{begin} – {seat.say.moment(session['closed_at'], 'HH:mm')}"


def _said(seat: PageContext, event: Json) -> None:
    asked = event["label"] in _ASKED
    with ui.element("div").classes("bubble asked" if asked else "bubble"):
        words("span", seat.say("session-owner" if asked else "session-bot"), "sr")
        words("p", event["text"] if asked else event["full_text"])
        words("time", seat.say.moment(event["created_at"], "HH:mm"))


def _ruling(seat: PageContext, ruling: Json, *, whole: bool = False) -> None:
    say = seat.say
    with ui.element("div").classes("ruling whole" if whole else "ruling"):
        if whole:
            words("h3", say("session-whole"))
        chip(say(f"verdict-{ruling['verdict']}"), _KINDS.get(ruling["verdict"], ""))
        for part in ("lessons", "errors", "rules_ignored", "rules_used"):
            if ruling[part]:
                words("h4", say(f"session-{part.replace('_', '-')}"))
                with ui.element("ul"):
                    for line in ruling[part]:
                        words("li", str(line))


SESSIONS = Page("sessions", "/sessions", "forum", "s", build, wide=True)
