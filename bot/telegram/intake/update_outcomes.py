"""Records the outcome of an update: settled together with its effect, or quarantined."""

import contextlib
import logging
from collections.abc import Callable
from typing import Protocol

from sqlalchemy import Connection

from internal.access import repository as users, service as access
from internal.access.model import User, UserState
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow, InboxState, Outgoing
from internal.events import repository as events
from internal.flows.turn.intake import IntakePhrases
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)


class IngestObserver(Protocol):
    def update_quarantined(self) -> None: ...


class UpdateOutcomes:
    """The last step of every update, each in one transaction."""

    def __init__(
        self,
        bot_id: int,
        database: Database,
        clock: Clock,
        phrases: IntakePhrases,
        wake_outbox: Callable[[], None],
        observer: IngestObserver,
    ) -> None:
        self._bot_id, self._database, self._clock = bot_id, database, clock
        self._phrases, self._wake_outbox, self._observer = phrases, wake_outbox, observer

    async def settle(self, row: InboxRow, state: InboxState, user: User | None = None) -> None:
        await self.settle_with(row, state, lambda c: None, user)

    async def settle_with(
        self, row: InboxRow, state: InboxState, effect: Callable[[Connection], object], user: User | None = None
    ) -> None:
        """Settles an update together with its effect, which happens once however often this is repeated."""

        def work(connection: Connection) -> None:
            if mailbox.mark_processed(connection, row.n, state, user_id=user.user_id if user else None) is not None:
                effect(connection)

        with acting_for(user.user_id) if user else contextlib.nullcontext():
            await self._database.write(work)

    def wake(self) -> None:
        """Wakes the sender of the outbox."""
        self._wake_outbox()

    async def settle_standing(self, row: InboxRow, user_id: int, *, blocked: bool) -> None:
        """Settles a change of the bot's standing in a private chat; messages to a user who blocked the bot are held."""

        def work(connection: Connection) -> None:
            if blocked and access.pause(connection, user_id):
                mailbox.hold_messages(connection, user_id, "blocked the bot")

        await self.settle_with(row, InboxState.INGESTED, work)

    async def say(self, row: InboxRow, state: InboxState, line: Outgoing) -> None:
        """Settles an update with one line to a stranger."""
        now = self._clock.now()
        await self.settle_with(row, state, lambda c: mailbox.enqueue(c, line, now))
        self._wake_outbox()

    async def quarantine(self, row: InboxRow, error: str, notice: str | None = None, **values: str) -> None:
        """Quarantines an update. The sender of a message gets the phrase `notice` instead of waiting in vain."""
        now = self._clock.now()

        def work(connection: Connection) -> None:
            mailbox.mark_processed(connection, row.n, InboxState.QUARANTINED, error=error, keep_raw=True)
            links = {"update": row.key}
            payload = {"update_id": row.update_id, "error": error}
            events.append(
                connection, "update_quarantined", source="system:ingest", now=now, links=links, payload=payload
            )

        await self._database.write(work)
        self._observer.update_quarantined()
        log.error("update_quarantined", extra={"update": row.update_id, "error": error})
        user = await self._database.read(lambda c: users.find(c, row.chat_id or 0)) if notice else None
        if notice and user is not None and user.state is UserState.ACTIVE and '"message": {' in row.raw:
            text = self._phrases(user.lang, notice, **values)
            line = Outgoing(user.user_id, self._bot_id, user.user_id, text, f"{row.key}:set-aside")
            with acting_for(user.user_id):
                await self._database.write(lambda c: mailbox.enqueue(c, line, now))
            self._wake_outbox()
