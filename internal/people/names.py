"""Cleans names for storage and comparison, and distinguishes people of the same name."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from internal.language.text.spelling import name_key

MAX_NAME = 128
MAX_ALIASES = 40
"""Most aliases of a person; the earliest stay."""

_USERNAME = re.compile(r"(?:(?:https?://)?t\.me/|@)?([A-Za-z][A-Za-z0-9_]{2,31})")
_PATRONYMIC = re.compile(r"(?:[оеєії]вич|ич|[оеєії]вна|[иії]чна|инична)$")
_SURNAME = re.compile(
    r"(?:[оеєії]в|[оеєії]ва|[сц]к(?:ий|ая|ой)|[сц]ьк(?:ий|а)|енко|чук|щук|ських|ских|янц|швили|дзе|[aeiou]v|ova|eva|enko|chuk|sk[iy]y?)$"
)


def clean_name(text: str) -> str:
    """The name on one line of at most MAX_NAME characters; empty without a letter or digit."""
    line = " ".join(unicodedata.normalize("NFC", text).split())[:MAX_NAME].strip()
    return line if any(map(str.isalnum, line)) else ""


def clean_username(text: str) -> str:
    """The bare Telegram username of a text like `name`, `@name` or a t.me link; empty when it cannot be one."""
    match = _USERNAME.fullmatch(text.strip())
    return match[1] if match else ""


def keys_of(names: Iterable[str]) -> set[str]:
    return {key for key in map(name_key, names) if key}


def unique_names(names: Iterable[str], *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Cleaned names in order, one for each key not in `without`, at most MAX_ALIASES."""
    seen = {"", *without}
    kept: list[str] = []
    for name in map(clean_name, names):
        key = name_key(name)
        if key not in seen:
            seen.add(key)
            kept.append(name)
    return tuple(kept[:MAX_ALIASES])


def surnames_differ(one: Sequence[str], other: Sequence[str], shared: set[str]) -> bool:
    """Whether two people who share a name have different surnames: both have some in one script, and none is equal.

    `one` and `other` are all names of each; `shared` are their common keys. "Иван Петров" and "Иван Сидоров"
    are two people though both are called "Иван"; "Иван" and "Иван Петров" may be one.
    """
    common = {token for key in shared for token in key.split()}
    ours, theirs = _surnames(one) - common, _surnames(other) - common
    if not ours or not theirs or ours & theirs:
        return False
    return {_script(token) for token in ours} == {_script(token) for token in theirs}


def _surnames(names: Iterable[str]) -> set[str]:
    return {surname for name in names if (surname := _surname(name_key(name).split()))}


def _surname(tokens: list[str]) -> str | None:
    """The surname of a full name: its last token, or the first if only that looks like one ("Петров Иван")."""
    family = [token for token in tokens if len(token) > 1 and not _PATRONYMIC.search(token)]
    if len(family) < 2:
        return None
    first, last = family[0], family[-1]
    return first if _SURNAME.search(first) and not _SURNAME.search(last) else last


def _script(token: str) -> str:
    return "latin" if token[:1].isascii() else "other"
