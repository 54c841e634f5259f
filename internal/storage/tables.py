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
from sqlalchemy.types import TypeEngine

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
# JSON that is looked for as a whole: PostgreSQL compares only its binary form.
_ComparedJson = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
_Serial = BigInteger().with_variant(Integer, "sqlite")

users = _owned(
    "users",
    *_required(role=Text, state=Text),
    Column("name", Text, nullable=False, info=TEXT),
    Column("username", Text, info=TEXT),
    *_required(lang=Text, tz=Text),
    Column("tz_asked", Boolean, nullable=False, server_default=false()),
    *_required(settings=JSON, created_at=Moment),
    Column("next_seq", BigInteger, nullable=False, server_default="1"),
    Column("next_rev", BigInteger, nullable=False, server_default="1"),
)

settings = _table("settings", Column("key", Text, primary_key=True), Column("value", JSON, nullable=False))

leases = _table(
    "leases",
    Column("name", Text, primary_key=True),
    *_required(holder=Text, until=BigInteger),
)

inbox = _table(
    "inbox",
    Column("n", _Serial, primary_key=True, autoincrement=True),
    *_required(bot_id=BigInteger, update_id=BigInteger),
    *_optional(chat_id=BigInteger, user_id=BigInteger),
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
    *_required(bot_id=BigInteger, lane=Text, chat_id=BigInteger),
    Column("thread_id", BigInteger),
    *_required(state=Text, opened_at=Moment, close_at=Moment),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", Moment),
    *_required(first_seq=BigInteger, last_seq=BigInteger),
    Column("error", Text),
    _unique("idx_turns_collecting", "user_id", "bot_id", "lane", where="state = 'collecting'"),
    Index("idx_turns_open", "state", **_where("state IN ('collecting', 'running')")),
)

messages = _owned(
    "messages",
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    *_required(id=Text, role=Text),
    Column("content", Text, nullable=False, info=TEXT),
    Column("user_metadata", _Json, info=TEXT),
    Column("timestamp", Moment, nullable=False),
    *_optional(sender_id=BigInteger, bot_id=BigInteger, chat_id=BigInteger, thread_id=BigInteger, tg_id=BigInteger),
    Column("reply_to", BigInteger),
    Column("forward", _Json, info=TEXT),
    Column("attachments", _Json, info=TEXT),
    Column("edited_at", Moment),
    Column("rev", BigInteger, nullable=False),
    *_optional(turn_id=Text, episode_id=Text, delivery=Text),
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
    *_required(id=Text, user_id=OwnerOrSystem, timestamp=Moment, event_type=Text, source=Text),
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
    *_required(id=Text, user_id=BigInteger, bot_id=BigInteger, chat_id=BigInteger),
    *_optional(thread_id=BigInteger, turn_id=Text, message_id=Text),
    Column("part", Integer, nullable=False),
    Column("payload", JSON, nullable=False, info=TEXT),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("uncertain", Integer, nullable=False, server_default="0"),
    Column("due_at", Moment, nullable=False),
    *_optional(tg_id=BigInteger, error=Text),
    *_required(dedupe=Text, created_at=Moment),
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
    *_required(reference_time=Moment, created_at=Moment),
    *_optional(session_id=Text, first_seq=BigInteger, last_seq=BigInteger),
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
    *_required(id=Text, user_id=BigInteger, agent=Text),
    *_optional(episode_id=Text, session_id=Text, replaces=Text),
    *_required(rev=BigInteger, first_n=Integer, last_n=Integer, state=Text),
    Column("claim", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("outages", Integer, nullable=False, server_default="0"),
    *_required(due_at=Moment, created_at=Moment),
    *_optional(finished_at=Moment, prompt_hash=Text, model=Text),
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
    *_required(user_id=BigInteger, entity_id=Text),
    Column("display_name", Text, nullable=False, info=TEXT),
    Column("aliases", JSON, nullable=False, info=TEXT),
    Column("telegram_id", BigInteger),
    Column("username", Text, info=TEXT),
    Column("username_key", Text, info=TEXT),
    Column("circle", Text, nullable=False),
    Column("bio", Text, nullable=False, info=TEXT),
    *_required(first_seen=Moment, last_seen=Moment),
    Column("mention_count", Integer, nullable=False, server_default="0"),
    *_required(rev=BigInteger, field_meta=JSON),
    *_optional(merged_into=BigInteger, run_id=Text),
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
    *_optional(href=Text, etag=Text),
)

name_keys = _owned(
    "name_keys",
    Column("key", Text, primary_key=True, info=TEXT),
    Column("entity_id", Text, primary_key=True),
    *_required(kind=Text, set_by=Text),
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
    *_required(source=BigInteger, target=BigInteger),
    Column("before", JSON, nullable=False, info=TEXT),
    Column("run_id", Text),
    Column("at", Moment, nullable=False),
    Column("undone_at", Moment),
    Index("idx_merges_target", "user_id", "target"),
)

node_merges = _owned(
    "node_merges",
    Column("id", Text, primary_key=True),
    *_required(source=Text, target=Text),
    Column("before", JSON, nullable=False, info=TEXT),
    *_required(set_by=Text, at=Moment),
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
    *_optional(person_id=BigInteger, ref_id=Text),
    *_required(state=Text, due_at=Moment, created_at=Moment),
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
    *_optional(status=Text, at=Moment),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment),
    Column("access_count", Integer, nullable=False, server_default="0"),
    Column("last_accessed", Moment),
    Column("props", JSON, nullable=False, info=TEXT),
    Column("field_meta", JSON, nullable=False),
    Column("merged_into", Text),
    *_required(schema_v=Integer, rev=BigInteger),
    *_optional(run_id=Text, said_at=Moment),
    Index("idx_graph_nodes_id", "id"),
    Index("idx_graph_nodes_label", "user_id", "label", "status"),
    Index("idx_graph_nodes_name", "user_id", "label", "name_key"),
)

