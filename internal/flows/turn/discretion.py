"""Keeps what is not for others out of a prompt whose answer is for others.

Where the owner asks for words that somebody else will read, the rules decide before the model is asked: only the few
sentences that the order is about are shown, and of those what touches health, money, law, intimate things or a secret
only to recipients whose business it is, or if the owner names the topic himself. Vectors of the built-in embedder tell
what an order is for, what a sentence touches and how near it is. What the owner made private is for nobody else; what
he shared with a person is for that one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from sqlalchemy import Connection

from internal import text_caches
from internal.agents.model import DialogueLine, RecalledFact, RecalledMemory, ResponderRequest
from internal.agents.prompts import SETTLED, newest_lines
from internal.dialogue import repository as dialogue
from internal.errors import ModelError
from internal.flows.turn.recipient_filter import Order, RecipientFilter, Sources, sentence_texts, with_name_before
from internal.flows.views.memory import memory_lines
from internal.knowledge import service as knowledge
from internal.knowledge.facts import citations
from internal.knowledge.model import AUDIENCE, GROUP, TEAM
from internal.language.discretion.meaning import for_others
from internal.language.discretion.recipients import (
    for_the_asker,
    may_be_for_others,
    names_role,
    only_says_how,
    orders_words,
    readers_of,
    recipient_of,
    words_of,
)
from internal.language.instructions.find import find_instructions
from internal.language.instructions.topics import topics_of
from internal.language.names.forms import case_forms
from internal.language.search.followups import leans_on_dialogue
from internal.language.text.linear_model import Vector
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import StateEmbedder
from internal.people import repository as people
from internal.recall.prompt.context import RecallResult
from internal.storage.database import Database
from internal.tasks.teams import repository as teams

log = logging.getLogger(__name__)

_LATEST: Final = 4
"""Messages before the order that it may lean on ("answer her"), whatever their words are."""
_FOLLOWING: Final = 8
"""Words of a message that may be a wish about the order before it ("shorter, please")."""
_ASKED_SINCE: Final = 3
"""Questions of the owner to himself after an order, behind which a wish may still be about the order."""
_LEAST: Final = 4
"""Words of a message that may be an order though it says nothing of writing."""
_FOR_ANOTHER: Final = re.compile(r"\b(?:for|to|and|now|для|и|а|теперь|тоже|і|й|тепер|теж)\b", re.IGNORECASE)
_LEFT_OUT: Final = (
    "The answer is for somebody else ({role}), so {count} things about {topics} are left out of what you see. Do not "
    "guess them. If the owner wants them in, he has to say them himself."
)
_LEFT_OUT_IN_DOUBT: Final = (
    "Somebody else may read the answer, so {count} things about {topics} are left out of what you see. Do not guess "
    "them. If the owner asks for himself, say that you keep them for a direct question of his."
)


@dataclass(frozen=True, slots=True)
class OrderText:
    """What is answered: `text` is all that stands there, `said` the owner's own words, `before` those before, in order.

    Only his own words order something, say for whom, or name a topic: what he sends or passes on does not.
    """

    text: str
    said: str
    before: Sequence[str] = ()


class Discretion:
    """Applies the rules to a request, and to what its tools find."""

    def __init__(self, database: Database, embedder: StateEmbedder) -> None:
        self._database, self._embedder = database, embedder
        self._vectors: dict[tuple[str, bool], Vector] = {}
        text_caches.register_holder(self)

    def forget(self, user_id: int) -> None:
        """Drops the vectors of all texts; they are made again where they are needed."""
        self._vectors = {}

    async def order(self, user_id: int, asked: OrderText) -> Order | None:
        """The order in what is asked for somebody else; None: it is for the owner alone.

        What is for others stays so while it is worked on.
        """
        said, before = asked.said, asked.before
        readers = readers_of(said, None) if said else "owner"
        if readers == "owner":
            return None
        worked_on = None
        if _only_a_wish(said):
            asked_since = list(takewhile(lambda one: readers_of(one, None) == "owner", reversed(before)))[:_ASKED_SINCE]
            earlier = await self._order_before(user_id, before[: len(before) - len(asked_since)])
            if earlier is not None:
                worked_on = replace(earlier, certain=earlier.certain and not asked_since)
            elif not (names_role(said) or any(_tokens(said) & one for one in (await self._names(user_id)).values())):
                return None
        if (vector := (await self._embedded([said], of_query=True)).get(said)) is not None:
            readers = readers_of(said, for_others(said, vector))
        if readers == "owner" and worked_on is None:
            return None
        names = await self._names(user_id)
        found = recipient_of(said, set().union(*names.values()))
        words = _tokens(said) if found.role == "person" else set[str]()
        meant = next((one for one, forms in names.items() if words & forms), None)
        written = may_be_for_others(said)
        reader = meant is not None or names_role(said)
        certain = readers == "others" or (meant is not None and orders_words(said))
        named = certain or reader or (written and not for_the_asker(said))
        strangers = set().union(*(forms for forms in names.values() if not _tokens(said) & forms))
        order = Order(found, meant, said, asked.text, certain, named, strangers)
        if worked_on is not None:
            return _continued(worked_on, order)
        if not before or len(said.split()) > _FOLLOWING or ((order.certain or written) and _stands_alone(said)):
            return order
        earlier = await self._order_before(user_id, before)
        return replace(order, certain=False) if earlier is None else _continued(earlier, order)

    async def _names(self, user_id: int) -> Mapping[int, Set[str]]:
        """The forms of the names of each known person."""
        known = await self._database.read(lambda c: people.listing(c, user_id))
        return {person.id: case_forms(person.names) for person in known}

    async def _order_before(self, user_id: int, before: Sequence[str]) -> Order | None:
        return await self.order(user_id, OrderText(before[-1], before[-1], before[:-1])) if before else None

    async def _embedded(self, texts: Iterable[str], *, of_query: bool = False) -> dict[str, Vector]:
        """The vectors of a message, or of the sentences of texts; none if the language process fails."""
        wanted = list(texts) if of_query else list(dict.fromkeys(one for text in texts for one in sentence_texts(text)))
        embed = self._embedder.query_states if of_query else self._embedder.passage_states
        missing = [one for one in wanted if (one, of_query) not in self._vectors]
        try:
            rows = await embed(missing) if missing else ()
        except (ModelError, LanguageCallFailed) as error:
            log.warning("order_not_embedded", extra={"reason": type(error).__name__})
            return {}
        known = self._vectors | {(one, of_query): row for one, row in zip(missing, rows, strict=True)}
        self._vectors = known if len(known) < 1_500 else {}
        return {one: known[one, of_query] for one in wanted}

    async def _rule(self, order: Order, stored: Sources, texts: Sequence[str]) -> RecipientFilter:
        vectors = await self._embedded([*texts, *(one for quotes in stored.sources.values() for one in quotes)])
        rule = RecipientFilter(order, stored, vectors)
        for vector in (await self._embedded([order.text], of_query=True)).values() if vectors else ():
            rule.look(texts, vector)
        return rule

    async def kept(self, request: ResponderRequest, asked: OrderText, lines: int | None = None) -> ResponderRequest:
        """The request without what is not for the recipient, and with a line that says what kind was left out.

        The last `lines` of the dialogue are the question; None: all since the last answer.
        """
        lines = len(newest_lines(request.dialogue)) if lines is None else lines
        earlier = request.dialogue[: len(request.dialogue) - lines]
        user_id = request.owner.user_id
        order = await self.order(user_id, asked)
        if order is None:
            return request
        snapshot = request.snapshot
        titles = [one.title for one in request.tasks]
        items = [one.text for part in (snapshot.who, snapshot.now, snapshot.threads) for one in part]
        others = [*request.lessons, *request.relations, *titles, *items, *request.system_lines]
        stored = await self._stored(user_id, request.facts, request.memories)
        rule = await self._rule(order, stored, [*_texts(request), *others, *(one.text for one in earlier)])
        leans = leans_on_dialogue(order.said, len(words_of(order.said))) or order.said != asked.said
        latest = [rule.line(one, about=not leans) if order.named else one for one in earlier[-_LATEST:]]
        kept = replace(
            request,
            inner_circle=[rule.person(one) for one in request.inner_circle],
            relevant_people=[rule.person(one) for one in request.relevant_people],
            dialogue=[
                *_shown(earlier, [*map(rule.line, earlier[:-_LATEST]), *latest]),
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
        if order.certain and may_be_for_others(asked.said):
            kept = replace(kept, kept_back=sorted(rule.missed))
        if not rule.left_out:
            return kept
        topics = ", ".join(sorted(set().union(*rule.left_out)) or ["private matters"])
        note = _LEFT_OUT if order.certain else _LEFT_OUT_IN_DOUBT
        note = note.format(role=order.recipient.role, count=len(rule.left_out), topics=topics)
        return replace(kept, system_lines=[*(one for one in request.system_lines if rule.may(one, about=False)), note])

    async def titles(self, user_id: int, asked: OrderText, titles: Sequence[str]) -> list[bool]:
        """For each title, whether it may be shown to whom the words asked for are meant for."""
        order = await self.order(user_id, asked)
        rule = None if order is None else await self._rule(order, Sources({}, {}), titles)
        return [rule is None or rule.may(one) for one in titles]

    async def found(self, user_id: int, asked: OrderText, result: RecallResult) -> RecallResult:
        """What a search of the same turn found, without what is not for the recipient."""
        order = await self.order(user_id, asked)
        if order is None:
            return result
        rule = await self._rule(order, await self._stored(user_id, result.facts, result.memories), _texts(result))
        return replace(
            result,
            inner_circle=[rule.person(one) for one in result.inner_circle],
            relevant_people=[rule.person(one) for one in result.relevant_people],
            facts=[one for one in result.facts if rule.fact(one)],
            memories=[one for one in result.memories if rule.memory(one)],
            passages=rule.passages(result.passages),
        )

    async def _stored(self, user_id: int, facts: Sequence[RecalledFact], memories: Sequence[RecalledMemory]) -> Sources:
        def read(connection: Connection) -> Sources:
            ids = [one.fact_id for one in facts]
            attributes = knowledge.attributes_of_facts(connection, user_id, ids)
            audiences = {one: str(audience) for one, of in attributes.items() if (audience := of.get(AUDIENCE))}
            lines = citations.evidence_of_facts(connection, user_id, ids)
            lines |= memory_lines(connection, user_id, [one.node_id for one in memories])
            messages = dialogue.by_ids(
                connection, user_id, [line.message_id or "" for said in lines.values() for line in said]
            )
            whole = {one.id: one.content for one in messages}
            return Sources(
                audiences,
                {ref: [whole.get(line.message_id or "", line.quote) for line in said] for ref, said in lines.items()},
                {one: _members(connection, user_id, one) for one in set(audiences.values())},
            )

        return await self._database.read(read)


def _shown(earlier: Sequence[DialogueLine], filtered: Sequence[DialogueLine]) -> list[DialogueLine]:
    """The filtered lines that are not empty. An owner's line whose answer is left out says that it was answered.

    Otherwise it would be read as a part of the question.
    """
    shown = list[DialogueLine]()
    for whole, one in zip(earlier, filtered, strict=True):
        if one.text:
            shown.append(one)
        elif whole.role == "assistant" and shown and shown[-1].role == "user":
            shown[-1] = replace(shown[-1], metadata={**(shown[-1].metadata or {}), SETTLED: "the answer is left out"})
    return shown


def _members(connection: Connection, user_id: int, audience: str) -> frozenset[int]:
    """The people who are members of the owner's teams, or who write in a group in which he writes too."""
    members = teams.teammates(connection, user_id) if audience == TEAM else set[int]()
    if audience.startswith(GROUP):
        speakers = dialogue.speakers(connection, int(audience.removeprefix(GROUP)))
        members = speakers if user_id in speakers else members
    known = (people.by_telegram_id(connection, user_id, one) for one in members)
    return frozenset(person.id for person in known if person is not None)


