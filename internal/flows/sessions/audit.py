"""Audits a whole chronicle, its line, judgements and entities, and repairs it where possible."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Final, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from internal.chronicle import audit, audit_repository
from internal.chronicle.audit_repository import Name
from internal.chronicle.model import Audit
from internal.errors import ModelError, NotFound, Refused
from internal.flows.merging import entities
from internal.flows.sessions.lifecycle import SessionLifecycle
from internal.language.names import entities as names_entities
from internal.language.names.entities import NameForms
from internal.language.worker.process_pool import LanguageCallFailed
from internal.memory.merging import merge as nodes
from internal.people import merge, repository as people, suggestion_repository
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_NAMES_A_CALL: Final = 100
"""Names in one call of the language process, so that other questions wait a tenth of a second at most."""

_PERSON: Final = "person"
_ANYTHING: Final = "concept"
"""The type of an entity without a specific one, which may be the same as a thing of any other type."""


class LanguageRunner(Protocol):
    async def run_bulk(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a function, run when it delays no morphology. Raises what `LanguageWorker.run_bulk` raises."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two entities that differ only in case, alphabet or declension. The owner decides about people."""

    first: Name
    second: Name

    @property
    def people(self) -> bool:
        return self.first.person_id is not None and self.second.person_id is not None

    @property
    def things(self) -> bool:
        return self.first.person_id is None and self.second.person_id is None


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of a repair: `mended` by kind, and the audit before and after it; `doubled` are names still doubled.

    Judgements and merges are only requested when it returns: `judged` and `offered` count them.
    """

    before: Audit
    after: Audit
    mended: Mapping[str, int]
    judged: int = 0
    offered: int = 0
    doubled: Sequence[tuple[str, str]] = field(default_factory=tuple)


class ChronicleAudit:
    """Audits and repairs; `lifecycle` creates the runs that judge a session."""

    def __init__(self, database: Database, clock: Clock, worker: LanguageRunner, lifecycle: SessionLifecycle) -> None:
        self._database, self._clock, self._worker, self._lifecycle = database, clock, worker, lifecycle

    async def audit(self, user_id: int) -> Audit:
        """The current figures of one owner's chronicle. Changes nothing."""
        found = await self._database.read(lambda c: audit.examine(c, user_id))
        names, doubled = await self._doubled(user_id)
        return found.audit(audit.uniqueness(len(names), _doubles(doubled)))

    async def repair(self, user_id: int) -> RepairResult:
        """Repairs what it can, merges duplicate things, has sessions judged, offers to merge duplicate people."""
        before = await self.audit(user_id)
        _, doubled = await self._doubled(user_id)
        now = self._clock.now()
        mended, judged, offered = await self._database.write(lambda c: self._repair(c, user_id, doubled, now))
        after = await self.audit(user_id)
        _, left = await self._doubled(user_id)
        pairs = tuple((one.first.name, one.second.name) for one in left)
        return RepairResult(before, after, mended, judged, offered, pairs)

    def _repair(
        self, connection: Connection, user_id: int, doubled: Sequence[Duplicate], now: datetime
    ) -> tuple[Mapping[str, int], int, int]:
        mended = audit.repair(connection, user_id)
        judged = sum(
            self._lifecycle.judge_again(connection, user_id, session_id, now) for session_id in mended.unanalysed
        )
        mended.add("doubled", sum(_merge(connection, user_id, one, now) for one in doubled if one.things))
        offered = sum(_offer(connection, user_id, one, now) for one in doubled if one.people)
        return mended.counts, judged, offered

    async def _doubled(self, user_id: int) -> tuple[list[Name], list[Duplicate]]:
        names = await self._database.read(lambda c: audit_repository.entity_names(c, user_id))
        forms = await self._forms([name.name for name in names])
        pairs = [Duplicate(names[one], names[other]) for one, other in _same_forms(names, forms)]
        return names, await self._database.read(lambda c: [one for one in pairs if _may_be_one(c, user_id, one)])

    async def _forms(self, names: Sequence[str]) -> list[NameForms]:
        """The forms of names; without the language process only case and quotation marks are normalised."""
        found: list[NameForms] = []
        try:
            for start in range(0, len(names), _NAMES_A_CALL):
                found += await self._worker.run_bulk(
                    names_entities.name_forms, list(names[start : start + _NAMES_A_CALL])
                )
        except (ModelError, LanguageCallFailed) as error:
            log.warning("names_not_compared", extra={"error": type(error).__name__})
            return [names_entities.plain_forms(name) for name in names]
        return found


