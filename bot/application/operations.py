"""The actions behind an operator's commands: backups, the quarantine, dead runs, the queues."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection

from bot.application.backups import Backups
from bot.web.admin.operations import BackupReport, DeadRun, Queues, RunCount
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow, QuarantinedUpdate
from internal.errors import NotFound
from internal.scheduling import run_repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.run import Run
from internal.storage.backup.backup import Backup
from internal.storage.database import Database

SHOWN = 100
"""The most quarantined updates in one answer; hundreds of them usually have one cause."""


async def _leave_in_inbox(_: Sequence[InboxRow]) -> None:
    """Leaves the rows in the inbox for the next start, as no bot runs."""


class Operations:
    """Actions on a database; `take_up` starts replayed updates, `wake` lets revived runs start."""

    def __init__(
        self,
        backups: Backups,
        database: Database,
        clock: Clock,
        *,
        take_up: Callable[[Sequence[InboxRow]], Awaitable[None]] = _leave_in_inbox,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._backups, self._database, self._clock = backups, database, clock
        self._take_up, self._wake = take_up, wake

    async def back_up(self, to: Path | None) -> BackupReport:
        """Makes a backup. Raises what `Backups.back_up` raises."""
        return _report(await self._backups.back_up(to))

    async def quarantined(self) -> list[QuarantinedUpdate]:
        """The oldest quarantined updates, at most SHOWN."""
        return await self._database.read(lambda c: mailbox.quarantine(c, limit=SHOWN))

    async def replay(self, n: int | None) -> int:
        """Handles one quarantined update, or (None) all of them, once more. Raises NotFound for an unknown one."""
        rows = await self._database.write(lambda c: mailbox.replay(c, n))
        _known(len(rows), n)
        await self._take_up(rows)
        return len(rows)

    async def drop(self, n: int | None) -> int:
        """Discards one quarantined update, or (None) all of them. Raises NotFound for an unknown one."""
        return _known(await self._database.write(lambda c: mailbox.discard(c, n)), n)

    async def dead_runs(self, user_id: int | None) -> list[DeadRun]:
        return [_dead(run) for run in await self._database.read(lambda c: runs.dead(c, user_id))]

    async def revive(self, user_id: int | None) -> int:
        """Gives dead runs of one owner, or (None) of everybody, another series of attempts. Returns how many."""
        now = self._clock.now()

        def work(connection: Connection) -> int:
            owners = {run.user_id for run in runs.dead(connection, user_id)}
            return sum(runs.revive(connection, owner, now) for owner in owners)

        revived = await self._database.write(work)
        self._wake()
        return revived

    async def queues(self) -> Queues:
        """The queues, and the existing backups."""
        backups = [_report(made) for made in await self._backups.listing()]

        def read(connection: Connection) -> Queues:
            unread, unread_since = mailbox.inbox_depth(connection)
            unsent = mailbox.unsent(connection)
            counted = [RunCount(agent, state.value, count) for agent, state, count in runs.counts_by_agent(connection)]
            return Queues(unread, unread_since, unsent.waiting, unsent.oldest_due_at, unsent.held, counted, backups)

        return await self._database.read(read)


def _report(made: Backup) -> BackupReport:
    return BackupReport(str(made.path), made.at, made.revision, made.size)


def _known(count: int, n: int | None) -> int:
    if n is not None and not count:
        raise NotFound(f"no update {n} is in quarantine")
    return count


def _dead(run: Run) -> DeadRun:
    return DeadRun(run.id, run.user_id, run.agent, run.attempts, run.created_at, run.error or "")
