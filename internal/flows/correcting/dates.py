"""Reads dates that users type, in the language process."""

import logging
from datetime import datetime
from zoneinfo import ZoneInfo

from internal.access.model import User
from internal.errors import ModelUnavailable
from internal.language.dates.questions import DatedQuestion, dated_question, dated_question_plainly
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker

log = logging.getLogger(__name__)


class WorkerDates:
    """Reads dates with the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def question(self, text: str, user: User, now: datetime) -> DatedQuestion | None:
        """The date and the question of a text, by the user's own clock and language; None if no date can be read.

        While the language process is out of reach years, ISO dates and relative words are still read.
        """
        at = now.astimezone(ZoneInfo(user.tz))
        try:
            return await self._worker.run(dated_question, text, at, user.lang)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("dates_degraded", extra={"reason": type(error).__name__})
            return dated_question_plainly(text, at, user.lang)
