"""Removes what a model made up from its reply: the owner as a person, and statements not in the cited lines."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from internal.agents.archivist.output import ArchivistReply
from internal.agents.archivist.reply.facts import OWNER_WORDS
from internal.agents.archivist.reply.memories import NEEDS_OWNER_LINE_NEW, mentioned_entities
from internal.agents.model import ArchivistRequest, Language
from internal.errors import Refusal
from internal.flows.runs.slices import evidence_texts
from internal.knowledge.model import OWNER_NODE, ProposedEntity, ProposedFact
from internal.language.names.introductions import own_names
from internal.language.search.grounding import Proposed, is_owner, is_variant_of_owner, owner_as_person, ungrounded
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageWorker
from internal.memory.model import NAMING, ProposedMemory
from internal.people.model import names_of
from internal.people.operations import Added, Merged, Operation, Updated

Item = TypeVar("Item")

TEXTS = ("content", "summary", "description")
"""Properties of a memory that are texts, besides its name."""


class ReplyGuard:
    """Checks replies in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def kept(self, reply: ArchivistReply, request: ArchivistRequest) -> ArchivistReply:
        """The reply without items refused as owner_as_person or not_in_evidence, which are counted."""
        judge, language = _Judge(request), request.owner.language
        people, stated, owners = await self._worker.run_bulk(without_owner, reply, request)
        operations = await self._grounded(people, judge.person, language)
        entities = await self._grounded(reply.entities, judge.entity, language)
        facts = await self._grounded(stated, judge.fact, language)
        memories = await self._grounded(reply.memories, judge.memory, language)
        before = (people, reply.entities, stated, reply.memories)
        lost = sum(map(len, before)) - sum(map(len, (operations, entities, facts, memories)))
        refused = [Refusal("owner_as_person", "the owner is not one of the people")] * owners
        refused += [Refusal("not_in_evidence", "nothing of it stands in the lines it cites")] * lost
        return ArchivistReply(
            operations, entities, facts, memories, mentioned_entities(memories), (*reply.refused, *refused)
        )

    async def _grounded(
        self, items: Sequence[Item], proposed: Callable[[Item], Proposed], language: Language
    ) -> tuple[Item, ...]:
        gone = set(await self._worker.run_bulk(ungrounded, [proposed(item) for item in items], language))
        return tuple(item for index, item in enumerate(items) if index not in gone)


class _Judge:
    """Checks each kind of item: its names and words, against the lines it cites."""

    def __init__(self, request: ArchivistRequest) -> None:
        self._lines = request.transcript
        self._known = {f"Person:{person.id}": names_of(person) for person in request.people}

    def person(self, operation: Operation) -> Proposed:
        if isinstance(operation, Merged):
            return Proposed((), "", ())
        names = [
            operation.display_name or "",
            *operation.aliases,
            f"@{operation.username}" if operation.username else "",
        ]
        known = self._known.get(f"Person:{operation.person_id}", ()) if isinstance(operation, Updated) else ()
        return self._proposed([*names, *known], operation.bio or "", operation.evidence)

    def entity(self, entity: ProposedEntity) -> Proposed:
        return self._proposed([entity.name, *entity.aliases], entity.summary, entity.evidence)

    def fact(self, fact: ProposedFact) -> Proposed:
        ends = [fact.source, fact.target]
        return self._proposed(ends, fact.fact, fact.evidence, of_owner=OWNER_NODE in ends)

    def memory(self, memory: ProposedMemory) -> Proposed:
        """The names and words of a memory; the handle of a known memory has none."""
        nodes = [memory.node, *(link.other for link in memory.links)]
        names = [str(node.properties["name"]) for node in nodes if node.label == "Entity"]
        fields = () if memory.node.node_id else (NAMING[memory.node.label], *TEXTS)
        text = " ".join(str(memory.node.properties.get(name, "")) for name in dict.fromkeys(fields))
        own = memory.node.label in NEEDS_OWNER_LINE_NEW
        return self._proposed(names if fields else [], text.strip(), memory.evidence, of_owner=own)

    def _proposed(
        self, names: Sequence[str], text: str, evidence: Sequence[int], *, of_owner: bool = False
    ) -> Proposed:
        meant = [name for one in names for name in self._known.get(one, (one,)) if one and one != OWNER_NODE]
        return Proposed(tuple(meant), text, evidence_texts(self._lines, evidence, of_owner=of_owner))


def without_owner(reply: ArchivistReply, request: ArchivistRequest) -> tuple[list[Operation], list[ProposedFact], int]:
    """The operations without the owner as a new person or his names as aliases, the facts, and the number of
    refusals. A fact that names the owner as its source is about OWNER_NODE. For the language process.
    """
    owner, kept, refused = _Owner(request), list[Operation](), 0
    for operation in reply.operations:
        if isinstance(operation, Merged):
            kept.append(operation)
            continue
        names = [operation.display_name or "", *operation.aliases, operation.username or ""]
        if isinstance(operation, Added) and owner.is_meant(names, operation.evidence):
            refused += 1
            continue
        aliases = tuple(alias for alias in operation.aliases if not is_owner(alias, owner.names))
        refused += aliases != operation.aliases
        kept.append(replace(operation, aliases=aliases))
    others = [names_of(person) for person in request.people]
    others += [(one.display_name,) for one in kept if isinstance(one, Added) and one.display_name]
    things = {name_key(entity.name) for entity in reply.entities}

    def own(fact: ProposedFact) -> ProposedFact:
        taken = name_key(fact.source) in {*things, *fact.entity_types} or any(
            is_owner(fact.source, one) for one in others
        )
        if taken or fact.target == OWNER_NODE or not owner.says(fact.evidence):
            return fact
        return replace(fact, source=OWNER_NODE) if owner.is_meant([fact.source], fact.evidence) else fact

    return kept, [own(fact) for fact in reply.facts], refused


class _Owner:
    """The names a reply may use for the owner."""

    def __init__(self, request: ArchivistRequest) -> None:
        owner, self._lines = request.owner, request.transcript
        self._language = owner.language
        called = [name for line in self._lines if line.owners_word for name in own_names(line.text, owner.language)]
        self.names = tuple(name for name in (owner.name, *owner.names, *called, owner.username) if name)
        # Other speakers are known by the names of the lines, not only by the text.
        self._heard = [
            f"{line.text} {line.quoted} {line.forwarded_from} {'' if line.own else line.speaker}"
            for line in self._lines
        ]

    def is_meant(self, names: Sequence[str], evidence: Collection[int]) -> bool:
        """Whether these names, of which the first is the main one, are the owner's in these lines (none = all)."""
        said = [line.text for line in self._lines if not evidence or line.number in evidence]
        return (
            name_key(names[0]) in OWNER_WORDS
            or owner_as_person(names, self.names, said, self._language)
            or is_variant_of_owner(names, self.names, self._heard)
        )

    def says(self, evidence: Collection[int]) -> bool:
        """Whether all of these lines are the owner's own words."""
        return all(line.owners_word for line in self._lines if line.number in evidence)
