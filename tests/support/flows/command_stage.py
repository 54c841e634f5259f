"""The commands of a talk: plain words and tools that act."""

from __future__ import annotations

from support.flows.erase_stage import LanguageHere
from support.flows.fact_search_stage import Known
from support.flows.flow_stage import Talk

from bot.telegram.handlers.cards import TelegramCards
from internal.flows.correcting.facts import FactCorrections
from internal.flows.turn.commands import CommandFlow


def commands_of(talk: Talk, *, converses: bool = True) -> CommandFlow:
    language = LanguageHere()
    knowledge = Known(talk.database, talk.embedder, talk.clock).search()
    corrections = FactCorrections(talk.database, talk.clock, language, b"k" * 32)
    return CommandFlow(
        talk.database, talk.clock, language, knowledge, corrections, TelegramCards(), "09:00", converses=converses
    )
