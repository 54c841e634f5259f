"""The manner of answering that a text speaks of: its language, its length, lists, how it addresses the owner."""

import re
from typing import Final

from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language

_LANGUAGES: Final = {
    "en": r"english|английск\w*|англійськ\w*|по-английски|по-англійськи",
    "uk": r"ukrainian|украинск\w*|українськ\w*|по-украински|по-українськи",
    "ru": r"russian|русск\w*|російськ\w*|по-русски|по-російськи",
    "": r"german|french|spanish|polish|italian|czech|hebrew|немецк\w*|французск\w*|испанск\w*|польск\w*|німецьк\w*"
    r"|французьк\w*|іспанськ\w*|польськ\w*|по-немецки|по-польски|по-німецьки|по-польськи",
}
LANGUAGE: Final = pattern(
    rf"(?<![\w-])(?:{'|'.join(f'(?P<{code or chr(120)}>{words})' for code, words in _LANGUAGES.items())})(?![\w-])"
)

_BOOKS: Final = r"book|schedul|arrang|plan|meeting|брони|бронюй|бронюв|назнач|планир|плануй|призна|став|встреч|зустріч"
_HOUR: Final = (
    r"\s+(?:\w+\s+)?(?:\d|noon|midnight|lunch|dinner|обед|обід|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|полудн|полуноч|півноч|опівн|п'ят|пят|шест|шост|сем|сьом|восьм"
    r"|девят|дев'ят|десят|одиннадц|одинадц|двенадц|дванадц)"
)

_MANNERS: Final = {
    "emoji": r"emoji|smil(?:ey|ies|e face)|emoticon|sticker|[эе]мод[зж]|смайл|стикер|стікер",
    "list": r"bullet|\blists?\b|спис(?:ок|ка|ки|ков|ком|ками|ків|ку)|пункт|тезис|тезам",
    "table": r"\btables?\b|таблиц",
    "heading": r"heading|\bheaders?\b|заголов",
    "markup": r"markdown|plain text|\bbold\b|маркдаун|жирн",
    "length": r"\d+ (?:words|слов|слів)|\bbrief|\bshort|concise|\blong|detail|verbose|wordy|\bsentences?\b"
    r"|кратк|кратч|коротк|короч|подробн|развернут"
    r"|лаконичн|лаконічн|многослов|предложени|стисл|детальн|докладн|розгорнут|речен|длинн|довг",
    "form": r"на (?:ты|вы|ти|ви)\b|тыка|выка|тика|вика|(?:in)?formal|(?:не)?формальн",
    "name": r"\b(?:call(?:ing)?|address(?:ing)?|nam(?:e|ing)) me\b|\bsir\b|ma'am|madam|\bboss\b|(?:зови"
    r"|называ\w+|обраща\w+|звать|зват\w+|клич\w*"
    r"|назива\w+|зверта\w+)(?:ся|сь)? (?:ко мне|меня|мене|до мене)|(?:ко мне|меня|мене|до мене) (?:зови|называ|обраща"
    r"|клич|назива|зверта)|отчеств|по батькові",
    "joke": r"\bjok|humou?r|sarcas|шут|жарт|юмор|гумор|сарка",
    "tone": r"slang|суржик|англ[иі]цизм|polite|friendl|serious|swear|curs(?:e|ing)|warm|вежлив|ввічлив|серьезн|серйозн"
    r"|дружелюб|дружн|ласков|матери"
    r"|матюк|официальн|офіційн|сленг|жаргон",
    "marks": r"exclamation|восклицат|окличн|оклику|капс|\bcaps\b|многоточ|трикрапк|тире\b",
    "units": r"metric|imperial|celsius|fahrenheit|kilomet|\bmiles\b|метрич|цельси|фаренгейт|километр|кілометр"
    r"|милях|милі",
    "money": r"\beuros?\b|dollar|hryvn|евро|євро|доллар|долар|гривн",
    "source": r"\bsources?\b|citation|\bcite|источник|джерел|ссылк|посилан",
    "greeting": r"greet|здорова|приветств|вітай|вітан|привіта",
    "sorry": r"apolog|sorry|извин|вибач",
    "praise": r"praise|compliment|flatter|хвали|комплимент|комплімент|льсти|лести",
    "advice": r"unasked|unsolicited|advice|непрошен|совет|порад",
    "book before": rf"^(?=.*(?:{_BOOKS})).*\b(?:before|earlier than|until|till|раньше|до|раніше)\b{_HOUR}",
    "book after": rf"^(?=.*(?:{_BOOKS})).*\b(?:after|later than|past|после|позже|після|пізніше)\b{_HOUR}",
    "write before": rf"^(?!.*(?:{_BOOKS})).*\b(?:before|earlier than|until|till|раньше|до|раніше)\b{_HOUR}",
    "write after": rf"^(?!.*(?:{_BOOKS})).*\b(?:after|later than|past|после|позже|після|пізніше)\b{_HOUR}",
}
_PATTERNS: Final = {topic: pattern(rf"(?<!\w)(?:{manner})") for topic, manner in _MANNERS.items()}

_TIMES: Final = {
    "weekdays": r"weekdays?|working days|workdays?|будн\w+|рабочи[ем]\w* дн\w+|робоч\w+ дн\w+",
    "weekends": r"weekends?|выходн\w+|вихідн\w+",
    "mornings": r"mornings?|утрам\w*|утром|ранк\w+|зранку|вранці",
    "evenings": r"evenings?|nights?|вечер\w+|вечор\w+|ввечері|ночам\w*|ночью|вночі",
}
_WHEN: Final = {time: pattern(rf"(?<!\w)(?:{times})(?!\w)") for time, times in _TIMES.items()}
_CASES: Final = pattern(
    r"(?<!\w)(?:when(?:ever)?|if|unless|about|in (?:work|business)|for|когда|если|о|об|про|насчет|для|коли|якщо"
    r"|щодо)\s+(?P<what>[^,;.]+)"
)


def topics_of(text: str) -> frozenset[str]:
    """The manners of answering that a folded text names; empty where it names none."""
    found = {topic for topic, manner in _PATTERNS.items() if manner.search(text)}
    if LANGUAGE.search(text):
        found.add("language")
    return frozenset(found - {"name"} if "form" in found else found)


def language_of(text: str) -> Language | None:
    """The language that a folded text asks for, of those that the product speaks."""
    match = LANGUAGE.search(text)
    spoken: tuple[Language, ...] = ("en", "uk", "ru")
    return next((code for code in spoken if match[code]), None) if match else None


def times_of(text: str) -> frozenset[str]:
    """When an instruction is to be followed: weekdays, weekends, mornings, evenings; empty: always."""
    return frozenset(time for time, times in _WHEN.items() if times.search(text))


def condition_of(text: str) -> frozenset[str]:
    """What restricts an instruction: its times, and the stems of "when I ask about money"; empty: nothing."""
    cases = " ".join(match["what"] for match in _CASES.finditer(text))
    return times_of(text) | {word[:4] for word in re.findall(r"\w{4,}", cases)}
