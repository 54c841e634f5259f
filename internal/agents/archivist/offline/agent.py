"""The archivist without a model: names, kinship and work words, and the owner's own sentences.

It is weaker than a model: it finds people who are named plainly, takes the circle from a word beside the name, quotes
instead of summing up, merges two people only when the owner says that they are one, and states only the few kinds of
facts, goals, decisions and other memories of which it can be sure.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from internal.agents.archivist.offline.bio_quotes import asks, bio_of
from internal.agents.archivist.offline.facts import (
    Statement,
    fact_of,
    goes_on_from,
    pronoun_before,
    statements,
    subject_ends_at,
)
from internal.agents.archivist.offline.kinship import gender_fits, kin_before, pronoun_within
from internal.agents.archivist.offline.memories import OfflineMemories
from internal.agents.archivist.offline.occasions import ended_occasions, occasion_facts
from internal.agents.archivist.offline.people import Dossier, Identity, Reading, SentenceReading
from internal.agents.archivist.offline.relations import OfflineRelations
from internal.agents.model import AgentReply, ArchivistRequest, Language
from internal.knowledge.model import OWNER_NODE
from internal.language.facts.occasion_names import EVENT
from internal.language.names.entities import is_place
from internal.language.names.mentions import find_people
from internal.language.names.name_words import name_words
from internal.language.text.passages import batches
from internal.language.text.spelling import name_key, text_language
from internal.language.worker.embedding import judge_statement
from internal.language.worker.process_pool import LanguageWorker
from internal.people.model import Circle, Person

MODEL = "offline-rules"

_INSIDE = re.compile(r"(?:^|\s)(?:в|во|на|in|at)\s+$", re.IGNORECASE)

_CHARACTERS = 4_000
"""Characters of lines analysed in one call, which takes half a second at 1 ms for each new word."""


class OfflineArchivist:
    """The Archivist by rules, run in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def ask(self, request: ArchivistRequest) -> AgentReply:
        """The reply in the archivist's format. Raises ModelUnavailable if the language process cannot answer."""
        texts = [line.text for line in request.transcript]
        for part in batches(texts, _CHARACTERS):
            await self._worker.run_bulk(_look_up, part, request.owner.language)
        return AgentReply(await self._worker.run_bulk(propose, request), MODEL)


def _look_up(texts: Sequence[str], language: Language) -> None:
    """Analyses the words of some lines for the process's cache, so that no owner waits for a whole transcript."""
    for text in texts:
        find_people(text, text_language(text, language))


def propose(request: ArchivistRequest) -> str:
    """The JSON of the archivist's contract for a transcript; pure, some 5 ms a line."""
    people = {person.id: person for person in request.people}
    reading = Reading(request.people, request.owner.language)
    reading.read_all([line.unquoted() for line in request.transcript])
    merged = [operation for identity in reading.identities for operation in _merge(identity, people)]
    gone = _join_identities(reading.identities)
    heard = _statements_of_others(reading)
    dated = [
        one for said in reading.said if not asks(said.text) for one in occasion_facts(said, reading, judge_statement)
    ]
    dated += [one for said in reading.said for one in ended_occasions(said, reading, request.facts, judge_statement)]
    changes = [
        _change(dossier, people)
        for dossier in reading.dossiers
        if dossier.lines and not any(d is dossier for d in gone)
    ]
    operations = [operation for operation in changes if operation] + merged
    facts = [fact for said in reading.said for fact in _facts(said, reading.identities)]
    plain = [fact["evidence"] for fact in facts]
    dated = [one for one in dated if one[0]["relation"] != EVENT or one[0]["evidence"] not in plain]
    stated = {(fact["relation"], *fact["evidence"]) for fact, _ in dated}
    facts = [fact for fact in facts if (fact["relation"], *fact["evidence"]) not in stated]
    facts += heard
    facts += [
        fact | {"source": _person_reference(whose, reading.identities) if whose else "user"} for fact, whose in dated
    ]
    related = OfflineRelations(
        reading.dossiers, people, lambda dossier: _person_reference(dossier, reading.identities), reading.language
    )
    facts += [fact for said in reading.said for fact in related.facts(said)]
    remembering = OfflineMemories(
        request.memories, lambda dossier: _person_reference(dossier, reading.identities), _means_a_person
    )
    for said in reading.said:
        remembering.read(said)
    reply = {"people_operations": operations, "facts": facts, "memories": remembering.items}
    return json.dumps(reply, ensure_ascii=False)


def _facts(said: SentenceReading, identities: Sequence[Identity]) -> Iterator[dict[str, Any]]:
    """The facts of one sentence: about its speaker, a name right before the verb, or the person meant by "he".

    A clause that follows directly has the same subject.
    """
    before: tuple[Statement, str] | None = None
    for stated in statements(said.text, said.line):
        if _means_a_person(stated, said):
            continue  # a liked person or a colleague is no thing
        subject = _source(stated, said, identities)
        if subject is None and before is not None and goes_on_from(before[0], stated, said.text):
            subject = (before[1], said.text)
        if subject is not None:
            before = (stated, subject[0])
            yield fact_of(stated, *subject, said.line)


def _source(stated: Statement, said: SentenceReading, identities: Sequence[Identity]) -> tuple[str, str] | None:
    """The subject of a statement, and the words that state it."""
    if stated.by_owner:
        return (OWNER_NODE if said.speaker is None else _person_reference(said.speaker, identities), said.text)
    subjects = [one for mention, one in said.named if subject_ends_at(mention, said.start, said.text, stated)]
    if subjects:
        return _person_reference(subjects[-1], identities), said.text
    kin = said.kin.get(kin_before(said.text, stated.verb) or "")
    if kin is not None:
        return _person_reference(kin, identities), said.text
    within = pronoun_within(said.text, stated.verb)
    if within is not None:
        before = {id(one): one for mention, one in said.named if mention.end - said.start <= within[1]}
        meant = [one for one in before.values() if gender_fits(one.gender, within[0])]
        return (_person_reference(meant[0], identities), said.text) if len(meant) == 1 else None
    if said.continued is not None and pronoun_before(said.text, stated.verb):
        text = f"{max(said.continued.names, key=len)} {said.text.strip().split(maxsplit=1)[1]}"
        return _person_reference(said.continued, identities), text
    return None


