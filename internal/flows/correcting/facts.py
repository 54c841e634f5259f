"""Corrects a fact in the owner's own words; its other end follows if the words name another thing.

"Петров работает в Beta" must not stay a fact about ACME, or the next line about Beta would seem to contradict it.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.errors import ModelUnavailable
from internal.flows.forgetting import bio_sentences
from internal.flows.visibility import name_traces
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import service as knowledge
from internal.knowledge.entities import repository as entitie_repository
from internal.knowledge.entities.resolved_names import KnownName
from internal.knowledge.model import Fact
from internal.language.dates.questions import DatedQuestion, dated_question, dated_question_plainly
from internal.language.facts.corrections import Correction, read_correction
from internal.language.facts.restatements import renamed
from internal.language.names import entities
from internal.language.search.word_match import restates, shared_words
from internal.language.text.spelling import text_language
from internal.language.worker.calls import LanguageCalls
from internal.language.worker.process_pool import LanguageCallFailed, LanguageWorker
from internal.people import hidden_parts
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.forgetting import forgettings

log = logging.getLogger(__name__)


_NAMED_BY = {"Entity": "name", "Preference": "preference", "Topic": "name"}


Outcome = Literal["same", "changed", "ended", "denied"]


@dataclass(frozen=True, slots=True)
class CorrectedFact:
    """`fact` is the newest version, or the last one that held; `outcome` is the effect of the words.

    `same`: it was stated already. `ended`: it is over. `denied`: it was never true, and is withdrawn.
    """

    fact: Fact
    outcome: Outcome

    @property
    def changed(self) -> bool:
        return self.outcome != "same"


@dataclass(frozen=True, slots=True)
class _NewTarget:
    """The thing that the new words name: a known one, or a new one of this name (`node_id` None)."""

    name: str
    node_id: str | None


class FactCorrections:
    """Applies the owner's words to a fact as a soft update."""

    def __init__(self, database: Database, clock: Clock, language: LanguageCalls, tombstone_key: bytes) -> None:
        self._database, self._clock, self._language, self._key = database, clock, language, tombstone_key

    async def meant(
        self, user: User, cited: Sequence[Fact], known: Callable[[], Awaitable[Sequence[Fact]]], words: str
    ) -> list[Fact]:
        """The facts that a sentence may correct: those of `cited` that share most words with it or that it only denies,
        else similar ones of `known` about the same subject. Empty for a sentence about something else.
        """
        try:
            shared = await self._language.run(shared_words, [fact.fact for fact in cited], words)
            most = max(shared, default=0)
            if most:
                return [fact for fact, count in zip(cited, shared, strict=True) if count == most]
            closed = [fact for fact in cited if (await self._correction(user, fact, words)).status != "holds"]
            if closed:
                return closed
            others = await known()
            subjects = await self._database.read(lambda c: [_subject(c, fact) for fact in others])
            about = [(fact.fact, names) for fact, names in zip(others, subjects, strict=True)]
            shared = await self._language.run(restates, about, words)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("corrected_without_comparison", extra={"reason": type(error).__name__})
            return list(cited)
        return [fact for fact, count in zip(others, shared, strict=True) if 0 < count == max(shared)]

    async def preview(self, user: User, fact_id: str, words: str) -> CorrectedFact:
        """The newest version as it is, and the effect that `restate` would have. Raises NotFound."""
        said, fact = " ".join(words.split()), await self._database.read(lambda c: _newest(c, user.user_id, fact_id))
        correction = await self._correction(user, fact, said)
        if correction.status != "holds":
            return CorrectedFact(fact, "denied" if correction.status == "denied" else "ended")
        return CorrectedFact(fact, "same" if fact.fact == said and _has_dates(fact, correction) else "changed")

    async def undo(self, user: User, fact_id: str) -> Fact:
        """Restores the version that a correction replaced by this one. Raises NotFound or Conflict."""
        now = self._clock.now()

        def work(connection: Connection) -> Fact:
            restored = knowledge.undo_correction(connection, user.user_id, fact_id, now=now)
            corrected = knowledge.fact(connection, user.user_id, fact_id)
            bio_sentences.show_replaced(connection, user.user_id, {corrected.supersedes or ""}, now=now)
            return restored

        return await self._database.write(work)

    async def restate(self, user: User, fact_id: str, words: str) -> CorrectedFact:
        """Replaces the newest version of a fact; any version may be named, and the same words change nothing.

        Dates in the words become the fact's own. Words that only deny it withdraw it, or end it if they say that it
        is over; the fact keeps its words then, and sentences of profiles that state what was denied go.

        Raises NotFound for a fact that is gone, Conflict for one that does not hold any more, and
        Refused("empty_fact" | "too_long").
        """
        said, now = " ".join(words.split()), self._clock.now()
        read = await self._database.read(lambda c: _newest(c, user.user_id, fact_id))
        correction = await self._correction(user, read, said)
        other = await self._other(user, read, said) if correction.status == "holds" else None

        def work(connection: Connection) -> CorrectedFact:
            current = _newest(connection, user.user_id, fact_id)
            if correction.status != "holds":
                return _closed(connection, current, correction, self._key, now)
            if current.fact == said and _has_dates(current, correction):
                handled = current.set_by == "owner" and current.id != fact_id
                return CorrectedFact(current, "changed" if handled else "same")
            target = None if other is None or current.id != read.id else _target(connection, current, other, now)
            _, new = knowledge.update_fact(
                connection,
                user.user_id,
                current.id,
                said,
                target_id=target,
                begins=correction.begins,
                over=correction.ends,
                begins_as=correction.begins_as,
                over_as=correction.ends_as,
                now=now,
            )
            if new.fact != current.fact:
                bio_sentences.hide_replaced(connection, current, new, now=now)
            return CorrectedFact(new, "changed")

        return await self._database.write(work)

    async def _correction(self, user: User, fact: Fact, said: str) -> Correction:
        """What the words say about the fact's time; empty if the language process does not answer."""
        names = await self._database.read(lambda c: _names(c, fact))
        at, language = self._clock.now().astimezone(ZoneInfo(user.tz)), text_language(said, user.lang)
        try:
            return await self._language.run(read_correction, fact.fact, said, names, at, language)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("restated_without_dates", extra={"reason": type(error).__name__})
            return Correction("holds")

    async def _other(self, user: User, fact: Fact, said: str) -> _NewTarget | None:
        """The thing that the words name in place of the fact's target; None if it is the same or unknown."""
        user_id = user.user_id
        target = await self._database.read(lambda c: store.get_node(c, user_id, fact.target))
        if target is None or target.label not in _NAMED_BY or target.id == store.owner_node_id(user_id):
            return None
        names = [target.name, *target.properties.get("aliases", ())]
        try:
            name = await self._language.run(renamed, fact.fact, said, names, text_language(said, user.lang))
            if not name:
                return None
            exact, likely = await self._database.read(lambda c: _candidates(c, user_id, target, name))
            found = exact or await self._alike(name, likely)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("restated_in_words_only", extra={"reason": type(error).__name__})
            return None
        if fact.source in found or len(found) > 1:
            return None
        if not found and target.subtype == "person":
            return None  # people are created by their own rules
        return _NewTarget(name, found[0] if found else None)

    async def _alike(self, name: str, likely: Sequence[KnownName]) -> list[str]:
        [hits] = await self._language.run(entities.match_names, [name], [one.names for one in likely])
        return list(dict.fromkeys(likely[index].node_id for index, _, _ in hits))


