"""Sentences of profiles that repeat a forgotten fact: hidden with it, restored by an undo, erased with it.

A sentence knows its lines and a fact knows its own, so sentences on the same lines can be found. Which of them states
the fact is decided by what it names; where that cannot be decided, the sentence stays and the owner is asked.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.flows.visibility import name_traces
from internal.flows.visibility.lines import all_lines
from internal.graph.store import owner_node_id
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.fact_repository import StoredVersion
from internal.knowledge.model import Fact
from internal.knowledge.relations import materially_different, statement_key
from internal.language.facts.overlap import revealing_words, same_stem
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import tokens
from internal.people import hidden_parts, removal_repository, support, support_repository, tombstones
from internal.people.model import Person
from internal.people.support import ProfilePart
from internal.storage import evidence
from internal.storage.evidence import LineRef
from internal.storage.forgetting import forgettings, hidings

_STEM: Final = 3
_ENDING: Final = 3


@dataclass(frozen=True, slots=True)
class Remaining:
    """A visible sentence that may state the fact: its person, its words, and its key among the person's parts."""

    person_id: int
    name: str
    sentence: str
    key: str


@dataclass(frozen=True, slots=True)
class _StatedFact:
    """What identifies a fact: its words, the names of its ends by node id (without the owner's), and its lines."""

    facts: Sequence[str]
    names: dict[str, list[str]]
    lines: set[LineRef]


def certain(connection: Connection, user_id: int, fact_id: str) -> list[tuple[Person, list[ProfilePart]]]:
    """The sentences that certainly state a fact, by person, also hidden ones, without those set by the owner."""
    return [(person, parts) for person, parts, _ in _sentences_stating(connection, user_id, fact_id) if parts]


def remaining(connection: Connection, user_id: int, fact_id: str) -> list[Remaining]:
    """The visible sentences of which it is unclear whether they state a fact."""
    return [
        Remaining(person.id, person.display_name, part.text, part.key)
        for person, _, doubtful in _sentences_stating(connection, user_id, fact_id)
        for part in doubtful
    ]


def _sentences_stating(
    connection: Connection, user_id: int, fact_id: str
) -> Iterator[tuple[Person, list[ProfilePart], list[ProfilePart]]]:
    """Each person with the sentences that state the fact, and those that may."""
    chain = fact_repository.chain(connection, user_id, fact_id)
    if not chain:
        return
    stated = _stated(connection, user_id, chain)
    at_ends = {fact_repository.person_of(connection, user_id, end) for end in stated.names}
    beside = support_repository.people_cited(connection, user_id, stated.lines)
    ids = sorted(one for one in {*at_ends, *beside} if one is not None)
    for stored in removal_repository.profiles(connection, user_id, ids):
        person = hidden_parts.with_hidden_parts(connection, stored)
        loose, bio, shown = support.loose_parts(connection, person), _bio(person), _bio(stored)
        states = {key for key, part in bio.items() if _states(part.text, stated, person, at_end=person.id in at_ends)}
        sure = [bio[key] for key in bio if key in states and key in loose]
        resting = _resting_on(connection, person, stated.lines)
        open_ = person.id in at_ends and not sure
        may = [
            part
            for key, part in shown.items()
            if (key in states and key not in loose)
            or (key in resting - states and (open_ or _hints(part.text, stated, person)))
        ]
        yield person, sure, may


def _bio(person: Person) -> dict[str, ProfilePart]:
    return {key: part for key, part in support.parts(person).items() if part.kind == "bio"}


def _resting_on(connection: Connection, person: Person, lines: set[LineRef]) -> set[str]:
    """The keys of the parts that rest on these lines and no others."""
    found = {
        key: all_lines(connection, person.user_id, line_refs)
        for key, line_refs in support_repository.support_lines(connection, person.user_id, person.id).items()
    }
    return {key for key, line_refs in found.items() if line_refs and line_refs <= lines}


def _stated(connection: Connection, user_id: int, chain: Sequence[StoredVersion]) -> _StatedFact:
    ids = [one.fact.id for one in chain]
    ends = {end for one in chain for end in (one.fact.source, one.fact.target)} - {owner_node_id(user_id)}
    claims = claim_repository.of_edges(connection, user_id, ids)
    line_refs = evidence.supporting_lines(connection, user_id, "claim", [claim.id for claim in claims])
    return _StatedFact(
        facts=[one.fact.fact for one in chain],
        names={end: name_traces.names_by_id(connection, user_id, end) for end in ends},
        lines=all_lines(connection, user_id, line_refs),
    )


def _states(sentence: str, stated: _StatedFact, person: Person, *, at_end: bool) -> bool:
    """Whether a sentence states the fact: the same words, or it names the other end in one end's profile.

    In the profile of a person who only shares the line, it must name both ends.
    """
    if any(not materially_different(sentence, fact) for fact in stated.facts):
        return True
    others = [names for end, names in stated.names.items() if end != person.entity_id]
    enough = len(others) > 0 if at_end else len(others) > 1
    return enough and all(_names_any(sentence, names) for names in others)


