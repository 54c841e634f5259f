"""Plays a scenario against the running bot, act by act; it can be paused, resumed and sped up."""

import asyncio
import logging
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from bot.runtime.bot import RunningBot
from bot.simulation.stage import Stage
from bot.simulation.verdicts import examine
from bot.simulator.client import ControlClient
from bot.simulator.clock import SimulatedClock
from bot.simulator.scenarios import loader
from bot.simulator.scenarios.plan import WEEK, Act, Plan, plan
from bot.web.admin.simulator import SimulatedUser, SimulatorOrder, SimulatorState, State
from internal.errors import Conflict, Refused

log = logging.getLogger(__name__)

AS_FAST_AS_POSSIBLE = 0.0

_STEP_S = 0.25
"""Real seconds between two moves of the clock when a speed is set."""

_LOOKED_AT = (3, 12)
"""Hours of each user's day, at night and at noon, at which time stops in long silences so that the bot can act."""

_REPORT_EVERY = timedelta(days=7)

_PAST_THE_HOUR = timedelta(minutes=5)
_SILENCE = timedelta(minutes=10)
"""The longest pause within a conversation; before a longer one, the bot must become idle."""


class Simulation:
    """The simulation driver of the bot (bot/runtime/bot.py) and the simulator of its REST (bot/web/admin/simulator.py).

    With `stay` the bot continues in real time after the scenario, and other scenarios can be started.
    """

    def __init__(self, first: Plan, reports: Path, *, speed: float = AS_FAST_AS_POSSIBLE, stay: bool = False) -> None:
        self.clock = SimulatedClock(first.begins)
        self._plan, self._reports, self._speed, self._stay = first, reports, speed, stay
        self._state: State = "running"
        self._going, self._news = asyncio.Event(), asyncio.Event()
        self._going.set()
        self._news.set()
        self._done = 0
        self._reported = first.begins
        self._error: str | None = None
        self._last: dict[int, int] = {}
        self._notes: list[str] = []
        self._report: dict[str, Any] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._stage: Stage | None = None

    def state(self) -> SimulatorState:
        scenario = self._plan.scenario
        return SimulatorState(
            state=self._state,
            scenario=scenario.name,
            title=scenario.title,
            seed=self._plan.seed,
            speed=self._speed or None,
            now=self.clock.now(),
            begins=self._plan.begins,
            ends=self._plan.ends,
            acts=self._done,
            of_acts=len(self._plan.acts) + len(self._plan.questions),
            users=[
                SimulatedUser(user_id=one.id, name=one.first_name, language=one.language, persona=one.persona)
                for one in scenario.users.values()
            ],
            scenarios=loader.shipped(),
            error=self._error,
        )

    def report(self) -> dict[str, Any] | None:
        return self._report

    async def order(self, order: SimulatorOrder) -> None:
        match order.action:
            case "start":
                await self._start(order)
            case "stop":
                await self._pause()
            case "resume":
                await self._resume()
        if order.speed is not None:
            self._speed = order.speed

    async def run(self, running: RunningBot) -> None:
        """Plays until it is stopped, or (without `stay`) to the end of the first scenario."""
        async with ControlClient(running.telegram) as people:
            self._stage = Stage(running, people, self.clock)
            while True:
                await self._news.wait()
                self._news.clear()
                self._playing = asyncio.create_task(self._play(self._stage), name="simulation")
                try:
                    await asyncio.wait([self._playing])
                finally:
                    self._playing.cancel()
                if self._stay:
                    continue
                self._playing.result()
                return

    async def _start(self, order: SimulatorOrder) -> None:
        if self._state == "running":
            raise Conflict("a simulation is running; stop it first")
        if order.scenario not in {None, *loader.shipped()}:  # a path would let the server read any file
            raise Refused(
                "scenario", f"scenario: there is no {order.scenario}; there are {', '.join(loader.shipped())}"
            )
        scenario = loader.load(order.scenario) if order.scenario is not None else self._plan.scenario
        seed = self._plan.seed if order.seed is None else order.seed
        made = plan(scenario, seed)
        if made.begins < self.clock.now():  # this bot has already passed that time
            made = plan(scenario, seed, made.start + (1 + (self.clock.now() - made.begins) // WEEK) * WEEK)
        if self._playing is not None:
            self._playing.cancel()
        self._plan, self._done, self._error, self._state = made, 0, None, "running"
        self._reported = made.begins
        self._going.set()
        self._news.set()

    async def _pause(self) -> None:
        if self._state != "running":
            raise Conflict("no simulation is running")
        self._state = "stopped"
        self._going.clear()
        await self._note("sim_stop", reason="held")

    async def _resume(self) -> None:
        if self._state != "stopped":
            raise Conflict("no simulation is stopped")
        self._state = "running"
        await self._note("sim_start", reason="resumed")
        self._going.set()

    async def _play(self, stage: Stage) -> None:
        began, self._notes = time.monotonic(), []
        try:
            await self._play_all(stage, began)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # outermost handler: the simulation's state shows the error, and the bot goes on
            log.exception("simulation_failed")
            self._state, self._error = "failed", f"{type(error).__name__}: {error}"
            if not self._stay:
                raise

    async def _play_all(self, stage: Stage, began: float) -> None:
        played = self._plan
        users = list(played.scenario.users.values())
        await stage.move(played.begins, played.acts[0].at)
        await self._note("sim_start", reason="begun")
        await stage.add_users(users)
        for n, act in enumerate(played.acts):
            await self._act(stage, act, played.acts[n + 1].at if n + 1 < len(played.acts) else played.ends)
        await self._pass_time(stage, played.ends, played.ends)
        await self._rest(stage)
        await stage.wait_until_indexed()
        outcome = await examine(stage, played, self._answer)
        await self._note("sim_stop", reason="finished")
        if self._stay:
            await stage.release()
        outcome = outcome.with_notes(self._notes, time.monotonic() - began, stage.restless)
        written = await asyncio.to_thread(outcome.write, self._reports)
        self._report, self._state = outcome.as_json(), "finished"
        print(f"{outcome.summary()}\nReport: {written[1]}", flush=True)
        if self._stay:
            print("The bot goes on, in real time; the addresses stand above. Ctrl-C ends it.", flush=True)

    async def _answer(self, stage: Stage, act: Act) -> str:
        """Asks a question of the scenario. Returns the bot's answer."""
        user_id = self._plan.scenario.users[act.who].id
        await self._pass_time(stage, act.at, act.at + _SILENCE)
        message_id = await stage.say(user_id, act.text)
        await stage.wait_until_answered()
        self._done += 1
        return "\n".join(message.get("text", "") for message in await stage.answers(user_id, message_id))

    async def _act(self, stage: Stage, act: Act, following: datetime) -> None:
        await self._pass_time(stage, act.at, following)
        user_id = self._plan.scenario.users[act.who].id
        match act.kind:
            case "say":
                self._last[user_id] = await stage.say(user_id, act.text)
            case "edit":
                await stage.edit(user_id, self._last[user_id], act.text)
            case "press":
                labels = [label.strip().casefold() for label in act.text.split("|")]
                if not await stage.press(user_id, labels):
                    self._notes.append(f"{act.at:%Y-%m-%d %H:%M} {act.who}: no button “{act.text}” to press")
        await stage.wait_until_answered()
        if act.ends or following - act.at > _SILENCE:
            await self._rest(stage)
        self._done += 1
        self._log_progress(act.at)

    async def _rest(self, stage: Stage) -> None:
        """Waits until nothing is due, including what follows from the buttons that users press."""
        tapping = [user for user in self._plan.scenario.users.values() if user.taps]
        while True:
            await stage.wait_until_idle()
            if not any([await stage.tap_offered(user) for user in tapping]):
                return

    def _log_progress(self, at: datetime) -> None:
        """Logs a line for each week, for the terminal."""
        if at - self._reported >= _REPORT_EVERY:
            self._reported = at
            print(f"{at:%Y-%m-%d}: {self._done} of {len(self._plan.acts)} acts", flush=True)

    async def _pass_time(self, stage: Stage, to: datetime, until: datetime) -> None:
        """Moves the time to a moment, and lets the bot become idle whenever something is due on the way."""
        while (now := self.clock.now()) < to:
            await self._going.wait()
            due = await stage.next_due()
            step = min(to, *_looks(self._zones(), now), *([] if due is None else [due]))
            await self._walk(stage, step)
            if step < to:
                await self._rest(stage)
        await self._going.wait()
        await stage.move(to, until)

    async def _walk(self, stage: Stage, to: datetime) -> None:
        while self._speed and (left := (to - self.clock.now()).total_seconds()) > 0:
            await self._going.wait()
            part = timedelta(seconds=min(left, self._speed * _STEP_S))
            await stage.move(self.clock.now() + part, self.clock.now() + part)
            await asyncio.sleep(part.total_seconds() / self._speed if self._speed else 0)
        await stage.move(to, to)

    def _zones(self) -> Sequence[ZoneInfo]:
        return [self._plan.scenario.zone(who) for who in self._plan.scenario.users]

    async def _note(self, event_type: str, *, reason: str) -> None:
        scenario, stage = self._plan.scenario, self._stage
        payload = {"scenario": scenario.name, "seed": self._plan.seed, "speed": self._speed or None, "reason": reason}
        if stage is not None:
            await stage.note(event_type, [user.id for user in scenario.users.values()], payload)


def _looks(zones: Sequence[ZoneInfo], now: datetime) -> list[datetime]:
    """For each time zone, the next moment at which the bot gets time to act."""
    found: list[datetime] = []
    for zone in set(zones):
        here = now.astimezone(zone)
        midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
        moments = [
            (midnight + timedelta(days=days)).replace(hour=hour) + _PAST_THE_HOUR
            for days in (0, 1)
            for hour in _LOOKED_AT
        ]
        found.append(min(moment for moment in moments if moment > here))
    return found
