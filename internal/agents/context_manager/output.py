"""The context manager's reply format, and its parsing into a snapshot or decisions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal, get_args
from zoneinfo import ZoneInfo

from internal.agents.archivist.reply.fields import line_numbers
from internal.agents.json_reply import read_object
from internal.agents.model import ContextRequest, TranscriptLine, WeighingRequest
from internal.agents.reply_items import ItemReader, as_object, one_line
from internal.agents.reply_schema import NUMBER, TEXT, TEXT_OR_NULL, array_of, object_of, one_of
from internal.dialogue.snapshots.model import PARTS, Part, Snapshot, SnapshotItem, bounded, rests_on
from internal.errors import ModelReplyInvalid, Refusal, Refused
from internal.llm.model import ReplySchema

UNCHANGED: Final = '{"snapshot": null}'
"""The reply without news, which leaves the snapshot unchanged."""

KEYS: Final = ("snapshot", "notifications")

MAX_TEXT: Final = 1000
"""Most characters of a message."""

MAX_REASON: Final = 300

Choice = Literal["now", "later", "merge", "drop"]

_CHOICES: Final[Mapping[str, Choice]] = {
    "now": "now",
    "deliver": "now",
    "later": "later",
    "defer": "later",
    "merge": "merge",
    "merged": "merge",
    "drop": "drop",
    "dropped": "drop",
}
_NUMBER: Final = re.compile(r"\D{0,3}(\d{1,4})\D{0,2}")

_ITEMS: Final = array_of(object_of({"text": TEXT, "from": array_of(NUMBER), "evidence": array_of(NUMBER)}))
_DECISION: Final = object_of(
    {"id": NUMBER, "decision": one_of(get_args(Choice)), "text": TEXT, "until": TEXT_OR_NULL, "reason": TEXT}
)
REPLY_SCHEMA = ReplySchema(
    "context_manager_reply",
    object_of(
        {
            "snapshot": object_of(dict.fromkeys(PARTS, _ITEMS), or_null=True),
            "notifications": array_of(_DECISION, or_null=True),
        }
    ),
)


@dataclass(frozen=True, slots=True)
class SnapshotReply:
    """The new snapshot; `refused` are the refused items."""

    snapshot: Snapshot
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class NotificationDecision:
    """The decision about one notification. `text` is empty if its own words are sent; `until` is aware.

    `by_rules`: it was made by rules, not by a model.
    """

    notification_id: str
    choice: Choice
    reason: str
    text: str = ""
    until: datetime | None = None
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions by the notification's id, for the notifications that the reply names."""

    made: Mapping[str, NotificationDecision]
    refused: tuple[Refusal, ...] = ()


def parse_snapshot(text: str, request: ContextRequest, message_ids: Mapping[int, str]) -> SnapshotReply:
    """The reply as a snapshot within its limits, each item with its source messages.

    `message_ids` are the messages of the transcript's lines, by number. The sources of an item that names neither lines
    nor old items are all the owner's lines and all old items of its part: it is better to forget too much with a
    message than too little. Reasons of refusal: bad_shape, no_text, bad_evidence. Raises ModelReplyInvalid.
    """
    raw = read_snapshot(text)
    if not raw:
        return SnapshotReply(request.snapshot)
    reader = _SnapshotReader(request, message_ids)
    parts = {part: tuple(reader.items(part, raw.get(part))) for part in PARTS}
    by_rules = raw.get("by") == "rules"
    return SnapshotReply(bounded(Snapshot(**parts, by_rules=by_rules)), tuple(reader.refused))


def read_snapshot(text: str) -> dict[str, Any]:
    """The parts of the snapshot; none = unchanged. Raises ModelReplyInvalid if there is no snapshot."""
    raw = read_object(text, KEYS, bare="notifications").get("snapshot")
    if not isinstance(raw, dict) or (raw and not any(part in raw for part in PARTS)):
        raise ModelReplyInvalid("the reply holds no snapshot")
    return raw


