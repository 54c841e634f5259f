"""Memories that a sentence of the owner's states beyond doubt, by rules: goals, decisions, questions, tastes, events.

As with facts: what is not found costs little, what is made up is believed for years. Nothing is summed up; what is kept
are the owner's own words, cut where the clause ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from internal.agents.archivist import memory_shapes as shapes
from internal.agents.archivist.dossiers import Dossier, Said
from internal.agents.archivist.quotes import asks, cleaned
from internal.agents.archivist.statements import Statement, quoted, statements
from internal.agents.archivist.when import ahead_in, past_in
from internal.language.entity_names import basic_form
from internal.language.morphology import dictionary_nominative, parses
from internal.language.same_words import WordForms, word_forms
from internal.language.spelling import Language, name_key, text_language, tokens, words
from internal.memory.model import KnownMemory

Item = dict[str, Any]

_MOST_WORDS = 14
"""Of a goal or a question; more is a story."""


@dataclass(slots=True)
class Remembering:
    """Reads sentence after sentence; `items` are in the contract's format, `called` names a person as facts do."""

    known: Sequence[KnownMemory]
    called: Callable[[Dossier], str]
    means_a_person: Callable[[Statement, Said], bool]
    items: list[Item] = field(default_factory=list)
    _decided: Item | None = None

    def read(self, said: Said) -> None:
        """Takes in one sentence of the owner's."""
        sentence = said.text.strip()
        if quoted(sentence) or len(sentence) < 5:
            return
        told = [*self._question(said, sentence)]
        if not told and not asks(sentence) and not shapes.UNSURE.search(sentence):
            told = [*self._stated(said, sentence)]
        for item in told:
            item["evidence"] = [said.line.number]
            if item not in self.items:
                self.items.append(item)

    def _stated(self, said: Said, sentence: str) -> Iterator[Item]:
        settled = list(self._settled(sentence))
        yield from settled
        goal = self._goal(said, sentence)
        if goal is not None and not settled:
            yield goal
        decision = self._decision(said, sentence) if goal is None else None
        if decision is not None:
            yield decision
        yield from self._preferences(said)
        memory = self._memory(said, sentence, decision) if not settled and goal is None else None
        if memory is not None:
            yield memory
        elif decision is None:
            yield from self._project(sentence)
        self._decided = decision

    # --- What is known and changes

    def _settled(self, sentence: str) -> Iterator[Item]:
        """Known goals that are reached or given up, known decisions of which the outcome is told."""
        said = word_forms(sentence, light=False)
        for known in self.known:
            mine = word_forms(known.text, light=True)
            shared = _shared(mine, said)
            if known.label == "Goal" and known.status in (None, "active"):
                status = _goal_status(sentence, known.text, len(shared), len(mine.words))
                if status:
                    yield {"id": known.handle, "properties": {"status": status}}
            elif known.label == "Decision" and shapes.OUTCOME.search(sentence) and 2 * len(shared) > len(mine.words):
                yield {"id": known.handle, "properties": {"outcome": cleaned(sentence)}}

    # --- Goals

    def _goal(self, said: Said, sentence: str) -> Item | None:
        aim = shapes.AIMS.search(sentence)
        wanted: str | None
        if aim is not None and _by_owner(sentence[: aim.start()], said):
            wanted, first = aim["rest"], aim["first"] is not None
        else:
            wanted, first = (
                next(filter(None, (_wanted(one, said) for one in shapes.WISHES.finditer(sentence))), None),
                False,
            )
        if wanted is None:
            return None
        text = shapes.CLAUSE.sub("", wanted).strip(" ,—–-")
        phrase = ahead_in(text, said.line.at, text_language(text, "ru")) or ahead_in(
            sentence, said.line.at, text_language(sentence, "ru")
        )
        text = _without(text, phrase) if phrase else text
        if not 1 < len(text.split()) <= _MOST_WORDS:
            return None
        properties: Item = {"description": _capital(text), "status": "active"}
        properties |= ({"priority": 1} if first else {}) | ({"targetDate": phrase} if phrase else {})
        return {"label": "Goal", "properties": properties}

    # --- Decisions

    def _decision(self, said: Said, sentence: str) -> Item | None:
        found = shapes.DECIDED.search(sentence)
        if found is None or not _by_owner(sentence[: found.start()], said):
            return None
        rest = found["rest"].strip()
        reason = shapes.WHY.search(rest)
        text = rest[: reason.start()] if reason else rest
        bare = " ".join(shapes.FOR_GOOD.sub(" ", shapes.FOR_NOW.sub(" ", text)).split()).strip(" ,—–-")
        if not _begins_with_action(bare, that=_THAT.search(sentence[: found.start("rest")]) is not None):
            return None
        properties: Item = {"description": _capital(bare)}
        if reason:
            properties["rationale"] = reason["why"].strip(" .!")
        if shapes.FOR_GOOD.search(sentence):
            properties["reversible"] = False
        elif shapes.FOR_NOW.search(sentence):
            properties["reversible"] = True
        item: Item = {"label": "Decision", "properties": properties}
        if self._decided is not None and shapes.THEREFORE.search(sentence):
            self._decided.setdefault("links", []).append({"type": "LED_TO", "to": dict(item)})
        return item

    # --- Questions

    def _question(self, said: Said, sentence: str) -> Iterator[Item]:
        found = shapes.OPEN.search(sentence)
        if (
            found is None
            or not _by_owner(sentence[: found.start()], said)
            or shapes.UNSURE.search(sentence[: found.start()])
        ):
            return
        text = (found["slavic"] or found["english"]).strip(" ?,")
        if not 2 < len(text.split()) <= _MOST_WORDS or shapes.IDLE.search(text):
            return
        yield {"label": "Question", "properties": {"text": f"{_capital(text)}?", "status": "open"}}

    def _answers(self, said: Said, sentence: str, decision: Item | None) -> Iterator[Item]:
        """Links to known questions of which the sentence holds what they ask for."""
        forms = word_forms(sentence, light=False)
        for known in self.known:
            if known.label != "Question" or known.status == "answered":
                continue
            mine = word_forms(known.text, light=False)
            asked = [one for one in mine.words if not one & _ASKING]
            shared = [one for one in asked if any(one & other for other in forms.words)]
            enough = bool(asked) and len(shared) >= max(min(2, len(asked)), len(asked) / 2)
            if enough and _tells_what_is_asked(known.text, said, sentence, decision):
                share = {"completeness": 0.5 if shapes.PERHAPS.search(sentence) else 1.0}
                yield {"type": "PARTIALLY_ANSWERS", "to": {"id": known.handle}, "properties": share}

    # --- Preferences

    def _preferences(self, said: Said) -> Iterator[Item]:
        for stated in statements(said.text, said.line):
            if stated.relation not in ("LIKES", "DISLIKES", "PREFERS") or not stated.by_owner:
                continue
            if self.means_a_person(stated, said):
                continue
            verb = said.text[stated.verb : stated.place[0]]
            strength = next((one for shape, one in shapes.LIKINGS if shape.search(verb)), 0.5)
            yield _preference(stated.target, strength)
            less = shapes.RATHER_THAN.search(said.text)
            if stated.relation == "PREFERS" and less is not None:
                yield _preference(basic_form(less["less"].strip(), text_language(said.text, "en")), -0.3)

    # --- Events

    def _memory(self, said: Said, sentence: str, decision: Item | None) -> Item | None:
        """An event of the owner's life, or an answer to what he left open."""
        answers = list(self._answers(said, sentence, decision))
        event = shapes.EVENT.search(sentence) if decision is None else None
        worth = event is not None and _is_ours(event, sentence, said) and not _is_idle(said, sentence)
        if not worth and not answers:
            return None
        links = [
            *answers,
            *self._supports(sentence),
            *self._places(said, sentence),
            *self._about(said, sentence, event),
        ]
        confidence = {"confidence": 0.5} if shapes.PERHAPS.search(sentence) else {}
        item: Item = {"label": "Memory", "properties": {"content": cleaned(sentence), **confidence}}
        return {**item, "links": links} if links else item

    def _supports(self, sentence: str) -> Iterator[Item]:
        """Known goals whose own words, the verb left out, come again."""
        said = word_forms(sentence, light=False)
        for known in self.known:
            if known.label != "Goal" or known.status not in (None, "active"):
                continue
            _, _, thing = known.text.partition(" ")
            mine = word_forms(thing, light=True)
            if mine.words and 2 * len(_shared(mine, said)) >= len(mine.words):
                yield {"type": "SUPPORTS", "to": {"id": known.handle}, "properties": {"strength": 0.5}}

    def _places(self, said: Said, sentence: str) -> Iterator[Item]:
        """The project it is of, and the time it was in."""
        context = _project_of(sentence)
        if context is not None:
            yield {"type": "IN_CONTEXT", "to": {"label": "Context", "properties": context}}
        phrase = past_in(sentence, said.line.at, text_language(sentence, "ru"))
        if phrase is not None:
            yield {"type": "OCCURRED_DURING", "to": {"label": "TemporalMarker", "properties": {"description": phrase}}}

    def _about(self, said: Said, sentence: str, event: re.Match[str] | None) -> Iterator[Item]:
        for _, dossier in said.named:
            yield {"type": "MENTIONS", "to": {"label": "Entity", "properties": {"name": self.called(dossier)}}}
        for term in dict.fromkeys(shapes.KEYWORD.findall(sentence)):
            yield {"type": "HAS_KEYWORD", "to": {"label": "Keyword", "properties": {"term": term}}}
        thing = _thing_after(sentence, event, said) if event else None
        if thing is not None:
            concept = {"label": "Concept", "properties": {"name": thing}}
            yield {"type": "HAS_CONCEPT", "to": concept, "properties": {"relevance": 0.5}}

    # --- Projects

    def _project(self, sentence: str) -> Iterator[Item]:
        """A project that is named in a sentence of the owner's own doing, and what is part of it."""
        context = _project_of(sentence)
        if context is None or not shapes.OURS.search(sentence):
            return
        item: Item = {"label": "Context", "properties": context}
        task = shapes.TASK.search(sentence)
        if task is not None:
            part = {"name": task["task"], "type": "task", "status": "active"}
            item = {"label": "Context", "properties": part, "links": [{"type": "PART_OF", "to": item}]}
        yield item


