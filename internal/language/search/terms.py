"""Index terms of a text: dictionary forms in Russian and Ukrainian, stems in English, names as written.

A word has alternatives, one of which suffices for a match: its dictionary forms, and for a name the written form, the
nominative, the sound (`~petrov`, the same in both alphabets), the first name it is a form of (`^12`), and the place
with this name in one of the languages (`=kyiv`). Called in the language process: a new word costs up to 1 ms, a known
one 5 microseconds.
"""

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from internal.language.dictionaries import word_file
from internal.language.names.given_names import english_relatives, given_names
from internal.language.names.places import place_ids
from internal.language.text.english import irregular_relatives
from internal.language.text.morphology import dictionary_languages, has_ukrainian_dictionary, name_readings, parses
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import Language, name_key, words
from internal.language.text.tables import table
from internal.language.text.ukrainian import ukrainian_stem
from internal.text_caches import cached

ANALYZER: Final = "words-1" if has_ukrainian_dictionary() else "words-1 without uk"
"""The version of these rules: terms made by another version are made again."""

OR: Final = "|"
"""Separates the alternatives of one word in stored terms; words are separated by spaces."""

SOUND: Final = "~"
GIVEN: Final = "^"
PLACE: Final = "="
NOT_WORDS: Final = (SOUND, GIVEN, PLACE)
"""What terms begin with that are no words."""

Word = tuple[tuple[str, float], ...]
"""One word of a query: its alternatives, each with its weight in (0, 1]."""

_SOUND_WEIGHT: Final = 0.8
_RELATED_WEIGHT: Final = 0.6
"""Of another form of a first name, and of a translation; half or twice as much changes little for translations."""

_IRREGULAR_WEIGHT: Final = 0.2
"""Of "bought" for "buy". Chosen on our own conversations that are learned from, by words only: recall@10 of the English
ones rises from 0.660 to 0.673, with 0.6 to 0.671."""

_MAX_LETTERS: Final = 40
_MIN_SOUND: Final = 4
"""Letters of the shortest query word whose sound is searched for: "тому" is not Tom."""

_TOKEN: Final = re.compile(r"(?<!\w)@(?P<username>[A-Za-z0-9_]{3,32})|\d+(?:[.,]\d+)+|[^\W_]+(?:['’ʼ`´][^\W\d_]+)*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?…\n:;])\W*$")
_POSSESSIVE: Final = re.compile(r"'s$")
_DIGIT: Final = re.compile(r"\d")

_MIN_LIKELIHOOD: Final = 0.2
"""The least likelihood of a Russian reading that gives a term. Ukrainian readings have none: all known ones do."""

_FUNCTION_POS: Final = frozenset({"PREP", "CONJ", "PRCL", "NPRO", "INTJ"})
_FUNCTION_MARKS: Final = ("Apro", "Ques", "Dmns", "Anph")
_NAME_MARKS: Final = frozenset({"Name", "Surn", "Patr", "Geox", "Orgn"})

STOP: Final = words(" ".join(table(__package__, "stop")))


_ONESELF: Final = re.compile(
    r"(?<![\w'])(?:я|меня|мне|мной|мою?|мой|моя|моё|мое|мои|моего|моей|моему|моём|моем|моих|моим|моими"
    r"|мене|мені|мною|мій|моє|мої|моєї|моїй|моєму|моїх|моїм|моїми|i|me|my|mine|myself|i'm|i've|i'd|i'll)(?!\w)"
)


class _Token(NamedTuple):
    """A word as written in a text. `named`: it has a capital that only a name has."""

    written: str
    capital: bool
    named: bool
    username: bool


def document_terms(texts: Sequence[str]) -> list[str]:
    """The stored terms of each text: its words in order, separated by spaces, the alternatives of a word by `|`."""
    return [
        " ".join(OR.join(alternatives) for token in _tokens(text) if (alternatives := _document_word(*token)))
        for text in texts
    ]


def words_of(stored: str) -> list[list[str]]:
    """The words of stored terms, each with its alternatives: the inverse of `document_terms`."""
    return [word.split(OR) for word in stored.split()]


