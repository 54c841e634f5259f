"""Asks the responder without a model about what was said before."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain

from internal.agents.model import DialogueLine, OwnerProfile, RecalledFact, ResponderRequest
from internal.agents.responder.offline.agent import compose

EARLIER = datetime(2026, 3, 2, 10, tzinfo=UTC)
NOW = datetime(2026, 3, 16, 12, tzinfo=UTC)


def answer(language: str, question: str, *lines: tuple[str, datetime], fact: str = "", relation: str = "") -> str:
    known = RecalledFact(1, "f1", fact, said_at=EARLIER, relation="WORKS_FOR", source="Owner", about_owner=True)
    told = ((DialogueLine("user", text, at=at), DialogueLine("assistant", "…")) for text, at in lines)
    return compose(
        ResponderRequest(
            owner=OwnerProfile(1, "Owner", None, language, "UTC"),  # type: ignore[arg-type]
            persona_name="Laplaced",
            persona_tone="",
            inner_circle=(),
            relevant_people=(),
            dialogue=[*chain.from_iterable(told), DialogueLine("user", question, at=NOW)],
            now=NOW,
            query=question,
            facts=[known] if fact else [],
            relations=[relation] if relation else [],
        )
    )
