"""A limit for the size of request bodies."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 4 << 20
"""The most bytes of a body: the longest episode fits, even if each letter is written as an escape of six."""

_TOO_LARGE = f"body: at most {LARGEST_BODY} bytes at a time"


class BodyLimit:
    """Answers 413 to a body over LARGEST_BODY: at once by its declared length, else after that many bytes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > LARGEST_BODY:
            await JSONResponse({"detail": _TOO_LARGE}, 413)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)


def _bounded(receive: Receive) -> Receive:
    size = 0

    async def read() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return read
