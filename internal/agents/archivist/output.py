"""What the archivist may answer, and how a reply becomes typed proposals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeVar

from internal.agents.model import TranscriptLine
from internal.agents.prompts import unescaped
from internal.agents.reading import read_id, read_object
from internal.errors import ModelReplyInvalid, Refused
from internal.llm.model import ReplySchema
from internal.people.bio import MAX_BIO
from internal.people.model import Circle
from internal.people.naming import MAX_ALIASES, MAX_NAME, clean_username
from internal.people.operations import Added, Merged, Operation, RefusedOperation, Updated

KEYS = ("people_operations", "people", "entities", "facts", "memories")
GROUPS = ("added", "updated", "merged")
MAX_ITEMS = 200
"""Of one kind in one reply: a slice has at most 60 lines, so more is a model that repeats itself."""
MAX_REASON = 300

_LINE = re.compile(r"[#\[(]?(-?\d{1,9})[\])]?")

REPLY_SCHEMA = ReplySchema(
    "archivist_reply", json.loads(files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entity, fact or memory as the model wrote it, with checked evidence (empty = the whole slice)."""

    body: dict[str, Any]
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArchivistReply:
    """Everything one reply proposes, in its order, and what of it was refused."""

    operations: tuple[Operation, ...] = ()
    entities: tuple[Proposal, ...] = ()
    facts: tuple[Proposal, ...] = ()
    memories: tuple[Proposal, ...] = ()
    refused: tuple[RefusedOperation, ...] = ()


def parse(text: str, transcript: Sequence[TranscriptLine], known_ids: Collection[int]) -> ArchivistReply:
    """The reply as typed operations; what breaks a rule is refused one by one and the rest kept.

    `transcript` are the lines the model saw (evidence numbers and Telegram ids are checked against them), `known_ids`
    the people it may name, redirected ids included. Reasons of refusals: bad_shape, unknown_type, no_name, no_id,
    unknown_id, self_merge, unknown_circle, bad_evidence, evidence_out_of_range, assistant_only, no_evidence, too_many.
    Raises ModelReplyInvalid when the reply as a whole cannot be read.
    """
    reply = read_object(text, KEYS, bare="people_operations")
    reader = _Reader(transcript, known_ids)
    return ArchivistReply(
        operations=reader.keep(_operations(reply), reader.operation),
        entities=reader.keep(_array(reply, "entities"), reader.entity),
        facts=reader.keep(_array(reply, "facts"), reader.cited),
        memories=reader.keep(_array(reply, "memories"), reader.cited),
        refused=tuple(reader.refused),
    )


Kept = TypeVar("Kept")


class _Reader:
    """Reads items of one reply against the slice it was asked about."""

    def __init__(self, transcript: Sequence[TranscriptLine], known_ids: Collection[int]) -> None:
        self._lines = {line.number: line for line in transcript}
        self._known_ids = known_ids
        self.refused: list[RefusedOperation] = []

    def keep(self, items: Sequence[Any], read: Callable[[dict[str, Any]], Kept]) -> tuple[Kept, ...]:
        kept: list[Kept] = []
        for item in items[:MAX_ITEMS]:
            try:
                kept.append(read(_object(item)))
            except Refused as refusal:
                self.refused.append(RefusedOperation(refusal.reason, str(refusal)))
        if excess := len(items) - MAX_ITEMS:
            self.refused += [RefusedOperation("too_many", f"a reply may hold {MAX_ITEMS} of a kind")] * max(excess, 0)
        return tuple(kept)

    def operation(self, raw: dict[str, Any]) -> Operation:
        kind = raw.get("type")
        match kind.strip().casefold() if isinstance(kind, str) else kind:
            case "added":
                return self._added(raw)
            case "updated":
                return self._updated(raw)
            case "merged":
                return self._merged(raw)
        raise Refused("unknown_type", f"there is no operation {str(kind)[:MAX_NAME]!r}")

    def entity(self, raw: dict[str, Any]) -> Proposal:
        return Proposal(_body(raw), self._evidence(raw))

    def cited(self, raw: dict[str, Any]) -> Proposal:
        """A fact or a memory: unlike a person it is nothing without the lines that say it."""
        if not (evidence := self._evidence(raw)):
            raise Refused("no_evidence", "facts and memories must cite their lines")
        return Proposal(_body(raw), evidence)

    def _added(self, raw: dict[str, Any]) -> Added:
        person, evidence = _person(raw), self._evidence(raw)
        name = _name(person.get("display_name"))
        if not name:
            raise Refused("no_name", "a new person needs a display_name")
        distinct = raw.get("distinct_from", person.get("distinct_from"))
        return Added(
            display_name=name,
            aliases=_aliases(person.get("aliases"), name),
            username=_username(person.get("username")),
            telegram_id=self._telegram_id(person.get("telegram_id"), evidence),
            circle=_circle(person.get("circle")),
            bio=_prose(person.get("bio"), MAX_BIO),
            evidence=evidence,
            distinct_from=self._known(distinct),
        )

    def _updated(self, raw: dict[str, Any]) -> Updated:
        person, evidence = _person(raw), self._evidence(raw)
        name = _name(person.get("display_name"))
        return Updated(
            person_id=self._person_id(person.get("id", raw.get("id"))),
            display_name=name or None,
            aliases=_aliases(person.get("aliases"), name),
            username=_username(person.get("username")),
            telegram_id=self._telegram_id(person.get("telegram_id"), evidence),
            circle=_circle(person.get("circle")),
            bio=_prose(person.get("bio"), MAX_BIO) or None,
            evidence=evidence,
        )

    def _merged(self, raw: dict[str, Any]) -> Merged:
        source, target = self._person_id(raw.get("source_id")), self._person_id(raw.get("target_id"))
        if source == target:
            raise Refused("self_merge", f"Person:{source} cannot be merged into itself")
        return Merged(source, target, _prose(raw.get("reason"), MAX_REASON), self._evidence(raw))

    def _person_id(self, raw: object) -> int:
        if raw is None:
            raise Refused("no_id", "the operation does not say whom it means")
        person_id = read_id(raw)
        if person_id is None or person_id not in self._known_ids:
            raise Refused("unknown_id", f"nobody has the id {str(raw)[:MAX_NAME]!r}")
        return person_id

    def _known(self, raw: object) -> tuple[int, ...]:
        ids = [read_id(item) for item in (raw if isinstance(raw, list) else [raw])]
        return tuple(dict.fromkeys(found for found in ids if found is not None and found in self._known_ids))

    def _evidence(self, raw: dict[str, Any]) -> tuple[int, ...]:
        """Line numbers in order; empty when absent, which means the whole slice."""
        numbers = raw.get("evidence")
        if numbers is None or numbers == []:
            cited: list[int] = []
        else:
            cited = sorted({_line_number(item) for item in (numbers if isinstance(numbers, list) else [numbers])})
        outside = [number for number in cited if number not in self._lines]
        if outside:
            raise Refused("evidence_out_of_range", f"there is no line {outside[0]}")
        # The bot's own words prove nothing about anybody: it would come to believe what it once made up.
        if not any(self._lines[number].role == "user" for number in cited or self._lines):
            raise Refused("assistant_only", "only the assistant said it")
        return tuple(cited)

    def _telegram_id(self, raw: object, evidence: tuple[int, ...]) -> int | None:
        """The id if the cited lines' own metadata vouch for it: a model's word is not enough."""
        telegram_id = read_id(raw)
        vouched = {known for number in evidence or self._lines for known in self._lines[number].telegram_ids}
        return telegram_id if telegram_id in vouched else None


