"""Deletes the bytes of files that were forgotten, once no artifact of anybody names them."""

from internal.artifacts import repository as artifacts
from internal.artifacts.store import ArtifactStore
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone


class UnusedFiles:
    """Looks after each erasure, and once after a start: a process may have ended between row and bytes."""

    def __init__(self, database: Database, store: ArtifactStore) -> None:
        self._database, self._store = database, store
        self._look = True

    def forget(self, user_id: int) -> None:
        """Something of this owner was erased."""
        self._look = True

    async def delete_due(self) -> int:
        """Deletes what is not needed any more. Returns the number of files."""
        if not self._look:
            return 0
        with acting_for_everyone():
            unused = await self._database.write(artifacts.unused_files)
            for sha256 in unused:
                await self._store.delete(sha256)
                await self._database.write(lambda c, one=sha256: artifacts.forget_file(c, one))  # type: ignore[misc]
        self._look = False
        return len(unused)
