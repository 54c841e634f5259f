"""Structured logs on stderr: a stable event name plus fields, one line each, and never a secret.

Code logs `log.info("fragment_published", extra={"user_id": 7, "messages": 12})`. On a terminal that reads
`12:30:01 info fragment_published user_id=7 messages=12`; anywhere else it is one JSON object a line.
"""

import asyncio
import json
import logging
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO
from urllib.parse import quote

HIDDEN = "[hidden]"
SHORTEST_SECRET = 4
"""Characters of the shortest redacted secret: a shorter one would blank out much of every line."""

_SHAPES = (
    re.compile(r"(?P<kept>\bbot)?\d{5,20}(?::|%3A)[A-Za-z0-9_-]{20,}"),  # a bot token, in a URL or alone
    re.compile(r"(?P<kept>\b(?:Bearer|Basic) +)[A-Za-z0-9._~+/=-]{4,}", re.IGNORECASE),
    re.compile(r"(?P<kept>\b)sk-[A-Za-z0-9_-]{8,}"),  # keys of OpenAI, OpenRouter and their kin
    re.compile(r"(?P<kept>\b)lc[ks]_[A-Za-z0-9_-]{8,}"),  # our own named keys, and tokens of sessions
    re.compile(r"(?P<kept>://[^/\s:@]*:)[^/\s@\"']+(?=@)"),  # a password inside an address
)
_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName"}
_NOISY = (
    "apscheduler",
    "aiogram",
    "alembic",
    "asyncio",
    "httpx",
    "httpcore",
    "uvicorn",
    "aiosqlite",
    "filelock",
    "mcp",
)
"""Libraries whose log records matter only when something is wrong."""


class Redactor:
    """Removes secrets from text: registered ones, and everything in the shape of one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: re.Pattern[str] | None = None
        self._secrets: set[str] = set()
        self.register(*secrets)

    def register(self, *secrets: str) -> None:
        """Registers secrets that became known after the start, such as generated keys."""
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                self._secrets |= {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1]}
        longest_first = sorted(self._secrets, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def clean(self, value: object) -> object:
        """The same value without secrets; values other than plain ones and containers become text."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, dict):
            return {self(str(key)): self.clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(item) for item in value]
        return self(str(value))

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        for shape in _SHAPES:
            text = shape.sub(lambda match: f"{match['kept'] or ''}{HIDDEN}", text)
        return text


redact = Redactor()
"""The process's one redactor: all text for people's eyes goes through it."""


class _Formatter(logging.Formatter, ABC):
    """Redacts each part before it is quoted (quoting could disguise a secret), and then the finished line."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(self.render(record))

    @abstractmethod
    def render(self, record: logging.LogRecord) -> str: ...

    def event(self, record: logging.LogRecord) -> str:
        return redact(record.getMessage())

    def fields(self, record: logging.LogRecord) -> dict[str, object]:
        return {key: redact.clean(value) for key, value in vars(record).items() if key not in _STANDARD}

    def trouble(self, record: logging.LogRecord) -> str:
        """The traceback and stack of a record; empty when it has none."""
        parts = [self.formatException(record.exc_info)] if record.exc_info and record.exc_info[0] else []
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return redact("\n".join(parts))


class JsonLines(_Formatter):
    def render(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": self.event(record),
        }
        if trouble := self.trouble(record):
            line["traceback"] = trouble
        return json.dumps(self.fields(record) | line, ensure_ascii=False)


class KeyValues(_Formatter):
    def render(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        pairs = "".join(f" {key}={_value(value)}" for key, value in self.fields(record).items())
        line = f"{clock} {record.levelname.lower()} {_one_line(self.event(record))}{pairs}"
        trouble = self.trouble(record)
        return f"{line}\n{trouble}" if trouble else line


def configure(
    secrets: Iterable[str] = (),
    *,
    stream: TextIO | None = None,
    json_lines: bool | None = None,
    level: int = logging.INFO,
) -> None:
    """Sends every log record, warning and uncaught exception of the process to `stream` (stderr), without secrets.

    It is called once at start, before anything can fail; a later call replaces the stream and adds its secrets. Secrets
    generated later are passed to `redact.register`. `json_lines` None: decided by the stream.
    """
    stream = sys.stderr if stream is None else stream
    redact.register(*secrets)
    handler = logging.StreamHandler(stream)
    as_json = not stream.isatty() if json_lines is None else json_lines
    handler.setFormatter(JsonLines() if as_json else KeyValues())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    sys.excepthook = _log_crash


def log_loop_trouble(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An event loop's exception handler: errors that no task awaited are logged like any other."""
    error = context.get("exception")
    logging.getLogger("laplaced").error(
        "unawaited_failure", exc_info=error, extra={"cause": context.get("message", ""), "task": _name(context)}
    )


def _name(context: dict[str, Any]) -> str:
    task = context.get("task") or context.get("future")
    return task.get_name() if isinstance(task, asyncio.Task) else ""


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger("laplaced").critical("crashed", exc_info=(kind, error, trace))


def _value(value: object) -> str:
    text = str(value)
    return text if re.fullmatch(r"[^\s\"=]+", text) else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
