"""What holds for every test."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import settings

import bot.telegram  # noqa: F401  first of all: aiogram, imported by itself, takes four seconds more
import internal.llm.transport

# No test may reach a real model provider: it would cost money and make the suite depend on the network.
internal.llm.transport.ALLOW_MODEL_REQUESTS = False

# How long an example takes says more of what else the machine does than of the code: a pause of it is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_TESTS = Path(__file__).parent
_PROCESSES = ("faults", "acceptance", "browser", "integration/cli", "integration/simulator", "integration/mcp")
"""Folders whose tests start and kill whole processes: a file of them takes up to three minutes."""


gc.disable()  # what is imported stays: looking through it again and again is a good part of the collection


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, or one worker would still be busy with them when all the others have nothing to do."""
    slow = [_TESTS / folder for folder in _PROCESSES]
    items.sort(key=lambda item: not any(item.path.is_relative_to(folder) for folder in slow))


def pytest_collection_finish() -> None:
    """From here on only what the tests themselves leave behind is looked through, as rarely as in the product."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 100)
