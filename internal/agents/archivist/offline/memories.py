"""Finds memories that the owner states beyond doubt, by rules: goals, decisions, questions, preferences, events.

A missed memory costs little, a wrong one is believed for years. Nothing is summed up: a memory has the owner's own
words up to the end of the clause.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from internal.agents.archivist.offline import memory_patterns as shapes
from internal.agents.archivist.offline.bio_quotes import asks, cleaned
from internal.agents.archivist.offline.clauses import (
    ASKING,
    MOST_WORDS,
    THAT,
    Item,
    begins_with_action,
    by_owner,
    capital,
    goal_status,
    in_present,
    is_idle,
    is_ours,
    preference,
    project_of,
    remove_phrase,
    tells_what_is_asked,
    thing_after,
    wish_of,
    words_shared,
)
from internal.agents.archivist.offline.date_phrases import ahead_in, past_in
from internal.agents.archivist.offline.facts import Statement, quoted, statements
from internal.agents.archivist.offline.people import Dossier, SentenceReading
from internal.language.names.entities import basic_form
from internal.language.search.word_match import word_forms
from internal.language.text.spelling import text_language
from internal.memory.model import KnownMemory


@dataclass(slots=True)
class OfflineMemories:
    """Reads sentence after sentence; `items` are in the reply's format, `called` names a person like in facts."""

    known: Sequence[KnownMemory]
    called: Callable[[Dossier], str]
    means_a_person: Callable[[Statement, SentenceReading], bool]
    items: list[Item] = field(default_factory=list)
    _decided: Item | None = None

    def read(self, said: SentenceReading) -> None:
        """Reads one sentence of the owner."""
        sentence = said.text.strip()
        if quoted(sentence) or len(sentence) < 5:
            return
        items = [*self._question(said, sentence)]
        asked = asks(sentence) or shapes.ASKING.search(sentence)
        if not items and not asked and not shapes.UNSURE.search(shapes.WHY.sub("", sentence)):
            items = [*self._stated(said, sentence)]
        for item in items:
            item["evidence"] = [said.line.number]
            if item not in self.items:
                self.items.append(item)

    def _stated(self, said: SentenceReading, sentence: str) -> Iterator[Item]:
        settled = list(self._settled(said, sentence))
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

    # --- Changes of known goals and decisions

    def _settled(self, said: SentenceReading, sentence: str) -> Iterator[Item]:
        """Known goals that are reached or given up, and known decisions whose outcome is stated."""
        spoken = word_forms(in_present(sentence), light=False)
        for known in self.known:
            mine = word_forms(known.text, light=True)
            shared = words_shared(mine, spoken)
            if known.label == "Goal" and known.status in (None, "active"):
                status = goal_status(said, sentence, known.text, len(shared), len(mine.words))
                if status:
                    yield {"id": known.handle, "properties": {"status": status}}
            elif known.label == "Decision" and shapes.OUTCOME.search(sentence) and 2 * len(shared) > len(mine.words):
                yield {"id": known.handle, "properties": {"outcome": cleaned(sentence)}}

    # --- Goals

    def _goal(self, said: SentenceReading, sentence: str) -> Item | None:
        aim = shapes.AIMS.search(sentence)
        wanted: str | None
        if aim is not None and by_owner(sentence[: aim.start()], said):
            wanted, first = aim["rest"], aim["first"] is not None
        else:
            wishes = (wish_of(one, said) for one in shapes.WISHES.finditer(sentence))
            wanted, first = next(filter(None, wishes), None), False
        if wanted is None:
            return None
        text = shapes.CLAUSE.sub("", wanted).strip(" ,—–-")
        phrase = ahead_in(text, said.line.at, text_language(text, "ru")) or ahead_in(
            sentence, said.line.at, text_language(sentence, "ru")
        )
        text = remove_phrase(text, phrase) if phrase else text
        if not 1 < len(text.split()) <= MOST_WORDS:
            return None
        properties: Item = {"description": capital(text), "status": "active"}
        properties |= ({"priority": 1} if first else {}) | ({"targetDate": phrase} if phrase else {})
        return {"label": "Goal", "properties": properties}

    # --- Decisions

    def _decision(self, said: SentenceReading, sentence: str) -> Item | None:
        found = shapes.DECIDED.search(sentence)
        if found is None or not by_owner(sentence[: found.start()], said):
            return None
        rest = found["rest"].strip()
        reason = shapes.WHY.search(rest)
        text = rest[: reason.start()] if reason else rest
        bare = " ".join(shapes.FOR_GOOD.sub(" ", shapes.FOR_NOW.sub(" ", text)).split()).strip(" ,—–-")
        if not begins_with_action(bare, that=THAT.search(sentence[: found.start("rest")]) is not None):
            return None
        properties: Item = {"description": capital(bare)}
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

    def _question(self, said: SentenceReading, sentence: str) -> Iterator[Item]:
        found = shapes.OPEN.search(sentence)
        if (
            found is None
            or not by_owner(sentence[: found.start()], said)
            or shapes.UNSURE.search(sentence[: found.start()])
        ):
            return
        text = (found["slavic"] or found["english"]).strip(" ?,")
        if not 2 < len(text.split()) <= MOST_WORDS or shapes.IDLE.search(text):
            return
        yield {"label": "Question", "properties": {"text": f"{capital(text)}?", "status": "open"}}

    def _answers(self, said: SentenceReading, sentence: str, decision: Item | None) -> Iterator[Item]:
        """Links to the known questions that the sentence answers."""
        forms = word_forms(sentence, light=False)
        for known in self.known:
            if known.label != "Question" or known.status == "answered":
                continue
            mine = word_forms(known.text, light=False)
            asked = [one for one in mine.words if not one & ASKING]
            shared = [one for one in asked if any(one & other for other in forms.words)]
            enough = bool(asked) and len(shared) >= max(min(2, len(asked)), len(asked) / 2)
            if enough and tells_what_is_asked(known.text, said, sentence, decision):
                share = {"completeness": 0.5 if shapes.PERHAPS.search(sentence) else 1.0}
                yield {"type": "PARTIALLY_ANSWERS", "to": {"id": known.handle}, "properties": share}

    # --- Preferences

    def _preferences(self, said: SentenceReading) -> Iterator[Item]:
        for stated in statements(said.text, said.line):
            if stated.relation not in ("LIKES", "DISLIKES", "PREFERS") or not stated.by_owner:
                continue
            if self.means_a_person(stated, said):
                continue
            verb, less = said.text[stated.verb : stated.target_span[0]], stated.relation == "DISLIKES"
            strength = next((one for shape, one in shapes.LIKINGS if shape.search(verb)), -0.5 if less else 0.5)
            yield from preference(stated.target, strength)
            other = shapes.RATHER_THAN.search(said.text)
            if stated.relation == "PREFERS" and other is not None:
                yield from preference(basic_form(other["less"].strip(), text_language(said.text, "en")), -0.3)

    # --- Events

    def _memory(self, said: SentenceReading, sentence: str, decision: Item | None) -> Item | None:
        """An event of the owner's life, or an answer to his open question."""
        answers = list(self._answers(said, sentence, decision))
        event = shapes.EVENT.search(sentence) if decision is None else None
        worth = event is not None and is_ours(event, sentence, said) and not is_idle(said, sentence)
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
        """Links to known goals that share words with the sentence, except the verb."""
        said = word_forms(sentence, light=False)
        for known in self.known:
            if known.label != "Goal" or known.status not in (None, "active"):
                continue
            _, _, thing = known.text.partition(" ")
            mine = word_forms(thing, light=True)
            if mine.words and 2 * len(words_shared(mine, said)) >= len(mine.words):
                yield {"type": "SUPPORTS", "to": {"id": known.handle}, "properties": {"strength": 0.5}}

    def _places(self, said: SentenceReading, sentence: str) -> Iterator[Item]:
        """Links to its project and its time."""
        context = project_of(sentence)
        if context is not None:
            yield {"type": "IN_CONTEXT", "to": {"label": "Context", "properties": context}}
        phrase = past_in(sentence, said.line.at, text_language(sentence, "ru"))
        if phrase is not None:
            yield {"type": "OCCURRED_DURING", "to": {"label": "TemporalMarker", "properties": {"description": phrase}}}

    def _about(self, said: SentenceReading, sentence: str, event: re.Match[str] | None) -> Iterator[Item]:
        for _, dossier in said.named:
            yield {"type": "MENTIONS", "to": {"label": "Entity", "properties": {"name": self.called(dossier)}}}
        for term in dict.fromkeys(shapes.KEYWORD.findall(sentence)):
            yield {"type": "HAS_KEYWORD", "to": {"label": "Keyword", "properties": {"term": term}}}
        thing = thing_after(sentence, event, said) if event else None
        if thing is not None:
            concept = {"label": "Concept", "properties": {"name": thing}}
            yield {"type": "HAS_CONCEPT", "to": concept, "properties": {"relevance": 0.5}}

    # --- Projects

    def _project(self, sentence: str) -> Iterator[Item]:
        """A project that is named in a sentence about the owner's own work, with its parts."""
        context = project_of(sentence)
        if context is None or not shapes.OURS.search(sentence):
            return
        item: Item = {"label": "Context", "properties": context}
        task = shapes.TASK.search(sentence)
        if task is not None:
            part = {"name": task["task"], "type": "task", "status": "active"}
            item = {"label": "Context", "properties": part, "links": [{"type": "PART_OF", "to": item}]}
        yield item
