"""What facts cost does not grow with how many there are: few statements, and none that reads all of an owner's rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event, select
from support.knowledge.knowledge_stage import OWNER, Knowledge

from internal.knowledge import service
from internal.storage.tables import episodes

ALL_OF_AN_OWNER = re.compile(
    r"SCAN (claims|evidence|facts|graph_edges|graph_nodes|search_items)"
    r"|SEARCH (claims|evidence|facts|search_items) USING .*\(user_id=\?\)$"
)


@contextmanager
def watched(connection: Connection) -> Iterator[list[tuple[str, Any]]]:
    """Every statement that runs inside, with its parameters."""
    said: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, ___: Any, many: bool) -> None:
        said.append((statement, parameters[0] if many else parameters))

    event.listen(connection, "before_cursor_execute", note)
    try:
        yield said
    finally:
        event.remove(connection, "before_cursor_execute", note)


def read_whole(connection: Connection, said: list[tuple[str, Any]]) -> list[str]:
    """The statements that read all rows of an owner, each with the step that does."""
    found = []
    for statement, parameters in said:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
        found += [f"{row[3]}: {statement}" for row in plan if ALL_OF_AN_OWNER.match(row[3])]
    return found


def told(knowledge: Knowledge, count: int) -> None:
    """Tells of so many homes, each after the one before, and of as many cats."""
    for number in range(count):
        knowledge.tell(f"Person {number % 3}", "LIVES_IN", f"Town {number}", 1990 + number)
        knowledge.tell(f"Person {number % 3}", "HAS", f"Cat {number}")


def remove_newest(knowledge: Knowledge) -> None:
    """Removes the episode in which something was told last."""
    newest = knowledge.connection.execute(select(episodes.c.id).order_by(episodes.c.id.desc()).limit(1)).scalar_one()
    service.remove_episode_claims(knowledge.connection, OWNER, newest, now=knowledge.later())


def about(knowledge: Knowledge, **wanted: Any) -> None:
    assert knowledge.facts(node_id=knowledge.entity("Person 1"), **wanted)


WORK: dict[str, Callable[[Knowledge], object]] = {
    "record": lambda knowledge: knowledge.tell("Person 1", "LIVES_IN", "Village", 2020),
    "remove": remove_newest,
    "known_at": lambda knowledge: about(knowledge, known_at=knowledge.now, include_invalid=True),
    "known_at of everything": lambda knowledge: knowledge.facts(known_at=knowledge.now, include_invalid=True),
    "as_of": lambda knowledge: about(knowledge, as_of=knowledge.now),
    "list": lambda knowledge: knowledge.facts(),
}


@pytest.mark.parametrize("name", WORK)
def test_more_facts_cost_no_more_statements(knowledge: Knowledge, name: str) -> None:
    """The same work takes as many statements among sixty facts as among six."""
    counts = []
    for more in (3, 27):
        told(knowledge, more)
        knowledge.entity("Village")
        with watched(knowledge.connection) as said:
            WORK[name](knowledge)
        counts.append(len(said))
    assert counts[1] <= counts[0] + 1


@pytest.mark.parametrize("name", sorted(WORK.keys() - {"known_at of everything", "list"}))
def test_no_statement_reads_all_that_an_owner_knows(knowledge: Knowledge, name: str) -> None:
    """Recording, removing, and reading about somebody find their rows by an index of more than the owner."""
    told(knowledge, 4)
    knowledge.entity("Village")
    with watched(knowledge.connection) as said:
        WORK[name](knowledge)
    assert len(said) > 2
    assert read_whole(knowledge.connection, said) == []
