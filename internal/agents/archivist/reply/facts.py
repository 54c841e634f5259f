"""Parses the entities and facts of a reply: their names, their statements and the lines that support them."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from internal.agents.archivist.reply.fields import aliases_of, cited_lines, name_of, prose
from internal.agents.json_reply import read_id
from internal.agents.model import TranscriptLine
from internal.errors import Refused
from internal.knowledge.entities.types import EntityTypes, checked_attributes
from internal.knowledge.model import OWNER_NODE, ProposedEntity, ProposedFact
from internal.knowledge.relations import relation_name
from internal.language.text.spelling import name_key, words
from internal.people.names import MAX_NAME

MAX_SUMMARY = 1_000
MAX_FACT = 500
MAX_DATE = 100
RELEVANCE = range(1, 6)

OWNER_WORDS = {"the user", "the owner"} | words(
    "user owner i me myself self я пользователь пользовательница владелец користувач користувачка власник"
)
"""Names that models use for the owner, against their instructions."""

PERSON_ID = re.compile(r"\[?\s*person\s*:\s*(\d{1,19})\s*\]?(?:\s.*)?", re.IGNORECASE | re.DOTALL)


class FactReader:
    """Reads entities and facts and checks them against the slice. Every method raises Refused."""

    def __init__(self, lines: Mapping[int, TranscriptLine], known_ids: Collection[int], types: EntityTypes) -> None:
        self._lines, self._known_ids, self._types = lines, known_ids, types

    def entity(self, raw: dict[str, Any]) -> ProposedEntity:
        """Reads an entity. Refuses people and the owner, who have other places in a reply."""
        name = name_of(raw.get("name"))
        if not name:
            raise Refused("no_name", "an entity needs a name")
        if name_key(name) in OWNER_WORDS or PERSON_ID.fullmatch(name):
            raise Refused("not_an_entity", f"{name!r} is a person, not an entity")
        labels = self._types.labels(_texts(raw.get("labels", raw.get("type"))))
        return ProposedEntity(
            name=name,
            labels=labels,
            summary=prose(raw.get("summary"), MAX_SUMMARY),
            aliases=aliases_of(raw.get("aliases"), name),
            attributes=checked_attributes(raw.get("attributes") or None, labels, self._types),
            relevance=_relevance(raw.get("relevance")),
            evidence=self._said(cited_lines(raw, self._lines)),
        )

    def fact(self, raw: dict[str, Any]) -> ProposedFact:
        source, target = self._end(raw, "source"), self._end(raw, "target")
        if name_key(source) == name_key(target):
            raise Refused("self_fact", "a fact has two different ends")
        relation = relation_name(prose(raw.get("relation", raw.get("name")), MAX_FACT))
        fact = prose(raw.get("fact"), MAX_FACT)
        if not fact:
            raise Refused("no_fact", f"{relation} is not put into words")
        return ProposedFact(
            source=source,
            relation=relation,
            target=target,
            fact=fact,
            valid_at=_date(raw.get("valid_at")),
            invalid_at=_date(raw.get("invalid_at")),
            entity_types=self._entity_types(raw.get("entity_types")),
            attributes=checked_attributes(raw.get("attributes") or None, (), self._types),
            evidence=self._fact_evidence(raw, source, target),
        )

    def _end(self, raw: dict[str, Any], key: str) -> str:
        """OWNER_NODE, `Person:42` of a known person, or a name."""
        value = raw.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._person(str(value).removesuffix(".0"))
        name = name_of(value)
        if not name:
            raise Refused("no_end", f"the fact has no {key}")
        if name_key(name) in OWNER_WORDS:
            return OWNER_NODE
        if match := PERSON_ID.fullmatch(name):
            return self._person(match[1])
        return self._person(name) if name.isdecimal() and read_id(name) in self._known_ids else name

    def _person(self, raw: str) -> str:
        person_id = read_id(raw)
        if person_id is None or person_id not in self._known_ids:
            raise Refused("unknown_id", f"nobody has the id {raw[:MAX_NAME]!r}")
        return f"Person:{person_id}"

    def _fact_evidence(self, raw: dict[str, Any], source: str, target: str) -> tuple[int, ...]:
        """The lines that support a fact; a fact about the owner needs his own words: "I" in a forward is its author."""
        cited = self._said(cited_lines(raw, self._lines))
        if not cited:
            raise Refused("no_evidence", "a fact must cite its lines")
        if OWNER_NODE not in (source, target):
            return cited
        own = tuple(number for number in cited if self._lines[number].owners_word)
        if not own:
            raise Refused("not_own_words", "nothing the owner said himself is cited for what it says of him")
        return own

    def _said(self, cited: tuple[int, ...]) -> tuple[int, ...]:
        """The cited lines without the assistant's, which are no evidence."""
        return tuple(number for number in cited if self._lines[number].role == "user")

    def _entity_types(self, raw: object) -> dict[str, str]:
        """The known types by folded name; an unknown type is left out and the fact stays."""
        if not isinstance(raw, dict):
            return {}
        named = {name_key(str(name)): next(iter(_texts(value)), "") for name, value in raw.items()}
        return {name: known.name for name, written in named.items() if (known := self._types.find(written))}


def _texts(raw: object) -> list[str]:
    if raw is not None and not isinstance(raw, str | list):
        raise Refused("bad_shape", f"{str(raw)[:MAX_NAME]!r} is no list of types")
    listed = [raw] if isinstance(raw, str) else raw or []
    return [item.strip() for item in listed if isinstance(item, str) and item.strip()]


def _relevance(raw: object) -> int | None:
    """A relevance from 1 to 5; a share such as 0.8 counts as a part of 5, other values are left out."""
    if isinstance(raw, float) and 0 < raw < 1:
        return max(1, round(raw * RELEVANCE[-1]))
    number = read_id(raw)
    return number if number in RELEVANCE else None


def _date(raw: object) -> str | None:
    """A date as it was written; a bare year may come as a number."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if raw is not None and (not isinstance(raw, str) or len(raw) > MAX_DATE):
        raise Refused("bad_date", f"{str(raw)[:MAX_NAME]!r} is no date")
    return (raw or "").strip() or None
