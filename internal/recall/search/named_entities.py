"""Which entities a question names: those that share a word with it, looked at by all of their names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from internal.errors import ModelUnavailable
from internal.language.search.terms import Word
from internal.language.worker.process_pool import LanguageCallFailed
from internal.recall.index import item_repository
from internal.recall.index.items import ItemIndexes
from internal.recall.index.scoring import top
from internal.recall.search.names import NameTools
from internal.storage.database import Database

_TIMEOUT: Final = 3.0
_CANDIDATES: Final = 64
"""Entities that share a word with the question and are looked at by name; names not seen before cost 1-3 ms each."""


class EntityNaming:
    """Finds the entities a question names. A language process that fails is reported, and nobody is named."""

    def __init__(
        self, database: Database, indexes: ItemIndexes, names: NameTools | None, failed: Callable[[Exception], None]
    ) -> None:
        self._database, self._indexes, self._names, self._failed = database, indexes, names, failed

    async def named(self, user_id: int, text: str, words: Sequence[Word]) -> dict[str, float]:
        """The entities that a text with these words names, each with how plainly, in (0, 1]."""
        if self._names is None or not words:
            return {}
        names = await self._names_of_likely(user_id, words)
        if not names:
            return {}
        try:
            async with asyncio.timeout(_TIMEOUT):
                boosts = await self._names.boosts(text, dict(enumerate(names.values())))
        except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
            self._failed(error)
            return {}
        node_ids = list(names)
        return {node_ids[number]: boost for number, boost in boosts.items()}

    async def _names_of_likely(self, user_id: int, words: Sequence[Word]) -> Mapping[str, tuple[str, ...]]:
        """The names of the entities that share most with these words; read once, until the entity changes."""
        async with self._indexes.lock(user_id, "entity"):
            index = await self._indexes.current(user_id, "entity")
            shared = index.lexical(words)
            ids = [index.ids[row] for row in top(shared, _CANDIDATES).tolist() if shared[row] > 0]
            version, known = index.version, {one: index.names[one] for one in ids if one in index.names}
        unknown = [one for one in ids if one not in known]
        if unknown:
            read = await self._database.read(lambda c: item_repository.names_of_nodes(c, user_id, unknown))
            known |= {one: read.get(one, ()) for one in unknown}
            if index.version == version:  # else what was read may be older than what the index holds by now
                index.names |= {one: known[one] for one in unknown}
        return {one: known[one] for one in ids if known[one]}
