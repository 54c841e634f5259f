"""What handlers may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from internal.access.model import User
from internal.config import Config
from internal.flows.ordering import Ordered
from internal.scheduling.clock import Clock
from internal.storage.engine import Database

T = TypeVar("T")


class Archival(Protocol):
    async def request(self, user_id: int) -> Ordered:
        """Publishes what is buffered and has it archived now, with what was given up or waits for another attempt."""
        ...


class Export(Protocol):
    async def document(self, user_id: int) -> str:
        """Everything kept for this user, as JSON text."""
        ...


class Names(Protocol):
    async def boosts(self, query: str, names: Mapping[int, Sequence[str]]) -> Mapping[int, float]:
        """How strongly the query names each person, in (0, 1], over case, short forms and alphabets.

        Those it does not name are left out. Raises ModelUnavailable or LanguageCallFailed.
        """
        ...


class Menu(Protocol):
    async def show(self, user: User) -> None:
        """Puts the user's own list of commands, in his language, behind the menu button of his chat (cosmetic)."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """Built once, in the composition root; handlers get it as `services`."""

    database: Database
    clock: Clock
    config: Config
    archival: Archival
    export: Export
    names: Names
    menu: Menu

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.database.read(work)
