"""Exports on disk, as their programs write them, in three languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from internal.import_formats import formats
from internal.import_formats.model import EpisodeDraft, ReadOptions
from internal.import_formats.sources import open_export

OWNER = 500


def read(path: Path, terms: ReadOptions | None = None, format_: str | None = None) -> list[EpisodeDraft]:
    """All episodes of one export; the format is guessed where none is given."""
    with open_export(path) as export:
        return list(formats.drafts(format_ or formats.detect_format(export), [export], terms or ReadOptions(OWNER)))


def dump(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def said(number: int, text: Any, author: int = OWNER, *, minute: int = 0, **more: Any) -> dict[str, Any]:
    """A message of a Telegram export, that many minutes after noon of 2024-03-01 in UTC."""
    unix = 1_709_294_400 + minute * 60
    message = {"id": number, "type": "message", "date": "2024-03-01T14:00:00", "date_unixtime": str(unix)}
    name = "Олена" if author == OWNER else f"User {author}"
    return message | {"from": name, "from_id": f"user{author}", "text": text, "text_entities": []} | more


def chat(*messages: dict[str, Any], **header: Any) -> dict[str, Any]:
    return {"name": "Петро", "type": "personal_chat", "id": 901} | header | {"messages": list(messages)}


def slack(folder: Path, days: dict[str, list[dict[str, Any]]]) -> Path:
    """A Slack export with two people, a channel, and a direct conversation; `days` by their path."""
    people = [
        {"id": "U1", "name": "olena", "profile": {"real_name": "Олена Коваль", "display_name": "olena"}},
        {"id": "U2", "name": "bob", "profile": {"real_name": "Bob Baker", "display_name": ""}},
    ]
    dump(folder / "users.json", people)
    dump(folder / "channels.json", [{"id": "C1", "name": "general"}])
    dump(folder / "dms.json", [{"id": "D1", "members": ["U1", "U2"]}])
    for day, messages in days.items():
        dump(folder / day, messages)
    return folder


def posted(ts: str, text: str, user: str = "U1", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": ts} | more