@cached(8_000)
def terms_in(text: str) -> frozenset[str]:
    """All alternatives of all words of a text."""
    return frozenset(term for word in words_of(document_terms([text])[0]) for term in word)


def topic_terms(text: str) -> list[Word]:
    """The terms of a question without the owner: those match everything the owner ever said of himself or herself.

    English "I" is written like a name.
    """
    return [word for word in query_terms(text) if not all(_ONESELF.fullmatch(term) for term, _ in word)]


def query_terms(text: str, translations: str = "") -> list[Word]:
    """The words to search for, each once; empty if a question has only function words.

    With the path of a file of `translations`, those of a word are its alternatives too.
    """
    words_ = (_query_word(*token, translations) for token in _tokens(text))
    return list(dict.fromkeys(word for word in words_ if word))


def plain_query_terms(text: str) -> list[Word]:
    """As `query_terms`, without dictionaries: the written words and their sounds. For a process that has none."""
    keys = (name_key(token.written) for token in _tokens(text))
    return list(dict.fromkeys(_weighted([key], _sounds([key])) for key in keys if key and key not in STOP))


def names_oneself(text: str) -> bool:
    """Whether a text is about its author: "где я живу?", "моя сестра", "where do I live?"."""
    return bool(_ONESELF.search(name_key(text)))


def _tokens(text: str) -> Iterator[_Token]:
    shouting = text.isupper()
    for match in _TOKEN.finditer(text):
        username = match.group("username")
        written = (username or match.group())[:_MAX_LETTERS]
        capital = written[:1].isupper() and not shouting
        opens = capital and bool(_SENTENCE_START.search(text[max(0, match.start() - 12) : match.start()]))
        yield _Token(written, capital, capital and not opens, username is not None)


@cached(100_000)
def _document_word(written: str, capital: bool, named: bool, username: bool) -> tuple[str, ...]:
    key = _POSSESSIVE.sub("", name_key(written))
    if username or _DIGIT.search(key):
        return (key,)
    if not named and is_function_word(key):
        return ()
    forms = _dictionary_forms(key)
    if not capital and forms:
        return tuple(forms)
    names = _names(key) if capital or not forms else []
    may_be_name = named or not forms or _has_name_reading(key)
    sounds = _sounds([*names, *forms] or [key]) if may_be_name else []
    groups = _groups(key) if capital else []
    places = _places([key, *names, *forms]) if capital else []
    return tuple(dict.fromkeys([key, *names, *forms, *_rule_stems(key, forms), *sounds, *groups, *places]))


@cached(50_000)
def _query_word(written: str, capital: bool, named: bool, username: bool, translations: str = "") -> Word:
    """The alternatives of a query word; owners write names in lower case too, so a possible name is one."""
    key = _POSSESSIVE.sub("", name_key(written))
    if username or _DIGIT.search(key):
        return ((key, 1.0),)
    if not named and is_function_word(key):
        return ()
    forms = _dictionary_forms(key)
    names = _names(key)
    sounds = _sounds([*names, *forms, key]) if capital or len(key) >= _MIN_SOUND else []
    related = [*_groups(key), *sorted(english_relatives(key))] if capital or _is_given_name(key) else []
    irregular = [] if named else [english_stem(form) for base in (key, *forms) for form in irregular_relatives(base)]
    exact = [key, *names, *forms, *_rule_stems(key, forms), *_places([key, *names, *forms])]
    if translations and not related:
        known = (word_file.look_up(translations, word) for word in dict.fromkeys([*(forms or [key]), *irregular]))
        related = [other for others in known for other in others]
    return _weighted(exact, sounds, related, irregular)


def _weighted(
    exact: Iterable[str], sounds: Iterable[str], related: Iterable[str] = (), irregular: Iterable[str] = ()
) -> Word:
    weights = dict.fromkeys(irregular, _IRREGULAR_WEIGHT) | dict.fromkeys(related, _RELATED_WEIGHT)
    weights |= dict.fromkeys(sounds, _SOUND_WEIGHT)
    return tuple((weights | dict.fromkeys(exact, 1.0)).items())


