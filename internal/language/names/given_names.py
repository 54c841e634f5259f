"""Equal first names: formal and short, in Russian, Ukrainian and Latin spellings.

The table `first_names.json` is our own: rows of [sex, Russian, Ukrainian, Latin, short forms], words joined by spaces.
English short forms come from the `nicknames` package.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from internal.language.text.english import FOREIGN_NAMES, GIVEN_NAMES
from internal.language.text.morphology import Gender, NameReading, name_readings, regular_forms
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import name_key
from internal.language.text.tables import table
from internal.text_caches import cached


@dataclass(frozen=True, slots=True)
class GivenName:
    """One reading of a word as a first name: the name (`group`), its nominative, and whether it is short."""

    group: int
    spelling: str
    gender: Gender
    short: bool
    declined: bool = False


_LATIN = re.compile(r"[a-zà-ɏ]")

# Nominatives whose stem changes: the regular endings do not give their other cases.
_FLEETING = {
    "лев": "льв", "петр": "петр", "павел": "павл", "игорек": "игорьк", "санек": "саньк", "витек": "витьк",
    "василек": "васильк", "васек": "васьк", "федір": "федор", "яків": "яков", "левко": "левк", "игорьок": "ігорьк",
}  # fmt: skip


@cache
def _table() -> list[tuple[Gender, str, str, str, str]]:
    rows = table(__package__, "first_names")
    return [("masc" if sex == "m" else "femn", ru, uk, latin, short) for sex, ru, uk, latin, short in rows]


@cache
def _readings() -> dict[str, tuple[GivenName, ...]]:
    """The readings of all written forms, nominatives before declined ones."""
    nominatives: dict[str, list[GivenName]] = {}
    declined: dict[str, list[GivenName]] = {}
    for group, (gender, ru, uk, latin, short) in enumerate(_table()):
        for spelling, is_short in _spellings(f"{ru} {uk} {latin}", short):
            key = name_key(spelling)
            nominatives.setdefault(key, []).append(GivenName(group, spelling, gender, is_short))
            if not spelling.isascii():
                for form in set(_cases(key)) - {key}:
                    declined.setdefault(form, []).append(GivenName(group, spelling, gender, is_short, True))
    return {key: (*nominatives.get(key, ()), *declined.get(key, ())) for key in nominatives | declined}


def _spellings(formal: str, short: str) -> list[tuple[str, bool]]:
    return [(word, False) for word in formal.split()] + [(word, True) for word in short.split()]


def _cases(key: str) -> list[str]:
    forms = list(regular_forms(key))
    if key.endswith(("ка", "га", "ха")):  # Маринці, Ользі
        forms.append(key[:-2] + dict(zip("кгх", ("ці", "зі", "сі"), strict=True))[key[-2]])
    if stem := _FLEETING.get(key):
        forms += [stem + ending for ending in ("а", "у", "ом", "е", "ові", "і")]
    return forms


@cache
def _by_skeleton() -> dict[str, tuple[GivenName, ...]]:
    found: dict[str, dict[GivenName, None]] = {}
    for readings in _readings().values():
        for name in readings:
            if not name.declined:
                for skeleton in skeletons(name.spelling):
                    found.setdefault(skeleton, {})[name] = None
    return {skeleton: tuple(names) for skeleton, names in found.items()}


@cached(50_000)
def given_names(word: str) -> tuple[GivenName, ...]:
    """The readings of a word in any case form as a first name of the table; for a Latin word also by its sound."""
    key = name_key(word)
    exact = _readings().get(key, ())
    if exact or not key.isascii():
        return exact
    return tuple(name for skeleton in skeletons(key) for name in _by_skeleton().get(skeleton, ()))


def gender_of_name(name: str) -> Gender | None:
    """The gender of a name in the nominative by its first word, if all people with that first name have the same."""
    genders = {one.gender for word in name.split()[:1] for one in given_names(word) if not one.declined}
    return genders.pop() if len(genders) == 1 else None


def readings_as(word: str, kind: str) -> list[NameReading]:
    """The known readings of a word of a name; as a first name of the table only those of its genders.

    So Роман is no woman's surname, and Ореста a form of Орест.
    """
    known = [one for one in name_readings(word) if one.known]
    genders = {one.gender for one in given_names(word)} if kind == "first" else set()
    own = [one for one in known if one.kind == kind and (not genders or one.gender in (*genders, None))]
    return own if own and kind == "first" else known


@cache
def spellings_of(group: int) -> tuple[GivenName, ...]:
    """All nominative spellings of one name, formal and short."""
    gender, ru, uk, latin, short = _table()[group]
    return tuple(
        GivenName(group, spelling, gender, is_short) for spelling, is_short in _spellings(f"{ru} {uk} {latin}", short)
    )


@cache
def _english() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    from nicknames import NickNamer

    lookup = NickNamer.default_lookup()
    related: dict[str, set[str]] = {}
    for formal, short_forms in lookup.items():
        for short in short_forms:
            related.setdefault(formal, set()).add(short)
            related.setdefault(short, set()).add(formal)
    return {name: frozenset(others) for name, others in related.items()}, frozenset(related)


def english_relatives(word: str) -> frozenset[str]:
    """Keys of the English names that are short or long forms of this one: bob gives robert."""
    return _english()[0].get(name_key(word), frozenset())


def _unaccented(key: str) -> str:
    """The key in plain Latin letters (Małgorzata, Zsófia); Cyrillic is unchanged."""
    if key.isascii() or not _LATIN.match(key):
        return key
    plain = unicodedata.normalize("NFKD", key.replace("ł", "l").replace("ø", "o").replace("ß", "ss"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def is_english_given_name(word: str) -> bool:
    """Whether the English table or our own has this Latin word as a first name."""
    key = _unaccented(name_key(word))
    if not key.isascii():
        return False
    return (
        key in GIVEN_NAMES | FOREIGN_NAMES
        or key in _english()[1]
        or any(not name.declined for name in _readings().get(key, ()))
    )
