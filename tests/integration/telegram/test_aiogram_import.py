"""aiogram, loaded lightly, is the same library."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.paths import ROOT

EVERY_MODEL = """
import bot.telegram
from aiogram import methods, types
models = [m for m in (*vars(types).values(), *vars(methods).values()) if hasattr(m, "model_rebuild")]
waiting = [m for m in models if not m.__pydantic_complete__]
built = [m for m in models if m.model_rebuild(raise_errors=True) is not False and m.__pydantic_complete__]
print(len(models), len(waiting), len(built))
"""


@pytest.mark.long
def test_every_model_of_the_bot_api_is_built_when_it_is_needed() -> None:
    """Most wait for their first use, and none lacks a name when it comes."""
    said = subprocess.run([sys.executable, "-c", EVERY_MODEL], cwd=ROOT, capture_output=True, text=True, check=True)
    models, waiting, built = map(int, said.stdout.split())
    assert built == models > 400
    assert waiting > 200
