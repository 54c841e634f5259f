"""Keeps lines about a forgotten person, from before the request to forget, out of prompts.

The messages stay in the chat. They are recognised by keyed hashes of the person's names, and by the names themselves
while the forgetting can be undone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import RecalledPassage
from internal.dialogue.model import Message
from internal.language.names.forms import case_forms, keys_in, sentence_forms
from internal.people import removal_repository, repository as people, tombstones
from internal.storage.chunks import chunks
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.forgetting.tombstone_repository import any_forgotten, forgotten_when

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)

Line = tuple[str, datetime]
"""The text of a line and its time."""


class PromptFilter:
    """Keeps texts that name forgotten people out of prompts. `key` is that of tombstones."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database, self._key = database, key

    async def messages(self, user_id: int, said: Sequence[Message]) -> list[Message]:
        """The messages that may be shown, without quotes that may not."""
        if not await self._any_gone(user_id):
            return list(said)
        may = await self._may(user_id, [(message.content or "", message.timestamp) for message in said])
        return await self.quotes(user_id, [message for message, shown in zip(said, may, strict=True) if shown])

    async def quotes(self, user_id: int, said: Sequence[Message]) -> list[Message]:
        """All these messages, without quotes that may not be shown: quotes are older than the messages."""
        quoted = [message for message in said if message.quoted]
        may = await self._may(user_id, [(one.quoted.text, _LONG_AGO) for one in quoted if one.quoted])
        secret = {message.id for message, shown in zip(quoted, may, strict=True) if not shown}
        return [message.without_quote() if message.id in secret else message for message in said]

    async def passages(self, user_id: int, found: Sequence[RecalledPassage]) -> list[RecalledPassage]:
        """These passages without such lines, with their own numbers; passages whose best line is gone are dropped."""
        lines = [line for passage in found for line in passage.lines]
        may = iter(await self._may(user_id, [(line.text, line.at) for line in lines]))
        shown = [replace(one, lines=[line for line in one.lines if next(may)]) for one in found]
        return [one for one in shown if any(line.found for line in one.lines)]

    async def _may(self, user_id: int, said: Sequence[Line]) -> list[bool]:
        if not said or not await self._any_gone(user_id):
            return [True] * len(said)
        return await self._database.read(partial(_shown, user_id=user_id, said=said, key=self._key))

    async def _any_gone(self, user_id: int) -> bool:
        return await self._database.read_quickly(lambda c: any_forgotten(c, user_id, or_asked=True))


def _shown(connection: Connection, *, user_id: int, said: Sequence[Line], key: bytes) -> list[bool]:
    """For each line, whether it names nobody who was forgotten after it was written."""
    to_forget = _going(connection, user_id)
    known = case_forms(_known_names(connection, user_id))
    words = [{key for key in keys_in(text) if key.lstrip("^") not in known} for text, _ in said]
    gone = to_forget | _forgotten(connection, user_id, set().union(*words) - to_forget.keys(), key)
    return [
        not any(at <= gone[word] for word in named & gone.keys()) for named, (_, at) in zip(words, said, strict=True)
    ]


def _going(connection: Connection, user_id: int) -> dict[str, datetime]:
    """The forms of the names of people about to be forgotten, each with the time of the request."""
    found: dict[str, datetime] = {}
    known = _known_names(connection, user_id)
    for asked in forgettings.pending(connection, user_id):
        if asked.person_id is not None:
            ids = {asked.person_id} | people.sources_of(connection, user_id, asked.person_id)
            profiles = removal_repository.profiles(connection, user_id, ids)
            names = [name for one in profiles for name in (*one.names, one.username or "")]
            found |= dict.fromkeys(sentence_forms(names, known), asked.created_at)
    return found


def _forgotten(connection: Connection, user_id: int, words: Iterable[str], key: bytes) -> dict[str, datetime]:
    """The words that name a forgotten person, each with the latest time."""
    by_mark = {mark: word for word in words for mark in tombstones.said_marks(key, user_id, word)}
    marks, found = list(by_mark), dict[str, datetime]()
    for chunk in chunks(marks):
        for mark, at in forgotten_when(connection, user_id, chunk).items():
            found[by_mark[mark]] = max(at, found.get(by_mark[mark], at))
    return found


def _known_names(connection: Connection, user_id: int) -> list[str]:
    """The names of known people: of two Annas, the other one stays."""
    return [name for person in people.listing(connection, user_id) for name in person.names]
