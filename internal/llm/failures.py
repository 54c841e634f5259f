"""Translates status codes and error objects of providers into our exceptions."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from internal.errors import (
    ModelAccessDenied,
    ModelContextExceeded,
    ModelError,
    ModelRefused,
    ModelReplyInvalid,
    ModelUnavailable,
    ModelUnknown,
)

MESSAGE_LIMIT = 300
LONGEST_RETRY_AFTER = 24 * 3600.0

_OUTAGE_WORDS = re.compile(r"rate.?limit|overload|server_error|timeout|unavailable|too_many_requests", re.IGNORECASE)
_REFUSAL_WORDS = re.compile(r"content.?(?:filter|policy)|safety|moderation", re.IGNORECASE)
_DENIAL_WORDS = re.compile(r"authentication|permission|insufficient_quota|billing|credit", re.IGNORECASE)
_FORMAT_WORDS = re.compile(
    r"response_?format|json_schema|json_object|structured|grammar|parameter|image.?input|image_url|multi.?modal|mmproj"
    r"|\btools?\b.{0,40}(?:jinja|support|use\b)|tool.calling|system role|roles must alternate|support thinking",
    re.IGNORECASE,
)
_KEY_WORDS = re.compile(r"\bapi.?key\b", re.IGNORECASE)
"""Words for a wrong key with status 400: Gemini and xAI."""

_OVERFLOW_CODES = re.compile(r"context_length|context_size|request_too_large|above_max_length", re.IGNORECASE)
_OVERFLOW_WORDS = re.compile(
    r"\b(?:context|prompt|input)\b[^.]{0,90}?(?:exceed|too (?:long|large)|overflow|n_ctx|context length)"
    r"|(?:exceed|max(?:imum)?|reduce the)\b[^.]{0,40}? (?:context|prompt|length)|max_tokens must be at least 1",
    re.IGNORECASE,
)
"""Words for a too long request without a status or code for it: something read exceeds something.

Servers without a code: OpenRouter, which also quotes the provider's words under `metadata.raw`; vLLM, LM Studio, Ollama
(if it does not silently cut the prompt), Gemini. llama.cpp has a code and sends it with 400, 500 or 200.
"""

_UNKNOWN_MODEL_CODES = re.compile(r"model_not_found|model_decommissioned|\bparam=model\b", re.IGNORECASE)
_UNKNOWN_MODEL_WORDS = re.compile(
    r"\b(?:invalid|unknown|no|not a valid) models?\b|found for model\b"
    r"|\bmodel\b[^.]{0,60}? (?:not found|does ?n.?t exist|not exist|not available|decommissioned)",
    re.IGNORECASE,
)
"""Words for an unknown model without 404 or a code for it, after its name is replaced by `model`.

Servers that answer 400 without a code: OpenRouter ("X is not a valid model ID"), llama.cpp, older LM Studio.
"""


class RequestRejected(ModelRefused):
    """The server does not accept a parameter of the request; one with fewer parameters may succeed."""


def from_status(status: int, answer: Any, headers: Mapping[str, str], model: str) -> ModelError:
    """The error for an HTTP status of 300 and above; `answer` is the body, parsed if it is JSON."""
    detail = _detail(answer)
    message = f"the model server answered {status}{': ' + detail if detail else ''}"
    return _known(status, answer, message, model) or _by_status(status, answer, message, headers)


def _by_status(status: int, answer: Any, message: str, headers: Mapping[str, str]) -> ModelError:
    detail = _detail(answer)
    if status in (408, 409, 425, 429) or status >= 500:
        if status in (500, 501) and _FORMAT_WORDS.search(detail):
            return RequestRejected(message)
        return ModelUnavailable(message, retry_after=retry_after(headers.get("Retry-After")))
    if status < 400:
        return ModelAccessDenied(f"{message} (redirected: set the base_url to the final address)")
    if _REFUSAL_WORDS.search(_kind(answer)):
        return ModelRefused(message)
    rejected = _FORMAT_WORDS.search(detail) if status == 404 else status in (400, 415, 422)
    if rejected and not _KEY_WORDS.search(detail):
        return RequestRejected(message)
    return ModelAccessDenied(message) if rejected or status in (401, 402, 403, 404) else ModelRefused(message)


def _known(status: int, answer: Any, message: str, model: str) -> ModelError | None:
    """The error for a too long request or an unknown model, which servers report in many ways."""
    if status < 400 or status in (401, 402, 403, 429):
        return None
    kind, said = _kind(answer), _message(answer)
    upstream = _error(answer).get("metadata")
    said += f" {upstream.get('raw')}" if isinstance(upstream, dict) else ""
    said = re.sub(rf"(?<!\w){re.escape(model)}(?!\w)", "model", said) if model else said
    if status == 413 or _OVERFLOW_CODES.search(kind) or _OVERFLOW_WORDS.search(said):
        return ModelContextExceeded(message)
    missing = status == 404 and re.search(r"\bmodels?\b", said) and not _FORMAT_WORDS.search(said)
    if status < 500 and (missing or _UNKNOWN_MODEL_CODES.search(kind) or _UNKNOWN_MODEL_WORDS.search(said)):
        return ModelUnknown(message)
    return None


def from_error_object(error: Any, model: str) -> ModelError:
    """The error for an error object inside HTTP 200. One without code and kind counts as a failed attempt."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    if isinstance(code, int) and 300 <= code <= 599:
        return from_status(code, {"error": error}, {}, model)
    message = f"the model server answered with an error: {_detail({'error': error})}"
    return _known(400, {"error": error}, message, model) or _by_kind(_kind({"error": error}), message)


def _by_kind(kind: str, message: str) -> ModelError:
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
    if isinstance(answer, list) and answer:
        answer = answer[0]
    for key in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(key):
            return _message(answer[key])
    if isinstance(answer, dict):
        return ""
    return "" if answer is None else str(answer)


def _error(answer: Any) -> dict[str, Any]:
    """The error object of a body: under `error`, with Gemini in a list, with vLLM the body itself."""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    found = answer.get("error") or answer if isinstance(answer, dict) else None
    return found if isinstance(found, dict) else {}


def _kind(answer: Any) -> str:
    """The provider's words for the kind of an error: its type, its code and the parameter at fault."""
    error = _error(answer)
    return f"{error.get('type', '')} {error.get('code', '')} param={error.get('param', '')}"
