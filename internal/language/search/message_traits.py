"""Traits of a message: whether it asks, names a time or a number, and how many names it holds."""

import re
from typing import Final

from internal.kept_texts import kept

ENDS_AS_QUESTION: Final = 1
ASKS: Final = 1 << 1
TIME: Final = 1 << 2
NUMBER: Final = 1 << 3
PICTURE: Final = 1 << 4
WISH: Final = 1 << 5

NAMES_SHIFT: Final = 8
MOST_NAMES: Final = 15

_CACHED_WORDS: Final = 1 << 15
"""Words whose traits are cached: 3 MB at most."""

_MAX_CHARACTERS: Final = 20_000
"""Characters that are read: the traits are those of a message, not of a book."""

_MONTHS: Final = (
    "январ(?:ь|я|е|ю|ем|ск\\w+)|феврал(?:ь|я|е|ю|ем|ьск\\w+)|март(?:а|е|у|ом|овск\\w+)?|апрел(?:ь|я|е|ю|ем|ьск\\w+)"
    "|ма(?:й|я|е|ю|ем|йск\\w+)|июн(?:ь|я|е|ю|ем|ьск\\w+)|июл(?:ь|я|е|ю|ем|ьск\\w+)|август(?:а|е|у|ом|овск\\w+)?"
    "|(?:сентябр|октябр|ноябр|декабр)(?:ь|я|е|ю|ем|ьск\\w+)"
    "|січ(?:ень|ня|ні|ню|нем|нев\\w+)|лют(?:ий|ого|ому|им)|(?:берез|квіт|трав|черв|серп|верес|жовт|груд)(?:ень|ня|ні|ню"
    "|нем|нев\\w+)|лип(?:ень|ня|ні|ню|нем|нев\\w+)|листопад(?:а|і|у|ом|ов\\w+)?"
    "|jan(?:uary)?|feb(?:ruary)?|march|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAYS: Final = (
    "понедельник\\w{0,3}|вторник\\w{0,3}|сред(?:а|у|ы|е|ой)|четверг\\w{0,3}|пятниц\\w{1,3}|суббот\\w{0,3}"
    "|воскресен\\w{2,3}|понеділ\\w{2,3}|вівтор\\w{2,3}|серед(?:а|у|и|і|ою)|четвер\\w{0,3}|п.?ятниц\\w{1,3}"
    "|субот\\w{0,3}|неділ\\w{1,3}|вихідн\\w{1,3}|выходн\\w{1,3}"
    "|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?|weekends?"
)
_SPANS: Final = (
    "минут\\w{0,3}|хвилин\\w{0,3}|час(?:а|ов|у|ам|ами)?|годин\\w{0,3}|день|дня|дне[йм]|дни|дням\\w?|днів|дні|сут(?:ки|ок)"
    "|доб[аиу]|недел[яюиье]\\w{0,2}|тиж(?:день|ня|ні|нів|нем|нях?)|месяц\\w{0,3}|місяц\\w{0,3}|год(?:а|у|ов|ом|ы|ах)?"
    "|лет|летие|рік|рок(?:у|и|ів|ах|ом|ам)|році|полгода|півроку|век[аеу]?|столет\\w+|столітт\\w"
    "|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)"
    "|весн\\w{1,2}|навесні|лето|летом|літ(?:о|ом|ку)|влітку|улітку|осен\\w{1,2}|осін\\w{0,2}|восени|зим(?:а|ы|е|у|ой|и|і|ою)"
    "|взимку|узимку|spring|summer|autumn|winter|утр[аоу]\\w{0,2}|утром|вечер\\w{0,3}|ноч(?:ь|и|ью)|ранк[уо]\\w?|ранок"
    "|вранці|увечері|ввечері|вночі|уночі|вечор\\w{1,3}|morning|afternoon|evening|night|midnight|noon"
)
_POINTS: Final = (
    "сегодня\\w*|сегодняшн\\w+|сьогодн\\w+|вчера\\w*|позавчера\\w*|вчора\\w*|учора\\w*|позавчора\\w*|завтра\\w*"
    "|послезавтра|післязавтра|назад|тому|ago|недавно|нещодавно|скоро|незабаром|давно|раньше|раніше|щойно"
    "|прошл\\w{2,3}|позапрошл\\w{2,3}|минул\\w{1,3}|позамин\\w+|следующ\\w{2,3}|наступн\\w{1,3}|торік|цьогоріч"
    "|today|tonight|yesterday|tomorrow|last|next|recently|lately|soon|just"
)
_NUMBERS: Final = (
    "один|одна|одно|одну|одного|одной|одній|два|две|двух|двум|дві|двох|двоє|двое|три|трех|трёх|трьох|троє|трое"
    "|четыре|четырех|четырёх|чотири|чотирьох|пят(?:ь|и|еро)|п.ят(?:ь|и|еро)|шест(?:ь|и|еро)|шіст\\w{1,4}|семь|семи"
    "|сім|сімох|восемь|восьми|вісім|девят(?:ь|и)|дев.ят(?:ь|и)|десят(?:ь|и|ок|ка)|\\w{2,9}надцат[ьи]|\\w{2,9}надцять"
    "|двадцат[ьи]|двадцять|тридцат[ьи]|тридцять|сорок|сорока|пятьдесят|п.ятдесят|шестьдесят|шістдесят|семьдесят"
    "|сімдесят|восемьдесят|вісімдесят|девяносто|дев.яносто|сто|двести|двісті|триста|тысяч\\w{0,3}|тисяч\\w{0,3}"
    "|миллион\\w{0,3}|мільйон\\w{0,3}|пар[ауы]|дюжин\\w{0,2}|полтор[аы]|півтор[аи]|дважды|двічі|трижды|тричі"
    "|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w{3,6}teen|twenty|thirty|forty|fifty|sixty"
    "|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?|couple|once|twice|thrice|first|second|third|перв\\w{2,3}|втор(?:ой|ая|ую|ого|ое)|трет(?:ий|ья|ью|ьего)"
    "|перш\\w{1,3}|друг(?:ий|а|у|ого|е)|третя|третю|третього"
)
_TIME_WORD = re.compile(rf"(?:{_MONTHS}|{_WEEKDAYS}|{_SPANS}|{_POINTS}|(?:19|20)\d\d)")
_NUMBER_WORD = re.compile(rf"(?:\w*\d\w*|{_NUMBERS})")

