"""Every table. Keys lead with the owner; times are microseconds in UTC; `rev` counts an owner's changes.

A column whose `info` is TEXT holds what people said or what was derived from it: forgetting, export and the test
that looks for leftovers walk over exactly those.
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

from internal.storage.row_ids import NumberedKey, only_on
from internal.storage.types import Moment, OwnerOrSystem, Text

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


# Nothing is NULL in a column that may be empty, not the JSON value null.
_Json = JSON(none_as_null=True)
# JSON that is looked for as a whole: PostgreSQL compares only its binary form.
_ComparedJson = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
_Serial = BigInteger().with_variant(Integer, "sqlite")

users = _owned(
    "users",
    Column("role", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("name", Text, nullable=False, info=TEXT),
    Column("username", Text, info=TEXT),
    Column("lang", Text, nullable=False),
    Column("tz", Text, nullable=False),
    Column("tz_asked", Boolean, nullable=False, server_default=false()),
    Column("settings", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("next_seq", BigInteger, nullable=False, server_default="1"),
    Column("next_rev", BigInteger, nullable=False, server_default="1"),
)

settings = _table("settings", Column("key", Text, primary_key=True), Column("value", JSON, nullable=False))

leases = _table(
    "leases",
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
)

inbox = _table(
    "inbox",
    Column("n", _Serial, primary_key=True, autoincrement=True),
    Column("bot_id", BigInteger, nullable=False),
    Column("update_id", BigInteger, nullable=False),
    Column("chat_id", BigInteger),
    Column("user_id", BigInteger),
    Column("raw", Text, nullable=False, info=TEXT),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("error", Text),
    Column("received_at", Moment, nullable=False),
    UniqueConstraint("bot_id", "update_id"),
    Index("idx_inbox_state", "state", "n"),
    **_GROWING,
)

turns = _owned(
    "turns",
    Column("id", Text, primary_key=True),
    Column("bot_id", BigInteger, nullable=False),
    Column("lane", Text, nullable=False),
    Column("chat_id", BigInteger, nullable=False),
    Column("thread_id", BigInteger),
    Column("state", Text, nullable=False),
    Column("opened_at", Moment, nullable=False),
    Column("close_at", Moment, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", Moment),
    Column("first_seq", BigInteger, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("error", Text),
    _unique("idx_turns_collecting", "user_id", "bot_id", "lane", where="state = 'collecting'"),
    Index("idx_turns_open", "state", **_where("state IN ('collecting', 'running')")),
)

messages = _owned(
    "messages",
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False, info=TEXT),
    Column("user_metadata", _Json, info=TEXT),
    Column("timestamp", Moment, nullable=False),
    Column("sender_id", BigInteger),
    Column("bot_id", BigInteger),
    Column("chat_id", BigInteger),
    Column("thread_id", BigInteger),
    Column("tg_id", BigInteger),
    Column("reply_to", BigInteger),
    Column("forward", _Json, info=TEXT),
    Column("attachments", _Json, info=TEXT),
    Column("edited_at", Moment),
    Column("rev", BigInteger, nullable=False),
    Column("turn_id", Text),
    Column("episode_id", Text),
    Column("delivery", Text),
    UniqueConstraint("user_id", "id"),
    UniqueConstraint("user_id", "bot_id", "chat_id", "tg_id"),
    Index("idx_messages_user_time", "user_id", "timestamp"),
    Index("idx_messages_waiting", "user_id", "seq", **_where("episode_id IS NULL")),
)

dialogue_state = _owned(
    "dialogue_state",
    Column("last_published_message_id", Text),
    Column("last_activity", Moment, nullable=False),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Index("idx_dialogue_state_active", "is_active", **_where("is_active = true")),
)

events = _table(
    "events",
    Column("seq", _Serial, autoincrement=True),
    Column("id", Text, nullable=False),
    Column("user_id", OwnerOrSystem, nullable=False),
    Column("timestamp", Moment, nullable=False),
    Column("event_type", Text, nullable=False),
    Column("source", Text, nullable=False),
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
    Column("agent_id", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("user_id", BigInteger),
    Column("value", LargeBinary, nullable=False, info=TEXT),
    Column("updated_at", Moment, nullable=False),
    Index("idx_agent_state_agent", "agent_id"),
)

outbox = _table(
    "outbox",
    Column("n", _Serial, autoincrement=True),
    Column("id", Text, nullable=False),
    Column("user_id", BigInteger, nullable=False),
    Column("bot_id", BigInteger, nullable=False),
    Column("chat_id", BigInteger, nullable=False),
    Column("thread_id", BigInteger),
    Column("turn_id", Text),
    Column("message_id", Text),
    Column("part", Integer, nullable=False),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("uncertain", Integer, nullable=False, server_default="0"),
    Column("due_at", Moment, nullable=False),
    Column("tg_id", BigInteger),
    Column("error", Text),
    Column("dedupe", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    NumberedKey("n"),
    UniqueConstraint("user_id", "id"),
    UniqueConstraint("user_id", "dedupe"),
    Index("idx_outbox_due", "chat_id", "n", **_where("state IN ('pending', 'sending', 'unknown')")),
    only_on("sqlite", Index("idx_outbox_user", "user_id", "n")),
    **_GROWING,
)

episodes = _owned(
    "episodes",
    Column("id", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("name", Text, nullable=False, info=TEXT),
    Column("content", Text, nullable=False, info=TEXT),
    Column("source_description", Text, nullable=False, info=TEXT),
    Column("source_url", Text, info=TEXT),
    Column("reference_time", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("session_id", Text),
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
    Column("dedupe", Text, info=TEXT),
    Column("processed_at", Moment),
    Index("idx_episodes_id", "id"),
    _unique("idx_episodes_dedupe", "user_id", "dedupe", where="dedupe IS NOT NULL"),
    Index("idx_episodes_time", "user_id", "reference_time"),
)

segments = _owned(
    "segments",
    Column("episode_id", Text, primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, info=TEXT),
    Column("at", Moment, nullable=False),
    Column("message_id", Text),
    Column("speaker", Text, info=TEXT),
    Column("own", Boolean, nullable=False, server_default=true()),
    Column("forwarded_from", Text, info=TEXT),
    Column("url", Text, info=TEXT),
    Column("key", Text, info=TEXT),
    _unique("idx_segments_key", "user_id", "key", where="key IS NOT NULL"),
    Index("idx_segments_message", "user_id", "message_id", **_where("message_id IS NOT NULL")),
)

runs = _table(
    "runs",
    Column("n", _Serial, autoincrement=True),
    Column("id", Text, nullable=False),
    Column("user_id", BigInteger, nullable=False),
    Column("agent", Text, nullable=False),
    Column("episode_id", Text),
    Column("session_id", Text),
    Column("replaces", Text),
    Column("rev", BigInteger, nullable=False),
    Column("first_n", Integer, nullable=False),
    Column("last_n", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("claim", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("outages", Integer, nullable=False, server_default="0"),
    Column("due_at", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    Column("prompt_hash", Text),
    Column("model", Text),
    Column("snapshot", _Json, info=TEXT),
    Column("reply", Text, info=TEXT),
    Column("tokens", Integer, nullable=False, server_default="0"),
    Column("cost_usd", Float, nullable=False, server_default="0"),
    Column("error", Text),
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
    Column("user_id", BigInteger, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("display_name", Text, nullable=False, info=TEXT),
    Column("aliases", JSON, nullable=False, info=TEXT),
    Column("telegram_id", BigInteger),
    Column("username", Text, info=TEXT),
    Column("username_key", Text, info=TEXT),
    Column("circle", Text, nullable=False),
    Column("bio", Text, nullable=False, info=TEXT),
    Column("first_seen", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("mention_count", Integer, nullable=False, server_default="0"),
    Column("rev", BigInteger, nullable=False),
    Column("field_meta", JSON, nullable=False),
    Column("merged_into", BigInteger),
    Column("run_id", Text),
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
    Column("book", Text, primary_key=True),
    Column("person_id", BigInteger, primary_key=True, autoincrement=False),
    Column("uid", Text, nullable=False, info=TEXT),
    Column("card", Text, nullable=False, info=TEXT),
    Column("updated_at", Moment, nullable=False),
    Column("href", Text),
    Column("etag", Text),
)

name_keys = _owned(
    "name_keys",
    Column("key", Text, primary_key=True, info=TEXT),
    Column("entity_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("rejected", Boolean, nullable=False, server_default=false()),
    Index("idx_name_keys_entity", "user_id", "entity_id"),
)

mentions = _owned(
    "mentions",
    Column("person_id", BigInteger, primary_key=True, autoincrement=False),
    Column("episode_id", Text, primary_key=True),
)

merges = _owned(
    "merges",
    Column("id", Text, primary_key=True),
    Column("source", BigInteger, nullable=False),
    Column("target", BigInteger, nullable=False),
    Column("before", JSON, nullable=False, info=TEXT),
    Column("run_id", Text),
    Column("at", Moment, nullable=False),
    Column("undone_at", Moment),
    Index("idx_merges_target", "user_id", "target"),
)

node_merges = _owned(
    "node_merges",
    Column("id", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("before", JSON, nullable=False, info=TEXT),
    Column("set_by", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("undone_at", Moment),
)

evidence = _owned(
    "evidence",
    Column("target", Text, primary_key=True),
    Column("episode_id", Text, primary_key=True),
    Column("segment", Integer, primary_key=True, autoincrement=False),
    Column("message_id", Text),
    Column("quote", Text, info=TEXT),
    Column("operation", Text, nullable=False),
    Column("run_id", Text),
    Index("idx_evidence_message", "user_id", "message_id"),
    Index("idx_evidence_episode", "user_id", "episode_id"),
)

suggestions = _owned(
    "suggestions",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("person_id", BigInteger),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", Text, nullable=False),
    Column("run_id", Text),
    Column("created_at", Moment, nullable=False),
    Column("decided_at", Moment),
)

forgettings = _owned(
    "forgettings",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("person_id", BigInteger),
    Column("ref_id", Text),
    Column("state", Text, nullable=False),
    Column("due_at", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("idx_forgettings_due", "due_at", **_where("state = 'pending'")),
)

hidings = _owned(
    "hidings",
    Column("forgetting_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Index("idx_hidings_target", "target"),
)

tombstones = _owned("tombstones", Column("key_hmac", Text, primary_key=True), Column("at", Moment, nullable=False))

graph_nodes = _owned(
    "graph_nodes",
    Column("id", Text, primary_key=True),
    Column("label", Text, nullable=False),
    Column("subtype", Text),
    Column("name", Text, info=TEXT),
    Column("name_key", Text, info=TEXT),
    Column("status", Text),
    Column("at", Moment),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment),
    Column("access_count", Integer, nullable=False, server_default="0"),
    Column("last_accessed", Moment),
    Column("props", JSON, nullable=False, info=TEXT),
    Column("field_meta", JSON, nullable=False),
    Column("merged_into", Text),
    Column("schema_v", Integer, nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("run_id", Text),
    Column("said_at", Moment),
    Index("idx_graph_nodes_id", "id"),
    Index("idx_graph_nodes_label", "user_id", "label", "status"),
    Index("idx_graph_nodes_name", "user_id", "label", "name_key"),
)

graph_edges = _owned(
    "graph_edges",
    Column("id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("source_origin", Text, nullable=False),
    Column("target_origin", Text, nullable=False),
    Column("strength", Float),
    Column("strength_at", Moment),
    Column("created_at", Moment, nullable=False),
    Column("valid_at", Moment),
    Column("invalid_at", Moment),
    Column("expired_at", Moment),
    Column("props", JSON, nullable=False, info=TEXT),
    Column("schema_v", Integer, nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("run_id", Text),
    Index("idx_graph_edges_id", "id"),
    Index("idx_graph_edges_source", "user_id", "source", "type"),
    Index("idx_graph_edges_target", "user_id", "target", "type"),
    Index("idx_graph_edges_time", "user_id", "valid_at", "created_at", "id"),
    Index("idx_graph_edges_strength", "user_id", "type", "strength", "id", **_where("strength IS NOT NULL")),
)

facts = _owned(
    "facts",
    Column("edge_id", Text, primary_key=True),
    Column("name", Text, nullable=False, info=TEXT),
    Column("fact", Text, nullable=False, info=TEXT),
    Column("claim_id", Text, nullable=False),
    Column("attributes", JSON, nullable=False, info=TEXT),
    Column("supersedes", Text),
    Column("original_fact", Text, info=TEXT),
    Column("update_reason", Text, info=TEXT),
    Column("updated_at", Moment),
    Column("set_by", Text, nullable=False),
    Column("valid_precision", Text),
    Column("invalid_precision", Text),
    Index("idx_facts_claim", "user_id", "claim_id"),
    Index("idx_facts_supersedes", "user_id", "supersedes", **_where("supersedes IS NOT NULL")),
)

claims = _owned(
    "claims",
    Column("id", Text, primary_key=True),
    Column("edge_id", Text),
    Column("source", Text, nullable=False),
    Column("name", Text, nullable=False, info=TEXT),
    Column("target", Text, nullable=False),
    Column("source_origin", Text, nullable=False),
    Column("target_origin", Text, nullable=False),
    Column("statement", Text, nullable=False, info=TEXT),
    Column("fact", Text, nullable=False, info=TEXT),
    Column("attributes", JSON, nullable=False, info=TEXT),
    Column("valid_at", Moment),
    Column("valid_stated", Boolean, nullable=False),
    Column("invalid_at", Moment),
    Column("said_at", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("retracted_at", Moment),
    Column("episode_id", Text),
    Column("run_id", Text),
    Column("set_by", Text, nullable=False),
    Column("valid_precision", Text),
    Column("invalid_precision", Text),
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
    Column("id", Text, primary_key=True),
    Column("target", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("props", JSON, nullable=False, info=TEXT),
    Column("said_at", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("episode_id", Text),
    Column("run_id", Text),
    Column("set_by", Text, nullable=False),
    Index("idx_observations_target", "user_id", "target"),
    Index("idx_observations_episode", "user_id", "episode_id"),
)

sessions = _owned(
    "sessions",
    Column("id", Text, primary_key=True),
    Column("topic", Text, nullable=False, info=TEXT),
    Column("topic_by", Text, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("tz", Text, nullable=False),
    Column("opened_at", Moment, nullable=False),
    Column("closed_at", Moment),
    Column("rev", BigInteger, nullable=False),
    Index("idx_sessions_id", "id"),
    _unique("idx_sessions_open", "user_id", where="closed_at IS NULL"),
    Index("idx_sessions_time", "user_id", "opened_at"),
)

chronicle = _owned(
    "chronicle",
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("message_id", Text),
    Column("answers_n", BigInteger),
    Column("attrs", JSON, nullable=False, info=TEXT),
    Column("at", Moment, nullable=False),
    Column("run_id", Text),
    Index("idx_chronicle_id", "user_id", "id", unique=True),
    Index("idx_chronicle_session", "user_id", "session_id", "n"),
    _unique("idx_chronicle_message", "user_id", "message_id", where="message_id IS NOT NULL"),
)

event_mentions = _owned(
    "event_mentions",
    Column("event_id", Text, primary_key=True),
    Column("entity_origin", Text, primary_key=True),
    Column("entity_id", Text, nullable=False),
    Column("relevance", Integer),
    Column("run_id", Text),
    Index("idx_event_mentions_entity", "user_id", "entity_id"),
)

mirrors = _owned(
    "mirrors",
    Column("target", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("at", Moment, nullable=False),
)

reply_sources = _owned(
    "reply_sources",
    Column("message_id", Text, primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("ref_id", Text, nullable=False),
    Column("cited", Boolean, nullable=False),
)

search_items = _owned(
    "search_items",
    Column("item", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("ref_id", Text, nullable=False),
    Column("text", Text, nullable=False, info=TEXT),
    Column("text_hash", Text, nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("terms", Text, info=TEXT),
    Column("analyzer", Text),
    Column("terms_hash", Text),
    Column("context", Text, info=TEXT),
    Column("traits", Integer),
    Column("embedded", Text),
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
    Column("item", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("dim", Integer, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("vec", LargeBinary, nullable=False, info=TEXT),
)

changes = _table(
    "changes",
    Column("seq", _Serial, autoincrement=True),
    Column("user_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("op", Text, nullable=False),
    NumberedKey("seq"),
    only_on("sqlite", Index("idx_changes_user", "user_id", "seq")),
    only_on("postgresql", Index("idx_changes_seq", "seq")),
    **_GROWING,
)

model_calls = _table(
    "model_calls",
    Column("n", _Serial, autoincrement=True),
    Column("id", Text, nullable=False),
    Column("user_id", OwnerOrSystem, nullable=False),
    Column("agent", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False, server_default="0"),
    Column("cost_usd", Float, nullable=False),
    Column("prompt", _Json, info=TEXT),
    Column("reply", Text, info=TEXT),
    Column("error", Text),
    Column("links", _ComparedJson),
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
    Column("day", Text, primary_key=True),
    Column("agent", Text, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("cost_usd", Float, nullable=False),
)

event_links = _owned(
    "event_links",
    Column("ref", Text, primary_key=True),
    Column("event_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    Index("idx_event_links_event", "event_seq"),
)

tasks = _owned(
    "tasks",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("title", Text, nullable=False, info=TEXT),
    Column("details", Text, info=TEXT),
    Column("person_id", BigInteger),
    Column("for_user", BigInteger),
    Column("due_at", Moment),
    Column("whole_day", Boolean, nullable=False, server_default=false()),
    Column("recurrence", Text),
    Column("tz", Text, nullable=False),
    Column("next_at", Moment),
    Column("origin", Text, nullable=False),
    Column("episode_id", Text),
    Column("message_id", Text),
    Column("run_id", Text),
    Column("event_id", Text),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("closed_at", Moment),
    Column("rev", BigInteger, nullable=False),
    Index("idx_tasks_next_at", "next_at", **_where("next_at IS NOT NULL")),
    Index("idx_tasks_state", "user_id", "state", "next_at"),
)

task_firings = _owned(
    "task_firings",
    Column("task_id", Text, primary_key=True),
    Column("due_at", Moment, primary_key=True),
    Column("fired_at", Moment, nullable=False),
    Column("notification_id", Text, nullable=False),
)

notifications = _owned(
    "notifications",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("ref_id", Text),
    Column("text", Text, nullable=False, info=TEXT),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", Text, nullable=False),
    Column("urgent", Boolean, nullable=False, server_default=false()),
    Column("not_before", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("decided_at", Moment),
    Column("reason", Text, info=TEXT),
    Column("merged_into", Text),
    Column("event_id", Text, nullable=False),
    Column("message_id", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("dedupe", Text, nullable=False),
    UniqueConstraint("user_id", "dedupe"),
    Index("idx_notifications_waiting", "not_before", "user_id", **_where("state IN ('waiting', 'deferred')")),
)

context_snapshots = _owned(
    "context_snapshots",
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("content", JSON, nullable=False, info=TEXT),
    Column("run_id", Text),
    Column("restored_from", Integer),
    Column("created_at", Moment, nullable=False),
)

team_members = _owned(
    "team_members",
    Column("team_id", Text, primary_key=True),
    Column("team_name", Text, nullable=False, info=TEXT),
    Column("joined_at", Moment, nullable=False),
    Index("idx_team_members_team", "team_id"),
)

team_invitations = _owned(
    "team_invitations",
    Column("id", Text, primary_key=True),
    Column("team_id", Text, nullable=False),
    Column("team_name", Text, nullable=False, info=TEXT),
    Column("invited_by", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("decided_at", Moment),
)

disclosures = _owned(
    "disclosures",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("ref_id", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Moment, nullable=False),
)

artifacts = _owned(
    "artifacts",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False, info=TEXT),
    Column("mime", Text, nullable=False),
    Column("size", BigInteger),
    Column("sha256", Text),
    Column("pages", Integer),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", Moment, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("bot_id", BigInteger),
    Column("file_id", Text, nullable=False),
    Column("added_at", Moment, nullable=False),
    Index("idx_artifacts_message", "user_id", "message_id"),
    Index("idx_artifacts_sha256", "sha256"),
    Index("idx_artifacts_due", "due_at", **_where("state = 'due'")),
)

# Bytes are kept once, whoever sent them: a row says that a file of this hash is, or may be, in the store.
artifact_files = _table(
    "artifact_files",
    Column("sha256", Text, primary_key=True),
    Column("stored_at", Moment, nullable=False),
    Column("leaving", Boolean, nullable=False, server_default=false()),
)

console_links = _table(
    "console_links",
    Column("token_hash", Text, primary_key=True),
    Column("user_id", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("used_at", Moment),
)

console_sessions = _table(
    "console_sessions",
    Column("token_hash", Text, primary_key=True),
    Column("user_id", BigInteger),
    Column("csrf", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("idx_console_sessions_user", "user_id"),
)
