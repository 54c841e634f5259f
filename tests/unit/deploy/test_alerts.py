"""The alert rules: well-formed, tested one by one, and each with something to do about it."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import yaml
from support.paths import ROOT

DEPLOY = ROOT / "deploy"
RULES: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
TESTS: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "alerts_test.yml").read_text(encoding="utf-8"))["tests"]


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    binary = shutil.which("promtool")
    assert binary is not None, "the tests need Debian's package prometheus; make test installs it"
    return subprocess.run([binary, *arguments], cwd=DEPLOY, check=False, capture_output=True, text=True)


def test_prometheus_accepts_its_configuration() -> None:
    """promtool finds nothing wrong with prometheus.yml and with the rules that it names."""
    told = promtool("check", "config", "prometheus.yml")
    assert told.returncode == 0, told.stdout + told.stderr
    assert f"{len(RULES)} rules found" in told.stdout


def test_every_alert_fires_when_it_should_and_not_before() -> None:
    """promtool plays the hours of alerts_test.yml, one of a healthy bot among them."""
    told = promtool("test", "rules", "alerts_test.yml")
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_alert_is_tested() -> None:
    """Each alert is seen firing, and seen silent before it does or after it did."""
    played = [one for test in TESTS for one in test.get("alert_rule_test", [])]
    assert {one["alertname"] for one in played if one["exp_alerts"]} == {rule["alert"] for rule in RULES}
    assert {one["alertname"] for one in played if not one["exp_alerts"]} == {rule["alert"] for rule in RULES}


def test_healthy_bot_has_all_metrics_that_alerts_look_at() -> None:
    """The test of silence would say nothing about an alert whose metrics it leaves out."""
    looked_at = set(re.findall(r"\b(?:laplaced|process)_\w+|\bup\b", " ".join(rule["expr"] for rule in RULES)))
    given = {re.split(r"[{]", series["series"])[0] for series in TESTS[0]["input_series"]}
    assert looked_at == given


def test_every_alert_says_what_is_wrong_and_how_grave() -> None:
    """A summary, a description and a severity, so that a message to a human is whole."""
    for rule in RULES:
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert {key for key, text in rule["annotations"].items() if text} == {"summary", "description"}


def test_every_alert_has_its_line_in_the_runbook() -> None:
    """docs/operations.md says of each alert what to do, in the order of the rules, and of no other."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (Laplaced\w+) \| \S", text, re.MULTILINE) == [rule["alert"] for rule in RULES]
