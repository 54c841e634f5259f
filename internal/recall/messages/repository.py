"""Statements for searches of messages: rows of the index with terms and vectors, and the messages found."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, exists, literal, select

from internal.dialogue.message_rows import AS_STORED, kept_messages
from internal.dialogue.model import Message
from internal.dialogue.removal_repository import CHANGE_KIND as MESSAGE_CHANGE
from internal.language.search.terms import ANALYZER
from internal.recall.index.item_repository import VectorKind, micros, searchable_rows
from internal.recall.messages.message_rows import MessageRow
from internal.storage.chunks import chunks, rows_of
from internal.storage.forgetting import hidings
from internal.storage.forgetting.forgettings import EVERYTHING, FORGOTTEN
from internal.storage.search_items import item_of
from internal.storage.tables import changes, forgettings, messages, search_items, users
from internal.storage.vectors import from_blob

_KIND: Final = "message"
_PREFIX: Final = item_of(_KIND, "")

_ALL_FORGOTTEN: Final = exists().where(
    forgettings.c.user_id == bindparam("owner"), forgettings.c.state == "pending", forgettings.c.kind == EVERYTHING
)
# Run by every search: built once, for building a statement takes longer than running it.
_BY_SEQ: Final = select(*AS_STORED).where(
    messages.c.user_id == bindparam("owner"),
    messages.c.seq.in_(bindparam("seqs", expanding=True)),
    hidings.visible(messages.c.id),
    ~_ALL_FORGOTTEN,
)
_NAME: Final = select(users.c.name).where(users.c.user_id == bindparam("owner"))


def rows(
    connection: Connection, user_id: int, vectors_of: VectorKind | None, ids: Iterable[str] | None = None
) -> Iterator[MessageRow]:
    """Yields the visible messages (with these ids) as they are stored now, in order."""
    if ids is None:
        query = _searchable(vectors_of).order_by(messages.c.seq)
        yield from map(_row, connection.execute(query, {"owner": user_id}))
        return
    found_rows = rows_of(connection, _some_searchable(vectors_of), ids, owner=user_id)
    yield from map(_row, sorted(found_rows, key=lambda row: row.seq))


def touched(entries: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The ids of the messages that changes are about, each once, the oldest first."""
    message_ids = {ref for kind, ref in entries if kind == MESSAGE_CHANGE}
    return tuple(sorted(message_ids | {ref.removeprefix(_PREFIX) for _, ref in entries if ref.startswith(_PREFIX)}))


def owner_name(connection: Connection, user_id: int) -> str:
    """The owner's name, empty if unknown."""
    return connection.execute(_NAME, {"owner": user_id}).scalar_one_or_none() or ""


def messages_by_seq(connection: Connection, user_id: int, seqs: Sequence[int]) -> dict[int, Message]:
    """Those of these messages that may be shown; messages about to be forgotten are left out."""
    visible: dict[int, Message] = {}
    for chunk in chunks(seqs):
        found_rows = connection.execute(_BY_SEQ, {"owner": user_id, "seqs": chunk}).all()
        visible |= {message.seq: message for message in kept_messages(found_rows)}
    return visible


def change_at(connection: Connection, user_id: int, seq: int) -> str | None:
    """The entry at this position of the owner's change log as text; None if it has none there any more."""
    query = select(changes.c.kind, changes.c.id).where(changes.c.user_id == user_id, changes.c.seq == seq)
    found = connection.execute(query).first()
    return None if found is None else f"{found.kind} {found.id}"


def log_continues(connection: Connection, user_id: int, seq: int, change: str) -> bool:
    """Whether the log still goes on from this position and nothing was erased since: a restored store has its own."""
    behind = select(changes.c.kind).where(changes.c.user_id == user_id, changes.c.seq >= seq)
    erased = behind.where(changes.c.seq > seq, changes.c.kind.in_((FORGOTTEN, EVERYTHING)))
    if connection.execute(behind.limit(1)).first() is None or connection.execute(erased.limit(1)).first() is not None:
        return False
    return change_at(connection, user_id, seq) in (change, None)


@cache
def _some_searchable(vectors_of: VectorKind | None) -> Select[Any]:
    return _searchable(vectors_of).where(messages.c.id.in_(bindparam("ids", expanding=True)))


@cache
def _searchable(vectors_of: VectorKind | None) -> Select[Any]:
    rows = searchable_rows(messages, literal(_PREFIX) + messages.c.id, vectors_of, ANALYZER, messages.c.id)
    return rows.where(messages.c.user_id == bindparam("owner")).add_columns(
        messages.c.user_id,
        messages.c.seq,
        micros(messages.c.timestamp).label("moment"),
        messages.c.role,
        messages.c.chat_id,
        messages.c.thread_id,
        messages.c.forward["name"].as_string().label("name"),
        search_items.c.traits,
    )


def _row(row: Any) -> MessageRow:
    # By position, in the order of `_searchable`: by name it takes three times as long, and an index reads 100,000.
    ref_id, terms, text, vec, _, seq, moment, role, chat_id, thread_id, name, traits = row
    vector = None if vec is None else from_blob(vec)
    lane = (chat_id, thread_id)
    return MessageRow(ref_id, seq, moment, terms, text, vector, lane, role == "assistant", name, traits or 0)
