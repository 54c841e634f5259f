"""Finds names in a slice with the language process: who is meant where, and who may be the same person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from internal.agents.model import SamePersonHint
from internal.language.names.entities import named_in_each
from internal.language.names.hints import hints
from internal.language.names.person_names import mentions_of
from internal.language.worker.process_pool import LanguageWorker
from internal.people.model import Person, names_of


class WorkerNameReader:
    """Implements `NameReader` and `NameFinder`: one call of the language process for a whole slice."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def hints(self, people: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        names = {person.id: names_of(person) for person in people}
        found = await self._worker.run_bulk(hints, names, list(texts))
        return [SamePersonHint(mention, person_id, reason) for mention, person_id, reason in found]

    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        names = {person.id: names_of(person) for person in people}
        return await self._worker.run_bulk(mentions_of, list(texts), names)

    async def people_named(self, texts: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
        return await self._worker.run_bulk(mentions_of, list(texts), names)

    async def things_named(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> list[set[int]]:
        return await self._worker.run_bulk(named_in_each, list(texts), names)
