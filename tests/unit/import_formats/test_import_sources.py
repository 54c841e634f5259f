"""Files, folders and archives: what they are is guessed, what is hostile or broken is told."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from support.agents.export_files import OWNER, chat, dump, posted, read, said, slack

from internal.import_formats import formats, sources
from internal.import_formats.model import ReadOptions, Unreadable
from internal.import_formats.sources import open_export

DAY = {"general/2024-03-01.json": [posted("1709290860.000200", "привіт")]}


def guess(path: Path) -> str:
    with open_export(path) as export:
        return formats.detect_format(export)


def packed(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_formats_are_guessed(tmp_path: Path) -> None:
    """By content, whatever the file is called; a folder or archive by what lies in it."""
    export = dump(tmp_path / "telegram/result.json", chat(said(1, "a")))
    assert guess(dump(tmp_path / "one.dat", chat(said(1, "a")))) == "telegram"
    assert (
        guess(dump(tmp_path / "all.json", {"about": "", "contacts": {"list": []}, "chats": {"list": []}})) == "telegram"
    )
    assert guess(export.parent) == "telegram"
    (export.parent / "photos").mkdir()
    (export.parent / "photos/photo_1.jpg").write_bytes(b"jpg")
    assert guess(export.parent) == "telegram"
    assert guess(slack(tmp_path / "slack", DAY)) == "slack"
    assert guess(dump(tmp_path / "issue.json", {"title": "x", "number": 1})) == "github"
    assert guess(packed(tmp_path / "t.zip", {"a/result.json": export.read_bytes(), "a/x.jpg": b""})) == "telegram"
    (tmp_path / "cues.txt").write_text("WEBVTT\n", encoding="utf-8")
    assert guess(tmp_path / "cues.txt") == "zoom"


@pytest.mark.parametrize("content", ["{}", "[]", "[1]", "7", "Привіт", '{"a": {"messages": []}}'])
def test_what_is_no_export_is_told(tmp_path: Path, content: str) -> None:
    """Other JSON and plain text are refused, with what can be done about it."""
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Unreadable, match=r"--format|is not the JSON"):
        guess(path)


def test_absent_and_empty_files_are_told(tmp_path: Path) -> None:
    """Each in its own words."""
    with pytest.raises(Unreadable, match=r"cannot read .*absent\.json: No such file"):
        guess(tmp_path / "absent.json")
    (tmp_path / "empty.json").touch()
    with pytest.raises(Unreadable, match=r"empty\.json is empty"):
        guess(tmp_path / "empty.json")
    with pytest.raises(Unreadable, match="no export that I know"):
        guess(tmp_path)


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/passwd", "a/../../b", "C:/windows/x", "..\\x"])
def test_archives_that_want_out_are_refused(tmp_path: Path, name: str) -> None:
    """Nothing is ever unpacked, and an archive that tries is not read at all."""
    path = packed(tmp_path / "evil.zip", {"users.json": b"[]", name: b"x"})
    with pytest.raises(Unreadable, match="wants out of it"):
        guess(path)
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["evil.zip"]


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What packs better than any export, and archives of endless files."""
    path = packed(tmp_path / "bomb.zip", {"users.json": b"[]", "channels.json": b"0" * (20 << 20)})
    assert path.stat().st_size < 100_000
    with pytest.raises(Unreadable, match=r"is a bomb: 'channels\.json' would become 20 MiB"):
        guess(path)
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    many = packed(tmp_path / "many.zip", {f"{n}.json": b"[]" for n in range(4)})
    with pytest.raises(Unreadable, match="more than 3 files"):
        guess(many)


def test_a_lying_archive_gives_no_more_than_it_says(tmp_path: Path) -> None:
    """A size in the directory smaller than the content ends in an error, not in a full memory."""
    content = b"[" + b" " * 5_000_000 + b"]"
    files = {"users.json": content, "channels.json": b"[]"}
    path = packed(tmp_path / "lying.zip", files)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(struct.pack("<L", len(content)), struct.pack("<L", 10)))
    with pytest.raises(Unreadable, match=r"users\.json"):
        read(path, ReadOptions(OWNER), "slack")


def test_broken_and_locked_archives_are_told(tmp_path: Path) -> None:
    """A truncated zip, a damaged member and a password."""
    whole = packed(
        tmp_path / "whole.zip", {"users.json": b"[]" + b" " * 1000, "channels.json": b"[]"}, zipfile.ZIP_STORED
    )
    (tmp_path / "half.zip").write_bytes(whole.read_bytes()[:200])
    with pytest.raises(Unreadable, match="is no zip archive"):
        guess(tmp_path / "half.zip")
    damaged = whole.read_bytes().replace(b"[]" + b" " * 1000, b"[]" + b"x" * 1000, 1)
    (tmp_path / "damaged.zip").write_bytes(damaged)
    with pytest.raises(Unreadable, match="cannot be read: Bad CRC"):
        read(tmp_path / "damaged.zip", ReadOptions(OWNER), "slack")
    locked = bytearray(whole.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := locked.find(signature, place + 1)) >= 0:
            locked[place + offset] |= 1
    (tmp_path / "locked.zip").write_bytes(bytes(locked))
    with pytest.raises(Unreadable, match="password"):
        read(tmp_path / "locked.zip", ReadOptions(OWNER), "slack")


def test_reading_is_told_byte_by_byte(tmp_path: Path) -> None:
    """What is told to the progress bar sums up to what was announced to it."""
    told: list[int] = []
    for path in (dump(tmp_path / "result.json", chat(said(1, "a"))), slack(tmp_path / "slack", DAY)):
        told.clear()
        with open_export(path, told.append) as export:
            format_ = formats.detect_format(export)
            told.clear()
            list(formats.drafts(format_, [export], ReadOptions(OWNER)))
            assert sum(told) >= formats.bytes_to_read(format_, export) > 0


def test_names_and_addresses_are_bounded(tmp_path: Path) -> None:
    """A hostile export cannot make a name, link or key longer than such things are."""
    long = "я" * 50_000
    [draft] = read(dump(tmp_path / "result.json", chat(said(1, "a", forwarded_from=long) | {"from": long}, name=long)))
    [part] = draft.segments
    assert {len(text) for text in (draft.name, draft.place, part.speaker or "", part.forwarded_from or "")} == {300}
    days = {"general/2024-03-01.json": [posted("1709290860." + "0" * 5_000, "привіт")]}
    [found] = read(slack(tmp_path / "slack", days))[0].segments
    assert found.url is None
    assert len(found.key or "") == 64
