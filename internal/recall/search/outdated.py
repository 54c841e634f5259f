"""Messages that time has overtaken: all that they told has ended since, was corrected, or lost a contradiction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from internal.knowledge.relations import FUNCTIONAL
from internal.recall.search import outdated_repository as repository
from internal.recall.search import passage_repository


@dataclass(frozen=True, slots=True)
class Outdated:
    """Since when a message does not hold any more, and the keys of what took its place.

    A key is `fact:<id>`, `memory:<node id>`, or `message:<id>` for a message that tells one of these.
    """

    since: datetime
    replaced_by: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Lost:
    """One thing that does not hold any more. `fact` is empty for a memory, `by` for what has no known successor."""

    since: datetime
    fact: str = ""
    place: tuple[str, str, str] = ("", "", "")
    by: str = ""


def outdated(connection: Connection, user_id: int, message_ids: Collection[str], now: datetime) -> dict[str, Outdated]:
    """Those of these messages that tell nothing that still holds, but something that did.

    What tells an end ("she has left ACME") is not overtaken by that end, nor is what nobody drew anything from.
    """
    lost: dict[str, list[_Lost]] = defaultdict(list)
    standing: set[str] = set()
    for message_id, told in repository.told(connection, user_id, message_ids).items():
        for one in _told(told.claims, now):
            lost[message_id].append(one) if one is not None else standing.add(message_id)
        for memory in told.memories:
            if memory.winner is None:
                standing.add(message_id)
            else:
                lost[message_id].append(_Lost(memory.since, by=f"memory:{memory.winner}"))
    left = {message_id: ones for message_id, ones in lost.items() if message_id not in standing}
    return _with_successors(connection, user_id, left) if left else {}


def _told(claims: Sequence[Row[Any]], now: datetime) -> Iterable[_Lost | None]:
    """What the claims of one message come to: None for each that still holds.

    A correction of the owner keeps the lines of what it corrects as its evidence: it counts as what the message itself
    told only where the words are the same.
    """
    own = [claim for claim in claims if claim.set_by != "owner"]
    words = {(claim.source, claim.name, claim.target, claim.statement) for claim in own}
    taken_back = [claim.retracted_at for claim in own if claim.retracted_at is not None]
    for claim in claims:
        place = (claim.source, claim.name, claim.target)
        if claim.retracted_at is not None:
            continue  # taken back together with the words of the message, or told again by the owner
        corrects = claim.set_by == "owner" and bool(taken_back) and (*place, claim.statement) not in words
        if corrects:
            yield _Lost(max(taken_back), by=f"fact:{claim.edge_id}")
        elif (claim.told_end is not None and (claim.set_by != "owner" or not own)) or _holds(claim, now):
            yield None
        else:
            yield _Lost(claim.expired or claim.ended, claim.edge_id, place)


def _holds(claim: Row[Any], now: datetime) -> bool:
    return claim.expired is None and (claim.ended is None or claim.ended > now)


def _with_successors(connection: Connection, user_id: int, lost: Mapping[str, Sequence[_Lost]]) -> dict[str, Outdated]:
    """The messages with what took the place of each thing they told; not those whose fact holds once more."""
    everything = [one for ones in lost.values() for one in ones if one.fact]
    latest = _latest(connection, user_id, {one.fact for one in everything})
    places = {one.place[:2] for one in everything if one.place[1] in FUNCTIONAL}
    holding = repository.holding(connection, user_id, {source for source, _ in places}, {name for _, name in places})

    def after(one: _Lost) -> set[str]:
        now_holds = holding.get(one.place[:2], ("", ""))[0]
        return {one.by} if one.by else {f"fact:{fact}" for fact in (latest.get(one.fact, ""), now_holds) if fact}

    found: dict[str, Outdated] = {}
    for message_id, ones in lost.items():
        if any(one.fact and holding.get(one.place[:2], ("", ""))[1] == one.place[2] for one in ones):
            continue
        found[message_id] = Outdated(max(one.since for one in ones), frozenset().union(*map(after, ones)))
    return _with_messages(connection, user_id, found)


def _with_messages(connection: Connection, user_id: int, found: Mapping[str, Outdated]) -> dict[str, Outdated]:
    """The same, with the messages that tell the successors."""
    keys = {key for one in found.values() for key in one.replaced_by}
    facts, nodes = _ids(keys, "fact:"), _ids(keys, "memory:")
    drawn = passage_repository.drawn_from(connection, user_id, facts, nodes) if keys else {}

    def told(message_id: str, key: str) -> Iterable[str]:
        return (f"message:{one}" for one in drawn.get(key.partition(":")[2], ()) if one not in found)

    return {
        message_id: Outdated(one.since, one.replaced_by.union(*(told(message_id, key) for key in one.replaced_by)))
        for message_id, one in found.items()
    }


def _ids(keys: Iterable[str], prefix: str) -> list[str]:
    return [key.removeprefix(prefix) for key in keys if key.startswith(prefix)]


def _latest(connection: Connection, user_id: int, fact_ids: Collection[str]) -> dict[str, str]:
    """The last version of each of these facts that has later ones."""
    latest: dict[str, str] = {}
    frontier = {fact_id: fact_id for fact_id in fact_ids}
    while frontier:
        following = repository.next_versions(connection, user_id, frontier)
        latest |= {frontier[old]: new for old, new in following.items()}
        frontier = {new: frontier[old] for old, new in following.items()}
    return latest
