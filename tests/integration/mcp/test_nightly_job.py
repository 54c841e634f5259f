"""The nightly maintenance as a job of the running product."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert
from support.interfaces.mcp_stage import OWNER, configured, scripted

from bot.application.bootstrap import open_app
from internal.events import repository as events
from internal.graph import store
from internal.storage.tables import users
from internal.testing import FrozenClock


async def test_the_product_maintains_memories_at_night(tmp_path: Path) -> None:
    """At the hour of the configuration, by its rates; told as an event and counted for scraping."""
    clock = FrozenClock()
    began = clock.now()

    def remember(c: Connection) -> str:
        row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "", "lang": "uk", "tz": "UTC"}
        c.execute(insert(users).values(**row, settings={}, created_at=began))
        ends = [store.add_node(c, OWNER, "Memory", {"content": one}, now=began).id for one in "ab"]
        return store.add_edge(c, OWNER, "RELATES_TO", *ends, {"strength": 0.8}, now=began).id

    async with scripted() as model:
        config = configured(tmp_path, model)
        rates = config.memory.model_copy(update={"half_life_days": 1.0, "maintenance_hour": 12})
        async with open_app(config.model_copy(update={"memory": rates}), clock=clock) as app:
            link = await app.database.write(remember)
            jobs = app.maintenance()
            for hours in (0, 23, 24, 25):
                clock.set(began + timedelta(hours=hours))
                for job in jobs._jobs:
                    await jobs._run(job)
            edge = await app.database.read(lambda c: store.get_edge(c, OWNER, link))
            done = await app.database.read(lambda c: events.listing(c, OWNER, event_type="maintenance_done"))
            assert edge is not None
            assert edge.strength == pytest.approx(0.4)
            assert [one.timestamp for one in done] == [began + timedelta(hours=24)]
            assert app.metrics._links.labels("decayed")._value.get() == 1
