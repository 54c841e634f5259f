"""Forms of names by rules alone, for code that must not load a dictionary: rather too many than too few."""

import re
from typing import Final

from internal.language.text.morphology import regular_forms
from internal.text_caches import cached

_CYRILLIC: Final = re.compile("[\u0400-\u04ff]")
_MASCULINE: Final = " а у ом ем е ові еві і"
_SURNAME: Final = "ым им ом ы и ых их ыми ими"

_RULES: Final = (
    ("ий ый ой ій", "", "ий ый ого ому его ему им ым ом ім ьому ього"),  # Толстой, Грушевський
    ("ая яя", "", "ой ую ою ей юю ею"),  # Толстая
    ("а", "", "ей ею ої ій"),  # Машей, Петрової
    ("ка", "ц", "і"),  # Наталка, Наталці
    ("га", "з", "і"),
    ("ха", "с", "і"),
    ("о", "", "і"),
    ("ь", "", "ью"),
    ("ець", "ц", "я ю ем еві і у"),  # Кравець, Кравця
    ("ец", "ц", _MASCULINE),  # Кравец, Кравца; not -ев or -ов: Петров has no Петрва
    ("ел ол", "л", _MASCULINE),
    ("ок ек", "к", _MASCULINE),
    ("лев", "льв", _MASCULINE),
    ("яц", "йц", _MASCULINE),
    ("ей", "ь", "я ю ем е и"),  # Соловей, Соловья
    ("ів", "ов", _MASCULINE),  # Яків, Якова
    ("ів", "ов", _SURNAME),
    ("ів", "ев", _MASCULINE),  # Ковалів, Ковалева
    ("ів", "ев", _SURNAME),
    ("ін", "он", _MASCULINE),
    ("ір", "ор", _MASCULINE),
    ("іл", "ол", _MASCULINE),
    ("рек", "рьк", _MASCULINE),  # Игорёк, Игорька
    ("ьок", "ьк", _MASCULINE),
    ("ж", "ж", "ем еві"),
    ("ч", "ч", "ем еві"),
    ("ц", "ц", "ем еві"),
    ("ш", "ш", "ем еві"),
    ("щ", "щ", "ем еві"),
    ("р", "р", "я ю ем еві"),  # Ігор, Ігоря
    ("г", "ж", "е"),  # Олег, Олеже
    ("в", "в", "'ю"),  # Любов, Любов'ю
    *((ending, ending, _SURNAME) for ending in ("ов", "ев", "єв", "їв", "ів", "ин", "ын", "ін", "їн")),
)
"""Endings of a nominative, their replacement, and the endings of cases after it."""


@cached(5_000)
def written_forms(key: str) -> frozenset[str]:
    """The forms in which a sentence may contain a word of a name: cases, English possessives, the plural of families.

    `key` is folded (`name_key`) and in the nominative.
    """
    if not _CYRILLIC.search(key):
        return frozenset({key, f"{key}'s", f"{key}s", f"{key}s'", f"{key}'"})
    found = {key, *regular_forms(key)}
    for endings, stem, cases in _RULES:
        for ending in endings.split():
            if key.endswith(ending):
                head = key.removesuffix(ending) + stem
                found |= {head + case for case in cases.split(" ")}
    return frozenset(found)
