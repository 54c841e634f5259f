"""What the examination learns from Telegram, asked of a local one and of servers that are none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.product.program import local_telegram

from bot.simulator.launch import LocalTelegram
from bot.telegram.health_check import check_telegram
from internal.config.settings import TelegramConfig, WebhookConfig
from internal.flows.operations.health_checks import Level

POLLING = TelegramConfig()
WEBHOOK = TelegramConfig(mode="webhook", webhook=WebhookConfig(url="https://bot.example"))
TOKEN = "7312345678:AAH-abcdefghijklmnopqrstuvwxyz_12345"


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
async def telegram(tmp_path: Path) -> AsyncIterator[LocalTelegram]:
    async with local_telegram(tmp_path) as started:
        yield started


class FakedTelegram:
    """A Bot API whose answers are given: what no local Telegram will ever be."""

    def __init__(self) -> None:
        self.me: dict[str, Any] = {"id": 7, "username": "b", "can_read_all_group_messages": False}
        self.hook: dict[str, Any] = {"url": ""}
        self.status, self.body, self.date = 200, None, now()
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        headers = {"Date": self.date.strftime("%a, %d %b %Y %H:%M:%S GMT")}
        if self.body is not None:
            return web.json_response(self.body, status=self.status, headers=headers)
        result = self.me if request.path.endswith("getMe") else self.hook
        return web.json_response({"ok": True, "result": result}, headers=headers)


@pytest.fixture
async def faked() -> AsyncIterator[FakedTelegram]:
    server, app = FakedTelegram(), web.Application()
    app.router.add_post("/{rest:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


async def told(faked: FakedTelegram, config: TelegramConfig = POLLING, known: int | None = None) -> dict[str, str]:
    """Level and words of each check by its name; the token is in none of them."""
    checks = await check_telegram(config, faked.url, TOKEN, known_bot=known, now=now)
    assert all(TOKEN not in f"{check.message} {check.fix}" for check in checks)
    assert all(bool(check.fix) == (check.level is Level.FINDING) for check in checks)
    return {check.name: f"{check.level}: {check.message}" for check in checks}


async def test_local_telegram_has_nothing_to_complain_of(telegram: LocalTelegram) -> None:
    """Token, privacy mode, webhook and clock of a fresh bot are all fine."""
    checks = await check_telegram(POLLING, telegram.url, telegram.token, known_bot=None, now=now)
    assert {check.name for check in checks} >= {"telegram", "privacy", "webhook"}
    assert {check.level for check in checks} == {Level.OK}


async def test_wrong_token_is_told(telegram: LocalTelegram) -> None:
    """A token that Telegram does not know is one finding, and where to get a right one."""
    (check,) = await check_telegram(POLLING, telegram.url, TOKEN, known_bot=None, now=now)
    assert (check.level, check.message) == (Level.FINDING, "Telegram does not know this bot token")
    assert "@BotFather" in check.fix


async def test_nobody_there_is_told() -> None:
    """An address that does not answer is a finding without the token."""
    (check,) = await check_telegram(POLLING, "http://127.0.0.1:9", TOKEN, known_bot=None, now=now)
    assert check.level is Level.FINDING
    assert TOKEN not in check.message + check.fix


@pytest.mark.parametrize("body", [[], "text", {"ok": False, "error_code": 429, "description": "slow down"}])
async def test_strange_answers_are_told(faked: FakedTelegram, body: Any) -> None:
    """What is no answer of Telegram, and what Telegram refuses, are findings and no crash."""
    faked.body = body
    assert (await told(faked))["telegram"].startswith("finding: ")


async def test_privacy_mode_that_is_off_is_a_finding(faked: FakedTelegram) -> None:
    """A bot that is sent every message of every group gets more than it may know."""
    faked.me["can_read_all_group_messages"] = True
    assert (await told(faked))["privacy"].startswith("finding: privacy mode is off")


async def test_another_bot_than_before_is_noted(faked: FakedTelegram) -> None:
    """The stored chats are with another bot: worth saying, and allowed."""
    assert (await told(faked, known=7))["telegram"].startswith("ok: ")
    assert (await told(faked, known=8))["telegram"].startswith("note: ")


@pytest.mark.parametrize(
    ("config", "hook", "said"),
    [
        (POLLING, {"url": "https://other.example/x"}, "finding: one is set (other.example)"),
        (WEBHOOK, {"url": ""}, "finding: none is set"),
        (WEBHOOK, {"url": "https://other.example/x"}, "finding: Telegram calls other.example instead of bot.example"),
        (
            WEBHOOK,
            {"url": "https://bot.example/telegram/webhook", "last_error_message": "SSL", "pending_update_count": 3},
            "finding: Telegram cannot deliver: SSL (3 updates wait)",
        ),
        (WEBHOOK, {"url": "https://bot.example/telegram/webhook", "last_error_message": "old"}, "ok: Telegram calls"),
        (WEBHOOK, {"url": "https://bot.example/telegram/webhook", "pending_update_count": 500}, "note: 500 updates"),
    ],
)
async def test_webhook_must_fit_the_mode(
    faked: FakedTelegram, config: TelegramConfig, hook: dict[str, Any], said: str
) -> None:
    """A webhook beside a poller, a missing or foreign one, and one that fails are findings; an old error is not."""
    faked.hook = hook
    assert (await told(faked, config))["webhook"].startswith(said)


async def test_clock_that_differs_from_telegrams_is_a_finding(faked: FakedTelegram) -> None:
    """Minutes apart are told; seconds are how networks are."""
    faked.date = now() - timedelta(minutes=10)
    assert (await told(faked))["time"].startswith("finding: ")
    faked.date = now() - timedelta(seconds=5)
    assert (await told(faked))["time"].startswith("ok: ")


async def test_slash_at_the_end_of_the_address_does_no_harm(faked: FakedTelegram) -> None:
    """The address may be written either way."""
    faked.url += "/"
    assert (await told(faked))["telegram"].startswith("ok: ")