graph_edges = _owned(
    "graph_edges",
    Column("id", Text, primary_key=True),
    *_required(type=Text, source=Text, target=Text, source_origin=Text, target_origin=Text),
    *_optional(strength=Float, strength_at=Moment),
    Column("created_at", Moment, nullable=False),
    *_optional(valid_at=Moment, invalid_at=Moment, expired_at=Moment),
    Column("props", JSON, nullable=False, info=TEXT),
    *_required(schema_v=Integer, rev=BigInteger),
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
    *_optional(valid_precision=Text, invalid_precision=Text),
    Index("idx_facts_claim", "user_id", "claim_id"),
    Index("idx_facts_supersedes", "user_id", "supersedes", **_where("supersedes IS NOT NULL")),
)

claims = _owned(
    "claims",
    Column("id", Text, primary_key=True),
    Column("edge_id", Text),
    Column("source", Text, nullable=False),
    Column("name", Text, nullable=False, info=TEXT),
    *_required(target=Text, source_origin=Text, target_origin=Text),
    Column("statement", Text, nullable=False, info=TEXT),
    Column("fact", Text, nullable=False, info=TEXT),
    Column("attributes", JSON, nullable=False, info=TEXT),
    Column("valid_at", Moment),
    Column("valid_stated", Boolean, nullable=False),
    Column("invalid_at", Moment),
    *_required(said_at=Moment, created_at=Moment),
    *_optional(retracted_at=Moment, episode_id=Text, run_id=Text),
    Column("set_by", Text, nullable=False),
    *_optional(valid_precision=Text, invalid_precision=Text),
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
    *_required(target=Text, kind=Text),
    Column("props", JSON, nullable=False, info=TEXT),
    *_required(said_at=Moment, created_at=Moment),
    *_optional(episode_id=Text, run_id=Text),
    Column("set_by", Text, nullable=False),
    Index("idx_observations_target", "user_id", "target"),
    Index("idx_observations_episode", "user_id", "episode_id"),
)

sessions = _owned(
    "sessions",
    Column("id", Text, primary_key=True),
    Column("topic", Text, nullable=False, info=TEXT),
    *_required(topic_by=Text, trigger=Text, tz=Text, opened_at=Moment),
    Column("closed_at", Moment),
    Column("rev", BigInteger, nullable=False),
    Column("thread_id", BigInteger, nullable=False, server_default="0"),
    Index("idx_sessions_id", "id"),
    _unique("idx_sessions_open", "user_id", "thread_id", where="closed_at IS NULL"),
    Index("idx_sessions_time", "user_id", "opened_at"),
)

chronicle = _owned(
    "chronicle",
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    *_required(id=Text, session_id=Text, label=Text),
    *_optional(message_id=Text, answers_n=BigInteger),
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
    *_optional(relevance=Integer, run_id=Text),
    Index("idx_event_mentions_entity", "user_id", "entity_id"),
)

mirrors = _owned(
    "mirrors",
    Column("target", Text, primary_key=True),
    *_required(seq=BigInteger, at=Moment),
)

