"""The memories in an archivist's prompt with their handles, and the meaning of a handle in a stored reply."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from internal.graph.labels import beginning
from internal.language.text.spelling import tokens
from internal.memory.model import KnownMemory
from internal.memory.observations import known_repository
from internal.memory.observations.known_repository import KnownNode

OPEN: Final[Mapping[str, tuple[str, ...]]] = {
    "Question": ("open", "partial"),
    "Goal": ("active",),
    "Preference": ("active",),
}
MOST_OPEN: Final = 30
"""The most of each kind, the newest, shown for every slice: a question may be answered in passing."""
CONTRADICTIONS: Final = 10
NAMED: Final = 60
"""The most other nodes, those that share words with the slice."""
LOOKED_AT: Final = 2_000
"""The most nodes of each kind compared by words, the newest, in some 0.1 s. Older ones are matched afterwards."""

HANDLES: Final[Mapping[str, str]] = {
    "Question": "Q", "Goal": "G", "Decision": "D", "Preference": "P", "Context": "C", "Contradiction": "X",
    "Memory": "M",
}  # fmt: skip

_STEM: Final = 4
"""Letters in which two words must agree, as the rest may be an ending; shorter words do not count."""
_SHARED: Final = 2
"""The words that a sentence must share with the slice to be shown; a name must share all."""


def known_memories(
    connection: Connection, user_id: int, texts: Sequence[str], *, read_again: str | None = None
) -> list[KnownMemory]:
    """The memories that a slice may refer to, by letter and number of their handles; superfluous ones only cost tokens.

    `read_again` is the episode that is read again: memories that only its earlier reading supports are left out.
    """
    gone = known_repository.derived_only_from(connection, user_id, read_again) if read_again else set()
    newest = [
        node
        for label in HANDLES
        for node in known_repository.known_nodes(connection, user_id, [label], limit=LOOKED_AT)
        if node.subtype != "session" and node.node_id not in gone
    ]
    kept = [node for label, states in OPEN.items() for node in _in_state(newest, label, states)[:MOST_OPEN]]
    unresolved = _in_state(newest, "Contradiction", ("unresolved",))[:CONTRADICTIONS]
    sides = known_repository.conflicting(connection, user_id, [node.node_id for node in unresolved])
    kept += [*unresolved, *(node for node in newest if node.node_id in sides)]
    ids = {node.node_id for node in kept}
    others = [node for node in newest if node.node_id not in ids and node.label != "Contradiction"]
    return _with_handles([*kept, *_nodes_sharing_words(others, texts)])


def _in_state(nodes: Sequence[KnownNode], label: str, states: Collection[str]) -> list[KnownNode]:
    return [node for node in nodes if node.label == label and node.status in states]


def snapshot_of(memories: Sequence[KnownMemory]) -> list[list[str]]:
    """The handles as a run stores them: without words, which could be forgotten meanwhile."""
    return [[memory.handle, memory.node_id, memory.label] for memory in memories]


def from_snapshot(snapshot: Mapping[str, Any]) -> list[KnownMemory]:
    """The handles of a stored run; empty for a run of an older version."""
    return [KnownMemory(handle, node_id, label, "") for handle, node_id, label in snapshot.get("memories", ())]


def _with_handles(nodes: Sequence[KnownNode]) -> list[KnownMemory]:
    order = list(HANDLES)
    counts: Counter[str] = Counter()
    shown = []
    for node in sorted(nodes, key=lambda one: (order.index(one.label), one.at, one.node_id)):
        counts[node.label] += 1
        text = node.summary or beginning(node.words)
        handle = f"{HANDLES[node.label]}{counts[node.label]}"
        shown.append(KnownMemory(handle, node.node_id, node.label, text, node.status, node.at))
    return shown


def _nodes_sharing_words(nodes: Sequence[KnownNode], texts: Sequence[str]) -> list[KnownNode]:
    """The nodes that share most words with the slice; rare words count more."""
    said = {stem for text in texts for stem in _stems(text)}
    shared = [(node, stems, stems & said) for node in nodes if (stems := _stems(node.words))]
    common = Counter(stem for _, stems, _ in shared for stem in stems)
    likely = [
        (sum(1 / common[stem] for stem in both), node.at.timestamp(), node)
        for node, stems, both in shared
        if len(both) >= min(_SHARED, len(stems))
    ]
    return [node for _, _, node in sorted(likely, key=lambda one: one[:2], reverse=True)[:NAMED]]


def _stems(text: str) -> set[str]:
    return {token.key[:_STEM] for token in tokens(text) if len(token.key) >= _STEM}
