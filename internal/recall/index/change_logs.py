"""What changed in an owner's log since a kept index was read, asked once after a commit for all of them."""

from typing import Final

from internal.recall.index.people_repository import ChangeLog, log_after
from internal.storage.database import Database

_OWNERS: Final = 1_000
"""Owners whose last answer is remembered."""


class ChangeLogs:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[int, int], tuple[int, ChangeLog]] = {}

    async def after(self, user_id: int, seq: int, commits: int) -> ChangeLog:
        """The changes after `seq`, with every commit up to `commits`, a value of the database's."""
        known = self._known.get((user_id, seq))
        if known is not None and known[0] == commits:
            return known[1]
        log = await self._database.glance(lambda connection: log_after(connection, user_id, seq))
        if len(self._known) >= _OWNERS:
            self._known.clear()
        self._known[user_id, seq] = commits, log
        return log
