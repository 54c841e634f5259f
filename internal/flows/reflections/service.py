"""Reflections: patterns and changes of the last weeks, found by rules and not stored.

They follow from the current lines and facts, and disappear when those are forgotten or fade. Only those that
the owner has dismissed are stored, by keys that hold no words.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.chronicle import repository as chronicle
from internal.events import agent_state_repository as agent_state
from internal.flows.reflections.model import Line, Reflection
from internal.flows.reflections.patterns import LOOKED_BACK, Life, key_of, patterns
from internal.flows.visibility.pending_forgettings import hidden_messages
from internal.knowledge import service as knowledge
from internal.knowledge.model import FactFilter
from internal.language.chronicle.lines import read_lines
from internal.language.discretion.sensitivity import private_topics
from internal.language.worker.calls import LanguageCalls
from internal.memory.plasticity.decay import Plasticity, retention
from internal.people import repository as people
from internal.people.model import names_of
from internal.scheduling.clock import Clock
from internal.storage.database import Database

AGENT: Final = "reflections"
WEEK: Final = timedelta(days=7)
MOST: Final = 3
_DISMISSED: Final = "dismissed"
_CHANGING: Final = ("WORKS_FOR", "LIVES_IN")
_DEAD: Final = ("DIED_ON", "DIED_IN", "MEMORIAL_ON")
_FACTS: Final = 500


class Reflections:
    """Reads an owner's reflections, and stores which of them he dismissed."""

    def __init__(self, database: Database, clock: Clock, worker: LanguageCalls, rates: Plasticity) -> None:
        self._database, self._clock, self._worker, self._rates = database, clock, worker, rates

    async def current(self, user: User) -> list[Reflection]:
        """The current reflections, strongest first. May raise ModelUnavailable or LanguageCallFailed."""
        life, dismissed = await self._life(user)
        return self._shown(life, dismissed, self._clock.now())

    async def fresh(self, user: User) -> list[Reflection]:
        """The reflections that are new this week, as many as fit one message. Raises what `current` raises."""
        life, dismissed = await self._life(user)
        now = self._clock.now()
        known = {one.key for one in patterns(life, now - WEEK)}
        return [one for one in self._shown(life, dismissed, now) if one.key not in known][:MOST]

    def dismiss(self, connection: Connection, user_id: int, key: str) -> None:
        """Dismisses a reflection, which is not shown any more."""
        kept = [*(one for one in _dismissed(connection, user_id) if one != key), key][-300:]
        mine = agent_state.agent_id(AGENT, user_id)
        agent_state.save_state(connection, mine, _DISMISSED, kept, user_id=user_id, now=self._clock.now())

    def _shown(self, life: Life, dismissed: Sequence[str], now: datetime) -> list[Reflection]:
        found = [
            replace(one, strength=retention(one.at, None, 0, 1.0, now, self._rates.half_life))
            for one in patterns(life, now)
            if one.key not in dismissed
        ]
        held = [one for one in found if one.strength >= self._rates.forget_below]
        return sorted(held, key=lambda one: (-one.strength, -one.count, one.key))

    async def _life(self, user: User) -> tuple[Life, list[str]]:
        now = self._clock.now()

        def read(connection: Connection) -> tuple[Life, list[str]]:
            return _read(connection, user, now), _dismissed(connection, user.user_id)

        life, dismissed = await self._database.read(read)
        at = {one.entity_id: one for one in life.people.values()}
        named = [[at[id] for id in line.entities if id in at] for line in life.lines]
        asked = [
            (line.text, {one.id: names_of(one) for one in some}) for line, some in zip(life.lines, named, strict=True)
        ]
        content = await self._worker.run(read_lines, asked) if asked else []
        lines = [replace(line, content=one) for line, one in zip(life.lines, content, strict=True)]
        return replace(life, lines=lines), dismissed


def _read(connection: Connection, user: User, now: datetime) -> Life:
    """The recent lines, without sensitive ones and those being forgotten."""
    user_id, lines, wanted = user.user_id, dict[str, Line](), FactFilter(relations=_DEAD)
    hidden = hidden_messages(connection, user_id)
    for row in chronicle.words_since(connection, user_id, now - LOOKED_BACK - WEEK):
        if row.message_id not in hidden.message_ids and (hidden.until is None or row.at > hidden.until):
            line = lines.get(row.message_id) or Line(row.message_id, row.at, row.content)
            lines[row.message_id] = replace(line, entities=line.entities | {row.entity_id})
    calm = [line for line in lines.values() if not private_topics(line.text)]
    dead = {one.source for one in knowledge.latest_facts(connection, user_id, wanted, now=now, limit=_FACTS)}
    known = {one.id: one for one in people.listing(connection, user_id) if one.entity_id not in dead}
    return Life(calm, _changes(connection, user_id, now), known, ZoneInfo(user.tz), user.created_at)


def _changes(connection: Connection, user_id: int, now: datetime) -> list[Reflection]:
    """Facts that ended when another one of the same relation began."""
    kinds = FactFilter(relations=_CHANGING), FactFilter(relations=_CHANGING, ended=True)
    later, earlier = (knowledge.latest_facts(connection, user_id, one, now=now, limit=_FACTS) for one in kinds)
    pairs = [
        (old, new)
        for new in later
        for old in earlier
        if (old.source, old.name) == (new.source, new.name) and old.invalid_at == new.valid_at
        if old.target != new.target and not private_topics(f"{old.fact} {new.fact}")
    ]
    evidence = knowledge.evidence_of_facts(connection, user_id, [new.id for _, new in pairs])
    hidden, found = hidden_messages(connection, user_id).message_ids, []
    for old, new in pairs:
        said = [one for one in evidence.get(new.id, ()) if one.message_id and one.message_id not in hidden]
        lines = [Line(str(one.message_id), one.at, one.quote) for one in said if one.role == "user"]
        if lines:
            found.append(Reflection(key_of("change", new.id), "change", new.fact, 1, lines, before=old.fact))
    return found


def _dismissed(connection: Connection, user_id: int) -> list[str]:
    found = agent_state.get(connection, agent_state.agent_id(AGENT, user_id), _DISMISSED)
    return list(json.loads(found)) if found else []
