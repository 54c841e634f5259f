"""The archivist's reply format, and its parsing into typed proposals."""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from internal.agents.archivist.reply.facts import FactReader
from internal.agents.archivist.reply.fields import aliases_of, cited_lines, name_of, prose
from internal.agents.archivist.reply.memories import MemoryReader, mentioned_entities, without_one_sided
from internal.agents.json_reply import read_id, read_object
from internal.agents.model import TranscriptLine
from internal.agents.reply_items import ItemReader, array, as_object
from internal.errors import ModelReplyInvalid, Refusal, Refused
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.model import ProposedEntity, ProposedFact
from internal.llm.model import ReplySchema
from internal.memory.model import KnownMemory, ProposedMemory
from internal.people.bio import MAX_BIO
from internal.people.model import Circle
from internal.people.names import MAX_NAME, clean_username
from internal.people.operations import Added, Merged, Operation, Updated

KEYS = ("people_operations", "people", "entities", "facts", "memories")
NOTHING = '{"people_operations": []}'
"""The reply to a slice with nothing to keep."""
GROUPS = ("added", "updated", "merged")
_KINDS = {word: group for group in GROUPS for word in (group, group.removesuffix("d"), group.removesuffix("ed"))}
_OF_OPERATIONS = frozenset({"type", "person", "id", "display_name", "name", "source_id"})
"""Keys of operations; each operation has at least one."""
MAX_ITEMS = 200
"""Most items of one kind in a reply: a slice has at most 60 lines, so more come from a repeating model."""
MAX_REASON = 300

DEFAULT = EntityTypes()


