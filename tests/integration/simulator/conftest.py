"""A running local Telegram, one for each test module, and a quiet stage on it for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from support.interfaces.simulator_stage import Stage
from support.product.program import local_telegram

from bot.simulator.launch import LocalTelegram


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: Any) -> AsyncIterator[LocalTelegram]:
    data_dir: Path = tmp_path_factory.mktemp("telegram")
    async with local_telegram(data_dir) as local:
        yield local


@pytest_asyncio.fixture(loop_scope="module")
async def stage(running: LocalTelegram) -> AsyncIterator[Stage]:
    """No updates wait, no faults are ordered, no webhook is set, every kind of update is allowed."""
    stage = Stage(running)
    await stage.request("DELETE", "/faults")
    await stage.request("PUT", "/flood", {"enabled": False})
    await stage.bot.delete_webhook(drop_pending_updates=True)
    await stage.call("getUpdates", allowed_updates=[], offset=-1)
    await stage.request("DELETE", "/updates")
    yield stage
    await stage.close()
