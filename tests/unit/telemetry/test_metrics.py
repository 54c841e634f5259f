"""Metrics under the contract's names, with no more identities than allowed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st
from prometheus_client.parser import text_string_to_metric_families

from internal.config.settings import MetricsConfig
from internal.errors import ModelUnavailable
from internal.llm.model import ChatReply, ChatRequest, EmbeddingReply, EmbeddingRequest, Usage
from internal.telemetry.identity import Identities
from internal.telemetry.metrics import Metrics
from internal.telemetry.repository import StoredGauges

NOTHING = StoredGauges([], [], 0, 0, 0, 0, None)
CONTRACT = {
    "laplaced_people_extracted_total": {"user_id", "op_type"},
    "laplaced_people_extraction_duration_seconds": {"user_id"},
    "laplaced_people_duplicates_merged_total": {"user_id"},
    "laplaced_people_search_duration_seconds": {"user_id"},
    "laplaced_people_search_results": {"user_id"},
    "laplaced_people_reranker_selected": {"user_id"},
    "laplaced_people_total": {"user_id", "circle"},
    "laplaced_people_mentions_total": {"person_id"},
    "laplaced_operations_refused_total": {"agent", "reason"},
    "laplaced_build_info": {"version"},
    "laplaced_llm_requests_total": {"agent", "model", "outcome"},
    "laplaced_llm_tokens_total": {"agent", "model", "kind"},
    "laplaced_llm_cost_usd_total": {"agent", "model"},
    "laplaced_llm_request_duration_seconds": {"agent", "model"},
    "laplaced_reranker_fallbacks_total": {"reason"},
    "laplaced_agent_runs_total": {"agent", "outcome"},
    "laplaced_inbox_depth": set(),
    "laplaced_outbox_depth": set(),
    "laplaced_inbox_quarantined": set(),
    "laplaced_oldest_inbox_timestamp_seconds": set(),
    "laplaced_oldest_outbox_timestamp_seconds": set(),
    "laplaced_oldest_unarchived_timestamp_seconds": set(),
    "laplaced_last_poll_timestamp_seconds": set(),
    "laplaced_telegram_requests_total": {"method"},
    "laplaced_telegram_errors_total": {"method", "kind"},
    "laplaced_updates_quarantined_total": set(),
    "laplaced_carddav_syncs_total": {"outcome"},
    "laplaced_sends_unknown_total": set(),
    "laplaced_runs_dead": set(),
    "laplaced_mirror_lag_changes": set(),
    "laplaced_last_backup_timestamp_seconds": set(),
    "laplaced_server_clock_ahead_seconds": set(),
    "process_start_time_seconds": set(),
    "process_resident_memory_bytes": set(),
    "process_cpu_seconds_total": set(),
}
ASKED = ChatRequest(agent="archivist", model="m", messages=[])


def metrics(**config: object) -> Metrics:
    return Metrics(MetricsConfig.model_validate(config), "key")


def samples(counted: Metrics, stored: StoredGauges = NOTHING) -> dict[str, float]:
    """`name{label="value"}` to value, as the page says."""
    text = counted.exposition(stored).decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}


def everything_happened(counted: Metrics) -> None:
    counted.people_applied(7, "Merged", 1)
    counted.carddav_synced("failed")
    counted.extraction_seconds(7, 1.5)
    counted.operation_refused("archivist", "unknown_id")
    counted.people_searched(7, 0.002, 3)
    counted.people_selected(7, 2)
    counted.reranker_fallback("timeout")
    counted.recall_degraded("enricher")
    counted.recalled(0.004, {"fact": 2, "message": 3})
    counted.turn_ended("answered", 2.0)
    counted.agent_run("archivist", "applied")
    counted.finished(ASKED, ChatReply("", "m", Usage(10, 5, 0.25)), None, 1.0)
    counted.telegram_request("sendMessage")
    counted.telegram_error("sendMessage", "TelegramRetryAfter")
    counted.update_quarantined()
    counted.send_unknown()
    counted.polled()


def test_every_name_of_the_contract_is_there_with_its_labels() -> None:
    """After everything happened once, each promised metric stands on the page with exactly the promised labels."""
    counted = metrics()
    everything_happened(counted)
    stored = StoredGauges(
        [(7, "Family", 2)], [(42, 127)], 0, 1, 2, 3, datetime(2026, 1, 1, tzinfo=UTC), merges=[(7, 1)]
    )
    page = counted.exposition(stored).decode()
    labels: dict[str, set[str]] = {}
    for name, inside in re.findall(r"^(\w+)(?:\{(.*)\})? ", page, re.MULTILINE):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        found = set(re.findall(r'(\w+)="', inside)) - {"le"}
        assert labels.setdefault(base, found) == found
    assert {name: labels.get(name) for name in CONTRACT} == CONTRACT


def test_page_is_readable_to_prometheus() -> None:
    """The page parses, and holds no name twice."""
    counted = metrics()
    everything_happened(counted)
    families = [family.name for family in text_string_to_metric_families(counted.exposition(NOTHING).decode())]
    assert len(families) == len(set(families)) > 20


@pytest.mark.parametrize("name", [name for name, labels in CONTRACT.items() if labels <= {"version"}])
def test_what_has_no_labels_is_there_from_the_start(name: str) -> None:
    """An alert on a metric that never appeared would never fire."""
    assert any(re.match(rf"{name}\b", sample) for sample in samples(metrics()))


def test_first_failed_answer_is_a_rise() -> None:
    """Every end of a turn is counted from 0 on: a series that begins at 1 would not look like a failure."""
    ends = {name: value for name, value in samples(metrics()).items() if "turn_duration_seconds_count" in name}
    assert ends == {
        f'laplaced_turn_duration_seconds_count{{outcome="{end}"}}': 0 for end in ("answered", "cancelled", "failed")
    }


def test_only_merges_count_as_merged() -> None:
    """Applied operations are counted by type; merges by themselves as they are stored, whoever merged."""
    counted = metrics()
    counted.people_applied(7, "Added", 3)
    counted.people_applied(7, "Merged", 2)
    page = samples(counted, replace(NOTHING, merges=[(7, 2)]))
    assert page['laplaced_people_extracted_total{op_type="Added",user_id="7"}'] == 3
    assert page['laplaced_people_extracted_total{op_type="Merged",user_id="7"}'] == 2
    assert page['laplaced_people_duplicates_merged_total{user_id="7"}'] == 2


def test_model_calls_are_counted_by_what_was_asked_and_what_came() -> None:
    """Success, failure and a stop are told apart; tokens and money count whenever the provider told them."""
    counted = metrics()
    counted.finished(ASKED, ChatReply("", "m-2026", Usage(10, 5, 0.25)), None, 1.0)
    counted.finished(ASKED, ChatReply("", "m-2026", Usage(1, 1, 0.5)), ModelUnavailable(), 1.0)
    counted.finished(ASKED, None, None, 1.0)
    counted.finished(EmbeddingRequest("e", 3072, 2), EmbeddingReply("e", Usage(7)), None, 0.1)
    page = samples(counted)
    asked = 'laplaced_llm_requests_total{agent="archivist",model="m",outcome="%s"}'
    assert [page[asked % outcome] for outcome in ("ok", "ModelUnavailable", "cancelled")] == [1, 1, 1]
    assert page['laplaced_llm_tokens_total{agent="archivist",kind="prompt",model="m"}'] == 11
    assert page['laplaced_llm_cost_usd_total{agent="archivist",model="m"}'] == 0.75
    assert page['laplaced_llm_tokens_total{agent="embedder",kind="prompt",model="e"}'] == 7


def test_stored_figures_stand_on_the_page() -> None:
    """What the database says is shown as it says it."""
    oldest = datetime(2026, 1, 1, tzinfo=UTC)
    page = samples(metrics(), StoredGauges([(7, "Family", 2), (7, "Other", 1)], [(42, 127)], 0, 1, 2, 3, oldest))
    assert page['laplaced_people_total{circle="Family",user_id="7"}'] == 2
    assert page['laplaced_people_mentions_total{person_id="42"}'] == 127
    assert [page[f"laplaced_{name}"] for name in ("inbox_depth", "outbox_depth", "runs_dead")] == [1, 2, 3]
    assert page["laplaced_oldest_unarchived_timestamp_seconds"] == oldest.timestamp()


def test_age_of_what_waits_stands_on_the_page() -> None:
    """Since when the oldest update and the oldest message wait, and 0 as long as none does."""
    came, written = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    names = ("oldest_inbox_timestamp_seconds", "oldest_outbox_timestamp_seconds", "inbox_quarantined")
    waiting = samples(metrics(), StoredGauges([], [], 0, 0, 0, 0, None, came, written, 5))
    assert [waiting[f"laplaced_{name}"] for name in names] == [came.timestamp(), written.timestamp(), 5]
    assert [samples(metrics())[f"laplaced_{name}"] for name in names] == [0, 0, 0]


@pytest.mark.parametrize("identity", ["hashed", "off"])
def test_raw_ids_are_nowhere_unless_wanted(identity: str) -> None:
    """Hashed or off, no id of a user or person can be read from the page."""
    counted = metrics(identity=identity)
    for user_id in (123456789, 987654321):
        counted.people_applied(user_id, "Added", 1)
        counted.people_searched(user_id, 0.1, 1)
    page = samples(counted, StoredGauges([(123456789, "Other", 1)], [(555666777, 4)], 6, 0, 0, 0, None))
    assert not any(secret in name for name in page for secret in ("123456789", "987654321", "555666777"))
    mentions = [value for name, value in page.items() if name.startswith("laplaced_people_mentions_total")]
    assert sum(mentions) == 10


def test_identities_that_are_off_are_added_up() -> None:
    """Without identities the totals stay true."""
    counted = metrics(identity="off")
    counted.people_applied(1, "Added", 1)
    counted.people_applied(2, "Added", 1)
    page = samples(counted, StoredGauges([(1, "Other", 1), (2, "Other", 4)], [], 0, 0, 0, 0, None))
    assert page['laplaced_people_extracted_total{op_type="Added",user_id=""}'] == 2
    assert page['laplaced_people_total{circle="Other",user_id=""}'] == 5


def test_people_beyond_the_bound_are_one_series() -> None:
    """However many people there are, the page holds so many labels and one more, and the sum stays true."""
    counted = metrics(max_identities=2)
    assert counted.most_people == 2
    page = samples(counted, StoredGauges([], [(1, 10), (2, 20)], 70, 0, 0, 0, None))
    mentions = {name: value for name, value in page.items() if "mentions" in name}
    assert list(mentions.values()) == [10, 20, 70]
    assert 'laplaced_people_mentions_total{person_id="other"}' in mentions


def test_hash_depends_on_the_key_alone() -> None:
    """The same id has the same label after a restart, and another one elsewhere: ids cannot be tried out."""
    config = MetricsConfig(identity="hashed")
    assert Identities(config, "a").label(7) == Identities(config, "a").label(7) != Identities(config, "b").label(7)


@given(ids=st.lists(st.integers()), most=st.integers(min_value=1, max_value=5), raw=st.booleans())
def test_labels_are_bounded_and_stay_as_they_were(ids: list[int], most: int, raw: bool) -> None:
    """At most so many ids get a label of their own, for good; all others share one."""
    identities = Identities(MetricsConfig(identity="raw" if raw else "hashed", max_identities=most), "key")
    labels = {identity: identities.label(identity) for identity in ids}
    assert len(set(labels.values()) - {"other"}) == min(most, len(set(ids)))
    assert {identity: identities.label(identity) for identity in ids} == labels
