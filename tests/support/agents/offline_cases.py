"""The labelled dialogues of the offline archivist, and how its proposals are scored against them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import yaml
from support.paths import DATA

from internal.agents.archivist.output import ArchivistReply, parse
from internal.agents.model import ArchivistRequest, OwnerProfile, TranscriptLine
from internal.language.names.person_names import name_key
from internal.people.model import Circle, Person
from internal.people.operations import Added, Merged, Updated

NOW = datetime(2026, 2, 7, 14, 30, tzinfo=UTC)
SET = DATA / "offline" / "archivist.yaml"
_LINE = re.compile(r"(?:(assistant)|forward ([^:]+)|speaker ([^:]+)): (.*)")


def cases() -> list[dict[str, Any]]:
    """The dialogues of the set, as they stand in the file."""
    loaded: list[dict[str, Any]] = yaml.safe_load(SET.read_text(encoding="utf-8"))
    return loaded


def request_of(case: Mapping[str, Any]) -> ArchivistRequest:
    """What the archivist is asked in a case."""
    return ArchivistRequest(
        owner=OwnerProfile(user_id=1, name="Owner", username=None, language=case["lang"], timezone="UTC"),
        people=[_known(row) for row in case.get("known", [])],
        hints=[],
        facts=[],
        transcript=[_line(number, said) for number, said in enumerate(case["say"], start=1)],
    )


def _line(number: int, said: str) -> TranscriptLine:
    match = _LINE.fullmatch(said)
    if match is None:
        return TranscriptLine(number, "user", "Owner", NOW, said)
    if match[1]:
        return TranscriptLine(number, "assistant", "Laplaced", NOW, match[4])
    if match[3]:
        return TranscriptLine(number, "user", match[3], NOW, match[4], own=False)
    return TranscriptLine(number, "user", "Owner", NOW, match[4], forwarded_from=match[2])


def _known(row: Mapping[str, Any]) -> Person:
    return Person(
        id=row["id"],
        user_id=1,
        entity_id=str(row["id"]),
        display_name=row["name"],
        circle=Circle(row["circle"]),
        bio=row["bio"],
        first_seen=NOW,
        last_seen=NOW,
        aliases=tuple(row.get("aliases", ())),
        username=row.get("username"),
        mention_count=row.get("mentions", 0),
    )


@dataclass(slots=True)
class Score:
    """Counts over cases. `wrong` holds what went wrong, for a person to read."""

    expected: int = 0
    proposed: int = 0
    correct: int = 0
    circles: int = 0
    bios: int = 0
    bios_expected: int = 0
    merges: int = 0
    merges_expected: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.correct / self.proposed

    @property
    def recall(self) -> float:
        return self.correct / self.expected

    def add(self, case: Mapping[str, Any], reply_text: str) -> None:
        """Scores one reply, read the way the product reads it."""
        request = request_of(case)
        reply = parse(reply_text, request.transcript, {person.id for person in request.people})
        assert not reply.refused, f"the product refuses {reply.refused} in {reply_text}"
        wanted = list(case.get("people", []))
        proposals = [operation for operation in reply.operations if isinstance(operation, Added | Updated)]
        self.expected += len(wanted)
        self.proposed += len(proposals)
        for proposal in proposals:
            match = next((row for row in wanted if _is(proposal, row)), None)
            if match is None:
                self.wrong.append(f"{case['say']}: proposed {json.loads(reply_text)}")
                continue
            wanted.remove(match)
            self.correct += 1
            self._details(case, proposal, match)
        self.wrong += [f"{case['say']}: missed {row}" for row in wanted]
        self._merges(case, reply)

    def _details(self, case: Mapping[str, Any], proposal: Added | Updated, row: Mapping[str, Any]) -> None:
        circle = proposal.circle.value if proposal.circle else None
        right = "circle" not in row or circle == row["circle"]
        self.circles += right
        if not right:
            self.wrong.append(f"{case['say']}: circle {circle}, not {row['circle']}")
        if "bio" in row:
            told = all(word.casefold() in (proposal.bio or "").casefold() for word in row["bio"])
            self.bios_expected += 1
            self.bios += told
            if not told:
                self.wrong.append(f"{case['say']}: bio {proposal.bio!r} lacks {row['bio']}")

    def _merges(self, case: Mapping[str, Any], reply: ArchivistReply) -> None:
        wanted = [tuple(case["merged"])] if "merged" in case else []
        merges = [(one.source_id, one.target_id) for one in reply.operations if isinstance(one, Merged)]
        self.merges_expected += len(wanted)
        self.merges += wanted == merges and bool(wanted)
        if wanted != merges:
            self.wrong.append(f"{case['say']}: merged {merges}, not {wanted}")


def _is(proposal: Added | Updated, row: Mapping[str, Any]) -> bool:
    if isinstance(proposal, Updated):
        aliases = list(proposal.aliases or ())
        return proposal.person_id == row.get("id") and aliases == row.get("aliases", aliases)
    if "id" in row or name_key(proposal.display_name) != name_key(row["name"]):
        return False
    if "username" in row and proposal.username != row["username"]:
        return False
    return "alias" not in row or name_key(row["alias"]) in {name_key(alias) for alias in proposal.aliases}
