"""A simulated owner of a running product, who writes, is silent, sleeps and corrects earlier statements."""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, func, select

from benchmarks.shared.life_sentences import LANGUAGES, RECALLS, Life
from bot.application.app import App
from bot.runtime.turns import turn_flow
from bot.telegram.i18n import phrase
from internal.access import repository as users
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.model import Incoming, Message, Turn
from internal.errors import LaplacedError
from internal.flows.indexing.fragments import FragmentBackfill
from internal.flows.merging import people as merging_people
from internal.flows.turn.delivery import Delivery
from internal.flows.turn.intake import Intake
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.memory import service as memory
from internal.memory.observations.owner_changes import Choice
from internal.people import repository as people
from internal.storage.tables import graph_nodes, metadata
from internal.testing import FrozenClock

OWNER, BOT, SEED = 1, 7, 11
WORK_S: Final = 600.0
"""How long the archivist and the analyst may take for one session."""


class NoDrafts:
    """Nobody watches an answer being written."""

    async def begin(self, turn: Turn) -> None: ...
    async def show(self, turn: Turn, text: str) -> None: ...
    async def end(self, turn: Turn) -> str | None:
        return None


@dataclass(slots=True)
class Quarter:
    """Sizes in bytes; medians in milliseconds: of the clock on the wall and of this process's processor."""

    messages: int
    size: int
    write: float
    write_cpu: float
    archive: float
    recall: float
    recall_cpu: float


