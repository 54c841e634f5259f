"""Empties every text column of derived rows that holds traces of something forgotten.

The registry of columns is `tables.py` itself: every column marked TEXT is examined, so that a new table cannot be
overlooked.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from sqlalchemy import JSON, Column, Connection, LargeBinary, Table, Text, and_, cast, delete, or_, select, update
from sqlalchemy.sql import ColumnElement

from internal.storage import tables
from internal.storage.chunks import chunks

Holds = Callable[[str], bool]
"""Whether a text holds a trace."""

_OWNERS_WORDS: Final = frozenset({"users", "messages", "episodes", "segments"})
"""Tables of the owner's own conversation, whose forgotten rows are deleted by their keys; other rows stay."""

QUOTED: Final = "quoted"
"""The key of the quoted words in a message's metadata."""

_PROFILES: Final = frozenset({"people", "name_keys", "search_items", "vectors", "merges", "contacts"})
"""Tables of profiles and cards: those of others may name the forgotten person, whose own rows are deleted by key."""

_KNOWLEDGE: Final = frozenset({"graph_nodes", "graph_edges", "facts", "claims", "observations", "node_merges"})
"""Tables that an empty text would break: their forgotten rows are deleted through the graph and its facts."""

_QUOTES: Final = frozenset({"evidence"})
"""Tables with copies of lines that others may cite too."""

_KEPT_WORDS: Final = _OWNERS_WORDS | _PROFILES | _KNOWLEDGE

_ID_KEY: Final = r"(?<![a-z_])(?:person_|source_|target_)?id\\*\"?\s*:\s*\\*\"?"
"""A person's id as model replies write it, also where the JSON is inside another JSON string."""

_CURSOR: Final = "cursor"
"""The prefix of the keys under which agents store how far they have read."""

_FORGOTTEN: Final[dict[str, Any]] = {"forgotten": True}
_UNSENT: Final = ("pending", "sending", "unknown", "held")
_WAITING: Final = ("waiting", "deferred")
_NOTHING_WITHOUT_TEXT: Final = frozenset({tables.suggestions, tables.tasks})
_ENDINGS: Final = "аеёиійоуыьэюяєї"
_FEW: Final = 60
_TELLING: Final = 4
"""Characters of the shortest line that is searched for: shorter ones ("да", "ok") are in every text."""


def either(*tests: Holds) -> Holds:
    """A test for texts that pass any of these."""
    return lambda text: any(test(text) for test in tests)


def blank_mentions(connection: Connection, user_id: int, mentions: Holds) -> int:
    """Empties this owner's derived texts that mention somebody, quotes included. Returns how many."""
    return _blank(connection, user_id, mentions, _KEPT_WORDS)


def blank_texts(connection: Connection, user_id: int, holds: Holds) -> int:
    """Empties this owner's derived texts that contain erased lines. Returns how many fields.

    Quotes of other lines stay, and so do messages on their way to the owner, which are deleted once they are sent.
    """
    return _blank(connection, user_id, holds, _KEPT_WORDS | _QUOTES | {tables.outbox.name})


def blank_calls(
    connection: Connection,
    user_id: int,
    *,
    episode_id: str | None = None,
    session_id: str | None = None,
    turn_ids: Collection[str] = (),
) -> None:
    """Empties the prompts and replies of calls made for this episode or session, or one of these turns."""
    links = tables.model_calls.c.links
    made_for = [links["turn"].as_string().in_(part) for part in chunks(turn_ids)]
    if episode_id is not None:
        made_for.append(links["fragment"].as_string() == episode_id)
    if session_id is not None:
        made_for.append(links["session"].as_string() == session_id)
    if made_for:
        ours = and_(tables.model_calls.c.user_id == user_id, or_(*made_for))
        connection.execute(update(tables.model_calls).where(ours).values(prompt=None, reply=None))


def blank_events(connection: Connection, user_id: int, episode_id: str) -> None:
    """Empties the payloads of events about an episode; the events stay."""
    links = tables.event_links.c
    _blank_linked(connection, user_id, (links.ref == episode_id) & (links.name == "fragment"))


