"""Ukrainian words by rules, for an installation without the Ukrainian dictionary: stems, and nominatives of names."""

import re
from collections.abc import Iterator
from typing import Final, Literal

_SHORTEST: Final = 3
"""The least letters of a stem."""

_ENDING: Final = re.compile(
    "(?:"
    "[ую]ва(?:ти|тиму|тиме|в|ла|ло|ли)|[ую](?:є|єш|ємо|єте|ють)|(?:ю|я|є|и|і|а|у)(?:ть|ш|мо|те)"
    "|[аияії](?:ти|в|ла|ло|ли)|ого|ому|ими|ої|ою|ею|єю|ій|ий|их|им|ім|ями|ами|ові|еві|єві|ів|їв|ей|ах|ях|ам|ям|ом|ем|єм"
    "|ся|сь|[аяоеєиіїуюьй]"
    ")$"
)


def ukrainian_stem(key: str) -> str:
    """A folded word without its ending: книга, книгу and книгою give книг. Rough: it joins some different words.

    It removes -ов too, since -ові is the dative of men and the locative of розмова.
    """
    match = _ENDING.search(key, _SHORTEST)
    stem = key[: match.start()] if match else key
    return stem[:-2] if stem.endswith(("ов", "ев", "єв")) and len(stem) >= _SHORTEST + 2 else stem


_SURNAMES: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("енк", {"о": "о", "а": "о", "у": "о", "ом": "о", "ові": "о"}),
    ("чук", {"": "", "а": "", "у": "", "ом": "", "ові": ""}),
    ("ьк", {"ий": "ий", "ого": "ий", "ому": "ий", "им": "ий", "ої": "а", "ій": "а", "ою": "а"}),
)
"""Stems of surnames, each with its endings and that of the nominative: Петренком, Ковальчуку, Вишневського."""

_FIRST_NAMES: Final = {
    "ією": "ія", "ії": "ія", "ію": "ія", "єю": "я", "ею": "я", "ою": "а",
    "єм": "й", "ієві": "ій", "ові": "", "еві": "",
}  # fmt: skip
"""Endings that belong to one nominative only: Марією, Сергієм, Оленою. They do not show that it is a first name."""

_TOWNS: Final = {"києв": "київ", "львов": "львів", "харков": "харків", "чернігов": "чернігів", "миколаєв": "миколаїв"}
"""Large towns whose stem changes: у Києві, зі Львова."""

_CASES: Final = {"о": "nomn", "": "nomn", "ий": "nomn", "а": "gent", "ого": "gent", "ої": "gent", "ії": "gent"}
_DATIVES: Final = frozenset({"у", "ові", "еві", "ому", "ій", "ієві"})

NameForm = tuple[str, Literal["first", "surname"], Literal["masc", "femn"], str]
"""The nominative, the kind of name, and the gender and case of the form."""


def ukrainian_name_forms(key: str) -> Iterator[NameForm]:
    """The possible nominatives of a folded name by its ending alone."""
    for stem, town in _TOWNS.items():
        if key.startswith(stem) and len(key) - len(stem) <= 2:
            yield town, "surname", "masc", "loct"
            return
    for stem, endings in _SURNAMES:
        head, middle, ending = key.rpartition(stem)
        if len(head) >= 2 and middle and ending in endings:
            nominative = endings[ending]
            yield head + middle + nominative, "surname", "femn" if nominative == "а" else "masc", _case(ending)
            return
    for ending, nominative in sorted(_FIRST_NAMES.items(), key=lambda pair: -len(pair[0])):
        if key.endswith(ending) and len(key) - len(ending) >= 2:
            gender: Literal["masc", "femn"] = "femn" if nominative.endswith(("а", "я")) else "masc"
            yield key.removesuffix(ending) + nominative, "first", gender, _case(ending)
            return


def _case(ending: str) -> str:
    return _CASES.get(ending, "datv" if ending in _DATIVES else "accs" if ending == "ію" else "ablt")
