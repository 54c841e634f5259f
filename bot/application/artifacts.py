"""Puts together what reads files."""

from collections.abc import Sequence

from bot.application.app import App
from internal.artifacts.model import FileSource, Reader
from internal.flows.artifacts.documents import DocumentReader
from internal.flows.artifacts.reading import ArtifactReading
from internal.flows.turn.intake import Phrases


def readers(app: App) -> Sequence[Reader]:
    """The readers of all kinds of files that this installation can read."""
    return (DocumentReader(app.config.media),)


def artifact_reading(app: App, source: FileSource, phrases: Phrases) -> ArtifactReading:
    return ArtifactReading(
        app.database,
        app.clock,
        app.artifacts,
        readers(app),
        source,
        app.config.media,
        phrases,
        app.publication.agents,
    )
