"""Installed dictionaries become a file of translations, by which questions find what was said in another language."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.bilingual_dictionaries import install

from bot.evaluation.locomo import Conversation, Question, Turn
from bot.runtime.evaluation import staged
from internal.language.search.translations import SOURCES
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.dictionaries import Dictionaries
from internal.storage.database import Database
from internal.storage.migration import migrate

_AT = datetime(2023, 5, 8, 12, tzinfo=UTC)
_LINES = ("Купил хлеб и молоко", "Соседи снова чинили крышу", "Завтра еду на дачу", "Позвони маме")
_TALK = Conversation(
    "talk.json",
    tuple(Turn(f"D1:{n}", 1, "Ann", line, "", _AT) for n, line in enumerate(_LINES)),
    (Question("Which repairs did the neighbours do?", 4, ("D1:1",)), Question("Kuda ya edu zavtra?", 4, ("D1:2",))),
)


@pytest.fixture
async def worker() -> AsyncIterator[LanguageWorker]:
    worker = LanguageWorker()
    yield worker
    await worker.close()


@pytest.fixture
async def scratch(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(tmp_path / "scratch.db") as opened:
        await opened.exclusive(migrate)
        yield opened


async def best(database: Database, worker: LanguageWorker, dictionaries: Dictionaries) -> list[str]:
    stage = staged(database, worker, None, dictionaries)
    ranked = await stage.rank(await stage.write([_TALK], lambda *_: None), lambda *_: None)
    return [one.ranking[0] if one.ranking else "" for one in ranked]


async def test_a_question_finds_what_was_said_in_another_language(
    scratch: Database, tmp_path: Path, worker: LanguageWorker
) -> None:
    """No word of the question is in the message; they are translated, or read in another alphabet."""
    dictionaries = Dictionaries(str(install(tmp_path / "installed")), tmp_path / "new")
    await dictionaries.make_due()
    assert await best(scratch, worker, dictionaries) == ["D1:1", "D1:2"]


async def test_without_dictionaries_it_is_searched_for_as_before(
    scratch: Database, tmp_path: Path, worker: LanguageWorker
) -> None:
    """Where none is wanted, and where none is installed; Latin letters are read all the same."""
    for folder in ("", str(tmp_path / "nothing")):
        dictionaries = Dictionaries(folder, tmp_path)
        await dictionaries.make_due()
        assert dictionaries.path == ""
    [translated, transliterated] = await best(scratch, worker, dictionaries)
    assert translated != "D1:1"
    assert transliterated == "D1:2"


async def test_the_file_is_made_once_and_again_when_a_dictionary_changes(tmp_path: Path) -> None:
    """The next start uses the file that is there; one that is out of date is deleted."""
    folder = install(tmp_path / "installed")
    dictionaries = Dictionaries(str(folder), tmp_path)
    await dictionaries.make_due()
    first, made = dictionaries.path, os.stat(dictionaries.path).st_mtime_ns
    again = Dictionaries(str(folder), tmp_path)
    await again.make_due()
    assert (again.path, os.stat(first).st_mtime_ns) == (first, made)
    (folder / SOURCES[0]).unlink()
    await dictionaries.make_due()
    assert dictionaries.path != first
    assert [name for name in os.listdir(tmp_path) if name.endswith(".words")] == [os.path.basename(dictionaries.path)]


async def test_a_damaged_dictionary_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is not read again every hour, and no question fails."""
    folder = install(tmp_path / "installed")
    (folder / SOURCES[-1]).write_bytes(b"LTTB damaged")
    dictionaries = Dictionaries(str(folder), tmp_path)
    for _ in range(2):
        await dictionaries.make_due()
    assert dictionaries.path == ""
    assert [record.message for record in caplog.records].count("dictionaries_unreadable") == 1
