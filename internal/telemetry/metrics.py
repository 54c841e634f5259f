"""The metrics: one object with its own registry and one method for each kind of observation.

The specification defines the names. Flows call a method after the commit of its cause, so nothing undone is counted.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from internal.config.settings import MetricsConfig
from internal.errors import ModelError
from internal.llm.model import Reply, Request
from internal.telemetry.disk import Disk
from internal.telemetry.identity import OTHER, Identities
from internal.telemetry.repository import StoredGauges

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_MODEL_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)
_TURN_SECONDS = (0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300)
_TURN_OUTCOMES = ("answered", "cancelled", "failed")
_LINK_OUTCOMES = ("decayed", "pruned")
_VERDICTS = ("correct", "partially_correct", "incorrect")
_SEARCH_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1)
_WAIT_SECONDS = (1, 5, 10, 30, 60, 300, 900, 3600, 28_800, 86_400)
_PEOPLE = (0, 1, 2, 3, 5, 7, 10, 20, 50)


class Metrics:
    """Everything under `/metrics`. `hash_key` salts hashed identities and must stay the same over restarts.

    `database` is the file whose disk is watched; without it the page has no disk figures. `mirror` is the target of the
    graph's mirror whose lag is reported; empty if there is none.
    """

    def __init__(
        self, config: MetricsConfig, hash_key: str = "", database: Path | None = None, *, mirror: str = ""
    ) -> None:
        self._config, self.mirror = config, mirror
        self._users = Identities(config, hash_key)
        self._people = Identities(config, hash_key)
        self._registry = CollectorRegistry()
        build = Info("laplaced_build", "The running program.", registry=self._registry)
        build.info({"version": _version()})
        ProcessCollector(registry=self._registry)
        if database is not None:
            self._registry.register(Disk(database))

        self._extracted = self._counter("people_extracted", "Applied operations.", "user_id", "op_type")
        self._extraction = self._seconds("people_extraction", "Time of one archivist run.", _MODEL_SECONDS, "user_id")
        self._search = self._seconds("people_search", "Time of one vector search.", _SEARCH_SECONDS, "user_id")
        self._results = self._people_count("people_search_results", "People found by one search.")
        self._selected = self._people_count("people_reranker_selected", "People picked by the reranker.")
        self._fallbacks = self._counter("reranker_fallbacks", "Searches used without the reranker.", "reason")
        self._degraded = self._counter("recall_degraded", "Recalls that did without a part.", "reason")
        self._recall = self._seconds("recall", "Time to find and choose what belongs to a question.", _SEARCH_SECONDS)
        self._recalled = self._counter("recall_hits", "Things put into prompts because of the question.", "kind")
        self._turns = self._seconds("turn", "Time from a turn's first message to its end.", _TURN_SECONDS, "outcome")
        for outcome in _TURN_OUTCOMES:  # from 0 on: a series that begins at 1 has not risen, and would cause no alert
            self._turns.labels(outcome)
        self._runs = self._counter("agent_runs", "Attempts at runs.", "agent", "outcome")
        self._refused = self._counter("operations_refused", "Operations not applied.", "agent", "reason")
        self._facts = self._counter("facts_changed", "What became of facts, and entities that are new.", "outcome")
        self._verdicts = self._counter("analysis_verdicts", "Responses of closed sessions judged so.", "verdict")
        for verdict in _VERDICTS:
            self._verdicts.labels(verdict)
        self._links = self._counter("memory_links", "What became of links between memories at night.", "outcome")
        for outcome in _LINK_OUTCOMES:
            self._links.labels(outcome)
        self._last_night = self._gauge(
            "last_memory_maintenance_timestamp_seconds",
            "Time of the last memory maintenance; 0 if there was none since the start.",
        )
        self._notifications = self._counter(
            "notifications_decided", "What became of notifications.", "kind", "decision"
        )
        self._notification_wait = self._seconds(
            "notification_wait", "Time until a notification was sent.", _WAIT_SECONDS
        )
        self._memories = self._counter("memories_changed", "What became of memories and their links.", "outcome")
        self._tasks = self._counter("tasks_changed", "What became of tasks.", "outcome")
        self._llm_requests = self._counter("llm_requests", "Model calls.", "agent", "model", "outcome")
        self._llm_tokens = self._counter("llm_tokens", "Tokens of model calls.", "agent", "model", "kind")
        self._llm_cost = self._counter("llm_cost_usd", "Cost the provider reported.", "agent", "model")
        self._llm_seconds = self._seconds("llm_request", "Time of one model call.", _MODEL_SECONDS, "agent", "model")
        self._telegram_requests = self._counter("telegram_requests", "Calls of the Bot API.", "method")
        self._telegram_errors = self._counter("telegram_errors", "Failed calls of the Bot API.", "method", "kind")
        self._carddav = self._counter("carddav_syncs", "Synchronisations of the address book.", "outcome")
        for outcome in ("done", "failed"):
            self._carddav.labels(outcome)
        self._quarantined = self._counter("updates_quarantined", "Updates that could not be handled.")
        self._unknown = self._counter("sends_unknown", "Sends whose outcome nobody knows.")
        self._last_poll = self._gauge(
            "last_poll_timestamp_seconds", "Time of the last request for updates; 0 if there was none."
        )
        self._clock_ahead = self._gauge(
            "server_clock_ahead_seconds",
            "Seconds by which the database server's clock is ahead of this machine's; 0 for a file.",
        )
        self._last_backup = self._gauge(
            "last_backup_timestamp_seconds", "Time of the last finished backup; 0 if there is none."
        )

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"laplaced_{name}_total", meaning, labels, registry=self._registry)

    def _gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(f"laplaced_{name}", meaning, registry=self._registry)

    def _seconds(self, name: str, meaning: str, buckets: Sequence[float], *labels: str) -> Histogram:
        name = f"laplaced_{name}_duration_seconds"
        return Histogram(name, meaning, labels, buckets=buckets, registry=self._registry)

    def _people_count(self, name: str, meaning: str) -> Histogram:
        return Histogram(f"laplaced_{name}", meaning, ["user_id"], buckets=_PEOPLE, registry=self._registry)

    def people_applied(self, user_id: int, op_type: str, count: int = 1) -> None:
        """Counts committed operations of the type Added, Updated or Merged."""
        self._extracted.labels(self._users.label(user_id), op_type).inc(count)

    def extraction_seconds(self, user_id: int, seconds: float) -> None:
        self._extraction.labels(self._users.label(user_id)).observe(seconds)

    def facts_changed(self, outcome: str, count: int = 1) -> None:
        self._facts.labels(outcome).inc(count)

    def carddav_synced(self, outcome: str) -> None:
        self._carddav.labels(outcome).inc()

    def analysis_verdict(self, verdict: str, count: int = 1) -> None:
        """Counts responses that were judged correct, partially_correct or incorrect."""
        self._verdicts.labels(verdict).inc(count)

    def memory_maintained(self, *, decayed: int, pruned: int) -> None:
        self._links.labels("decayed").inc(decayed)
        self._links.labels("pruned").inc(pruned)
        self._last_night.set_to_current_time()

    def notification_decided(self, kind: str, decision: str, waited_s: float | None = None) -> None:
        """Counts a decision (now, merge, later or drop); `waited_s` is the wait until it was sent."""
        self._notifications.labels(kind, decision).inc()
        if waited_s is not None:
            self._notification_wait.observe(waited_s)

    def memories_changed(self, outcome: str, count: int = 1) -> None:
        self._memories.labels(outcome).inc(count)

    def tasks_changed(self, outcome: str, count: int = 1) -> None:
        self._tasks.labels(outcome).inc(count)

    def operation_refused(self, agent: str, reason: str) -> None:
        self._refused.labels(agent, reason).inc()

    def people_searched(self, user_id: int, seconds: float, results: int) -> None:
        user = self._users.label(user_id)
        self._search.labels(user).observe(seconds)
        self._results.labels(user).observe(results)

    def people_selected(self, user_id: int, count: int) -> None:
        self._selected.labels(self._users.label(user_id)).observe(count)

    def reranker_fallback(self, reason: str) -> None:
        self._fallbacks.labels(reason).inc()

    def recall_degraded(self, reason: str) -> None:
        self._degraded.labels(reason).inc()

    def recalled(self, seconds: float, hits: Mapping[str, int]) -> None:
        """Observes a recall; `hits` are the numbers of people, facts, memories, messages and episodes in its prompt."""
        self._recall.observe(seconds)
        for kind, count in hits.items():
            self._recalled.labels(kind).inc(count)

    def turn_ended(self, outcome: str, seconds: float) -> None:
        self._turns.labels(outcome).observe(seconds)

    def agent_run(self, agent: str, outcome: str) -> None:
        self._runs.labels(agent, outcome).inc()

    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        """Observes the end of a model call, by the requested model's name: a provider's answers have many."""
        agent, model = request.agent, request.model
        self._llm_requests.labels(agent, model, _outcome(reply, error)).inc()
        self._llm_seconds.labels(agent, model).observe(duration_s)
        if reply is not None:
            self._llm_tokens.labels(agent, model, "cached").inc(reply.usage.cached_tokens)
            self._llm_tokens.labels(agent, model, "prompt").inc(reply.usage.prompt_tokens)
            self._llm_tokens.labels(agent, model, "completion").inc(reply.usage.completion_tokens)
            self._llm_cost.labels(agent, model).inc(reply.usage.cost_usd)

    def telegram_request(self, method: str) -> None:
        self._telegram_requests.labels(method).inc()

    def telegram_error(self, method: str, kind: str) -> None:
        self._telegram_errors.labels(method, kind).inc()

    def update_quarantined(self) -> None:
        self._quarantined.inc()

    def send_unknown(self) -> None:
        self._unknown.inc()

    def polled(self, at: datetime | None = None) -> None:
        """Records that Telegram answered a poll, now or at the time that another worker reported."""
        if at is None:
            self._last_poll.set_to_current_time()
        else:
            self._last_poll.set(at.timestamp())

    def clock_compared(self, seconds: float) -> None:
        """Sets the seconds by which the database server's clock is ahead of this machine's; negative: behind."""
        self._clock_ahead.set(seconds)

    def backup_finished(self, at: datetime) -> None:
        self._last_backup.set(at.timestamp())

    @property
    def most_people(self) -> int:
        """The number of people that `stored_gauges` lists one by one."""
        return 0 if self._config.identity == "off" else self._config.max_identities

    def exposition(self, stored: StoredGauges) -> bytes:
        """The whole page in the Prometheus text format (`CONTENT_TYPE`): counters and stored gauges."""
        page = CollectorRegistry(auto_describe=False)
        page.register(_Page([*self._counted(), *self._stored(stored)]))
        return generate_latest(page)

    def _counted(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            # The client adds the creation time of each series under names that are not specified.
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family

    def _stored(self, stored: StoredGauges) -> Iterator[Metric]:
        yield self._people_total(stored.people)
        yield self._mentions(stored)
        yield self._merged(stored.merges)
        yield _gauge("laplaced_inbox_depth", "Updates not yet handled.", stored.inbox_depth)
        yield _gauge("laplaced_outbox_depth", "Messages still owed.", stored.outbox_depth)
        yield _gauge("laplaced_runs_dead", "Runs given up.", stored.runs_dead)
        lag = "Changes that the mirror has not applied yet; 0 without a mirror."
        yield _gauge("laplaced_mirror_lag_changes", lag, stored.mirror_lag)
        if stored.database_bytes is not None:
            yield _gauge("laplaced_database_bytes", "Size of the database on its server.", stored.database_bytes)
        yield _gauge("laplaced_tasks_open", "Tasks to be done.", stored.tasks_open)
        yield _gauge("laplaced_tasks_proposed", "Tasks that wait for their owner's yes.", stored.tasks_proposed)
        yield _gauge("laplaced_notifications_waiting", "Notifications not sent yet.", stored.notifications_waiting)
        meaning = "From when on the first waiting notification may be sent"
        yield _since("laplaced_oldest_notification", meaning, stored.oldest_notification)
        yield _gauge("laplaced_inbox_quarantined", "Updates put aside for a human.", stored.quarantined)
        yield _since("laplaced_oldest_inbox", "When the oldest update not yet handled came", stored.oldest_inbox)
        yield _since("laplaced_oldest_outbox", "When the oldest message still owed was written", stored.oldest_outbox)
        yield _since("laplaced_oldest_unarchived", "When the oldest waiting message was sent", stored.oldest_unarchived)

    def _people_total(self, people: Iterable[tuple[int, str, int]]) -> Metric:
        family = GaugeMetricFamily("laplaced_people_total", "Known people.", labels=["user_id", "circle"])
        return _summed(family, (((self._users.label(user_id), circle), count) for user_id, circle, count in people))

    def _merged(self, merges: Iterable[tuple[int, int]]) -> Metric:
        family = CounterMetricFamily("laplaced_people_duplicates_merged", "Applied merges.", labels=["user_id"])
        return _summed(family, (((self._users.label(user_id),), count) for user_id, count in merges))

    def _mentions(self, stored: StoredGauges) -> Metric:
        family = CounterMetricFamily("laplaced_people_mentions", "Mentions of a person.", labels=["person_id"])
        counts = [((self._people.label(person_id),), count) for person_id, count in stored.mentions]
        if stored.other_mentions:
            counts.append((("" if self._config.identity == "off" else OTHER,), stored.other_mentions))
        return _summed(family, counts)


def _summed(family: GaugeMetricFamily | CounterMetricFamily, counts: Iterable[tuple[tuple[str, ...], int]]) -> Metric:
    """The family with the sum of the counts that have the same labels."""
    totals: dict[tuple[str, ...], int] = defaultdict(int)
    for labels, count in counts:
        totals[labels] += count
    for labels, total in totals.items():
        family.add_metric(labels, total)
    return family


class _Page:
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=value)


def _since(name: str, meaning: str, moment: datetime | None) -> Metric:
    return _gauge(f"{name}_timestamp_seconds", f"{meaning}; 0: none waits.", moment.timestamp() if moment else 0)


def _outcome(reply: Reply | None, error: ModelError | None) -> str:
    if error is not None:
        return type(error).__name__
    return "cancelled" if reply is None or reply.usage.estimated else "ok"


def _version() -> str:
    try:
        return version("laplaced")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "unknown"
