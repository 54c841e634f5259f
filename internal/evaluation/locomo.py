"""Conversation files in the form of LoCoMo: dialogue turns by session, and questions with the turns that answer them.

Form and categories: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024.
Sessions stand at the top or under "conversation"; a file may hold a list of conversations, as the public locomo10.json
does. Nothing else of a file is read: no answers, observations, events or summaries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from internal.errors import LaplacedError

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_TURN_TIME: Final = timedelta(minutes=1)
"""Between two turns of a session: the files tell only when a session began."""

_SESSION: Final = re.compile(r"session_(\d+)")
_DIA_ID: Final = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
"""As the files have it: "D8:6", but also "D8:6; D9:17", "D:11:26" and "D30:05"."""

_FIRST_DAY: Final = datetime(2023, 1, 1, 12, tzinfo=UTC)
_TIMES: Final = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %B %Y", "%H:%M on %d %B, %Y", "%d %B, %Y")


class ConversationsUnreadable(LaplacedError):
    """The file holds no conversations in the form of LoCoMo."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said. `caption` describes the picture that came with it, empty without one; `at` is in UTC."""

    dia_id: str
    session: int
    speaker: str
    text: str
    caption: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` are the ids of the turns that answer it, each once, none where the file names none.

    `category` is one of CATEGORIES, None where the file has none.
    """

    text: str
    category: int | None
    evidence: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """`file` is the base name of the file it stands in. Turns are in order, under the ids that the file gives them."""

    file: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def sessions(self) -> dict[str, int]:
        """The session of each turn."""
        return {turn.dia_id: turn.session for turn in self.turns}


def read(paths: Sequence[Path]) -> list[Conversation]:
    """The conversations of all these files, in order. Raises ConversationsUnreadable, which names file and place."""
    return [one for path in paths for one in _read(path)]


def _read(path: Path) -> list[Conversation]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConversationsUnreadable(f"cannot read {path}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise ConversationsUnreadable(f"{path} is not JSON (line {error.lineno})") from None
    except (ValueError, RecursionError):
        raise ConversationsUnreadable(f"{path} is not JSON") from None
    listed = whole if isinstance(whole, list) else [whole]
    if not listed:
        raise ConversationsUnreadable(f"{path} holds no conversation")
    many = len(listed) > 1
    return [
        _conversation(one, path.name, f"{path}, conversation {n}" if many else f"{path}")
        for n, one in enumerate(listed, 1)
    ]


def _conversation(raw: object, file: str, place: str) -> Conversation:
    if not isinstance(raw, dict):
        raise ConversationsUnreadable(f"{place} holds no conversation in the form of LoCoMo")
    inner = raw.get("conversation")
    said = inner if isinstance(inner, dict) else raw
    turns = _turns(said, place)
    if not turns:
        raise ConversationsUnreadable(f"{place} holds no conversation in the form of LoCoMo: no session has turns")
    asked = raw.get("qa", said.get("qa", []))
    if not isinstance(asked, list):
        raise ConversationsUnreadable(f"{place}: qa is no list")
    known = {_one_spelling(turn.dia_id): turn.dia_id for turn in turns}
    return Conversation(file, turns, tuple(_question(one, known, f"{place}, qa {n}") for n, one in enumerate(asked, 1)))


def _turns(said: Mapping[str, Any], place: str) -> tuple[Turn, ...]:
    numbers = sorted(int(found[1]) for key in said if (found := _SESSION.fullmatch(key)))
    turns: list[Turn] = []
    for number in numbers:
        key = f"session_{number}"
        lines = said.get(key) or []
        if not isinstance(lines, list):
            raise ConversationsUnreadable(f"{place}: {key} is no list")
        if lines:
            began = _began(said.get(f"{key}_date_time"), turns[-1].at if turns else None, f"{place}: {key}_date_time")
            turns += [_turn(raw, number, began, n, f"{place}: {key}, turn {n + 1}") for n, raw in enumerate(lines)]
    return tuple(turns)


def _turn(raw: object, session: int, began: datetime, n: int, place: str) -> Turn:
    if not isinstance(raw, dict) or not isinstance(raw.get("dia_id"), str) or not isinstance(raw.get("text", ""), str):
        raise ConversationsUnreadable(f"{place} has no dia_id or no text")
    caption, speaker = raw.get("blip_caption"), raw.get("speaker")
    return Turn(
        dia_id=raw["dia_id"],
        session=session,
        speaker=_storable(speaker) if isinstance(speaker, str) else "",
        text=_storable(raw.get("text", "")),
        caption=_storable(caption) if isinstance(caption, str) else "",
        at=began + n * _TURN_TIME,
    )


def _began(told: object, before: datetime | None, place: str) -> datetime:
    """When a session began; one that does not tell it began a day after the one before it."""
    if told is None or not str(told).strip():
        return before + timedelta(days=1) if before is not None else _FIRST_DAY
    text = " ".join(str(told).split())
    for form in _TIMES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConversationsUnreadable(f'{place} is no time such as "1:56 pm on 8 May, 2023"') from None
    return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _question(raw: object, known: Mapping[str, str], place: str) -> Question:
    if not isinstance(raw, dict) or not isinstance(raw.get("question"), str):
        raise ConversationsUnreadable(f"{place} has no question")
    category, tags = raw.get("category"), raw.get("tags")
    return Question(
        text=_storable(raw["question"]),
        category=category if isinstance(category, int) else None,
        evidence=_evidence(raw.get("evidence"), known),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
    )


def _evidence(told: object, known: Mapping[str, str]) -> tuple[str, ...]:
    """Every turn that is named, in whatever form; a turn that does not exist is evidence too, and never found."""
    entries = told if isinstance(told, list) else [told]
    found: list[str] = []
    for entry in entries:
        if isinstance(entry, list):
            found += _evidence(entry, known)
        elif isinstance(entry, str):
            ids = [f"D{int(session)}:{int(n)}" for session, n in _DIA_ID.findall(entry)]
            found += ids or [one for one in [entry.strip()] if one in known]
    return tuple(dict.fromkeys(known.get(one, one) for one in found))


def _one_spelling(dia_id: str) -> str:
    """ "D30:05" is "D30:5"; an id of another form stays as it is."""
    found = _DIA_ID.fullmatch(dia_id.strip())
    return f"D{int(found[1])}:{int(found[2])}" if found else dia_id.strip()


def _storable(text: str) -> str:
    """JSON may hold half a surrogate pair, which no database takes, and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
