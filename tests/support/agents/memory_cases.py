"""The labelled dialogues of what is to be remembered, and how the offline archivist is scored against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import yaml
from support.agents.offline_cases import NOW, request_of
from support.paths import DATA

from internal.agents.archivist.offline.agent import propose
from internal.agents.archivist.output import parse
from internal.agents.model import ArchivistRequest
from internal.language.dates import deadlines
from internal.memory.model import KnownMemory, NodeRef, ProposedMemory


@cache
def dialogues(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load((DATA / name).read_text(encoding="utf-8")))


def asked(dialogue: dict[str, Any]) -> ArchivistRequest:
    known = [
        KnownMemory(handle, f"id-{handle}", label, text, {"Goal": "active", "Question": "open"}.get(label))
        for handle, label, text in dialogue.get("kept", ())
    ]
    return replace(request_of(dialogue), memories=known)


def memories_of(request: ArchivistRequest) -> tuple[ProposedMemory, ...]:
    """What the product reads out of the reply; nothing of it is refused."""
    reply = parse(
        propose(request), request.transcript, {person.id for person in request.people}, memories=request.memories
    )
    assert reply.refused == (), reply.refused
    return reply.memories


@dataclass(slots=True)
class Score:
    """Counts over dialogues; `wrong` tells a person what went wrong."""

    right: int = 0
    proposed: int = 0
    wanted: int = 0
    links: int = 0
    links_wanted: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0

    def add(self, dialogue: dict[str, Any]) -> None:
        missing = list(dialogue["memories"])
        self.wanted += len(missing)
        self.links_wanted += sum(len(row.get("links", ())) for row in missing)
        for found in memories_of(asked(dialogue)):
            self.proposed += 1
            match = next((row for row in missing if _means(found.node, row)), None)
            if match is None:
                self.wrong.append(f"{dialogue['say']}: kept {found}")
                continue
            missing.remove(match)
            self.right += 1
            self._links(dialogue, found, match)
        self.wrong += [f"{dialogue['say']}: missed {row}" for row in missing]

    def _links(self, dialogue: dict[str, Any], found: ProposedMemory, row: dict[str, Any]) -> None:
        for type, label, words in row.get("links", ()):
            told = {"label": label, "has": words}
            if any(link.type == type and _names(link.other, told) for link in found.links):
                self.links += 1
            else:
                self.wrong.append(f"{dialogue['say']}: no {type} to {label} {words} in {found.links}")


def _means(node: NodeRef, row: dict[str, Any]) -> bool:
    return _names(node, row) and all(_is(node, name, value) for name, value in row.get("props", {}).items())


def _names(node: NodeRef, row: dict[str, Any]) -> bool:
    if node.node_id is not None or row["label"][-1].isdigit():
        return node.node_id == f"id-{row['label']}"
    said = node.key.words.casefold()
    return node.label == row["label"] and all(str(word).casefold() in said for word in row.get("has", ()))


def _is(node: NodeRef, name: str, value: Any) -> bool:
    told = node.properties.get(name)
    if name != "targetDate" or not isinstance(told, str):
        return bool(told == value)
    moment = deadlines.resolve(told, NOW, "ahead", "ru")
    return moment is not None and f"{moment:%Y-%m-%d}" == value


def scored(name: str, languages: Sequence[str] = ("ru", "uk", "en")) -> Score:
    score = Score()
    for dialogue in dialogues(name):
        if dialogue["lang"] in languages:
            score.add(dialogue)
    return score
