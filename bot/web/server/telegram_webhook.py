"""Telegram's calls in webhook mode: accepted raw, stored before they are answered."""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import HTTPException, Request, Response

from bot.web.http.routers import APIRouter

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


@dataclass(frozen=True, slots=True)
class Webhook:
    """The webhook; `accept` stores one raw update before it returns; if it raises, Telegram sends the update again.

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
        # The secret is checked first: bodies of others are not even read.
        if not secret or not hmac.compare_digest(request.headers.get(SECRET_HEADER, "").encode("latin-1"), secret):
            raise HTTPException(401, f"{SECRET_HEADER} is missing or wrong")
        await webhook.accept(await request.body())
        return Response(status_code=200)

    return router
