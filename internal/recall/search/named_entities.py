"""Finds the entities that a question names: those that share a word with it are compared by all of their names."""

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
"""Most entities sharing a word with the question that are compared by name; new names cost 1-3 ms each."""


class NamedEntityFinder:
    """Finds the entities a question names. A failing language process is reported, and nothing is named."""

    def __init__(
        self, database: Database, indexes: ItemIndexes, names: NameTools | None, on_error: Callable[[Exception], None]
    ) -> None:
        self._database, self._indexes, self._names, self._on_error = database, indexes, names, on_error

    async def named(self, user_id: int, text: str, words: Sequence[Word]) -> dict[str, float]:
        """The entities that a text with these words names, with how clearly, in (0, 1]."""
        if self._names is None or not words:
            return {}
        names = await self._names_of_likely(user_id, words)
        if not names:
            return {}
        try:
            async with asyncio.timeout(_TIMEOUT):
                boosts = await self._names.boosts(text, dict(enumerate(names.values())))
        except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
            self._on_error(error)
            return {}
        node_ids = list(names)
        return {node_ids[number]: boost for number, boost in boosts.items()}

    async def _names_of_likely(self, user_id: int, words: Sequence[Word]) -> Mapping[str, tuple[str, ...]]:
        """The names of the entities that share most with these words; read once until the entity changes."""
        async with self._indexes.lock(user_id, "entity"):
            index = await self._indexes.current(user_id, "entity")
            shared = index.lexical(words)
            ids = [index.ids[row] for row in top(shared, _CANDIDATES).tolist() if shared[row] > 0]
            version, known = index.version, {node_id: index.names[node_id] for node_id in ids if node_id in index.names}
        unknown = [node_id for node_id in ids if node_id not in known]
        if unknown:
            names = await self._database.read(lambda c: item_repository.names_of_nodes(c, user_id, unknown))
            known |= {node_id: names.get(node_id, ()) for node_id in unknown}
            if index.version == version:  # else what was read may be older than what the index holds by now
                index.names |= {node_id: known[node_id] for node_id in unknown}
        return {node_id: known[node_id] for node_id in ids if known[node_id]}