def _operations(reply: dict[str, Any]) -> list[Any]:
    people = reply.get("people")
    if isinstance(people, dict):
        more = _grouped(people)
    elif people is None or _is_list_of_operations(people) or (people == [] and "people_operations" in reply):
        more = people or []
    else:
        # Such a list is what a reranker answers: taken for "nobody", it would lose what the slice says.
        raise ModelReplyInvalid("`people` holds no operations")
    return _array(reply, "people_operations") + more


def _is_list_of_operations(people: object) -> bool:
    return isinstance(people, list) and any(isinstance(item, dict) and "type" in item for item in people)


def _grouped(people: dict[str, Any]) -> list[Any]:
    """The items of the grouped form, each with its group as its type; the groups' names in any case."""
    groups = {group: [key for key in people if key.strip().casefold() == group] for group in GROUPS}
    if not any(isinstance(people[key], list) for keys in groups.values() for key in keys):
        raise ModelReplyInvalid("`people` holds none of added, updated, merged")
    items = [(group, item) for group, keys in groups.items() for key in keys for item in _array(people, key)]
    return [{**item, "type": group} if isinstance(item, dict) else item for group, item in items]


def _array(reply: dict[str, Any], key: str) -> list[Any]:
    value = reply.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ModelReplyInvalid(f"`{key}` is no array")
    return value


def _object(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise Refused("bad_shape", f"{str(item)[:MAX_NAME]!r} is no object")
    return item


def _body(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key != "evidence"}


def _person(raw: dict[str, Any]) -> dict[str, Any]:
    """The profile part of an operation, nested as asked for or flat as in the grouped form."""
    person = raw.get("person", raw)
    if not isinstance(person, dict):
        raise Refused("bad_shape", "`person` is no object")
    return person


def _line_number(raw: object) -> int:
    if isinstance(raw, str) and (match := _LINE.fullmatch(raw.strip())):
        return int(match[1])
    if isinstance(raw, int | float) and not isinstance(raw, bool) and raw == raw // 1:
        return int(raw)
    raise Refused("bad_evidence", f"{str(raw)[:MAX_NAME]!r} is no line number")


def _prose(raw: object, limit: int) -> str:
    """Text on one line, cut at the last whole word within `limit` characters; absent is empty."""
    if raw is None:
        return ""
    if not isinstance(raw, str):
        raise Refused("bad_shape", f"{str(raw)[:MAX_NAME]!r} is no text")
    text = " ".join(unescaped(raw).split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0]


def _name(raw: object) -> str:
    """A name on one line, or nothing if it has neither letter nor digit. Refused if it is too long to be one."""
    name = _prose(raw, MAX_BIO)
    if len(name) > MAX_NAME:
        raise Refused("bad_shape", "the name is too long to be one")
    return name if any(map(str.isalnum, name)) else ""


def _aliases(raw: object, display_name: str) -> tuple[str, ...]:
    """Other names: each once, never empty (an empty alias would match everybody), never the name itself."""
    if raw is not None and not isinstance(raw, list | str):
        raise Refused("bad_shape", "`aliases` is no array")
    listed = [raw] if isinstance(raw, str) else raw or []
    unique: dict[str, str] = {}
    for item in listed:
        alias = " ".join(unescaped(item).split()) if isinstance(item, str) else ""
        if any(map(str.isalnum, alias)) and len(alias) <= MAX_NAME and alias.casefold() != display_name.casefold():
            unique.setdefault(alias.casefold(), alias)
    return tuple(unique.values())[:MAX_ALIASES]


def _username(raw: object) -> str | None:
    """A Telegram username without @; None if it could not be one."""
    return (clean_username(raw) or None) if isinstance(raw, str) else None


def _circle(raw: object) -> Circle | None:
    name = _prose(raw, MAX_NAME)
    if not name:
        return None
    try:
        return Circle.parse(name)
    except ValueError as error:
        raise Refused("unknown_circle", str(error)) from None
