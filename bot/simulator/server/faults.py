"""Faults on demand: the next N calls of a method fail in a chosen way, as with Telegram and real networks."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.simulator.server.errors import ApiRefusal, bad_request, blocked, too_many_requests, upgraded

Kind = Literal[
    "flood", "bad_request", "forbidden", "unauthorized", "conflict", "server_error", "bad_gateway", "reset",
    "reset_after", "hang", "no_reply", "slow", "migrate", "too_large", "unreadable",
    "not_found",
]  # fmt: skip

# These replace the processing; the others change what happens before and after it.
_REFUSING = frozenset({
    "flood", "bad_request", "forbidden", "unauthorized", "conflict", "server_error", "migrate", "too_large",
    "not_found",
})  # fmt: skip


class Fault(BaseModel):
    """One order for failures.

    `method` is a Bot API method or `*`. The first `skip` matching calls pass, the next `times` calls fail. `chat_id`
    limits the order to one chat. `reset` and `hang` come before processing, `reset_after` and `no_reply` after it: a
    bot cannot tell them apart. `unreadable` answers `ok: true` with a Message of unknown and missing fields, as a newer
    Bot API might. `seconds` is the delay of `slow`, and how long `hang` and `no_reply` keep the connection open: an
    hour if absent, so that the client's own read timeout ends it.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    method: str = "*"
    times: int = Field(1, ge=1)
    skip: int = Field(0, ge=0)
    chat_id: int | None = None
    retry_after: int = Field(1, ge=1)
    description: str = ""
    migrate_to_chat_id: int | None = None
    seconds: float | None = Field(None, ge=0)

    def refusal(self) -> ApiRefusal | None:
        """The error to answer instead of processing the call; None for faults of the connection."""
        if self.kind not in _REFUSING:
            return None
        if self.description and self.kind != "migrate":
            return ApiRefusal(_STATUS[self.kind], self.description, **self._parameters())
        return self._usual_refusal()

    def _parameters(self) -> dict[str, Any]:
        return {"retry_after": self.retry_after} if self.kind == "flood" else {}

    def _usual_refusal(self) -> ApiRefusal:
        match self.kind:
            case "flood":
                return too_many_requests(self.retry_after)
            case "bad_request":
                return bad_request("can't parse entities: unexpected end of the text")
            case "forbidden":
                return blocked()
            case "migrate":
                return upgraded(self.migrate_to_chat_id or -1_001_000_000_000 - (self.chat_id or 0) % 1_000_000)
            case _:
                return ApiRefusal(_STATUS[self.kind], _DESCRIPTION[self.kind])


_STATUS = {
    "flood": 429, "bad_request": 400, "forbidden": 403, "unauthorized": 401, "conflict": 409, "server_error": 500,
    "too_large": 413, "not_found": 404,
}  # fmt: skip
_DESCRIPTION = {
    "unauthorized": "Unauthorized",
    "conflict": "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    "server_error": "Internal Server Error",
    "too_large": "Request Entity Too Large",
    "not_found": "Not Found",
}


@dataclass
class _Order:
    number: int
    fault: Fault
    passed: int = 0
    done: int = 0


@dataclass
class FaultBook:
    """The orders in force; the oldest that matches a call takes it."""

    _orders: list[_Order] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def order(self, fault: Fault) -> int:
        number = next(self._numbers)
        self._orders.append(_Order(number, fault))
        return number

    def take(self, method: str, chat_id: object) -> Fault | None:
        """The fault of this call, used up by one; None if the call succeeds."""
        for order in self._orders:
            if not _matches(order.fault, method, chat_id):
                continue
            if order.passed < order.fault.skip:
                order.passed += 1
                continue
            order.done += 1
            if order.done >= order.fault.times:
                self._orders.remove(order)
            return order.fault
        return None

    def listing(self) -> list[dict[str, Any]]:
        return [
            {"number": order.number, "left": order.fault.times - order.done, **order.fault.model_dump()}
            for order in self._orders
        ]

    def clear(self) -> None:
        self._orders.clear()


def _matches(fault: Fault, method: str, chat_id: object) -> bool:
    named = fault.method == "*" or fault.method.lower() == method.lower()
    return named and (fault.chat_id is None or str(fault.chat_id) == str(chat_id))
