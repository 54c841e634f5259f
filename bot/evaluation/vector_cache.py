"""Caches vectors in a folder: a second evaluation of the same conversations takes seconds."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from internal.llm.model import Embedder, Vectors

_HASH_BYTES: Final = 32
_NUMBER: Final = np.dtype("<f4")


class VectorCache:
    """An embedder that asks another one only for texts whose vectors are not in the folder.

    One file per model with records of the SHA-256 of kind and text and the float32 numbers; no text is kept. An
    incomplete last record is dropped.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._file = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', embedder.name)}-{embedder.dimensions}.vectors"
        self._record = _HASH_BYTES + embedder.dimensions * _NUMBER.itemsize
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._known: dict[bytes, bytes] = dict(self._stored())

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def people_threshold(self) -> float:
        return self._embedder.people_threshold

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Like `Embedder.embed_queries`."""
        return await self._vectors("query", texts, lambda new: self._embedder.embed_queries(new, user_id=user_id))

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        """Like `Embedder.embed_documents`."""
        return await self._vectors("document", texts, lambda new: self._embedder.embed_documents(new, user_id=user_id))

    async def _vectors(
        self, kind: str, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[Vectors]]
    ) -> Vectors:
        keys = [hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "replace")).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            embedded = await embed(list(new.values()))
            records = {key: row.astype(_NUMBER).tobytes() for key, row in zip(new, embedded, strict=True)}
            with self._file.open("ab") as file:
                file.write(b"".join(key + row for key, row in records.items()))
            self._known |= records
        rows = np.frombuffer(b"".join(self._known[key] for key in keys), dtype=_NUMBER)
        vectors: Vectors = rows.reshape(len(texts), self.dimensions).astype(np.float32)
        return vectors

    def _stored(self) -> list[tuple[bytes, bytes]]:
        if not self._file.exists():
            return []
        content = self._file.read_bytes()
        incomplete = len(content) % self._record
        if incomplete:
            content = content[:-incomplete]
            with self._file.open("r+b") as file:
                file.truncate(len(content))
        records = (content[start : start + self._record] for start in range(0, len(content), self._record))
        return [(record[:_HASH_BYTES], record[_HASH_BYTES:]) for record in records]
