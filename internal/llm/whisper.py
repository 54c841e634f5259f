"""Transcripts by a Whisper model on this machine: a process for each sound, so that its memory is free afterwards.

`python -m internal.llm.whisper MODEL_FOLDER LANGUAGE` reads a sound of any kind from stdin and prints its words, a line
for each sentence. LANGUAGE is the speaker's usual one, used if the model does not recognise the language. If the model
or the sound cannot be read, it exits with code 1 and one line on stderr.
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

_CERTAIN: Final = 0.5
"""The least probability of a language that the model recognises: it gave Armenian 0.15 for a machine's Russian."""


def installed() -> bool:
    """Whether the extra `voice` is installed."""
    return find_spec("faster_whisper") is not None


async def transcribe(model: Path, sound: bytes, lang: str) -> str:
    """The words in a sound by a speaker of `lang` (ISO 639-1). The process ends with the call.

    Raises ModelRefused if the sound cannot be read.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, str(model), lang, stdin=PIPE, stdout=PIPE, stderr=PIPE
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


def main(folder: str, lang: str) -> int:
    os.nice(_NICENESS)
    if not Path(folder).is_dir():
        print(f"there is no folder {folder}", file=sys.stderr)
        return 1
    from faster_whisper import WhisperModel, decode_audio

    try:
        model = WhisperModel(folder, device="auto", compute_type="int8", local_files_only=True)
        sound = decode_audio(io.BytesIO(sys.stdin.buffer.read()))
        heard, chance, _ = model.detect_language(sound, vad_filter=True)
        segments, _ = model.transcribe(sound, vad_filter=True, language=heard if chance >= _CERTAIN else lang)
        for segment in segments:
            print(segment.text.strip(), flush=True)
    except Exception as error:  # border of the process: the libraries' errors have no common class
        print(str(error).splitlines()[0] if str(error) else type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
