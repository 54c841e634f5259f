"""Being in touch: wanted ("call grandma every week"), told ("saw Tom yesterday"), and what others promise.

All by classes of verbs, in three languages.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from internal.language.dates.units import fold
from internal.language.names.kinship import relations
from internal.language.names.mentions import find_people
from internal.language.names.person_names import mentions
from internal.language.tasks.times import TimeFound, find_time
from internal.language.text.morphology import parses
from internal.language.text.patterns import pattern
from internal.language.text.spelling import Language, sentences, tokens

_WANTED: Final = pattern(
    r"\s*(?:to\s+)?(?:call|phone|ring|text|write|message|see|meet|visit|keep in touch|stay in touch|catch up"
    r"|talk|email"
    r"|check in|facetime|звонить|позвонить|созваниваться|писать|написать|видеть\w*|встреча\w+|навещать"
    r"|навестить|проведать"
    r"|общаться|держать связь|связ\w+|дзвонити|подзвонити|телефонувати|зателефонувати|зідзвонюватися|писати|написати"
    r"|бачити\w*|зустріча\w+|провідувати|відвідувати|спілкуватися|тримати зв'язок)\b"
)
_TOLD: Final = pattern(
    r"\b(?:(?<!to )(?:saw|seen|met|called|phoned|rang|texted|visited|talked|spoke|chatted|facetimed|emailed"
    r"|caught up|hung out"
    r"|(?:had|having) (?:lunch|dinner|coffee|breakfast|a (?:call|chat|beer|drink))(?: with)?|(?:was|were"
    r"|been) (?:at|to|over)|wrote|stopped by|dropped by)"
    r"|(?:по|со|пере)?звонил[аи]?|созвони\w+|(?:у|по)?виде(?:л[аи]?|лся|лась|лись)|встрети\w+|встречал\w*"
    r"|пообща\w+|общал\w+"
    r"|(?:по)?говорил[аи]?|поболта\w+|болтал\w*|(?:на)?писал[аи]?|спис(?:ал|ыва)\w+|навести\w+|заходил[аи]?"
    r"|зашл[аи]|заш[её]л|(?:по)?обедал\w*"
    r"|поужинал\w*|ужинал\w*|пили|гулял\w*|погулял\w*|ездил\w* к|были у|был у|была у|приезжал\w*|приехал\w* к"
    r"|приходил\w*"
    r"|(?:по|за)?(?:дзвони|телефонува)(?:в|ла|ли)|зідзвони\w+|(?:по)?бачи(?:в|ла|ли|вся|лася|лися|лись)"
    r"|зустрі(?:в|ла|ли)\w*"
    r"|поспілкува\w+|спілкува\w+|(?:по)?говори(?:в|ла|ли)|розмовля(?:в|ла|ли)|відвіда(?:в|ла|ли)|заходи(?:в|ла|ли)"
    r"|зайш(?:ов|ла|ли)|обіда(?:в|ла|ли)|вечеря(?:в|ла|ли)|гуля(?:в|ла|ли)|був у|була у|були у|приїжджа\w+"
    r"|приїха\w+ до)\b"
)
_NOT_TOLD: Final = pattern(
    r"\b(?:не|ни разу|нет|давно|так и не|ні разу|not|never|haven'?t|hasn'?t|didn'?t|long time|ages|should have|wish"
    r"|надо было|треба було|хотел\w*|хоті\w+|wanted to|dream\w*|приснил\w*|сон|сні|фильм\w*|movie)\b"
)
_DEEDS: Final = pattern(
    r"\b(?:send|bring|give|return|pay|call|write|check|fix|help|prepare|share|show|find|book|order|forward|email|text"
    r"|transfer|sign|review|lend|deliver|pick|drop|translate|get back|let me know|look)\b"
    r"|\b(?:при|пере|вы|от|под|на|за|с|по)?(?:шл|слат|сла|скин|кин|прав|вез|вест|нес|нест|да[мсдтш]|отда|верн"
    r"|плат|вед|вест|звон|пиш|писа"
    r"|вер[ия]|чин|мож|мог|готов|каж|каза|найд|найт|брон|заказ|закаж|дел|крас|узна|уточн|смотр)\w*"
    r"|\b(?:наді|при|пере|ві)?(?:шл|сл|скин|прав|вез|нес|дас|дат|верн|плат|телефон|дзвон|пиш|пис|вір|лагод|може"
    r"|могт|готу|каж|каз|найд"
    r"|зна|замов|пидпиш|підпиш|зроб)\w*"
)
_PROMISED: Final = pattern(
    r"\s*(?:(?:has\s+|had\s+)?promised(?:\s+me)?(?:\s+(?:to|that\s+\w+(?:'ll|\s+will))\s+|\s+)"
    r"|(?:по)?обеща\w+(?:\s+(?:мне|нам))?\s*,?\s*(?:что\s+)?|(?:по)?обіця\w+(?:\s+(?:мені|нам))?\s*,?\s*(?:що\s+)?"
    r"|(?P<will>(?:will|'ll|is going to|'s going to)\s+)|(?:agreed|offered) to\s+|сказал[аи]?,?\s+что\s+"
    r"|сказа(?:в|ла),?\s+що\s+"
    r"|said (?:she|he|they)(?:'ll| will)\s+|(?P<bare>(?:завтра|сегодня|скоро|в \w+|сьогодні|у \w+|до \w+)?\s*))"
)
_DOUBTED: Final = pattern(r"\?|\b(?:if|если|якщо|maybe|может|можливо|не|won't|not|never|probably|надеюсь|hope)\b")


@dataclass(frozen=True, slots=True)
class Promised:
    """What somebody else said he would do: whose name as written in the basic form, what, and by when."""

    who: str
    what: str
    time: TimeFound | None


def wants_contact(title: str) -> bool:
    """Whether a task's title is to be in touch with somebody; loads no dictionary."""
    return _WANTED.match(fold(title)) is not None


