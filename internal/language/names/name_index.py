"""Finds known people in a text by an index of every written form of their names, built once for a set of people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from internal.language.kinship.words import relations
from internal.language.names.given_names import GivenName, english_relatives, spellings_of
from internal.language.names.name_words import NameWord, name_words, translations
from internal.language.text.english import ORDINARY_NAMES, opens_sentence
from internal.language.text.morphology import declined_forms, name_readings, ordinary, ordinary_namesakes
from internal.language.text.romanisation import cyrillic_spelling, skeletons
from internal.language.text.spelling import Token, name_key, tokens
from internal.text_caches import cached


class FormKind(IntEnum):
    """The kinds of relation between a written form and the word of a name, closest first."""

    EXACT = 0
    DECLENSION = 1
    TRANSLITERATION = 2
    DIMINUTIVE = 3


@dataclass(frozen=True, slots=True)
class NameForm:
    """A written form of a name's word. `needs_capital`: in lower case it is an ordinary word."""

    kind: FormKind
    needs_capital: bool


@dataclass(frozen=True, slots=True)
class NameHit:
    """An occurrence of a known person's name: `words` of its `length` words were found; `start` counts tokens."""

    person_id: int
    name: str
    start: int
    words: int
    length: int
    kind: FormKind
    written: str
    surname: bool

    @property
    def full(self) -> bool:
        return self.words == self.length

    @property
    def positions(self) -> range:
        return range(self.start, self.start + self.words)


@dataclass(frozen=True, slots=True)
class _Name:
    """One name of one person; `words` without titles."""

    person_id: int
    name: str
    words: tuple[NameWord, ...]


@cached(50_000)
def word_forms(word: NameWord) -> Mapping[str, NameForm]:
    """All forms in which a word of a name may be written, by key; sounds of the other alphabet begin with ~."""
    forms: dict[str, NameForm] = {}
    for likeness, key in _written_forms(word):
        if key not in forms:
            forms[key] = NameForm(likeness, _needs_capital(key, word))
    return forms


def _written_forms(word: NameWord) -> Iterator[tuple[FormKind, str]]:
    yield FormKind.EXACT, word.key
    if word.kind == "initial":
        return
    cyrillic = not word.key.isascii()
    if cyrillic:
        yield from ((FormKind.DECLENSION, form) for form in declined_forms(word.key))
    else:
        yield from ((FormKind.TRANSLITERATION, form) for form in _cyrillic_surname_forms(word.key))
    yield from _other_alphabet(word.key)
    for translation in translations(word.key):
        yield from ((FormKind.TRANSLITERATION, form) for form in declined_forms(translation))
    yield from _given_forms(word)
    yield from ((FormKind.DIMINUTIVE, relative) for relative in english_relatives(word.key))


def _given_forms(word: NameWord) -> Iterator[tuple[FormKind, str]]:
    """Other spellings of a first name: formal ones are transliterations, short forms are diminutives."""
    own_short = {name.group: name.short for name in word.given if not name.declined}
    for group, short in own_short.items():
        for spelling in spellings_of(group):
            likeness = FormKind.DIMINUTIVE if short or spelling.short else FormKind.TRANSLITERATION
            yield from ((likeness, form) for form in _spelling_forms(spelling))


def _spelling_forms(spelling: GivenName) -> Iterable[str]:
    key = name_key(spelling.spelling)
    if key.isascii():
        return (key,)
    return [*declined_forms(key), *("~" + skeleton for skeleton in skeletons(spelling.spelling))]


_CYRILLIC_ENDINGS = ("a", "u", "om", "em", "e", "i", "oi", "ou", "ei", "im", "ovi")


def _cyrillic_surname_forms(key: str) -> frozenset[str]:
    """The forms of the Slavic surname that a Latin word spells, петренком for Petrenko; none for English ones."""
    guess = cyrillic_spelling(key)
    known = any(reading.kind == "surname" and reading.known for reading in name_readings(guess))
    return declined_forms(guess) if known else frozenset()


def _other_alphabet(key: str) -> Iterator[tuple[FormKind, str]]:
    """The sound of the word, by which tokens of the other alphabet are looked up; a Latin name is declined too."""
    for base in skeletons(key):
        yield FormKind.TRANSLITERATION, "~" + base
        if key.isascii():
            stem = base[:-1] if base[-1:] in "ai" else base
            yield from ((FormKind.TRANSLITERATION, "~" + stem + ending) for ending in _CYRILLIC_ENDINGS)


def _needs_capital(key: str, word: NameWord) -> bool:
    if key.startswith("~"):
        # Many Cyrillic words have the sound of a Latin name: "тому" is not Tom.
        return word.key.isascii() or len(key) < 4
    if key.isascii():
        return key in ORDINARY_NAMES or len(key) < 3
    if key in relations():
        return False
    # First names are few, and their forms are checked one by one; surnames are many, and a form that is also a word
    # is nearly always a form of a single ordinary word (коваль, ковалем).
    return ordinary(key) if word.given else key in ordinary_namesakes(word.key)


