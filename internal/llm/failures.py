"""Translates status codes and error objects of providers into our exceptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from internal.errors import ModelAccessDenied, ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable

MESSAGE_LIMIT = 300
LONGEST_RETRY_AFTER = 24 * 3600.0

_OUTAGE_WORDS = re.compile(r"rate.?limit|overload|server_error|timeout|unavailable|too_many_requests", re.IGNORECASE)
_REFUSAL_WORDS = re.compile(r"content.?(?:filter|policy)|safety|moderation", re.IGNORECASE)
_DENIAL_WORDS = re.compile(r"authentication|permission|insufficient_quota|billing|credit", re.IGNORECASE)
_FORMAT_WORDS = re.compile(r"response_?format|json_schema|json_object|structured|grammar|parameter", re.IGNORECASE)


class RequestRejected(ModelRefused):
    """The server does not accept a parameter of the request; one with fewer parameters may succeed."""


def from_status(status: int, answer: Any, headers: Mapping[str, str]) -> ModelError:
    """The error for an HTTP status of 300 and above; `answer` is the body, parsed if it is JSON."""
    detail = _detail(answer)
    message = f"the model server answered {status}{': ' + detail if detail else ''}"
    if status in (408, 409, 425, 429) or status >= 500:
        if status == 500 and _FORMAT_WORDS.search(detail):
            return RequestRejected(message)
        return ModelUnavailable(message, retry_after=retry_after(headers.get("Retry-After")))
    if status < 400:
        return ModelAccessDenied(f"{message} (redirected: set the base_url to the final address)")
    if _REFUSAL_WORDS.search(_kind(answer)):
        return ModelRefused(message)
    if status in (400, 415, 422) or (status == 404 and _FORMAT_WORDS.search(detail)):
        return RequestRejected(message)
    return ModelAccessDenied(message) if status in (401, 402, 403, 404) else ModelRefused(message)


def from_error_object(error: Any) -> ModelError:
    """The error for an error object inside HTTP 200. One without code and kind counts as a failed attempt."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    if isinstance(code, int) and 300 <= code <= 599:
        return from_status(code, {"error": error}, {})
    kind, message = _kind({"error": error}), f"the model server answered with an error: {_detail({'error': error})}"
    if _OUTAGE_WORDS.search(kind):
        return ModelUnavailable(message)
    if _DENIAL_WORDS.search(kind):
        return ModelAccessDenied(message)
    if _REFUSAL_WORDS.search(kind) or "invalid_request" in kind:
        return ModelRefused(message)
    return ModelReplyInvalid(message)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header, a number or an HTTP date; None if absent or unreadable."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - (now or datetime.now(UTC))).total_seconds()
    # `not >=` catches nan as well.
    return 0.0 if not seconds >= 0 else min(seconds, LONGEST_RETRY_AFTER)


def _detail(answer: Any) -> str:
    """The provider's message on one line of limited length."""
    return " ".join(_message(answer).split())[:MESSAGE_LIMIT]


def _message(answer: Any) -> str:
    for key in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(key):
            return _message(answer[key])
    if isinstance(answer, dict):
        return ""
    return "" if answer is None else str(answer)


def _kind(answer: Any) -> str:
    """The provider's words for the kind of an error: its type and textual code."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return f"{error.get('type', '')} {error.get('code', '')}" if isinstance(error, dict) else ""
