"""Reads single clauses of the owner: their subject, wish and object."""

import re
from collections.abc import Iterator
from typing import Any, Final

from internal.agents.archivist.offline import memory_patterns as shapes
from internal.agents.archivist.offline.date_phrases import ahead_in, past_in
from internal.agents.archivist.offline.facts import statements
from internal.agents.archivist.offline.people import SentenceReading
from internal.language.search.word_match import WordForms, word_forms
from internal.language.text.morphology import dictionary_languages, dictionary_nominative, parses
from internal.language.text.spelling import Language, name_key, text_language, tokens, words

Item = dict[str, Any]

MOST_WORDS = 14
"""Most words of a goal or a question."""

ASKING = words(
    "стоить стоять ли знать варто быть бути should when where who how much many whether does do did надо нужно нужный"
    " можно треба можна когда где"
)
"""Question words, which an answer does not repeat."""


def by_owner(before: str, said: SentenceReading) -> bool:
    """Whether the words before a verb allow the owner as its subject: none, a date, "after all my wife and I"."""
    clause = re.split(r"[,;:—–]\s*", before)[-1]
    subject = shapes.SUBJECT.search(clause)
    if subject is not None and _opens(subject["behind"]):
        return True
    return _opens(clause) or _opens(_undated(clause, said))


def _opens(text: str) -> bool:
    return all(token.key in shapes.OPENING for token in tokens(text))


def wish_of(wish: re.Match[str], said: SentenceReading) -> str | None:
    """The wish from its verb on, if its fulfilment takes long enough for a goal; a dream may be about anything."""
    before = said.text[: wish.start()]
    if not by_owner(before, said) or shapes.DENIED.search(before):
        return None
    found = tokens(wish["rest"])[: shapes.BETWEEN + 1]
    for token in found:
        needs = shapes.GOAL_VERBS.get(token.key)
        rest = wish["rest"][token.start :]
        if needs is not None:
            behind = rest[len(token.text) :]
            return rest if not needs or re.match(rf"\s+{needs}", behind, re.IGNORECASE) else None
        if _INFINITIVE.fullmatch(token.key):
            return rest if wish["dream"] else None
    return wish["rest"] if wish["dream"] and found and found[0].key.endswith("ing") else None


def goal_status(said: SentenceReading, sentence: str, goal: str, shared: int, words: int) -> str | None:
    """The new state of a known goal; None if the sentence, which shares `shared` of its words, does not change it."""
    if words and shared == words and _is_done(said, sentence, goal):
        return "achieved"
    if words and 2 * shared >= words and shapes.GIVEN_UP.search(sentence):
        return "abandoned"
    return None


def in_present(sentence: str) -> str:
    """A sentence with the base of each English past that no ending shows: "ran" becomes run."""
    return _WORD.sub(lambda word: shapes.IRREGULAR.get(word[0].casefold(), word[0]), sentence)


def _is_done(said: SentenceReading, sentence: str, goal: str) -> bool:
    """Whether the owner himself did the action of the goal's verb, or says that it is done."""
    if shapes.WISHES.search(sentence) or shapes.AIMS.search(sentence) or shapes.GIVEN_UP.search(sentence):
        return False
    done = _done_verb(sentence, goal)
    achieved = shapes.ACHIEVED.search(sentence)
    if done is None and (achieved is None or said.named):
        return False
    before = sentence[: achieved.start() if done is None and achieved is not None else done]
    denied = shapes.NEGATED.search(sentence if done is None else before)
    return denied is None and by_owner(_without_words_of(goal, before), said)


def _done_verb(sentence: str, goal: str) -> int | None:
    """The index of the goal's verb in the past; None if there is none."""
    verb = name_key(goal.partition(" ")[0])
    wanted = _forms(verb)
    for token in tokens(sentence):
        if token.key != verb and (
            shapes.IRREGULAR.get(token.key) == verb
            or (
                _PAST.search(token.key) is not None
                and any(one & other for one in _forms(token.key) for other in wanted)
            )
        ):
            return token.start
    return None


def _without_words_of(goal: str, before: str) -> str:
    """The words before a verb without its object: "the marathon I"."""
    mine = {one for forms in _forms(goal) for one in forms}
    kept = [token.text for token in tokens(before) if not any(mine & forms for forms in _forms(token.key))]
    return " ".join(kept)


def _forms(text: str) -> tuple[frozenset[str], ...]:
    return word_forms(text, light=False).words


def words_shared(mine: WordForms, said: WordForms) -> list[frozenset[str]]:
    """The words that both have, in any form."""
    return [forms for forms in mine.words if any(forms & other for other in said.words)]


_WORD = re.compile(r"[A-Za-z]+")
_PAST = re.compile(r"(?:л|ла|ли|ло|лся|лась|лись|в|вся|лася|лися|ed)$")
THAT = re.compile(r"(?<!\w)(?:что|що|that)\s+$", re.IGNORECASE)
_TOGETHER = re.compile(
    r"^(?:(?:вместе|разом)\s+)?(?:с|со|з|із|зі)\s+(?:[^\W\d_]+\s+)?[^\W\d_]+(?:ой|ей|ою|ею|ом|ем|єм|ём|ами|ями|ым|им|ью)\s+",
    re.IGNORECASE,
)
"""The companion of a decision, named before the action: "решили с женой Олей летом поехать"."""
_INFINITIVE = re.compile(r"[^\W\d_]{2,}(?:ть|ти|чь|ться|тися|тись|чься)$", re.IGNORECASE)


