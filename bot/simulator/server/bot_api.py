"""The Bot API over HTTP: `/bot<token>/METHOD` and `/file/bot<token>/PATH`, in Telegram's wire format.

Bodies may be JSON, form or multipart; parameters may also stand in the query. Every call but getUpdates is written to
the ledger, with its outcome and its fault, if any.
"""

import asyncio
import json
import logging
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from bot.simulator.methods import METHODS, Method
from bot.simulator.methods.registry import MethodCall, Upload
from bot.simulator.repository import Json
from bot.simulator.server import connections
from bot.simulator.server.errors import ApiRefusal, bad_request, method_not_found, unauthorized
from bot.simulator.server.faults import Fault
from bot.simulator.server.webhook import Webhook
from bot.simulator.telegram import Telegram

log = logging.getLogger(__name__)

_HOLD = 3600.0
_UNRECORDED = frozenset({"getupdates"})


def bot_api(telegram: Telegram, webhook: Webhook) -> APIRouter:
    """The routes of the Bot API for one bot."""
    router = APIRouter()
    handler = _CallHandler(telegram, webhook)

    async def call(token: str, name: str, request: Request) -> Response:
        return await handler.call(token, name, request)

    async def download(token: str, path: str) -> Response:
        if token != telegram.token:
            return _refused(unauthorized())
        return file_response(telegram, "".join(path.split("/")[1:2]))

    router.add_api_route("/bot{token}/{name}", call, methods=["GET", "POST"], include_in_schema=False)
    router.add_api_route("/file/bot{token}/{path:path}", download, include_in_schema=False)
    return router


def file_response(telegram: Telegram, file_id: str) -> Response:
    """A stored file as a download; never rendered by the browser, whatever its type."""
    file = telegram.repository.file(file_id)
    if file is None:
        return _refused(ApiRefusal(404, "Not Found"))
    name, _, content = file
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type="application/octet-stream", headers=headers)


class _CallHandler:
    """Handles a call: token, method, parameters, faults, limits; then the method, the ledger, the answer."""

    def __init__(self, telegram: Telegram, webhook: Webhook) -> None:
        self._telegram = telegram
        self._webhook = webhook

    async def call(self, token: str, name: str, request: Request) -> Response:
        try:
            self._admit(token)
            method = METHODS.get(name.lower())
            if method is None:
                raise method_not_found()
            values, uploads = await _parameters(request)
        except ApiRefusal as refusal:
            return _refused(refusal)
        except ClientDisconnect:  # a bot that was killed in the middle of its request: no client reads this
            return _refused(bad_request("the request was cut off"))
        fault = self._telegram.faults.take(method.name, values.get("chat_id"))
        return await self._around(method, values, uploads, fault, request)

    def _admit(self, token: str) -> None:
        if token != self._telegram.token:
            raise unauthorized() if token.partition(":")[0].isdecimal() else ApiRefusal(404, "Not Found")

    async def _around(
        self, method: Method, values: Json, uploads: dict[str, Upload], fault: Fault | None, request: Request
    ) -> Response:
        """Processes the call, with the effects of a fault before and after it."""
        kind = fault.kind if fault is not None else ""
        if kind == "reset":
            self._record(method, values, 0, fault, description="connection reset before processing")
            return _cut(request)
        if kind == "bad_gateway":
            self._record(method, values, 502, fault, description="Bad Gateway")
            return Response("<html><body><h1>502 Bad Gateway</h1></body></html>", 502, media_type="text/html")
        if fault is not None and kind == "hang":
            self._record(method, values, 0, fault, description="never answered, not processed")
            return await self._silence(request, fault)
        if fault is not None and kind == "slow":
            await asyncio.sleep(fault.seconds if fault.seconds is not None else 1.0)
        response = await self._process(method, values, uploads, fault)
        if kind == "reset_after":
            return _cut(request)
        if fault is not None and kind == "no_reply":
            return await self._silence(request, fault)
        return response

    async def _silence(self, request: Request, fault: Fault) -> Response:
        await _hold(request, self._telegram, fault.seconds if fault.seconds is not None else _HOLD)
        return _cut(request)

    async def _process(self, method: Method, values: Json, uploads: dict[str, Upload], fault: Fault | None) -> Response:
        try:
            if fault is not None and (ordered := fault.refusal()) is not None:
                raise ordered
            self._flood(method, values)
            result = await method.answer(MethodCall(self._telegram, self._webhook, uploads), values)
        except ApiRefusal as refusal:
            self._record(method, values, refusal.code, fault, description=refusal.description)
            return _refused(refusal)
        self._record(method, values, 200, fault, result=result)
        if fault is not None and fault.kind == "unreadable" and isinstance(result, dict):
            result = {"message_id": result.get("message_id"), "chat": "a kind of chat yet unknown"}
        return JSONResponse({"ok": True, "result": result})

    def _flood(self, method: Method, values: Json) -> None:
        chat_id = _number(values.get("chat_id"))
        if chat_id is not None:
            self._telegram.flood.admit(method.name, chat_id)

    def _record(
        self,
        method: Method,
        values: Json,
        status: int,
        fault: Fault | None,
        *,
        result: Any = None,
        description: str = "",
    ) -> None:
        if method.name.lower() in _UNRECORDED:
            return
        message_id = _number(result.get("message_id")) if isinstance(result, dict) else None
        self._telegram.repository.add_ledger(
            method.name,
            values,
            status=status,
            chat_id=_number(values.get("chat_id")),
            message_id=message_id if message_id is not None else _number(values.get("message_id")),
            description=description or None,
            fault=fault.kind if fault is not None else None,
        )


def _number(value: object) -> int | None:
    try:
        return int(str(value))
    except ValueError:
        return None


def _refused(refusal: ApiRefusal) -> Response:
    headers = {}
    if "retry_after" in refusal.parameters:
        headers["Retry-After"] = str(refusal.parameters["retry_after"])
    return JSONResponse(refusal.body(), refusal.code, headers=headers)


def _cut(request: Request) -> Response:
    client = request.client
    connections.reset_connection((client.host, client.port) if client is not None else None)
    return Response(status_code=500)  # no client reads it: the connection is gone


async def _hold(request: Request, telegram: Telegram, seconds: float) -> None:
    """Keeps the connection open without an answer until the client gives up."""
    end = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < end and not telegram.updates.closed:
        if await request.is_disconnected():
            return
        await asyncio.sleep(0.05)


async def _parameters(request: Request) -> tuple[Json, dict[str, Upload]]:
    values: Json = dict(request.query_params)
    uploads: dict[str, Upload] = {}
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "application/json":
        values |= await _json_body(request)
    elif kind in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        async with request.form(max_part_size=64 * 1024 * 1024) as form:
            for key, value in form.multi_items():
                if isinstance(value, UploadFile):
                    mime = value.content_type or "application/octet-stream"
                    uploads[key] = Upload(value.filename or key, mime, await value.read())
                else:
                    values[key] = value
    return values, uploads


async def _json_body(request: Request) -> Json:
    body = await request.body()
    if not body.strip():
        return {}
    try:
        values = json.loads(body)
    except ValueError:
        raise bad_request("can't parse JSON object") from None
    if not isinstance(values, dict):
        raise bad_request("can't parse JSON object: Object expected")
    return values
