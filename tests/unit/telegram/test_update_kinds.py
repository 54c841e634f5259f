"""Every kind of update and of message that aiogram knows has a stated outcome, and the documentation tells it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiogram.enums import ContentType, UpdateType
from aiogram.types import Chat, Message

from bot.telegram.intake.update_kinds import CONTENTS, UPDATES, Outcome, Stated
from bot.telegram.message_reader import incoming_of

PAGE = Path(__file__).parents[3] / "docs/processing.md"


def test_each_kind_of_update_has_an_outcome() -> None:
    """A kind that is new in aiogram has none yet, and fails here."""
    assert set(UPDATES) == {one.value for one in UpdateType}


def test_each_kind_of_content_has_an_outcome() -> None:
    """The same for what a message can be; `any` is a filter, no kind."""
    assert set(CONTENTS) == {one.value for one in ContentType} - {"any"}


@pytest.mark.parametrize("stated", [*dict.fromkeys([*UPDATES.values(), *CONTENTS.values()])], ids=lambda one: one.why)
def test_the_documentation_has_the_same_table(stated: Stated) -> None:
    """Each row of the table stands in docs/processing.md."""
    kinds = ", ".join(f"`{kind}`" for kind in stated.kinds)
    assert f"| {stated.outcome} | {kinds} | {stated.why} |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", sorted(set(CONTENTS) - {"unknown", "rich_message"}))
def test_what_is_taken_in_is_what_is_stated(kind: str) -> None:
    """A message of an ignored kind gives neither text nor attachment; each other kind gives one of them."""
    chat = Chat(id=1, type="private")
    message = Message.model_construct(message_id=1, date=datetime.now(UTC), chat=chat, **{kind: _Anything()})
    if kind == "text":
        message = Message(message_id=1, date=datetime.now(UTC), chat=chat, text="Hi")
    incoming = incoming_of(message, 2)
    taken = bool(incoming.readable or incoming.attachments)
    assert taken == (CONTENTS[kind].outcome is not Outcome.IGNORED)


class _Anything:
    """Stands for an object of Telegram's with all fields."""

    user_id = file_size = duration = 1
    file_id = file_unique_id = mime_type = file_name = first_name = last_name = "x"
    title = address = question = "x"
    tasks = options = ()

    def __getitem__(self, number: int) -> _Anything:
        return self
