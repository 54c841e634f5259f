"""Name matching in the language process."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from internal.language.names import person_names as language
from internal.language.worker.process_pool import LanguageWorker

Names = Mapping[int, Sequence[str]]
"""Person id -> display name, aliases and "@username"."""


class NameTools(Protocol):
    """Matches names across case, declension, short forms and alphabets.

    Both calls may raise ModelUnavailable or LanguageCallFailed.
    """

    @property
    def weight(self) -> float:
        """What a boost of 1 adds to a cosine."""

    async def boosts(self, query: str, names: Names) -> Mapping[int, float]:
        """How clearly the query names each person, in (0, 1]; persons it does not name are left out."""

    async def mentions(self, text: str, names: Names) -> Mapping[int, str]:
        """The people a text certainly means, each with the form in which it is written."""


class WorkerNames:
    """The name tools of the language process."""

    def __init__(self, worker: LanguageWorker, *, weight: float = language.NAME_WEIGHT) -> None:
        self._worker, self._weight = worker, weight

    @property
    def weight(self) -> float:
        return self._weight

    async def boosts(self, query: str, names: Names) -> Mapping[int, float]:
        return await self._worker.run(language.name_boosts, query, dict(names))

    async def mentions(self, text: str, names: Names) -> Mapping[int, str]:
        return await self._worker.run(language.mentions, text, dict(names))
