"""The panel of a running simulation: start, pause, resume, speed."""

from functools import partial
from typing import Final

from nicegui import ui

from bot.console.elements import chip, heading, trouble_notice, words
from bot.console.page_context import PageContext
from bot.console.rest import Json, RefusedByServer

_LOOK_S: Final = 2.0
_SPEEDS: Final = (60, 3_600, 86_400, 0)
"""Simulated seconds in a real one; 0 is as fast as the bot can follow."""

_KINDS: Final = {"running": "good", "failed": "bad", "stopped": "warn"}
_ACTIONS: Final = {"running": ("stop",), "stopped": ("resume", "start"), "finished": ("start",), "failed": ("start",)}


async def simulation_panel(context: PageContext, box: ui.element) -> None:
    """Lays the panel in `box` if the bot runs in a simulation that the session may control; else nothing."""
    try:
        state: Json = await context.rest.get("/simulator")
    except RefusedByServer:
        return
    if state["state"] != "off":
        with box:
            _Panel(context, state)


class _Panel:
    """Updates every two seconds. Its buttons stay the same elements, or they would lose the focus."""

    def __init__(self, context: PageContext, state: Json) -> None:
        self._context, say = context, context.say
        with ui.element("section").classes("simulation") as section:
            section.props["aria-label"] = say("simulation")
            self._head = ui.element("div").classes("simulation-head")
            self._now = words("p", "", "dim")
            self._bar = ui.element("progress")
            self._bar.props["aria-label"] = say("simulation-progress")
            self._error = words("p", "", "fault")
            self._buttons = ui.element("div").classes("simulation-buttons")
            with ui.element("div").classes("speeds").props("role=group") as group:
                group.props["aria-label"] = say("simulation-speed")
                self._speeds = {speed: self._speed(speed) for speed in _SPEEDS}
        self._shown: Json = {}
        self._show(state)
        ui.timer(_LOOK_S, self._look)

    def _speed(self, speed: int) -> ui.element:
        button = words("button", self._context.say(f"simulation-speed-{speed}"), "speed").props("type=button")
        return button.on("click", partial(self._order, {"action": "speed", "speed": speed}))

    async def _look(self) -> None:
        with trouble_notice(self._context):
            self._show(await self._context.rest.get("/simulator"))

    def _show(self, state: Json) -> None:
        before, self._shown = self._shown, state
        if any(before.get(part) != state[part] for part in ("state", "title", "scenario")):
            self._head_line(state)
            self._offer(state)
        self._now.text = self._context.say.moment(state["now"], "EEE d MMM y, HH:mm")
        share = state["acts"] / state["of_acts"] if state["of_acts"] else 0
        self._bar.props(f"max=1 value={share}")
        self._error.text = state["error"] or ""
        self._error.set_visibility(bool(state["error"]))
        for speed, button in self._speeds.items():
            button.props(f"aria-pressed={str((state['speed'] or 0) == speed).lower()}")

    def _head_line(self, state: Json) -> None:
        say = self._context.say
        self._head.clear()
        with self._head:
            heading(state["title"] or state["scenario"] or say("simulation"), 2)
            chip(say(f"simulation-{state['state']}"), _KINDS.get(state["state"], ""))

    def _offer(self, state: Json) -> None:
        """Shows the orders allowed in this state."""
        self._buttons.clear()
        with self._buttons:
            for action in _ACTIONS.get(state["state"], ()):
                button = words("button", self._context.say(f"simulation-{action}-now"), "button small")
                button.props("type=button").on("click", partial(self._order, {"action": action}))

    async def _order(self, order: Json) -> None:
        with trouble_notice(self._context):
            self._show(await self._context.rest.post("/simulator", order))
