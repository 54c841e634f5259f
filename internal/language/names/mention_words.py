"""Words around a name that show what it is: a person, a street, a work of art, a company, somebody's relative."""

import re
from typing import Final

from internal.language.kinship.words import relations
from internal.language.names.given_names import given_names
from internal.language.text.morphology import Gender, name_readings, ordinary, parses
from internal.language.text.spelling import Language, Token, name_key, words
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

APPOSITION = re.compile(
    r"\s*(?:[,(—–]|-\s|(?:is|was|'s|это|эта|этот|це|то|ведь|тоже)\b)\s*"
    r"(?:(?:is|was|это|це|он|она|він|вона|he|she|то)(?:'s)?\b)?"
)
WORK = re.compile(
    r"работа(?:ю|ем|ем вместе|ла|л|ет со мной) (?:с|со|вместе)\b|вместе (?:работа|делаем)|работа\w+ вместе|моей команде"
    r"|нашей команде|працю(?:ю|ємо) (?:з|із|разом)|разом (?:\S+ ){0,4}працю|моїй команді|нашій команді"
    r"|\bworks? with\b|\bworking with\b|\b(?:my|our) team\b",
    re.IGNORECASE,
)
FRIENDLY = re.compile(r"\bдруж(?:у|им|имо|ит|ить)\b|учились вместе|вчилися разом|grew up with|hang out", re.IGNORECASE)
NAMING = words("зовут звать звали зовуть звати звали називають named called is")
NOT_BETWEEN = words(
    "и а но или та але чи of and or but до к ко от від из із з с со у в во для from to with at in for by on"
)
"""Words that another person follows: "записав батька до кардіолога Олега Романюка"."""
THEIRS = words("his her their its your his его её ее их его твой твоя твои його її їх їхній їхня їхні твій твоя твої")
REFLEXIVE = words(
    "свой своя своё свое свои своего своей своему своим свою своих свій своє свої свого своєї своєму своїм своїй своєю"
)
"""Words for the subject's own: "Назар поїхав до своєї мами"."""
HAS = words("has have had")
WITH = words("с со з із зі with")
BEHIND = words("с со з із зі к ко у от до від для with to from by for")
"""Prepositions after which a role may be that of the subject: "Катя пошла к врачу Петрову"."""
BORE = words("родила родили родил народила народили народив")
I_OR_WE = words("я мы ми i we")
SPEAKER = I_OR_WE | words("мне мені нам меня мене нас мной мною нами me us")
DASHES = {"—", "–", "-"}
SET_OFF = {",", ":", "(", *DASHES}
_OWNED: Final = re.compile(r"(?P<stem>\w{2,})(?:ин|ін|їн)(?:а|о|е|ы|у|і|и|ой|ої|ій|ою|ого|ому|ым|им)?")
CLOSING = ",.;:!?…)—–"
"""Marks after a name that is set off from the words before it."""

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
_DAY_NAME: Final = re.compile(
    r"\b(?:year|christmas|easter|hallow\w*|midsummer)(?:['’]?s)?\s+eve(?!\w)"
    r"|(?=(?-i:\w+['’]s Day|May Day)(?! off|\w))|(?=[иі]ван[ау]? купал)"
    r"|(?=\w+[иії]н(?:а|у|ого|ому|ым|ом)? (?:день|дня|дню|дн[её]м)(?!\w| рожд| народж| ангел| им[её]н| імен))",
    re.IGNORECASE,
)
"""The name of a day, or its beginning: "New Year's Eve", "Valentine's Day", "Татьянин день", but no birthday."""
_LONGEST_DAY: Final = 20
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
        or any(
            one.end() in (start, end)
            for one in _DAY_NAME.finditer(text, max(0, start - _LONGEST_DAY), end + _LONGEST_DAY)
        )
        or who in relations()
        or who in ("bro", "sis")
    )


def possessor_named(key: str) -> str:
    """The name in a possessive adjective: Оля of "олин"; else an empty text. Those in -ов are surnames."""
    found = None if ordinary(key) or given_names(key) else _OWNED.fullmatch(key)
    bases = [found["stem"] + ending for ending in "ая"] if found else []
    return next((one.spelling for base in bases for one in given_names(base) if not one.declined), "")


def is_noun(token: Token) -> bool:
    """Whether a word is more likely a noun than any other part of speech."""
    found = next((parse for language in SLAVIC for parse in parses(token.key, language) if parse.is_known), None)
    return found is not None and "NOUN" in found.tag.grammemes


def known_surname(token: Token) -> bool:
    return any(reading.kind == "surname" and reading.known for reading in name_readings(token.text))


def surname(token: Token) -> bool:
    if known_surname(token):
        return True
    return (
        bool(SURNAME_SHAPE.search(token.key)) and len(token.key) > 4 and not ordinary(token.key) and not is_place(token)
    )


def is_place(token: Token) -> bool:
    if CITIES.match(token.key):
        return True
    return not given_names(token.text) and any(
        parse.is_known and "Geox" in parse.tag.grammemes for language in SLAVIC for parse in parses(token.key, language)
    )
