"""Fields and bodies shared by several calls, validated and described once."""

import json
import re
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Annotated, Any, Final, Self, TypeVar
from zoneinfo import ZoneInfo

from fastapi import Path, Query
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)

LARGEST_ID: Final = 2**63 - 1
"""The largest integer of the database."""

LARGEST_COUNT: Final = 2**31 - 1
"""The largest number of rows to skip or return: PostgreSQL takes 32-bit integers for it."""

Owner = Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID, description="Whose memory.")]
"""A user's id in a body."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]

UserId = Annotated[int, Query(ge=-LARGEST_ID, le=LARGEST_ID, description="Whose memory.")]
UserFilter = Annotated[
    int | None,
    Query(
        ge=-LARGEST_ID,
        le=LARGEST_ID,
        alias="user_id",
        description="The owner's user id. Rows of other owners answer 404.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=LARGEST_COUNT)]
Uuid = Annotated[str, Path(max_length=200)]


def fault_words(message: str) -> str:
    """pydantic's message without the prefix that it adds to our own checks."""
    return message.removeprefix("Value error, ")


def _without_nul(text: str) -> str:
    """Removes NUL, which PostgreSQL cannot store."""
    return text.replace("\0", "")


NUL_FREE: Final = AfterValidator(_without_nul)
_A_CHARACTER: Final = r"[^\s\x00]"

Name = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=_A_CHARACTER), NUL_FREE]
Content = Annotated[str, StringConstraints(min_length=1, max_length=500_000, pattern=_A_CHARACTER), NUL_FREE]
Statement = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=_A_CHARACTER), NUL_FREE]
Short = Annotated[str, StringConstraints(max_length=500), NUL_FREE]
Remark = Annotated[str, StringConstraints(max_length=2_000), NUL_FREE]
Url = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\s\x00]*$")]
OwnId = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
NodeId = Annotated[str, StringConstraints(min_length=1, max_length=200)]


def _in_range(group_id: str) -> str:
    if abs(int(group_id)) > LARGEST_ID:
        raise ValueError("the id of a user is expected")
    return group_id


GroupId = Annotated[
    str,
    StringConstraints(pattern=r"^-?[0-9]{1,19}$"),
    AfterValidator(_in_range),
    Field(description="The user's id as a string. Default: the only owner."),
]

GroupQuery = Annotated[GroupId | None, Query()]

_PROPERTIES: Final = "Those of the label or relationship, as the memory-graph specification names them."

MOST_ATTRIBUTES: Final = 8_000
"""The most characters of a fact's attributes, as JSON."""

_DEEPEST: Final = 10


MOST_PROPERTIES: Final = 100_000
"""The most characters of a node's or edge's properties, as JSON."""


def _storable(values: dict[str, Any], most: int = MOST_ATTRIBUTES) -> Any:
    kept = _plain(values, 0)
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
    if len(text) > most:
        raise ValueError(f"at most {most} characters of JSON are expected")
    text.encode()  # half a surrogate pair cannot be stored
    return kept


def _plain(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"at most {_DEEPEST} levels of JSON are expected")
    if isinstance(value, dict):
        return {_without_nul(key): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    return _without_nul(value) if isinstance(value, str) else value


Attributes = Annotated[dict[str, JsonValue], AfterValidator(_storable)]
Properties = Annotated[
    dict[str, JsonValue], AfterValidator(partial(_storable, most=MOST_PROPERTIES)), Field(description=_PROPERTIES)
]

_MOMENT: Final = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})([Tt ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?", re.ASCII
)


def _moment(value: object) -> datetime | date:
    """Parses a date, or a time; one without a zone is UTC. Raises ValueError for anything but ISO 8601."""
    if isinstance(value, date):
        return value
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("an ISO 8601 time or date is expected, such as 2025-11-25T14:30:00Z")
    if found[0] == found["day"]:
        return date.fromisoformat(found[0])
    moment = datetime.fromisoformat(found[0].upper())
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("the year is out of range") from None


Moment = Annotated[
    datetime | date,
    PlainValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time", "description": "ISO 8601; a bare date is its midnight."}),
]


def in_zone(moment: datetime | date | None, zone: ZoneInfo) -> datetime | None:
    """Turns a bare date into midnight in the owner's zone. Raises ValueError at the ends of the calendar."""
    if moment is None or isinstance(moment, datetime):
        return moment
    try:
        return datetime.combine(moment, time(), zone).astimezone(UTC)
    except OverflowError:
        raise ValueError("the year is out of range") from None


class RequestBody(BaseModel):
    """A body whose unknown fields are refused: a misspelt filter would silently find other results."""

    model_config = ConfigDict(extra="forbid")


M = TypeVar("M", bound=BaseModel)


def filled(answer: type[M], shown: object, **more: Any) -> M:
    """An answer with the attributes of `shown`, except those in `more`."""
    return answer(**more, **{name: getattr(shown, name) for name in answer.model_fields.keys() - more.keys()})


class Out(BaseModel):
    """An answer that is read from the attributes of an object."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, shown: Any) -> Self:
        return cls.model_validate(shown)
