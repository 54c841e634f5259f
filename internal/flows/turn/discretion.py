"""Keeps what is not for others out of a prompt whose answer is for others.

Where the owner asks for words that somebody else will read, the rules decide before the model is asked: what touches
health, money, law, intimate things or a secret is shown only to recipients whose business it is, or if the owner names
the topic himself. What the owner made private is for nobody else; what he shared with a person is for that one.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import RecalledFact, RecalledMemory, RecalledPassage, ResponderRequest
from internal.agents.newest_lines import newest_lines
from internal.dialogue import repository as dialogue
from internal.errors import NotFound
from internal.flows.views.memory import memory_view
from internal.knowledge import service as knowledge
from internal.knowledge.facts import citations
from internal.knowledge.model import AUDIENCE
from internal.language.discretion.recipients import (
    Recipient,
    may_be_for_others,
    recipient_of,
    words_of,
)
from internal.language.discretion.sensitivity import Topic, topics_of
from internal.people import repository as people
from internal.people import tombstones
from internal.people.model import Person
from internal.recall.prompt.context import RecallResult
from internal.snapshots.model import Item
from internal.storage.database import Database

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+")
_NAMED: Final = 2
"""Words of the order in something that touches a topic, by which the owner names it himself."""
_LATEST: Final = 4
"""Messages before the order that it may lean on ("answer her"), whatever their words are."""
_RARE: Final = 3
"""Texts at most that hold a word by which two are about the same."""
_SECRET: Final[frozenset[Topic]] = frozenset({"secret"})
_LEFT_OUT: Final = (
    "The answer is for somebody else ({role}), so {count} things about {topics} are left out of what you see. Do not "
    "guess them. If the owner wants them in, he has to say them himself."
)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What memory says of things in a prompt, by id: explicit audiences, and which were told as a secret."""

    audiences: Mapping[str, str]
    secret: Collection[str]