def reply_schema(types: EntityTypes = DEFAULT) -> ReplySchema:
    """The JSON schema of the request; entities may have the configured labels."""
    schema = json.loads(files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
    schema["properties"]["entities"]["items"]["properties"]["labels"]["items"]["enum"] = list(types.names)
    return ReplySchema("archivist_reply", schema)


REPLY_SCHEMA = reply_schema()


@dataclass(frozen=True, slots=True)
class ArchivistReply:
    """All proposals of one reply, in its order, and the refused ones.

    `mentioned` are the entities that memories name, each once; most of them are among `entities` or people too.
    """

    operations: tuple[Operation, ...] = ()
    entities: tuple[ProposedEntity, ...] = ()
    facts: tuple[ProposedFact, ...] = ()
    memories: tuple[ProposedMemory, ...] = ()
    mentioned: tuple[ProposedEntity, ...] = ()
    refused: tuple[Refusal, ...] = ()


def read_reply(text: str) -> dict[str, list[Any]]:
    """The lists of the reply. Raises ModelReplyInvalid when the reply as a whole cannot be read."""
    reply = read_object(text, KEYS, bare="people_operations")
    return {"people_operations": _operations(reply)} | {key: array(reply, key) for key in KEYS[2:]}


def parse(
    text: str,
    transcript: Sequence[TranscriptLine],
    known_ids: Collection[int],
    types: EntityTypes = DEFAULT,
    memories: Sequence[KnownMemory] = (),
) -> ArchivistReply:
    """The reply as typed proposals; each that breaks a rule is refused and the others are kept.

    `transcript` are the lines the model saw (evidence numbers and Telegram ids are checked against them), `known_ids`
    the people it may name, redirected ids included, `types` the types of entities, `memories` those it may name by a
    handle. Reasons of refusal: bad_shape, unknown_type, no_name, no_id, unknown_id, self_merge, bad_evidence,
    evidence_out_of_range, assistant_only, no_evidence, too_many; of entities and facts also not_an_entity,
    unknown_label, bad_attributes, relation_name, no_fact, no_end, self_fact, bad_date,
    not_own_words; of memories and their links also wrong_label, self_link, one_sided and those of the graph's registry.
    Raises ModelReplyInvalid when the reply as a whole cannot be read.
    """
    reply = read_reply(text)
    reader = _Reader(transcript, known_ids)
    things = FactReader(reader.lines, known_ids, types)
    remembering = MemoryReader(reader.lines, known_ids, memories)
    operations = reader.keep(reply["people_operations"], reader.operation, MAX_ITEMS)
    entities = reader.keep(reply["entities"], things.entity, MAX_ITEMS)
    facts = reader.keep(reply["facts"], things.fact, MAX_ITEMS)
    kept, one_sided = without_one_sided(reader.keep(reply["memories"], remembering.memory, MAX_ITEMS))
    refused = (*reader.refused, *remembering.refused, *one_sided)
    things_of = (tuple(operations), tuple(entities), tuple(facts), kept)
    return ArchivistReply(*things_of, mentioned_entities(kept), refused)


class _Reader(ItemReader):
    """Reads the items of one reply and checks them against its slice."""

    def __init__(self, transcript: Sequence[TranscriptLine], known_ids: Collection[int]) -> None:
        super().__init__("object")
        self.lines = {line.number: line for line in transcript}
        self._known_ids = known_ids

    def operation(self, raw: dict[str, Any]) -> Operation:
        written = raw.get("type") or ("updated" if _person(raw).get("id") else "added")
        kind = _KINDS.get(str(written).strip().casefold())
        if kind is None:
            raise Refused("unknown_type", f"there is no operation {str(written)[:MAX_NAME]!r}")
        return self._added(raw) if kind == "added" else self._updated(raw) if kind == "updated" else self._merged(raw)

    def _added(self, raw: dict[str, Any]) -> Added:
        person, evidence = _person(raw), cited_lines(raw, self.lines)
        name = name_of(person.get("display_name") or person.get("name"))
        if not name:
            raise Refused("no_name", "a new person needs a display_name")
        distinct = raw.get("distinct_from", person.get("distinct_from"))
        return Added(
            display_name=name,
            aliases=aliases_of(person.get("aliases"), name),
            username=self._username(person.get("username"), evidence),
            telegram_id=self._telegram_id(person.get("telegram_id"), evidence),
            circle=_circle(person.get("circle"), Circle.OTHER),
            bio=prose(person.get("bio"), MAX_BIO),
            evidence=evidence,
            distinct_from=self._known(distinct),
        )

    def _updated(self, raw: dict[str, Any]) -> Updated:
        person, evidence = _person(raw), cited_lines(raw, self.lines)
        name = name_of(person.get("display_name") or person.get("name"))
        return Updated(
            person_id=self._person_id(person.get("id", raw.get("id"))),
            display_name=name or None,
            aliases=aliases_of(person.get("aliases"), name),
            username=self._username(person.get("username"), evidence),
            telegram_id=self._telegram_id(person.get("telegram_id"), evidence),
            circle=_circle(person.get("circle"), None),
            bio=prose(person.get("bio"), MAX_BIO) or None,
            evidence=evidence,
        )

    def _merged(self, raw: dict[str, Any]) -> Merged:
        source, target = self._person_id(raw.get("source_id")), self._person_id(raw.get("target_id"))
        if source == target:
            raise Refused("self_merge", f"Person:{source} cannot be merged into itself")
        return Merged(source, target, prose(raw.get("reason"), MAX_REASON), cited_lines(raw, self.lines))

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

    def _telegram_id(self, raw: object, evidence: tuple[int, ...]) -> int | None:
        """The id if it is in the cited lines' metadata: a model's word is not enough."""
        telegram_id = read_id(raw)
        confirmed = {known for number in evidence or self.lines for known in self.lines[number].telegram_ids}
        if telegram_id is not None and telegram_id not in confirmed:
            self._drop(telegram_id)
        return telegram_id if telegram_id in confirmed else None

    def _username(self, raw: object, evidence: tuple[int, ...]) -> str | None:
        """A Telegram username without @ if the cited lines contain it; None if it could not be one."""
        username = (clean_username(raw) or None) if isinstance(raw, str) else None
        cited = [self.lines[number] for number in evidence or self.lines]
        said = "\n".join(f"{line.text}\n{line.quoted}\n{line.forwarded_from}\n{line.speaker}" for line in cited)
        if username is None or re.search(rf"(?<!\w){username}(?!\w)", said, re.IGNORECASE):
            return username
        self._drop(username)
        return None

    def _drop(self, made_up: object) -> None:
        self.refused.append(Refusal("username_not_in_evidence", f"nobody wrote {made_up!r}"))


def _operations(reply: dict[str, Any]) -> list[Any]:
    people = reply.get("people")
    if isinstance(people, dict):
        more = _grouped(people)
    elif people is None or _is_list_of_operations(people) or (people == [] and "people_operations" in reply):
        more = people or []
    else:
        # Such a list is a reranker's answer: read as "nobody", it would lose the content of the slice.
        raise ModelReplyInvalid("`people` holds no operations")
    operations = array(reply, "people_operations") + more
    if operations and all(isinstance(item, dict) and not _OF_OPERATIONS & item.keys() for item in operations):
        raise ModelReplyInvalid("none of `people_operations` is an operation")
    return operations


def _is_list_of_operations(people: object) -> bool:
    return isinstance(people, list) and any(isinstance(item, dict) and "type" in item for item in people)


def _grouped(people: dict[str, Any]) -> list[Any]:
    """The items of the grouped form, each with its group as its type; the groups' names in any case."""
    groups = {group: [key for key in people if _KINDS.get(key.strip().casefold()) == group] for group in GROUPS}
    if not any(isinstance(people[key], list) for keys in groups.values() for key in keys):
        raise ModelReplyInvalid("`people` holds none of added, updated, merged")
    items = [(group, item) for group, keys in groups.items() for key in keys for item in array(people, key)]
    return [{**item, "type": group} if isinstance(item, dict) else item for group, item in items]


def _person(raw: dict[str, Any]) -> dict[str, Any]:
    """The profile part of an operation, nested as requested or flat as in the grouped form."""
    return as_object(raw.get("person", raw), "profile")


def _circle(raw: object, unknown: Circle | None) -> Circle | None:
    """The circle, or `unknown` for another word; None leaves a known person's circle unchanged."""
    try:
        return Circle.parse(raw) if isinstance(raw, str) and raw.strip() else None
    except ValueError:
        return unknown