@dataclass(slots=True)
class NameIndex:
    """The names of a set of people. A lookup needs no morphology: some 20 microseconds a message."""

    _names: list[_Name] = field(default_factory=list)
    _forms: dict[str, dict[str, NameForm]] = field(default_factory=dict)
    _by_word: dict[str, list[int]] = field(default_factory=dict)
    _usernames: dict[str, int] = field(default_factory=dict)
    _indexed: set[NameWord] = field(default_factory=set)

    @classmethod
    def of(cls, people: Mapping[int, Sequence[str]]) -> NameIndex:
        """Builds the index; a name that begins with @ is a username. 1-3 ms for each new word."""
        index = cls()
        for person_id, names in people.items():
            for name in names:
                index._add(person_id, name)
        return index

    @classmethod
    def for_text(cls, people: Mapping[int, Sequence[str]], text: str) -> NameIndex:
        """Builds only the part of an index that this text can match, for a set of people that is searched once.

        Takes a tenth of the time of `of`, as only names with a form in the text are added.
        """
        text_tokens = [token for token in tokens(text) if not token.username]
        keys = {token.key for token in text_tokens} | {
            "~" + sound for token in text_tokens for sound in skeletons(token.text)
        }
        words = {word for names in people.values() for name in names for word in name_words(name)}
        found_keys = {word.key for word in words if not keys.isdisjoint(word_forms(word))}
        index = cls()
        for person_id, names in people.items():
            for name in names:
                if name.strip().startswith("@") or any(word.key in found_keys for word in name_words(name)):
                    index._add(person_id, name)
        return index

    def _add(self, person_id: int, name: str) -> None:
        if name.strip().startswith("@"):
            self._usernames[name_key(name)] = person_id
            return
        words = name_words(name)
        without_titles = tuple(word for word in words if word.kind != "title") or words
        if not without_titles:
            return
        self._names.append(_Name(person_id, name, without_titles))
        for word in without_titles:
            self._by_word.setdefault(word.key, []).append(len(self._names) - 1)
            if word not in self._indexed:
                self._index_word(word)

    def _index_word(self, word: NameWord) -> None:
        self._indexed.add(word)
        for key, form in word_forms(word).items():
            known = self._forms.setdefault(key, {}).get(word.key)
            if known is None or form.kind < known.kind:
                self._forms[key][word.key] = form

    def matches(self, text: str, *, strict: bool = True) -> list[NameHit]:
        """Every occurrence of a name in the text, overlapping ones included.

        `strict` requires a capital for ordinary words, and a position where they can be a name. Otherwise a name as it
        is ("вера") needs neither; its forms always do ("коли", "кости").
        """
        text_tokens = tokens(text)
        hits = [self._hits(token, text_tokens, position, strict) for position, token in enumerate(text_tokens)]
        matches = [self._username(token, position) for position, token in enumerate(text_tokens) if token.username]
        matches_ = [match for match in matches if match]
        seen: set[tuple[int, int]] = set()
        for position, words in enumerate(hits):
            for number in {number for word in words for number in self._by_word[word]}:
                if (number, position) not in seen:
                    match, used = self._match(self._names[number], text_tokens, hits, position)
                    seen.update((number, position_) for position_ in used)
                    matches_.extend([match] if match else [])
        return matches_

    def _username(self, token: Token, position: int) -> NameHit | None:
        person_id = self._usernames.get(token.key)
        if person_id is None:
            return None
        return NameHit(person_id, "@" + token.text, position, 1, 1, FormKind.EXACT, "@" + token.text, True)

    def _hits(self, token: Token, text_tokens: Sequence[Token], position: int, strict: bool) -> dict[str, NameForm]:
        if token.username:
            return {}
        hits = dict(self._forms.get(token.key, {}))
        for skeleton in skeletons(token.text):
            for word, form in self._forms.get("~" + skeleton, {}).items():
                if word.isascii() != token.latin and (word not in hits or form.kind < hits[word].kind):
                    hits[word] = form
        follower = text_tokens[position + 1] if position + 1 < len(text_tokens) else None
        return {word: form for word, form in hits.items() if _stands_as_name(token, form, follower, strict)}

    def _match(
        self, name: _Name, text_tokens: Sequence[Token], hits: Sequence[Mapping[str, NameForm]], position: int
    ) -> tuple[NameHit | None, list[int]]:
        """The longest sequence of words of this name from here on; None if it does not identify the person."""
        missing = list(name.words)
        forms: list[NameForm] = []
        matched: list[NameWord] = []
        end = position
        while end < len(text_tokens) and (end == position or text_tokens[end].joined):
            word = next((word for word in missing if word.key in hits[end]), None)
            if word is None:
                break
            missing.remove(word)
            matched.append(word)
            forms.append(hits[end][word.key])
            end += 1
        used = list(range(position, end))
        kinds = {word.kind for word in matched}
        if kinds <= {"patronymic", "initial", "title"} or _is_another_person(name, matched, missing, text_tokens, end):
            return None, used
        written = " ".join(token.text for token in text_tokens[position:end])
        likeness = max(form.kind for form in forms)
        surname = "surname" in kinds
        return NameHit(
            name.person_id, name.name, position, len(matched), len(name.words), likeness, written, surname
        ), used


def _stands_as_name(token: Token, form: NameForm, follower: Token | None, strict: bool) -> bool:
    if not form.needs_capital:
        return True
    if not token.capital:
        return not strict and not token.latin and form.kind is FormKind.EXACT
    ambiguous_opening = token.latin and token.opens and follower is not None and follower.joined
    return not (strict and ambiguous_opening and follower is not None and opens_sentence(follower.key))


def _is_another_person(
    name: _Name, matched: Sequence[NameWord], missing: Sequence[NameWord], text_tokens: Sequence[Token], end: int
) -> bool:
    """Whether a different surname follows the first name: Олена Коваль is not Олена Бондар."""
    if any(word.kind == "surname" for word in matched) or not any(word.kind == "surname" for word in missing):
        return False
    follower = text_tokens[end] if end < len(text_tokens) else None
    return follower is not None and follower.capital and follower.joined and not follower.username
