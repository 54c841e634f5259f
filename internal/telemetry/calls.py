"""Keeps every model call with its exact prompt and reply, so that its owner can see what was sent about him."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from datetime import timedelta
from typing import Any

from internal.errors import ModelError, StorageError
from internal.llm.calls import Reply, Request
from internal.llm.model import ChatReply, ChatRequest
from internal.scheduling.clock import Clock
from internal.storage.engine import Database
from internal.storage.types import new_id
from internal.telemetry import call_repository
from internal.telemetry.cause import current_cause

log = logging.getLogger(__name__)

KEPT = timedelta(days=7)
WAITING = 1_000
"""Calls that wait to be written at most; beyond that the oldest are dropped: receipts, not the record of truth."""


class CallRecorder:
    """A CallObserver that writes behind. Embedding calls are counted elsewhere and not kept: they hold no answer."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._rows: deque[dict[str, Any]] = deque(maxlen=WAITING)
        self._woken = asyncio.Event()

    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        if not isinstance(request, ChatRequest):
            return
        usage = reply.usage if reply else None
        self._rows.append(
            {
                "id": new_id(),
                "user_id": request.user_id,
                "agent": request.agent,
                "model": reply.model if reply else request.model,
                "at": self._clock.now(),
                "duration_s": duration_s,
                "prompt_tokens": usage.prompt_tokens if usage else 0,
                "completion_tokens": usage.completion_tokens if usage else 0,
                "cost_usd": usage.cost_usd if usage else 0.0,
                "prompt": [{"role": message.role, "content": message.content} for message in request.messages],
                "reply": reply.text if isinstance(reply, ChatReply) else None,
                "error": str(error) if error else None,
                "links": current_cause(),
            }
        )
        self._woken.set()

    async def run(self) -> None:
        """Writes until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            await self.flush()

    async def flush(self) -> None:
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        try:
            await self._database.write(lambda c: call_repository.add(c, rows))
        except StorageError:
            log.exception("calls_not_recorded", extra={"count": len(rows)})

    async def drop_old(self) -> int:
        moment = self._clock.now() - KEPT
        return await self._database.write(lambda c: call_repository.drop_before(c, moment))
