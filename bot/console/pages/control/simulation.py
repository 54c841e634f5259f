"""The panel of a simulation, where one runs: start, stop, resume, speed."""

from __future__ import annotations

from functools import partial
from typing import Final

from nicegui import ui

from bot.console.parts import chip, heading, told, words
from bot.console.rest import Json, Refused
from bot.console.seat import Seat

_LOOK_S: Final = 2.0
_SPEEDS: Final = (60, 3_600, 86_400, 0)
"""Simulated seconds in a real one; 0 is as fast as the bot can follow."""

_KINDS: Final = {"running": "good", "failed": "bad", "stopped": "warn"}
_ACTIONS: Final = {"running": ("stop",), "stopped": ("resume", "start"), "finished": ("start",), "failed": ("start",)}


async def simulation_panel(seat: Seat, place: ui.element) -> None:
    """Laid in `place` if the bot lives in a simulation and the session may steer it; else nothing."""
    try:
        state: Json = await seat.rest.get("/simulator")
    except Refused:
        return
    if state["state"] != "off":
        with place:
            _Panel(seat, state)


class _Panel:
    """Looks every two seconds how far it is."""

    def __init__(self, seat: Seat, state: Json) -> None:
        self._seat = seat
        with ui.element("section").classes("simulation") as section:
            section.props["aria-label"] = seat.say("simulation")
            self._inside = ui.element("div")
        self._shown: Json | None = None
        self._show(state)
        ui.timer(_LOOK_S, self._look)

    async def _look(self) -> None:
        with told(self._seat):
            self._show(await self._seat.rest.get("/simulator"))

    def _show(self, state: Json) -> None:
        if state == self._shown:
            return
        self._shown = state
        say = self._seat.say
        self._inside.clear()
        with self._inside:
            with ui.element("div").classes("simulation-head"):
                heading(state["title"] or state["scenario"] or say("simulation"), 2)
                chip(say(f"simulation-{state['state']}"), _KINDS.get(state["state"], ""))
            words("p", say.moment(state["now"], "EEE d MMM y, HH:mm"), "dim")
            share = state["acts"] / state["of_acts"] if state["of_acts"] else 0
            bar = ui.element("progress").props(f"max=1 value={share}")
            bar.props["aria-label"] = say("simulation-progress")
            if state["error"]:
                words("p", state["error"], "fault")
            with ui.element("div").classes("simulation-buttons"):
                for action in _ACTIONS.get(state["state"], ()):
                    button = words("button", say(f"simulation-{action}-now"), "button small").props("type=button")
                    button.on("click", partial(self._order, {"action": action}))
            self._speeds(state)

    def _speeds(self, state: Json) -> None:
        say = self._seat.say
        with ui.element("div").classes("speeds").props("role=group") as group:
            group.props["aria-label"] = say("simulation-speed")
            for speed in _SPEEDS:
                chosen = (state["speed"] or 0) == speed
                button = words("button", say(f"simulation-speed-{speed}"), "speed").props("type=button")
                button.props(f"aria-pressed={str(chosen).lower()}")
                button.on("click", partial(self._order, {"action": "speed", "speed": speed}))

    async def _order(self, order: Json) -> None:
        with told(self._seat):
            self._show(await self._seat.rest.post("/simulator", order))