def blank_events_about(connection: Connection, user_id: int, refs: Collection[str]) -> None:
    """Empties the payloads of events that link to one of these ids; the events stay."""
    for part in chunks(refs):
        _blank_linked(connection, user_id, tables.event_links.c.ref.in_(part))


def _blank_linked(connection: Connection, user_id: int, links: ColumnElement[bool]) -> None:
    """Empties the payloads of events with a link of this kind."""
    linked = select(tables.event_links.c.event_seq).where(tables.event_links.c.user_id == user_id, links)
    theirs = (tables.events.c.user_id == user_id) & tables.events.c.seq.in_(linked)
    connection.execute(update(tables.events).where(theirs).values(payload=dict(_FORGOTTEN)))


def blank_replies(connection: Connection, user_id: int, message_ids: Collection[str]) -> None:
    """Cancels the unsent parts of these messages."""
    for part in chunks(message_ids):
        theirs = and_(tables.outbox.c.user_id == user_id, tables.outbox.c.message_id.in_(part))
        connection.execute(update(tables.outbox).where(theirs).values(payload={}))
        unsent = update(tables.outbox).where(theirs, tables.outbox.c.state.in_(_UNSENT))
        connection.execute(unsent.values(state="refused", error="forgotten"))


def mention_pattern(words: Iterable[str], ids: Iterable[int], phrases: Iterable[str] = ()) -> Holds:
    """A test for texts that mention somebody: by a name in any ending, by id as prompts and replies write it
    (`Person:42`, `"id": 42`), or by a whole phrase. Ignores case. Matches too much rather than too little.
    """
    parts = [rf"(?<!\w){re.escape(_stem(word.casefold()))}\w*" for word in words if word.strip()]
    parts += [rf"person:{number}(?!\d)|{_ID_KEY}{number}(?!\d)" for number in ids]
    parts += [re.escape(phrase.casefold()) for phrase in phrases if phrase.strip()]
    return _matching(parts)


def name_pattern(words: Iterable[str]) -> Holds:
    """A test for texts that name somebody or something: the name with an ending of up to three letters, no more.

    Narrower than `mention_pattern`, since whole facts depend on it: Peter is not Petersburg, and Маша no машина.
    """
    return _matching([_named(word.casefold()) for word in words if word.strip()])


def _named(word: str) -> str:
    stem = _stem(word)
    longest = 3 if stem == word else 2  # the removed letters are part of the ending
    return rf"(?<!\w){re.escape(stem)}\w{{0,{longest}}}(?!\w)"


class LineTest:
    """A test for texts with one of these lines, whole or by a sentence of it, however it is quoted or escaped.

    Only words and their order count. Sentences of fewer than four characters are ignored.
    """

    def __init__(self, lines: Iterable[str | None]) -> None:
        self._by_anchor: dict[str, set[str]] = defaultdict(set)
        for line in lines:
            for sentence in _SENTENCES.split(line or ""):
                self._add(_words(sentence))

    def __call__(self, text: str) -> bool:
        folded = text.casefold()
        # Searching a few words in a text is faster than cutting the text into words.
        if len(self._by_anchor) <= _FEW and not any(anchor in folded for anchor in self._by_anchor):
            return False
        words = _words(folded)
        likely = self._by_anchor.keys() & set(words)
        if not likely:
            return False
        joined = f" {' '.join(words)} "
        return any(phrase in joined for anchor in likely for phrase in self._by_anchor[anchor])

    def _add(self, words: list[str]) -> None:
        phrase = " ".join(words)
        if len(phrase) >= _TELLING:
            self._by_anchor[max(words, key=len)].add(f" {phrase} ")


_SENTENCES = re.compile(r"(?<=[.!?…])\s+|\n+")
_WORD = re.compile(r"[^\W_]+")
_ESCAPES = re.compile(r"\\+[nrt\"]|&(?:amp|lt|gt|quot);")


