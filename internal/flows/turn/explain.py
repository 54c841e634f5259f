"""The sources of an answer: the facts, memories and messages that it cites, others in its prompt, and the people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from internal.dialogue import reply_source_repository as sources, repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.model import Message
from internal.errors import NotFound
from internal.flows.turn.tools.web_pages import WebPage
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.model import Episode, Fact
from internal.people import service as people
from internal.people.model import Person
from internal.storage.forgetting import forgettings

Source = Fact | Node | Message | Episode | WebPage
"""A source of an answer; an episode stands for a line of an import or of REST."""


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """`cited` is in the order of the numbers in the answer, from ¹ on; None for sources that are gone.

    `given` are other sources in the prompt; `people` are those whose profiles it had.
    """

    reply: Message
    cited: Sequence[Source | None]
    given: Sequence[Source]
    people: Sequence[Person]

    @property
    def empty(self) -> bool:
        return not (self.cited or self.given or self.people)


def reply_at(connection: Connection, user_id: int, bot_id: int, chat_id: int, tg_id: int) -> Message | None:
    """The answer to which a Telegram message belongs, as any part of it or as its question."""
    said = sources.message_at(connection, user_id, bot_id, chat_id, tg_id)
    if said is not None:
        return said if said.role == "assistant" else sources.reply_to(connection, said)
    message_id = mailbox.message_shown(connection, user_id, bot_id, chat_id, tg_id)
    found = dialogue.by_ids(connection, user_id, [message_id]) if message_id else []
    return found[0] if found else None


def last_reply(connection: Connection, user_id: int) -> Message | None:
    """The latest answer."""
    return sources.last_reply(connection, user_id)


def explain(connection: Connection, user_id: int, message_id: str, *, now: datetime) -> AnswerSources:
    """The sources of an answer that still exist. Raises NotFound if the answer is gone."""
    found = dialogue.by_ids(connection, user_id, [message_id])
    if not found:
        raise NotFound("that answer is gone")
    kept = sources.of_reply(connection, user_id, message_id)
    facts = knowledge.facts(connection, user_id, [one.ref_id for one in kept if one.kind == "fact"], now=now)
    memories = store.nodes_by_ids(connection, user_id, [one.ref_id for one in kept if one.kind == "memory"])
    said = _messages(connection, user_id, [one.ref_id for one in kept if one.kind == "message"])
    imported = _episodes(connection, user_id, [one.ref_id for one in kept if one.kind == "episode"])
    pages = {one.ref_id: WebPage(one.ref_id, "", "") for one in kept if one.kind == "page"}
    by_id: Mapping[str, Source] = {**facts, **memories, **said, **imported, **pages}
    rested = [one for one in kept if one.kind != "person"]
    return AnswerSources(
        reply=found[0],
        cited=[by_id.get(one.ref_id) for one in rested if one.cited],
        given=[by_id[one.ref_id] for one in rested if not one.cited and one.ref_id in by_id],
        people=_people(connection, user_id, [int(one.ref_id) for one in kept if one.kind == "person"]),
    )


def _messages(connection: Connection, user_id: int, ids: Sequence[str]) -> dict[str, Message]:
    """The messages that exist and are not about to be forgotten."""
    if not ids:
        return {}
    to_forget, everything = messages_to_forget(connection, user_id), everything_asked(connection, user_id)
    found = [one for one in dialogue.by_ids(connection, user_id, ids) if one.id not in to_forget]
    return {one.id: one for one in found if everything is None or one.timestamp > everything.created_at}


def _episodes(connection: Connection, user_id: int, ids: Sequence[str]) -> dict[str, Episode]:
    if not ids:
        return {}
    asked = forgettings.pending(connection, user_id)
    if any(one.kind == forgettings.EVERYTHING for one in asked):
        return {}
    to_forget = {one.ref_id for one in asked if one.kind == "episode"} | messages_to_forget(connection, user_id)
    return episodes.by_ids(connection, user_id, set(ids) - to_forget)


def _people(connection: Connection, user_id: int, ids: Sequence[int]) -> list[Person]:
    """The people who are still known, each once: two may have been merged since."""
    found: dict[int, Person] = {}
    for person_id in ids:
        try:
            person = people.person(connection, user_id, person_id)
        except NotFound:
            continue
        found[person.id] = person
    return list(found.values())
