"""What changed in an owner's log since a kept index was read, asked once after a commit for all of them."""

from typing import Final
from weakref import WeakKeyDictionary

from internal.recall.index.people_repository import ChangeLog, log_after
from internal.storage.database import Database

FEW: Final = 50
"""Changes whose rows are read at hand."""

_MOST_OWNERS: Final = 1_000
"""Answers that are remembered."""

_KNOWN: Final[WeakKeyDictionary[Database, dict[tuple[int, int], tuple[int, ChangeLog]]]] = WeakKeyDictionary()


async def log_since(database: Database, user_id: int, seq: int, cache_version: int) -> ChangeLog:
    """The owner's changes after `seq`, with every commit up to `cache_version`, the database's for this owner."""
    answers = _KNOWN.setdefault(database, {})
    known = answers.get((user_id, seq))
    if known is not None and known[0] == cache_version:
        return known[1]
    log = await database.read_quickly(lambda connection: log_after(connection, user_id, seq))
    if len(answers) >= _MOST_OWNERS:
        answers.clear()
    answers[user_id, seq] = cache_version, log
    return log
