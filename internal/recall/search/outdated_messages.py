"""Finds outdated messages: everything they stated has ended, was corrected, or lost a contradiction."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from internal.knowledge.relations import FUNCTIONAL
from internal.recall.index import version_repository
from internal.recall.search import outdated_repository as repository, passage_repository


@dataclass(frozen=True, slots=True)
class Outdated:
    """Since when a message is outdated, and the keys of what replaced it.

    A key is `fact:<id>`, `memory:<node id>`, or `message:<id>` for a message that states one of these.
    """

    since: datetime
    replaced_by: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Ended:
    """One fact or memory that no longer holds. Empty are a memory's `fact_id` and an unknown `successor`."""

    since: datetime
    fact_id: str = ""
    relation: tuple[str, str, str] = ("", "", "")
    successor: str = ""


def outdated(connection: Connection, user_id: int, message_ids: Collection[str], now: datetime) -> dict[str, Outdated]:
    """The outdated messages among these: those that state nothing that still holds, but something that held.

    A message that states an end ("she has left ACME") is not outdated by that end, and one without evidence never is.
    """
    ended: dict[str, list[_Ended]] = defaultdict(list)
    still_holding: set[str] = set()
    for message_id, cited in repository.statements_of(connection, user_id, message_ids).items():
        for state in _claim_states(cited.claims, now):
            ended[message_id].append(state) if state is not None else still_holding.add(message_id)
        for memory in cited.memories:
            if memory.winner is None:
                still_holding.add(message_id)
            else:
                ended[message_id].append(_Ended(memory.since, successor=f"memory:{memory.winner}"))
    outdated_only = {message_id: states for message_id, states in ended.items() if message_id not in still_holding}
    return _with_successors(connection, user_id, outdated_only) if outdated_only else {}


def _claim_states(claims: Sequence[Row[Any]], now: datetime) -> Iterable[_Ended | None]:
    """What became of the claims of one message: None for each that still holds.

    A correction by the owner keeps the lines of what it corrects as its evidence: it counts as stated by the message
    only where the words are the same.
    """
    own = [claim for claim in claims if claim.set_by != "owner"]
    statements = {(claim.source, claim.name, claim.target, claim.statement) for claim in own}
    retractions = [claim.retracted_at for claim in own if claim.retracted_at is not None]
    for claim in claims:
        relation = (claim.source, claim.name, claim.target)
        if claim.retracted_at is not None:
            continue  # retracted together with the words of the message, or restated by the owner
        corrects = claim.set_by == "owner" and bool(retractions) and (*relation, claim.statement) not in statements
        if corrects:
            yield _Ended(max(retractions), successor=f"fact:{claim.edge_id}")
        elif (claim.stated_end is not None and (claim.set_by != "owner" or not own)) or _is_valid(claim, now):
            yield None
        else:
            yield _Ended(claim.expired or claim.ended, claim.edge_id, relation)


def _is_valid(claim: Row[Any], now: datetime) -> bool:
    return claim.expired is None and (claim.ended is None or claim.ended > now)


def _with_successors(
    connection: Connection, user_id: int, ended: Mapping[str, Sequence[_Ended]]
) -> dict[str, Outdated]:
    """The messages with what replaced each thing they stated; messages whose fact holds again are left out."""
    facts = [state for states in ended.values() for state in states if state.fact_id]
    latest = version_repository.latest_versions(connection, user_id, {state.fact_id for state in facts})
    functional = {state.relation[:2] for state in facts if state.relation[1] in FUNCTIONAL}
    current = version_repository.current_facts(
        connection, user_id, {source for source, _ in functional}, {name for _, name in functional}
    )

    def after(state: _Ended) -> set[str]:
        now_holds = current.get(state.relation[:2], ("", ""))[0]
        return (
            {state.successor}
            if state.successor
            else {f"fact:{fact}" for fact in (latest.get(state.fact_id, ""), now_holds) if fact}
        )

    found: dict[str, Outdated] = {}
    for message_id, states in ended.items():
        if any(state.fact_id and current.get(state.relation[:2], ("", ""))[1] == state.relation[2] for state in states):
            continue
        found[message_id] = Outdated(max(state.since for state in states), frozenset().union(*map(after, states)))
    return _with_messages(connection, user_id, found)


def _with_messages(connection: Connection, user_id: int, found: Mapping[str, Outdated]) -> dict[str, Outdated]:
    """The same, with the messages that state the successors."""
    keys = {key for message in found.values() for key in message.replaced_by}
    facts, nodes = _ids(keys, "fact:"), _ids(keys, "memory:")
    drawn = passage_repository.source_message_ids(connection, user_id, facts, nodes) if keys else {}

    def stating(message_id: str, key: str) -> Iterable[str]:
        return (f"message:{message}" for message in drawn.get(key.partition(":")[2], ()) if message not in found)

    return {
        message_id: Outdated(
            message.since, message.replaced_by.union(*(stating(message_id, key) for key in message.replaced_by))
        )
        for message_id, message in found.items()
    }


def _ids(keys: Iterable[str], prefix: str) -> list[str]:
    return [key.removeprefix(prefix) for key in keys if key.startswith(prefix)]
