"""Coarse sound spellings of names: the spellings of one name in two alphabets share a skeleton."""

import re
import unicodedata

from internal.text_caches import cached

# Capitals are single symbols here for sounds with several Latin letters: Z zh, C ch, S sh.
_CYRILLIC = {
    "а": "a", "б": "b", "в": "v", "ґ": "g", "д": "d", "е": "e", "є": "e", "ж": "Z", "з": "z", "и": "i",
    "і": "i", "ї": "i", "й": "i", "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r",
    "с": "s", "т": "t", "у": "u", "ф": "f", "х": "h", "ц": "c", "ч": "C", "ш": "S", "щ": "SC", "ъ": "",
    "ь": "", "ы": "i", "э": "e", "ю": "iu", "я": "ia", "-": "",
}  # fmt: skip

_LATIN = (
    ("shch", "SC"), ("sch", "S"), ("tch", "C"), ("zh", "Z"), ("kh", "h"), ("ch", "C"), ("sh", "S"), ("ph", "f"),
    ("th", "t"), ("ck", "k"), ("ts", "c"), ("tz", "c"), ("ff", "v"), ("x", "ks"), ("w", "v"), ("q", "k"),
    ("y", "i"), ("j", "i"), ("-", ""),
)  # fmt: skip

_CARONS = str.maketrans({"š": "S", "č": "C", "ž": "Z", "ł": "l"})
_NOT_A_LETTER = re.compile(r"[^a-zA-Z-]")
_DOUBLED = re.compile(r"(.)\1+")
_SILENT_H = re.compile(r"(?<=[aeiou])h$")
_SOFT_C = re.compile(r"c(?![eiy])")


@cached(50_000)
def skeletons(word: str) -> frozenset[str]:
    """All coarse spellings of one word: at most four, empty if it has no letter of the two alphabets.

    Cyrillic г is g in Russian and h in Ukrainian, ё is written e or io: each gives another spelling.
    """
    folded = unicodedata.normalize("NFKC", word).casefold()
    if not any("а" <= letter <= "ґ" for letter in folded):
        return frozenset(filter(None, (_normalised(_from_latin(folded)),)))
    return frozenset(
        filter(None, (_normalised(_from_cyrillic(folded, g, yo)) for g in ("g", "h") for yo in ("e", "io")))
    )


_TO_CYRILLIC = (
    ("shch", "щ"), ("sky", "ский"), ("skii", "ский"), ("skyi", "ський"), ("tsky", "цкий"), ("zh", "ж"), ("kh", "х"),
    ("ch", "ч"), ("sh", "ш"), ("ts", "ц"), ("yu", "ю"), ("iu", "ю"), ("ya", "я"), ("ia", "я"), ("yo", "ё"), ("ye", "е"),
    ("a", "а"), ("b", "б"), ("v", "в"), ("g", "г"), ("h", "г"), ("d", "д"), ("e", "е"), ("z", "з"), ("i", "и"),
    ("y", "и"), ("j", "й"), ("k", "к"), ("l", "л"), ("m", "м"), ("n", "н"), ("o", "о"), ("p", "п"), ("r", "р"),
    ("s", "с"), ("t", "т"), ("u", "у"), ("f", "ф"), ("x", "кс"), ("w", "в"),
)  # fmt: skip


def cyrillic_spelling(key: str) -> str:
    """The likeliest Cyrillic spelling of a Slavic word in Latin letters; a guess, to be looked up in a dictionary."""
    for latin, cyrillic in _TO_CYRILLIC:
        key = key.replace(latin, cyrillic)
    return key


def _from_cyrillic(word: str, g: str, yo: str) -> str:
    table = _CYRILLIC | {"г": g, "ё": yo}
    return "".join(table.get(letter, "") for letter in word)


def _from_latin(word: str) -> str:
    marked = word.translate(_CARONS)
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", marked) if not unicodedata.combining(letter))
    letters = _SOFT_C.sub("k", _SILENT_H.sub("", _NOT_A_LETTER.sub("", plain)).replace("ch", "\0")).replace("\0", "ch")
    for spelling, sound in _LATIN:
        letters = letters.replace(spelling, sound)
    return letters


def _normalised(sounds: str) -> str:
    """One spelling for similar sounds: Petrov and Petroff, Yuri and Yuriy, Daniel and Danyel."""
    return _DOUBLED.sub(r"\1", _DOUBLED.sub(r"\1", sounds).replace("ie", "e").replace("tC", "C"))