def _statements_of_others(reading: Reading) -> list[dict[str, Any]]:
    """The facts that others than the owner state about themselves, and about people by their full names.

    The person of such a fact is added with only the name.
    """
    found: list[dict[str, Any]] = []
    for said in reading.heard:
        facts = list(_facts(said, reading.identities))
        sources = {fact["source"] for fact in facts}
        for dossier in [said.speaker, *(one for _, one in said.named)]:
            if dossier is not None and _person_reference(dossier, reading.identities) in sources:
                dossier.lines.add(said.line.number)
        found += facts
    return found


def _means_a_person(stated: Statement, said: SentenceReading) -> bool:
    """Whether the target names a person: no quoted name, no place, and no name after a word like "in"."""
    begin, end = (said.start + target_span for target_span in stated.target_span)
    if (
        said.text[stated.target_span[0]] in '«"“'
        or is_place(stated.target)
        or _INSIDE.search(said.text[: stated.target_span[0]])
    ):
        return False
    return any(mention.start < end and begin < mention.end for mention, _ in said.named)


def _person_reference(dossier: Dossier, identities: Sequence[Identity]) -> str:
    """The reference to a dossier's person in facts: the id of a known one, else the name with which it is added."""
    for identity in identities:
        if dossier.person_id is None and any(one is dossier for one in (identity.one, identity.other)):
            other = identity.other if identity.one is dossier else identity.one
            if other.person_id is not None:
                return f"Person:{other.person_id}"
    if dossier.person_id is not None:
        return f"Person:{dossier.person_id}"
    return sorted(dossier.names, key=lambda name: -len(name_words(name)))[0]


def _merge(identity: Identity, people: dict[int, Person]) -> list[dict[str, Any]]:
    """The merge of two known people into the one mentioned more often, unless their usernames or ids differ."""
    if identity.one.person_id is None or identity.other.person_id is None:
        return []
    pair = sorted(
        (people[identity.one.person_id], people[identity.other.person_id]),
        key=lambda person: (person.mention_count, len(person.display_name)),
    )
    source, target = pair
    for mark in ("username", "telegram_id"):
        marks = {name_key(str(getattr(person, mark))) for person in pair if getattr(person, mark)}
        if len(marks) > 1:
            return []
    return [
        {
            "type": "Merged",
            "source_id": source.id,
            "target_id": target.id,
            "reason": identity.sentence,
            "evidence": [identity.line],
        }
    ]


def _join_identities(identities: Sequence[Identity]) -> list[Dossier]:
    """Merges two names into the known one, else the fuller one. Returns the merged dossiers."""
    gone: list[Dossier] = []
    for identity in identities:
        one, other = identity.one, identity.other
        if one.person_id is not None and other.person_id is not None:
            continue
        keep, drop = (one, other) if _fuller(one) >= _fuller(other) else (other, one)
        for name in drop.names:
            keep.add_name(name)
        keep.lines |= drop.lines
        keep.roles |= drop.roles
        keep.said = [*drop.said, *keep.said]
        keep.circle = keep.circle or drop.circle
        keep.username = keep.username or drop.username
        gone.append(drop)
    return gone


def _fuller(dossier: Dossier) -> tuple[bool, int]:
    return dossier.person_id is not None, max((len(name_words(name)) for name in dossier.names), default=0)


def _change(dossier: Dossier, people: dict[int, Person]) -> dict[str, Any] | None:
    if dossier.person_id is None:
        return _added(dossier)
    return _updated(dossier, people[dossier.person_id])


def _added(dossier: Dossier) -> dict[str, Any]:
    display, *aliases = sorted(dossier.names, key=lambda name: -len(name_words(name)))
    person = {
        "display_name": display,
        "aliases": aliases,
        "username": dossier.username,
        "circle": dossier.circle or Circle.OTHER.value,
        "bio": bio_of("", dossier.said),
    }
    return {"type": "Added", "person": person, "evidence": sorted(dossier.lines)}


def _updated(dossier: Dossier, known: Person) -> dict[str, Any] | None:
    """The update of a known person; None if the conversation says nothing new."""
    keys = {name_key(name) for name in known.names}
    new_names = [name for name in dossier.names if name_key(name) not in keys and _is_other_name(name, known)]
    person: dict[str, Any] = {"id": known.id}
    if new_names:
        person["aliases"] = new_names
    if dossier.username and name_key(dossier.username) != name_key(known.username or ""):
        person["username"] = dossier.username
    if dossier.circle and dossier.circle != known.circle.value:
        person["circle"] = dossier.circle
    bio = bio_of(known.bio, dossier.said)
    if bio != bio_of(known.bio, ()):
        person["bio"] = bio
    if len(person) == 1:
        return None
    return {"type": "Updated", "person": person, "evidence": sorted(dossier.lines)}


def _is_other_name(name: str, known: Person) -> bool:
    """Whether a name is an alias: Петровым is none of Петров, nor Иван of Иван Петров; Геля is."""
    words = {word.key for own in known.names for word in name_words(own)}
    bases = {base for own in known.names for word in name_words(own) for base in word.bases}
    return any(word.key not in words and not word.bases & bases for word in name_words(name))
