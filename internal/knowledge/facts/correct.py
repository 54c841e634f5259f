"""The owner's corrections of facts: new versions, retractions and answers to contradictions.

A correction copies the claims of a fact with the owner's words and the same evidence: the fact keeps its episodes, is
removed with them when they are forgotten, and its earlier versions stay unchanged.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.errors import Conflict, NotFound, Refused, expect_found
from internal.graph import registry, store
from internal.graph.model import Node
from internal.graph.relationships import FACT
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.claims.changes import ALSO, BOTH, NEITHER, Changes
from internal.knowledge.claims.contradictions import ACCEPTED, RESOLVED, UNRESOLVED
from internal.knowledge.claims.projection import FactProjector
from internal.knowledge.claims.record import MAX_FACT
from internal.knowledge.fact_repository import StoredVersion
from internal.knowledge.facts.read import filled
from internal.knowledge.model import Claim, Fact, SetBy
from internal.knowledge.relations import Group, group_of, statement_key
from internal.language.dates.precision import DatePrecision


def update_fact(
    connection: Connection,
    user_id: int,
    fact_id: str,
    text: str,
    *,
    reason: str | None = None,
    source_id: str | None = None,
    target_id: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    begins: datetime | None = None,
    over: datetime | None = None,
    begins_as: DatePrecision | None = None,
    over_as: DatePrecision | None = None,
    set_by: SetBy = "owner",
    now: datetime,
) -> tuple[Fact, Fact]:
    """Replaces a fact by a new version with other words, ends, dates or attributes. Returns (expired, new).

    `attributes` are merged into the existing ones, None removes one. `begins` and `over` are stated dates, as exact as
    `begins_as` and `over_as` say; a beginning not before its end becomes unknown. Raises NotFound for an
    unknown fact or node, Conflict for an expired fact, Refused("empty_fact" | "too_long" | "self_loop" | "wrong_ends").
    """
    before = expect_found(fact_repository.version(connection, user_id, fact_id), f"there is no fact {fact_id}")
    if before.fact.expired_at is not None:
        raise Conflict(f"the fact {fact_id} has expired: there is a newer version of it")
    words = _words(text)
    source, target = _ends(connection, user_id, source_id or before.fact.source, target_id or before.fact.target)
    kept = {
        name: value for name, value in {**before.fact.attributes, **(attributes or {})}.items() if value is not None
    }
    changes = {
        "fact": words,
        "statement": statement_key(words),
        "source": source.id,
        "target": target.id,
        "attributes": kept,
        "set_by": set_by,
    }
    dates = _dates(before.fact, begins, over)
    if "valid_at" in dates:
        dates["valid_precision"] = begins_as if dates["valid_at"] is not None else None
    if "invalid_at" in dates:
        dates["invalid_precision"] = over_as if dates["invalid_at"] is not None else None
    projector = FactProjector(connection, user_id, now=now)
    held = _held(connection, user_id, [fact_id])
    copies = _retell(connection, held, now, **changes, **dates)
    fact = replace(before.fact, fact=words, source=source.id, target=target.id, attributes=kept, set_by=set_by)
    fact = replace(fact, **{name: value for name, value in dates.items() if name != "valid_stated"})
    after = projector.supersede(before, replace(fact, update_reason=reason), copies[-1].id)
    claim_repository.set_edge(connection, user_id, [claim.id for claim in copies], after.fact.id)
    projector.project({group_of(claim) for claim in (*held, *copies)})
    projector.record(f"user:{user_id}" if set_by == "owner" else "system:knowledge")
    stored = fact_repository.versions(connection, user_id, [fact_id, after.fact.id])
    old, new = filled(connection, user_id, [stored[fact_id], stored[after.fact.id]])
    return old, new


def undo_correction(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> Fact:
    """Restores the version before the owner's correction as a new version: its words, ends, dates and claims.

    Raises NotFound for an unknown version, Conflict where it has expired or is no correction.
    """
    version = expect_found(fact_repository.version(connection, user_id, fact_id), f"there is no fact {fact_id}")
    fact = version.fact
    before = fact_repository.version(connection, user_id, fact.supersedes) if fact.supersedes else None
    claims = _held(connection, user_id, [fact_id])
    copies = [claim for claim in claims if claim.created_at == fact.created_at]
    if before is None or fact.expired_at is not None or not copies:
        raise Conflict(f"the fact {fact_id} was not corrected, or has changed since")
    gone = [
        one
        for one in claim_repository.of_edges(connection, user_id, [before.fact.id])
        if one.retracted_at == fact.created_at
    ]
    claim_repository.retract(connection, user_id, [claim.id for claim in copies], now)
    restored = [claim_repository.copy_to(connection, one, created_at=now, retracted_at=None) for one in gone]
    projector = FactProjector(connection, user_id, now=now)
    after = projector.supersede(version, replace(before.fact, expired_at=None), restored[-1].id)
    claim_repository.set_edge(connection, user_id, [claim.id for claim in restored], after.fact.id)
    projector.project({group_of(claim) for claim in (*claims, *restored)})
    projector.record(f"user:{user_id}")
    stored = fact_repository.versions(connection, user_id, [after.fact.id])
    return filled(connection, user_id, [stored[after.fact.id]])[0]


def retract_fact(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> None:
    """Retracts a fact that the owner says was never true; it expires and can still be looked up.

    Raises NotFound for an unknown fact, Conflict for an expired one.
    """
    version = expect_found(fact_repository.version(connection, user_id, fact_id), f"there is no fact {fact_id}")
    if version.fact.expired_at is not None:
        raise Conflict(f"the fact {fact_id} has expired")
    answer = _Answer(connection, user_id, now=now)
    answer.give_up([version])
    answer.project(answer.groups)
    answer.record(f"user:{user_id}")


def ending_claims(connection: Connection, user_id: int, fact: Fact) -> list[Claim]:
    """The claims that ended a version which others support as well; empty if it holds, or was learned as ended."""
    held = _held(connection, user_id, [fact.id]) if fact.expired_at is None and fact.invalid_at is not None else []
    ends = [claim for claim in held if claim.invalid_at == fact.invalid_at]
    return ends if len(ends) < len(held) else []


def reopen_fact(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> None:
    """Retracts what was said of a fact's end. Raises NotFound for an unknown fact, Conflict if nothing ended it."""
    version = expect_found(fact_repository.version(connection, user_id, fact_id), f"there is no fact {fact_id}")
    ends = ending_claims(connection, user_id, version.fact)
    if not ends:
        raise Conflict(f"the fact {fact_id} holds, has expired, or gave way to another")
    claim_repository.retract(connection, user_id, [claim.id for claim in ends], now)
    projector = FactProjector(connection, user_id, now=now)
    projector.project({group_of(version.fact)})
    projector.record(f"user:{user_id}")


