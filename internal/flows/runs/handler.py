"""What one agent's part of a run is: read, ask, digest, apply."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection

from internal.agents.model import AgentReply
from internal.errors import Conflict
from internal.scheduling.model import Run

Input = TypeVar("Input")
Digested = TypeVar("Digested")


class StaleInput(Conflict):
    """What the agent was shown has changed meanwhile: asked anew, without charging an attempt."""


class StaleDigest(Conflict):
    """What the digest was made from has changed meanwhile: made anew from the same reply, the model is not asked."""


@dataclass(frozen=True, slots=True)
class Prepared(Generic[Input]):
    """What an agent is asked, and the revs of all it was shown (JSON).

    The snapshot is stored with the reply (C9); `apply` compares the run's, which a restart may have brought back.
    """

    input: Input
    snapshot: dict[str, Any]


class Effects(Protocol):
    def after_commit(self) -> None:
        """Moves counters and wakes whoever waits for the change; called once, after C10."""
        ...


class RunHandler(Protocol[Input, Digested]):
    """One agent's part of a run: read, ask, digest, apply.

    `read` and `apply` never wait for a network; `ask` never touches the database. `digest` does what takes time and
    writes nothing, between the stored reply and the transaction that applies it.
    """

    @property
    def agent(self) -> str:
        """Its name in the runs table."""
        ...

    @property
    def source(self) -> str:
        """Its name in events, such as `agent:Archivist`."""
        ...

    async def read(self, run: Run) -> Prepared[Input]: ...

    async def ask(self, prepared: Prepared[Input]) -> AgentReply:
        """Raises the errors of `ChatModel.complete`."""
        ...

    async def digest(self, run: Run, prepared: Prepared[Input], reply: str) -> Digested:
        """The reply as typed proposals, with what has to be looked up for them. Raises ModelReplyInvalid."""
        ...

    def apply(
        self, connection: Connection, run: Run, prepared: Prepared[Input], digested: Digested, now: datetime
    ) -> Effects:
        """Writes all effects in the caller's transaction.

        Raises StaleInput if what was shown has changed, StaleDigest if what was looked up for the digest has.
        """
        ...