def _hints(sentence: str, stated: _StatedFact, person: Person) -> bool:
    """Whether a sentence shares a word with the fact besides the person's own names."""
    own = revealing_words(person.names)
    words = {word for word in revealing_words(stated.facts) if not any(same_stem(word, name) for name in own)}
    return any(same_stem(word, other) for word in words for other in revealing_words([sentence]))


def _names_any(sentence: str, names: Collection[str]) -> bool:
    """Whether a sentence contains one of the names, in any case, form or alphabet."""
    if name_traces.naming(names)(sentence):
        return True
    sounds = {sound for token in tokens(sentence) for sound in skeletons(token.key)}
    return any(_sounds_in(name, sounds) for name in names if name_traces.is_proper(name))


def _sounds_in(name: str, sounds: set[str]) -> bool:
    words = [skeletons(token.key) for token in tokens(name)]
    same = same_stem if len(words) == 1 else _declined
    return bool(words) and all(any(same(one, other) for one in word for other in sounds) for word in words)


def _declined(one: str, other: str) -> bool:
    """Whether two words of a longer name may be forms of the same word: новая, новой."""
    shared = max(_STEM, min(len(one), len(other)) - _ENDING)
    return one[:shared] == other[:shared]


def hide(connection: Connection, user_id: int, person_id: int, part: str, fact_id: str, *, now: datetime) -> None:
    """Hides one undecided sentence, identified by the beginning of its key, together with the fact being forgotten."""
    asked = forgettings.pending_of(connection, user_id, "fact", fact_id)
    if asked is None:
        return
    for person in removal_repository.profiles(connection, user_id, [person_id]):
        keys = [key for key in _bio(person) if key.startswith(part)]
        hidden_parts.hide(connection, user_id, asked.id, person_id, keys, now=now)


def hide_replaced(connection: Connection, before: Fact, after: Fact, *, now: datetime) -> None:
    """Hides the sentences that state a version which a correction replaced, until `show_replaced`.

    With the same other end, a sentence that only names it may still be right: only the old words are hidden then.
    Sentences that state an earlier version which holds again are shown.
    """
    user_id, chain = before.user_id, fact_repository.chain(connection, before.user_id, before.id)
    again = [one.fact.id for one in chain if not materially_different(one.fact.fact, after.fact)]
    show_replaced(connection, user_id, again, now=now)
    moved = (before.source, before.target) != (after.source, after.target)
    replaced = forgettings.replace(connection, user_id, before.id, now=now)
    for person, parts in certain(connection, user_id, before.id):
        keys = [part.key for part in parts if _outdated(part.text, before, after, moved=moved)]
        hidden_parts.hide(connection, user_id, replaced.id, person.id, keys, now=now)


def _outdated(sentence: str, before: Fact, after: Fact, *, moved: bool) -> bool:
    if set(statement_key(sentence).split()) <= set(statement_key(after.fact).split()):
        return False
    return moved or not materially_different(sentence, before.fact)


def show_replaced(connection: Connection, user_id: int, versions: Collection[str], *, now: datetime) -> None:
    """Shows the sentences that state these versions of a fact again: no correction replaces them any more."""
    for replaced in forgettings.replaced(connection, user_id):
        if replaced.ref_id in versions:
            forgettings.put_back(connection, user_id, replaced.id)
            hidden_parts.update_hidden_parts(
                connection, user_id, hidings.end_hiding(connection, user_id, replaced.id)["part"], now=now
            )


def erase(connection: Connection, user_id: int, versions: Sequence[str], key: bytes, now: datetime) -> list[str]:
    """Erases the sentences that state a fact, given by all its versions, and returns them.

    Lines up to now do not bring them back.
    """
    erased = take_out(connection, user_id, versions, versions[-1:], now)
    for replaced in forgettings.replaced(connection, user_id):
        if replaced.ref_id in versions:
            forgettings.put_back(connection, user_id, replaced.id)
            hidings.end_hiding(connection, user_id, replaced.id)
    tombstones.mark_sentences_forgotten(connection, user_id, erased, key, now)
    return erased


def take_out(
    connection: Connection, user_id: int, hidden_for: Collection[str], fact_ids: Iterable[str], now: datetime
) -> list[str]:
    """Erases the sentences that are hidden for one of these ids, or state one of these facts, and returns them."""
    erased = hidden_parts.erase(connection, user_id, hidden_for, now=now)
    for fact_id in fact_ids:
        for person, parts in certain(connection, user_id, fact_id):
            found = [part.text for part in parts]
            hidden_parts.take_out(connection, person, found, now=now)
            erased += found
    return erased


def erase_sentence(
    connection: Connection, user_id: int, person_id: int, part: str, key: bytes | None, now: datetime
) -> list[str]:
    """Erases one undecided sentence and returns it; nothing if it is gone.

    With a `key`, lines up to now do not bring it back.
    """
    erased: list[str] = []
    for person in removal_repository.profiles(connection, user_id, [person_id]):
        erased = sentences_of(person, part)
        hidden_parts.take_out(connection, person, erased, now=now)
    if key is not None:
        tombstones.mark_sentences_forgotten(connection, user_id, erased, key, now)
    return erased


def sentences_of(person: Person, part: str) -> list[str]:
    """The sentences of a profile whose keys begin with `part`."""
    return [one.text for key, one in _bio(person).items() if key.startswith(part)]