def resolve_contradiction(
    connection: Connection, user_id: int, contradiction_id: str, choice: str, *, now: datetime
) -> Changes:
    """Applies the owner's answer: the id of the fact that holds, BOTH or NEITHER.

    The chosen fact becomes the owner's word. Sides that began earlier end when it begins; those from the same moment
    and newer ones expire. With BOTH all of them hold in parallel.
    Raises NotFound for an unknown contradiction or one that is settled, Refused("choice") for a fact that is no side.
    """
    node = store.get_node(connection, user_id, contradiction_id)
    if node is None or node.properties.get("status") != UNRESOLVED or not node.properties.get("facts"):
        raise NotFound(f"there is no open contradiction {contradiction_id}")
    sides = fact_repository.versions(connection, user_id, node.properties["facts"], hidden=False)
    if choice not in {BOTH, NEITHER, *sides}:
        raise Refused("choice", f"choice: one of {BOTH}, {NEITHER}, {', '.join(sides)} is expected")
    answer = _Answer(connection, user_id, now=now)
    if choice == BOTH:
        answer.keep_all(sides.values())
    elif choice == NEITHER:
        answer.give_up(sides.values())
    else:
        answer.choose(sides[choice], [side for fact_id, side in sides.items() if fact_id != choice])
    status = ACCEPTED if choice == BOTH else RESOLVED
    answer.contradictions.settle(contradiction_id, status, "accepted", choice)
    answer.project(answer.groups)
    answer.record(f"user:{user_id}")
    return answer.changes


