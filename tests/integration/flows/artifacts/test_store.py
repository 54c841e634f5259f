"""Bytes are kept in a folder or on an S3 server alike."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from support.flows.file_stage import CONTRACT, FileStage
from support.flows.flow_stage import OWNER, Talk

from internal.artifacts.store import ArtifactStore
from internal.errors import StorageError

A, B = "ab" * 32, "ac" * 32


@pytest.mark.parametrize("kind", ["folder", "s3"])
async def test_bytes_are_kept_until_they_are_deleted(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Keeping the same twice and deleting what is not there are harmless; each hash has its own bytes."""
    store = ArtifactStore(request.getfixturevalue("bucket") if kind == "s3" else "", tmp_path)
    for _ in range(2):
        await store.put(A, b"one")
    await store.put(B, b"\0two")
    assert [await store.get(one) for one in (A, B, "ad" * 32)] == [b"one", b"\0two", None]
    for _ in range(2):
        await store.delete(A)
    assert [await store.get(one) for one in (A, B)] == [None, b"\0two"]


async def test_the_folder_is_closed_to_others(tmp_path: Path) -> None:
    """Nobody else on the machine may look into it."""
    await ArtifactStore("", tmp_path).put(A, b"one")
    assert stat.S_IMODE((tmp_path / "artifacts").stat().st_mode) == 0o700


async def test_a_store_out_of_reach_is_said(monkeypatch: pytest.MonkeyPatch, bucket: str, tmp_path: Path) -> None:
    """A bucket that is not there is an error of storage, not a missing file."""
    with pytest.raises(StorageError, match="cannot be kept"):
        await ArtifactStore("s3://elsewhere", tmp_path).put(A, b"one")


async def test_a_file_is_read_and_forgotten_on_s3(talk: Talk, tmp_path: Path, bucket: str) -> None:
    """The whole way, without a file on this machine."""
    stage = FileStage(talk, tmp_path, bucket)
    file = await stage.sent_and_read("contract.pdf", CONTRACT.read_bytes())
    assert file.sha256 is not None
    assert await stage.store.get(file.sha256) == CONTRACT.read_bytes()
    assert not stage.folder.exists()
    await stage.eraser.erase_now(OWNER, "message", file.message_id)
    await stage.unused.delete_due()
    assert await stage.store.get(file.sha256) is None
