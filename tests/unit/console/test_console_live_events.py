"""Live events reach the screen, however they come."""

from __future__ import annotations

import asyncio

import pytest
from support.patience import PATIENCE_S

from bot.console.pages.control import timeline
from bot.console.rest import Json


async def test_what_comes_while_others_are_shown_is_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, each once, without a further event that would push it on."""
    monkeypatch.setattr(timeline, "BATCH_INTERVAL_S", 0)
    shown: list[list[int]] = []
    drawing, drawn, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def show(events: list[Json]) -> None:
        shown.append([event["place"] for event in events])
        drawing.set()
        await drawn.wait()
        if shown[-1][-1] == 4:
            done.set()

    coming = timeline.EventBatcher(show, asyncio.create_task)
    coming.add({"place": 1})
    coming.add({"place": 2})
    async with asyncio.timeout(PATIENCE_S):
        await drawing.wait()
        coming.add({"place": 3})
        coming.add({"place": 4})
        drawn.set()
        await done.wait()
    assert shown == [[1, 2], [3, 4]]
