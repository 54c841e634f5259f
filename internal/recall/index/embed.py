"""Embeds profiles, facts, memories and messages that are due: in the background, in small batches, with progress."""

import itertools
import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy import Connection

from internal.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from internal.language.text.passages import batches
from internal.llm.model import Embedder, Vectors
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.storage import vectors
from internal.storage.change_log import changes_together
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.vectors import DueItem, VectorProgress

log = logging.getLogger(__name__)

BATCH: Final = 32
"""Texts of one call to the embedder: reading the JSON of 100 blocks the event loop for 99 ms."""

BATCH_CHARACTERS: Final = 8_000
"""Characters of one call, unless one text has more. Then it is another owner's turn."""

_REMOVED_AT_ONCE: Final = 500

_DUE_READ_AT_ONCE: Final = 64
"""Due items read at once: those whose vectors are stored already cost no call."""

_FAILURES_TO_GIVE_UP: Final = 3
"""When this many texts fail one by one and none succeeds, the embedder is at fault and the rest is not tried."""


class VectorBackfill:
    """Embeds everything that is due; backs off while the embedder cannot be reached."""

    def __init__(
        self, database: Database, embedder: Embedder, clock: Clock, *, retry_base: timedelta, retry_max: timedelta
    ) -> None:
        self._database, self._embedder, self._clock = database, embedder, clock
        self._retry_base, self._retry_max = retry_base, retry_max
        self._failures = 0
        self._not_before: datetime | None = None
        self._seen_change = ""
        self._others_marked_due = False
        self._foreign_removed = False
        self._more = self._full = False
        self._refused: set[tuple[int, str, str]] = set()
        self._stuck: set[int] = set()
        self._turn: int | None = None

    @property
    def more(self) -> bool:
        """Whether the last `embed_due` left messages for the next call."""
        return self._more

    @property
    def full(self) -> bool:
        """Whether the last call had about as many texts as fit into one."""
        return self._full

    async def embed_due(self, *, calls_for_messages: int | None = None) -> int:
        """Embeds everything that is due, messages last, and returns the number of vectors stored (C11).

        `calls_for_messages` limits the calls made for messages, each of at most BATCH texts. If nothing changed since
        the last call, this costs one read of the change log. Never raises a model's error: the rest stays due and is
        tried again after a growing pause.
        """
        self._more = False
        now = self._clock.now()
        # A time further away than the longest pause was computed before the clock was set back.
        if self._not_before is not None and now < self._not_before <= now + self._retry_max:
            return 0
        change = await self._database.read(vectors.last_change)
        if change == self._seen_change:
            return 0
        await self._mark_others_due()
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
            self._full = len(batch) == BATCH or 2 * sum(len(item.text) for item in batch) > BATCH_CHARACTERS
            await self._report(len(batch))
        self._seen_change = change
        await self._remove_foreign()
        return stored

    async def progress(self) -> VectorProgress:
        """How many of all vectors are up to date."""
        model, dimensions = self._embedder.name, self._embedder.dimensions
        return await self._database.read(lambda connection: vectors.progress(connection, model, dimensions))

    async def _report(self, batch: int) -> None:
        """Logs the progress of a longer re-embedding; a few changed people are not worth a line."""
        if batch == BATCH:
            progress = await self.progress()
            log.info("vectors_following", extra={"done": progress.done, "total": progress.total})

    async def _next_batch(self) -> list[DueItem]:
        """Due items of one owner, so that a call is billed to that owner; owners in turn, whose texts failed last."""
        batch = await self._batch_without(self._stuck)
        if not batch and self._stuck:
            self._stuck.clear()
            batch = await self._batch_without(())
        self._turn = batch[0].user_id if batch else None
        return batch

    async def _batch_without(self, owners: Collection[int]) -> list[DueItem]:
        limit, skipped, after = _DUE_READ_AT_ONCE + len(self._refused), tuple(owners), self._turn
        model, dimensions = self._embedder.name, self._embedder.dimensions
        while True:
            due = await self._database.read(
                lambda c: vectors.due(c, model, dimensions, limit=limit, without=skipped, after=after)
            )
            known = [item for item in due if item.known]
            if not known:
                break
            await self._database.write(lambda c, known=known: self._acknowledge(c, known))  # type: ignore[misc]
        allowed = (item for item in due if (item.user_id, item.item, item.text_hash) not in self._refused)
        for _, group in itertools.groupby(allowed, key=lambda item: item.user_id):
            items = list(group)
            alike = [item for item in items if item.is_message == items[0].is_message][:BATCH]
            return next(batches(alike, BATCH_CHARACTERS, lambda item: len(item.text)))
        return []

    def _acknowledge(self, connection: Connection, known: Sequence[DueItem]) -> None:
        for item in known:
            vectors.acknowledge(connection, item, self._embedder.name, self._embedder.dimensions)

    async def _embed(self, batch: Sequence[DueItem]) -> int:
        """Embeds and stores a batch; all items of `batch` belong to one owner."""
        with acting_for(batch[0].user_id):
            try:
                embedded = await self._ask(batch)
            except (ModelRefused, ModelReplyInvalid):
                if len(batch) == 1:
                    raise
                return await self._embed_singly(batch)
            return await self._store(batch, embedded)

    async def _embed_singly(self, batch: Sequence[DueItem]) -> int:
        """Embeds texts one by one; texts that are refused are left out until they change or the next start.

        Raises the model's error if no text succeeds, for then the texts are not the cause.
        """
        stored, refused = 0, []
        for index, item in enumerate(batch, 1):
            try:
                stored += await self._store([item], await self._ask([item]))
            except (ModelRefused, ModelReplyInvalid):
                refused.append((item.user_id, item.item, item.text_hash))
                if len(refused) == index and index in (_FAILURES_TO_GIVE_UP, len(batch)):
                    raise
        self._refused.update(refused)
        if refused:
            log.warning("embedding_texts_refused", extra={"count": len(refused)})
        return stored

    async def _ask(self, batch: Sequence[DueItem]) -> Vectors:
        embedded = await self._embedder.embed_documents([item.text for item in batch], user_id=batch[0].user_id)
        if embedded.shape != (len(batch), self._embedder.dimensions) or not np.isfinite(embedded).all():
            raise ModelReplyInvalid(f"vectors of shape {embedded.shape} came back")
        if not embedded.any(axis=1).all():
            raise ModelReplyInvalid("a vector of nothing but zeros came back")
        return embedded

    async def _store(self, batch: Sequence[DueItem], embedded: Vectors) -> int:
        """Stores the vectors of texts that did not change meanwhile; changed ones are due again."""
        model = self._embedder.name

        def put(connection: Connection) -> int:
            return sum(
                vectors.save_vector(connection, item, model, vector)
                for item, vector in zip(batch, embedded, strict=True)
            )

        return await self._database.write(changes_together(put), point="C11")

    async def _mark_others_due(self) -> None:
        """Marks as due, once per start, what another model or size embedded."""
        model, dimensions = self._embedder.name, self._embedder.dimensions

        def disown(connection: Connection) -> int:
            return vectors.disown(connection, model, dimensions, limit=_REMOVED_AT_ONCE)

        while not self._others_marked_due:
            self._others_marked_due = await self._database.write(disown) < _REMOVED_AT_ONCE

    async def _remove_foreign(self) -> None:
        """Removes the vectors of other models and sizes once everything is embedded."""
        model, dimensions = self._embedder.name, self._embedder.dimensions

        def remove(connection: Connection) -> int:
            return vectors.remove_other_models(connection, model, dimensions, limit=_REMOVED_AT_ONCE)

        while not self._foreign_removed and not self._refused:
            self._foreign_removed = await self._database.write(remove) < _REMOVED_AT_ONCE

    def _back_off(self, error: ModelError) -> None:
        self._failures += 1
        wait = retry_delay(self._failures, self._retry_base, self._retry_max)
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            wait = min(max(wait, timedelta(seconds=error.retry_after)), self._retry_max)
        self._not_before = self._clock.now() + wait
        log.warning("embedding_postponed", extra={"reason": type(error).__name__, "seconds": wait.total_seconds()})
