"""Asks the owner questions: at a suitable moment, one at a time, as rarely as he wants."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users, service as access
from internal.access.model import User, UserState
from internal.config.settings import MemoryConfig
from internal.dialogue import repository as dialogue
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.memory.plasticity.decay import plasticity_of
from internal.memory.questions import repository as question_repository, selection
from internal.memory.questions.repository import AskedQuestion
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)

DAY: Final = range(10, 21)
"""Hours of the owner's day in which he may be asked."""

QUIET: Final = timedelta(minutes=30)
"""The silence after a dialogue before a question."""

ABSENT: Final = timedelta(days=14)
"""The time without a message after which an owner is not asked any more."""

PATIENCE: Final = timedelta(days=3)
"""How long an unanswered question delays the next one."""

LOOKED_AGAIN: Final = timedelta(hours=6)
"""Time between two searches for fading memories, which take seconds for 100,000 memories."""

Ask = Callable[[Connection, User, AskedQuestion, datetime], None]
"""Asks an owner a question, in the transaction that records it."""


class QuestionScheduler:
    """Asks every owner who may be asked now. `ask` writes the question to his chat."""

    def __init__(self, database: Database, clock: Clock, config: MemoryConfig, ask: Ask) -> None:
        self._database, self._clock, self._ask = database, clock, ask
        self._most, self._plasticity = config.questions_per_day, plasticity_of(config)
        self._looked: dict[int, datetime] = {}

    async def ask_due(self) -> int:
        """Asks each owner at most one question. Returns the number of questions."""
        if not self._most:
            return 0
        now = self._clock.now()
        asked = 0
        ready, looked = await self._database.read(lambda c: self._ready(c, now))
        self._looked |= dict.fromkeys(looked, now)
        for user_id in ready:
            with acting_for(user_id):
                about = await self._database.write(lambda c: self._ask_one(c, user_id, now))  # noqa: B023 - awaited here
            if about is not None:
                asked += 1
                log.info("owner_asked", extra={"user_id": user_id, "about": about})
        return asked

    def _ready(self, connection: Connection, now: datetime) -> tuple[list[int], list[int]]:
        """The owners who may be asked, and those whose fading memories were searched; does not block writers."""
        fitting = [user.user_id for user in users.everybody(connection) if self._fits(connection, user, now)]
        ready, looked = [], []
        for user_id in fitting:
            found = selection.next_question(connection, user_id, self._plasticity, now, fading=False)
            if found is None and abs(now - self._looked.get(user_id, now - LOOKED_AGAIN)) >= LOOKED_AGAIN:
                looked.append(user_id)
                found = selection.next_question(connection, user_id, self._plasticity, now)
            if found is not None:
                ready.append(user_id)
        return ready, looked

    def _ask_one(self, connection: Connection, user_id: int, now: datetime) -> str | None:
        """Asks an owner. Returns the question, or None. Checks everything again: the owner may have written since."""
        user = users.get(connection, user_id)
        found = selection.next_question(connection, user_id, self._plasticity, now)
        if found is None or not self._fits(connection, user, now):
            return None
        about, refs = found
        self._ask(connection, user, question_repository.note(connection, user_id, about, refs, now), now)
        return about

    def _fits(self, connection: Connection, user: User, now: datetime) -> bool:
        """Whether an owner may be asked: by day, no dialogue, no open question, not too often, not long absent."""
        local = now.astimezone(ZoneInfo(user.tz))
        if user.state is not UserState.ACTIVE or local.hour not in DAY or access.awaited(user, now) is not None:
            return False
        state = dialogue.get_dialogue_state(connection, user.user_id)
        if state is None or state.is_active or not QUIET <= now - state.last_activity <= ABSENT:
            return False
        today = local.replace(hour=0, minute=0, second=0, microsecond=0)
        if question_repository.asked_since(connection, user.user_id, today.astimezone(now.tzinfo)) >= self._most:
            return False
        waits = question_repository.waits_for_answer(connection, user.user_id, now - PATIENCE)
        return not waits and everything_asked(connection, user.user_id) is None
