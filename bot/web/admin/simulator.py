"""`/simulator`: the simulation that moves this bot, and the buttons of its panel. Needs the server's own key.

Without a simulation the state is `off`, and orders are refused.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field

from bot.web.http.fields import RequestBody
from bot.web.http.routers import KEYED, APIRouter
from internal.errors import Conflict, expect_found

SIMULATOR_PATH = "/simulator"
REPORT_PATH = "/simulator/report"

State = Literal["off", "running", "stopped", "finished", "failed"]
Action = Literal["start", "stop", "resume", "speed"]


class SimulatedUser(BaseModel):
    """A virtual user; `user_id` is the owner whose memory grows."""

    user_id: int
    name: str
    language: str
    persona: str


class SimulatorState(BaseModel):
    """The progress of the simulation. `now` is its own time; `acts` of `of_acts` are done.

    `speed` is the most simulated seconds in a real one; null: as many as the bot can follow.
    `scenarios` are the names that can be started.
    """

    state: State = "off"
    scenario: str | None = None
    title: str | None = None
    seed: int | None = None
    speed: float | None = None
    now: datetime | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    acts: int = 0
    of_acts: int = 0
    users: Sequence[SimulatedUser] = ()
    scenarios: Sequence[str] = ()
    error: str | None = None


class SimulatorOrder(RequestBody):
    """`start` begins a scenario, by default the last one; `stop` pauses it, `resume` continues; `speed` alone sets it.

    `speed` may come with each of them; 0 is as fast as the bot can follow.
    """

    action: Action
    scenario: str | None = Field(None, max_length=200)
    seed: int | None = Field(None, ge=0, le=2**31)
    speed: float | None = Field(None, ge=0, le=10_000_000)


class Simulator(Protocol):
    """The simulation that drives the virtual users."""

    def state(self) -> SimulatorState: ...

    async def order(self, order: SimulatorOrder) -> None:
        """Starts carrying out the order and returns. Raises Conflict in the wrong state, NotFound and Refused."""

    def report(self) -> dict[str, Any] | None:
        """The report of the last finished simulation, or None."""


def simulator_router(simulator: Simulator | None) -> APIRouter:
    router = APIRouter(tags=["simulator"], dependencies=KEYED, include_in_schema=False)

    @router.get(SIMULATOR_PATH)
    async def state() -> SimulatorState:
        return SimulatorState() if simulator is None else simulator.state()

    @router.post(SIMULATOR_PATH)
    async def order(wanted: SimulatorOrder) -> SimulatorState:
        if simulator is None:
            raise Conflict("this bot lives in real time; a simulation is begun with: laplaced simulate SCENARIO --stay")
        await simulator.order(wanted)
        return simulator.state()

    @router.get(REPORT_PATH)
    async def report() -> dict[str, Any]:
        return expect_found(None if simulator is None else simulator.report(), "no simulation has come to its end here")

    return router
