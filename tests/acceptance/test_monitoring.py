"""Dashboards, alerts and the operations page, against what a real Prometheus scrapes from the real bot."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from support.product import promql
from support.product.monitored_bot import DEPLOY, Observed, observe
from support.product.running_product import ROOT

PAGES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in DEPLOY.glob("grafana/dashboards/*.json")}
RULES = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
OF_TARGET = {"job", "instance"}
"""Labels that Prometheus gives to everything it scrapes."""


def asked_by(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Where an expression stands on a dashboard, and the expression."""
    for panel in page["panels"]:
        yield from ((f"{page['title']}: {panel['title']}", target["expr"]) for target in panel.get("targets", []))
    yield from ((f"{page['title']}: annotation", one["expr"]) for one in page["annotations"]["list"])


ON_PAGES = [(place, promql.filled(asked)) for page in PAGES.values() for place, asked in asked_by(page)]
IN_RULES = [(rule["alert"], rule["expr"]) for rule in RULES]


def documented() -> dict[str, set[str]]:
    """The table of metrics in docs/operations.md: labels by name."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:laplaced|process)_\w+) \| ([\w, ]*)\| .+ \|$", text, re.MULTILINE)
    return {name: {label.strip() for label in labels.split(",") if label.strip()} for name, labels in rows}


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """One bot, one conversation in which everything happens once, one Prometheus; asked once for all tests here."""
    return asyncio.run(observe(tmp_path_factory.mktemp("monitored"), {asked for _, asked in ON_PAGES}))


def test_prometheus_reaches_the_bot_with_the_settings_of_deploy(observed: Observed) -> None:
    """One target, the bot, and it answers."""
    [target] = observed.targets
    assert (target["labels"]["job"], target["health"], target["lastError"]) == ("laplaced", "up", "")


def test_every_documented_metric_is_scraped_and_no_other(observed: Observed) -> None:
    """The table of the operations page is what Prometheus stores: names and labels, neither more nor less."""
    found: dict[str, set[str]] = {}
    for name, labels in observed.series.items():
        if name.startswith(("laplaced_", "process_")):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            found.setdefault(base, set()).update(labels - OF_TARGET - {"le"})
    assert found == documented()


def test_every_expression_asks_for_what_exists(observed: Observed) -> None:
    """Each panel and each alert names metrics that the running bot exports, and labels that they have."""
    asked = [*ON_PAGES, *IN_RULES]
    assert [(place, wrong) for place, words in asked if (wrong := promql.faults(words, observed.series))] == []


def test_every_panel_has_something_to_show(observed: Observed) -> None:
    """Once everything happened, Prometheus answers every panel with at least one line; only no alert fires yet."""
    empty = {place for place, asked in ON_PAGES if not observed.answers[asked]["result"]}
    assert {place for place in empty if not place.endswith(": annotation")} == set()


def test_choices_above_a_dashboard_come_from_labels_that_exist(observed: Observed) -> None:
    """Users and agents to choose from are labels of a metric that the bot exports."""
    for page in PAGES.values():
        for variable in page["templating"].get("list", []):
            asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"])
            assert asked is not None
            assert asked[2] in observed.series[asked[1]]


def test_prometheus_evaluates_every_alert(observed: Observed) -> None:
    """All rules are loaded and none fails; of this bot, which works, only the missing backup is on its way to fire."""
    assert {rule["name"]: (rule["health"], rule.get("lastError", "")) for rule in observed.rules} == {
        name: ("ok", "") for name, _ in IN_RULES
    }
    assert {rule["name"] for rule in observed.rules if rule["state"] != "inactive"} <= {
        "LaplacedBackupStale",
        "LaplacedDiskLow",  # that is the machine of the test
    }


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("rate(queue_lenght[5m])", "there is no queue_lenght"),
        ('queue_depth{user="1"}', "queue_depth has no label user"),
        ("sum by (user) (queue_depth)", "queue_depth has no label user"),
        ("queue_depth > on (user) queue_age", "queue_depth has no label user"),
        ("sum by (job) (rate(queue_depth{job='x'}[5m])) / ignoring (job) queue_age", "queue_age has no label job"),
    ],
)
def test_a_wrong_name_or_label_would_be_found(expression: str, fault: str) -> None:
    """The check sees misspelt metrics, labels that are matched, and labels that are grouped or joined by."""
    assert fault in promql.faults(expression, {"queue_depth": {"job"}, "queue_age": set()})
