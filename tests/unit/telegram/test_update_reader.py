"""Updates of a Telegram that is newer or older than the program."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from aiogram import Bot
from pydantic import ValidationError

from bot.shared.rich_text import rich_text
from bot.telegram.intake.update_reader import read_update
from bot.telegram.message_reader import incoming_of
from internal.dialogue.model import ForwardOrigin, Incoming

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
DATE = 1_780_000_000
USER = {"id": 1, "is_bot": False, "first_name": "Olena"}
MESSAGE = {"message_id": 5, "date": DATE, "chat": {"id": 1, "type": "private", "first_name": "Olena"}, "from": USER}


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    built = Bot("7:secret")
    yield built
    await built.session.close()


def read(bot: Bot, message: Mapping[str, Any]) -> Incoming:
    update = read_update(json.dumps({"update_id": 1, "message": message}), bot, AT)
    assert update.message is not None
    return incoming_of(update.message, 7)


def without(name: str, of: Mapping[str, Any] = MESSAGE) -> dict[str, Any]:
    return {key: value for key, value in of.items() if key != name}


@pytest.mark.parametrize(
    "message",
    [
        MESSAGE | {"chat": {"id": 1}},
        MESSAGE | {"chat": {"id": 1, "type": "private", "photo": "?"}},
        MESSAGE | {"from": without("is_bot", USER)},
        MESSAGE | {"from": without("first_name", USER)},
        MESSAGE | {"from": "?"},
        MESSAGE
        | {"entities": [{"type": "bold", "offset": "?", "length": 1}, {"type": "bold", "offset": 0, "length": 1}]},
        MESSAGE | {"reply_to_message": {"message_id": 3}, "link_preview_options": 5, "effect_id": {}},
        without("date"),
        without("from"),
    ],
)
def test_one_missing_or_unknown_field_costs_only_itself(bot: Bot, message: dict[str, Any]) -> None:
    """The words arrive, from whom they are."""
    incoming = read(bot, message | {"text": "Hi"})
    assert (incoming.text, incoming.user_id, incoming.chat_id, incoming.tg_id) == ("Hi", 1, 1, 5)
    assert incoming.timestamp == (datetime.fromtimestamp(DATE, UTC) if "date" in message else AT)


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ({"photo": [{"file_id": "f"}]}, ["other"]),
        ({"poll": {"id": "5", "question": "Who?"}}, ["other"]),
        ({"voice": {"file_id": "f", "file_unique_id": "u", "duration": 1, "speaker": {}}}, ["voice"]),
        ({"rich_message": {"blocks": [{"type": "photo", "photo": [
            {"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]}]}}, ["photo"]),
        ({"rich_message": {"blocks": [{"type": "hologram"}]}}, ["other"]),
        ({"rich_message": "?"}, ["other"]),
    ],
)  # fmt: skip
def test_content_that_cannot_be_read_is_something_all_the_same(
    bot: Bot, content: dict[str, Any], kinds: list[str]
) -> None:
    """So that its sender is answered."""
    assert [found["kind"] for found in read(bot, MESSAGE | content).attachments] == kinds


@pytest.mark.parametrize(
    ("forward", "name"),
    [
        ({"forward_origin": {"type": "oracle", "date": DATE, "oracle": {"name": "Pythia"}}}, "Pythia"),
        ({"forward_origin": {"type": "user", "date": DATE, "sender_user": {"first_name": "Marko"}}}, "Marko"),
        ({"forward_origin": {"type": "hidden_user", "date": DATE}}, "?"),
        ({"forward_origin": "?"}, "?"),
        ({"forward_date": DATE, "forward_sender_name": "M."}, "M."),
        ({"forward_date": DATE}, "?"),
    ],
)
def test_a_forward_is_never_taken_for_the_owners_own_words(bot: Bot, forward: dict[str, Any], name: str) -> None:
    """However its author is given, or if nobody is named."""
    found = read(bot, MESSAGE | {"text": "I am the boss"} | forward).forward
    assert found is not None
    assert (found.kind, found.name, found.user_id) == ("hidden_user", name, None)


def test_an_old_server_names_the_author_of_a_forward_too(bot: Bot) -> None:
    """With the account, as a new one does."""
    author = {"id": 9, "is_bot": False, "first_name": "Marko"}
    found = read(bot, MESSAGE | {"text": "x", "forward_date": DATE, "forward_from": author}).forward
    assert found == ForwardOrigin("user", "Marko", 9, None, datetime.fromtimestamp(DATE, UTC))


@pytest.mark.parametrize("message", [without("message_id"), without("chat"), MESSAGE | {"chat": {}}, {}, "?"])
def test_what_names_no_message_cannot_be_read(bot: Bot, message: Any) -> None:
    """It is put aside by whoever asked."""
    with pytest.raises(ValidationError):
        read_update(json.dumps({"update_id": 1, "message": message}), bot, AT)


def test_a_rich_message_is_read_block_by_block(bot: Bot) -> None:
    """Headings, lists, tables, captions and formulas; quotations are marked; what has no words is left out."""
    blocks = [
        {"type": "heading", "size": 1, "text": "Trip"},
        {"type": "paragraph", "text": ["To ", {"type": "bold", "text": [{"type": "url", "text": "Kyiv"}]}, "!"]},
        {"type": "divider"},
        {"type": "list", "items": [
            {"label": "1.", "blocks": [{"type": "paragraph", "text": text} for text in ("Train", "(night)")]},
            {"label": "2.", "blocks": []},
        ]},
        {"type": "table", "cells": [[{"text": "Day"}, {"text": "Cost"}], [{"text": "1"}, {}]], "caption": "Plan"},
        {"type": "blockquote", "blocks": [{"type": "paragraph", "text": "Go!"}], "credit": "Marko"},
        {"type": "details", "summary": "More", "blocks": [{"type": "mathematical_expression", "expression": "a+b"}]},
        {"type": "photo", "photo": [], "caption": {"text": "View", "credit": "me"}},
        {"type": "hologram", "text": {"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "🎈"}},
    ]  # fmt: skip
    lines = ["Trip", "To Kyiv!", "1. Train", "(night)", "Day | Cost", "1 | ", "Plan", "> Go!", "> Marko", "More", "a+b",
             "View (me)", "🎈"]  # fmt: skip
    assert rich_text({"blocks": blocks}).split("\n") == lines
    assert read(bot, MESSAGE | {"rich_message": {"blocks": blocks}}).text == "\n".join(lines)
