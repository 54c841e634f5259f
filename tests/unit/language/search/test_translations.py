"""Bilingual dictionaries are read as they are installed, and a question's words get their translations."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.bilingual_dictionaries import RUSSIAN_UKRAINIAN, install

from internal.language.dictionaries import apertium, dictd, word_file
from internal.language.search import translations
from internal.language.search.terms import document_terms, query_terms, words_of

INDEX, COMPRESSED, BILINGUAL = translations.SOURCES


@pytest.fixture
def made(tmp_path: Path) -> str:
    target = tmp_path / "translations.words"
    assert translations.make(install(tmp_path / "installed"), target)
    return str(target)


def finds(question: str, text: str, made: str) -> bool:
    told = {term for word in words_of(document_terms([text])[0]) for term in word}
    return any(term in told for word in query_terms(question, made) for term, _ in word)


def test_entries_are_read_without_sounds_labels_and_examples(tmp_path: Path) -> None:
    """What is left are the translations in the order of the entry; entries of several words are passed over."""
    read = dict(dictd.translations((install(tmp_path) / INDEX).with_suffix("")))
    blunder = [["грубая", "ошибка"], ["промах"], ["просчёт"], ["двигаться", "ощупью"], ["портить"]]
    assert read["blunder"] == blunder
    assert read["neighbour"] == [["сосед"], ["соседка"]]
    assert read["repair"] == [["чинить"], ["ремонтировать"], ["исправлять"]]
    assert "old maid" not in read


def test_pairs_are_read_without_grammar_and_numbers_of_homonyms(tmp_path: Path) -> None:
    """A compiled dictionary of Apertium gives its words as they are written."""
    assert set(apertium.translations(install(tmp_path) / BILINGUAL)) == {
        (russian.rstrip("¹²"), ukrainian) for russian, ukrainian in RUSSIAN_UKRAINIAN
    }


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which neighbour complained?", "Соседи опять жаловались"),
        ("What did the neighbours say?", "Сусідка нічого не казала, а сусід кричав"),
        ("Who repaired it?", "Володя всё чинил сам"),
        ("що казали сусіди?", "Мой сосед молчал"),
        ("Что сказал сосед?", "My neighbour said nothing"),
        ("хто з сусідів?", "the neighbours, I think"),
        ("Which blunders did he make?", "Це була моя помилка"),
    ],
)
def test_a_question_finds_what_was_said_in_another_language(question: str, text: str, made: str) -> None:
    """In any form and every direction; between English and Ukrainian by way of Russian."""
    assert finds(question, text, made)
    assert not finds(question, text, "")


def test_a_translation_weighs_less_than_the_word_and_a_first_name_has_none(tmp_path: Path) -> None:
    """Надежда is somebody, hope is not."""
    entries = {"faith": "faith\n   вера\n", "hope": "hope\n   надежда\n"}
    target = tmp_path / "translations.words"
    translations.make(install(tmp_path / "installed", entries, []), target)
    [hope] = query_terms("hopes", str(target))
    assert dict(hope)["надежда"] < dict(hope)["hope"] == 1
    assert not any(term == "hope" for word in query_terms("Где Надежда?", str(target)) for term, _ in word)


def test_one_dictionary_serves_without_the_other(tmp_path: Path) -> None:
    """Only the languages of the dictionary that is there are translated."""
    folder, target = install(tmp_path / "installed"), tmp_path / "translations.words"
    (folder / INDEX).unlink()
    translations.make(folder, target)
    assert word_file.look_up(str(target), "сусід") == ["сосед"]
    assert word_file.look_up(str(target), "neighbour") == []


@pytest.mark.parametrize("source", translations.SOURCES)
@pytest.mark.parametrize(
    "damage",
    [gzip.compress(b"cut", mtime=0), b"LTTB" + bytes(9) + b"\xff\xff", b"\x1f\x8b\x08broken", b"blunder\t?\t\xd0\n"],
    ids=["short", "compiled", "not packed", "not counted"],
)
def test_a_damaged_dictionary_is_refused(tmp_path: Path, source: Path, damage: bytes) -> None:
    """No file of translations is made then."""
    folder, target = install(tmp_path / "installed"), tmp_path / "translations.words"
    (folder / source).write_bytes(damage)
    with pytest.raises(ValueError):
        translations.make(folder, target)
    assert not target.exists()


def test_every_word_of_a_file_is_found_and_no_other(tmp_path: Path) -> None:
    """Also the first one, the last one, and those that begin like others."""
    path, words = tmp_path / "file.words", {f"слово{number}": [f"word{number}", "other"] for number in range(50)}
    words |= {"a": ["b"], "сл": ["x"], "яя": ["z"]}
    word_file.write(path, words)
    assert {word: word_file.look_up(str(path), word) for word in words} == words
    assert not any(word_file.look_up(str(path), word) for word in ("", "слово", "слово500", "я", "~", "яяя"))
    word_file.write(empty := tmp_path / "empty.words", {})
    assert word_file.look_up(str(empty), "a") == []