def _dictionary_forms(key: str) -> list[str]:
    """The dictionary forms of a known word, likeliest first; of an English one its stem."""
    languages = dictionary_languages(key)
    if languages == ("en",):
        return [english_stem(key)] if key.isascii() else []
    found = (form for language in languages for form in lemmas(key, language))
    return list(dict.fromkeys(found))


def _rule_stems(key: str, forms: Sequence[str]) -> list[str]:
    """The stem by rules of a Cyrillic word that no dictionary knows, where the Ukrainian dictionary is missing."""
    return [] if forms or key.isascii() or has_ukrainian_dictionary() else [ukrainian_stem(key)]


def lemmas(key: str, language: Language) -> list[str]:
    """The dictionary forms of a Russian or Ukrainian word that the dictionary knows, likeliest first."""
    likelihoods: dict[str, float] = {}
    for parse in parses(key, language):
        if parse.is_known:
            lemma = name_key(parse.normal_form)
            likelihoods[lemma] = likelihoods.get(lemma, 0.0) + float(parse.score)
    return sorted(
        (lemma for lemma in likelihoods if likelihoods[lemma] >= _MIN_LIKELIHOOD), key=lambda lemma: -likelihoods[lemma]
    )


_STEMMING: Final = threading.Lock()


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def english_stem(key: str) -> str:
    """The stem of a folded English word, by rules without a dictionary."""
    with _STEMMING:  # the stemmer keeps the word it works on
        return str(_stemmer().stemWord(key))


def _names(key: str) -> list[str]:
    """The nominatives of a word as a name, those of dictionaries before guesses."""
    readings = sorted(name_readings(key), key=lambda reading: not reading.known)
    known = any(reading.known for reading in readings)
    return list(dict.fromkeys(name_key(reading.lemma) for reading in readings if reading.known or not known))


def _has_name_reading(key: str) -> bool:
    languages = dictionary_languages(key)
    if languages == ("en",):
        return True
    found = (parse for language in languages for parse in parses(key, language))
    return any(parse.is_known and parse.tag.grammemes & _NAME_MARKS for parse in found)


def _sounds(keys: Iterable[str]) -> list[str]:
    return sorted({SOUND + sound for key in keys for sound in skeletons(key) if len(sound) > 1})


def _places(keys: Iterable[str]) -> list[str]:
    """The ids of the place with one of these names: Киев, Київ and Kyiv are one. One-word names only."""
    return sorted({PLACE + place.replace(" ", "") for key in keys if (place := place_ids().get(key))})


def _is_given_name(key: str) -> bool:
    """Whether a word in lower case is likely a first name: "саша", but not "вера" or "will"."""
    if key.isascii():
        return False
    return bool(given_names(key)) and all(_is_name(parse) for parse in parses(key, dictionary_languages(key)[0])[:1])


def _is_name(parse: Any) -> bool:
    return bool(parse.tag.grammemes & _NAME_MARKS)


def _groups(key: str) -> list[str]:
    """The first names a word may be a form of, short ones included: one number per name, whatever its spelling."""
    return sorted({f"{GIVEN}{name.group}" for name in given_names(key)})


@cached(50_000)
def is_function_word(key: str) -> bool:
    """Whether a word has no meaning of its own: pronouns, prepositions, conjunctions, particles, auxiliaries."""
    if key in STOP:
        return True
    languages = dictionary_languages(key)
    return languages != ("en",) and any(_is_function_word_of(key, language) for language in languages)


def _is_function_word_of(key: str, language: Language) -> bool:
    readings = [parse for parse in parses(key, language) if parse.is_known]
    function = [parse for parse in readings if _is_function(parse)]
    if language == "uk":
        return bool(function)
    return float(sum(parse.score for parse in function)) >= 0.5


def _is_function(parse: Any) -> bool:
    if parse.tag.POS in _FUNCTION_POS or parse.normal_form in ("быть", "бути"):
        return True
    tag = str(parse.tag)
    return any(mark in tag for mark in _FUNCTION_MARKS)