_ASKING = words(
    "стоить стоять ли знать варто быть бути should when where who how much many whether does do did надо нужно нужный"
    " можно треба можна когда где"
)
"""What a question is asked with, which no answer repeats."""


def _by_owner(before: str, said: Said) -> bool:
    """Whether only words stand there that leave the owner the subject: none, a date, "after all my wife and I"."""
    clause = re.split(r"[,;:—–]\s*", before)[-1]
    subject = shapes.SUBJECT.search(clause)
    if subject is not None and _opens(subject["behind"]):
        return True
    return _opens(clause) or _opens(_undated(clause, said))


def _opens(text: str) -> bool:
    return all(token.key in shapes.OPENING for token in tokens(text))


def _wanted(wish: re.Match[str], said: Said) -> str | None:
    """What is wished for from its verb on, if it takes long enough to be a goal; a dream may be of anything."""
    before = said.text[: wish.start()]
    if not _by_owner(before, said) or shapes.DENIED.search(before):
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


def _goal_status(sentence: str, goal: str, shared: int, words: int) -> str | None:
    if words and shared == words and _is_done(sentence, goal):
        return "achieved"
    if words and 2 * shared >= words and shapes.GIVEN_UP.search(sentence):
        return "abandoned"
    return None


def _is_done(sentence: str, goal: str) -> bool:
    """Whether the goal's own verb stands in the past, or the owner says that it is done at last."""
    if shapes.WISHES.search(sentence) or shapes.AIMS.search(sentence) or shapes.GIVEN_UP.search(sentence):
        return False
    verb = name_key(goal.partition(" ")[0])
    past = re.search(r"(?<!\w)\w+(?:л|ла|ли|лся|лась|лись|в|вся|вся|лася|лися|ed)(?!\w)", sentence, re.IGNORECASE)
    same = any(word_forms(verb, light=False).words == word_forms(token.key, light=False).words and token.key != verb
               for token in tokens(sentence))  # fmt: skip
    return (past is not None and same) or shapes.ACHIEVED.search(sentence) is not None