_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_QUESTION_END = re.compile(r"\?[)\]}\"'»”’!?.\s\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F]*\Z")
_NAME_INSIDE = re.compile(r"(?<=[\w,;:)\"»”–—-][ \t])[A-ZÀ-ÖØ-ÞА-ЯЁЄІЇҐ][\w'’ʼ]+")
"""A capitalised word after another word, not after the end of a sentence."""

_LONGEST_WISH: Final = 400
"""Characters of a standing wish: a longer text tells of much else."""

_WISH = re.compile(
    r"(?:^|[.!?\n])\W*(?:(?:please|and|so|пожалуйста|и|будь ласка|прошу|і|та)\W+)?(?:"
    r"(?:always|never|every time|each time|whenever|when)\b[^.!?\n]{0,160}?\b(?:when|whenever|if|time)?\s?(?:i|we)"
    r" (?:ask|want|need|talk|mention|say|write|tell|send)\b"
    r"|(?:from now on|in (?:the )?future|henceforth)\b"
    r"|(?:всегда|никогда|каждый раз|когда|если)\b[^.!?\n]{0,160}?\bя (?:\w+ )?"
    r"(?:спро[шс]|спрашив|прошу|пишу|говорю|присылаю|упомин)\w*"
    r"|(?:впредь|отныне|с этого момента|на будущее|в дальнейшем)\b"
    r"|(?:завжди|ніколи|щоразу|кожного разу|коли|якщо)\b[^.!?\n]{0,160}?\bя (?:\w+ )?"
    r"(?:пита|запит|прошу|пишу|кажу|надсилаю|згаду)\w*"
    r"|(?:надалі|відтепер|віднині|на майбутнє)\b)",
    re.IGNORECASE,
)
"""How a standing wish begins: "Always name the source when I ask about history", "Впредь отвечай коротко"."""

_OF_I = frozenset({"I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"})
_MAY = "May"


def traits_of(text: str) -> int:
    """The bits above, without PICTURE; from NAMES_SHIFT on how many capitalised words, at most 15.

    A word at the beginning of a sentence or line is no name by its capital, nor is the English "I". A time is named in
    Russian, Ukrainian or English ("вчора", "two weeks ago", "2021"); a number in digits or words. PICTURE is set by who
    knows of pictures.
    """
    text = text[:_MAX_CHARACTERS]
    found = ASKS if "?" in text else 0
    if found and _QUESTION_END.search(text):
        found |= ENDS_AS_QUESTION
    for word in _WORD.findall(text):
        found |= _of_word(word)
    if len(text) <= _LONGEST_WISH and not found & ENDS_AS_QUESTION and _WISH.search(text):
        found |= WISH
    return found | names_in(text) << NAMES_SHIFT


def names_in(text: str) -> int:
    """How many capitalised words stand inside its sentences: 0 to 15."""
    return min(MOST_NAMES, sum(word not in _OF_I for word in _NAME_INSIDE.findall(text)))


@kept(_CACHED_WORDS)
def _of_word(word: str) -> int:
    folded = word.casefold()
    time = TIME if _TIME_WORD.fullmatch(folded) or word == _MAY else 0  # small, it is a verb
    return time | (NUMBER if _NUMBER_WORD.fullmatch(folded) else 0)
