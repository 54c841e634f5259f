"""`laplaced archive` over the data of a stopped server."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, insert, update

from bot.application.bootstrap import open_app
from bot.web.admin.operations import ArchiveReport
from internal.config.settings import Config
from internal.dialogue import repository as dialogue
from internal.people import service
from internal.storage.tables import runs, users
from internal.testing.clock import FIRST_MOMENT, FrozenClock


def say(connection: Connection) -> None:
    """An owner who has said one thing."""
    row = {"user_id": 1, "role": "owner", "state": "active", "name": "Olena", "lang": "en", "tz": "UTC"}
    connection.execute(insert(users).values(**row, settings={}, created_at=FIRST_MOMENT))
    dialogue.add(connection, 1, "user", "My friend Bob plays chess.", now=FIRST_MOMENT)
    dialogue.record_activity(connection, 1, FIRST_MOMENT)


async def test_an_order_waits_for_no_pause(tmp_path: Path) -> None:
    """A run that failed and would be tried in an hour is worked off now, as /archive does."""
    clock = FrozenClock()
    async with open_app(Config(data_dir=tmp_path / "data"), clock=clock) as app:
        await app.database.write(say)
        assert len(await app.publication.publish_now(1)) == 1
        later = clock.now() + timedelta(hours=1)
        await app.database.write(lambda c: c.execute(update(runs).values(due_at=later, attempts=1)))
        # The archivist's, the task manager's and the context manager's.
        assert await app.archive(1, None) == ArchiveReport(fragments=0, applied=3)
        assert [person.display_name for person in await app.database.read(lambda c: service.find(c, 1, "Bob"))] == [
            "Bob"
        ]
