"""Rewrites the words of dates in three languages in one notation: "в прошлый вторник" is `last weekday1`."""

import re
from collections.abc import Iterable

from internal.language.text.patterns import pattern
from internal.language.text.tables import table
from internal.text_caches import cached

MONTHS = (
    "январ(?:ь|я|е|ю|ем|ский)|янв|січ(?:ень|ня|ні|ню|нем)|jan(?:uary)?",
    "феврал(?:ь|я|е|ю|ем)|фев|лют(?:ий|ого|ому|им)|feb(?:ruary)?",
    "март(?:а|е|у|ом)?|мар|берез(?:ень|ня|ні|ню|нем)|mar(?:ch)?",
    "апрел(?:ь|я|е|ю|ем)|апр|квіт(?:ень|ня|ні|ню|нем)|apr(?:il)?",
    "ма(?:й|я|е|ю|ем)|трав(?:ень|ня|ні|ню|нем)|may",
    "июн(?:ь|я|е|ю|ем)|черв(?:ень|ня|ні|ню|нем)|june?",
    "июл(?:ь|я|е|ю|ем)|лип(?:ень|ня|ні|ню|нем)|july?",
    "август(?:а|е|у|ом)?|авг|серп(?:ень|ня|ні|ню|нем)|aug(?:ust)?",
    "сентябр(?:ь|я|е|ю|ем)|сент?|верес(?:ень|ня|ні|ню|нем)|sept?(?:ember)?",
    "октябр(?:ь|я|е|ю|ем)|окт|жовт(?:ень|ня|ні|ню|нем)|oct(?:ober)?",
    "ноябр(?:ь|я|е|ю|ем)|ноя|листопад(?:а|і|у|ом)?|nov(?:ember)?",
    "декабр(?:ь|я|е|ю|ем)|дек|груд(?:ень|ня|ні|ню|нем)|dec(?:ember)?",
)
WEEKDAYS = (
    "понедельник(?:а|у|ом|е)?|понеділ(?:ок|ка|ку|ком)|пн|пнд|mon(?:day)?",
    "вторник(?:а|у|ом|е)?|вівтор(?:ок|ка|ку|ком)|втр?|tue(?:s|sday)?",
    "сред(?:а|у|ы|е|ой)|серед(?:а|у|и|і|ою)|ср|срд|wed(?:s|nesday)?",
    "четверг(?:а|у|ом|е)?|четвер(?:га|гу|гом)?|чтв?|thu(?:rs|rsday)?",
    "пятниц(?:а|у|ы|е|ей)|п'ятниц(?:я|ю|і|ею)|пт|птн|птн?ц|fri(?:day)?",
    "суббот(?:а|у|ы|е|ой)|субот(?:а|у|и|і|ою)|сб|сбт|sat(?:urday)?",
    "воскресен(?:ье|ья|ью|ьем)|неділ(?:я|ю|і|ею)|вс|вск|вскр|нд|ндл|sun(?:day)?",
)
NUMBERS = {
    1: "один|одна|одну|одного|одной|one|an?",
    2: "два|две|двух|дві|двох|two|пар[ауы]|пари|couple",
    3: "три|трех|трьох|three",
    4: "четыре|четырех|чотири|чотирьох|four",
    5: "пять|пяти|п'ять|п'яти|five",
    6: "шесть|шести|шість|шести|six",
    7: "семь|семи|сім|семи|seven",
    8: "восемь|восьми|вісім|восьми|eight",
    9: "девять|девяти|дев'ять|дев'яти|nine",
    10: "десять|десяти|ten|десяток|десятка",
    11: "одиннадцать|одинадцять|eleven",
    12: "двенадцать|дванадцять|twelve",
    15: "пятнадцать|п'ятнадцять|fifteen",
    20: "двадцать|двадцять|twenty",
    30: "тридцать|тридцять|thirty",
}
_ORDINALS: list[str] = table(__package__, "ordinals")
_TENS_SPELT = {"двадцать|двадцять|twenty": 20, "тридцать|тридцять|thirty": 30, "": 0}
_SPELT = [
    (rf"{tens}[ -]{unit}" if ten else unit, ten + number)
    for tens, ten in ((f"(?:{forms})", ten) for forms, ten in _TENS_SPELT.items())
    for number, unit in enumerate((f"(?:{forms})" for forms in _ORDINALS[: 9 if ten else None]), 1)
]
_MONTH = "|".join(MONTHS)
_SPELT_DAY = pattern(
    rf"(?P<month>\b(?!may\b)(?:{_MONTH})\s+(?:the\s+)?)?"
    rf"\b(?P<day>{'|'.join(shape for shape, _ in _SPELT)}|тридц[ая]т|thirtieth)(?:[ыиоье][а-яіїє]{{0,3}})?\b"
    rf"(?(month)|(?=\s+(?:of\s+)?(?:{_MONTH}|числ[ао])\b))"
)
_SPELT_DAYS = [(pattern(shape), number) for shape, number in (*_SPELT, ("тридц[ая]т|thirtieth", 30))]
_WORDS = {
    **{f"month{number}": forms for number, forms in enumerate(MONTHS, 1)},
    **{f"weekday{number}": forms for number, forms in enumerate(WEEKDAYS)},
    **{str(number): forms for number, forms in NUMBERS.items()},
    "1.5": "полтор[аы]|півтора|півтори",
    "6 month": "полгода|півроку|полугода",
    "minute": "минут[ауы]?|хвилин[ауи]?|min(?:ute)?s?",
    "hour": "час(?:а|ов)?|годин[ауи]?|hours?",
    "day": "день|дня|дней|дни|днів|дні|сутки|суток|добу|days?",
    "week": "недел[яюиье]|недель|неделей|тиж(?:день|ня|ні|нів|нем)|weeks?",
    "month": "месяц(?:а|ев|е|ы|ем)?|місяц(?:ь|я|і|ів|ю|ем)|months?",
    "year": "год(?:а|у|ов|ом|ах)?|лет|г|гг|р|рр|рік|рок(?:у|и|ів|ах|ом)|році|years?",
    "decade": "десятилети[еяй]|десятиліт(?:тя|ь|ті)|decades?",
    "spring": "весн(?:а|ы|е|у|ой|и|і|ою)|навесні|spring",
    "summer": "лет(?:о|ом|а|е|у)|літ(?:о|ом|а|і|ку)|влітку|улітку|summer",
    "autumn": "осен(?:ь|и|ью)|осін(?:ь|ню)|осені|восени|autumn|fall",
    "winter": "зим(?:а|ы|е|у|ой|и|і|ою)|взимку|узимку|winter",
    "last": "прошл\\w{2,3}|предыдущ\\w{2,3}|последн\\w{2,3}|минул\\w{1,3}|попередн\\w{2,4}|останн\\w{2,4}|last|previous"
    "|past",
    "beforelast": "позапрошл\\w{2,3}|позамин\\w{3,6}",
    "next": "следующ\\w{2,3}|будущ\\w{2,3}|ближайш\\w{2,3}|наступн\\w{1,3}|майбутн\\w{2,4}|найближч\\w{1,3}|next|coming"
    "|upcoming",
    "this": "эт(?:от|ой|ом|ого|у|о|а|им)|це[йю]?|ця|цього|цьому|цієї|цій|цю|цим|цією|this|current|текущ\\w{2,3}"
    "|нынешн\\w{2,3}|поточн\\w{1,3}|нинішн\\w{2,4}",
    "last year": "торік|торішн\\w{2,4}|прошлогодн\\w{2,3}",
    "beforelast year": "позаторік|позаторішн\\w{2,4}",
    "this year": "цьогоріч|цьогорічн\\w{1,3}",
    "day+0": "сегодня|сегодняшн\\w{2,4}|сьогодні|сьогоднішн\\w{2,4}|today|tonight",
    "day-1": "вчера|вчерашн\\w{2,4}|вчора|учора|[ву]чорашн\\w{2,4}|yesterday",
    "day-2": "позавчера|позавчерашн\\w{2,4}|позавчора|позавчорашн\\w{2,4}",
    "day-3": "позапозавчера|позапозавчора",
    "day+1": "завтра|завтрашн\\w{2,4}|tomorrow",
    "day+2": "послезавтра|післязавтра",
    "now": "сейчас|теперь|now|currently|nowadays|presently|зараз|тепер|щойно",
    "ago": "назад|тому|ago",
    "ahead": "через|within",
    "in": "in",
    "part": "утр(?:ом|а|у|о)|вечер(?:ом|а|у)?|ноч(?:ью|и|ь)|днем|ранк(?:у|ом)|вранці|уранці|ввечері|увечері"
    "|вечор(?:а|ом)|ніч|ночі|вночі|уночі|вдень|удень|morning|afternoon|evening|night",
    "90 decade": "девяност(?:ые|ых)|дев'яност(?:і|их)|nineties",
    "80 decade": "восьмидесят(?:ые|ых)|вісімдесят(?:і|их)|eighties",
    "2000 decade": "нулев(?:ые|ых)|нульов(?:і|их)",
    "": "в|во|у|с|со|з|із|зі|на|от|від|к|ко|до|since|from|on|at|the|of|about|around|approximately|circa|until|till|by"
    "|early|late|mid|beginning|start|end|middle|начал[оае]|конц[ае]|конец|середин[аеуіи]|початок|початку|кінець|кінця"
    "|кінці|наприкінці|числ[оае]|около|примерно|где-то|приблизно|близько|десь|десь-то|it|was|same|самом|самого|ещё|еще"
    "|ще|только|as|back|ету|right|just",
}  # fmt: skip
_UNITS = "minute|hour|day|week|month|year|decade"
_SHAPES = [(pattern(forms), symbol) for symbol, forms in _WORDS.items()]
_ANY_SHAPE = pattern("|".join(_WORDS.values()))