def contact_verb(text: str) -> re.Match[str] | None:
    """The first word by which a text tells of having been in touch."""
    return _TOLD.search(fold(text))


def contacts_told(lines: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """For each line the people with whom its author says to have been in touch; a mere mention is none."""
    return [_told(line, names) for line in lines]


def named_in(titles: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """For each title the people whom it names."""
    return [set(mentions(title, names)) for title in titles]


def find_promised(text: str, at: datetime, language: Language) -> list[Promised]:
    """What others said they would do, said at `at` (aware, in the owner's zone)."""
    found = []
    for start, end in sentences(text):
        sentence = text[start:end].rstrip()
        folded = fold(sentence)
        if _DOUBTED.search(folded) or not _DEEDS.search(folded):
            continue
        for place, name in _subjects(sentence, language)[:1]:
            match = _PROMISED.match(folded, place)
            if match is None:
                continue
            what = sentence[match.end() :]
            time = find_time(sentence[place:], at, language)
            if _DEEDS.match(fold(what).lstrip()) and (match["bare"] is None or _will(what, language)):
                found.append(Promised(name, _without(what, sentence, place, time), time))
    return found


def _told(line: str, names: Mapping[int, Sequence[str]]) -> set[int]:
    found: set[int] = set()
    for start, end in sentences(line):
        folded = fold(line[start:end])
        if _TOLD.search(folded) and not _NOT_TOLD.search(folded) and not folded.rstrip().endswith("?"):
            found |= set(mentions(line[start:end], names))
    return found


def _subjects(sentence: str, language: Language) -> list[tuple[int, str]]:
    """The people named as subjects, with the place behind each."""
    named = [(one.end, one.name) for one in find_people(sentence, language) if one.written == one.name]
    for token in tokens(sentence):
        kin = next((one for one in relations().get(token.key, ()) if not one.plural), None)
        if kin is not None and token.key == fold(kin.word) and not any(end >= token.end for end, _ in named):
            named.append((token.end, token.text.capitalize()))
    return sorted(named)


def _will(what: str, language: Language) -> bool:
    """Whether a verb is a future of the third person, as a promise has it: "пришлёт"."""
    word = next((token.key for token in tokens(what)), "")
    return language != "en" and any({"3per", "futr"} <= set(one.tag.grammemes) for one in parses(word, language))


def _without(what: str, sentence: str, place: int, time: TimeFound | None) -> str:
    """The words of a promise without its time."""
    kept = what
    for start, end in time.spans if time is not None else ():
        kept = kept.replace(sentence[place + start : place + end], " ")
    return " ".join(kept.split()).strip(" ,.!")
