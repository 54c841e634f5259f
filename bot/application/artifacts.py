"""Builds the readers of files, and what speaks answers."""

import logging
from collections.abc import Sequence
from pathlib import Path

from bot.application.app import App
from bot.application.owner_data import import_agents
from bot.telegram.delivery.sender import Speak
from internal.agents.describer.agent import ModelDescriber
from internal.artifacts.media.text_in_pictures import languages
from internal.artifacts.model import FileSource, Reader
from internal.config.agents import AgentConfig
from internal.flows.artifacts.documents import DocumentReader
from internal.flows.artifacts.exports import FileImports, Known
from internal.flows.artifacts.pictures import PictureReader, ShownPictures
from internal.flows.artifacts.read_files import ArtifactReading
from internal.flows.artifacts.voice import Transcriber, VoiceReader, by_local_model, by_server
from internal.flows.transfer.imports import Importer
from internal.flows.turn.intake import IntakePhrases
from internal.llm import whisper
from internal.llm.model import AudioRequest, ChatMessage

log = logging.getLogger(__name__)


def readers(app: App) -> Sequence[Reader]:
    """The readers of all kinds of files that this installation can read."""
    found: list[Reader] = [DocumentReader(app.config.media)]
    if (transcriber := _transcriber(app)) is not None:
        found.append(VoiceReader(transcriber, app.config.media.timeout))
    describer = _describer(app)
    if describer is not None or languages():
        found.append(PictureReader(describer))
    return found


def shown_pictures(app: App) -> ShownPictures | None:
    """The pictures that the responder is shown, or None if it sees none."""
    return None if _describer(app) is None else ShownPictures(app.database, app.artifacts)


def speaker(app: App) -> Speak | None:
    """The function that speaks answers, or None if no service for it is configured."""
    audio, speech = app.models.speech, app.config.media.speech
    if audio is None:
        return None

    async def speak(user_id: int, text: str) -> bytes:
        limit = app.config.media.timeout.total_seconds()
        request = AudioRequest("speaker", speech.model, limit, user_id, [ChatMessage("user", text)])
        return await audio.speak(request, text, speech.voice)

    return speak


def _describer(app: App) -> ModelDescriber | None:
    vision, chat = app.config.media.vision, app.models.chat
    if vision.enabled == "off" or chat is None:
        return None
    return ModelDescriber(chat, AgentConfig(model=vision.model or app.config.agents.responder.model))


def _transcriber(app: App) -> Transcriber | None:
    media = app.config.media
    if media.transcription.model and app.models.transcription is not None:
        return by_server(app.models.transcription, media.transcription.model, media.timeout)
    if not media.transcription.local:
        return None
    folder = Path(media.transcription.local).expanduser()
    if not (whisper.installed() and folder.is_dir()):
        reason = f"there is no folder {folder}" if whisper.installed() else "it needs the extra voice"
        log.error("transcription_missing", extra={"reason": f"media.transcription.local: {reason}"})
        return None
    return by_local_model(folder)


def file_imports(app: App) -> FileImports:
    agents = import_agents(app.config)
    importer = Importer(app.database, app.clock, agents, Known(), woken=app.ticker.wake)
    return FileImports(app.database, app.artifacts, importer, app.config.media)


def artifact_reading(app: App, source: FileSource, phrases: IntakePhrases) -> ArtifactReading:
    from bot.telegram.handlers.files.files import import_buttons
    from bot.telegram.handlers.transcripts import listen_again_buttons, transcript_buttons

    return ArtifactReading(
        app.database,
        app.clock,
        app.artifacts,
        readers(app),
        source,
        app.config.media,
        phrases,
        transcript_buttons,
        import_buttons,
        listen_again_buttons,
        app.publication.agents,
    )
