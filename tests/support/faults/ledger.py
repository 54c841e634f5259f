"""The independent ledger: what people wrote and what a model was asked, noted by those who did it, never by the bot.

Nothing here reads the bot's data or uses its code: the verdict compares this with the bot's database and with what the
local Telegram delivered.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

MARK = re.compile(r"q(\d+)q")
"""Stands in every message of a person: no two messages are alike, and a prompt shows which of them it holds."""


@dataclass(slots=True)
class Said:
    """One message that Telegram accepted. `text` is its latest; `number` the one in its mark."""

    user_id: int
    tg_id: int
    number: int
    text: str
    names_friend: bool
    edits: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the model, its reply unlike any other; `numbers` are the messages that its prompt held."""

    reply: str
    numbers: frozenset[int]


@dataclass(slots=True)
class Ledger:
    """Kept in memory by the driver, which outlives every kill; `write` leaves it on disk beside a failed batch."""

    said: dict[tuple[int, int], Said] = field(default_factory=dict)
    commands: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    answers: dict[str, Asked] = field(default_factory=dict)
    people: dict[str, Asked] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def next_number(self) -> int:
        return next(self._numbers)

    def note_said(self, said: Said) -> None:
        self.said[said.user_id, said.tg_id] = said

    def note_edited(self, said: Said, text: str) -> None:
        said.text, said.edits = text, said.edits + 1

    def note_command(self, user_id: int) -> None:
        self.commands[user_id] += 1

    def of_user(self, user_id: int) -> list[Said]:
        """What a person said, in the order in which Telegram numbered it."""
        return [said for (owner, _), said in sorted(self.said.items()) if owner == user_id]

    @property
    def edits(self) -> int:
        return sum(said.edits for said in self.said.values())

    @property
    def updates(self) -> int:
        """How many updates Telegram had for the bot: a message, an edit and a command are one each."""
        return len(self.said) + self.edits + sum(self.commands.values())

    def write(self, path: Path) -> None:
        rows = [asdict(said) for said in self.said.values()]
        rows += [{"command_of": user_id, "count": count} for user_id, count in self.commands.items()]
        rows += [{"reply": a.reply, "numbers": sorted(a.numbers)} for a in (self.answers | self.people).values()]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def numbers_in(text: str) -> frozenset[int]:
    """The messages whose marks a text holds."""
    return frozenset(int(found) for found in MARK.findall(text))