class Discretion:
    """Applies the rules to a request, and to what its tools find."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recipient(self, user_id: int, text: str) -> tuple[Recipient, int | None] | None:
        """Who else will read what is asked for, with the id of a known person; None: the owner alone."""
        if not may_be_for_others(text):
            return None
        known = await self._database.read(lambda c: people.listing(c, user_id))
        forms = {person.id: tombstones.word_forms(person.names) for person in known}
        found = recipient_of(text, set().union(*forms.values()))
        if found is None:
            return None
        words = set(re.findall(r"[\w'-]+", text.casefold())) if found.role == "person" else set[str]()
        return found, next((one for one, names in forms.items() if words & names), None)

    async def kept(self, request: ResponderRequest, text: str, asked: int | None = None) -> ResponderRequest:
        """The request without what is not for the recipient, and with a line that says what kind was left out.

        The last `asked` lines of the dialogue are the question; None: all since the last answer.
        """
        found = await self.recipient(request.owner.user_id, text)
        if found is None:
            return request
        stored = await self._stored(request.owner.user_id, request.facts, request.memories)
        rule = _Rule(*found, stored, words_of(text))
        asked = len(newest_lines(request.dialogue)) if asked is None else asked
        earlier = request.dialogue[: len(request.dialogue) - asked]
        rule.look([*_texts(request), *(one.text for one in earlier)])
        snapshot = request.snapshot
        kept = replace(
            request,
            inner_circle=[rule.person(one) for one in request.inner_circle],
            relevant_people=[rule.person(one) for one in request.relevant_people],
            dialogue=[
                *(one for one in earlier[:-_LATEST] if rule.may(one.text)),
                *(one for one in earlier[-_LATEST:] if rule.may(one.text, about=False)),
                *request.dialogue[len(earlier) :],
            ],
            facts=[one for one in request.facts if rule.fact(one)],
            memories=[one for one in request.memories if rule.memory(one)],
            passages=rule.passages(request.passages),
            lessons=[one for one in request.lessons if rule.may(one, about=False)],
            relations=[one for one in request.relations if rule.may(one)],
            tasks=[one for one in request.tasks if rule.may(one.title)],
            snapshot=replace(
                snapshot,
                who=rule.items(snapshot.who),
                now=rule.items(snapshot.now),
                threads=rule.items(snapshot.threads),
            ),
        )
        if not rule.left_out:
            return kept
        topics = ", ".join(sorted(set().union(*rule.left_out)) or ["private matters"])
        said = _LEFT_OUT.format(role=rule.recipient.role, count=len(rule.left_out), topics=topics)
        return replace(kept, system_lines=[*(one for one in request.system_lines if rule.may(one, about=False)), said])

    async def titles(self, user_id: int, text: str, titles: Sequence[str]) -> list[bool]:
        """For each title, whether it may be shown to whom the words asked for are meant for."""
        found = await self.recipient(user_id, text)
        rule = None if found is None else _Rule(*found, _Stored({}, ()), words_of(text))
        return [rule is None or rule.may(one) for one in titles]

    async def found(self, user_id: int, text: str, result: RecallResult) -> RecallResult:
        """What a search of the same turn found, without what is not for the recipient."""
        found = await self.recipient(user_id, text)
        if found is None:
            return result
        rule = _Rule(*found, await self._stored(user_id, result.facts, result.memories), words_of(text))
        rule.look(_texts(result))
        return replace(
            result,
            inner_circle=[rule.person(one) for one in result.inner_circle],
            relevant_people=[rule.person(one) for one in result.relevant_people],
            facts=[one for one in result.facts if rule.fact(one)],
            memories=[one for one in result.memories if rule.memory(one)],
            passages=rule.passages(result.passages),
        )

    async def _stored(self, user_id: int, facts: Sequence[RecalledFact], memories: Sequence[RecalledMemory]) -> _Stored:
        def read(connection: Connection) -> _Stored:
            ids = [one.fact_id for one in facts]
            audiences: dict[str, str] = {}
            for fact_id in ids:
                try:
                    audience = knowledge.fact(connection, user_id, fact_id).attributes.get(AUDIENCE)
                except NotFound:
                    continue
                audiences |= {fact_id: str(audience)} if audience else {}
            lines = citations.evidence_of_facts(connection, user_id, ids)
            for one in memories:
                try:
                    lines[one.node_id] = list(memory_view(connection, user_id, one.node_id).lines)
                except NotFound:
                    continue
            told = dialogue.by_ids(
                connection, user_id, [line.message_id or "" for said in lines.values() for line in said]
            )
            whole = {one.id: one.content for one in told}
            secret = {
                ref
                for ref, said in lines.items()
                if any("secret" in topics_of(whole.get(line.message_id or "", line.quote)) for line in said)
            }
            return _Stored(audiences, secret)

        return await self._database.read(read)


def _texts(given: ResponderRequest | RecallResult) -> list[str]:
    lines = [line.text for one in given.passages for line in one.lines]
    return [*(one.text for one in given.facts), *(one.text for one in given.memories), *lines]


class _Rule:
    """What one recipient may be shown. `left_out` are the topics of each thing that was kept back."""

    def __init__(
        self, recipient: Recipient, person_id: int | None, stored: _Stored, named: Collection[str] = frozenset()
    ) -> None:
        """`named` are the words of the order: what shares `_NAMED` of them, the owner asks for himself."""
        self.recipient, self._stored, self._words = recipient, stored, frozenset(named)
        self._about = self._words
        self._shared = f"person:{person_id}"
        self.left_out: list[frozenset[Topic]] = []

    def look(self, texts: Sequence[str]) -> None:
        """Finds what the order is about among all that might be shown: its words, and rare ones that stand beside them.

        What is about something else is nobody's need, whatever it touches.
        """
        found = [words_of(one) for one in dict.fromkeys(texts)]
        often = Counter(word for one in found for word in one)
        plain = [one for one, text in zip(found, dict.fromkeys(texts), strict=True) if not topics_of(text)]
        beside = {word for one in plain if one & self._words for word in one if often[word] <= _RARE}
        self._about = self._words | beside

    def may(self, text: str, *, secret: bool = False, about: bool = True) -> bool:
        """Whether a text may be shown. `about`: only if the order is about it."""
        touched = topics_of(text) | (_SECRET if secret else frozenset())
        if touched <= self.recipient.knows and (touched or not about or words_of(text) & self._about):
            return True
        if "secret" not in touched and len(self._words & words_of(text)) >= _NAMED:
            return True
        self.left_out.append(touched - self.recipient.knows)
        return False

    def fact(self, one: RecalledFact) -> bool:
        audience = self._stored.audiences.get(one.fact_id)
        if audience == self._shared:
            return True
        if audience is not None:
            self.left_out.append(frozenset())
            return False
        return self.may(one.text, secret=one.fact_id in self._stored.secret)

    def items(self, part: Sequence[Item]) -> tuple[Item, ...]:
        return tuple(one for one in part if self.may(one.text))

    def memory(self, one: RecalledMemory) -> bool:
        return self.may(one.text, secret=one.node_id in self._stored.secret)

    def passages(self, found: Sequence[RecalledPassage]) -> list[RecalledPassage]:
        """Only what was found for the order; a secret takes its whole passage along: it stands beside its line."""
        kept = [one for one in found if "secret" not in topics_of(one.text) or self.may(one.text)]
        shown = [replace(one, lines=[line for line in one.lines if line.found and self.may(line.text)]) for one in kept]
        return [one for one in shown if any(line.found for line in one.lines)]

    def person(self, one: Person) -> Person:
        return replace(
            one, bio=" ".join(part for part in _SENTENCE.split(one.bio) if self.may(f"{one.display_name} {part}"))
        )
