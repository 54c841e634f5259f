"""A file is forgotten like everything else: hidden at once, brought back by an undo, and erased to the last byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flows.erase_stage import ErasingStage
from support.flows.file_stage import FileStage
from support.flows.flow_stage import OWNER, Talk

from internal.errors import NotFound
from internal.flows.forgetting import requests
from internal.flows.turn.files import read_file
from internal.flows.views import artifacts as view
from internal.knowledge import episode_repository as episodes
from internal.recall.index import item_repository
from internal.recall.index.item_repository import EPISODE_CHANGE
from internal.storage.change_log import changed_after, last_change
from internal.storage.forgetting import forgettings

CANARY = "канарейкин"
WORDS = f"Арендодатель {CANARY.capitalize()} берёт 14 500 гривен в месяц.".encode()


@pytest.fixture
def stage(talk: Talk, tmp_path: Path) -> FileStage:
    return FileStage(talk, tmp_path)


async def shown(stage: FileStage) -> tuple[list[str], list[str]]:
    """The names of the files that are listed, and the passages that can be found."""
    files = await stage.talk.read(lambda c: view.visible(c, OWNER, limit=10))
    rows = await stage.talk.read(lambda c: list(item_repository.rows(c, OWNER, "episode", None, "any")))
    return [file.name for file in files], [row.text or "" for row in rows if "#" in row.ref_id]


async def test_a_forgotten_file_leaves_no_byte(talk: Talk, stage: FileStage) -> None:
    """Row, message, text, passages, terms, prompts, what the archivist made of it, and the bytes on the disk."""
    erasing = ErasingStage(talk)
    person = {"type": "Added", "person": {"display_name": "Канарейкин", "bio": "Сдаёт квартиру."}, "evidence": [1]}
    erasing.reply("14 500", people_operations=[person])
    file = await stage.sent_and_read(f"{CANARY}.txt", WORDS, "Вот договор")
    await talk.publication().publish_now(OWNER)
    await erasing.archive()
    assert [one.display_name for one in await erasing.people()] == ["Канарейкин"]
    assert {"messages", "segments", "episodes", "search_items", "artifacts", "people"} <= (
        await erasing.tables_with(CANARY)
    )

    await stage.eraser.erase_now(OWNER, "message", file.message_id)
    await stage.unused.delete_due()

    assert await erasing.tables_with(CANARY) == set()
    assert erasing.files_with(CANARY) == []
    assert (stage.kept(), await stage.noted(), await erasing.people()) == ([], [], [])
    assert list(stage.folder.iterdir()) == []


async def test_a_file_is_hidden_at_once_and_an_undo_brings_it_back(stage: FileStage) -> None:
    """Neither list nor search shows it meanwhile; its bytes stay until the time to undo is over."""
    file = await stage.sent_and_read("contract.txt", WORDS)
    now = stage.talk.clock.now()
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", file.message_id, now=now))
    assert (asked.kind, asked.ref_id) == ("episode", file.id)
    assert await shown(stage) == ([], [])
    with pytest.raises(NotFound):
        await stage.talk.read(lambda c: view.get_artifact(c, OWNER, file.id))
    await stage.unused.delete_due()
    assert stage.kept() == [file.sha256]

    await stage.eraser.undo(OWNER, asked.id)
    assert await shown(stage) == (["contract.txt"], [WORDS.decode()])

    await stage.talk.write(lambda c: requests.ask(c, OWNER, "message", file.message_id, now=now))
    stage.talk.clock.advance(requests.UNDO_WINDOW.total_seconds() + 1)
    assert await stage.eraser.erase_due() == 1
    await stage.unused.delete_due()
    assert (await shown(stage), stage.kept()) == (([], []), [])


async def test_answers_that_cite_a_file_go_with_it(stage: FileStage) -> None:
    """What the bot said from it is a copy of it."""
    stage.talk.responder.script.append(["Четырнадцать тысяч [S1]."])
    file = await stage.sent_and_read("contract.txt", WORDS, "Сколько платить?")
    await stage.eraser.erase_now(OWNER, "message", file.message_id)
    assert await stage.talk.messages() == []


async def test_forgetting_everything_takes_the_files_along(stage: FileStage) -> None:
    """A process that ended before it deleted the bytes finds them at its next start."""
    await stage.sent_and_read("contract.txt", WORDS)
    await stage.eraser.erase_now(OWNER, "everything", None)
    assert await stage.unused.delete_due() == 1
    assert (stage.kept(), await stage.noted()) == ([], [])


async def test_a_message_that_goes_with_a_person_takes_its_file_along(stage: FileStage) -> None:
    """However its message comes to be erased: hidden at once, shown by an undo, erased with it."""
    file = await stage.sent_and_read("contract.txt", WORDS, "Про Канарейкина")
    before, now = await shown(stage), stage.talk.clock.now()
    due_at = now + requests.UNDO_WINDOW

    async def asked() -> str:
        one = await stage.talk.write(lambda c: forgettings.ask(c, OWNER, "person", "1", now=now, due_at=due_at))
        await stage.talk.write(lambda c: requests.add_messages(c, one, {file.message_id}))
        return one.id

    changed = await stage.talk.read(lambda c: last_change(c, OWNER))
    undone = await asked()
    assert await shown(stage) == ([], [])
    assert file.id in await stage.talk.read(lambda c: changed_after(c, OWNER, changed, EPISODE_CHANGE))
    assert await stage.talk.read(lambda c: read_file(c, OWNER, file.name, None, None)) is None
    await stage.eraser.undo(OWNER, undone)
    assert await shown(stage) == before
    await asked()
    stage.talk.clock.advance(requests.UNDO_WINDOW.total_seconds() + 1)
    await stage.eraser.erase_due()
    await stage.unused.delete_due()
    assert await stage.talk.read(lambda c: episodes.episode(c, OWNER, file.id)) is None
    assert stage.kept() == []