_PHRASES = [
    (pattern(shape), words)
    for shape, words in (
        (r"\bday before yesterday\b", "позавчера"),
        (r"\bday after tomorrow\b", "послезавтра"),
        (r"\b(week|month|year|summer|winter) before last\b", r"позапрошлый \1"),
        (r"\bhalf a year\b|\bпів року\b|\bпол года\b|\bhalf year\b", "полгода"),
        (r"\b(?:a )?(week|month|year) and a half\b", r"полтора \1"),
        (r"\bтолько что\b|\bjust now\b|\bright now\b|\bat the moment\b", "сейчас"),
        (r"\bpart of\b", ""),
    )
]
_NUMBER = pattern(r"'?(\d{1,4})(?:-?(?:й|ый|го|ого|м|ом|му|ому|ій|і|ого|г|р|рік|st|nd|rd|th))?")
_TENS = pattern(r"'?(\d{2}|\d{3}0)(?:-?(?:х|е|ые|ых|ті|тих|і|их)|'?s)")
_BETWEEN_WORDS = pattern(r"[\s,;()]+|(?<=\D)\.|\.(?=\s|$)")

_REWRITES = [
    (pattern(shape), words)
    for shape, words in (
        (r"\bin (\d{1,3}(?:\.5)?) (minute|hour|day|week|month|year)$", r"ahead \1 \2"),
        (r"\bin ", ""),
        (r"\bin$", ""),
        (r"^last part$", "day-1"),
        (r"^this part$", "day+0"),
        (r"^(.+) part$", r"\1"),
        (r"^part (.+)$", r"\1"),
        (r"(day[+-]\d) day\b", r"\1"),
        (r"decade year", "decade"),
        (r"\b(\d{4}) year\b", r"\1"),
        (r"\b1 (\d+(?:\.5)? (?:" + _UNITS + r"))", r"\1"),
        (r"^(last|this|next|beforelast) year (month\d+|spring|summer|autumn|winter)$", r"\2 \1 year"),
        (r"^1 (last|this|next|beforelast)\b", r"\1"),
        (r"^(" + _UNITS + r") (\d+) ago$", r"\2 \1 ago"),
        (r"^(" + _UNITS + r") ago$", r"1 \1 ago"),
        (r"^ahead (" + _UNITS + r")$", r"ahead 1 \1"),
        (r"^(month\d+) (\d{1,2})( \d{4})?$", r"\2 \1\3"),
        (r"^(weekday\d) (last|this|next|beforelast)$", r"\2 \1"),
        (r"^(?:weekday\d )(\d{1,2} month\d+.*)$", r"\1"),
    )
]
"""Rewrites, each applied once in this order."""


