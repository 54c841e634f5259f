"""A draft ends when its answer does, whatever was shown last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.patience import PATIENCE_S
from support.product.program import local_telegram

from bot.simulator.client import ControlClient
from bot.telegram.delivery.drafts import INTERVAL_S, TelegramDrafts
from bot.telegram.delivery.flood_limits import Budget
from bot.telegram.service import open_bot
from internal.config.settings import TelegramConfig
from internal.dialogue.model import Turn, TurnState
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.types import new_id


@pytest.fixture
async def drafts(tmp_path: Path) -> AsyncIterator[tuple[TelegramDrafts, Turn]]:
    """Drafts over a local Telegram, and a turn of somebody in it."""
    clock = SystemClock()
    async with (
        local_telegram(tmp_path / "telegram") as local,
        ControlClient(local.url) as people,
        Database.open(tmp_path / "laplaced.db") as database,
    ):
        await database.exclusive(migrate)
        user = await people.add_user("Олена", started=True)
        bot = open_bot(TelegramConfig(), local.url, local.token)
        now = clock.now()
        turn = Turn(new_id(), user, bot.id, f"{user}:0", user, None, TurnState.RUNNING, now, now, 1, 1, 1)
        shown = TelegramDrafts(bot, Budget(), database, clock, lambda: None)
        yield shown, turn
        await shown.close()
        await bot.session.close()


async def test_an_answer_that_ends_with_its_last_piece_is_not_held_up(drafts: tuple[TelegramDrafts, Turn]) -> None:
    """The last piece wakes the draft and the end cancels it at the same moment: Python 3.11's wait_for lost that."""
    shown, turn = drafts
    await shown.begin(turn)
    await asyncio.sleep(INTERVAL_S + 0.4)  # the first update is through, and the draft waits for more
    async with asyncio.timeout(PATIENCE_S):
        await shown.show(turn, "Ваша сестра Оля.")
        assert await shown.end(turn) is None
