"""Names of one thing in the texts about others: in facts, descriptions and bios."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from internal.access import repository as users
from internal.flows.visibility.lines import texts_of
from internal.graph import store
from internal.graph.model import Node, NodeFilter
from internal.graph.store import item_kind, owner_node_id
from internal.knowledge import fact_repository, service as knowledge
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.fact_repository import StoredVersion
from internal.knowledge.relations import materially_different
from internal.language.facts.overlap import reveals
from internal.language.names import forms
from internal.language.text.declension import written_forms
from internal.language.text.spelling import name_key
from internal.people import removal_repository, repository as people, support
from internal.people.model import Person
from internal.storage import evidence, search_items
from internal.storage.forgetting import traces

_SHORTEST = 3
"""The shortest name, in letters, that is searched for in texts about others."""

_THINGS = ("Entity", "Preference", "Topic")
_PAGE = 500
_WORD = re.compile(r"[^\W\d_]+")


def names_of(node: Node) -> list[str]:
    """The names of a thing, its own name first."""
    return [name for name in (node.name, *node.properties.get("aliases", ())) if name]


def names_by_id(connection: Connection, user_id: int, node_id: str) -> list[str]:
    """The names of a thing, hidden or not; for a person also all names of the profile."""
    node, person = store.get_node(connection, user_id, node_id, hidden=True), _person_of(connection, user_id, node_id)
    return list(dict.fromkeys([*(names_of(node) if node else ()), *(person.names if person else ())]))


def words_of(names: Iterable[str]) -> set[str]:
    """The names of people, and each word of them that can stand for the whole: a surname, a first name."""
    words = {word for name in names for word in _WORD.findall(name) if len(word) >= _SHORTEST}
    return {*names, *words}


def is_proper(name: str) -> bool:
    """Whether a name is a proper one, not a common word: it has a capital letter or a digit."""
    return any(letter.isupper() or letter.isdigit() for letter in name)


def names_of_others(connection: Connection, user_id: int, person_ids: Collection[int]) -> list[str]:
    """The names of the owner and of known people other than these."""
    others = [one for one in people.listing(connection, user_id) if one.id not in person_ids]
    return [users.get(connection, user_id).name, *(name for person in others for name in person.names)]


def own_names(names: Iterable[str], others: Sequence[str]) -> list[str]:
    """The forgotten person's names that nobody else has: of two Annas, the other's name stays."""
    return [name for name in names if not any(map(naming([name]), others))]


def facts_naming(connection: Connection, user_id: int, holds: traces.Holds) -> list[str]:
    """The ids of facts whose words, in any version, contain a name."""
    return [fact_id for fact_id, words in fact_repository.all_words(connection, user_id) if holds(words)]


def things_named_after(connection: Connection, user_id: int, holds: traces.Holds) -> list[str]:
    """The ids of things, except people, whose own name contains a forgotten name."""
    return [node.id for node in _visible_things(connection, user_id) if holds(node.name)]


def clear_namings(connection: Connection, user_id: int, holds: traces.Holds, now: datetime) -> int:
    """Removes descriptions and aliases of things, and parts of profiles, that contain a name. Returns how many."""
    cleared = sum(_clear(connection, node, holds, now) for node in _visible_things(connection, user_id))
    for person in people.listing(connection, user_id):
        parts = [part for part in support.loose_parts(connection, person).values() if holds(part.text)]
        cleared += len(support.take_out(connection, person, parts, now))
    return cleared


def names_at(connection: Connection, user_id: int, versions: Sequence[StoredVersion]) -> dict[str, str]:
    """The names of the things at the ends of these facts, except the owner's; read before the facts are erased."""
    ends = {end for one in versions for end in (one.fact.source, one.fact.target)} - {owner_node_id(user_id)}
    return fact_repository.names_of(connection, user_id, ends)


def clear_retellings(
    connection: Connection,
    user_id: int,
    ends: Collection[tuple[str, str]],
    names: Mapping[str, str],
    facts: Sequence[str],
    now: datetime,
) -> int:
    """Removes sentences that repeat a fact from bios and descriptions of its ends (node ids). Returns their number.

    They name the other end (`names` by node id), or state the same.
    """
    cleared = 0
    for source, target in ends:
        for node_id, other in ((source, target), (target, source)):
            holds = _states_fact(facts, [names[other]] if other in names else [])
            node = store.get_node(connection, user_id, node_id)
            person = _person_of(connection, user_id, node_id)
            if person is not None:
                parts = [
                    part
                    for part in support.loose_parts(connection, person).values()
                    if part.kind == "bio" and holds(part.text)
                ]
                cleared += len(support.take_out(connection, person, parts, now))
            elif node is not None:
                cleared += _clear(connection, node, holds, now, aliases=False)
    return cleared


