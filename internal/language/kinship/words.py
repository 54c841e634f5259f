"""Words for the relation of a person to the owner, in any case form, and the circle they suggest.

Circles are written as in the API, so that this package does not depend on people. The words stand in `roles.json`
by language and circle, after the gender that they imply: m, f, or x for none; p marks words for several people, each
with its other forms.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from internal.language.text.morphology import Gender, regular_forms
from internal.language.text.spelling import Language, name_key, words
from internal.language.text.tables import table

CircleName = Literal["Family", "Work_Inner", "Friends", "Work_Outer", "Other"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A role word: its dictionary form, its circle, and the gender it implies; `plural`: it stands for several people.

    `former`: the role has ended.
    """

    word: str
    circle: CircleName
    language: Language
    gender: Gender | None
    plural: bool = False
    former: bool = False


def circle_through(of: str | None, circle: str) -> CircleName | None:
    """The circle of a person who belongs to the `circle` of somebody in `of`: a sister's son is family,
    a colleague's wife is not. None if that is unknown.
    """
    if of is None:
        return None
    if of == circle == "Family":
        return "Family"
    return "Work_Outer" if of.startswith("Work") and circle.startswith("Work") else "Other"


FORMER = words(
    "бывший бывшая бывшего бывшей бывшему бывшим бывшую экс колишній колишня колишнього колишньої колишньому колишнім"
    " колишньою колишню former ex previous old"
)
"""Words that before a work role move somebody from the inner to the outer circle."""

MY = words(
    "мой моя мои моего моей моему моим мою моими моих мій моє мої мого моєї моєму моїм моїй моєю my our наш наша нашего"
    " нашей нашему нашим нашу наши нашого нашої нашому нашою нашій mine"
)

_FLEETING = {
    "отец": "отц", "сынок": "сынк", "дружок": "дружк", "свекор": "свекр", "синок": "синк", "владелец": "владельц",
    "сослуживец": "сослуживц",
}  # fmt: skip
_IRREGULAR = {
    "мать": "матери матерью", "дочь": "дочери дочерью", "мати": "матері матір'ю матір", "друг": "друзья друзей други",
    "чоловік": "чоловіком", "муж": "мужем мужья", "брат": "братья братьев", "сын": "сыновья сыновей",
    "свекровь": "свекрови свекровью",
}  # fmt: skip
_ADJECTIVES = {
    "ый": "ого ому ым ом", "ий": "ього ьому ім ого ому им", "ая": "ой ую ою", "а": "ої ій у ою",
}  # fmt: skip


@cache
def relations() -> dict[str, tuple[Relation, ...]]:
    """All forms of all role words, by key."""
    by_form: dict[str, list[Relation]] = {}
    for language, circle, lines in table(__package__, "roles"):
        for entry in " ".join(lines).split():
            sex, word = entry.split(":")
            gender: Gender | None = {"m": "masc", "f": "femn"}.get(sex)  # type: ignore[assignment]  # a closed table
            word, *others = word.split("/")
            relation = Relation(word, circle, language, gender, plural=bool(others))
            forms = map(name_key, (word, *others)) if others else _forms(name_key(word), language)
            for form in forms:
                if relation not in by_form.setdefault(form, []):
                    by_form[form].append(relation)
    return {form: tuple(meanings) for form, meanings in by_form.items()}


_POSSESSIVE: Final = re.compile(
    r"(\w{2,}?)(?:(ин|ін|їн)|ов|ев|ів|їв|єв)(?:а|у|ы|и|і|о|е|ого|ому|ой|ої|ій|ым|им|ою|ом|ых|их)?"
)


def possessor(key: str) -> str:
    """The role word of a possessive adjective: мама of "мамин", брат of "братова"; else an empty text."""
    found = _POSSESSIVE.fullmatch(key)
    ends = ("а", "я") if found and found[2] else ("", "о", "ь", "й")
    return next((word for end in ends if found and (word := found[1] + end) in relations()), "")


def _forms(key: str, language: Language) -> set[str]:
    if language == "en":
        return {key}
    stem = _FLEETING.get(key)
    forms = {key, *regular_forms(key), *_IRREGULAR.get(key, "").split()}
    if stem:
        forms |= {stem + ending for ending in ("а", "у", "ом", "е", "ем", "ові")}
    for ending, others in _ADJECTIVES.items():
        if key.endswith(ending) and (len(ending) > 1 or key in ("підлегла", "наречена", "хрещена", "знайома")):
            forms |= {key.removesuffix(ending) + other for other in others.split()}
    return forms


def is_title(key: str) -> bool:
    """Whether a word in a name of several words is a form of address, not a name: тётя, шеф, uncle."""
    return key in relations() or key in {"пан", "пані", "господин", "госпожа", "mr", "mrs", "ms", "miss", "dr", "sir"}