def _same_forms(names: Sequence[Name], forms: Sequence[NameForms]) -> list[tuple[int, int]]:
    """Indexes of names that have the same form, each pair once."""
    buckets: dict[str, list[int]] = defaultdict(list)
    for index, form in enumerate(forms):
        for key in _keys(form):
            buckets[key].append(index)
    found: dict[tuple[int, int], None] = {}
    for together in buckets.values():
        for one, other in combinations(dict.fromkeys(together), 2):
            if _of_one_type(names[one], names[other]) and _is_same_name(forms[one], forms[other]):
                found[one, other] = None
    return list(found)


def _keys(form: NameForms) -> Iterable[str]:
    """Keys that two similar names share, also by their sound in different alphabets."""
    return (*form.keys, *form.bases, *form.places, *(sound.split(":", 1)[1] for sound in form.sounds))


def _is_same_name(one: NameForms, other: NameForms) -> bool:
    return bool(one.keys & other.keys) or names_entities.match_reason(one, other) is not None


def _of_one_type(one: Name, other: Name) -> bool:
    if _PERSON in (one.subtype, other.subtype):
        return one.subtype == other.subtype
    return one.subtype == other.subtype or _ANYTHING in (one.subtype, other.subtype)


def _may_be_one(connection: Connection, user_id: int, pair: Duplicate) -> bool:
    """Whether two entities may be one: not people kept apart by accounts or the owner, nor split things."""
    if pair.first.person_id is None or pair.second.person_id is None:
        return not nodes.was_split(connection, user_id, pair.first.node_id, pair.second.node_id)
    source = people.get(connection, user_id, pair.second.person_id)
    target = people.get(connection, user_id, pair.first.person_id)
    if source is None or target is None:
        return False
    try:
        merge.refuse(connection, user_id, source, target)
    except Refused:
        return False
    return not merge.was_split(connection, user_id, source.id, target.id)


def _merge(connection: Connection, user_id: int, pair: Duplicate, now: datetime) -> bool:
    """Merges two things: the older one stays, unless only the other has a type. Returns False if that is impossible."""
    source, target = pair.second, pair.first
    if target.subtype == _ANYTHING != source.subtype:
        source, target = target, source
    try:
        entities.merge(connection, user_id, source.node_id, target.node_id, now=now, by="audit")
    except (NotFound, Refused):  # it was merged into another similar one
        return False
    return True


def _offer(connection: Connection, user_id: int, pair: Duplicate, now: datetime) -> bool:
    """Asks the owner whether two people are one; the older one stays. Returns False if he was asked before."""
    source, target = pair.second.person_id or 0, pair.first.person_id or 0
    payload = {"source_id": source, "target_id": target, "reason": f"{pair.second.name} = {pair.first.name}"}
    return suggestion_repository.suggest(connection, user_id, "merge", target, payload, now=now) is not None


def _doubles(pairs: Sequence[Duplicate]) -> int:
    """The number of superfluous entities: all but one of each connected group."""
    above: dict[str, str] = {}

    def root(node_id: str) -> str:
        while node_id in above:
            node_id = above[node_id]
        return node_id

    for pair in pairs:
        one, other = root(pair.first.node_id), root(pair.second.node_id)
        if one != other:
            above[other] = one
    return len(above)
