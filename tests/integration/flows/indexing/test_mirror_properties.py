"""Whatever happens to an owner's memory, the mirror that followed it is the mirror that is built of it again."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import Connection, insert, select, update
from support.flows.flow_stage import OWNER
from support.flows.mirror_stage import ROWS, TARGET, MirrorStage, following

from internal.chronicle import repository as chronicle_repository, service as chronicle
from internal.errors import Conflict, NotFound, Refused
from internal.flows.forgetting import requests
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.merging import people as merging_people
from internal.graph import store
from internal.graph.mirror.falkordb import Falkor
from internal.graph.mirror.falkordb_server import EmbeddedFalkor
from internal.graph.model import NodeFilter
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, FactFilter, Segment
from internal.memory.plasticity import strength_changes
from internal.memory.plasticity.decay import PRESETS
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.storage.forgetting import forgettings
from internal.storage.tables import event_mentions, graph_edges, users as users_table
from internal.storage.types import new_id

OPERATIONS: Final = 90
LOOKED_EVERY: Final = 6
"""What happens together is followed together, as in a batch of changes."""

NAMES: Final = ("Петров", "Олена", "Марія", "John", "Саша")
CITIES: Final = ("Київ", "Львів", "Berlin")
MERELY_REFUSED: Final = (Refused, NotFound, Conflict)


@pytest.fixture
async def beside(tmp_path: Path) -> AsyncIterator[Falkor]:
    """A second FalkorDB, in which mirrors are only ever rebuilt."""
    server = EmbeddedFalkor(tmp_path / "beside", rows=ROWS)
    await server.start()
    falkor = Falkor(server.url, TARGET + "/beside", timeout=timedelta(seconds=10), rows=ROWS)
    yield falkor
    await falkor.aclose()
    await server.stop()


class Life:
    """One owner to whom things happen at random; the same seed lives the same life."""

    def __init__(self, mirror: MirrorStage, seed: int) -> None:
        self.mirror, self.chance = mirror, random.Random(seed)
        self.eraser = ForgettingService(mirror.database, mirror.talk.clock, b"k" * 32)
        self.happened: list[str] = []

    async def live(self) -> None:
        """Something happens; what cannot be done just now is not."""
        able = [
            *(self.says, self.tells, self.meets, self.remembers, self.links, self.links) * 2,
            *(self.edits, self.closes, self.analyses, self.mentions, self.changes, self.renames),
            *(self.unites, self.parts, self.plays, self.forgets, self.asks_to_forget, self.thinks_better, self.moves),
        ]
        what: Callable[[], Awaitable[Any]] = self.chance.choice(able)
        self.happened.append(what.__name__)
        self.mirror.talk.clock.advance(self.chance.choice((5, 60, 90_000)))
        try:
            await what()
        except MERELY_REFUSED:
            self.happened[-1] += " (refused)"

    async def says(self) -> None:
        await self.mirror.talk.exchange(f"{self.chance.choice(NAMES)} {self.chance.random()}")

    async def tells(self) -> None:
        """A text in which somebody lives somewhere, or likes something."""
        now, episode_id = self.mirror.now, new_id()
        relation, things = self.chance.choice((("LIVES_IN", CITIES), ("LIKES", ("чай", "tea"))))
        ends = await self.mirror.write(lambda c: [self._entity(c, name) for name in self._pair(NAMES, things)])
        told = f"{relation} {self.chance.random()}"
        begins = now - timedelta(days=self.chance.randrange(400)) if self.chance.random() < 0.5 else None
        claim = NewClaim(
            source=ends[0],
            relation=relation,
            target=ends[1],
            fact=told,
            said_at=now,
            valid_at=begins,
            valid_stated=begins is not None,
            episode_id=episode_id,
            lines=[ClaimLine(1, told)],
        )

        def work(connection: Connection) -> None:
            episode = Episode(OWNER, episode_id, "text", "note", told, "notes", None, now, now)
            episodes.add_episode(connection, episode, [Segment(1, now, told, None)])
            knowledge.record_claims(connection, OWNER, [claim], now=now)

        await self.mirror.write(work)

    async def meets(self) -> None:
        name, now = self.chance.choice(NAMES), self.mirror.now
        person = Person(0, OWNER, new_id(), name, circle=Circle.FRIENDS, bio="", first_seen=now, last_seen=now)
        await self.mirror.write(lambda c: people.create(c, person, by="archivist", now=now))

    async def remembers(self) -> None:
        labels: dict[str, dict[str, Any]] = {
            "Memory": {"content": f"memory {self.chance.random()}", "confidence": 0.5},
            "Concept": {"name": f"concept {self.chance.randrange(4)}"},
            "Goal": {"description": f"goal {self.chance.random()}", "priority": 1},
            "Contradiction": {"description": "both cannot be", "facts": ["x"]},
        }
        label = self.chance.choice(["Memory", *labels])
        await self.mirror.node(label, **labels[label])

    async def links(self) -> None:
        memory, other = await self._node("Memory"), await self._node("Memory", "Concept", "Entity", "Goal")
        types = {"Memory": "RELATES_TO", "Concept": "HAS_CONCEPT", "Entity": "MENTIONS", "Goal": "SUPPORTS"}
        await self.mirror.edge(types[other.label], memory, other)

    async def edits(self) -> None:
        said = [one for one in await self.mirror.talk.messages() if one.tg_id is not None and one.role == "user"]
        await self.mirror.talk.edit(self._one(said), f"changed {self.chance.random()}")

    async def closes(self) -> None:
        await self.mirror.write(lambda c: chronicle.close(c, OWNER, self.mirror.now))

    async def analyses(self) -> None:
        now = self.mirror.now

        def work(connection: Connection) -> None:
            event = self._one(
                [one for one in chronicle_repository.events(connection, OWNER) if one.label == "Response"]
            )
            attrs = {"type": "response_analysis", "verdict": "correct", "rules_used": ["be brief"]}
            chronicle.analyse(
                connection,
                OWNER,
                event.session_id,
                "response_analysis",
                attrs,
                answers_n=event.n,
                now=now,
                run_id="run",
            )

        await self.mirror.write(work)

    async def mentions(self) -> None:
        def work(connection: Connection) -> None:
            event, entity = self._one(chronicle_repository.events(connection, OWNER)), self._any(connection, "Entity")
            row = {"user_id": OWNER, "event_id": event.id, "entity_origin": entity, "entity_id": entity, "relevance": 3}
            known = {(one.event_id, one.entity_id) for one in chronicle_repository.mentions(connection, OWNER)}
            if (event.id, entity) not in known:
                connection.execute(insert(event_mentions).values(row))
                chronicle_repository.mark_changed(connection, OWNER, [event.id])

        await self.mirror.write(work)

    async def changes(self) -> None:
        node = await self._node("Memory", "Concept", "Goal")
        name = {"Memory": "content", "Concept": "description", "Goal": "description"}[node.label]
        told = {name: f"changed {self.chance.random()}"}
        await self.mirror.write(lambda c: store.update_node(c, OWNER, node.id, told, now=self.mirror.now))

    async def renames(self) -> None:
        person, name = self._one(await self._people()), f"{self.chance.choice(NAMES)} {self.chance.randrange(9)}"
        await self.mirror.write(
            lambda c: merging_people.edit(c, OWNER, person.id, {"display_name": name}, now=self.mirror.now)
        )

    async def unites(self) -> None:
        one, other = self._one(await self._people()), self._one(await self._people())
        await self.mirror.write(lambda c: merging_people.merge(c, OWNER, one.id, other.id, now=self.mirror.now))

    async def parts(self) -> None:
        person = self._one(await self._people())
        await self.mirror.write(lambda c: merging_people.split(c, OWNER, person.id, now=self.mirror.now))

    async def plays(self) -> None:
        """Links are strengthened, weakened and pruned, and memories are used."""
        now, kind = self.mirror.now, self.chance.randrange(4)

        def work(connection: Connection) -> None:
            query = select(graph_edges.c.source, graph_edges.c.target).where(graph_edges.c.type == "RELATES_TO")
            source, target = self._one(connection.execute(query).all())
            if kind == 0:
                strength_changes.strengthen(connection, OWNER, source, target, 0.2, now=now)
            elif kind == 1:
                strength_changes.decay(connection, OWNER, 0.9, 0.1, now=now)
            elif kind == 2:
                strength_changes.prune(connection, OWNER, 0.3)
            else:
                strength_changes.touch_used(connection, OWNER, [source, target], now, PRESETS["default"])

        await self.mirror.write(work)

    async def forgets(self) -> None:
        await self.eraser.erase_now(OWNER, *await self._forgettable())

    async def asks_to_forget(self) -> None:
        kind, ref = await self._forgettable()
        if self.chance.random() < 0.05:
            kind, ref = "everything", None
        await self.mirror.write(lambda c: requests.ask(c, OWNER, kind, ref, now=self.mirror.now))

    async def thinks_better(self) -> None:
        """What was to be forgotten is not, or is forgotten because its time has come."""
        if self.chance.random() < 0.3:
            self.mirror.talk.clock.advance(900)
            await self.eraser.erase_due()
            return
        asked = self._one(await self.mirror.database.read(lambda c: forgettings.pending(c, OWNER)))
        await self.mirror.write(lambda c: requests.undo(c, OWNER, asked.id))

    async def moves(self) -> None:
        tz = self.chance.choice(("Europe/Kyiv", "America/New_York"))
        await self.mirror.write(
            lambda c: c.execute(update(users_table).where(users_table.c.user_id == OWNER).values(tz=tz))
        )

    async def _forgettable(self) -> Any:
        kind = self.chance.choice(("person", "entity", "fact", "episode", "message"))

        def work(connection: Connection) -> str:
            match kind:
                case "person":
                    return str(self._one(people.listing(connection, OWNER)).id)
                case "entity":
                    return self._any(connection, "Entity", "Memory")
                case "fact":
                    return self._one(knowledge.facts_about(connection, OWNER, FactFilter(), now=self.mirror.now)).id
                case "episode":
                    return self._one(episodes.listing(connection, OWNER)).id
            return str(
                self._one([one.message_id for one in chronicle_repository.events(connection, OWNER) if one.message_id])
            )

        return kind, await self.mirror.database.read(work)

    async def _people(self) -> list[Person]:
        return await self.mirror.database.read(lambda c: people.listing(c, OWNER))

    async def _node(self, *labels: str) -> Any:
        found = await self.mirror.database.read(lambda c: store.nodes(c, OWNER, NodeFilter(labels), limit=1000))
        return self._one(found)

    def _any(self, connection: Connection, *labels: str) -> str:
        return self._one(store.nodes(connection, OWNER, NodeFilter(labels), limit=1000)).id

    def _entity(self, connection: Connection, name: str) -> str:
        known = store.nodes_called(connection, OWNER, [name])
        if known:
            return known[0].id
        return store.add_node(connection, OWNER, "Entity", {"name": name}, now=self.mirror.now).id

    def _pair(self, *choices: Any) -> list[str]:
        return [self.chance.choice(choice) for choice in choices]

    def _one(self, some: Any) -> Any:
        if not some:
            raise NotFound("there is none yet")
        return self.chance.choice(list(some))


@pytest.mark.parametrize("seed", range(3))
async def test_a_mirror_that_followed_is_one_that_is_built_anew(mirror: MirrorStage, beside: Falkor, seed: int) -> None:
    """After any series of writes, merges, splits, edits and erasures both hold the same nodes and edges."""
    life = Life(mirror, seed)
    anew = replace(mirror, falkor=beside, mirroring=following(mirror.talk, beside))
    for _ in range(OPERATIONS // LOOKED_EVERY):
        for _ in range(LOOKED_EVERY):
            await life.live()
        followed, built = await mirror.followed(), await anew.built_anew()
        recent = life.happened[-LOOKED_EVERY:]
        assert followed.nodes == built.nodes, recent
        assert followed.edges == built.edges, recent
    assert followed.nodes or "forgets" in "".join(life.happened)
