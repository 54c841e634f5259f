"""An export of chats that is dropped into the chat is offered for import, and imported once by a tap."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.agents.export_files import chat, said
from support.flows.file_stage import FileStage
from support.flows.flow_stage import OWNER, Talk

from internal.flows.artifacts.exports import FileImports, Known
from internal.flows.transfer.imports import Importer
from internal.knowledge import episode_repository as episodes


@pytest.fixture
def stage(talk: Talk, tmp_path: Path) -> FileStage:
    return FileStage(talk, tmp_path)


async def test_an_export_is_offered_and_imported_once(stage: FileStage) -> None:
    """It is no document: its conversations become episodes with their speakers; a second tap finds nothing new."""
    exported = json.dumps(chat(said(1, "Moving to Lviv", 42), said(2, "Great", 43)))
    file = await stage.sent_and_read("result.json", exported.encode())
    first, second = [row.outgoing for row in await stage.talk.outbox()]
    assert "conversations from Telegram" in first.text
    assert first.keyboard is not None
    assert first.keyboard[0][0]["text"] == "Import"
    assert "export of conversations" in second.text
    assert await stage.text(file) == [(None, "[file result.json]")]
    importer = Importer(stage.talk.database, stage.talk.clock, ["archivist"], Known())
    imports = FileImports(stage.talk.database, stage.store, importer, stage.limits)
    user = await stage.talk.user()
    assert (await imports.run(user, file)).messages == 2
    assert (await imports.run(user, file)).messages == 0
    [episode] = await stage.talk.read(lambda c: episodes.listing(c, OWNER))
    assert episode.source_description != "file"


async def test_other_json_is_a_document(stage: FileStage) -> None:
    """Only what an importer knows is offered."""
    file = await stage.read(await stage.send("settings.json", b'{"colour": "blue"}'))
    assert [text for _, text in await stage.text(file)] == ['{"colour": "blue"}']
    assert await stage.talk.outbox() == []
