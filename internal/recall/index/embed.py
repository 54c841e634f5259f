"""Vectors follow the profiles: whatever is due is embedded in the background, in small batches, with progress."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy import Connection

from internal.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from internal.llm.model import Embedder, Vectors
from internal.scheduling.clock import Clock
from internal.scheduling.model import pause
from internal.storage import vectors
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.vectors import DueItem, Progress

log = logging.getLogger(__name__)

BATCH: Final = 32
"""Texts of one call: 100 block the event loop for 99 ms when their JSON is read."""

_REMOVED_AT_ONCE: Final = 500

_LOOKED_AT: Final = 256
"""Due items of one look: those whose vectors are stored already cost no call."""

_FIRST_OF_ALL: Final = 3
"""So many texts that fail one by one, and none that does not: it is the embedder, and the rest need not be tried."""


class VectorBackfill:
    """Embeds what is due until nothing is; backs off while the embedder cannot be reached."""

    def __init__(
        self, database: Database, embedder: Embedder, clock: Clock, *, retry_base: timedelta, retry_max: timedelta
    ) -> None:
        self._database, self._embedder, self._clock = database, embedder, clock
        self._retry_base, self._retry_max = retry_base, retry_max
        self._failures = 0
        self._not_before: datetime | None = None
        self._seen_change = ""
        self._disowned = False
        self._foreign_removed = False
        self._more = False
        self._refused: set[tuple[int, str, str]] = set()
        self._stuck: set[int] = set()

    @property
    def more(self) -> bool:
        """Whether the last `embed_due` left messages for the next."""
        return self._more

    async def embed_due(self, *, calls_for_messages: int | None = None) -> int:
        """Embeds everything that is due and returns how many vectors were stored (C11); messages last.

        With `calls_for_messages` the embedder is asked for messages so often at most, each time for BATCH. Costs one
        look at the change log when nothing happened since. Never raises a model's error: the rest stays due and is
        tried again after a growing pause.
        """
        self._more = False
        now = self._clock.now()
        # Further off than any pause, it was told by a clock that was set back since.
        if self._not_before is not None and now < self._not_before <= now + self._retry_max:
            return 0
        change = await self._database.read(vectors.last_change)
        if change == self._seen_change:
            return 0
        await self._disown()
        stored, calls = 0, 0
        while batch := await self._next_batch():
            if batch[0].is_message:
                if calls == calls_for_messages:
                    self._more = calls > 0
                    return stored
                calls += 1
            try:
                stored += await self._embed(batch)
            except ModelError as error:
                self._stuck.add(batch[0].user_id)
                self._back_off(error)
                return stored
            self._failures, self._not_before = 0, None
            await self._report(len(batch))
        self._seen_change = change
        await self._remove_foreign()
        return stored

    async def progress(self) -> Progress:
        """How far the vectors have followed."""
        model, dimensions = self._embedder.name, self._embedder.dimensions
        return await self._database.read(lambda connection: vectors.progress(connection, model, dimensions))

    async def _report(self, batch: int) -> None:
        """Tells how far a longer re-embedding is; a few changed people are not worth a line."""
        if batch == BATCH:
            progress = await self.progress()
            log.info("vectors_following", extra={"done": progress.done, "total": progress.total})

    async def _next_batch(self) -> list[DueItem]:
        """Due items of one owner, so that a call is billed to whom it is for; those come last whose texts failed."""
        batch = await self._batch_without(self._stuck)
        if not batch and self._stuck:
            self._stuck.clear()
            batch = await self._batch_without(())
        return batch

    async def _batch_without(self, owners: Collection[int]) -> list[DueItem]:
        limit, spared = _LOOKED_AT + len(self._refused), tuple(owners)
        model, dimensions = self._embedder.name, self._embedder.dimensions
        while True:
            due = await self._database.read(lambda c: vectors.due(c, model, dimensions, limit=limit, without=spared))
            known = [one for one in due if one.known]
            if not known:
                break
            await self._database.write(lambda c, known=known: self._acknowledge(c, known))  # type: ignore[misc]
        wanted = (one for one in due if (one.user_id, one.item, one.text_hash) not in self._refused)
        for _, group in itertools.groupby(wanted, key=lambda one: one.user_id):
            mine = list(group)
            return [one for one in mine if one.is_message == mine[0].is_message][:BATCH]
        return []

    def _acknowledge(self, connection: Connection, known: Sequence[DueItem]) -> None:
        for one in known:
            vectors.acknowledge(connection, one, self._embedder.name, self._embedder.dimensions)

    async def _embed(self, batch: Sequence[DueItem]) -> int:
        """All of `batch` are one owner's."""
        with acting_for(batch[0].user_id):
            try:
                found = await self._ask(batch)
            except (ModelRefused, ModelReplyInvalid):
                if len(batch) == 1:
                    raise
                return await self._embed_singly(batch)
            return await self._store(batch, found)

    async def _embed_singly(self, batch: Sequence[DueItem]) -> int:
        """A text that the provider refuses, or has no vector for, is left out until it changes, or the next start.

        If none of them comes back well, it is not the texts.
        """
        stored, refused = 0, []
        for place, one in enumerate(batch, 1):
            try:
                stored += await self._store([one], await self._ask([one]))
            except (ModelRefused, ModelReplyInvalid):
                refused.append((one.user_id, one.item, one.text_hash))
                if len(refused) == place and place in (_FIRST_OF_ALL, len(batch)):
                    raise
        self._refused.update(refused)
        if refused:
            log.warning("embedding_texts_refused", extra={"count": len(refused)})
        return stored

    async def _ask(self, batch: Sequence[DueItem]) -> Vectors:
        found = await self._embedder.embed_documents([one.text for one in batch], user_id=batch[0].user_id)
        if found.shape != (len(batch), self._embedder.dimensions) or not np.isfinite(found).all():
            raise ModelReplyInvalid(f"vectors of shape {found.shape} came back")
        if not found.any(axis=1).all():
            raise ModelReplyInvalid("a vector of nothing but zeros came back")
        return found

    async def _store(self, batch: Sequence[DueItem], found: Vectors) -> int:
        """Stores the vectors of texts that are still the same; what changed meanwhile is due again."""
        model = self._embedder.name

        def put(connection: Connection) -> int:
            return sum(vectors.put(connection, one, model, vector) for one, vector in zip(batch, found, strict=True))

        return await self._database.write(put, point="C11")

    async def _disown(self) -> None:
        """Once a start: what another model or size embedded is due again."""
        model, dimensions = self._embedder.name, self._embedder.dimensions

        def disown(connection: Connection) -> int:
            return vectors.disown(connection, model, dimensions, limit=_REMOVED_AT_ONCE)

        while not self._disowned:
            self._disowned = await self._database.write(disown) < _REMOVED_AT_ONCE

    async def _remove_foreign(self) -> None:
        """Once all is embedded, the vectors of other models and sizes go."""
        model, dimensions = self._embedder.name, self._embedder.dimensions

        def remove(connection: Connection) -> int:
            return vectors.remove_other_models(connection, model, dimensions, limit=_REMOVED_AT_ONCE)

        while not self._foreign_removed and not self._refused:
            self._foreign_removed = await self._database.write(remove) < _REMOVED_AT_ONCE

    def _back_off(self, error: ModelError) -> None:
        self._failures += 1
        wait = pause(self._failures, self._retry_base, self._retry_max)
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            wait = min(max(wait, timedelta(seconds=error.retry_after)), self._retry_max)
        self._not_before = self._clock.now() + wait
        log.warning("embedding_postponed", extra={"reason": type(error).__name__, "seconds": wait.total_seconds()})