def _shared(mine: WordForms, said: WordForms) -> list[frozenset[str]]:
    return [forms for forms in mine.words if any(forms & other for other in said.words)]


_THAT = re.compile(r"(?<!\w)(?:что|що|that)\s+$", re.IGNORECASE)
_INFINITIVE = re.compile(r"[^\W\d_]{2,}(?:ть|ти|чь|ться|тися|тись|чься)$", re.IGNORECASE)


def _begins_with_action(text: str, *, that: bool) -> bool:
    """Whether a decision says what will be done: "решил задачу" does not."""
    found = [token.key for token in tokens(text)]
    if not found or len(found) > 2 * _MOST_WORDS:
        return False
    if that or (found[0].isascii() and found[0] not in ("on", "the", "a", "it", "this", "everything", "nothing")):
        return True
    return any(_INFINITIVE.fullmatch(word) for word in found[:3])


def _tells_what_is_asked(question: str, said: Said, sentence: str, decision: Item | None) -> bool:
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


def _is_ours(event: re.Match[str], sentence: str, said: Said) -> bool:
    before = sentence[: event.start()]
    if shapes.DENIED.search(before):
        return False
    if event["verb"].isascii():
        return re.search(r"(?<![\w-])(?:i|we|my|our)(?!\w)[^,;]*$", before, re.IGNORECASE) is not None
    return shapes.OURS.search(sentence) is not None or (_by_owner(before, said) and not said.named)


