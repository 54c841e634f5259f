"""Finds names in a slice with the language process: the people they mean, and people who may be the same."""

from collections.abc import Mapping, Sequence
from typing import Final

from internal.agents.model import SamePersonHint
from internal.language.names.entities import named_in_each
from internal.language.names.hints import MAX_HINTS, hints_of_pairs, hints_of_texts
from internal.language.names.person_names import mentions_of
from internal.language.text.passages import batches
from internal.language.worker.process_pool import LanguageWorker
from internal.people.model import Person, names_of

_CHARACTERS: Final = 16_000
"""The most characters of one call, after which other owners get their turn."""


class WorkerNameReader:
    """Implements `NameReader` and `NameFinder`: one call of the language process for an ordinary slice."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def hints(self, people: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        """At most MAX_HINTS hints: about names in the texts, then about known people that may be the same."""
        names = {person.id: names_of(person) for person in people}
        found = [
            hint
            for part in batches(texts, _CHARACTERS)
            for hint in await self._worker.run_bulk(hints_of_texts, names, part)
        ]
        if len(set(found)) < MAX_HINTS:
            found += await self._worker.run_bulk(hints_of_pairs, names)
        unique = list(dict.fromkeys(found))[:MAX_HINTS]
        return [SamePersonHint(mention, person_id, reason) for mention, person_id, reason in unique]

    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        return await self.people_named(texts, {person.id: names_of(person) for person in people})

    async def people_named(self, texts: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
        parts = batches(texts, _CHARACTERS)
        return [named for part in parts for named in await self._worker.run_bulk(mentions_of, part, names)]

    async def things_named(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> list[set[int]]:
        parts = batches(texts, _CHARACTERS)
        return [named for part in parts for named in await self._worker.run_bulk(named_in_each, part, names)]
