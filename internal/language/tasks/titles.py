"""Titles of tasks: the words of a sentence without its time, its trigger and introductory words."""

import re
from collections.abc import Sequence
from typing import Final

from internal.language.dates.units import Span, blank_out, fold
from internal.language.names.mentions import find_people
from internal.language.tasks.vocabulary import any_of
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.openings import POLITE
from internal.language.text.spelling import Language, name_key, sentence_spans

MAX_LENGTH: Final = 200
"""The most characters of a title."""

_LEADING: Final = re.compile(
    rf"^(?:[\s,.:;!\-]|(?:{POLITE}|мне|мені|нам|меня|мене|me|us|to|that|что|що|чтобы"
    r"|чтоб|щоб"
    r"|о том|про те|about that|ещё|еще|ще|также|також|also|then|потом|потім|и|та|й|and|но|але|but|а|так|ну|ok|okay|ок"
    r"|обязательно|обов'язково|точно|definitely|будет|буде|срочно|терміново|бы|б|би|я|i|for|о|(?:в|у|на|к|до|at|on|by)(?=\s\s|\s*$))"
    r"(?=[\s,.:;!\-]|$))+"
)
_TRAILING: Final = re.compile(
    rf"(?:[\s,.:;!?\-—–()\"']|(?<=\s)(?:{POLITE}|в|во|у|на|о|об|к|до|и|та|й|and|at|on|by"
    r"|the|to|of"
    r"|for|или|або|or|from|с|з|мне|мені|ок|ладно|добре|хорошо|ok|okay|thanks|thank you|спасибо|дякую))+$"
)
"""Marks at the end, one at a time: blanked-out times leave long gaps, on which a repeated group would backtrack."""
_ABOUT: Final = re.compile(r"^(?:about)\s+")
_TO_WHOM: Final = re.compile(r"^([^\W\d_][\w'-]*(?:\s+[^\W\d_][\w'-]*)?)\s+(?=\S)")


def title_of(text: str, spans: Sequence[Span]) -> str:
    """The text without these characters and the words before them, with a capital; empty if nothing is left."""
    folded = fold(text)
    cut = blank_out(text, spans)
    folded = blank_out(folded, spans)
    start = 0
    while match := _LEADING.match(folded[start:]):
        start += match.end()
    end = len(folded)
    while match := _TRAILING.search(folded[start:end]):
        end = start + match.start()
    title = " ".join(cut[start:end].split())
    title = re.sub(r"\s+([,.;:!?])", r"\1", title)
    title = _ABOUT.sub("", title)
    return shortened(title[:1].upper() + title[1:])


def shortened(title: str) -> str:
    """At most MAX_LENGTH characters, cut between words."""
    return title if len(title) <= MAX_LENGTH else title[: MAX_LENGTH - 1].rsplit(" ", 1)[0] + "…"


def addressed(title: str) -> tuple[str, str]:
    """Splits "Анне отправить отчёт" into the title "Отправить отчёт (Анне)" and the person; else the title and ""."""
    words = title.split()
    for count in (1, 2):
        acts = len(words) > count and (infinitive(words[count]) or words[count] == "не")
        if acts and all(dative(word) for word in words[:count]):
            whom = " ".join(words[:count]).strip(",")
            rest = " ".join(words[count:])
            return f"{rest[:1].upper()}{rest[1:]} ({whom})", whom
    return title, ""


def with_meaning(title: str, before: str, text: str, language: Language) -> str:
    """Adds to a title what its pronoun means: the sentence before it, else the only person named in the text."""
    if not _PRONOUN.search(fold(title)):
        return title
    named = {one.name for one in find_people(text, language) if one.written not in title}
    last = before.strip()[sentence_spans(before.strip())[-1][0] :].strip(" .!?") if before.strip() else ""
    meant = last or (named.pop() if len(named) == 1 else "")
    return shortened(f"{title} ({meant})") if meant else title


