"""Lets the context manager weigh waiting notifications (now, later, together, reworded, never) and sends them.

Level-triggered: what waits is a query, and decisions are written with their effects in one transaction. A crash
at any point neither loses a notification nor sends it twice. Nothing is decided for a user who cannot be reached.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.access import limits, repository as users, service as access
from internal.access.model import User
from internal.agents.context_manager.offline_wording import notification_text, phrase, together_text, weigh
from internal.agents.context_manager.output import NotificationDecision, parse_decisions
from internal.agents.model import ContextManager, OwnerProfile, WeighingRequest
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.model import visible
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind
from internal.dialogue.notifications.quiet import quiet_until
from internal.dialogue.snapshots.repository import AGENT
from internal.errors import ModelError
from internal.events.bus import EventTopic, Subscription
from internal.events.trigger import caused_by
from internal.flows.notifications.deliver import NotificationMessage, Rendering, deliver, record_decision
from internal.flows.notifications.reminders import reachable, rings
from internal.flows.notifications.teams import taken_back
from internal.flows.runs.slices import message_line
from internal.flows.visibility.notifications import ABOUT_TASKS, in_sight
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget, quotes_shown
from internal.flows.visibility.snapshot import shown_snapshot
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone
from internal.tasks import repository as tasks
from internal.tasks.model import TaskState

log = logging.getLogger(__name__)

AT_ONCE: Final = 20
"""The most notifications of one owner weighed together; the rest follow at the next tick."""

PARALLEL: Final = 4
"""Owners whose notifications are weighed in parallel."""

RECENT: Final = 12
"""Messages of the dialogue that the context manager is shown."""

LATER: Final = timedelta(hours=1)
"""How long a notification is postponed if the model gives no time, and the longest for an urgent one."""

LONGEST: Final = timedelta(hours=24)
"""The longest time for which another notification may be postponed at once."""

WEIGHED_WITHIN: Final = timedelta(minutes=1)
"""How long a model may weigh before the rules decide: one without a graphics card takes many minutes for it."""

PATIENCE: Final = 3
"""The times that a model may postpone the same notification, which is then sent."""


Effect = tuple[str, str, float | None]
"""The arguments of `NotificationObserver.notification_decided`: kind, decision, seconds waited."""


class NotificationObserver(Protocol):
    def notification_decided(self, kind: str, decision: str, waited_s: float | None = None) -> None:
        """`decision` is now, merge, later or drop; `waited_s` is how long a sent notification had waited."""


@dataclass(frozen=True, slots=True)
class _Situation:
    """The state of one owner in which notifications may be sent to him.

    `quiet` ones wait until `quiet_until`; `settled` ones are not sent any more; `seen` is how far the topic was read.
    """

    user: User
    bot_id: int
    request: WeighingRequest
    quiet: Sequence[Notification]
    quiet_until: datetime | None
    settled: Sequence[Notification]
    seen: int | None
    within_cost: bool

    @property
    def all_ids(self) -> list[str]:
        return [one.id for one in (*self.request.notifications, *self.quiet, *self.settled)]


class NotificationScheduler:
    """The context manager as a gatekeeper. `manager` is None if it is switched off: then rules decide."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        manager: ContextManager | None,
        *,
        quiet_hours: str,
        persona_name: str,
        daily_cost_usd: float,
        rendering: Rendering,
        observer: NotificationObserver,
        wake_outbox: Callable[[], None],
    ) -> None:
        self._database, self._clock, self._manager = database, clock, manager
        self._quiet_hours, self._persona, self._daily_cost = quiet_hours, persona_name, daily_cost_usd
        self._rendering, self._observer, self._wake_outbox = rendering, observer, wake_outbox
        self._working: dict[int, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(PARALLEL)

    async def start_due(self) -> None:
        """Starts weighing notifications that are due, several owners in parallel, without waiting for slow models."""
        now = self._clock.now()
        with acting_for_everyone():
            due = await self._database.read(lambda c: notifications.owners_due(c, now))
        for user_id in due:
            if user_id not in self._working:
                task = asyncio.create_task(self._guarded(user_id), name=f"notifications-{user_id}")
                self._working[user_id] = task

    async def work_off(self) -> None:
        """Like `start_due`, but returns when everything is done."""
        await self.start_due()
        await asyncio.gather(*self._working.values())

    async def stop(self) -> None:
        """Stops weighing; it is repeated after the next start."""
        for task in list(self._working.values()):
            task.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)

    async def _guarded(self, user_id: int) -> None:
        try:
            async with self._slots:
                with acting_for(user_id):
                    await self._deliver(user_id)
        except Exception:  # outermost handler of one owner: what waits is a query, so it is tried again
            log.exception("notifications_failed", extra={"user_id": user_id})
        finally:
            self._working.pop(user_id, None)

    async def _deliver(self, user_id: int) -> None:
        now = self._clock.now()
        found = await self._database.read(lambda c: self._look(c, user_id, now))
        if found is None:
            return
        decisions = await self._decide(found)
        effects, silent = await self._database.write(lambda c: self._apply(c, found, decisions, self._clock.now()))
        for notification_id in silent:
            log.warning("notification_says_nothing", extra={"notification": notification_id})
        for effect in effects:
            self._observer.notification_decided(*effect)
        if any(decision in ("now", "merge") for _, decision, _ in effects):
            self._wake_outbox()

    def _look(self, connection: Connection, user_id: int, now: datetime) -> _Situation | None:
        """The owner's situation, or None if nothing can be sent now."""
        user, bot_id = users.get(connection, user_id), users.read_setting(connection, "bot_id")
        if bot_id is None or not self._may_be_sent(connection, user, bot_id):
            return None
        waiting = notifications.due(connection, user_id, now, limit=AT_ONCE)
        settled = [one for one in waiting if _is_settled(connection, one)]
        to_forget = messages_to_forget(connection, user_id)
        open_ones = [one for one in waiting if one not in settled and in_sight(connection, one, to_forget)]
        until = quiet_until(access.quiet_hours(user, self._quiet_hours), now, user.tz)
        quiet = [one for one in open_ones if until is not None and not rings(one, now)]
        if not open_ones and not settled:
            return None
        behind = _subscription(user_id).waiting(connection, limit=1000)
        to_weigh = [one for one in open_ones if one not in quiet]
        return _Situation(
            user=user,
            bot_id=bot_id,
            request=self._request(connection, user, to_weigh, now),
            quiet=quiet,
            quiet_until=until,
            settled=settled,
            seen=behind[-1].position if behind else None,
            within_cost=limits.within_daily_cost(connection, user_id, now, self._daily_cost),
        )

    @staticmethod
    def _may_be_sent(connection: Connection, user: User, bot_id: int) -> bool:
        """Whether a user may be sent anything: he is reachable, forgets nothing, and is not being answered."""
        if not reachable(user) or everything_asked(connection, user.user_id) is not None:
            return False
        return turns.first_open_seq(connection, user.user_id, bot_id) is None

    def _request(
        self, connection: Connection, user: User, waiting: Sequence[Notification], now: datetime
    ) -> WeighingRequest:
        to_forget = messages_to_forget(connection, user.user_id)
        recent = [
            one for one in visible(dialogue.recent(connection, user.user_id, limit=RECENT)) if one.role != "system"
        ]
        shown = quotes_shown(connection, user.user_id, [one for one in recent if one.id not in to_forget])
        return WeighingRequest(
            owner=OwnerProfile.of(user),
            now=now,
            notifications=waiting,
            snapshot=shown_snapshot(connection, user.user_id),
            recent=[message_line(number, one, user, self._persona) for number, one in enumerate(shown, start=1)],
        )

    async def _decide(self, found: _Situation) -> Mapping[str, NotificationDecision]:
        """A decision about each notification that is not quiet: the model's, or the rules' where it has none."""
        request = found.request
        by_rules = weigh(request)
        # Notifications with fixed words and buttons cannot be reworded, merged or dropped.
        worded = not all(one.kind.fixed for one in request.notifications)
        if not worded or self._manager is None or not found.within_cost:
            return by_rules
        try:
            async with asyncio.timeout(WEIGHED_WITHIN.total_seconds()):
                with caused_by(notification=[one.id for one in request.notifications]):
                    reply = await self._manager.weigh(request)
            made = parse_decisions(reply.text, request).made
        except (ModelError, TimeoutError) as error:
            # A reminder does not wait for a provider.
            log.warning("weighing_failed", extra={"user_id": found.user.user_id, "error": str(error) or "slow"})
            return by_rules
        decided = {
            one.id: _bounded(one, made.get(one.id) or by_rules[one.id], request) for one in request.notifications
        }
        return _alone(decided)

    def _apply(
        self, connection: Connection, found: _Situation, decisions: Mapping[str, NotificationDecision], now: datetime
    ) -> tuple[list[Effect], list[str]]:
        """Writes the decisions, unless something changed meanwhile: then all notifications are weighed again.

        Returns the effects, and the ids of notifications without visible text.
        """
        user = users.get(connection, found.user.user_id)
        if not self._may_be_sent(connection, user, found.bot_id):
            return [], []
        if not notifications.are_open(connection, user.user_id, found.all_ids):
            return [], []
        if any(_is_settled(connection, one) for one in found.request.notifications):
            return [], []
        effects: list[Effect] = []
        silent: list[str] = []
        for one in found.settled:
            notifications.drop(connection, user.user_id, [one.id], "settled", now)
            record_decision(connection, one, "drop", "settled", now, by="rules")
            effects.append((one.kind.value, "drop", None))
        effects += self._put_off_quiet(connection, found, now)
        effects += self._put_off(connection, found.request, decisions, now)
        for delivery in deliveries(found.request, decisions):
            if deliver(connection, user, found.bot_id, delivery, self._rendering, now) is None:
                silent.append(delivery.first.id)
                notifications.drop(connection, user.user_id, [one.id for one in delivery.about], "says_nothing", now)
                for one in delivery.about:
                    record_decision(connection, one, "drop", "says_nothing", now)
                continue
            decision = "now" if len(delivery.about) == 1 else "merge"
            waited = ((one, max(0.0, (now - one.not_before).total_seconds())) for one in delivery.about)
            effects += [(one.kind.value, decision, seconds) for one, seconds in waited]
        if found.seen is not None:
            _subscription(user.user_id).advance(connection, found.seen, now)
        return effects, silent

    @staticmethod
    def _put_off_quiet(connection: Connection, found: _Situation, now: datetime) -> list[Effect]:
        until, user = found.quiet_until, found.user
        if until is None or not found.quiet:
            return []
        notifications.defer(connection, user.user_id, [one.id for one in found.quiet], until, notifications.QUIET, now)
        for one in found.quiet:
            record_decision(connection, one, "later", notifications.QUIET, now, until=until.isoformat(), by="rules")
        return [(one.kind.value, "later", None) for one in found.quiet]

    @staticmethod
    def _put_off(
        connection: Connection, request: WeighingRequest, decisions: Mapping[str, NotificationDecision], now: datetime
    ) -> list[Effect]:
        """Postpones and drops notifications as decided."""
        effects: list[Effect] = []
        for one in request.notifications:
            decision = decisions[one.id]
            by = "rules" if decision.by_rules else "model"
            if decision.choice == "drop":
                notifications.drop(connection, one.user_id, [one.id], decision.reason, now)
                record_decision(connection, one, "drop", decision.reason, now, by=by)
            elif decision.choice == "later" and decision.until is not None:
                notifications.defer(connection, one.user_id, [one.id], decision.until, decision.reason, now)
                if not decision.by_rules:
                    notifications.count_attempt(connection, one.user_id, [one.id])
                record_decision(connection, one, "later", decision.reason, now, until=decision.until.isoformat(), by=by)
            else:
                continue
            effects.append((one.kind.value, decision.choice, None))
        return effects


