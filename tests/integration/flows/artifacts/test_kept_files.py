"""An export holds the bytes of files, an import brings them back, and backups keep a copy until they are forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flows.file_stage import CONTRACT, FileStage
from support.flows.flow_stage import OWNER, Talk
from support.stores.ready_stores import ready

from bot.application.backups import Backups
from bot.application.owner_data import OwnerData
from internal.artifacts.repository import kept_files
from internal.artifacts.store import ArtifactStore
from internal.config.settings import ArtifactsConfig, Config
from internal.errors import Refused
from internal.flows.artifacts.file_bytes import files_of
from internal.flows.views import artifacts as view
from internal.recall.index import item_repository
from internal.storage.database import Database
from internal.storage.migration import migrate


@pytest.fixture
def stage(talk: Talk, tmp_path: Path) -> FileStage:
    return FileStage(talk, tmp_path)


async def exported(stage: FileStage) -> str:
    data = OwnerData(stage.talk.database, stage.talk.clock, stage.eraser, stage.folder.parent)
    return await data.export(OWNER)


async def test_a_file_survives_a_move_to_another_installation(stage: FileStage, tmp_path: Path) -> None:
    """The same file under the same id, its bytes, its text by page, and passages that are found."""
    file = await stage.sent_and_read("contract.pdf", CONTRACT.read_bytes())
    there = tmp_path / "there"
    there.mkdir()
    document = there / "export.json"
    document.write_text(await exported(stage), encoding="utf-8")
    async with Database.open(ready(there)) as database:
        await database.exclusive(migrate)
        await OwnerData(database, stage.talk.clock, stage.eraser, there).read_back(OWNER, document)
        assert await ArtifactStore("", there).get(file.sha256 or "") == CONTRACT.read_bytes()
        assert await database.read(lambda c: view.get_artifact(c, OWNER, file.id)) == file
        parts = await database.read(lambda c: view.text_of(c, OWNER, file))
        assert [part.page for part in parts] == [1, 2, 3]
        rows = await database.read(lambda c: list(item_repository.rows(c, OWNER, "episode", None, "any")))
        assert len([row for row in rows if "#" in row.ref_id]) == 3


async def test_bytes_that_are_not_what_they_say_are_refused(stage: FileStage, tmp_path: Path) -> None:
    """A damaged export brings in no file under another's hash."""
    await stage.sent_and_read("a.txt", b"Words")
    document = json.loads(await exported(stage))
    [sha256] = document["files"]
    document["files"] = {sha256: "T3RoZXI="}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    data = OwnerData(stage.talk.database, stage.talk.clock, stage.eraser, tmp_path)
    with pytest.raises(Refused, match="other bytes than its hash says"):
        await data.read_back(OWNER, path)


async def test_an_export_for_the_chat_has_room_for_so_much(stage: FileStage) -> None:
    """What does not fit is left out; the latest come first."""
    await stage.sent_and_read("old.txt", b"x" * 60)
    latest = await stage.sent_and_read("new.txt", b"y" * 50)
    found = await files_of(stage.talk.database, stage.store, OWNER, 100)
    assert list(found) == [latest.sha256]


async def test_a_backup_holds_files_until_they_are_forgotten(stage: FileStage) -> None:
    """A file that was lost comes from the copy; one that was forgotten is in no copy."""
    file = await stage.sent_and_read("a.txt", b"Words")
    assert file.sha256 is not None
    await Backups(Config(data_dir=stage.folder.parent), stage.talk.database, stage.talk.clock).back_up()
    (stage.folder / file.sha256[:2] / file.sha256).unlink()
    assert await stage.store.get(file.sha256) == b"Words"
    await stage.eraser.erase_now(OWNER, "message", file.message_id)
    await stage.unused.delete_due()
    assert await stage.store.get(file.sha256) is None
    assert not [path for path in (stage.folder.parent / "backups/artifacts").rglob("*") if path.is_file()]


async def test_a_backup_of_a_bucket_brings_its_files_back(talk: Talk, tmp_path: Path, bucket: str) -> None:
    """What was lost is put back from the copies; what is nowhere whole is named; what is forgotten has no copy."""
    stage = FileStage(talk, tmp_path, bucket)
    lost, damaged, forgotten = [await stage.sent_and_read(f"{n}.txt", f"Words {n}".encode()) for n in range(3)]
    hashes = [str(one.sha256) for one in (lost, damaged, forgotten)]
    config = Config(data_dir=tmp_path, artifacts=ArtifactsConfig(url=bucket))
    await stage.store.put(hashes[1], b"other words")
    await Backups(config, talk.database, talk.clock).back_up()
    copies = {path.name: path.read_bytes() for path in (tmp_path / "backups/artifacts").rglob("*") if path.is_file()}
    assert copies == {hashes[0]: b"Words 0", hashes[2]: b"Words 2"}
    await stage.eraser.erase_now(OWNER, "message", forgotten.message_id)
    await stage.unused.delete_due()
    wanted = await talk.database.read(kept_files)
    assert sorted(wanted) == sorted(hashes[:2])
    empty = ArtifactStore(bucket.replace("files", "elsewhere"), tmp_path)
    assert await empty.put_back(hashes) == hashes[1:]
    assert [await empty.get(one) for one in hashes] == [b"Words 0", None, None]