def own_part(sentence: str, spans: Sequence[Span]) -> tuple[str, str]:
    """The title of what the author is to bring or do as his part, and for whom: "с меня салат"; empty if none."""
    folded = fold(sentence)
    mine = _OWN_PART.match(folded)
    if mine is None or any(map(past_tense, folded.split())):
        return "", ""
    title = title_of(sentence, [(0, mine.end()), *spans])
    return title, next(filter(dative, title.split()), "")


_OWN_PART: Final = re.compile(
    r"(?:\W*(?:и|а|і|й|та|ну|так|значит|отже|тепер|теперь)\s)*\W*(?:с меня|з мене)\s+(?=[а-яіїєґ])"
)
_PRONOUN: Final = re.compile(
    r"\b(?:it|him|her|them|его|ему|её|ее|ей|их|им|него|нее|неё|ним|ней|нему|його|йому|її|їй|їх|їм|нього|неї|нею|ньому)\b"
)


def debt(text: str) -> str:
    """The thing that is owed or lent, without words about giving it back."""
    return _GIVEN_BACK.sub("", text)


_GIVEN_BACK: Final = re.compile(
    rf"(?<=\S)[\s,;(—–]+(?:\w+\s+){{0,2}}?(?:(?:i|he|she|they)(?:'?ll|'?d|\s+will)|{any_of('vowed')}|{any_of('given_back')}).*",
    re.IGNORECASE,
)


def infinitive(word: str) -> bool:
    """Whether a Cyrillic word is an infinitive, in either language."""
    key = _key(word)
    if not key.endswith(("ть", "ти", "чь", "ться", "тись", "тися", "чься", "йти")):
        return False
    return any(_INFINITIVE & marks or ("VERB" in marks and normal == key) for marks, normal in _readings(key))


def dative(word: str) -> bool:
    """Whether a Cyrillic word names somebody in the dative."""
    return any("datv" in marks and marks & _SOMEBODY for marks, _ in _readings(_key(word)))


def as_infinitive(word: str) -> str | None:
    """The infinitive of a Cyrillic verb in the first person of the future (позвоню, подзвоню); None for other words."""
    for marks, normal in _readings(_key(word)):
        if {"VERB", "1per", "sing"} <= marks and marks & {"futr", "perf"}:
            return normal
    return None


def of_the_author(word: str) -> str | None:
    """The infinitive of a Cyrillic verb in the first person: "звоню"; None for other words."""
    return next((normal for marks, normal in _readings(_key(word))[:2] if {"VERB", "1per"} <= marks), None)


def past_tense(word: str) -> bool:
    """Whether a Cyrillic word is most likely a verb in the past tense."""
    return any("past" in marks and "VERB" in marks for marks, _ in _readings(_key(word))[:2])


def of_others(word: str) -> bool:
    """Whether a Cyrillic word is most likely a verb of the third person."""
    return any({"VERB", "3per"} <= marks for marks, _ in _readings(_key(word))[:1])


def nominative_person(word: str) -> bool:
    """Whether a Cyrillic word names a person as a subject, and cannot be the object."""
    readings = [marks for marks, _ in _readings(_key(word))]
    people = [marks for marks in readings if marks & {"anim", "Name", "Surn"}]
    if not people or len(word) < 2 or any("VERB" in marks for marks in readings):
        return False  # the dictionary treats a preposition as an initial
    return "nomn" in people[0] and not any("datv" in marks and "Fixd" not in marks for marks in people)


_INFINITIVE: Final = frozenset({"INFN", "infn", "Infr", "inf"})
_SOMEBODY: Final = frozenset({"anim", "Name", "Surn", "NPRO"})


def _key(word: str) -> str:
    return name_key(word.strip(',.!?;:()"«»'))


def _readings(key: str) -> list[tuple[frozenset[str], str]]:
    """The possible grammemes and dictionary forms of a word, likeliest first, in both languages.

    The two dictionaries have different grammemes, and pymorphy3 raises an error for an unknown one.
    """
    found = [parse for language in dictionary_languages(key) if language != "en" for parse in parses(key, language)]
    known = [parse for parse in found if parse.is_known]  # for a word of the other language it only guesses
    return [(parse.tag.grammemes, str(parse.normal_form)) for parse in known or found]
