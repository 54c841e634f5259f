"""What we use of libraries though they promise it to nobody: an upgrade that changes it fails here first."""

from __future__ import annotations

import contextlib
import inspect
import sqlite3
import threading
from pathlib import Path

import aiosqlite
import pytest
import uvicorn

from internal.storage.engine.sqlite import _on_thread_of


async def test_aiosqlite_runs_a_whole_function_on_its_one_thread(tmp_path: Path) -> None:
    """A function handed to the connection runs there from beginning to end, result and all."""
    async with aiosqlite.connect(tmp_path / "x.db") as raw:
        threads = {await _on_thread_of(raw, threading.get_ident) for _ in range(3)}
        assert len(threads) == 1
        assert threading.get_ident() not in threads
        assert isinstance(await _on_thread_of(raw, lambda: raw._conn), sqlite3.Connection)


async def test_aiosqlite_hands_on_what_the_function_raises(tmp_path: Path) -> None:
    """An error reaches who waits, and the thread goes on."""

    def fail() -> None:
        raise LookupError("inside")

    async with aiosqlite.connect(tmp_path / "x.db") as raw:
        with pytest.raises(LookupError, match="inside"):
            await _on_thread_of(raw, fail)
        assert await _on_thread_of(raw, lambda: 7) == 7


def test_uvicorn_takes_signals_in_one_place_only() -> None:
    """`capture_signals` is the one door to signal handlers, so that closing it keeps them ours."""
    assert isinstance(
        uvicorn.Server.capture_signals(uvicorn.Server(uvicorn.Config("x:y"))), contextlib.AbstractContextManager
    )
    assert "self.capture_signals()" in inspect.getsource(uvicorn.Server.serve)
    places = [
        name for name, part in vars(uvicorn.Server).items() if callable(part) and "signal.signal(" in _source(part)
    ]
    assert places == ["capture_signals"]


def _source(part: object) -> str:
    return inspect.getsource(inspect.unwrap(part))  # type: ignore[arg-type]  # only callables come here
