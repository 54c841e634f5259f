"""Keeps lines about a forgotten person, from before the request to forget, out of prompts.

The messages stay in the chat. They are recognised by keyed hashes of the person's names, and by the names themselves
while the forgetting can be undone.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import RecalledPassage
from internal.dialogue.model import Message
from internal.language.names.forms import case_forms, keys_in, sentence_forms
from internal.people import removal_repository, repository as people, tombstones
from internal.storage.chunks import chunks
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.forgetting.tombstone_repository import any_forgotten, forgotten_when, tombstone_state

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_MOST_LINES: Final = 20_000
"""Lines of all owners whose results are kept."""

Line = tuple[str, datetime]
"""The text of a line and its time."""


@dataclass(frozen=True, slots=True)
class _Results:
    """For each line, by the hash of its text, when somebody named in it was last forgotten, None if nobody was.

    They hold while nothing else is forgotten and the same people are known.
    """

    holds_for: Hashable
    gone_at: dict[int, datetime | None] = field(default_factory=dict)


class PromptFilter:
    """Keeps texts that name forgotten people out of prompts. `key` is that of tombstones."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database, self._key = database, key
        self._results: dict[int, _Results] = {}

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
        return await self._database.read(lambda c: self._shown(c, user_id, said))

    async def _any_gone(self, user_id: int) -> bool:
        return await self._database.read_quickly(lambda c: any_forgotten(c, user_id, or_asked=True))

    def _shown(self, connection: Connection, user_id: int, said: Sequence[Line]) -> list[bool]:
        """For each line, whether it names nobody who was forgotten after it was written."""
        names = people.known_names(connection, user_id)  # of two Annas, the other one stays
        going = _going(connection, user_id, names)
        holds_for = (tombstone_state(connection, user_id), frozenset(names), frozenset(going.items()))
        results = self._results.get(user_id)
        if results is None or results.holds_for != holds_for:
            results = self._results[user_id] = _Results(holds_for)
        gone_at = results.gone_at
        if new := {hash(text): text for text, _ in said if hash(text) not in gone_at}:
            known = case_forms(names)
            words = [{key for key in keys_in(text) if key.lstrip("^") not in known} for text in new.values()]
            gone = going | _forgotten(connection, user_id, set().union(*words) - going.keys(), self._key)
            for number, named in zip(new, words, strict=True):
                gone_at[number] = max((gone[word] for word in named & gone.keys()), default=None)
        shown = [(last := gone_at[hash(text)]) is None or at > last for text, at in said]
        if sum(len(one.gone_at) for one in list(self._results.values())) > _MOST_LINES:
            self._results.clear()
        return shown


def _going(connection: Connection, user_id: int, known: Sequence[str]) -> dict[str, datetime]:
    """The forms of the names of people about to be forgotten, each with the time of the request."""
    found: dict[str, datetime] = {}
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
