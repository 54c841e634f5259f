"""The lanes of the timeline: people, each agent, and the system. Hidden ones are not even fetched."""

from dataclasses import asdict, dataclass
from typing import Final

from bot.console.phrases import Phrases
from bot.console.rest import Json

PEOPLE: Final = "user"
SYSTEM: Final = "system"
"""Lanes of several sources; any other lane is one source, such as `agent:Archivist`."""

_TONES: Final = 8


@dataclass(slots=True)
class _Lane:
    id: str
    name: str
    tone: str
    hidden: bool = False


class LaneList:
    """The lanes; an agent's is added with its first event."""

    def __init__(self, say: Phrases, users: list[Json], *, everybody: bool) -> None:
        """`everybody`: events of several users are shown, so each names its user."""
        self._say, self._everybody = say, everybody
        self._names = {user["user_id"]: user["name"] for user in users}
        people, system = _Lane(PEOPLE, say("lane-people"), "tone-4"), _Lane(SYSTEM, say("lane-system"), "tone-7")
        self._lanes = {lane.id: lane for lane in (people, system)}

    @property
    def hidden(self) -> list[str]:
        """The sources to leave out, in REST's form."""
        return [lane.id for lane in self._lanes.values() if lane.hidden]

    def toggle(self, lane_id: str) -> None:
        if lane_id in self._lanes:
            self._lanes[lane_id].hidden = not self._lanes[lane_id].hidden

    def meet(self, event: Json) -> bool:
        """Adds a lane for the event's source. Returns whether it is new."""
        lane_id = self.of(event)
        if lane_id in self._lanes:
            return False
        agents = len(self._lanes) - 2
        system = self._lanes.pop(SYSTEM)
        # Neighbours differ: 4 and 7 are taken by people and the system.
        tone = (0, 3, 2, 1, 5, 6)[agents % 6]
        self._lanes |= {lane_id: _Lane(lane_id, self._agent(lane_id), f"tone-{tone}"), SYSTEM: system}
        return True

    def of(self, event: Json) -> str:
        kind = str(event["source"]).partition(":")[0]
        return kind if kind in {PEOPLE, SYSTEM} else str(event["source"])

    def who(self, event: Json) -> str:
        """The name of the user, agent or part that caused the event."""
        kind, _, name = str(event["source"]).partition(":")
        if kind == PEOPLE and name.lstrip("-").isdigit():
            return str(self._names.get(int(name), name))
        source = self._agent(str(event["source"])) if kind != SYSTEM else self._say.known(f"part-{name}", name)
        whose = self._names.get(event.get("user_id")) if self._everybody else None
        return f"{source} · {whose}" if whose else source

    def fields(self) -> list[Json]:
        return [asdict(lane) for lane in self._lanes.values()]

    def _agent(self, source: str) -> str:
        """The agent's key: `agent:TaskManager` and `agent:task_manager` are the same."""
        name = source.partition(":")[2].partition(":")[0] or source
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
        return self._say.known(f"agent-{snake}", name)
