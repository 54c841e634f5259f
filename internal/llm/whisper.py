"""Transcripts by a Whisper model on this machine: a process for each sound, so that its memory is free afterwards.

`python -m internal.llm.whisper MODEL_FOLDER` reads a sound of any kind from stdin and prints its words, a line for each
sentence. Exit code 1, with one line on stderr, when the model or the sound cannot be read.
"""

import asyncio
import contextlib
import io
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE
from typing import Final

from internal.errors import ModelRefused

_NICENESS: Final = 5


def installed() -> bool:
    """Whether the extra `voice` is there."""
    return find_spec("faster_whisper") is not None


async def transcribe(model: Path, sound: bytes) -> str:
    """What is said in a sound. Raises ModelRefused where it cannot be read. The process ends with the call."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, str(model), stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    try:
        said, errors = await process.communicate(sound)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.returncode:
        lines = errors.decode("utf-8", "replace").strip().splitlines() or [f"it ended with {process.returncode}"]
        raise ModelRefused(f"the local transcription failed: {lines[-1]}")
    return " ".join(said.decode("utf-8").split())


def main(folder: str) -> int:
    os.nice(_NICENESS)
    if not Path(folder).is_dir():
        print(f"there is no folder {folder}", file=sys.stderr)
        return 1
    from faster_whisper import WhisperModel

    try:
        model = WhisperModel(folder, device="auto", compute_type="int8", local_files_only=True)
        segments, _ = model.transcribe(io.BytesIO(sys.stdin.buffer.read()), vad_filter=True)
        for segment in segments:
            print(segment.text.strip(), flush=True)
    except Exception as error:  # border of the process: the libraries' errors have no common class
        print(str(error).splitlines()[0] if str(error) else type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
