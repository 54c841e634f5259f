"""Webhook delivery: each update is posted to the bot's address until it answers 2xx, in order."""

import asyncio
import contextlib
import time

import httpx

from bot.simulator.repository import Json
from bot.simulator.server.errors import ApiRefusal
from bot.simulator.telegram import Telegram
from internal.certificates import ssl_context

_TIMEOUT = 60.0
_IDLE = 30.0
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


class Webhook:
    """Posts the queue to the address of setWebhook; pauses double while the bot does not accept it."""

    def __init__(self, telegram: Telegram) -> None:
        self._telegram = telegram
        self._task: asyncio.Task[None] | None = None
        self._last_error: Json = {}

    @property
    def active(self) -> bool:
        return bool(self._target())

    def _target(self) -> Json:
        target: Json = self._telegram.repository.setting("webhook", {})
        return target

    def set(self, url: str, secret: str, max_connections: int) -> None:
        self._telegram.repository.set_setting(
            "webhook", {"url": url, "secret": secret, "max_connections": max_connections}
        )
        self._last_error = {}
        self.start()

    def remove(self) -> None:
        self._telegram.repository.set_setting("webhook", {})
        self._stop_task()

    def state(self) -> Json:
        """The WebhookInfo object."""
        target = self._target()
        state = {
            "url": target.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": self._telegram.repository.update_count(),
        }
        if target:
            state["max_connections"] = target["max_connections"]
        return {**state, **self._last_error}

    def start(self) -> None:
        """Begins delivery if an address is set; called after setWebhook and at the server's start."""
        self._stop_task()
        if self.active:
            self._task = asyncio.create_task(self._deliver(), name="webhook")

    def _stop_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def stop(self) -> None:
        task = self._task
        self._stop_task()
        if task is not None:
            await asyncio.wait([task])

    async def _deliver(self) -> None:
        target, pause = self._target(), _FIRST_PAUSE
        verify = ssl_context(target["url"])
        headers = {"X-Telegram-Bot-Api-Secret-Token": target["secret"]} if target["secret"] else {}
        async with httpx.AsyncClient(timeout=_TIMEOUT, headers=headers, trust_env=False, verify=verify) as client:
            while not self._telegram.updates.closed:  # once closed, waiting for updates does not block
                waiting = self._telegram.repository.pending_updates(0, 1)
                if not waiting:
                    await self._telegram.updates.changed(_IDLE)
                elif await self._post(client, target["url"], waiting[0]):
                    self._telegram.updates.confirm(waiting[0]["update_id"])
                    pause = _FIRST_PAUSE
                else:
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE)

    async def _post(self, client: httpx.AsyncClient, url: str, update: Json) -> bool:
        try:
            answer = await client.post(url, json=update)
        except httpx.HTTPError as error:
            self._note_error(f"{type(error).__name__}: {error}")
            return False
        if answer.is_success:
            await self._carry_out(answer)
            return True
        self._note_error(f"Wrong response from the webhook: {answer.status_code} {answer.reason_phrase}")
        return False

    async def _carry_out(self, answer: httpx.Response) -> None:
        """Calls the method that a bot names in its answer; like with Telegram, the bot never gets the result."""
        from bot.simulator.methods.registry import METHODS, MethodCall  # these modules import the webhook

        with contextlib.suppress(ValueError, AttributeError, ApiRefusal):  # most answers are empty
            values = answer.json()
            method = METHODS.get(str(values.pop("method", "")).lower())
            if method is not None:
                result = await method.answer(MethodCall(self._telegram, self, {}), values)
                self._telegram.repository.add_ledger(
                    method.name, values, status=200, chat_id=values.get("chat_id"), description=None, fault=None,
                    message_id=result.get("message_id") if isinstance(result, dict) else None,
                )  # fmt: skip

    def _note_error(self, reason: str) -> None:
        self._last_error = {"last_error_date": int(time.time()), "last_error_message": reason}