def _texts(given: ResponderRequest | RecallResult) -> list[str]:
    lines = [line.text for one in given.passages for line in one.lines]
    bios = [
        with_name_before(one, part)
        for one in (*given.inner_circle, *given.relevant_people)
        for part in sentence_texts(one.bio)
    ]
    return [*(one.text for one in given.facts), *(one.text for one in given.memories), *lines, *bios]


def _tokens(text: str) -> set[str]:
    return set(re.findall(r"[\w'-]+", text.casefold()))


def _only_a_wish(text: str) -> bool:
    """Whether a message orders nothing by itself: a few words none of which is of writing, or how to answer."""
    few = len(text.split()) < _LEAST and not may_be_for_others(text)
    return few or only_says_how(text, topics_of) or bool(find_instructions(text))


def _stands_alone(text: str) -> bool:
    return not leans_on_dialogue(text, len(words_of(text)))


def _continued(earlier: Order, wish: Order) -> Order:
    """The order that a wish about it belongs to ("shorter"), for whom the wish names ("and now for Olya")."""
    same = wish.recipient.role == earlier.recipient.role or not names_role(wish.said)
    if wish.recipient.role in ("others", earlier.recipient.role) and same and not _FOR_ANOTHER.search(wish.said):
        return earlier
    return replace(earlier, recipient=wish.recipient, person_id=wish.person_id)
