"""Keyed hashes of forgotten people and sentences, so that older messages do not bring them back."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.language.names.forms import sentence_forms
from internal.language.search.terms import english_stem, plain_query_terms
from internal.language.text.romanisation import skeletons
from internal.people.bio import folded_words, negations
from internal.people.model import Person
from internal.people.names import keys_of
from internal.storage.forgetting import tombstone_repository

_STEM: Final = 4
"""The number of sounds at the beginning of a word that identify it in a sentence: endings differ."""

_SHORTEST: Final = 3
_PRONOUNS = frozenset(
    {"она", "они", "оно", "вона", "він", "вони", "воно", "его", "її", "його", "теперь", "сейчас", "зараз"}
)
"""Words that begin a sentence, or say that it holds now, without adding a statement."""


def marks(
    key: bytes, user_id: int, names: Iterable[str], username: str | None = None, telegram_id: int | None = None
) -> set[str]:
    """The keyed hashes of each name, username and Telegram id by which this owner could mean the person."""
    known = {f"name:{name}" for name in keys_of(names)}
    known |= {f"username:{name}" for name in keys_of([username or ""])}
    if telegram_id is not None:
        known.add(f"telegram:{telegram_id}")
    return {_hashed(key, user_id, mark) for mark in known}


def sentence_mark(key: bytes, user_id: int, sentence: str) -> str:
    """The keyed hash of a sentence of a profile, by its words alone."""
    return _hashed(key, user_id, f"sentence:{folded_words(sentence)}")


def sentence_marks(key: bytes, user_id: int, sentence: str) -> set[str]:
    """The hash of a sentence by its words, and a hash that is equal for the same words in other forms and order."""
    found = {sentence_mark(key, user_id, sentence)}
    wording = _wording(sentence)
    return found | ({_hashed(key, user_id, f"wording:{wording}")} if wording else set())


def mark_people_forgotten(
    connection: Connection,
    user_id: int,
    profiles: Iterable[Person],
    own: Iterable[str],
    others: Iterable[str],
    key: bytes,
    at: datetime,
) -> None:
    """Keeps lines up to `at` out of prompts and from bringing people back: by names, ids and all forms of `own` names.

    Forms that mean one of `others` are left out.
    """
    found = {_hashed(key, user_id, f"word:{form}") for form in sentence_forms(own, others)}
    for person in profiles:
        found |= marks(key, user_id, person.names, person.username, person.telegram_id)
    tombstone_repository.mark_forgotten(connection, user_id, found, at)


def said_marks(key: bytes, user_id: int, word: str) -> set[str]:
    """The hashes of a word's or word pair's keys, to be compared with those of forgotten people's names."""
    if word.startswith(("^", "~")):
        return {_hashed(key, user_id, f"word:{word}")}
    return {_hashed(key, user_id, f"{kind}:{word}") for kind in ("word", "name", "username")}


def mark_sentences_forgotten(
    connection: Connection, user_id: int, sentences: Iterable[str], key: bytes, at: datetime
) -> None:
    """Keeps lines up to `at` from bringing these sentences back, in these words or other forms of them."""
    marks = {mark for sentence in sentences for mark in sentence_marks(key, user_id, sentence)}
    tombstone_repository.mark_forgotten(connection, user_id, marks, at)


def _wording(sentence: str) -> str:
    """The stems of the meaningful words, by sound, with negations; "" if there is only one word.

    Works without a dictionary: sentences are compared where replies are applied, outside the language process.
    """
    written = {forms[-1][0] for forms in plain_query_terms(sentence)} - _PRONOUNS
    stems = {_stem(word) for word in written if len(word) >= _SHORTEST or word.isdigit()}
    return " ".join((*sorted(stems), "|", *sorted(negations(sentence)))) if len(stems) > 1 else ""


def _stem(word: str) -> str:
    sounds = skeletons(english_stem(word) if word.isascii() else word)
    return min(sounds)[:_STEM] if sounds else word


def _hashed(key: bytes, user_id: int, mark: str) -> str:
    return tombstone_repository.hashed(key, f"{user_id}:{mark}")
