"""The commands of a talk: plain words and tools that act."""

from __future__ import annotations

from support.flows.erase_stage import LanguageHere
from support.flows.fact_search_stage import Known
from support.flows.flow_stage import Talk

from bot.telegram.handlers.cards import TelegramCards
from bot.telegram.handlers.tasks.task_text import confirmation_in_turn
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.correcting.facts import FactCorrections
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.reminder_requests import ReminderRequests


class Uncounted:
    """Counts nothing."""

    def tasks_changed(self, outcome: str, count: int = 1) -> None:
        pass

    def operation_refused(self, agent: str, reason: str) -> None:
        pass


def requests_of(talk: Talk) -> ReminderRequests:
    """What opens the tasks of a talk."""
    language = LanguageHere()
    names = WorkerNameReader(language)
    return ReminderRequests(
        talk.database, language, names, Uncounted(), whole_day_at="09:00", render=confirmation_in_turn
    )


def commands_of(talk: Talk, *, converses: bool = True) -> CommandFlow:
    language = LanguageHere()
    knowledge = Known(talk.database, talk.embedder, talk.clock).search()
    corrections = FactCorrections(talk.database, talk.clock, language, b"k" * 32)
    return CommandFlow(
        talk.database, talk.clock, language, knowledge, corrections, TelegramCards(), "09:00", converses=converses
    )
