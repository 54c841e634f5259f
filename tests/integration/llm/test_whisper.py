"""Transcripts by a process of this machine. No model can be had in tests: what is shown is how it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from internal.errors import ModelRefused
from internal.llm import whisper


@pytest.mark.parametrize("there", [False, True])
async def test_a_folder_without_a_model_is_named(tmp_path: Path, there: bool) -> None:
    """The process ends with one line about what is missing, and no traceback."""
    folder = tmp_path if there else tmp_path / "nowhere"
    with pytest.raises(ModelRefused, match=str(folder)):
        await whisper.transcribe(folder, b"OggS", "uk")
