"""The states of an outgoing message: about to be sent (C5), sent (C6), retried, unknown, refused or held.

A message at which Telegram's server fails repeatedly delays its chat for some seconds only: then the others pass
it. If the server fails at them too, they wait together and keep their order. A file is soon given up, and its user
is notified.

The policy for "unknown" (no answer came, so it may have been delivered): wait, send once more, count both; after a
second time it is given up and shown as failed. So a reply can be doubled only between C5 and C6.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from internal.access import repository as users, service as access
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import OutboxRow, Outgoing, answered_update
from internal.events import repository as events
from internal.flows.turn.intake import IntakePhrases
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.storage.database import Database

UNKNOWN_WAIT = timedelta(seconds=30)
MAX_UNCERTAIN = 2
RETRY_BASE, RETRY_MAX = timedelta(seconds=1), timedelta(minutes=5)
MAX_ATTEMPTS = 50
"""The most attempts at one row: about four hours without Telegram, after which it is shown as failed."""
PATIENCE = 3
"""Failures of Telegram's server at a message after which the others of its chat do not wait for it."""
FILES = ("document", "photo")
FILE_ATTEMPTS = 5
"""Failures after which a file is given up, some 15 seconds: the user can ask for it again."""


class Delivery:
    """Moves outbox rows through their states. It does not depend on Telegram's API."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        phrases: IntakePhrases,
        *,
        unknown_wait: timedelta = UNKNOWN_WAIT,
        retry_base: timedelta = RETRY_BASE,
    ) -> None:
        self._database, self._clock, self._phrases = database, clock, phrases
        self._unknown_wait, self._retry_base = unknown_wait, retry_base

    async def recover(self, bot_id: int, shards: Collection[int] | None = None) -> int:
        """Marks messages as unknown that were being sent when the process died, or gives them up. Returns their number.

        `shards` limits this to another worker's former chats. Messages of other bots wait until
        their token is set again; earlier messages of this bot are sent.
        """
        now = self._clock.now()

        def work(connection: Connection) -> int:
            unknown = sum(self._interrupted(connection, row, now) for row in mailbox.interrupted(connection, shards))
            mailbox.hold_others(connection, bot_id)
            mailbox.release_own(connection, bot_id, now)
            return unknown

        return await self._database.write(work)

    async def look(self, limit: int, shards: Collection[int] | None = None) -> tuple[list[OutboxRow], datetime | None]:
        """The messages that may be sent now, one a chat, and the time at which the earliest waiting one becomes due.

        `shards` limits this to their chats.
        """
        now = self._clock.now()

        def work(connection: Connection) -> tuple[list[OutboxRow], datetime | None]:
            due = mailbox.due(connection, now, limit=limit, shards=shards)
            return due, now if due else mailbox.next_due_at(connection, shards)

        return await self._database.read_quickly(work)

    async def sending(self, row: OutboxRow) -> Outgoing | None:
        """C5: the message to send, an edit with its target; None if the row is settled already."""

        def work(connection: Connection) -> Outgoing | None:
            return (
                _addressed(connection, row.outgoing)
                if mailbox.mark_sending(connection, row.outgoing.user_id, row.id)
                else None
            )

        return await self._database.write(work, point="C5")

    async def sent(self, row: OutboxRow, tg_id: int | None) -> None:
        """C6: marks a row as sent."""
        now = self._clock.now()

        def work(connection: Connection) -> None:
            if not mailbox.mark_sent(connection, row.outgoing.user_id, row.id, tg_id):
                return  # another worker assumed it lost and has marked it already
            events.append(
                connection,
                "message_sent",
                source="system:delivery",
                now=now,
                user_id=row.outgoing.user_id,
                payload={"message": row.outgoing.message_id, "part": row.outgoing.part, "tg_id": tg_id},
                links=_links(row),
            )
            self._settled(connection, row, "sent", tg_id)

        await self._database.write(work, point="C6")

    async def retry(
        self, row: OutboxRow, error: str, after: float | None = None, *, server_failed: bool = False
    ) -> None:
        """Postpones what was certainly not delivered (no connection, 429, 5xx) by `after` seconds or a growing pause.

        `server_failed`: Telegram was reached and failed (5xx), perhaps at this very message.
        """
        failures = row.attempts + 1
        file_failed = server_failed and row.outgoing.kind in FILES and failures >= FILE_ATTEMPTS
        if file_failed or row.attempts >= MAX_ATTEMPTS:
            await self.refused(row, error)
            return
        wait = timedelta(seconds=after) if after is not None else retry_delay(failures, self._retry_base, RETRY_MAX)
        now = self._clock.now()

        def work(connection: Connection) -> None:
            together = mailbox.stuck_before(connection, row) if server_failed else None
            if together or (server_failed and failures >= PATIENCE):
                due_at = max(together, now + self._retry_base) if together else now + wait
                mailbox.mark_stuck(connection, row, due_at, error)
            else:
                mailbox.postpone(connection, row.outgoing.user_id, row.id, now + wait, error)

        await self._database.write(work)

    async def unknown(self, row: OutboxRow, error: str) -> None:
        """Sends a message again after a while that may have been delivered; gives it up the second time."""
        now = self._clock.now()
        await self._database.write(lambda c: self._doubt(c, row, error, now))

    async def refused(self, row: OutboxRow, error: str, *, too_big: bool = False) -> None:
        """Marks a row that will never be delivered as failed; for a file the user is notified."""
        now = self._clock.now()
        await self._database.write(
            lambda c: self._refuse(c, row, error, now, "file-too-big" if too_big else "file-failed")
        )

    async def left(self, row: OutboxRow, error: str) -> None:
        """Holds all messages to a user who blocked the bot until he writes again. Messages to strangers are dropped."""
        now = self._clock.now()

        def work(connection: Connection) -> None:
            if access.pause(connection, row.outgoing.user_id):
                mailbox.hold_messages(connection, row.outgoing.user_id, error)
            else:
                self._refuse(connection, row, error, now)

        await self._database.write(work)

    async def moved(self, row: OutboxRow, chat_id: int) -> None:
        """Moves the waiting messages of a chat to its new id."""
        due_at, old = self._clock.now(), row.outgoing.chat_id

        def work(connection: Connection) -> None:
            mailbox.move_chat(connection, old, chat_id)
            mailbox.postpone(connection, row.outgoing.user_id, row.id, due_at, "chat moved")

        await self._database.write(work)

    def _interrupted(self, connection: Connection, row: OutboxRow, now: datetime) -> bool:
        """Whether an interrupted row may have been delivered. An edit is repeated, as it shows the same again."""
        if _addressed(connection, row.outgoing).repeatable:
            mailbox.postpone(connection, row.outgoing.user_id, row.id, now, "interrupted")
            return False
        self._doubt(connection, row, "interrupted", now)
        return True

    def _doubt(self, connection: Connection, row: OutboxRow, error: str, now: datetime) -> None:
        mailbox.mark_unknown(connection, row.outgoing.user_id, row.id, now + self._unknown_wait, error)
        if row.uncertain + 1 >= MAX_UNCERTAIN:
            # Otherwise a program that dies whenever it sends would send the same message at every start.
            self._refuse(connection, row, f"delivery unknown twice: {error}", now)

    def _refuse(
        self, connection: Connection, row: OutboxRow, error: str, now: datetime, notice: str = "file-failed"
    ) -> None:
        out = row.outgoing
        user = users.find(connection, out.user_id) if out.kind in (*FILES, "voice") else None
        if user is not None:
            whole = out.dedupe.rpartition(":")[0] or out.dedupe  # one notice is enough for several parts
            notice = "speech-failed" if out.kind == "voice" else notice
            text, dedupe = self._phrases(user.lang, notice), f"{whole}:failed"
            notified = Outgoing(out.user_id, out.bot_id, out.chat_id, text, dedupe, thread_id=out.thread_id)
            mailbox.enqueue(connection, notified, now)
        mailbox.refuse(connection, row.outgoing.user_id, row.id, error)
        events.append(
            connection,
            "message_refused",
            source="system:delivery",
            now=now,
            user_id=row.outgoing.user_id,
            payload={"message": row.outgoing.message_id, "part": row.outgoing.part, "error": error},
            links=_links(row),
        )
        self._settled(connection, row, "refused", None)

    @staticmethod
    def _settled(connection: Connection, row: OutboxRow, delivery: str, tg_id: int | None) -> None:
        out = row.outgoing
        if out.message_id is not None and (out.part == 0 or delivery == "refused"):
            dialogue.mark_delivery(connection, out.user_id, out.message_id, delivery, tg_id)
        if out.turn_id is not None:
            turns.close_answered(connection, out.user_id, out.turn_id)


def _addressed(connection: Connection, out: Outgoing) -> Outgoing:
    """The message with the id of the one that it edits, if that is delivered by now."""
    if out.replaces is None:
        return out
    replaced = mailbox.by_dedupe(connection, out.user_id, out.replaces)
    if replaced is not None and replaced.stuck:  # it would arrive after its replacement
        mailbox.refuse(connection, out.user_id, replaced.id, "replaced")
    return replace(out, tg_id=replaced.tg_id if replaced else None)


def _links(row: OutboxRow) -> dict[str, str]:
    out = row.outgoing
    known = {"turn": out.turn_id, "message": out.message_id, "outbox": row.id, "update": answered_update(out.dedupe)}
    return out.links | {name: ref for name, ref in known.items() if ref is not None}