def clear_names(
    connection: Connection,
    user_id: int,
    node_ids: Collection[str],
    lost: Mapping[str, Collection[str]],
    said: Sequence[str],
    now: datetime,
) -> int:
    """Removes names from remaining things that only these erased lines gave them. Returns the number of things.

    `lost` are the keys of names that these lines supported, by node id. A name of unknown origin, or that others use
    too, is removed if none of the remaining lines and facts of its thing contains its words.
    """
    cleared = 0
    for node in store.nodes_by_ids(connection, user_id, {*node_ids, *lost}).values():
        if fact_repository.person_of(connection, user_id, node.id) is not None:
            continue  # a person's names have their own lines
        search_items.forget_words(connection, user_id, item_kind(node.label), node.id)
        left = _left_to(connection, user_id, node.id)
        cleared += knowledge.drop_names(
            connection,
            user_id,
            node,
            lost.get(node.id, ()),
            now=now,
            gives_away=partial(reveals, hidden=said, left=left),
        )
    return cleared


def _left_to(connection: Connection, user_id: int, node_id: str) -> list[str]:
    line_refs = evidence.supporting_lines(connection, user_id, "entity", [node_id])
    versions = claim_repository.at_nodes(connection, user_id, [node_id])
    return [*texts_of(connection, user_id, line_refs), *(one.fact for one in versions)]


def _clear(connection: Connection, node: Node, holds: traces.Holds, now: datetime, *, aliases: bool = True) -> int:
    """Empties the description unless the owner set it, and drops the aliases, if they hold a trace."""
    changes: dict[str, object] = {}
    description = node.properties.get("description")
    if description and not node.owner_set("description") and holds(description):
        changes["description"] = None
    names = node.properties.get("aliases", [])
    if aliases and any(map(holds, names)):
        changes["aliases"] = [name for name in names if not holds(name)]
    if changes:
        search_items.forget_words(connection, node.user_id, item_kind(node.label), node.id)
        store.update_node(connection, node.user_id, node.id, changes, now=now)
    return len(changes)


def naming_person(names: Collection[str], others: Collection[str]) -> traces.Holds:
    """A test for texts that name a person like `naming`, or in any form by which the search finds people.

    Forms that fit one of the `others` equally well are left out.
    """
    return traces.either(naming(names), forms.naming(names, others))


def naming(names: Iterable[str], *, shortest: int = _SHORTEST) -> traces.Holds:
    """A test for texts with one of these names, in any form; names with fewer letters than `shortest` are ignored."""
    long = [name for name in names if len(name.strip()) >= shortest]
    endings = traces.name_pattern(long)
    cases = [r"\W+".join(map(_cases, _WORD.findall(name_key(name)))) for name in long]
    declined = re.compile(rf"(?<!\w)(?:{'|'.join(filter(None, cases)) or '(?!)'})(?!\w)")
    return lambda text: endings(text) or declined.search(text.casefold().replace("ё", "е")) is not None


def _cases(word: str) -> str:
    return f"(?:{'|'.join(map(re.escape, written_forms(word)))})"


def _states_fact(facts: Sequence[str], names: Sequence[str]) -> traces.Holds:
    named = naming(names)
    return lambda text: named(text) or any(not materially_different(text, fact) for fact in facts)


def _visible_things(connection: Connection, user_id: int) -> list[Node]:
    """All visible things, except the owner and those with a profile."""
    wanted, found = NodeFilter(labels=_THINGS), list[Node]()
    while page := store.nodes(connection, user_id, wanted, limit=_PAGE, offset=len(found)):
        found += page
    return [
        node
        for node in found
        if node.id != owner_node_id(user_id) and fact_repository.person_of(connection, user_id, node.id) is None
    ]


def _person_of(connection: Connection, user_id: int, node_id: str) -> Person | None:
    person_id = fact_repository.person_of(connection, user_id, node_id)
    profiles = [] if person_id is None else removal_repository.profiles(connection, user_id, [person_id])
    return profiles[0] if profiles else None