def days_in_digits(folded: str) -> str:
    """The folded text with spelt-out days of months in digits; all other characters keep their positions."""
    return _SPELT_DAY.sub(_day_in_digits, folded)


def _day_in_digits(match: re.Match[str]) -> str:
    number = next(number for shape, number in _SPELT_DAYS if shape.fullmatch(match["day"]))
    month = match["month"] or ""
    return month + str(number).rjust(len(match[0]) - len(month))


@cached(4_000)
def canonical(text: str) -> str | None:
    """The phrase (folded by `name_key`) in the notation of the rules; None if it contains any other word."""
    for shape, words in _PHRASES:
        text = shape.sub(words, text)
    text = days_in_digits(text)
    symbols = list[str]()
    for word in filter(None, _BETWEEN_WORDS.split(text)):
        if (symbol := _symbol(word)) is None:  # true for nearly every part of a sentence
            return None
        symbols.append(symbol)
    return _rewrite(filter(None, symbols))


def _rewrite(symbols: Iterable[str]) -> str | None:
    words = " ".join(symbols)
    for shape, replacement in _REWRITES:
        words = shape.sub(replacement, words)
    return words or None


@cached(2_000)
def _symbol(word: str) -> str | None:
    """The word's symbol, empty for a word without effect, None for a word that does not belong to dates."""
    if match := _TENS.fullmatch(word):
        return f"{match[1]} decade" if int(match[1]) % 10 == 0 and int(match[1]) >= 20 else match[1]
    if match := _NUMBER.fullmatch(word):
        return match[1]
    if not _ANY_SHAPE.fullmatch(word):
        return None
    return next((symbol for shape, symbol in _SHAPES if shape.fullmatch(word)), None)
