"""Stores the price of every model call by user, and a receipt with the exact prompt and reply."""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from internal.access import limits, repository as users
from internal.errors import ModelAccessDenied, ModelError, StorageError
from internal.events.trigger import current_cause
from internal.llm.model import AudioReply, ChatReply, EmbeddingRequest, Reply, Request, Usage
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.types import new_id
from internal.telemetry import call_repository

log = logging.getLogger(__name__)

KEPT = timedelta(days=7)
BEHIND_S = 0.25
"""Seconds for which calls are collected, to share a commit; a crash loses at most the prices of that time."""

WAITING = 1_000
"""The most calls that wait to be written; beyond that the oldest are dropped, as receipts are not essential."""


@dataclass(frozen=True, slots=True)
class _Charge:
    """The cost of one call for a user. Failed calls cost too, if the provider says so."""

    user_id: int
    agent: str
    tokens: int
    cost_usd: float


class CallRecorder:
    """A CallObserver that writes behind, by `BEHIND_S`. Of embedding calls only the price is stored.

    `refused` has the provider's reason for each model that it refuses, until that model answers.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._rows: deque[dict[str, Any]] = deque(maxlen=WAITING)
        self._charges: deque[_Charge] = deque()
        self._woken = asyncio.Event()
        self.refused: dict[str, str] = {}
        self.kept = KEPT

    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        usage = reply.usage if reply else None
        if isinstance(error, ModelAccessDenied):
            self.refused[request.model] = str(error)
        elif reply is not None:
            self.refused.pop(request.model, None)
        if usage is not None and request.user_id is not None:
            tokens = usage.prompt_tokens + usage.completion_tokens
            self._charges.append(_Charge(request.user_id, request.agent, tokens, usage.cost_usd))
            self._woken.set()
        if isinstance(request, EmbeddingRequest):
            return
        row: dict[str, Any] = {
            "id": new_id(),
            "user_id": request.user_id,
            "agent": request.agent,
            "model": reply.model if reply else request.model,
            "at": self._clock.now(),
            "duration_s": duration_s,
            "prompt_tokens": usage.prompt_tokens if usage else 0,
            "completion_tokens": usage.completion_tokens if usage else 0,
            "cached_tokens": usage.cached_tokens if usage else 0,
            "cost_usd": usage.cost_usd if usage else 0.0,
            "prompt": [{"role": message.role, "content": message.content} for message in request.messages],
            "reply": reply.text if isinstance(reply, ChatReply | AudioReply) else None,
            "error": _failure(usage, error),
            "links": current_cause(),
        }
        self._rows.append(row)
        # The agents that share the answer have a receipt too; the first one has its price.
        free = dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens"), 0) | {"cost_usd": 0.0}
        self._rows.extend(row | free | {"id": new_id(), "agent": agent} for agent in request.along)
        self._woken.set()

    async def run(self) -> None:
        """Writes until cancelled."""
        while True:
            await self._woken.wait()
            await asyncio.sleep(BEHIND_S)
            self._woken.clear()
            await self.flush()

    async def flush(self) -> None:
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        charges = [self._charges.popleft() for _ in range(len(self._charges))]
        now = self._clock.now()

        def work(connection: Connection) -> None:
            call_repository.add(connection, rows)
            billed: dict[tuple[int, str], list[_Charge]] = {}
            for charge in charges:
                billed.setdefault((charge.user_id, charge.agent), []).append(charge)
            known = {user_id: users.find(connection, user_id) for user_id in {charge.user_id for charge in charges}}
            for (user_id, agent), calls in billed.items():
                if (user := known[user_id]) is not None:
                    tokens, cost = sum(one.tokens for one in calls), sum(one.cost_usd for one in calls)
                    limits.add_spend(connection, user, agent, tokens=tokens, cost_usd=cost, now=now, calls=len(calls))

        try:
            with acting_for_everyone():  # calls of many owners, written together
                await self._database.write(work)
        except StorageError:
            self._charges.extendleft(reversed(charges))  # a receipt may be lost, a price not
            log.exception("calls_not_recorded", extra={"count": len(rows)})

    async def drop_old(self) -> int:
        moment = self._clock.now() - self.kept
        return await self._database.write(lambda c: call_repository.drop_before(c, moment))


def _failure(usage: Usage | None, error: ModelError | None) -> str | None:
    """The reason why a call has no complete reply, and whether its tokens were counted by us."""
    if usage is None or not usage.estimated:
        return str(error) if error else None
    return f"{error or 'stopped'} (its tokens are estimated)"