@dataclass(slots=True)
class Timed:
    """Milliseconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def of(self, work: Awaitable[Any]) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = await work
        self.wall.append((time.perf_counter() - wall) * 1e3)
        self.cpu.append((time.process_time() - cpu) * 1e3)
        return result

    def medians(self) -> tuple[float, float]:
        found = statistics.median(self.wall or [0.0]), statistics.median(self.cpu or [0.0])
        self.wall.clear()
        self.cpu.clear()
        return found


class Living:
    """An owner who lives with a running product, whose clock he holds."""

    def __init__(self, app: App, clock: FrozenClock) -> None:
        self.app, self.clock, self.chance = app, clock, random.Random(SEED)
        self.life = Life(self.chance)
        self.intake = Intake(
            app.database, clock, app.buffers, app.config.access, phrase, timedelta(seconds=2), app.lifecycle
        )
        self.turns, self.delivery = turn_flow(app, NoDrafts(), lambda: None), Delivery(app.database, clock, phrase)
        self.numbers = 0
        self.writing, self.archiving = Timed(), Timed()
        self.nights: Counter[str] = Counter()
        self.nights_s = 0.0
        self.changes: Counter[str] = Counter()

    # --- What is said

    async def session(self, number: int, turns: int) -> None:
        """One session, from its first message to its being archived and judged."""
        said = self.life.session(LANGUAGES[number % len(LANGUAGES)], turns)
        for sentence in said:
            await self.writing.of(self.exchange(sentence))
            self.clock.advance(self.chance.randrange(20, 180))
        await self.archiving.of(self.rest())

    async def exchange(self, sentence: str) -> None:
        user = await self.app.database.read(lambda c: users.get(c, OWNER))
        taken = await self.intake.take(await self.update(), user, self.incoming(sentence))
        assert taken.turn is not None, sentence
        self.clock.advance(5)
        await self.turns.answer(taken.turn)
        await self.deliver()

    async def update(self) -> int:
        self.numbers += 1
        rows = await self.app.database.write(
            lambda c: mailbox.receive(c, BOT, [(self.numbers, "{}")], self.clock.now())
        )
        return rows[0].n

    def incoming(self, words: str, tg_id: int | None = None) -> Incoming:
        self.numbers += tg_id is None
        return Incoming(OWNER, BOT, OWNER, tg_id or self.numbers, words, self.clock.now())

    async def deliver(self) -> None:
        while (found := await self.delivery.look(1))[0]:
            [row] = found[0]
            await self.delivery.sending(row)
            self.numbers += 1
            await self.delivery.sent(row, self.numbers)

    async def rest(self) -> None:
        """The dialogue falls silent: it is published, archived, judged, and found by what was said."""
        app = self.app
        self.clock.advance(app.config.dialogue.idle_timeout + timedelta(minutes=1))
        await app.publication.publish_due()
        self.clock.advance(60)
        await app.runs.work_off(OWNER, WORK_S)
        await FragmentBackfill(app.database).follow_due()
        await app.terms.analyse_due()
        await app.vectors.embed_due()
        await app.recorder.flush()

    # --- Days and nights

    async def until(self, moment: datetime) -> None:
        """Every day a night with its maintenance, and a noon at which a question may be asked."""
        began = time.perf_counter()
        while self.clock.now() < moment:
            following = self.clock.now().replace(hour=4, minute=30) + timedelta(days=1)
            self.clock.set(following)
            await self.night()
            self.clock.set(following.replace(hour=12))
            self.changes["questions asked"] += await self.app.memory_questions.ask_due()
            await self.deliver()
        self.nights_s += time.perf_counter() - began

    async def night(self) -> None:
        report = await self.app.nights.maintain(OWNER)
        self.nights["nights"] += 1
        for name in ("decayed", "pruned"):
            self.nights[name] += getattr(report, name)
        self.nights["offered at most"] = max(self.nights["offered at most"], report.faded)

    # --- What the owner changes

    async def change(self) -> None:
        """An edit, a deletion, a forgetting, a merge (every other one undone), a contradiction settled."""
        now, database = self.clock.now(), self.app.database
        log = await database.read(lambda c: dialogue.recent(c, OWNER, limit=40))
        edited, deleted = self.chance.sample([one for one in log if one.role == "user"], 2)
        await self._edit(edited)
        await self.app.eraser.erase_now(OWNER, "message", deleted.id)
        facts = await database.read(lambda c: knowledge.facts_about(c, OWNER, FactFilter(), now=now))
        if facts:
            await self.app.eraser.erase_now(OWNER, "fact", self.chance.choice(facts).id)
        self.changes.update(("messages edited", "messages deleted", "facts forgotten"))
        memories = await database.read(_memories)
        if len(memories) > 2:
            gone, *sides = self.chance.sample(memories, 3)
            await self.app.eraser.erase_now(OWNER, "memory", gone)
            await database.write(lambda c: self._contradict(c, sides, now))
            self.changes.update(("memories forgotten", "contradictions settled"))
        await database.write(lambda c: self._unite(c, now))
        await self.rest()

    async def _edit(self, message: Message) -> None:
        assert message.tg_id is not None
        changed = self.incoming(f"{message.content} !", message.tg_id)
        await self.intake.edit(await self.update(), changed)

    def _contradict(self, connection: Connection, sides: Sequence[str], now: datetime) -> None:
        words = {"description": f"said otherwise at {now:%Y-%m-%d}"}
        node = memory.put_node(connection, OWNER, "Contradiction", words, now=now)
        for side in sides:
            memory.put_edge(connection, OWNER, "CONFLICTS_WITH", node.id, side, {}, now=now)
        choice: Choice = self.chance.choice(("newer", "older", "both"))
        memory.resolve_contradiction(connection, OWNER, node.id, choice, now=now)

    def _unite(self, connection: Connection, now: datetime) -> None:
        known = people.listing(connection, OWNER)
        if len(known) < 3:
            return
        source, target = self.chance.sample(known, 2)
        try:
            merged = merging_people.merge(connection, OWNER, source.id, target.id, now=now)
        except LaplacedError:  # they are not to be one, by their accounts or by an earlier split
            return
        self.changes["people merged"] += 1
        if self.changes["people merged"] % 2 == 0:
            merging_people.split(connection, OWNER, merged.id, now=now)
            self.changes["merges split"] += 1

    # --- What is measured

    async def quarter(self, rounds: int) -> Quarter:
        """What it takes now; each question of recall is asked so often."""
        recall, app = Timed(), self.app
        await app.searches.overview(OWNER, RECALLS[0], 10)
        for _ in range(rounds):
            for question in RECALLS:
                await recall.of(app.searches.overview(OWNER, question, 10))
        messages = await app.database.read(lambda c: count(c, "messages"))
        await app.database.exclusive(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())
        write, asked = self.writing.medians(), recall.medians()
        return Quarter(messages, app.database.path.stat().st_size, *write, self.archiving.medians()[0], *asked)


def count(connection: Connection, table: str) -> int:
    return connection.execute(select(func.count()).select_from(metadata.tables[table])).scalar_one()


def _memories(connection: Connection) -> list[str]:
    wanted = (graph_nodes.c.user_id == OWNER) & (graph_nodes.c.label == "Memory")
    return list(connection.execute(select(graph_nodes.c.id).where(wanted).order_by(graph_nodes.c.id)).scalars())
