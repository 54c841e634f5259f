"""Birthdays and other occasions heard in passing, in three languages, by the archivist without a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from support.paths import DATA

from internal.agents.archivist.offline.agent import propose
from internal.agents.archivist.output import parse
from internal.agents.model import ArchivistRequest, OwnerProfile, TranscriptLine
from internal.language.facts.occasion_names import KINDS
from internal.language.text.spelling import text_language

CASES: list[list[Any]] = yaml.safe_load((DATA / "occasions.yaml").read_text(encoding="utf-8"))
MONDAY = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_what_is_heard_of_an_occasion(case: list[Any]) -> None:
    """Its kind, its day, its year, whose it is; and nothing of what is none."""
    text, *expected = case
    owner = OwnerProfile(1, "Owner", None, text_language(text), "UTC")
    line = TranscriptLine(1, "user", "Owner", MONDAY, text)
    request = ArchivistRequest(owner, people=[], hints=[], facts=[], transcript=[line])
    reply = parse(propose(request), request.transcript, set())
    assert reply.refused == ()
    kinds = {relation: kind for kind, relation in KINDS.items()}
    found = [
        [kinds[fact["relation"]], fact["attributes"]["date"], fact["attributes"].get("year"), fact["source"]]
        for fact in json.loads(propose(request))["facts"]
        if fact["relation"] in kinds
    ]
    assert found == expected
