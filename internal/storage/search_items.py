"""Search items: one text each, with its hash. Vectors and terms are computed in the background.

Code that changes a text calls `save_search_item`, code that deletes a row calls `remove`, in the transaction of the
row itself. Both write an entry of the change log: the next search reads from it which items of the indexes in memory
(`internal/recall/index/items.py`, `internal/recall/messages/index_cache.py`) to read again.
A fact keeps its item in every version; whether it counts now is decided by its stored times when it is searched.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, bindparam, case, delete, select, update

from internal.storage import vectors
from internal.storage.change_log import record_change
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.tables import search_items

CHANGE_KIND: Final = "item"


# Run at every write of what can be found: built once, for building a statement takes longer than running it.
_ROW: Final = upsert(search_items)
_SAME_TEXT: Final = search_items.c.text_hash == _ROW.excluded.text_hash
_PUT: Final = _ROW.on_conflict_do_update(
    index_elements=["user_id", "item"],
    set_={name: _ROW.excluded[name] for name in ("text", "text_hash", "rev", "context", "traits")}
    | {"embedded": case((_SAME_TEXT, search_items.c.embedded))},
)
_REMOVE: Final = delete(search_items).where(
    search_items.c.user_id == bindparam("owner"), search_items.c.item.in_(bindparam("items", expanding=True))
)


def item_of(kind: str, ref_id: str) -> str:
    """The key of an item: `fact:<edge id>`, `entity:<node id>`, `episode:<id>`, `person:<id>`, `message:<id>`."""
    return f"{kind}:{ref_id}"


def passage_of(episode_id: str, n: int) -> str:
    """The id by which a passage of a document is found, among its episode's items."""
    return f"{episode_id}#{n}"


def passage_in(ref_id: str) -> tuple[str, int | None]:
    """The episode that an item is about, and the number of its passage if it is one of a document."""
    episode_id, _, n = ref_id.partition("#")
    return episode_id, int(n) if n else None


def passages_of(connection: Connection, user_id: int, episode_id: str) -> list[str]:
    """The passages of an episode that have their own items, whose keys follow the episode's."""
    item = item_of("episode", episode_id)
    among = (search_items.c.item > f"{item}#") & (search_items.c.item < f"{item}$")
    query = select(search_items.c.ref_id).where(search_items.c.user_id == user_id, among)
    return list(connection.execute(query).scalars())


def of_kind(kind: str) -> ColumnElement[bool]:
    """Items of one kind, as a range of the key: an owner has thousands of messages beside a few hundred facts."""
    return (search_items.c.item >= f"{kind}:") & (search_items.c.item < f"{kind};")


def save_search_item(
    connection: Connection,
    user_id: int,
    kind: str,
    ref_id: str,
    text: str,
    rev: int,
    *,
    context: str | None = None,
    traits: int | None = None,
) -> None:
    """Stores the text by which a row is found. The same text again costs no new vector.

    `context` is text that stood before it: the vector covers both, the terms only `text`. `traits` are the bits of
    `internal.language.search.message_traits`.
    """
    item = item_of(kind, ref_id)
    values = {"text": text, "text_hash": text_hash(text, context), "rev": rev, "context": context, "traits": traits}
    connection.execute(_PUT, {"user_id": user_id, "item": item, "kind": kind, "ref_id": ref_id, **values})
    record_change(connection, user_id, CHANGE_KIND, item)


def remove(connection: Connection, user_id: int, kind: str, ref_ids: Sequence[str]) -> None:
    """Takes rows out of search: deletes their texts, terms and vectors."""
    items = [item_of(kind, ref_id) for ref_id in ref_ids]
    for chunk in chunks(items):
        connection.execute(_REMOVE, {"owner": user_id, "items": chunk})
    vectors.remove(connection, user_id, items)


def hide(connection: Connection, user_id: int, kind: str, ref_ids: Sequence[str]) -> None:
    """Takes rows out of search that may come back by `save_search_item`: keeps their vectors for that."""
    items = [item_of(kind, ref_id) for ref_id in ref_ids]
    for chunk in chunks(items):
        connection.execute(_REMOVE, {"owner": user_id, "items": chunk})
    for item in items:
        record_change(connection, user_id, CHANGE_KIND, item, "delete")


def hide_kind(connection: Connection, user_id: int, kind: str) -> None:
    """Runs `hide` for everything of a kind. The caller tells caches to read everything again."""
    connection.execute(delete(search_items).where(search_items.c.user_id == user_id, of_kind(kind)))


def forget_words(connection: Connection, user_id: int, kind: str, ref_id: str) -> None:
    """Deletes terms and vectors of an item whose text lost forgotten words, which they would reveal."""
    one = (search_items.c.user_id == user_id) & (search_items.c.item == item_of(kind, ref_id))
    connection.execute(
        update(search_items).where(one).values(terms=None, analyzer=None, terms_hash=None, embedded=None)
    )
    vectors.remove(connection, user_id, [item_of(kind, ref_id)])


def text_hash(text: str, context: str | None = None) -> str:
    """The hash by which vectors and terms identify their text and the context before it."""
    whole = text if context is None else f"{context}\0{text}"
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()
