"""Finds the known names that a reply's names may mean, and the periods of its facts, before the transaction."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import numpy as np

from internal.agents.archivist.output import ArchivistReply
from internal.agents.archivist.reply.memory_matcher import MemoryMatcher
from internal.agents.model import Language, TranscriptLine
from internal.agents.unavailable import or_none
from internal.errors import ModelError
from internal.graph import registry
from internal.knowledge.entities.resolved_names import FactDates, FactLookup, KnownName, NameMatch, Vector
from internal.knowledge.model import OWNER_NODE, ProposedFact
from internal.language.dates import in_text, parse
from internal.language.dates.parse import Dated
from internal.language.dates.precision import date_precision
from internal.language.names import entities as names_entities
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.llm.model import Embedder
from internal.people.operations import Added, Updated

log = logging.getLogger(__name__)

_NAMES_A_CALL = 250
"""Most known things compared in one call of the language process: 0.1 s at first, 2 ms with cached names."""

_FIRST_DAY: Final = re.compile(r"\d{4}-\d\d-01")

MARGIN = 0.01
"""The difference in cosine by which two names of one thing are nearer than the nearest two different things."""

ANCHORS = (
    "Google", "Яндекс", "Microsoft", "ПриватБанк", "Монобанк", "Альфа-Банк", "Сбербанк", "ООО Ромашка", "ООО Василёк",
    "ACME", "Initech", "машинное обучение", "глибоке навчання", "математика", "физика", "Германия", "Austria", "Львів",
    "Луцьк", "проект Альфа", "проект Бета", "project Gamma", "кофе без сахара", "чай с сахаром", "coffee with milk",
    "гитара", "скрипка", "теннис", "футбол", "Red Cross", "Green Cross", "отпуск в Италии", "отпуск в Испании",
    "день рождения мамы", "день рождения папы", "встреча с инвесторами", "встреча с юристом", "Harry Potter",
    "Hermione Granger", "Києво-Могилянська академія", "Львівська політехніка",
)  # fmt: skip
"""Different things, some of them hard to distinguish: the cosine of the nearest two is not near enough."""


class NameMatcher:
    """Compares names and reads dates by the language process and the embedder; without them it finds less.

    `memories` does so for memories.
    """

    def __init__(self, worker: LanguageWorker, embedder: Embedder) -> None:
        self._worker, self._embedder = worker, embedder
        self.memories = MemoryMatcher(worker, embedder)
        self._threshold: float | None = None

    async def resolve(
        self,
        reply: ArchivistReply,
        transcript: Sequence[TranscriptLine],
        known: Sequence[KnownName],
        language: Language,
        *,
        user_id: int | None = None,
    ) -> FactLookup:
        """The names in `known` that the reply may mean, and its dates. Only names like no known one get vectors."""
        names = [name for name in _names(reply) if name_key(name)]
        keys = {name_key(name) for thing in known for name in thing.names}
        unknown = [name for name in names if name_key(name) not in keys]
        matches = await self._matches(unknown, known, _new_names(reply))
        texts = {name: _item_text(name, reply) for name in unknown if name not in matches}
        return FactLookup(
            dates=await self._dates(reply.facts, transcript, language),
            matches=matches,
            model=self._embedder.name,
            vectors=await self._vectors(texts, user_id),
        )

    async def confirmed(
        self, resolved: FactLookup, near: Mapping[str, Sequence[KnownName]], *, user_id: int | None = None
    ) -> FactLookup:
        """Adds the nearest things whose bare names are near enough to `resolved`; unchanged without a model.

        Only the names decide, because equal summaries would make two companies one.
        """
        pairs = [(name, thing) for name, things in near.items() for thing in things]
        if not pairs:
            return resolved
        try:
            threshold = await self._calibrated(user_id)
            mine = await self._embedder.embed_documents([name for name, _ in pairs], user_id=user_id)
            theirs = await self._embedder.embed_documents([thing.names[0] for _, thing in pairs], user_id=user_id)
        except (ModelError, LanguageCallFailed) as error:
            log.warning("names_not_embedded", extra={"error": type(error).__name__})
            return resolved
        matches = {name: list(things) for name, things in resolved.matches.items()}
        for (name, thing), cosine in zip(pairs, np.sum(mine * theirs, axis=1).tolist(), strict=True):
            if cosine >= threshold:
                matches.setdefault(name, []).append(NameMatch(thing.node_id, thing.names[0], "vector"))
        return replace(resolved, matches=matches, threshold=threshold)

    async def _calibrated(self, user_id: int | None) -> float:
        """The least cosine at which two names mean one thing with this model, computed once."""
        if self._threshold is None:
            vectors = await self._embedder.embed_documents(list(ANCHORS), user_id=user_id)
            cosines = vectors @ vectors.T
            np.fill_diagonal(cosines, -1.0)
            self._threshold = float(cosines.max()) + MARGIN
        return self._threshold

    async def _matches(
        self, names: Sequence[str], known: Sequence[KnownName], new: Sequence[str]
    ) -> dict[str, list[NameMatch]]:
        if not names:
            return {}
        found: dict[str, list[NameMatch]] = {}
        things = [(thing.node_id, thing.names) for thing in known] + [(None, (name,)) for name in new]
        try:
            for start in range(0, len(things), _NAMES_A_CALL):
                part = things[start : start + _NAMES_A_CALL]
                hits = await self._worker.run_bulk(names_entities.match_names, names, [others for _, others in part])
                for name, likely in zip(names, hits, strict=True):
                    for index, other, reason in likely:
                        found.setdefault(name, []).append(NameMatch(part[index][0], other, reason))
        except (ModelError, LanguageCallFailed) as error:
            log.warning("names_not_compared", extra={"error": type(error).__name__})
        return found

    async def _vectors(self, texts: Mapping[str, str], user_id: int | None) -> dict[str, Vector]:
        if not texts:
            return {}
        vectors = self._embedder.embed_documents(list(texts.values()), user_id=user_id)
        found = await or_none(log, "names_not_embedded", vectors)
        return {} if found is None else dict(zip(texts, found, strict=True))

    async def _dates(
        self, facts: Sequence[ProposedFact], transcript: Sequence[TranscriptLine], language: Language
    ) -> list[FactDates]:
        said = [min(line.at for line in transcript if line.number in fact.evidence) for fact in facts]
        phrases = [
            (phrase, at)
            for fact, at in zip(facts, said, strict=True)
            for phrase in (fact.valid_at, fact.invalid_at)
            if phrase is not None
        ]
        resolved = dict(zip(phrases, await self._resolved(phrases, language), strict=True))
        dates = [fact_dates(fact, at, resolved) for fact, at in zip(facts, said, strict=True)]
        return await self._as_stated(facts, dates, transcript, language)

    async def _as_stated(
        self,
        facts: Sequence[ProposedFact],
        dates: list[FactDates],
        transcript: Sequence[TranscriptLine],
        language: Language,
    ) -> list[FactDates]:
        """The dates, not more exact than in their lines: for "in 2018" many models write 2018-01-01."""
        lines = {line.number: line.text for line in transcript}
        rounded: list[tuple[int, str, in_text.Stated]] = []
        for index, (fact, dated) in enumerate(zip(facts, dates, strict=True)):
            said = [lines[number] for number in fact.evidence if number in lines]
            for end, phrase, at in (
                ("valid", fact.valid_at, dated.valid_at),
                ("invalid", fact.invalid_at, dated.invalid_at),
            ):
                if at is not None and _FIRST_DAY.fullmatch(phrase or ""):
                    rounded.append((index, f"{end}_precision", (at, said, dated.said_at)))
        if not rounded:
            return dates
        stated = self._worker.run_bulk(in_text.stated_precisions, [one for *_, one in rounded], language)
        exact = await or_none(log, "dates_taken_as_written", stated)
        if exact is None:
            return dates
        for (index, field, _), precision in zip(rounded, exact, strict=True):
            change: Any = {field: precision}
            dates[index] = replace(dates[index], **change)
        return dates

    async def _resolved(self, phrases: Sequence[tuple[str, datetime]], language: Language) -> Sequence[Dated | None]:
        if not phrases:
            return []
        found = await or_none(
            log, "dates_read_plainly", self._worker.run_bulk(parse.resolve_all, list(phrases), language)
        )
        return [parse.resolve_plainly(phrase, at, language) for phrase, at in phrases] if found is None else found


def fact_dates(
    fact: ProposedFact, said_at: datetime, resolved: Mapping[tuple[str, datetime], Dated | None]
) -> FactDates:
    """The period in which a fact held. A null beginning is the time of the line, unless the fact had ended by then.

    A written beginning that cannot be resolved is unknown. A fact that begins and ends with the same date ("worked
    there in 2020") held until that date was over.
    """
    begin = resolved.get((fact.valid_at, said_at)) if fact.valid_at else None
    end = resolved.get((fact.invalid_at, said_at)) if fact.invalid_at else None
    invalid_at, exact = (end.moment, date_precision(end.precision)) if end else (None, None)
    if fact.valid_at is None:
        over = invalid_at is not None and invalid_at <= said_at
        return FactDates(said_at, None if over else said_at, False, invalid_at, invalid_precision=exact)
    if begin and end and begin.moment == end.moment:
        invalid_at = parse.end_of(end)
    if begin is None:
        return FactDates(said_at, None, False, invalid_at, invalid_precision=exact)
    return FactDates(said_at, begin.moment, True, invalid_at, date_precision(begin.precision), exact)


def _names(reply: ArchivistReply) -> list[str]:
    """Every name that has to be looked up, each once."""
    ends = (end for fact in reply.facts for end in (fact.source, fact.target))
    named = (*(entity.name for entity in (*reply.entities, *reply.mentioned)), *ends)
    return [name for name in dict.fromkeys(named) if name != OWNER_NODE and not name.startswith(("Person:", "@"))]


def _new_names(reply: ArchivistReply) -> list[str]:
    """The names that this reply adds to the graph."""
    people: Iterable[str] = (
        name
        for operation in reply.operations
        if isinstance(operation, Added | Updated)
        for name in (operation.display_name or "", *operation.aliases)
    )
    entities = (name for entity in (*reply.entities, *reply.mentioned) for name in (entity.name, *entity.aliases))
    return [name for name in dict.fromkeys((*people, *entities, *_names(reply))) if name]


def _item_text(name: str, reply: ArchivistReply) -> str:
    """The text by which the thing would be found if it were stored."""
    for entity in (*reply.entities, *reply.mentioned):
        if entity.name == name:
            properties = {"name": name, "aliases": list(entity.aliases), "description": entity.summary}
            return registry.text_of("Entity", properties)
    return name