class _SnapshotReader(ItemReader):
    def __init__(self, request: ContextRequest, message_ids: Mapping[int, str]) -> None:
        super().__init__()
        self._ids = message_ids
        self._old = request.snapshot
        self._numbered = dict(enumerate(self._old.items, start=1))
        self._lines = {line.number: line for line in request.transcript}

    def items(self, part: Part, raw: object) -> list[SnapshotItem]:
        """The items of one part; a single text is one item."""
        listed = raw if isinstance(raw, list) else [] if raw is None else [raw]
        return self.keep(listed, partial(self._item, part))

    def _item(self, part: Part, raw: object) -> SnapshotItem:
        raw = as_object({"text": raw} if isinstance(raw, str) else raw, "item")
        text = one_line(raw.get("text"), MAX_TEXT)
        if not any(map(str.isalnum, text)):
            raise Refused("no_text", "an item says nothing")
        lines = [self._lines.get(number) for number in line_numbers(raw.get("evidence"), self._lines)]
        old = [self._numbered.get(number) for number in line_numbers(raw.get("from"), self._numbered)]
        said = [line for line in lines if line is not None and line.role == "user"]
        goes_on = [item for item in old if item is not None]
        if (any(lines) or None in lines) and not any(line.owners_word for line in said) and not goes_on:
            raise Refused("bad_evidence", "an item rests on nothing that the owner said")
        if not said and not goes_on:
            said, goes_on = self._likely(part, text)
        at = max([*(line.at for line in said), *(item.at for item in goes_on if not said)])
        ids = [self._ids[line.number] for line in said if line.number in self._ids]
        return SnapshotItem(text, at, rests_on(*(item.sources for item in goes_on), ids))

    def _likely(self, part: Part, text: str) -> tuple[list[TranscriptLine], list[SnapshotItem]]:
        """The sources of an item without evidence: those of the same old item, else all."""
        same = [item for item in self._old.items if item.text.casefold() == text.casefold()]
        if same:
            return [], same
        said, old = [line for line in self._lines.values() if line.owners_word], list(self._old.part(part))
        if not said and not old:
            raise Refused("bad_evidence", "an item rests on nothing that the owner said")
        return said, old


def parse_decisions(text: str, request: WeighingRequest) -> Decisions:
    """The reply as decisions, one for each notification.

    Reasons of refusal: bad_shape, unknown_notification, decided_twice, unknown_decision. Raises ModelReplyInvalid.
    """
    made: dict[str, NotificationDecision] = {}
    reader = ItemReader("decision")
    reader.keep(read_decisions(text), partial(_decide, request, made))
    return Decisions(made, tuple(reader.refused))


def read_decisions(text: str) -> list[Any]:
    """The decisions as written. Raises ModelReplyInvalid if there are none."""
    listed = read_object(text, KEYS, bare="notifications").get("notifications")
    if not isinstance(listed, list):
        raise ModelReplyInvalid("the reply holds no decisions")
    return listed


def _decide(request: WeighingRequest, made: dict[str, NotificationDecision], raw: dict[str, Any]) -> None:
    written = str(raw.get("id")).strip()
    by_id = {one.id: one for one in request.notifications}
    number = _NUMBER.fullmatch(written)
    index = int(number[1]) - 1 if number else -1
    found = by_id.get(written) or (request.notifications[index] if 0 <= index < len(request.notifications) else None)
    if found is None:
        raise Refused("unknown_notification", f"{written[:80]!r} waits for no decision")
    if found.id in made:
        raise Refused("decided_twice", "a notification was decided about already")
    choice = _CHOICES.get(str(raw.get("decision")).strip().casefold())
    if choice is None:
        raise Refused("unknown_decision", f"{str(raw.get('decision'))[:80]!r} is no decision")
    made[found.id] = NotificationDecision(
        found.id,
        choice,
        one_line(raw.get("reason"), MAX_REASON),
        "" if found.kind.fixed else _message(raw.get("text")),
        _moment(raw.get("until"), request.owner.timezone),
        by_rules=raw.get("by") == "rules",
    )


def _message(raw: object) -> str:
    """The text of a message, which may have several lines."""
    lines = [one_line(one, MAX_TEXT) for one in raw.splitlines()] if isinstance(raw, str) else []
    return "\n".join(line for line in lines if line)[:MAX_TEXT].strip()


def _moment(raw: object, timezone: str) -> datetime | None:
    """A time as models write it; without a zone it is in the owner's. None if it is no time."""
    if not isinstance(raw, str):
        return None
    try:
        found = datetime.fromisoformat(raw.strip())
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=ZoneInfo(timezone))
