"""Every table. Keys lead with the owner; times are microseconds in UTC; `rev` counts an owner's changes.

A column whose `info` is TEXT holds people's words or texts derived from them: forgetting, export and the test for
leftovers examine exactly those.
"""

from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from internal.storage.row_ids import NumberedKey, only_on
from internal.storage.types import OrderedText, OwnerOrSystem, Timestamp

TEXT: Final[dict[str, Any]] = {"holds": "text"}

metadata = MetaData(
    naming_convention={
        "ix": "idx_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Ids of rows without a natural key grow for ever and are never reused, also after a delete.
_GROWING: Final[dict[str, Any]] = {"sqlite_autoincrement": True}


_Type = type[TypeEngine[Any]] | TypeEngine[Any]


def _where(condition: str, postgres: str | None = None) -> dict[str, Any]:
    """The condition of a partial index, for both engines; `postgres` where they say it differently."""
    return {"sqlite_where": text(condition), "postgresql_where": text(postgres or condition)}


def _unique(name: str, *columns: str, where: str) -> Index:
    """An index that lets only one row with the same columns meet the condition."""
    return Index(name, *columns, unique=True, **_where(where))


def _table(name: str, *items: SchemaItem, **options: Any) -> Table:
    return Table(name, metadata, *items, **options)


def _owned(name: str, *items: SchemaItem) -> Table:
    """A table whose key leads with the owner."""
    return _table(name, Column("user_id", BigInteger, primary_key=True, autoincrement=False), *items)


def _required(**types: _Type) -> list[Column[Any]]:
    """Columns that always have a value, by name."""
    return [Column(name, type_, nullable=False) for name, type_ in types.items()]


def _optional(**types: _Type) -> list[Column[Any]]:
    """Columns that may be empty, by name."""
    return [Column(name, type_) for name, type_ in types.items()]


# Nothing is NULL in a column that may be empty, not the JSON value null.
_Json = JSON(none_as_null=True)
# JSON that is compared as a whole: PostgreSQL compares only its binary form.
_ComparedJson = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
_Serial = BigInteger().with_variant(Integer, "sqlite")

users = _owned(
    "users",
    *_required(role=OrderedText, state=OrderedText),
    Column("name", OrderedText, nullable=False, info=TEXT),
    Column("username", OrderedText, info=TEXT),
    *_required(lang=OrderedText, tz=OrderedText),
    Column("tz_asked", Boolean, nullable=False, server_default=false()),
    *_required(settings=JSON, created_at=Timestamp),
    Column("next_seq", BigInteger, nullable=False, server_default="1"),
    Column("next_rev", BigInteger, nullable=False, server_default="1"),
)

settings = _table("settings", Column("key", OrderedText, primary_key=True), Column("value", JSON, nullable=False))

leases = _table(
    "leases",
    Column("name", OrderedText, primary_key=True),
    *_required(holder=OrderedText, until=BigInteger),
)

inbox = _table(
    "inbox",
    Column("n", _Serial, primary_key=True, autoincrement=True),
    *_required(bot_id=BigInteger, update_id=BigInteger),
    *_optional(chat_id=BigInteger, user_id=BigInteger),
    Column("raw", OrderedText, nullable=False, info=TEXT),
    Column("state", OrderedText, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("error", OrderedText),
    Column("received_at", Timestamp, nullable=False),
    UniqueConstraint("bot_id", "update_id"),
    Index("idx_inbox_state", "state", "n"),
    **_GROWING,
)

turns = _owned(
    "turns",
    Column("id", OrderedText, primary_key=True),
    *_required(bot_id=BigInteger, lane=OrderedText, chat_id=BigInteger),
    Column("thread_id", BigInteger),
    *_required(state=OrderedText, opened_at=Timestamp, close_at=Timestamp),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", Timestamp),
    *_required(first_seq=BigInteger, last_seq=BigInteger),
    Column("error", OrderedText),
    _unique("idx_turns_collecting", "user_id", "bot_id", "lane", where="state = 'collecting'"),
    Index("idx_turns_open", "state", **_where("state IN ('collecting', 'running')")),
)

messages = _owned(
    "messages",
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    *_required(id=OrderedText, role=OrderedText),
    Column("content", OrderedText, nullable=False, info=TEXT),
    Column("user_metadata", _Json, info=TEXT),
    Column("timestamp", Timestamp, nullable=False),
    *_optional(sender_id=BigInteger, bot_id=BigInteger, chat_id=BigInteger, thread_id=BigInteger, tg_id=BigInteger),
    Column("reply_to", BigInteger),
    Column("forward", _Json, info=TEXT),
    Column("attachments", _Json, info=TEXT),
    Column("edited_at", Timestamp),
    Column("rev", BigInteger, nullable=False),
    *_optional(turn_id=OrderedText, episode_id=OrderedText, delivery=OrderedText),
    UniqueConstraint("user_id", "id"),
    UniqueConstraint("user_id", "bot_id", "chat_id", "tg_id"),
    Index("idx_messages_user_time", "user_id", "timestamp"),
    Index("idx_messages_waiting", "user_id", "seq", **_where("episode_id IS NULL")),
)

dialogue_state = _owned(
    "dialogue_state",
    Column("last_published_message_id", OrderedText),
    Column("last_activity", Timestamp, nullable=False),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Index("idx_dialogue_state_active", "is_active", **_where("is_active = true")),
)

events = _table(
    "events",
    Column("seq", _Serial, autoincrement=True),
    *_required(id=OrderedText, user_id=OwnerOrSystem, timestamp=Timestamp, event_type=OrderedText, source=OrderedText),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("links", _Json),
    NumberedKey("seq"),
    UniqueConstraint("user_id", "id"),
    Index("idx_events_id", "id"),
    Index("idx_events_timestamp", "timestamp"),
    only_on("sqlite", Index("idx_events_user", "user_id", "seq")),
    only_on("postgresql", Index("idx_events_seq", "seq")),
    Index("idx_events_type", "user_id", "event_type", "seq"),
    Index("idx_events_source", "user_id", "source", "seq"),
    **_GROWING,
)

agent_state = _table(
    "agent_state",
    Column("agent_id", OrderedText, primary_key=True),
    Column("key", OrderedText, primary_key=True),
    Column("user_id", BigInteger),
    Column("value", LargeBinary, nullable=False, info=TEXT),
    Column("updated_at", Timestamp, nullable=False),
    Index("idx_agent_state_agent", "agent_id"),
)

outbox = _table(
    "outbox",
    Column("n", _Serial, autoincrement=True),
    *_required(id=OrderedText, user_id=BigInteger, bot_id=BigInteger, chat_id=BigInteger),
    *_optional(thread_id=BigInteger, turn_id=OrderedText, message_id=OrderedText),
    Column("part", Integer, nullable=False),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", OrderedText, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("uncertain", Integer, nullable=False, server_default="0"),
    Column("due_at", Timestamp, nullable=False),
    *_optional(tg_id=BigInteger, error=OrderedText),
    *_required(dedupe=OrderedText, created_at=Timestamp),
    NumberedKey("n"),
    UniqueConstraint("user_id", "id"),
    UniqueConstraint("user_id", "dedupe"),
    Index("idx_outbox_due", "chat_id", "n", **_where("state IN ('pending', 'sending', 'unknown')")),
    only_on("sqlite", Index("idx_outbox_user", "user_id", "n")),
    **_GROWING,
)

episodes = _owned(
    "episodes",
    Column("id", OrderedText, primary_key=True),
    Column("source", OrderedText, nullable=False),
    Column("name", OrderedText, nullable=False, info=TEXT),
    Column("content", OrderedText, nullable=False, info=TEXT),
    Column("source_description", OrderedText, nullable=False, info=TEXT),
    Column("source_url", OrderedText, info=TEXT),
    *_required(reference_time=Timestamp, created_at=Timestamp),
    *_optional(session_id=OrderedText, first_seq=BigInteger, last_seq=BigInteger),
    Column("dedupe", OrderedText, info=TEXT),
    Column("processed_at", Timestamp),
    Index("idx_episodes_id", "id"),
    _unique("idx_episodes_dedupe", "user_id", "dedupe", where="dedupe IS NOT NULL"),
    Index("idx_episodes_time", "user_id", "reference_time"),
)

segments = _owned(
    "segments",
    Column("episode_id", OrderedText, primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("text", OrderedText, info=TEXT),
    Column("at", Timestamp, nullable=False),
    Column("message_id", OrderedText),
    Column("speaker", OrderedText, info=TEXT),
    Column("own", Boolean, nullable=False, server_default=true()),
    Column("forwarded_from", OrderedText, info=TEXT),
    Column("url", OrderedText, info=TEXT),
    Column("key", OrderedText, info=TEXT),
    _unique("idx_segments_key", "user_id", "key", where="key IS NOT NULL"),
    Index("idx_segments_message", "user_id", "message_id", **_where("message_id IS NOT NULL")),
)

runs = _table(
    "runs",
    Column("n", _Serial, autoincrement=True),
    *_required(id=OrderedText, user_id=BigInteger, agent=OrderedText),
    *_optional(episode_id=OrderedText, session_id=OrderedText, replaces=OrderedText),
    *_required(rev=BigInteger, first_n=Integer, last_n=Integer, state=OrderedText),
    Column("claim", OrderedText),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("outages", Integer, nullable=False, server_default="0"),
    *_required(due_at=Timestamp, created_at=Timestamp),
    *_optional(finished_at=Timestamp, prompt_hash=OrderedText, model=OrderedText),
    Column("snapshot", _Json, info=TEXT),
    Column("reply", OrderedText, info=TEXT),
    Column("tokens", Integer, nullable=False, server_default="0"),
    Column("cost_usd", Float, nullable=False, server_default="0"),
    Column("error", OrderedText),
    NumberedKey("n"),
    UniqueConstraint("user_id", "id"),
    Index("idx_runs_open", "agent", "user_id", "rev", "first_n", **_where("state IN ('due', 'claimed', 'replied')")),
    only_on("sqlite", Index("idx_runs_user", "user_id", "n")),
    Index("idx_runs_session", "user_id", "session_id", **_where("session_id IS NOT NULL")),
    **_GROWING,
)

people = _table(
    "people",
    Column("id", _Serial, autoincrement=True),
    *_required(user_id=BigInteger, entity_id=OrderedText),
    Column("display_name", OrderedText, nullable=False, info=TEXT),
    Column("aliases", JSON, nullable=False, info=TEXT),
    Column("telegram_id", BigInteger),
    Column("username", OrderedText, info=TEXT),
    Column("username_key", OrderedText, info=TEXT),
    Column("circle", OrderedText, nullable=False),
    Column("bio", OrderedText, nullable=False, info=TEXT),
    *_required(first_seen=Timestamp, last_seen=Timestamp),
    Column("mention_count", Integer, nullable=False, server_default="0"),
    *_required(rev=BigInteger, field_meta=JSON),
    *_optional(merged_into=BigInteger, run_id=OrderedText),
    NumberedKey("id"),
    UniqueConstraint("user_id", "entity_id"),
    only_on("postgresql", Index("idx_people_id", "id")),
    Index("idx_people_user_circle", "user_id", "circle"),
    _unique("idx_people_telegram", "user_id", "telegram_id", where="telegram_id IS NOT NULL AND merged_into IS NULL"),
    _unique("idx_people_username", "user_id", "username_key", where="username_key IS NOT NULL AND merged_into IS NULL"),
    **_GROWING,
)

contacts = _owned(
    "contacts",
    Column("book", OrderedText, primary_key=True),
    Column("person_id", BigInteger, primary_key=True, autoincrement=False),
    Column("uid", OrderedText, nullable=False, info=TEXT),
    Column("card", OrderedText, nullable=False, info=TEXT),
    Column("updated_at", Timestamp, nullable=False),
    *_optional(href=OrderedText, etag=OrderedText),
)

name_keys = _owned(
    "name_keys",
    Column("key", OrderedText, primary_key=True, info=TEXT),
    Column("entity_id", OrderedText, primary_key=True),
    *_required(kind=OrderedText, set_by=OrderedText),
    Column("rejected", Boolean, nullable=False, server_default=false()),
    Index("idx_name_keys_entity", "user_id", "entity_id"),
)

mentions = _owned(
    "mentions",
    Column("person_id", BigInteger, primary_key=True, autoincrement=False),
    Column("episode_id", OrderedText, primary_key=True),
)

merges = _owned(
    "merges",
    Column("id", OrderedText, primary_key=True),
    *_required(source=BigInteger, target=BigInteger),
    Column("before", JSON, nullable=False, info=TEXT),
    Column("run_id", OrderedText),
    Column("at", Timestamp, nullable=False),
    Column("undone_at", Timestamp),
    Index("idx_merges_target", "user_id", "target"),
)

node_merges = _owned(
    "node_merges",
    Column("id", OrderedText, primary_key=True),
    *_required(source=OrderedText, target=OrderedText),
    Column("before", JSON, nullable=False, info=TEXT),
    *_required(set_by=OrderedText, at=Timestamp),
    Column("undone_at", Timestamp),
)

evidence = _owned(
    "evidence",
    Column("target", OrderedText, primary_key=True),
    Column("episode_id", OrderedText, primary_key=True),
    Column("segment", Integer, primary_key=True, autoincrement=False),
    Column("message_id", OrderedText),
    Column("quote", OrderedText, info=TEXT),
    Column("operation", OrderedText, nullable=False),
    Column("run_id", OrderedText),
    Index("idx_evidence_message", "user_id", "message_id"),
    Index("idx_evidence_episode", "user_id", "episode_id"),
)

suggestions = _owned(
    "suggestions",
    Column("id", OrderedText, primary_key=True),
    Column("kind", OrderedText, nullable=False),
    Column("person_id", BigInteger),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", OrderedText, nullable=False),
    Column("run_id", OrderedText),
    Column("created_at", Timestamp, nullable=False),
    Column("decided_at", Timestamp),
)

forgettings = _owned(
    "forgettings",
    Column("id", OrderedText, primary_key=True),
    Column("kind", OrderedText, nullable=False),
    *_optional(person_id=BigInteger, ref_id=OrderedText),
    *_required(state=OrderedText, due_at=Timestamp, created_at=Timestamp),
    Index("idx_forgettings_due", "due_at", **_where("state = 'pending'")),
)

hidings = _owned(
    "hidings",
    Column("forgetting_id", OrderedText, primary_key=True),
    Column("kind", OrderedText, primary_key=True),
    Column("target", OrderedText, primary_key=True),
    Index("idx_hidings_target", "target"),
)

tombstones = _owned(
    "tombstones", Column("key_hmac", OrderedText, primary_key=True), Column("at", Timestamp, nullable=False)
)

graph_nodes = _owned(
    "graph_nodes",
    Column("id", OrderedText, primary_key=True),
    Column("label", OrderedText, nullable=False),
    Column("subtype", OrderedText),
    Column("name", OrderedText, info=TEXT),
    Column("name_key", OrderedText, info=TEXT),
    *_optional(status=OrderedText, at=Timestamp),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp),
    Column("access_count", Integer, nullable=False, server_default="0"),
    Column("last_accessed", Timestamp),
    Column("props", JSON, nullable=False, info=TEXT),
    Column("field_meta", JSON, nullable=False),
    Column("merged_into", OrderedText),
    *_required(schema_v=Integer, rev=BigInteger),
    *_optional(run_id=OrderedText, said_at=Timestamp),
    Index("idx_graph_nodes_id", "id"),
    Index("idx_graph_nodes_label", "user_id", "label", "status"),
    Index("idx_graph_nodes_name", "user_id", "label", "name_key"),
)

graph_edges = _owned(
    "graph_edges",
    Column("id", OrderedText, primary_key=True),
    *_required(
        type=OrderedText, source=OrderedText, target=OrderedText, source_origin=OrderedText, target_origin=OrderedText
    ),
    *_optional(strength=Float, strength_at=Timestamp),
    Column("created_at", Timestamp, nullable=False),
    *_optional(valid_at=Timestamp, invalid_at=Timestamp, expired_at=Timestamp),
    Column("props", JSON, nullable=False, info=TEXT),
    *_required(schema_v=Integer, rev=BigInteger),
    Column("run_id", OrderedText),
    Index("idx_graph_edges_id", "id"),
    Index("idx_graph_edges_source", "user_id", "source", "type"),
    Index("idx_graph_edges_target", "user_id", "target", "type"),
    Index("idx_graph_edges_time", "user_id", "valid_at", "created_at", "id"),
    Index("idx_graph_edges_strength", "user_id", "type", "strength", "id", **_where("strength IS NOT NULL")),
)

facts = _owned(
    "facts",
    Column("edge_id", OrderedText, primary_key=True),
    Column("name", OrderedText, nullable=False, info=TEXT),
    Column("fact", OrderedText, nullable=False, info=TEXT),
    Column("claim_id", OrderedText, nullable=False),
    Column("attributes", JSON, nullable=False, info=TEXT),
    Column("supersedes", OrderedText),
    Column("original_fact", OrderedText, info=TEXT),
    Column("update_reason", OrderedText, info=TEXT),
    Column("updated_at", Timestamp),
    Column("set_by", OrderedText, nullable=False),
    *_optional(valid_precision=OrderedText, invalid_precision=OrderedText),
    Index("idx_facts_claim", "user_id", "claim_id"),
    Index("idx_facts_supersedes", "user_id", "supersedes", **_where("supersedes IS NOT NULL")),
)

claims = _owned(
    "claims",
    Column("id", OrderedText, primary_key=True),
    Column("edge_id", OrderedText),
    Column("source", OrderedText, nullable=False),
    Column("name", OrderedText, nullable=False, info=TEXT),
    *_required(target=OrderedText, source_origin=OrderedText, target_origin=OrderedText),
    Column("statement", OrderedText, nullable=False, info=TEXT),
    Column("fact", OrderedText, nullable=False, info=TEXT),
    Column("attributes", JSON, nullable=False, info=TEXT),
    Column("valid_at", Timestamp),
    Column("valid_stated", Boolean, nullable=False),
    Column("invalid_at", Timestamp),
    *_required(said_at=Timestamp, created_at=Timestamp),
    *_optional(retracted_at=Timestamp, episode_id=OrderedText, run_id=OrderedText),
    Column("set_by", OrderedText, nullable=False),
    *_optional(valid_precision=OrderedText, invalid_precision=OrderedText),
    Index("idx_claims_source", "user_id", "source", "name"),
    Index("idx_claims_target", "user_id", "target"),
    Index("idx_claims_edge", "user_id", "edge_id"),
    Index("idx_claims_episode", "user_id", "episode_id"),
    # Only what a merge has moved: elsewhere the origin is the end itself.
    Index("idx_claims_source_origin", "user_id", "source_origin", **_where("source_origin != source")),
    Index("idx_claims_target_origin", "user_id", "target_origin", **_where("target_origin != target")),
)

observations = _owned(
    "observations",
    Column("id", OrderedText, primary_key=True),
    *_required(target=OrderedText, kind=OrderedText),
    Column("props", JSON, nullable=False, info=TEXT),
    *_required(said_at=Timestamp, created_at=Timestamp),
    *_optional(episode_id=OrderedText, run_id=OrderedText),
    Column("set_by", OrderedText, nullable=False),
    Index("idx_observations_target", "user_id", "target"),
    Index("idx_observations_episode", "user_id", "episode_id"),
)

sessions = _owned(
    "sessions",
    Column("id", OrderedText, primary_key=True),
    Column("topic", OrderedText, nullable=False, info=TEXT),
    *_required(topic_by=OrderedText, trigger=OrderedText, tz=OrderedText, opened_at=Timestamp),
    Column("closed_at", Timestamp),
    Column("rev", BigInteger, nullable=False),
    Column("thread_id", BigInteger, nullable=False, server_default="0"),
    Index("idx_sessions_id", "id"),
    _unique("idx_sessions_open", "user_id", "thread_id", where="closed_at IS NULL"),
    Index("idx_sessions_time", "user_id", "opened_at"),
)

chronicle = _owned(
    "chronicle",
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    *_required(id=OrderedText, session_id=OrderedText, label=OrderedText),
    *_optional(message_id=OrderedText, answers_n=BigInteger),
    Column("attrs", JSON, nullable=False, info=TEXT),
    Column("at", Timestamp, nullable=False),
    Column("run_id", OrderedText),
    Index("idx_chronicle_id", "user_id", "id", unique=True),
    Index("idx_chronicle_session", "user_id", "session_id", "n"),
    _unique("idx_chronicle_message", "user_id", "message_id", where="message_id IS NOT NULL"),
)

event_mentions = _owned(
    "event_mentions",
    Column("event_id", OrderedText, primary_key=True),
    Column("entity_origin", OrderedText, primary_key=True),
    Column("entity_id", OrderedText, nullable=False),
    *_optional(relevance=Integer, run_id=OrderedText),
    Index("idx_event_mentions_entity", "user_id", "entity_id"),
)

mirrors = _owned(
    "mirrors",
    Column("target", OrderedText, primary_key=True),
    *_required(seq=BigInteger, at=Timestamp),
)

reply_sources = _owned(
    "reply_sources",
    Column("message_id", OrderedText, primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    *_required(kind=OrderedText, ref_id=OrderedText, cited=Boolean),
)

search_items = _owned(
    "search_items",
    Column("item", OrderedText, primary_key=True),
    *_required(kind=OrderedText, ref_id=OrderedText),
    Column("text", OrderedText, nullable=False, info=TEXT),
    *_required(text_hash=OrderedText, rev=BigInteger),
    Column("terms", OrderedText, info=TEXT),
    *_optional(analyzer=OrderedText, terms_hash=OrderedText),
    Column("context", OrderedText, info=TEXT),
    *_optional(traits=Integer, embedded=OrderedText),
    Index(
        "idx_search_items_terms",
        "user_id",
        "item",
        **_where("terms_hash IS NOT text_hash", "terms_hash IS DISTINCT FROM text_hash"),
    ),
    Index("idx_search_items_vectors", "user_id", "item", **_where("embedded IS NULL AND kind <> 'message'")),
    Index("idx_search_items_messages", "user_id", "item", **_where("embedded IS NULL AND kind = 'message'")),
    Index("idx_search_items_embedded", "embedded", **_where("embedded IS NOT NULL")),
)

search_backlog = _owned("search_backlog", Column("seq", BigInteger, nullable=False))

vectors = _owned(
    "vectors",
    Column("item", OrderedText, primary_key=True),
    Column("model", OrderedText, primary_key=True),
    *_required(dim=Integer, text_hash=OrderedText),
    Column("vec", LargeBinary, nullable=False, info=TEXT),
)

changes = _table(
    "changes",
    Column("seq", _Serial, autoincrement=True),
    *_required(user_id=BigInteger, kind=OrderedText, id=OrderedText, op=OrderedText),
    NumberedKey("seq"),
    only_on("sqlite", Index("idx_changes_user", "user_id", "seq")),
    only_on("postgresql", Index("idx_changes_seq", "seq")),
    **_GROWING,
)

model_calls = _table(
    "model_calls",
    Column("n", _Serial, autoincrement=True),
    *_required(
        id=OrderedText, user_id=OwnerOrSystem, agent=OrderedText, model=OrderedText, at=Timestamp, duration_s=Float
    ),
    *_required(prompt_tokens=Integer, completion_tokens=Integer),
    Column("cached_tokens", Integer, nullable=False, server_default="0"),
    Column("cost_usd", Float, nullable=False),
    Column("prompt", _Json, info=TEXT),
    Column("reply", OrderedText, info=TEXT),
    *_optional(error=OrderedText, links=_ComparedJson),
    NumberedKey("n"),
    UniqueConstraint("user_id", "id"),
    Index("idx_model_calls_id", "id"),
    Index("idx_model_calls_at", "at"),
    only_on("sqlite", Index("idx_model_calls_user", "user_id", "n")),
    only_on("postgresql", Index("idx_model_calls_n", "n")),
    Index("idx_model_calls_links", "user_id", "links"),
    **_GROWING,
)

spend = _owned(
    "spend",
    Column("day", OrderedText, primary_key=True),
    Column("agent", OrderedText, primary_key=True),
    *_required(calls=Integer, tokens=Integer, cost_usd=Float),
)

event_links = _owned(
    "event_links",
    Column("ref", OrderedText, primary_key=True),
    Column("event_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("name", OrderedText, primary_key=True),
    Index("idx_event_links_event", "event_seq"),
)

tasks = _owned(
    "tasks",
    Column("id", OrderedText, primary_key=True),
    *_required(kind=OrderedText, state=OrderedText),
    Column("title", OrderedText, nullable=False, info=TEXT),
    Column("details", OrderedText, info=TEXT),
    *_optional(person_id=BigInteger, for_user=BigInteger, due_at=Timestamp),
    Column("whole_day", Boolean, nullable=False, server_default=false()),
    Column("recurrence", OrderedText),
    Column("tz", OrderedText, nullable=False),
    Column("next_at", Timestamp),
    Column("origin", OrderedText, nullable=False),
    *_optional(episode_id=OrderedText, message_id=OrderedText, run_id=OrderedText, event_id=OrderedText),
    *_required(created_at=Timestamp, updated_at=Timestamp),
    Column("closed_at", Timestamp),
    Column("rev", BigInteger, nullable=False),
    Index("idx_tasks_next_at", "next_at", **_where("next_at IS NOT NULL")),
    Index("idx_tasks_state", "user_id", "state", "next_at"),
)

task_firings = _owned(
    "task_firings",
    Column("task_id", OrderedText, primary_key=True),
    Column("due_at", Timestamp, primary_key=True),
    *_required(fired_at=Timestamp, notification_id=OrderedText),
)

notifications = _owned(
    "notifications",
    Column("id", OrderedText, primary_key=True),
    Column("kind", OrderedText, nullable=False),
    Column("ref_id", OrderedText),
    Column("text", OrderedText, nullable=False, info=TEXT),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", OrderedText, nullable=False),
    Column("urgent", Boolean, nullable=False, server_default=false()),
    *_required(not_before=Timestamp, created_at=Timestamp),
    Column("decided_at", Timestamp),
    Column("reason", OrderedText, info=TEXT),
    Column("merged_into", OrderedText),
    Column("event_id", OrderedText, nullable=False),
    Column("message_id", OrderedText),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("dedupe", OrderedText, nullable=False),
    UniqueConstraint("user_id", "dedupe"),
    Index("idx_notifications_waiting", "not_before", "user_id", **_where("state IN ('waiting', 'deferred')")),
)

context_snapshots = _owned(
    "context_snapshots",
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("content", JSON, nullable=False, info=TEXT),
    *_optional(run_id=OrderedText, restored_from=Integer),
    Column("created_at", Timestamp, nullable=False),
)

team_members = _owned(
    "team_members",
    Column("team_id", OrderedText, primary_key=True),
    Column("team_name", OrderedText, nullable=False, info=TEXT),
    Column("joined_at", Timestamp, nullable=False),
    Index("idx_team_members_team", "team_id"),
)

team_invitations = _owned(
    "team_invitations",
    Column("id", OrderedText, primary_key=True),
    Column("team_id", OrderedText, nullable=False),
    Column("team_name", OrderedText, nullable=False, info=TEXT),
    *_required(invited_by=BigInteger, state=OrderedText, created_at=Timestamp),
    Column("decided_at", Timestamp),
)

disclosures = _owned(
    "disclosures",
    Column("id", OrderedText, primary_key=True),
    *_required(
        kind=OrderedText,
        ref_id=OrderedText,
        text_hash=OrderedText,
        audience=OrderedText,
        reason=OrderedText,
        at=Timestamp,
    ),
)

artifacts = _owned(
    "artifacts",
    Column("id", OrderedText, primary_key=True),
    Column("kind", OrderedText, nullable=False),
    Column("name", OrderedText, nullable=False, info=TEXT),
    Column("mime", OrderedText, nullable=False),
    *_optional(size=BigInteger, sha256=OrderedText, pages=Integer),
    Column("state", OrderedText, nullable=False),
    Column("reason", OrderedText),
    Column("attempts", Integer, nullable=False, server_default="0"),
    *_required(due_at=Timestamp, message_id=OrderedText),
    Column("bot_id", BigInteger),
    *_required(file_id=OrderedText, added_at=Timestamp),
    Index("idx_artifacts_message", "user_id", "message_id"),
    Index("idx_artifacts_sha256", "sha256"),
    Index("idx_artifacts_due", "due_at", **_where("state = 'due'")),
)

# Bytes are kept once for all senders: a row says that a file of this hash is, or may be, in the store.
artifact_files = _table(
    "artifact_files",
    Column("sha256", OrderedText, primary_key=True),
    Column("stored_at", Timestamp, nullable=False),
    Column("leaving", Boolean, nullable=False, server_default=false()),
)

console_links = _table(
    "console_links",
    Column("token_hash", OrderedText, primary_key=True),
    *_required(user_id=BigInteger, created_at=Timestamp, expires_at=Timestamp),
    Column("used_at", Timestamp),
)

console_sessions = _table(
    "console_sessions",
    Column("token_hash", OrderedText, primary_key=True),
    Column("user_id", BigInteger),
    *_required(csrf=OrderedText, created_at=Timestamp, seen_at=Timestamp, expires_at=Timestamp),
    Index("idx_console_sessions_user", "user_id"),
)
