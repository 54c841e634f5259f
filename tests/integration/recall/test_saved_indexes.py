"""A start reads the index of many messages from a file; it finds the same, and nothing forgotten stays in it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from support.flows.message_stage import Talk
from support.flows.recall_stage import DIMENSIONS, OWNER, DirectNames

from internal.flows.forgetting.requests import ForgettingService
from internal.recall.messages import index_cache
from internal.recall.messages.search import MessageHit, MessageSearch
from internal.storage.database import Database
from internal.storage.files.keys import ensure_key
from internal.testing.vectors import TrigramEmbedder

QUESTIONS = ("Как зовут кошку?", "Що сказав Андрій про дачу?", "When is the concert?", "Сколько стоит билет?")


@pytest.fixture(autouse=True)
def any_index_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed message is enough for an index to be saved."""
    monkeypatch.setattr(index_cache, "MANY_UNSAVED", 1)


@pytest.fixture
async def talk(database: Database, tmp_path: Path) -> Talk:
    """A dialogue that is indexed and saved."""
    talk = Talk.of(database, TrigramEmbedder(DIMENSIONS))
    for text in ("Кошку зовут Мурка", "The concert is on Friday", "Билет стоит сто рублей " * 40, "Дякую"):
        await talk.say(text)
        await talk.reply("Запомнил.")
    await talk.say("Дачу продаємо восени", name="Андрій")
    await talk.follow()
    talk.search = _search(talk, tmp_path)
    await talk.search.prepare(OWNER)
    await talk.search.save()
    return talk


def _search(talk: Talk, data_dir: Path | None) -> MessageSearch:
    """As another process begins."""
    return MessageSearch(
        talk.database, talk.clock, embedder=talk.embedder, terms=talk.terms, names=DirectNames(), data_dir=data_dir
    )


def _saved(data_dir: Path) -> list[Path]:
    return sorted((data_dir / "recall").glob("*"))


async def _hits(talk: Talk) -> list[list[MessageHit]]:
    return [await talk.hits(question) for question in QUESTIONS]


async def test_it_finds_what_an_index_in_memory_finds(talk: Talk, tmp_path: Path) -> None:
    """The same messages with the same scores, whether rebuilt, read, or read and brought up to date."""
    [path] = _saved(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    in_memory, talk.search = talk.search, _search(talk, tmp_path)
    read, talk.search = await _hits(talk), _search(talk, None)
    assert read == await _hits(talk)
    assert all(read)

    await talk.say("Кошку Мурку отвезли на дачу")
    await talk.follow()
    await talk.say("The concert costs ten euros", name="Anna")
    talk.search = in_memory
    followed, talk.search = await _hits(talk), _search(talk, tmp_path)
    assert followed == await _hits(talk)
    assert talk.search._indexes._cache.get(OWNER).unsaved == 2  # type: ignore[union-attr]
    assert any(hit.message.content == "Кошку Мурку отвезли на дачу" for hit in followed[0])


@pytest.mark.parametrize("spoilt", [b"", b"PK no archive", b"half"])
async def test_a_spoilt_file_is_built_anew(talk: Talk, tmp_path: Path, spoilt: bytes) -> None:
    """A disk that was full costs time, no memory."""
    [path] = _saved(tmp_path)
    path.write_bytes(path.read_bytes()[:2000] if spoilt == b"half" else spoilt)
    talk.search = _search(talk, tmp_path)
    assert (await talk.found(QUESTIONS[0]))[0] == "Кошку зовут Мурка"
    assert _saved(tmp_path) == []


async def test_nothing_forgotten_stays_in_a_file(talk: Talk, tmp_path: Path) -> None:
    """An erasure drops it; one whose process was killed before that is found at the next start."""
    [path] = _saved(tmp_path)
    before = path.read_bytes()
    secret = await talk.hits(QUESTIONS[0], 1)
    key = ensure_key(tmp_path, "hmac_key").encode()

    eraser = ForgettingService(talk.database, talk.clock, key, [talk.search])
    await eraser.erase_now(OWNER, "message", secret[0].message.id)
    assert _saved(tmp_path) == []

    path.write_bytes(before)
    path.with_suffix(".77").write_bytes(before)  # the draft of a process that was killed
    talk.search = _search(talk, tmp_path)
    await talk.search.save()
    assert _saved(tmp_path) == []

    path.write_bytes(before)
    assert "Кошку зовут Мурка" not in await talk.found(QUESTIONS[0])
    assert _saved(tmp_path) == []
    await talk.search.save()
    [path] = _saved(tmp_path)
    assert "мурка".encode() in before
    assert "мурка".encode() not in path.read_bytes()


async def test_a_forgetting_keeps_no_question_waiting(talk: Talk, tmp_path: Path) -> None:
    """What it dropped from memory and disk is built and saved again at the next round, without what was forgotten."""
    secret = await talk.hits(QUESTIONS[0], 1)
    eraser = ForgettingService(talk.database, talk.clock, ensure_key(tmp_path, "hmac_key").encode(), [talk.search])
    await eraser.erase_now(OWNER, "message", secret[0].message.id)
    assert talk.search.cached_bytes == 0
    await talk.search.save()
    assert talk.search.cached_bytes > 0
    [path] = _saved(tmp_path)
    assert "мурка".encode() not in path.read_bytes()
    assert "Кошку зовут Мурка" not in await talk.found(QUESTIONS[0])


async def test_what_is_forgotten_while_it_is_saved_is_not_saved(talk: Talk, tmp_path: Path) -> None:
    """The index that is being written may still hold it."""
    indexes = talk.search._indexes
    saved, index = indexes._saved, indexes._cache.get(OWNER)
    assert saved is not None
    assert index is not None
    position = saved.position(OWNER)
    talk.search.forget(OWNER)
    await talk.database.read(lambda c: saved.save(c, OWNER, index, position))
    assert _saved(tmp_path) == []


async def test_a_store_that_was_put_back_has_its_own_index(talk: Talk, tmp_path: Path) -> None:
    """A file that is ahead of the change log, or of another one, is dropped."""
    await talk.database.write(lambda c: c.exec_driver_sql("UPDATE changes SET id = 'another'"))
    talk.search = _search(talk, tmp_path)
    assert (await talk.found(QUESTIONS[0]))[0] == "Кошку зовут Мурка"
    assert _saved(tmp_path) == []
