"""Reads conversation files in the LoCoMo format: turns by session, and questions with the turns that answer them.

Form and categories: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024.
Sessions are at the top level or under "conversation"; a file may hold a list of conversations, as the public
locomo10.json does. Nothing else of a file is read: no answers, observations, events or summaries.
"""

import contextlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args

from dateutil import parser as written_dates

from internal.errors import LaplacedError
from internal.language.dates.parse import resolve

log = logging.getLogger(__name__)

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

Role = Literal["user", "assistant"]
"""The speaker in a conversation with a bot: its owner, or the bot itself."""

_TURN_TIME: Final = timedelta(minutes=1)
"""Time assumed between two turns of a session: files only give the beginning of a session."""

_SESSION: Final = re.compile(r"session_(\d+)")
_DIA_ID: Final = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
"""The forms found in files: "D8:6", but also "D8:6; D9:17", "D:11:26" and "D30:05"."""

_FIRST_DAY: Final = datetime(2023, 1, 1, 12, tzinfo=UTC)
_DAY_FIRST: Final = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_ASIDE: Final = re.compile(r"\([^)]*\)")
_EPOCH: Final = re.compile(r"\d{9,10}(?:\.\d+)?")


class ConversationsUnreadable(LaplacedError):
    """The file holds no conversations in the LoCoMo format."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said. `caption` describes its picture, empty without one; `at` is in UTC.

    `role` is "user" or "assistant" where the conversation was one with a bot, else None.
    """

    dia_id: str
    session: int
    speaker: str
    text: str
    caption: str
    at: datetime
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `evidence` are the ids of the turns that answer it, each once, empty if the file names none.

    `category` is one of CATEGORIES, the set's own word, or None.
    """

    text: str
    category: int | str | None
    evidence: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation; `file` is the base name of its file. Turns are in order, with the ids of the file."""

    file: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def sessions(self) -> dict[str, int]:
        """The session number of each turn by turn id."""
        return {turn.dia_id: turn.session for turn in self.turns}


def read(paths: Sequence[Path]) -> list[Conversation]:
    """Reads the conversations of all these files in order. Raises ConversationsUnreadable with file and place."""
    return [conversation for path in paths for conversation in _read(path)]


