"""What the local Telegram's process complains about arrives in the bot's log as it was: a record for a record."""

from __future__ import annotations

import asyncio
import logging
import sys
from io import StringIO
from pathlib import Path

import pytest

from bot.shared.child_process import LINE_BREAK, LineFormatter
from bot.simulator.launch import LocalTelegram


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def record_with_traceback() -> logging.LogRecord:
    failure = None
    try:
        int("no number")
    except ValueError:
        failure = sys.exc_info()
    return logging.LogRecord("page", logging.WARNING, __file__, 1, "first\nsecond", None, failure)


def test_a_record_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Message and traceback together, every break of theirs kept; a person at a terminal sees real lines."""
    formatter = LineFormatter("local telegram: %(message)s")
    monkeypatch.setattr(sys, "stderr", StringIO())
    line = formatter.format(record_with_traceback())
    assert "\n" not in line
    assert line.startswith(f"local telegram: first{LINE_BREAK}second{LINE_BREAK}Traceback")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert formatter.format(record_with_traceback()) == line.replace(LINE_BREAK, "\n")


async def test_the_bot_logs_it_as_one_record(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With its line breaks back in place, also one of many thousand characters."""
    script = f"import sys; sys.stderr.buffer.write(({f'first{LINE_BREAK}'!r} + 'x' * 200_000 + '\\nnext\\n').encode())"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stderr=asyncio.subprocess.PIPE, limit=2**20
    )
    telegram = LocalTelegram(tmp_path, port=0, token="5:x", bot_name="Laplaced", host="127.0.0.1")
    await telegram._relay(process)
    await process.wait()
    assert [record.getMessage() for record in caplog.records] == [f"first\n{'x' * 200_000}", "next"]
