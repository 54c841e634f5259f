"""Writes the memories of one reply, with their sources and their session."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.chronicle import repository as chronicle
from internal.errors import Refusal
from internal.flows.forgetting.fact_tombstones import without_forgotten_memories
from internal.flows.runs.slices import SliceLine
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode
from internal.memory import service as memory
from internal.memory.model import INSTRUCTION, MemoryLookup, NodeRef
from internal.memory.observations.changes import ObservedLine, ReplyContext, SessionRef
from internal.scheduling.run import Run

OWN: Final = 0.9
PASSED_ON: Final = 0.7
IMPORTED: Final = 0.6
IMPORTED_OF_OTHERS: Final = 0.5
"""The trust in a line, in [0, 1]: the owner's own words, forwards, an import's lines of the owner and of others.
The trust in a source is the average of its lines, reduced by superseded ones."""

_FILE: Final = re.compile(r"[\w() -]+\.[A-Za-z0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class WrittenMemories:
    """`counts` has the numbers of nodes and edges by outcome; `asked`: there is something only the owner can settle."""

    counts: Mapping[str, int]
    refused: Sequence[Refusal]
    asked: bool


def write_memories(
    connection: Connection,
    run: Run,
    lines: Sequence[SliceLine],
    lookup: MemoryLookup,
    nodes: Mapping[str, str],
    *,
    tombstone_key: bytes,
    now: datetime,
) -> WrittenMemories:
    """Finds or creates the nodes that a reply's memories name and records them; call it after its facts were written.

    `nodes` are the ids of things and people by the names that the reply has for them. A run that replaces another one
    replaces its observations. Forgotten memories are not brought back.
    """
    said_at = {line.shown.number: line.said_at for line in lines}
    lookup, forgotten = without_forgotten_memories(connection, run.user_id, lookup, said_at, tombstone_key)
    lookup, foreign = _without_foreign_instructions(lookup, lines)
    before = None
    if run.replaces is not None:
        before = memory.remove_slice_observations(
            connection, run.user_id, run.episode_id, range(run.first_n, run.last_n + 1)
        )
    setting = ReplyContext(
        episode_id=run.episode_id,
        lines={line.shown.number: observed(run.episode_id, line) for line in lines},
        now=now,
        run_id=run.id,
        entities=nodes,
        source=_source(connection, run),
        session=_session(connection, run, lines),
    )
    written = memory.write(connection, run.user_id, lookup, setting)
    counts = Counter(written.changes.counts())
    if before is not None:
        removal = memory.remove_unsupported(connection, run.user_id, before, now=now)
        counts.update(deleted=len(removal.nodes), unlinked=removal.edges)
    if setting.session is not None and setting.session.closed:
        memory.complete_session(connection, run.user_id, setting.session.session_id, now=now)
    # Preferences that the reply names as things count once more: facts and memories both count as observations of them.
    memory.project_nodes(connection, run.user_id, nodes.values(), now=now)
    refused = [*forgotten, *foreign, *written.refused]
    return WrittenMemories({name: count for name, count in counts.items() if count}, refused, written.asked)


def _without_foreign_instructions(
    lookup: MemoryLookup, lines: Sequence[SliceLine]
) -> tuple[MemoryLookup, list[Refusal]]:
    """Drops instructions that no message of the owner to the bot supports: pages and imports cannot instruct."""
    said = {line.shown.number for line in lines if line.message_id is not None and line.shown.owners_word}
    kept = [one for one in lookup.memories if not _instructs(one.node) or said.intersection(one.evidence)]
    refused = Refusal("not_own_words", "an instruction rests on what the owner told the bot")
    return replace(lookup, memories=kept), [refused] * (len(lookup.memories) - len(kept))


def _instructs(node: NodeRef) -> bool:
    return node.label == "Preference" and node.properties.get("category") == INSTRUCTION


def observed(episode_id: str, line: SliceLine) -> ObservedLine:
    """A line of a slice as evidence of a memory."""
    shown = line.shown
    own = shown.owners_word
    here, elsewhere = (OWN, PASSED_ON), (IMPORTED, IMPORTED_OF_OTHERS)
    trust = (here if line.message_id is not None else elsewhere)[0 if own else 1]
    return ObservedLine(episode_id, line.segment, line.said_at, shown.text, line.message_id, trust, own)


def source_of(episode: Episode) -> NodeRef:
    """The Source of an episode: a conversation, a page by its address, a file by its name, else a document."""
    title = {"title": episode.name}
    if episode.first_seq is not None:
        return NodeRef("Source", title | {"type": "conversation", "reference": f"episode:{episode.id}"})
    url = episode.source_url or episodes.extract_source_url(episode.source_description)
    if url:
        return NodeRef("Source", title | {"type": "url", "reference": url})
    if _FILE.fullmatch(PurePath(episode.source_description.replace("\\", "/")).name):
        return NodeRef("Source", title | {"type": "file", "reference": episode.source_description})
    return NodeRef("Source", title | {"type": "document", "reference": f"episode:{episode.id}"})


def _source(connection: Connection, run: Run) -> NodeRef | None:
    episode = episodes.episode(connection, run.user_id, run.episode_id)
    return None if episode is None else source_of(episode)


def _session(connection: Connection, run: Run, lines: Sequence[SliceLine]) -> SessionRef | None:
    """The session of most of these lines."""
    ids = [line.message_id for line in lines if line.message_id is not None]
    said_in = Counter(chronicle.session_of_messages(connection, run.user_id, ids).values())
    if not said_in:
        return None
    session_id = min(said_in, key=lambda id: (-said_in[id], id))
    session = chronicle.session(connection, run.user_id, session_id)
    if session is None:
        return None
    opened = session.opened_at.astimezone(ZoneInfo(session.tz))
    return SessionRef(session.id, opened, closed=session.closed_at is not None)
