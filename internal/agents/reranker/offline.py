"""The reranker without a model: people named in the question, else the circle it asks for, else the first few."""

from collections.abc import Sequence

from internal.agents.model import PersonPick, RerankerRequest
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.worker.process_pool import LanguageWorker
from internal.people.circle_words import circles_in_question
from internal.people.model import Person, names_of

_UNNAMED = 3
"""People kept if nobody is named; the right one is among them for 56 of 60 such queries of the calibration set."""


class OfflineReranker:
    """The Reranker by rules, run in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def pick(self, request: RerankerRequest) -> list[PersonPick]:
        """Picks people from candidates, best first. Raises ModelUnavailable if the process cannot answer."""
        if not request.candidates or request.max_people < 1:
            return []
        return await self._worker.run(pick, request)


def pick(request: RerankerRequest) -> list[PersonPick]:
    """The named candidates, most plainly named first. Pure.

    If nobody is named, those of the circle asked for, else the first three.
    """
    boosts = name_boosts(request.query, {person.id: names_of(person) for person in request.candidates})
    named = [person for person in request.candidates if boosts.get(person.id, 0) >= NAMED]
    if named:
        named.sort(key=lambda person: -boosts[person.id])
        return _picks(named[: request.max_people], "named in the question")
    circles = circles_in_question(request.query)
    if inside := [person for person in request.candidates if person.circle in circles]:
        return _picks(inside[: request.max_people], "in the circle asked for")
    return _picks(request.candidates[: min(_UNNAMED, request.max_people)], "closest in meaning")


def _picks(people: Sequence[Person], reason: str) -> list[PersonPick]:
    unique = {person.id: PersonPick(person.id, reason) for person in people}
    return list(unique.values())