def _is_idle(said: Said, sentence: str) -> bool:
    """Trifles are not worth keeping, and where and when somebody was born is a fact already."""
    born = any(stated.relation.startswith("BORN") for stated in statements(said.text, said.line))
    return born or shapes.TRIFLES.search(sentence) is not None


def _undated(before: str, said: Said) -> str:
    at, language = said.line.at, text_language(before, "ru")
    phrase = past_in(before, at, language, days=True) or ahead_in(before, at, language)
    return _without(before, phrase) if phrase else before


def _project_of(sentence: str) -> Item | None:
    found = shapes.PROJECT.search(sentence)
    if found is None:
        return None
    name = (found["quoted"] or found["named"] or found["before"]).strip()
    status = {"status": "completed"} if shapes.PROJECT_DONE.search(sentence) else {}
    return {"name": name, "type": "project", **status}


def _preference(name: str, strength: float) -> Item:
    return {"label": "Preference", "properties": {"preference": name, "strength": strength}}


_PLAIN = "new|old|first|second"


def _thing_after(sentence: str, event: re.Match[str], said: Said) -> str | None:
    """What was bought, signed, lost: the noun right behind the verb, in its basic form."""
    behind = sentence[event.end() :]
    if event["verb"].isascii():
        found = re.match(
            r"\s+(?:a|an|the|our|my|new|old|first|second)\s+(?:(?:new|old|first|second)\s+)*([a-z]{3,})\b", behind
        )
        return found[1] if found else None
    noun = re.match(r"\s+([а-яёіїєґ’']{3,})(?=[\s.,!]|$)", behind)
    if noun is None or any(
        one.start - said.start <= event.end() + noun.start(1) < one.end - said.start for one, _ in said.named
    ):
        return None
    return _noun(noun[1], text_language(sentence, "ru"))


def _noun(word: str, language: Language) -> str | None:
    """The nominative of an ordinary noun; None for what is no noun in that language."""
    readings = [one for one in parses(word, language) if one.is_known]
    noun = next((one for one in readings if one.tag.POS == "NOUN" and one.tag.case in ("accs", "gent", "nomn")), None)
    return name_key(dictionary_nominative(noun)) if noun is not None and readings[0].tag.POS == "NOUN" else None


def _without(text: str, phrase: str) -> str:
    """The text without a phrase that stands in it, however it is spelt there."""
    shape = r"\W+".join(map(re.escape, re.findall(r"[\w'’.]+", phrase)))
    return " ".join(re.sub(rf"(?<!\w){shape}(?!\w)", " ", text, count=1, flags=re.IGNORECASE).split()).strip(" ,—–-")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
