"""Notifications on the companion's own initiative: occasions a week before and on the day, and nudges.

Level-triggered: what is due follows from the facts and the day, and each notification has one key, so none is
repeated after a restart, and one that a standstill delayed is sent while it still helps.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User, UserState
from internal.dialogue.model import Message
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.errors import ModelUnavailable
from internal.events import repository as events
from internal.flows.companion import occasions
from internal.flows.companion.contacts import Contacts, LastContact, open_with
from internal.flows.companion.occasions import UpcomingOccasion, local_day
from internal.flows.companion.today import Agenda, agenda
from internal.flows.reflections.model import Reflection
from internal.flows.reflections.service import Reflections
from internal.flows.visibility.messages import statements
from internal.knowledge import service as knowledge
from internal.knowledge.model import EvidenceLine, Fact
from internal.language.worker.process_pool import LanguageCallFailed
from internal.people.circle_words import circles_named
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_apart_for
from internal.tasks import repository as tasks
from internal.tasks.model import EVENING_CALLS, Task, after_contact
from internal.tasks.service import postponed_by_owner

log = logging.getLogger(__name__)

SOURCE: Final = "agent:Companion"
AHEAD: Final = timedelta(days=7)
"""The time before an occasion at which it is announced."""
_USEFUL: Final = timedelta(days=2)
"""The least time before the day at which an announcement says more than the line on the day itself."""


DIGEST: Final = "digest"
"""Key in a user's settings for the time of the morning overview, such as 08:00; absent: none."""
REFLECTIONS: Final = "reflections"
"""Key in a user's settings; False if he wants no reflections unasked."""
_SUNDAY: Final = 6
_LATE: Final = timedelta(hours=4)
"""The delay after which an overview is not sent any more, as the morning is over."""
_AT_ONCE: Final = 50
_BY_DAY: Final = range(9, 21)
"""Hours of the day in which nudges are sent."""
_MOST_OPEN: Final = 3


class Wording(Protocol):
    """Writes notifications as Markdown in the owner's language."""

    def occasion(
        self,
        user: User,
        one: UpcomingOccasion,
        today: date,
        said: Message | None,
        likes: Sequence[Fact],
        gifts: Sequence[EvidenceLine],
    ) -> str:
        """The line a week before, with the words that name it, tastes and past presents, or the line on the day."""

    def nudge(self, user: User, task: Task, meant: LastContact, still_open: Sequence[Task], now: datetime) -> str:
        """The nudge to be in touch, with the last contact and what was open then."""

    def digest(self, user: User, found: Agenda, now: datetime) -> tuple[str, list[list[dict[str, str]]]]:
        """The overview of the day, and the buttons that open its lines, in Bot API form."""

    def reflections(self, user: User, found: Sequence[Reflection], now: datetime) -> tuple[str, Sequence[Any]]:
        """The reflections of the last weeks, each with its lines, and the buttons to dismiss them, in Bot API form."""

    def nudge_buttons(self, user: User, task: Task) -> Sequence[Sequence[dict[str, str]]]:
        """The buttons done, later and never, in Bot API form."""


