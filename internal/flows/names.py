"""Names in a slice, read in the language process: who is meant where, and who may be the same person."""

from __future__ import annotations

from collections.abc import Sequence

from internal.agents.model import SamePersonHint
from internal.language.hints import hints
from internal.language.names import mentions_of
from internal.language.worker import LanguageWorker
from internal.people.model import Person, names_of


class WorkerNameReader:
    """Implements `NameReader`: one call to the language process for a whole slice."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def hints(self, people: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        names = {person.id: names_of(person) for person in people}
        found = await self._worker.run_bulk(hints, names, list(texts))
        return [SamePersonHint(mention, person_id, reason) for mention, person_id, reason in found]

    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        names = {person.id: names_of(person) for person in people}
        return await self._worker.run_bulk(mentions_of, list(texts), names)
