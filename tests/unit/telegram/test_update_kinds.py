"""Every kind of update and of message that aiogram knows has a stated outcome, and the documentation tells it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from aiogram.enums import ContentType, UpdateType
from aiogram.types import Chat, Message

from bot.telegram.intake.update_kinds import CONTENTS, UPDATES, Outcome
from bot.telegram.message_reader import incoming_of

PAGE = Path(__file__).parents[3] / "docs/processing.md"


def test_each_kind_of_update_has_an_outcome() -> None:
    """A kind that is new in aiogram has none yet, and fails here."""
    assert set(UPDATES) == {one.value for one in UpdateType}


def test_each_kind_of_content_has_an_outcome() -> None:
    """The same for what a message can be; `any` is a filter, no kind."""
    assert set(CONTENTS) == {one.value for one in ContentType} - {"any"}


def test_the_documentation_has_the_same_table() -> None:
    """Each row of the table stands in docs/processing.md."""
    page, stated = PAGE.read_text(encoding="utf-8"), {*UPDATES.values(), *CONTENTS.values()}
    rows = [f"| {one.outcome} | {', '.join(f'`{kind}`' for kind in one.kinds)} | {one.why} |" for one in stated]
    assert [row for row in rows if row not in page] == []


def test_what_is_taken_in_is_what_is_stated() -> None:
    """A message of an ignored kind gives neither text nor attachment; each other kind gives one of them."""
    kinds = set(CONTENTS) - {"unknown", "rich_message"}
    wanted = {kind: CONTENTS[kind].outcome is not Outcome.IGNORED for kind in kinds}
    assert {kind: taken_in(kind) for kind in kinds} == wanted


def taken_in(kind: str) -> bool:
    chat = Chat(id=1, type="private")
    message = Message.model_construct(message_id=1, date=datetime.now(UTC), chat=chat, **{kind: _Anything()})
    if kind == "text":
        message = Message(message_id=1, date=datetime.now(UTC), chat=chat, text="Hi")
    incoming = incoming_of(message, 2)
    return bool(incoming.readable or incoming.attachments)


class _Anything:
    """Stands for an object of Telegram's with all fields."""

    user_id = file_size = duration = 1
    file_id = file_unique_id = mime_type = file_name = first_name = last_name = "x"
    title = address = question = "x"
    tasks = options = ()

    def __getitem__(self, number: int) -> _Anything:
        return self
