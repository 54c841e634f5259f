"""The dashboards that are committed are those that their code makes, and Grafana can show them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest
import yaml
from support.paths import ROOT

GRAFANA = ROOT / "deploy/grafana"
FILES = {path.stem: path for path in (GRAFANA / "dashboards").glob("*.json")}
PAGES: dict[str, dict[str, Any]] = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def test_committed_files_are_what_the_code_makes() -> None:
    """Made again, every dashboard is the file of the repository, byte by byte, and there is no other."""
    command = [sys.executable, "-m", "deploy.dashboards", "--check"]
    told = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (told.stdout, told.stderr, told.returncode) == ("", "", 0)


def test_there_is_a_dashboard_for_each_question() -> None:
    """People, conversations, cost, archival and faults, each under an address that stays."""
    assert {name: page["uid"] for name, page in PAGES.items()} == {
        name: f"laplaced-{name}" for name in ("people", "conversations", "models", "archival", "queues")
    }


@pytest.mark.parametrize("name", FILES)
def test_panels_fill_the_page_and_cover_one_another_nowhere(name: str) -> None:
    """Panels stay within the 24 columns, have ids of their own and share no cell."""
    panels = PAGES[name]["panels"]
    taken = [
        cell
        for place in (panel["gridPos"] for panel in panels)
        for cell in itertools.product(
            range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
        )
    ]
    assert len(taken) == len(set(taken))
    assert {column for column, _ in taken} == set(range(24))
    ids = [panel["id"] for panel in panels]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", FILES)
def test_every_panel_says_what_it_means(name: str) -> None:
    """Each panel has a title, an explanation, a unit and something to ask."""
    for panel in PAGES[name]["panels"]:
        assert panel["title"]
        if panel["type"] != "row":
            assert panel["description"]
            assert panel["fieldConfig"]["defaults"]["unit"]
            assert panel["targets"]


@pytest.mark.parametrize("name", FILES)
def test_every_choice_changes_something(name: str) -> None:
    """A variable above a dashboard stands in one of its expressions, and each that stands there can be chosen."""
    asked = json.dumps(PAGES[name]["panels"])
    offered = {variable["name"] for variable in PAGES[name]["templating"].get("list", [])}
    assert {variable for variable in ("user", "agent") if f"${variable}" in asked} == offered


def test_users_and_agents_can_be_chosen() -> None:
    """There are dashboards of one user's people and of one agent's cost; at first both show everybody."""
    chosen = {
        variable["name"]: (
            variable["includeAll"],
            variable["multi"],
            variable["allValue"],
            variable["current"]["value"],
        )
        for name in ("people", "models")
        for variable in PAGES[name]["templating"]["list"]
    }
    assert chosen == dict.fromkeys(("user", "agent"), (True, True, ".*", "$__all"))


def test_dashboards_ask_the_source_that_is_provisioned() -> None:
    """Panels, choices and annotations name the one data source, by the id it is provisioned with."""
    [source] = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
    named = [
        asked["datasource"]
        for page in PAGES.values()
        for asked in (*page["panels"], *page["templating"].get("list", []), *page["annotations"]["list"])
        if asked.get("type") != "row"
    ]
    assert len(named) > 50
    assert {(one["type"], one["uid"]) for one in named} == {(source["type"], source["uid"])}