def deliveries(request: WeighingRequest, decisions: Mapping[str, NotificationDecision]) -> list[NotificationMessage]:
    """The messages that result from decisions, in the order of the notifications. Pure."""
    owner = request.owner
    owner_and_time = (owner.language, owner.timezone, request.now)
    together = [one for one in request.notifications if decisions[one.id].choice == "merge"]
    found: list[NotificationMessage] = []
    for one in request.notifications:
        decision = decisions[one.id]
        if decision.choice == "now":
            text = decision.text or notification_text(one, *owner_and_time)
            markdown = bool(decision.text) or one.kind.fixed
            found.append(NotificationMessage([one], text, decision.reason, markdown, decision.by_rules))
        elif decision.choice == "merge" and one is together[0]:
            made = [decisions[each.id] for each in together]
            text = next((each.text for each in made if each.text), "")
            words = text or together_text(together, *owner_and_time)
            if any(each.buttons and not each.together for each in together):
                words += "\n\n" + phrase(owner.language, "together-settle")
            by_rules = all(each.by_rules for each in made)
            found.append(NotificationMessage(together, words, decision.reason, bool(text), by_rules))
    return found


def _bounded(one: Notification, decision: NotificationDecision, request: WeighingRequest) -> NotificationDecision:
    """A decision within an agent's limits: nothing is postponed for ever, and a question is not dropped."""
    if decision.choice == "later" and not decision.by_rules:
        if one.attempts >= PATIENCE:
            return NotificationDecision(one.id, "now", "patience", by_rules=True)
        latest = request.now + (LATER if one.urgent else LONGEST)
        until = decision.until or request.now + LATER
        return replace(decision, until=min(max(until, request.now + timedelta(minutes=1)), latest))
    if one.kind.fixed and decision.choice in ("drop", "merge"):
        return replace(decision, choice="now")
    return decision


def _alone(decisions: Mapping[str, NotificationDecision]) -> dict[str, NotificationDecision]:
    """The decisions with "now" for the only one that was to be merged."""
    merged = [one for one in decisions.values() if one.choice == "merge"]
    alone = {merged[0].notification_id: replace(merged[0], choice="now")} if len(merged) == 1 else {}
    return {**decisions, **alone}


def _is_settled(connection: Connection, one: Notification) -> bool:
    """Whether its task is done or cancelled, or its question decided already."""
    if taken_back(connection, one):
        return True
    task = tasks.get(connection, one.user_id, one.ref_id or "") if one.kind in ABOUT_TASKS else None
    if task is None:
        return False
    return task.state.closed or (one.kind is NotificationKind.CONFIRM and task.state is not TaskState.PROPOSED)


def _subscription(user_id: int) -> Subscription:
    return Subscription(AGENT, EventTopic.NOTIFICATION, user_id)
