"""Words around a name that show what it is: a person, a street, a work of art, a company, somebody's relative."""

import re
from typing import Final

from internal.language.kinship.words import relations
from internal.language.text.morphology import Gender
from internal.language.text.spelling import Language, name_key, words
from internal.language.text.tables import table

_WORDS: Final = table(__package__, "mention_words")
PUBLIC = words(_WORDS["public"])
"""Words that within two words before a name mark a street, a work or a public figure, not an acquaintance."""

THING_WORDS = words(_WORDS["things"])
"""Words that before a name that is no common first name mark a project, company or product: проект Альфа."""

SLAVIC: tuple[Language, ...] = ("ru", "uk")
PLACE_BEFORE = words("в во из до у на к в у до з із від під из-под in at from near to")
FROM_SOMEBODY = words("у от від с з із для к до from with for and и та і")
CITIES = re.compile(
    r"^(?:київ|києв|львів|львов|одес|харьков|харків|харков|дн[іе]пр|полтав|черн[иі]г|вінниц|запор|херсон|миколаєв|ужгород"
    r"|варшав|крак[оіу]в|берл[иі]н|лондон|париж|прага|праг[иуоі]|мадрид|москв|петербург|казан|тул[аеуы]$|сочи|пар[иі]ж)"
)
"""Cities that the Ukrainian dictionary does not mark as places, or that are surnames too."""
NOT_PEOPLE_AFTER = words(
    "street st avenue road square university college inc ltd corp airport hotel company bank river city school hospital"
    " bridge station park museum tower stadium улица площадь вулиця"
)
MEETING = words("met called told asked texted named invited phoned saw messaged")
COMPANY = words("with to from and told asked met called saw for by my our")
TITLES = words("mr mrs ms miss dr prof пан пані господин госпожа")
AFTER_NAMES = words("is was has had did and or can will would should could")
KEPT_PARTICLES = words("van von de da di del la le bin al")
SURNAME_SHAPE = re.compile(
    r"(?:ов|ев|ёв|єв|їв|ин|ын|їн|ск|цк|ськ|цьк|енк|чук|щук|юк|ак|ян|идзе|швили)(?:|а|у|о|ом|ым|им|е|і|ой|ою|ого|ому|ої|ій|ий|ая|ую|ові)$"
)

UNKNOWN = 4
"""The least letters of an unknown word that may be a name; shorter ones are companies and projects too."""

HAS_OCCASION = re.compile(
    r"['’]s\s+(?:\w+\s+)?(?:\d+(?:th|st|nd|rd)\b|birthday|b-?day|wedding|degree|graduation|christening|baptism|name[\s-]day|house-?warming)\b",
    re.IGNORECASE,
)
DAY = re.compile(
    r"\s+\d{1,2}(?:-го)?\s+(?:ма[яр]|(?:янв|фев|апр|июн|июл|авг|сен|окт|ноя|дек|січ|лют|бер|кві|тра|чер|лип|сер|вер|жов|лис|гру)\w+[аоя])"
)
"""A day after a name that is an ordinary word too: "Лёне 22 февраля стукнет сорок"."""
POSSESSIVE = re.compile(r"\w{2,}(?:[иі]н|їн|[оеєі]в)(?:|а|о|е|ы|у|і|и|ой|ої|ій|ого|ому|ым|им|ою|их|ых|ими|ыми)$")

AND = re.compile(r"\s*(?:,|,?\s(?:и|й|і|та|and|&))\s+")
LONGEST_AND = 10
PRONOUNS: dict[str, Gender | None] = {
    **dict.fromkeys(words("he his его него його нього"), "masc"),
    **dict.fromkeys(words("she her её ее неё нее її неї"), "femn"),
    **dict.fromkeys(words("they their их них їх"), None),
}

HUMAN_VERBS = words(_WORDS["human_verbs"])
"""Verbs of people, which follow an unknown capitalised word at the beginning of a sentence."""

_FIRM: Final = re.compile(
    r"(?:\s*,\s*[^\W\d_]+)*\s*(?:&|\band\b|\bи\b|\bта\b|\bй\b|\bі\b)?\s*(?:(?<=[&d]\s)(?:sons?|daughters?|brothers|partners|associates)"
    r"|bros\.?|co\.|(?<=[&иатйі]\s)(?:сыновья|партнеры|партнёры|компания|сини|партнери|компанія))(?!\w)",
    re.IGNORECASE,
)
_SAINT: Final = re.compile(r"\b(?:st|saint|св|свят[а-яіїє]{1,3})\.?\s+$", re.IGNORECASE)
"""Words before the name of a church, a school or a hospital: "St. Luke's"."""
_LITTLE: Final = re.compile(r"\s+(?P<who>[^\W\d_]+)")


def no_name(text: str, start: int, end: int) -> bool:
    """Whether a possible name is part of a company's ("Hart & Sons") or a saint's, a relative or possessive."""
    follows = _LITTLE.match(text, end)
    little = POSSESSIVE.fullmatch(name_key(text[start:end])) or (
        text[start:end].isascii() and text[start:end].islower()
    )
    who = name_key(follows["who"]) if little and follows is not None else ""
    return (
        _FIRM.match(text, end) is not None
        or _SAINT.search(text, 0, start) is not None
        or who in relations()
        or who in ("bro", "sis")
    )