@dataclass
class _Answer(FactProjector):
    """Applies one answer; the caller projects the facts of `groups` afterwards, all at once."""

    groups: set[Group] = field(init=False, default_factory=set)

    def keep_all(self, sides: Collection[StoredVersion]) -> None:
        for side in sides:
            self._confirm(side, also=True)

    def give_up(self, sides: Collection[StoredVersion]) -> None:
        """Retracts and expires these facts."""
        held = _held(self.connection, self.user_id, [side.fact.id for side in sides])
        claim_repository.retract(self.connection, self.user_id, [claim.id for claim in held], self.now)
        for side in sides:
            self.expire(side)
        self.groups |= {group_of(claim) for claim in held}

    def choose(self, chosen: StoredVersion, others: Sequence[StoredVersion]) -> None:
        begins = chosen.fact.valid_at or min(
            (claim.said_at for claim in _held(self.connection, self.user_id, [chosen.fact.id])), default=self.now
        )
        given_up = [other for other in others if not self._ended(other, chosen, begins)]
        self._confirm(chosen, also=False)
        self.give_up(given_up)

    def _ended(self, other: StoredVersion, chosen: StoredVersion, begins: datetime) -> bool:
        """Ends a side when the chosen one begins, if it can have held before. Returns whether it is ended."""
        begun = other.fact.valid_at
        if other.fact.invalid_at is not None and other.fact.invalid_at <= begins:
            return True
        if begun is None and other.fact.invalid_at is not None:
            return False
        if begun is not None and (chosen.fact.valid_at is None or begun < begins) and begun < begins:
            self._end(other, chosen, begins)
            return True
        if begun is None and chosen.fact.valid_at is not None:
            self._end(other, chosen, begins)
            return True
        return False

    def _end(self, other: StoredVersion, chosen: StoredVersion, at: datetime) -> None:
        self._confirm(other, also=False)
        held = _held(self.connection, self.user_id, [other.fact.id])
        text = next((claim for claim in held if claim.fact == other.fact.fact), held[0])
        exact = {"valid_precision": None, "invalid_precision": chosen.fact.valid_precision}
        end = {"valid_at": None, "valid_stated": False, "invalid_at": at, "said_at": self.now, **exact}
        claim_repository.copy_to(self.connection, text, created_at=self.now, **end)

    def _confirm(self, side: StoredVersion, *, also: bool) -> None:
        held = _held(self.connection, self.user_id, [side.fact.id])
        marks = {ALSO: True} if also else {}
        for claim in held:
            _retell(self.connection, [claim], self.now, set_by="owner", attributes={**claim.attributes, **marks})
        self.groups |= {group_of(claim) for claim in held}


def _dates(fact: Fact, begins: datetime | None, over: datetime | None) -> dict[str, Any]:
    """The dates that change; an end before the known beginning makes the beginning unknown."""
    dates: dict[str, Any] = {}
    if begins is not None:
        dates |= {"valid_at": begins, "valid_stated": True}
    if over is not None:
        dates["invalid_at"] = over
    begun, ended = dates.get("valid_at", fact.valid_at), dates.get("invalid_at", fact.invalid_at)
    if begun is not None and ended is not None and ended <= begun:
        dates |= {"valid_at": None, "valid_stated": False} if over is not None else {"invalid_at": None}
    return dates


def _held(connection: Connection, user_id: int, fact_ids: Collection[str]) -> list[Claim]:
    return [claim for claim in claim_repository.of_edges(connection, user_id, fact_ids) if claim.retracted_at is None]


def _retell(connection: Connection, held: Sequence[Claim], now: datetime, **changes: Any) -> list[Claim]:
    """Retracts claims and stores changed copies with the same evidence for the same fact."""
    copies = [claim_repository.copy_to(connection, claim, created_at=now, **changes) for claim in held]
    if held:
        claim_repository.retract(connection, held[0].user_id, [claim.id for claim in held], now)
    return copies


def _words(text: str) -> str:
    words = " ".join(text.split())
    if not statement_key(words):
        raise Refused("empty_fact", "fact: words are expected")
    if len(words) > MAX_FACT:
        raise Refused("too_long", f"fact: at most {MAX_FACT} characters are expected")
    return words


def _ends(connection: Connection, user_id: int, source_id: str, target_id: str) -> tuple[Node, Node]:
    found = [store.resolve_node(connection, user_id, node_id) for node_id in (source_id, target_id)]
    for node_id, node in zip((source_id, target_id), found, strict=True):
        if node is None:
            raise NotFound(f"there is no node {node_id}")
    source, target = (node for node in found if node is not None)
    registry.relationship_of(FACT, source.label, target.label)
    if source.id == target.id:
        raise Refused("self_loop", "target: another node than the source is expected")
    return source, target