def _words(text: str) -> list[str]:
    plain = _ESCAPES.sub(" ", text) if "\\" in text or "&" in text else text
    return _WORD.findall(plain.casefold())


def _blank(connection: Connection, user_id: int, holds: Holds, kept: frozenset[str]) -> int:
    blanked = 0
    for table in tables.metadata.sorted_tables:
        if "user_id" not in table.c or table.name in kept:
            continue
        for column in table.c:
            if column.info.items() >= tables.TEXT.items():
                blanked += _blank_column(connection, user_id, table, column, holds)
    blanked += _blank_quotes(connection, user_id, holds)
    asked_again = (
        (tables.runs.c.user_id == user_id) & (tables.runs.c.state == "replied") & tables.runs.c.reply.is_(None)
    )
    connection.execute(update(tables.runs).where(asked_again).values(state="due", claim=None))
    return blanked


def _blank_quotes(connection: Connection, user_id: int, holds: Holds) -> int:
    """Removes quotes from messages, which stay: the quoted words of others are copies."""
    quoted = tables.messages.c.user_metadata[QUOTED].as_string().is_not(None)
    query = select(tables.messages.c.seq, tables.messages.c.user_metadata).where(
        tables.messages.c.user_id == user_id, quoted
    )
    found = [row for row in connection.execute(query) if holds("\n".join(row.user_metadata[QUOTED].values()))]
    for row in found:
        kept = {key: value for key, value in row.user_metadata.items() if key != QUOTED}
        one = (tables.messages.c.user_id == user_id) & (tables.messages.c.seq == row.seq)
        connection.execute(update(tables.messages).where(one).values(user_metadata=kept))
    return len(found)


def _blank_column(connection: Connection, user_id: int, table: Table, column: Column[Any], holds: Holds) -> int:
    """Empties a column.

    Suggestions and tasks, which are nothing without their text, are deleted; unsent messages are emptied and refused.
    """
    keys = list(table.primary_key.columns)
    # Stored JSON text: parsing it only to write it again took half of the time.
    held = cast(column, Text) if isinstance(column.type, JSON) else column
    query = select(*keys, held.label("held")).where(table.c.user_id == user_id, column.is_not(None))
    if table is tables.agent_state:  # a cursor holds ids alone, and may contain a name of three letters
        query = query.where(tables.agent_state.c.key.not_like(f"{_CURSOR}%"))
    rows = connection.execute(query)
    found = [row for row in rows if holds(_text(row.held))]
    for row in found:
        of_row = [table.c.user_id == user_id, *(key == value for key, value in zip(keys, row[:-1], strict=True))]
        if table in _NOTHING_WITHOUT_TEXT and not column.nullable:
            connection.execute(delete(table).where(*of_row))
            continue
        connection.execute(update(table).where(*of_row).values({column: _blank_value(table, column)}))
        if table is tables.outbox:
            unsent = update(tables.outbox).where(*of_row, tables.outbox.c.state.in_(_UNSENT))
            connection.execute(unsent.values(state="refused", error="forgotten"))
        if table is tables.notifications:
            waiting = update(tables.notifications).where(*of_row, tables.notifications.c.state.in_(_WAITING))
            connection.execute(waiting.values(state="dropped", reason="forgotten"))
    return len(found)


def _blank_value(table: Table, column: Column[Any]) -> Any:
    if isinstance(column.type, JSON):
        return {} if table is tables.outbox else dict(_FORGOTTEN)
    if column.nullable:
        return None
    return b"" if isinstance(column.type, LargeBinary) else ""


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _matching(parts: list[str]) -> Holds:
    if not parts:
        return lambda text: False
    pattern = re.compile("|".join(parts))
    return lambda text: pattern.search(text.casefold()) is not None


def _stem(word: str) -> str:
    """A name without its last vowel, so that declined forms are found: маша -> маш (машу, машей)."""
    return word[:-1] if len(word) > 3 and word[-1] in _ENDINGS else word
