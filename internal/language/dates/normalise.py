"""Rewrites the words of dates in three languages in one notation: "в прошлый вторник" is `last weekday1`."""

import re
from collections.abc import Iterable, Mapping, Sequence

from internal.language.text.patterns import pattern
from internal.language.text.tables import table
from internal.text_caches import cached

_TABLE = table(__package__, "normalise")
"""`months`, `weekdays` and `numbers`, and `words` by the symbol that stands for them."""
MONTHS: Sequence[str] = _TABLE["months"]
WEEKDAYS: Sequence[str] = _TABLE["weekdays"]
NUMBERS: dict[int, str] = {int(number): forms for number, forms in _TABLE["numbers"].items()}
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
SPELT_DAYS = [(pattern(shape), number) for shape, number in (*_SPELT, ("тридц[ая]т|thirtieth", 30))]
"""The stems of the days of a month in words."""
SPELT_DAY = "|".join((*(shape for shape, _ in reversed(_SPELT)), "тридц[ая]т|thirtieth"))
_WORDS: Mapping[str, str] = {
    **{f"month{number}": forms for number, forms in enumerate(MONTHS, 1)},
    **{f"weekday{number}": forms for number, forms in enumerate(WEEKDAYS)},
    **{str(number): forms for number, forms in NUMBERS.items()},
    **_TABLE["words"],
}
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
    number = next(number for shape, number in SPELT_DAYS if shape.fullmatch(match["day"]))
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
