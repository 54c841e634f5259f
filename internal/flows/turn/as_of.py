"""Answers questions about another time from the facts that held then. They do not become part of the dialogue."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from internal.access import repository as users
from internal.access.model import User
from internal.agents.citations import cited, with_numbers
from internal.agents.model import (
    DialogueLine,
    OwnerProfile,
    RecalledFact,
    Responder,
    ResponderRequest,
    StandingInstruction,
)
from internal.config.settings import PersonaConfig
from internal.errors import ModelError
from internal.flows.turn import instructions
from internal.recall.prompt.facts import FactRecall
from internal.storage.database import Database

log = logging.getLogger(__name__)

WRITING_S: Final = 45.0
"""Seconds to wait for the answer in words: the next such question waits, and the facts are an answer too."""


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """`text` is Markdown for the owner, None if the model failed or nothing was known; the facts are the answer then.

    `facts` are those that held and match the question, the `cited` ones first: the text's ¹ is the first one.
    """

    text: str | None
    facts: Sequence[RecalledFact]
    cited: int = 0


class AsOfQuestions:
    """Answers questions as of a moment from facts alone, as profiles have no history."""

    def __init__(self, database: Database, facts: FactRecall, responder: Responder, persona: PersonaConfig) -> None:
        self._database, self._facts, self._responder, self._persona = database, facts, responder, persona

    async def answer(
        self,
        user_id: int,
        question: str,
        as_of: datetime,
        known_at: datetime | None = None,
        until: datetime | None = None,
    ) -> PastAnswer:
        """Answers from the facts at `as_of` (aware), or at any time in [as_of, until), as known at `known_at`.

        Raises NotFound for an unknown user.
        """
        user = await self._database.read(lambda connection: users.get(connection, user_id))
        facts = await self._facts.as_of(user_id, question, as_of, known_at, until)
        if not facts:
            return PastAnswer(None, ())
        moment = as_of if until is None else until - timedelta(microseconds=1)
        try:
            standing = await self._database.read(lambda connection: instructions.active(connection, user_id))
            async with asyncio.timeout(WRITING_S):
                text = await self._written(self._request(user, question, moment, facts, standing))
        except (ModelError, TimeoutError) as error:
            log.warning("past_answer_failed", extra={"reason": type(error).__name__})
            return PastAnswer(None, facts)
        marked = {number: index for index, number in enumerate(cited(text))}
        in_order = sorted(facts, key=lambda fact: (marked.get(fact.n, len(facts)), fact.n))
        return PastAnswer(with_numbers(text, ["F"]), in_order, len(marked))

    def _request(
        self,
        user: User,
        question: str,
        moment: datetime,
        facts: Sequence[RecalledFact],
        standing: Sequence[StandingInstruction],
    ) -> ResponderRequest:
        """The question as if it were asked at that moment, with the owner's current instructions."""
        return ResponderRequest(
            owner=OwnerProfile.of(user),
            persona_name=self._persona.name,
            persona_tone=self._persona.tone,
            inner_circle=(),
            relevant_people=(),
            dialogue=[DialogueLine("user", question)],
            now=moment,
            query=question,
            facts=facts,
            instructions=standing,
        )

    async def _written(self, request: ResponderRequest) -> str:
        async with contextlib.aclosing(self._responder.reply(request)) as deltas:  # type: ignore[type-var] # it is closed
            async for delta in deltas:
                if delta.final is not None:
                    return delta.final.text
        return ""
