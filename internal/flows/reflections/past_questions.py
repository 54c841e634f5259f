"""Answers how often something happens and what led to it, from the owner's lines, and says if there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from zoneinfo import ZoneInfo

from babel.dates import format_date

from internal.access.model import User
from internal.errors import ModelUnavailable
from internal.flows.reflections.model import Line
from internal.flows.views.people_map import PeopleMaps
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.language.chronicle.lines import ANSWERS
from internal.language.chronicle.past_questions import answering, past_question
from internal.language.text.spelling import text_language
from internal.language.worker.calls import LanguageCalls
from internal.language.worker.process_pool import LanguageCallFailed
from internal.people import repository as people
from internal.people.model import names_of
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database

_LOOKED_THROUGH = 200


@dataclass(frozen=True, slots=True)
class LifeAnswers:
    """Answers questions about relations and the past by rules."""

    database: Database
    worker: LanguageCalls
    knowledge: KnowledgeSearch
    messages: MessageSearch
    maps: PeopleMaps
    prompt_filter: PromptFilter

    async def answer(self, user: User, question: str) -> Sequence[str]:
        """The answer in sentences; empty for questions about anything else."""
        try:
            return await self.maps.answer(user, question) or (await self.past(user, question))[0]
        except (ModelUnavailable, LanguageCallFailed):
            return ()

    async def past(self, user: User, question: str) -> tuple[list[str], list[Line]]:
        """Answers how often, or what led to it, with the lines that say so. May raise errors of `LanguageWorker`."""
        if (asked := past_question(question)) is None:
            return [], []
        known = await self.database.read(lambda c: people.listing(c, user.user_id))
        query, zone = await self.knowledge.prepare_query(user.user_id, asked[1]), ZoneInfo(user.tz)
        hits = [one.message for one in await self.messages.search(user.user_id, query, _LOOKED_THROUGH)]
        hits = await self.prompt_filter.messages(user.user_id, hits)
        own = sorted((one for one in hits if one.role == "user" and one.forward is None), key=lambda one: one.timestamp)
        names = {one.id: names_of(one) for one in known}
        indexes = await self.worker.run(answering, *asked, [one.content for one in own], names)
        language = text_language(question, user.lang)
        said, lines = ANSWERS[language], [Line(own[n].id, own[n].timestamp, own[n].content) for n in indexes or ()]
        if not lines:
            return [] if indexes is None else [said[f"no {asked[0]}"]], []
        days = sorted({line.at.astimezone(zone).date() for line in lines})
        shown = {on: format_date(on, "d MMM y", locale=language) for on in days}
        quoted = [
            said["led"].format(day=shown[line.at.astimezone(zone).date()], quote=line.text) for line in lines[-3:]
        ]
        if asked[0] == "led":
            return quoted, lines
        between = [(later - earlier).days for earlier, later in pairwise(days)]
        every = said["every"].format(days=round(median(between))) if between else ""
        return [
            said["often" if between else "once"].format(
                count=len(days), first=shown[days[0]], last=shown[days[-1]], every=every
            ),
            quoted[-1],
        ], lines