def _read(path: Path) -> list[Conversation]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConversationsUnreadable(f"cannot read {path}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise ConversationsUnreadable(f"{path} is not JSON (line {error.lineno})") from None
    except (ValueError, RecursionError):
        raise ConversationsUnreadable(f"{path} is not JSON") from None
    listed = content if isinstance(content, list) else [content]
    if not listed:
        raise ConversationsUnreadable(f"{path} holds no conversation")
    many = len(listed) > 1
    return [
        _conversation(raw, path.name, f"{path}, conversation {n}" if many else f"{path}")
        for n, raw in enumerate(listed, 1)
    ]


def _conversation(raw: object, file: str, where: str) -> Conversation:
    if not isinstance(raw, dict):
        raise ConversationsUnreadable(f"{where} holds no conversation in the form of LoCoMo")
    inner = raw.get("conversation")
    sessions = inner if isinstance(inner, dict) else raw
    turns = _turns(sessions, where)
    if not turns:
        raise ConversationsUnreadable(f"{where} holds no conversation in the form of LoCoMo: no session has turns")
    questions = raw.get("qa", sessions.get("qa", []))
    if not isinstance(questions, list):
        raise ConversationsUnreadable(f"{where}: qa is no list")
    known = {_normal_id(turn.dia_id): turn.dia_id for turn in turns}
    return Conversation(
        file, turns, tuple(_question(question, known, f"{where}, qa {n}") for n, question in enumerate(questions, 1))
    )


def _turns(sessions: Mapping[str, Any], where: str) -> tuple[Turn, ...]:
    numbers = sorted(int(match[1]) for key in sessions if (match := _SESSION.fullmatch(key)))
    turns: list[Turn] = []
    for number in numbers:
        key = f"session_{number}"
        lines = sessions.get(key) or []
        if not isinstance(lines, list):
            raise ConversationsUnreadable(f"{where}: {key} is no list")
        if lines:
            start = _session_start(
                sessions.get(f"{key}_date_time"), turns[-1].at if turns else None, f"{where}: {key}_date_time"
            )
            turns += [_turn(raw, number, start, n, f"{where}: {key}, turn {n + 1}") for n, raw in enumerate(lines)]
    return tuple(turns)


def _turn(raw: object, session: int, start: datetime, n: int, where: str) -> Turn:
    if not isinstance(raw, dict) or not isinstance(raw.get("dia_id"), str) or not isinstance(_text(raw), str):
        raise ConversationsUnreadable(f"{where} has no dia_id or no text")
    caption, speaker, role = raw.get("blip_caption"), raw.get("speaker"), raw.get("role")
    return Turn(
        dia_id=raw["dia_id"],
        session=session,
        speaker=_storable(speaker) if isinstance(speaker, str) else "",
        text=_storable(_text(raw)),
        caption=_storable(caption) if isinstance(caption, str) else "",
        at=start + n * _TURN_TIME,
        role=next((known for known in get_args(Role) if isinstance(role, str) and role.lower() == known), None),
    )


def _text(raw: Mapping[str, Any]) -> Any:
    """The text of a turn; a picture alone may have null or nothing."""
    return raw.get("text") or ""


def _session_start(stated: object, before: datetime | None, where: str) -> datetime:
    """The beginning of a session: the stated time, or a day after the session before it if none can be read."""
    text = " ".join(_ASIDE.sub(" ", str(stated or "")).split())
    following = before + timedelta(days=1) if before is not None else _FIRST_DAY
    if not text:
        return following
    moment = _moment(text, following)
    if moment is None:
        log.warning("session_time_unreadable", extra={"where": where, "stated": text[:80]})
    return moment or following


def _moment(text: str, near: datetime) -> datetime | None:
    """Parses a written time in any of the three languages, or seconds since 1970; `near` supplies missing parts."""
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(float(text), UTC)
    with contextlib.suppress(ValueError, OverflowError):
        if any(symbol.isdigit() for symbol in text):
            midnight = near.replace(hour=0, minute=0)
            moment = written_dates.parse(text, default=midnight, dayfirst=bool(_DAY_FIRST.search(text)))
            return moment.astimezone(UTC)
    dated = (resolve(text, near, language) for language in ("ru", "uk"))
    return next((one.moment for one in dated if one is not None and one.precision in ("time", "day")), None)


def _question(raw: object, known: Mapping[str, str], where: str) -> Question:
    if not isinstance(raw, dict) or not isinstance(raw.get("question"), str):
        raise ConversationsUnreadable(f"{where} has no question")
    category, tags = raw.get("category"), raw.get("tags")
    return Question(
        text=_storable(raw["question"]),
        category=category if isinstance(category, int | str) else None,
        evidence=_evidence(raw.get("evidence"), known),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
    )


def _evidence(raw: object, known: Mapping[str, str]) -> tuple[str, ...]:
    """The ids of all turns that are named, in any form; a turn that does not exist is kept as evidence never found."""
    entries = raw if isinstance(raw, list) else [raw]
    ids: list[str] = []
    for entry in entries:
        if isinstance(entry, dict):
            ids += _evidence(entry.get("dia_id"), known)
        elif isinstance(entry, list):
            ids += _evidence(entry, known)
        elif isinstance(entry, str):
            dia_ids = [f"D{int(session)}:{int(n)}" for session, n in _DIA_ID.findall(entry)]
            ids += dia_ids or [dia_id for dia_id in [entry.strip()] if dia_id in known]
    return tuple(dict.fromkeys(known.get(dia_id, dia_id) for dia_id in ids))


def _normal_id(dia_id: str) -> str:
    """ "D30:5" for "D30:05"; an id of another form is unchanged."""
    match = _DIA_ID.fullmatch(dia_id.strip())
    return f"D{int(match[1])}:{int(match[2])}" if match else dia_id.strip()


def _storable(text: str) -> str:
    """The text without lone surrogates and NUL, which JSON may hold but no database accepts."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