class CompanionScheduler:
    """Looks for occasions once a day, in each owner's morning, and for due nudges by day."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        morning: time,
        contacts: Contacts,
        wording: Callable[[], Wording],
        reflections: Reflections,
    ) -> None:
        """`wording` is called only when there is something to say."""
        self._reflections = reflections
        self._database, self._clock, self._morning, self._wording = database, clock, morning, wording
        self._contacts = contacts
        self._done: dict[int, date] = {}
        self._sent: dict[int, date] = {}

    async def say_due(self) -> int:
        """Queues what is due for each owner. Returns the number of notifications."""
        now = self._clock.now()
        said = 0
        for user in await self._database.read(users.everybody):
            if user.state is UserState.ACTIVE:
                with acting_apart_for(user.user_id, log, "companion_failed"):
                    said += await self._say_to(user, now)
        return said + await self._nudge_due(now)

    async def _say_to(self, user: User, now: datetime) -> int:
        today, said = local_day(user, now), 0
        if _digest_due(user, now, self._sent.get(user.user_id)):
            reflections_found = await self._reflections_found(user, now)
            said += await self._database.write(lambda c: self._digest(c, user, reflections_found, now))
            self._sent[user.user_id] = today
        if self._done.get(user.user_id) == today or now.astimezone(ZoneInfo(user.tz)).time() < self._morning:
            return said
        said += await self._database.write(lambda c: self._morning_of(c, user, now))
        if not user.settings.get(DIGEST) and (reflections_found := await self._reflections_found(user, now)):
            said += await self._database.write(lambda c: self._digest(c, user, reflections_found, now, day=False))
        self._done[user.user_id] = today
        return said

    async def _nudge_due(self, now: datetime) -> int:
        """Nudges about due contacts, the longest overdue first; each owner once a day."""
        due = await self._database.read(lambda c: tasks.due_contacts(c, now, _AT_ONCE))
        nudged = 0
        for task in due:
            with acting_apart_for(task.user_id, log, "companion_failed"):
                nudged += await self._nudge(task, now)
        return nudged

    async def _nudge(self, task: Task, now: datetime) -> bool:
        user = await self._database.read(lambda c: users.get(c, task.user_id))
        if user.state is not UserState.ACTIVE or now.astimezone(ZoneInfo(user.tz)).hour not in _BY_DAY:
            return False
        try:
            meant = await self._contacts.of_rhythm(user, task)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("contact_lookup_failed", extra={"reason": type(error).__name__})
            return False
        return await self._database.write(lambda c: self._write_nudge(c, user, task, meant, now))

    def _write_nudge(self, connection: Connection, user: User, task: Task, meant: LastContact, now: datetime) -> bool:
        known = tasks.get(connection, user.user_id, task.id)
        if known is None or known.state.closed or known.next_at != task.next_at:
            return False
        asked = postponed_by_owner(connection, task)  # if so, he is nudged in any case
        if meant.line is not None and not asked and (due := after_contact(task, meant.line.at)) > now:
            tasks.change(connection, known, now, next_at=due)
            return False
        if not asked and self._nudged_today(connection, user, now):
            tasks.change(connection, known, now, next_at=_evening_in(user, now, 1))
            return False
        wording, person = self._wording(), meant.person
        if person is not None and task.person_id is None and not circles_named(task.title):
            # From now on the rhythm belongs to that person: it is erased with the person.
            known = tasks.change(connection, known, now, person_id=person.id)
        still_open = open_with(connection, user.user_id, person.id)[:_MOST_OPEN] if person is not None else []
        buttons = [list(row) for row in wording.nudge_buttons(user, task)]
        sent = notifications.generate(
            connection,
            user.user_id,
            NotificationKind.NUDGE,
            wording.nudge(user, task, meant, still_open, now),
            now=now,
            dedupe=f"nudge:{task.id}:{task.next_at}",
            ref_id=task.id,
            payload={"task": task.id, "message": task.message_id, "buttons": buttons},
            links={"task": task.id},
            source=SOURCE,
        )
        again = self._next_in_days(connection, user, task, meant, (after_contact(task, now) - now).days)
        tasks.change(connection, known, now, next_at=_evening_in(user, now, again))
        if sent is None:
            return False
        links = {"task": task.id, "notification": sent} | ({"message": meant.line.message_id} if meant.line else {})
        payload = {"person": person.id if person is not None else None}
        events.append(
            connection, "nudge_due", source=SOURCE, now=now, user_id=user.user_id, payload=payload, links=links
        )
        return True

    @staticmethod
    def _next_in_days(connection: Connection, user: User, task: Task, meant: LastContact, interval: int) -> int:
        """Days until the next nudge: doubled after each one without a contact, at most a week or an interval."""
        since = meant.line.at if meant.line is not None else task.created_at
        before = notifications.count_since(connection, user.user_id, NotificationKind.NUDGE, since, ref_id=task.id)
        first = max(2, min(7, interval // 3))
        return min(max(7, interval), first << max(0, before - 1))

    @staticmethod
    def _nudged_today(connection: Connection, user: User, now: datetime) -> bool:
        midnight = now.astimezone(ZoneInfo(user.tz)).replace(hour=0, minute=0, second=0, microsecond=0)
        return notifications.count_since(connection, user.user_id, NotificationKind.NUDGE, midnight) > 0

    async def _reflections_found(self, user: User, now: datetime) -> list[Reflection]:
        """The week's reflections, on the day of the week on which they are sent."""
        wanted = user.settings.get(REFLECTIONS, True) and user.user_id > 0
        if not wanted or local_day(user, now).weekday() != _SUNDAY:
            return []
        try:
            return await self._reflections.fresh(user)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("reflections_not_read", extra={"reason": type(error).__name__})
            return []

    def _digest(
        self, connection: Connection, user: User, reflections: Sequence[Reflection], now: datetime, *, day: bool = True
    ) -> bool:
        """Queues the overview of the day with the week's reflections, or these alone, once; nothing without either."""
        found, wording, payload = agenda(connection, user, now=now), self._wording(), dict[str, Any]()
        kind = NotificationKind.DIGEST if day and not found.empty else NotificationKind.REFLECTION
        texts: list[str] = []
        if kind is NotificationKind.DIGEST:
            text, payload["buttons"] = wording.digest(user, found, now)
            texts.append(text)
        if reflections:
            text, rows = wording.reflections(user, reflections, now)
            payload["buttons"] = [*payload.get("buttons", ()), *rows]
            payload["messages"] = list(dict.fromkeys(line.message_id for one in reflections for line in one.sources))
            texts.append(text)
        if not texts:
            return False
        sent = notifications.generate(
            connection,
            user.user_id,
            kind,
            "\n\n".join(texts),
            now=now,
            dedupe=f"{kind.value}:{found.first.isoformat()}",
            payload=payload,
            source=SOURCE,
        )
        return sent is not None

    def _morning_of(self, connection: Connection, user: User, now: datetime) -> int:
        today = local_day(user, now)
        found = occasions.coming(connection, user, today, today + AHEAD, now=now)
        return sum(self._announce(connection, user, one, today, now) for one in found)

    def _announce(self, connection: Connection, user: User, one: UpcomingOccasion, today: date, now: datetime) -> bool:
        said_on = local_day(user, one.occasion.said_at)
        week = one.on - AHEAD
        ahead = today + _USEFUL <= one.on
        if (said_on >= week and ahead) or said_on >= one.on:
            return False
        if (today != one.on or user.settings.get(DIGEST)) and not ahead:
            return False  # too late to prepare, or contained in the overview of that day
        wording = self._wording()
        presents = ahead and one.kind != "memorial"
        likes = occasions.tastes(connection, user.user_id, one, now=now) if presents else []
        gifts = occasions.presents(connection, user, one) if presents else []
        lines = knowledge.evidence_of_fact(connection, user.user_id, one.occasion.fact_id)
        shown = statements(connection, user.user_id, [line.message_id for line in lines])
        said = next(iter(shown.values()), None)
        dedupe = f"occasion:{one.occasion.node_id}:{one.kind}:{one.on}:{'week' if ahead else 'day'}"
        sent = notifications.generate(
            connection,
            user.user_id,
            NotificationKind.OCCASION,
            wording.occasion(user, one, today, said, likes, gifts),
            now=now,
            dedupe=dedupe,
            ref_id=one.occasion.fact_id,
            payload={"message": said.id if said is not None else None, "person": one.person_id},
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
        return True


def _evening_in(user: User, now: datetime, days: int) -> datetime:
    zone = ZoneInfo(user.tz)
    return datetime.combine(now.astimezone(zone).date() + timedelta(days=days), EVENING_CALLS, zone).astimezone(UTC)


def set_digest(connection: Connection, user_id: int, at: str | None) -> None:
    """Sets the time of the daily overview; None turns it off."""
    settings = {key: value for key, value in users.get(connection, user_id).settings.items() if key != DIGEST}
    users.change(connection, user_id, settings=settings | ({DIGEST: at} if at else {}))


def _digest_due(user: User, now: datetime, sent: date | None) -> bool:
    at = user.settings.get(DIGEST)
    if not at or sent == local_day(user, now):
        return False
    zone = ZoneInfo(user.tz)
    moment = datetime.combine(now.astimezone(zone).date(), time.fromisoformat(str(at)), zone)
    return moment <= now < moment + _LATE