reply_sources = _owned(
    "reply_sources",
    Column("message_id", Text, primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    *_required(kind=Text, ref_id=Text, cited=Boolean),
)

search_items = _owned(
    "search_items",
    Column("item", Text, primary_key=True),
    *_required(kind=Text, ref_id=Text),
    Column("text", Text, nullable=False, info=TEXT),
    *_required(text_hash=Text, rev=BigInteger),
    Column("terms", Text, info=TEXT),
    *_optional(analyzer=Text, terms_hash=Text),
    Column("context", Text, info=TEXT),
    *_optional(traits=Integer, embedded=Text),
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
    *_required(dim=Integer, text_hash=Text),
    Column("vec", LargeBinary, nullable=False, info=TEXT),
)

changes = _table(
    "changes",
    Column("seq", _Serial, autoincrement=True),
    *_required(user_id=BigInteger, kind=Text, id=Text, op=Text),
    NumberedKey("seq"),
    only_on("sqlite", Index("idx_changes_user", "user_id", "seq")),
    only_on("postgresql", Index("idx_changes_seq", "seq")),
    **_GROWING,
)

model_calls = _table(
    "model_calls",
    Column("n", _Serial, autoincrement=True),
    *_required(id=Text, user_id=OwnerOrSystem, agent=Text, model=Text, at=Moment, duration_s=Float),
    *_required(prompt_tokens=Integer, completion_tokens=Integer),
    Column("cached_tokens", Integer, nullable=False, server_default="0"),
    Column("cost_usd", Float, nullable=False),
    Column("prompt", _Json, info=TEXT),
    Column("reply", Text, info=TEXT),
    *_optional(error=Text, links=_ComparedJson),
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
    *_required(calls=Integer, tokens=Integer, cost_usd=Float),
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
    *_required(kind=Text, state=Text),
    Column("title", Text, nullable=False, info=TEXT),
    Column("details", Text, info=TEXT),
    *_optional(person_id=BigInteger, for_user=BigInteger, due_at=Moment),
    Column("whole_day", Boolean, nullable=False, server_default=false()),
    Column("recurrence", Text),
    Column("tz", Text, nullable=False),
    Column("next_at", Moment),
    Column("origin", Text, nullable=False),
    *_optional(episode_id=Text, message_id=Text, run_id=Text, event_id=Text),
    *_required(created_at=Moment, updated_at=Moment),
    Column("closed_at", Moment),
    Column("rev", BigInteger, nullable=False),
    Index("idx_tasks_next_at", "next_at", **_where("next_at IS NOT NULL")),
    Index("idx_tasks_state", "user_id", "state", "next_at"),
)

task_firings = _owned(
    "task_firings",
    Column("task_id", Text, primary_key=True),
    Column("due_at", Moment, primary_key=True),
    *_required(fired_at=Moment, notification_id=Text),
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
    *_required(not_before=Moment, created_at=Moment),
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
    *_optional(run_id=Text, restored_from=Integer),
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
    *_required(invited_by=BigInteger, state=Text, created_at=Moment),
    Column("decided_at", Moment),
)

disclosures = _owned(
    "disclosures",
    Column("id", Text, primary_key=True),
    *_required(kind=Text, ref_id=Text, text_hash=Text, audience=Text, reason=Text, at=Moment),
)

artifacts = _owned(
    "artifacts",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False, info=TEXT),
    Column("mime", Text, nullable=False),
    *_optional(size=BigInteger, sha256=Text, pages=Integer),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    *_required(due_at=Moment, message_id=Text),
    Column("bot_id", BigInteger),
    *_required(file_id=Text, added_at=Moment),
    Index("idx_artifacts_message", "user_id", "message_id"),
    Index("idx_artifacts_sha256", "sha256"),
    Index("idx_artifacts_due", "due_at", **_where("state = 'due'")),
)

# Bytes are kept once for all senders: a row says that a file of this hash is, or may be, in the store.
artifact_files = _table(
    "artifact_files",
    Column("sha256", Text, primary_key=True),
    Column("stored_at", Moment, nullable=False),
    Column("leaving", Boolean, nullable=False, server_default=false()),
)

console_links = _table(
    "console_links",
    Column("token_hash", Text, primary_key=True),
    *_required(user_id=BigInteger, created_at=Moment, expires_at=Moment),
    Column("used_at", Moment),
)

console_sessions = _table(
    "console_sessions",
    Column("token_hash", Text, primary_key=True),
    Column("user_id", BigInteger),
    *_required(csrf=Text, created_at=Moment, seen_at=Moment, expires_at=Moment),
    Index("idx_console_sessions_user", "user_id"),
)
