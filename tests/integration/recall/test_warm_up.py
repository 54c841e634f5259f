"""What the first question needs is in memory before it is asked."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import Connection
from support.flows.message_stage import Talk
from support.flows.recall_stage import OWNER, STRANGER

from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.recall.search.warm_up import WarmUp
from internal.storage.database import Database
from internal.storage.engine.owner_scope import current_scope


class Counting:
    """A search that notes for whom it was prepared, a byte each."""

    def __init__(self) -> None:
        self.prepared: list[tuple[int, str]] = []

    @property
    def cached_bytes(self) -> int:
        return len(self.prepared)

    async def prepare(self, user_id: int) -> None:
        self.prepared.append((user_id, current_scope()))


def _touch(connection: Connection, said: Message) -> None:
    dialogue.record_activity(connection, said.user_id, said.timestamp)


@pytest.fixture
async def talk(database: Database) -> Talk:
    talk = Talk.of(database)
    for user_id in (OWNER, STRANGER):
        said = await talk.say("Кошку зовут Мурка", user_id=user_id, after=timedelta(hours=1))
        await database.write(partial(_touch, said=said))
    return talk


async def test_who_spoke_last_is_read_first_and_for_himself(database: Database, talk: Talk) -> None:
    """Each under his own name, until the memory that is meant for it is used."""
    everybody, one = Counting(), Counting()
    assert await WarmUp(database, [everybody]).run() == 2
    assert everybody.prepared == [(STRANGER, str(STRANGER)), (OWNER, str(OWNER))]
    assert await WarmUp(database, [one], max_bytes=1).run() == 1
    assert one.prepared == everybody.prepared[:1]


async def test_a_prepared_search_reads_nothing_but_what_it_found(
    database: Database, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is there: the first search costs one read, of the messages themselves."""
    await WarmUp(database, [talk.search]).run()
    assert talk.search.cached_bytes > 0
    reads = 0
    read = database.read

    async def counted(work):  # type: ignore[no-untyped-def]
        nonlocal reads
        reads += 1
        return await read(work)

    commits = database.commits_seen
    monkeypatch.setattr(database, "read", counted)
    assert await talk.found("Как зовут кошку?") == ["Кошку зовут Мурка"]
    assert reads == 1 or database.shared or database.commits_seen != commits
