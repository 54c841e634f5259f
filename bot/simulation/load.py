"""The load generator: many virtual users write messages at a given rate, and the time to each answer is measured."""

import asyncio
import json
import random
import time
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot.runtime.bot import RunningBot
from bot.simulation.load_options import Load
from bot.simulator.client import ControlClient
from bot.web.admin.simulator import SimulatorOrder, SimulatorState
from internal.errors import Conflict
from internal.scheduling.clock import SystemClock

FIRST_ID = 700_001

_LOOK_S = 0.25
_PATIENCE_S = 120.0
"""Seconds to wait for the last answers."""

_PEOPLE = {
    "en": ("Baker", "Kate", "Tom Wilson", "my sister Anna", "Mr Hughes", "Nora", "Priya", "Sam"),
    "ru": ("Петров", "Маша", "моя сестра Аня", "Игорь Савельев", "Оксана", "Дмитрий", "Лена", "Тимур"),
    "uk": ("Петренко", "Оля", "моя сестра Ганна", "Ігор Савчук", "Оксана", "Дмитро", "Леся", "Тарас"),
}

_LINES = {
    "en": (
        "{who} moved to {place} in {month}.", "{who} called, the release is on {n}.", "What did I say about {who}?",
        "I want to learn {n} new words a day.", "Lunch with {who} was nice.", "{who} works for Acme {n} now.",
    ),
    "ru": (
        "{who} теперь живёт в городе {place}.", "Говорил с {who}, релиз {n} числа.", "Что я рассказывал: {who}?",
        "Хочу учить по {n} слов в день.", "Обедали вместе: {who} и я.", "{who} теперь работает в фирме «Вектор-{n}».",
    ),
    "uk": (
        "{who} тепер живе в місті {place}.", "Говорив з {who}, реліз {n} числа.", "Що я розповідав: {who}?",
        "Хочу вчити по {n} слів на день.", "Обідали разом: {who} і я.", "{who} тепер працює в компанії «Вектор-{n}».",
    ),
}  # fmt: skip

_PLACES = ("Leeds", "Lviv", "Riga", "Kazan", "Odesa", "Porto")
_MONTHS = ("March", "April", "May", "June")


@dataclass(frozen=True, slots=True)
class ScheduledMessage:
    """A text sent `after` seconds from the beginning."""

    after: float
    user_id: int
    text: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Seconds from a message to its answer: the median, the 95th percentile, the slowest."""

    users: int
    sent: int
    answered: int
    sent_per_second: float
    answered_per_second: float
    median_s: float
    p95_s: float
    slowest_s: float


def scheduled_messages(load: Load) -> list[ScheduledMessage]:
    """The messages, at times of a Poisson process; the same seed gives the same."""
    chance = random.Random(f"load:{load.seed}:{load.users}")
    found, after = list[ScheduledMessage](), 0.0
    while (after := after + chance.expovariate(load.rate)) < load.seconds:
        n = chance.randrange(load.users)
        found.append(ScheduledMessage(after, FIRST_ID + n, _text(chance, _language(n))))
    return found


def _language(n: int) -> str:
    return ("en", "ru", "uk")[n % 3]


def _text(chance: random.Random, language: str) -> str:
    return chance.choice(_LINES[language]).format(
        who=chance.choice(_PEOPLE[language]),
        place=chance.choice(_PLACES),
        month=chance.choice(_MONTHS),
        n=chance.randint(2, 28),
    )


def load_report(load: Load, sent: int, waits: list[float], took_s: float) -> LoadReport:
    waits = sorted(waits)

    def at(part: float) -> float:
        return round(waits[min(len(waits) - 1, int(part * len(waits)))], 3) if waits else 0.0

    return LoadReport(
        users=load.users,
        sent=sent,
        answered=len(waits),
        sent_per_second=round(sent / load.seconds, 2),
        answered_per_second=round(len(waits) / took_s, 2),
        median_s=at(0.5),
        p95_s=at(0.95),
        slowest_s=at(1.0),
    )


class LoadGenerator:
    """A simulation driver that only sends messages. Time is real, and the bot stops when everything is answered."""

    def __init__(self, load: Load, report: Path) -> None:
        self.clock = SystemClock()
        self._load, self._path = load, report
        self._waiting: dict[int, deque[float]] = {}
        self._waits: list[float] = []
        self._seen = 0

    def state(self) -> SimulatorState:
        title = f"{self._load.users} users, {self._load.rate} messages a second"
        return SimulatorState(state="running", title=title, now=self.clock.now())

    def report(self) -> dict[str, Any] | None:
        return None

    async def order(self, order: SimulatorOrder) -> None:
        raise Conflict("load goes on for its time")

    async def run(self, running: RunningBot) -> None:
        async with ControlClient(running.telegram) as people:
            await people.request("PUT", "/flood", {"enabled": False})
            for n in range(self._load.users):
                await people.add_user(f"Load {n}", id=FIRST_ID + n, language_code=_language(n))
            self._seen = max((call["seq"] for call in await people.ledger()), default=0)
            began, planned = time.monotonic(), scheduled_messages(self._load)
            watching = asyncio.create_task(self._watch(people))
            try:
                async with asyncio.TaskGroup() as group:
                    for message in planned:
                        await asyncio.sleep(max(0.0, began + message.after - time.monotonic()))
                        group.create_task(self._send(people, message))
                await self._until_answered()
            finally:
                watching.cancel()
        made = load_report(self._load, len(planned), self._waits, time.monotonic() - began)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(asdict(made), indent=2) + "\n", encoding="utf-8")
        print(json.dumps(asdict(made)), flush=True)

    async def _send(self, people: ControlClient, message: ScheduledMessage) -> None:
        self._waiting.setdefault(message.user_id, deque()).append(time.time())
        await people.say(message.user_id, message.text)

    async def _watch(self, people: ControlClient) -> None:
        """Matches each answer with the oldest waiting message of its chat: every message gets its own answer."""
        while True:
            for call in await people.calls_after(self._seen, "sendMessage"):
                self._seen = max(self._seen, call["seq"])
                waiting = self._waiting.get(call["chat_id"])
                if waiting and call["status"] == 200:
                    self._waits.append(call["at"] - waiting.popleft())
            await asyncio.sleep(_LOOK_S)

    async def _until_answered(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while any(self._waiting.values()):  # noqa: ASYNC110 - another process is waited for
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            return
