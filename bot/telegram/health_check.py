"""Checks what Telegram reports about the bot: token, privacy mode, webhook and clock. Changes nothing.

Without aiogram, whose import takes seconds. The addresses contain the token, so no error of the client is shown.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from internal.certificates import ssl_context
from internal.config.settings import TelegramConfig
from internal.flows.operations.health_checks import Check, finding, fine, note

PATIENCE_S = 10.0
CLOCK_TOLERANCE = timedelta(seconds=90)
MANY_PENDING = 100


class _Refused(Exception):
    def __init__(self, code: int, description: str) -> None:
        super().__init__(description)
        self.code = code


async def check_telegram(
    config: TelegramConfig, api_base: str, token: str, *, known_bot: int | None, now: Callable[[], datetime]
) -> list[Check]:
    """Makes the checks; `known_bot` is the id of the bot whose chats are stored."""
    address = f"{api_base.rstrip('/')}/bot{token}"
    try:
        # Like the poller, without proxies from the environment.
        async with httpx.AsyncClient(timeout=PATIENCE_S, trust_env=False, verify=ssl_context(address)) as client:
            me, server_time = await _ask(client, address, "getMe")
            hook, _ = await _ask(client, address, "getWebhookInfo")
    except _Refused as refusal:
        return [_refused(refusal)]
    except (httpx.HTTPError, ValueError) as error:
        fix = "check the network, DNS and telegram.api_base"
        kind = type(error).__name__
        result = f"{api_base} does not answer as Telegram does ({kind})"
        return [finding("telegram", result, fix, "telegram-unreachable", address=api_base, error=kind)]
    checks = [_token(me, known_bot), _privacy(me), _webhook(config, hook)]
    if server_time is not None:
        checks.append(_clock(server_time, now()))
    return checks


async def _ask(client: httpx.AsyncClient, address: str, method: str) -> tuple[dict[str, Any], datetime | None]:
    response = await client.post(f"{address}/{method}")
    answer = response.json()
    if not isinstance(answer, dict):
        raise ValueError("no answer of Telegram")  # noqa: TRY004 - bad input, not a mistake in a call
    if not answer.get("ok"):
        raise _Refused(int(answer.get("error_code", response.status_code)), str(answer.get("description", "")))
    return answer["result"], _date(response.headers.get("Date"))


def _refused(refusal: _Refused) -> Check:
    if refusal.code in (401, 404):
        fix = "take the token from @BotFather and set LAPLACED_TELEGRAM__TOKEN"
        return finding("telegram", "Telegram does not know this bot token", fix, "telegram-token")
    error = f"{refusal.code} {refusal}"
    return finding("telegram", f"Telegram refuses: {error}", "wait, then ask again", "telegram-refuses", error=error)


def _token(me: dict[str, Any], known_bot: int | None) -> Check:
    bot = str(me.get("username"))
    result = f"the token is of @{bot}"
    if known_bot is not None and known_bot != me.get("id"):
        result += f", another bot than the stored chats are with ({known_bot})"
        return note("telegram", result, "telegram-other-bot", bot=bot, known=str(known_bot))
    return fine("telegram", result, "telegram-of", bot=bot)


def _privacy(me: dict[str, Any]) -> Check:
    if not me.get("can_read_all_group_messages"):
        return fine("privacy", "privacy mode is on: in groups the bot sees only what is meant for it", "privacy-on")
    result = "privacy mode is off: Telegram sends the bot every message of every group it is in, though it serves none"
    fix = "in @BotFather: /setprivacy, choose the bot, Enable; then add it to groups again"
    return finding("privacy", result, fix, "privacy-off")


def _webhook(config: TelegramConfig, hook: dict[str, Any]) -> Check:
    url, wanted = str(hook.get("url") or ""), config.webhook.url.rstrip("/") + config.webhook.path
    if config.mode == "polling":
        if not url:
            return fine("webhook", "none is set, as polling needs it", "webhook-none")
        result = f"one is set ({_host(url)}), so Telegram gives nothing to a poller"
        fix = "stop the program that set it and call deleteWebhook, or use its mode: webhook"
        return finding("webhook", result, fix, "webhook-set", host=_host(url))
    if url != wanted:
        result = f"Telegram calls {_host(url)} instead of {_host(wanted)}" if url else "none is set"
        fix = "start the bot: it sets telegram.webhook.url; let no other program set one"
        key = "webhook-elsewhere" if url else "webhook-missing"
        return finding("webhook", result, fix, key, host=_host(url), wanted=_host(wanted))
    pending = int(hook.get("pending_update_count") or 0)
    if hook.get("last_error_message") and pending:
        error = str(hook["last_error_message"])
        result = f"Telegram cannot deliver: {error} ({pending} updates wait)"
        fix = "make telegram.webhook.url reachable from outside, with a valid certificate"
        return finding("webhook", result, fix, "webhook-failing", error=error, count=pending)
    if pending > MANY_PENDING:
        return note("webhook", f"{pending} updates wait at Telegram", "webhook-waiting", count=pending)
    return fine("webhook", f"Telegram calls {_host(url)}", "webhook-called", host=_host(url))


def _clock(server_time: datetime, now: datetime) -> Check:
    off = abs(now - server_time)
    if off <= CLOCK_TOLERANCE:
        return fine("time", "this machine's clock agrees with Telegram's", "time-agrees")
    seconds = round(off.total_seconds())
    result = f"this machine's clock is {seconds} s off Telegram's"
    return finding("time", result, "let NTP keep the clock (timedatectl set-ntp true)", "time-off", seconds=seconds)


def _host(url: str) -> str:
    return httpx.URL(url).host or "nothing"


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return None if found is None else found.replace(tzinfo=found.tzinfo or UTC)
