"""The reranker's reply format."""

from collections.abc import Collection
from typing import Any

from internal.agents.json_reply import read_id, read_object
from internal.agents.model import PersonPick
from internal.agents.prompts import unescaped
from internal.agents.reply_schema import NUMBER, TEXT, array_of, object_of
from internal.errors import ModelReplyInvalid, ModelReplyUnknownIds
from internal.llm.model import ReplySchema

MAX_REASON = 300

REPLY_SCHEMA = ReplySchema("reranker_reply", object_of({"people": array_of(object_of({"id": NUMBER, "reason": TEXT}))}))


def parse(text: str, candidate_ids: Collection[int], max_people: int) -> list[PersonPick]:
    """The picked candidates, best first, each once, at most `max_people`; an empty list is a valid answer.

    Raises ModelReplyUnknownIds if people are named and none of them is a candidate; ModelReplyInvalid if the reply
    cannot be read.
    """
    people = read_object(text, ("people",), bare="people")["people"]
    if not isinstance(people, list):
        raise ModelReplyInvalid("`people` is no array")
    picks: dict[int, PersonPick] = {}
    for item in people:
        person_id, reason = _pick(item)
        if person_id is not None and person_id in candidate_ids:
            picks.setdefault(person_id, PersonPick(person_id, reason))
    if people and not picks:
        raise ModelReplyUnknownIds
    return list(picks.values())[:max_people]


def _pick(item: Any) -> tuple[int | None, str]:
    """An item is an object, or the id alone."""
    if not isinstance(item, dict):
        return read_id(item), ""
    reason = item.get("reason")
    return read_id(item.get("id")), " ".join(unescaped(reason).split())[:MAX_REASON] if isinstance(reason, str) else ""
