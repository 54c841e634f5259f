"""Stored assertions (claims of the knowledge graph, observations of the memory graph) and their evidence."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Table, select, update

from internal.language.facts.overlap import reveals
from internal.storage import evidence
from internal.storage.chunks import chunks, delete_with
from internal.storage.evidence import Kind, Lines


class Assertion(Protocol):
    @property
    def id(self) -> str: ...


S = TypeVar("S", bound=Assertion)


class Assertions(Generic[S]):
    """The assertions of one kind: their kind of evidence, their table, and the function that reads its rows."""

    def __init__(self, kind: Kind, table: Table, read: Callable[[Row[Any]], S]) -> None:
        self._kind, self._table, self._read = kind, table, read

    def where(self, connection: Connection, user_id: int, *conditions: ColumnElement[bool]) -> list[S]:
        """The assertions that meet these conditions, in the order of `said_at`."""
        columns = self._table.c
        query = select(self._table).where(columns.user_id == user_id, *conditions)
        return [self._read(row) for row in connection.execute(query.order_by(columns.said_at, columns.id))]

    def by_ids(self, connection: Connection, user_id: int, ids: Collection[str]) -> list[S]:
        columns = self._table.c
        return [one for part in chunks(ids) for one in self.where(connection, user_id, columns.id.in_(part))]

    def of_episode(self, connection: Connection, user_id: int, episode_id: str) -> list[S]:
        return self.where(connection, user_id, self._table.c.episode_id == episode_id)

    def supported_by(self, connection: Connection, user_id: int, lines: Lines) -> list[S]:
        """Every assertion that cites one of these lines."""
        return self.by_ids(connection, user_id, sorted(evidence.cited_ids(connection, user_id, self._kind, lines)))

    def supported_alone_by(
        self, connection: Connection, user_id: int, lines: Lines, texts_of: Callable[[S], Iterable[str]]
    ) -> list[S]:
        """The assertions that have only these lines, or hold a word that only these lines say."""
        found = self.supported_by(connection, user_id, lines)
        support = evidence.rows(connection, user_id, self._kind, [one.id for one in found])
        return [one for one in found if _depends(texts_of(one), support.get(one.id, ()), lines)]

    def unsupported(self, connection: Connection, user_id: int, assertions: Sequence[S]) -> list[S]:
        """The assertions among these that no line supports."""
        supported = evidence.rows(connection, user_id, self._kind, [one.id for one in assertions])
        return [one for one in assertions if one.id not in supported]

    def withdraw(self, connection: Connection, user_id: int, assertions: Iterable[S], lines: Lines) -> None:
        """Removes the support of these lines from these assertions."""
        targets = [evidence.target(self._kind, one.id) for one in assertions]
        evidence.remove_support(connection, user_id, targets, lines)

    def change(
        self, connection: Connection, user_id: int, ids: Collection[str], *only: ColumnElement[bool], **values: Any
    ) -> None:
        """Changes the assertions among these that meet the conditions `only`."""
        columns = self._table.c
        for part in chunks(ids):
            ours = update(self._table).where(columns.user_id == user_id, columns.id.in_(part), *only)
            connection.execute(ours.values(values))

    def remove(self, connection: Connection, user_id: int, ids: Collection[str]) -> None:
        """Deletes assertions with their evidence."""
        evidence.remove(connection, user_id, self._kind, ids)
        delete_with(connection, self._table, user_id, self._table.c.id, ids)


def _depends(texts: Iterable[str], support: Sequence[Row[Any]], lines: Lines) -> bool:
    left = [row.quote for row in support if not lines.includes(row)]
    gone = [row.quote for row in support if lines.includes(row)]
    return not left or any(reveals(text, gone, left) for text in texts)
