"""Logs: one line a record, fields that can be queried, and never a secret."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from internal.telemetry.logs import HIDDEN, Redactor, configure, log_loop_trouble, redact

TOKEN = "7312345678:AAH-abcdefghijklmnopqrstuvwxyz_12345"
KEY = 'kéy with "quotes"\nand more'
log = logging.getLogger("laplaced.test")


@pytest.fixture(autouse=True)
def untouched_logging() -> Iterator[None]:
    """Logging is global: what a test configures, it takes back."""
    root, hook = logging.getLogger(), sys.excepthook
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level, sys.excepthook = handlers, level, hook
    logging.captureWarnings(False)


def logged(json_lines: bool | None = None) -> io.StringIO:
    stream = io.StringIO()
    configure([TOKEN, KEY], stream=stream, json_lines=json_lines)
    return stream


def test_json_line_holds_event_and_fields() -> None:
    """Off a terminal each record is one JSON object with the event's name and its fields."""
    stream = logged()
    log.info("fragment_published", extra={"messages": 12})
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"], line["logger"]) == ("fragment_published", "info", "laplaced.test")
    assert line["messages"] == 12
    assert line["time"].endswith("+00:00")


def test_key_values_are_read_by_people() -> None:
    """On a terminal a record is one line of words, quoted where a space would break them apart."""
    stream = logged(json_lines=False)
    log.warning("run_postponed", extra={"agent": "archivist", "error": 'said "no"\nthen left', "empty": ""})
    assert stream.getvalue().split(" ", 1)[1] == (
        'warning run_postponed agent=archivist error="said \\"no\\"\\nthen left" empty=""\n'
    )


@pytest.mark.parametrize("json_lines", [True, False])
def test_record_is_one_line_whatever_people_wrote(json_lines: bool) -> None:
    """A line break in a message cannot forge a second record."""
    stream = logged(json_lines=json_lines)
    log.info("one\r\ntwo")
    assert stream.getvalue().count("\n") == 1


def fail_with_secrets() -> None:
    raise RuntimeError(f"failed with {KEY}") from KeyError(f"GET https://api.example/bot{TOKEN}/getMe {KEY}")


@pytest.mark.parametrize("json_lines", [True, False])
def test_no_secret_is_logged_from_anywhere(json_lines: bool) -> None:
    """Message, arguments, fields, the exception, its cause, the stack: a secret is taken out of all of them."""
    stream = logged(json_lines=json_lines)
    try:
        fail_with_secrets()
    except RuntimeError:
        log.exception("failed for %s", TOKEN, extra={"url": f"/bot{TOKEN}/x", "key": KEY, "nested": {"k": [KEY]}})
    text = stream.getvalue()
    assert "Traceback" in text
    assert HIDDEN in text
    for secret in (TOKEN, "AAH-abcdef", "quotes", "and more"):
        assert secret not in text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"https://api.telegram.org/bot{TOKEN}/sendMessage", "https://api.telegram.org/bot[hidden]/sendMessage"),
        (f"/file/bot{TOKEN.replace(':', '%3A')}/photos/1.jpg", "/file/bot[hidden]/photos/1.jpg"),
        (f"token {TOKEN}.", "token [hidden]."),
        ("Authorization: Bearer abcdef123", "Authorization: Bearer [hidden]"),
        ("key sk-or-v1-0123456789abcdef was refused", "key [hidden] was refused"),
        ("named lck_0123456789abcdef-_x was refused", "named [hidden] was refused"),
        ("cookie laplaced_session=lcs_0123456789abcdef", "cookie laplaced_session=[hidden]"),
        ("falkor://default:pass@host:6379", "falkor://default:[hidden]@host:6379"),
        ("http://127.0.0.1:9081/healthz at 12:30:01", "http://127.0.0.1:9081/healthz at 12:30:01"),
        ('{"a":"http://host:80","b":"x@y"}', '{"a":"http://host:80","b":"x@y"}'),
        ("chat 123456789 at 2026-11-21T22:30:01+00:00", "chat 123456789 at 2026-11-21T22:30:01+00:00"),
    ],
)
def test_shapes_of_secrets_are_known_without_being_told(text: str, kept: str) -> None:
    """Tokens in URLs, bearer keys, provider keys and passwords in addresses go; what only looks similar stays."""
    assert Redactor()(text) == kept


@given(secret=st.text(min_size=4), around=st.tuples(st.text(max_size=20), st.text(max_size=20)))
def test_told_secret_never_survives(secret: str, around: tuple[str, str]) -> None:
    """Whatever the secret and whatever stands around it, it is not in the text afterwards."""
    hidden = Redactor([secret])(f"{around[0]}{secret}{around[1]}")
    assert secret not in hidden.replace(HIDDEN, "")


def test_secret_learned_later_is_hidden_too() -> None:
    """A key that was generated after logging began is kept out from then on."""
    stream = io.StringIO()
    configure(stream=stream)
    redact.register("generated-key")
    log.info("started with generated-key")
    assert "generated-key" not in stream.getvalue()


def test_tiny_secret_does_not_blank_the_log() -> None:
    """A secret of three letters would take half of every line with it."""
    assert Redactor(["a", ""])("a cat") == "a cat"


def test_crash_is_logged_without_secrets() -> None:
    """An exception that nobody caught leaves through the log, not past it."""
    stream = logged()
    error = ValueError(f"bad {TOKEN}")
    sys.excepthook(ValueError, error, None)
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"]) == ("crashed", "critical")
    assert TOKEN not in stream.getvalue()


async def test_failure_nobody_awaited_is_logged() -> None:
    """What the event loop would print itself is a record like any other."""
    stream = logged()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_loop_trouble)
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
    line = json.loads(stream.getvalue())
    assert line["event"] == "unawaited_failure"
    assert "ZeroDivisionError" in line["traceback"]


def test_warnings_are_records() -> None:
    """A library's warning does not break the lines."""
    stream = logged()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("old way", stacklevel=1)
    assert json.loads(stream.getvalue())["logger"] == "py.warnings"


def test_libraries_speak_only_of_trouble() -> None:
    """httpx logs every URL at info, token included: that news is not ours."""
    stream = logged()
    logging.getLogger("httpx").info("HTTP Request")
    logging.getLogger("apscheduler.scheduler").info("Added job")
    assert stream.getvalue() == ""
