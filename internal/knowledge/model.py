"""Episodes: the units in which information arrives. A published fragment of a dialogue is one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

EpisodeSource = Literal["text", "json", "message"]


@dataclass(frozen=True, slots=True)
class Episode:
    """`first_seq`..`last_seq` are the messages of a fragment; its content is theirs and is not stored twice."""

    user_id: int
    id: str
    source: EpisodeSource
    name: str
    content: str
    source_description: str
    source_url: str | None
    reference_time: datetime
    created_at: datetime
    first_seq: int | None = None
    last_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """What one evidence number points to; `text` is None where it is the message's own."""

    n: int
    at: datetime
    text: str | None
    message_id: str | None
