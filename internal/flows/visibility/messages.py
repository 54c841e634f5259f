"""Messages, events and model calls without what is about to be forgotten."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from internal.chronicle import repository as chronicle
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.events.timeline_repository import TimelineEvent
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.flows.visibility.snapshot import mentions_of_pending
from internal.knowledge import episode_repository as episodes
from internal.storage.forgetting import forgettings, traces


class _PendingMessages:
    """The messages of one owner that are about to be forgotten: single ones, or all up to a moment."""

    def __init__(self, connection: Connection, user_id: int) -> None:
        everything = everything_asked(connection, user_id)
        self.ids = messages_to_forget(connection, user_id)
        self._until = None if everything is None else everything.created_at

    def all_at(self, at: datetime) -> bool:
        return self._until is not None and at <= self._until

    def has(self, message_id: str, at: datetime) -> bool:
        return message_id in self.ids or self.all_at(at)


def messages_shown(connection: Connection, user_id: int, found: Iterable[Message]) -> list[Message]:
    """The owner's messages that are not about to be forgotten."""
    to_forget = _PendingMessages(connection, user_id)
    return [one for one in found if not to_forget.has(one.id, one.timestamp)]


def statements(connection: Connection, user_id: int, message_ids: Iterable[str | None]) -> dict[str, Message]:
    """The messages with these ids that are not about to be forgotten, by id."""
    found = dialogue.by_ids(connection, user_id, [one for one in message_ids if one])
    return {one.id: one for one in messages_shown(connection, user_id, found)}


def events_shown(connection: Connection, found: Iterable[TimelineEvent]) -> list[TimelineEvent]:
    """The same events, of any owners, without the text of messages that are about to be forgotten."""
    known: dict[int, _PendingMessages] = {}

    def shown(found_event: TimelineEvent) -> TimelineEvent:
        user_id, said_at = found_event.event.user_id, found_event.said_at
        if user_id is None or said_at is None:
            return found_event
        if user_id not in known:
            known[user_id] = _PendingMessages(connection, user_id)
        to_forget = known[user_id].has(found_event.event.payload["message"], said_at)
        return replace(found_event, text=None) if to_forget else found_event

    return [shown(one) for one in found]


def call_in_sight(connection: Connection, call: Row[Any]) -> bool:
    """Whether a model call's prompt and reply may be shown: not if they reveal something about to be forgotten.

    They reveal a message if they were made for its turn, fragment or session, or contain a sentence of it; a fact or
    memory by its words, a person or thing by the name. Erasing empties them for good.
    """
    if call.user_id is None or call.prompt is None:
        return True
    to_forget = _PendingMessages(connection, call.user_id)
    if to_forget.all_at(call.at):
        return False
    asked = forgettings.pending(connection, call.user_id)
    if not asked:
        return True
    prompt, reply = json.dumps(call.prompt, ensure_ascii=False), call.reply or ""
    tells = mentions_of_pending(connection, asked)
    if tells(prompt) or tells(reply):
        return False
    said = dialogue.by_ids(connection, call.user_id, sorted(to_forget.ids))
    causes = {one.turn_id for one in said} | {one.episode_id for one in said}
    causes |= {episode_id for episode_id, _ in episodes.lines_of_messages(connection, call.user_id, to_forget.ids)}
    causes |= set(chronicle.session_of_messages(connection, call.user_id, to_forget.ids).values())
    if causes.intersection((call.links or {}).values()):
        return False
    quoted_in = traces.LineTest(one.content for one in said)
    return not quoted_in(prompt) and not quoted_in(reply)
