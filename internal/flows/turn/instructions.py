"""Stores standing instructions from the owner's own words, in the transaction that stores his message (C2).

They are preferences of the category "instruction", supported by the message. A newer one ends those it replaces.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.agents.model import StandingInstruction
from internal.dialogue.model import Message
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.graph.model import Node
from internal.knowledge import episode_repository as episodes
from internal.language.commands.recognise import names_owner
from internal.language.dates.units import fold
from internal.language.instructions.find import FoundInstruction, find_instructions
from internal.language.instructions.topics import condition_of, topics_of
from internal.memory import service as memory
from internal.memory.model import INSTRUCTION, NAMING, MemoryLookup, NodeRef, ProposedMemory
from internal.memory.observations.changes import ObservedLine, ReplyContext
from internal.memory.queries import repository
from internal.storage import evidence
from internal.storage.evidence import UNPUBLISHED

MOST: Final = 30
"""The most instructions in a prompt, the newest."""

SHOWN: Final = 300
"""The most characters of an instruction in a prompt."""


def active(connection: Connection, user_id: int) -> list[StandingInstruction]:
    """The active instructions, oldest first, numbered from 1."""
    nodes = _active(connection, user_id)
    return [
        StandingInstruction(n, node.id, str(node.properties[NAMING["Preference"]])[:SHOWN], node.dated)
        for n, node in enumerate(reversed(nodes), start=1)
    ]


def keep(connection: Connection, message: Message, now: datetime) -> None:
    """Stores the instructions in a message of the owner; other people's words instruct nothing."""
    if message.role != "user" or message.forward is not None or message.hidden:
        return
    for found in find_instructions(message.content):
        if names_owner(found.text):  # the turn handles it, with a button to undo it
            continue
        ended = [node for node in _active(connection, message.user_id) if found.ends(_as_found(node))]
        stated = {"preference": found.text, "category": INSTRUCTION, "status": "active", "strength": 1.0}
        kept = [] if found.lifts else [_observe(connection, message, NodeRef("Preference", stated), now)]
        for node in ended:
            if [node.id] not in kept:
                _end_instruction(connection, message, node, now)


def keep_again(connection: Connection, message: Message, now: datetime) -> None:
    """Like `keep`, for an edited message: instructions that only its former words gave are removed."""
    memory.remove_message_observations(connection, message.user_id, message.id, now=now)
    keep(connection, message, now)


def _active(connection: Connection, user_id: int) -> list[Node]:
    """The active instructions, newest first."""
    nodes = repository.listing(connection, user_id, "Preference", ("active",), limit=MOST)
    found = [node for node in nodes if node.properties.get("category") == INSTRUCTION]
    to_forget = messages_to_forget(connection, user_id) if found else set()
    return [node for node in found if not to_forget or _rests_on_others(connection, node, to_forget)]


def _rests_on_others(connection: Connection, node: Node, to_forget: Collection[str]) -> bool:
    """Whether an instruction stays without these messages: a message being answered hides nothing by itself yet."""
    stored = memory.observations_of(connection, node.user_id, node.id)
    support = evidence.rows(connection, node.user_id, "observation", [one.id for one in stored])
    said = [row.message_id for rows in support.values() for row in rows]
    return not said or any(one not in to_forget for one in said)


def _as_found(node: Node) -> FoundInstruction:
    text = fold(str(node.properties[NAMING["Preference"]]))
    return FoundInstruction(text, topics_of(text), condition_of(text))


def _end_instruction(connection: Connection, message: Message, node: Node, now: datetime) -> None:
    if node.owner_set("status"):  # only the owner can replace his own change, and these are his words
        memory.set_status(connection, message.user_id, node.id, "ended", now=now)
    else:
        _observe(connection, message, NodeRef("Preference", {"status": "ended", "strength": 1.0}, node.id), now)


def _observe(connection: Connection, message: Message, ref: NodeRef, now: datetime) -> Sequence[Any]:
    """Records that a message supports the node; returns its id. Refuses a node that is being forgotten."""
    stored = episodes.lines_of_messages(connection, message.user_id, [message.id])
    episode_id, segment = stored[0] if stored else (UNPUBLISHED, message.seq)
    line = ObservedLine(episode_id, segment, message.timestamp, message.content, message.id)
    lookup = MemoryLookup([ProposedMemory(ref, (), (1,))])
    context = ReplyContext(episode_id, {1: line}, now)
    return memory.write(connection, message.user_id, lookup, context, source=f"user:{message.user_id}").nodes
