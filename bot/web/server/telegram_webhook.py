"""Telegram's calls in webhook mode: accepted raw, stored before they are answered."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request, Response

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
LARGEST_UPDATE = 4 * 1024 * 1024
"""Bytes. A message of 4096 characters with a hundred entities, quoted in another, stays far below a tenth of it."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """`accept` stores one raw update for good before it returns; whatever it raises makes Telegram send it again.

    `host` is the public name under which Telegram calls.
    """

    path: str
    secret: str
    host: str
    accept: Callable[[bytes], Awaitable[None]]


def webhook_router(webhook: Webhook) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    secret = webhook.secret.encode()

    @router.post(webhook.path)
    async def accept(request: Request) -> Response:
        # The secret comes first: nobody else's body is even read.
        if not secret or not hmac.compare_digest(request.headers.get(SECRET_HEADER, "").encode("latin-1"), secret):
            raise HTTPException(401, f"{SECRET_HEADER} is missing or wrong")
        await webhook.accept(await _bounded_body(request))
        return Response(status_code=200)

    return router


async def _bounded_body(request: Request) -> bytes:
    """The body, read no further than the largest update is long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_UPDATE:
            raise HTTPException(413, f"an update has at most {LARGEST_UPDATE} bytes")
    return bytes(body)