def begins_with_action(text: str, *, that: bool) -> bool:
    """Whether a decision names an action: "решил задачу" does not."""
    found = [token.key for token in tokens(_TOGETHER.sub("", text))]
    if not found or len(found) > 2 * MOST_WORDS:
        return False
    if that or (found[0].isascii() and found[0] not in ("on", "the", "a", "it", "this", "everything", "nothing")):
        return True
    return any(_INFINITIVE.fullmatch(word) for word in found[:3])


def tells_what_is_asked(question: str, said: SentenceReading, sentence: str, decision: Item | None) -> bool:
    """Whether a statement has a time, place, number, person or decision, whichever the question asks for."""
    at, language = said.line.at, text_language(sentence, "ru")
    if shapes.WHEN.search(question):
        return ahead_in(sentence, at, language) is not None or past_in(sentence, at, language, days=True) is not None
    if shapes.WHERE.search(question):
        behind = [token for token in tokens(sentence) if token.capital and not token.opens]
        return any(token.key not in name_key(question) for token in behind)
    if shapes.HOW_MANY.search(question):
        return re.search(r"\d", sentence) is not None
    if shapes.WHO.search(question):
        return bool(said.named)
    return decision is not None and shapes.WHETHER.search(question) is not None


def is_ours(event: re.Match[str], sentence: str, said: SentenceReading) -> bool:
    """Whether an event belongs to the owner's life: his own, or of somebody whom he calls his."""
    before = sentence[: event.start()]
    if shapes.DENIED.search(before):
        return False
    if event["verb"].isascii():
        return re.search(r"(?<![\w-])(?:i|we|my|our)(?!\w)[^,;]*$", before, re.IGNORECASE) is not None
    if shapes.OURS.search(sentence) is not None:
        return True
    # Further on in a message it is unknown whether the subject is still the same: "Недавно купил лодку."
    return said.start == 0 and not said.named and (_opens(before) or _opens(_undated(before, said)))


def is_idle(said: SentenceReading, sentence: str) -> bool:
    """Whether a sentence is a trifle, or states a birth, which is a fact already."""
    born = any(stated.relation.startswith("BORN") for stated in statements(said.text, said.line))
    return born or shapes.TRIFLES.search(sentence) is not None


def _undated(before: str, said: SentenceReading) -> str:
    at, language = said.line.at, text_language(before, "ru")
    phrase = past_in(before, at, language, days=True) or ahead_in(before, at, language)
    return remove_phrase(before, phrase) if phrase else before


def project_of(sentence: str) -> Item | None:
    """The properties of the project that a sentence names; None if it names none."""
    found = shapes.PROJECT.search(sentence)
    if found is None:
        return None
    name = (found["quoted"] or found["named"] or found["before"]).strip()
    status = {"status": "completed"} if shapes.PROJECT_DONE.search(sentence) else {}
    return {"name": name, "type": "project", **status}


def preference(name: str, strength: float) -> Iterator[Item]:
    """The item of a preference, from -1 to 1; nothing if it is not about a thing."""
    if any(map(str.isalpha, name)):
        yield {"label": "Preference", "properties": {"preference": name, "strength": strength}}


_PLAIN = "new|old|first|second"


def thing_after(sentence: str, event: re.Match[str], said: SentenceReading) -> str | None:
    """The thing that was bought, signed or lost: the noun after the verb in its basic form, without adjectives."""
    behind = sentence[event.end() :]
    if event["verb"].isascii():
        found = re.match(
            r"\s+(?:a|an|the|our|my|new|old|first|second)\s+(?:(?:new|old|first|second)\s+)*([a-z]{3,})\b", behind
        )
        return found[1] if found else None
    language, offset = text_language(sentence, "ru"), 0
    for _ in range(_MOST_ADJECTIVES + 1):
        word = re.compile(r"\s+([а-яёіїєґ’']{3,})(?=[\s.,!]|$)").match(behind, offset)
        if word is None or any(
            one.start - said.start <= event.end() + word.start(1) < one.end - said.start for one, _ in said.named
        ):
            return None
        if not _is_adjective(word[1], language):
            return _noun(word[1], language)
        offset = word.end()
    return None


_MOST_ADJECTIVES: Final = 3
"""Most adjectives before a noun: "мою першу нову машину"."""


def _is_adjective(word: str, language: Language) -> bool:
    """Whether a word may be an adjective in the accusative before a noun: "новую", "свій", "пральну".

    The Ukrainian dictionary knows most of them as nouns too.
    """
    possible = dictionary_languages(word)
    readings = [one for one in parses(word, language if language in possible else possible[0]) if one.is_known]
    return any(one.tag.POS in ("ADJF", "PRTF", "NPRO") and one.tag.case == "accs" for one in readings)


def _noun(word: str, language: Language) -> str | None:
    """The nominative of an ordinary noun; None if it is no noun in the language of the sentence or its letters."""
    possible = dictionary_languages(word)
    readings = [one for one in parses(word, language if language in possible else possible[0]) if one.is_known]
    noun = next((one for one in readings if one.tag.POS == "NOUN" and one.tag.case in ("accs", "gent", "nomn")), None)
    return name_key(dictionary_nominative(noun)) if noun is not None and readings[0].tag.POS == "NOUN" else None


def remove_phrase(text: str, phrase: str) -> str:
    """The text without a phrase, in any spelling."""
    shape = r"\W+".join(map(re.escape, re.findall(r"[\w'’.]+", phrase)))
    return " ".join(re.sub(rf"(?<!\w){shape}(?!\w)", " ", text, count=1, flags=re.IGNORECASE).split()).strip(" ,—–-")


def capital(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]
