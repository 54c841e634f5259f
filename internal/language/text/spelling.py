"""Comparison keys of words and names, and the tokens and sentences of a text."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from internal.language.text.patterns import pattern
from internal.language.text.tables import table
from internal.text_caches import cached

Language = Literal["ru", "uk", "en"]

_APOSTROPHES = re.compile("[’ʼ`´ʹ‘′＇]")
_DASHES = re.compile("[‐‑‒–—−]")
_SPACES = re.compile(r"\s+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")

_TOKEN = re.compile(r"(?<!\w)@(?P<username>[A-Za-z0-9_]{3,32})|(?<!\w)(?P<word>[^\W\d_]+(?:['’ʼ`-][^\W\d_]+)*)(?!\w)")
_SENTENCE_END = re.compile(r"[.!?…\n:;]\W*$|^\W*$")
_POSSESSIVE = re.compile(r"['’]s$")


def words(text: str) -> frozenset[str]:
    """The set of words in a string that separates them by spaces."""
    return frozenset(text.split())


@cached(50_000)
def name_key(text: str) -> str:
    """The key by which a name, an alias or a username is stored and compared; empty if nothing is left.

    Unicode NFKC and case folding, ё as е, one apostrophe, one dash, single spaces, no leading @. Idempotent. SQLite
    folds ASCII only, so the key is stored beside the name.
    """
    # Folding may undo the normalisation and vice versa (İ, ligatures): twice reaches the fixed point.
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", folded)).casefold().replace("ё", "е")
    folded = _DASHES.sub("-", _APOSTROPHES.sub("'", folded))
    return _SPACES.sub(" ", folded).lstrip("@ ").strip()


@dataclass(frozen=True, slots=True)
class Token:
    """A word or @username of a text. `capital`: written as a name; `opens`: it begins a sentence."""

    text: str
    key: str
    start: int
    end: int
    capital: bool
    opens: bool
    username: bool = False
    joined: bool = False
    """Whether only spaces separate this token from the one before."""

    @property
    def latin(self) -> bool:
        return self.text[:1].isascii()


def tokens(text: str) -> list[Token]:
    """The words of a text in order; in a text entirely in capitals no word has `capital` set."""
    return list(_tokens(text))


@cached(4_000)
def _tokens(text: str) -> tuple[Token, ...]:
    shouting = text.isupper() and len(text.split()) > 1
    result: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        username = match.group("username")
        written = username or _POSSESSIVE.sub("", match.group("word"))
        gap = text[end : match.start()]
        result.append(
            Token(
                text=written,
                key=name_key(written),
                start=match.start(),
                end=match.start() + len(written) + bool(username),
                capital=written[:1].isupper() and not shouting,
                opens=bool(_SENTENCE_END.search(text[max(0, match.start() - 12) : match.start()])),
                username=username is not None,
                joined=bool(result) and gap.isspace(),
            )
        )
        end = match.end()
    return tuple(result)


_SENTENCE_BREAK = re.compile(r"(?<=[.!?…])[\"»”)]*\s+(?=[\"«“(—–-]*[^\W\d_a-zа-яёіїєґ]|@)|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|\W)(?:[^\W\d_]|dr|mr|mrs|ms|prof|st|jr|им|ул|вул|проф|св|гр|пр|см|т\.?\s?[кдпе])\.$", re.IGNORECASE
)


MOST_CHARACTERS: Final = 500
"""The most characters of a sentence. Rules try all pairs of positions in one: 4,000 spaces took them minutes."""

_LONGEST_ABBREVIATION: Final = 8


def unquoted(text: str) -> str:
    """The author's own words: without quoted lines (">"), lines for attachments, and reported speech.

    Words of recordings stay.
    """
    if ":" in text:
        text = _REPORTED.sub(r"\1", text)
    text = without_attachments(text)
    return "\n".join(line for line in text.split("\n") if not line.startswith(">")) if ">" in text else text


def without_attachments(text: str) -> str:
    """What the author wrote or spoke, without the lines for a picture, sound or file."""
    return _SPOKEN.sub("", _CAME_ALONG.sub("", text)).strip("\n") if "[" in text else text


def with_signs(text: str) -> str:
    """A stored text as a screen shows it, with signs for what was spoken, heard or seen."""
    return _MARK.sub(lambda mark: f"{_SIGNS[mark[1]]} ", text) if "[" in text else text


_SIGNS: Final = {"voice": "🎙", "video_note": "🎙", "audio": "🎧", "photo": "🖼"}
_MARK: Final = re.compile(rf"^\[({'|'.join(_SIGNS)})\](?: \|)?(?: |$)", re.MULTILINE)

_REPORTED: Final = pattern(
    r"(\b(?:wrote|writes|says|said|texted|replied|answered|пиш[еу]т?|написал[аи]?|говорит|сказал[аи]?|ответил[аи]?|"
    r"передал[аи]?|пише|пишуть|написа(?:в|ла|ли)|каже|сказа(?:в|ла|ли)|відповіла?|передала?)\b[^.!?\n«\"“„]{0,60}:\s*)"
    r"(?:«[^»]*»|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”])",
    re.IGNORECASE,
)
"""Words in quotation marks that somebody is reported to have said."""

_SPOKEN: Final = re.compile(r"^\[(?:voice|video_note)\] ", re.MULTILINE)
_CAME_ALONG: Final = re.compile(r"\n?^\[(?:(?:photo|audio)\]|file [^\n]*\]$).*", re.MULTILINE)
"""A line that stands in a message for a picture, a sound or a file."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The beginning and end (characters) of each sentence, at least one; "Dr. Foster" is not split.

    A sentence without an end within MOST_CHARACTERS is cut between words, or anywhere if it has none.
    """
    bounds: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_BREAK.finditer(text):
        before = text[max(start, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        if "\n" not in match.group() and _ABBREVIATION.search(before):
            continue
        bounds += _shortened(text, start, match.end())
        start = match.end()
    *bounds_before, (last, _) = _shortened(text, start, len(text))
    return [*bounds, *bounds_before, (last, len(text) + 1)]


def _shortened(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MOST_CHARACTERS:
        cut = text.rfind(" ", start + MOST_CHARACTERS // 2, start + MOST_CHARACTERS) + 1 or start + MOST_CHARACTERS
        yield start, cut
        start = cut
    yield start, end


def word_languages(word: str) -> tuple[Language, ...]:
    """The languages whose alphabets can write this word, in the order in which they are tried."""
    lower = word.casefold()
    if not any("а" <= letter <= "ґ" for letter in lower):
        return ("en",)
    if any(letter in "іїєґ'’ʼ" for letter in lower):
        return ("uk",)
    if any(letter in "ыэъё" for letter in lower):
        return ("ru",)
    return ("ru", "uk")


_UKRAINIAN, _RUSSIAN = (words(listed) for listed in table(__package__, "common").values())


def text_language(text: str, default: Language = "en") -> Language:
    """The language of a text by its letters, then by frequent words; else `default`."""
    text_tokens = tokens(text)
    # Names in the middle of a sentence have their own alphabet: "Who is Петров?" is English.
    relevant = [token for token in text_tokens if token.opens or not token.capital] or text_tokens
    latin = sum(token.latin for token in relevant)
    if not relevant:
        return default
    if 2 * latin > len(relevant):
        return "en"
    lower = text.casefold()
    keys = {token.key for token in text_tokens}
    ukrainian = 2 * sum(letter in "іїєґ" for letter in lower) + len(keys & _UKRAINIAN - _RUSSIAN)
    russian = 2 * sum(letter in "ыэъё" for letter in lower) + len(keys & _RUSSIAN - _UKRAINIAN)
    if ukrainian == russian:
        return default if default != "en" else "ru"
    return "uk" if ukrainian > russian else "ru"
