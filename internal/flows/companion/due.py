"""What the companion says by itself: occasions a week before and on the day.

Level-triggered: what is due follows from the facts and the day, and each notification has one key, so none is
repeated after a restart, and what a standstill missed is said while it still helps.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User, UserState
from internal.events import repository as events
from internal.flows.companion import occasions
from internal.flows.companion.occasions import Coming, local_day
from internal.knowledge import service as knowledge
from internal.knowledge.model import EvidenceLine, Fact
from internal.notifications import repository as notifications
from internal.notifications.model import NotificationKind
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)

SOURCE: Final = "agent:Companion"
AHEAD: Final = timedelta(days=7)
"""How long before an occasion it is announced."""
_USEFUL: Final = timedelta(days=2)
"""An announcement later than this before the day says no more than the line on the day itself."""


class Wording(Protocol):
    """Writes what is said, as Markdown in the owner's language."""

    def occasion(
        self, user: User, one: Coming, today: date, likes: Sequence[Fact], gifts: Sequence[EvidenceLine]
    ) -> str:
        """The line a week before, with tastes and past presents, or on the day."""


class CompanionScheduler:
    """Looks once a day, in the morning of each owner, for what is due."""

    def __init__(self, database: Database, clock: Clock, morning: time, wording: Callable[[], Wording]) -> None:
        """`wording` is called when something is to be said."""
        self._database, self._clock, self._morning, self._wording = database, clock, morning, wording
        self._done: dict[int, date] = {}

    async def say_due(self) -> int:
        """Queues what is due for each owner. Returns the number of notifications."""
        now = self._clock.now()
        said = 0
        for user in await self._database.read(users.everybody):
            today = local_day(user, now)
            if user.state is not UserState.ACTIVE or self._done.get(user.user_id) == today:
                continue
            if now.astimezone(ZoneInfo(user.tz)).time() < self._morning:
                continue
            with acting_for(user.user_id):
                said += await self._database.write(lambda c: self._morning_of(c, user, now))  # noqa: B023 - awaited here
            self._done[user.user_id] = today
        return said

    def _morning_of(self, connection: Connection, user: User, now: datetime) -> int:
        today = local_day(user, now)
        found = occasions.coming(connection, user, today, today + AHEAD, now=now)
        return sum(self._announce(connection, user, one, today, now) for one in found)

    def _announce(self, connection: Connection, user: User, one: Coming, today: date, now: datetime) -> bool:
        said_on = local_day(user, one.occasion.said_at)
        week = one.on - AHEAD
        ahead = today + _USEFUL <= one.on
        if (said_on >= week and ahead) or said_on >= one.on or (one.kind == "memorial" and ahead):
            return False
        if today != one.on and not ahead:
            return False
        wording = self._wording()
        likes = occasions.tastes(connection, user.user_id, one, now=now) if ahead else []
        gifts = occasions.presents(connection, user, one) if ahead else []
        lines = knowledge.evidence_of_fact(connection, user.user_id, one.occasion.fact_id)
        message = next((line.message_id for line in lines if line.message_id), None)
        dedupe = f"occasion:{one.occasion.node_id}:{one.kind}:{one.on}:{'week' if ahead else 'day'}"
        sent = notifications.generate(
            connection,
            user.user_id,
            NotificationKind.OCCASION,
            wording.occasion(user, one, today, likes, gifts),
            now=now,
            dedupe=dedupe,
            ref_id=one.occasion.fact_id,
            payload={"message": message, "person": one.person_id},
            links={"fact": one.occasion.fact_id},
            source=SOURCE,
        )
        if sent is None:
            return False
        payload = {"kind": one.kind, "date": one.on.isoformat(), "ahead": ahead}
        links = {"fact": one.occasion.fact_id, "notification": sent}
        events.append(
            connection, "occasion_due", source=SOURCE, now=now, user_id=user.user_id, payload=payload, links=links
        )
        log.info("occasion_due", extra={"user_id": user.user_id, "fact": one.occasion.fact_id})
        return True