def _closed(connection: Connection, current: Fact, correction: Correction, key: bytes, now: datetime) -> CorrectedFact:
    """The fact after it was ended or denied; repeating the words is one correction."""
    if current.expired_at is not None:
        return CorrectedFact(current, "denied")
    if correction.status == "denied":
        # Denied statements are removed from profiles too, and lines up to now do not bring them back.
        with hidden_parts.put_back(connection, current.user_id, now=now):
            bio_sentences.erase(connection, current.user_id, [current.id], key, now)
        forgettings.replace(connection, current.user_id, current.id, now=now)
        knowledge.retract_fact(connection, current.user_id, current.id, now=now)
        return CorrectedFact(_newest(connection, current.user_id, current.id), "denied")
    if current.invalid_at is not None and current.invalid_at <= (correction.ends or now):
        return CorrectedFact(current, "ended")
    user_id, ends, exact = current.user_id, correction.ends, correction.ends_as
    _, ended = knowledge.update_fact(connection, user_id, current.id, current.fact, over=ends, over_as=exact, now=now)
    return CorrectedFact(ended, "ended")


def _has_dates(fact: Fact, correction: Correction) -> bool:
    return correction.begins in (None, fact.valid_at) and correction.ends in (None, fact.invalid_at)


def _names(connection: Connection, fact: Fact) -> list[str]:
    ends = store.nodes_by_ids(connection, fact.user_id, [fact.source, fact.target]).values()
    return [name for node in ends for name in (node.name, *node.properties.get("aliases", ()))]


def _subject(connection: Connection, fact: Fact) -> list[str] | None:
    """The names of the person or thing that a fact is about; None for the owner."""
    if fact.source == store.owner_node_id(fact.user_id):
        return None
    return name_traces.names_by_id(connection, fact.user_id, fact.source)


def _newest(connection: Connection, user_id: int, fact_id: str) -> Fact:
    return knowledge.history(connection, user_id, fact_id)[-1]


def _candidates(connection: Connection, user_id: int, target: Node, name: str) -> tuple[list[str], list[KnownName]]:
    """The ids of things with exactly this name, and all things of the target's kind that may be meant."""
    exact = [node.id for node in store.nodes_called(connection, user_id, [name])]
    known = entitie_repository.known_names(connection, user_id)
    return exact, [one for one in known if (one.label, one.subtype) == (target.label, target.subtype)]


def _target(connection: Connection, fact: Fact, other: _NewTarget, now: datetime) -> str | None:
    """The node that is named now, created like the one it replaces, and supported by the same lines."""
    if other.node_id is not None:
        node = store.resolve_node(connection, fact.user_id, other.node_id)
        return None if node is None else node.id
    before = store.get_node(connection, fact.user_id, fact.target)
    if before is None:
        return None
    properties: dict[str, Any] = {_NAMED_BY[before.label]: other.name}
    if before.label == "Entity":
        properties |= {"type": before.subtype, "labels": before.properties.get("labels", [])}
    node = store.add_node(connection, fact.user_id, before.label, properties, now=now, by="owner")
    for line in knowledge.evidence_of_fact(connection, fact.user_id, fact.id):
        segments = {line.segment: line.message_id}
        knowledge.cite_node(connection, fact.user_id, node.id, line.episode_id, segments, operation="created")
    return node.id


class WorkerDates:
    """Reads dates with the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def question(self, text: str, user: User, now: datetime) -> DatedQuestion | None:
        """The date and the question of a text, by the user's own clock and language; None if no date can be read.

        Without the language process, years, ISO dates and relative words are still read.
        """
        at = now.astimezone(ZoneInfo(user.tz))
        try:
            return await self._worker.run(dated_question, text, at, user.lang)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("dates_degraded", extra={"reason": type(error).__name__})
            return dated_question_plainly(text, at, user.lang)
