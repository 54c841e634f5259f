"""Telegram Desktop's result.json: one chat or all, and everything a message can hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.agents.export_files import OWNER, chat, dump, read, said

from internal.import_formats import telegram
from internal.import_formats.model import ReadOptions, Unreadable
from internal.knowledge.model import Segment


def segments(path: Path, terms: ReadOptions | None = None) -> list[Segment]:
    return [segment for draft in read(path, terms) for segment in draft.segments]


def test_a_personal_chat_becomes_an_episode(tmp_path: Path) -> None:
    """Who said what and when; the owner's own words are marked as such."""
    path = dump(
        tmp_path / "result.json",
        chat(
            said(1, "Привіт! Ти вже у Львові?"),
            said(2, "Да, переехал вчера", 901, minute=3),
            said(3, "Great, see you on Monday", minute=5),
        ),
    )
    [draft] = read(path)
    assert (draft.name, draft.source_description) == ("Петро 2024-03-01 12:00", "Telegram chat Петро")
    assert (draft.source_url, draft.place) == (None, "Петро")
    assert draft.segments == (
        Segment(
            n=1,
            at=datetime(2024, 3, 1, 12, tzinfo=UTC),
            text="Привіт! Ти вже у Львові?",
            message_id=None,
            speaker="Олена",
            own=True,
            key="telegram:user901:1",
        ),
        Segment(
            n=2,
            at=datetime(2024, 3, 1, 12, 3, tzinfo=UTC),
            text="Да, переехал вчера",
            message_id=None,
            speaker="User 901",
            own=False,
            key="telegram:user901:2",
        ),
        Segment(
            n=3,
            at=datetime(2024, 3, 1, 12, 5, tzinfo=UTC),
            text="Great, see you on Monday",
            message_id=None,
            speaker="Олена",
            own=True,
            key="telegram:user901:3",
        ),
    )


def test_all_chats_are_read_but_for_secrets_and_this_bot(tmp_path: Path) -> None:
    """Left chats too; Telegram's own chat has login codes, and what was said to this bot is in the log already."""
    whole = {
        "about": "Here is the data you requested.",
        "personal_information": {"user_id": OWNER, "first_name": "Олена"},
        "contacts": {"about": "", "list": [{"first_name": "Петро", "phone_number": "+380"}]},
        "chats": {
            "about": "This page lists all chats.",
            "list": [
                chat(said(1, "раз")),
                chat(said(1, "code 12345", 777000), name="Telegram", id=777000),
                chat(said(1, "hi", 42), type="bot_chat", id=42, name="Laplaced"),
                {"type": "saved_messages", "id": OWNER, "messages": [said(5, "нотатка для себе")]},
                chat(said(7, "два", 3), type="private_supergroup", id=1500, name="Команда"),
            ],
        },
        "left_chats": {"about": "", "list": [chat(said(9, "три", 3), type="public_channel", id=1600, name="Новини")]},
    }
    terms = ReadOptions(OWNER, own_bot=42)
    found = segments(dump(tmp_path / "result.json", whole), terms)
    assert [(part.text, part.key, part.url) for part in found] == [
        ("раз", "telegram:user901:1", None),
        ("нотатка для себе", f"telegram:user{OWNER}:5", None),
        ("два", "telegram:channel1500:7", "https://t.me/c/1500/7"),
        ("три", "telegram:channel1600:9", "https://t.me/c/1600/9"),
    ]
    assert terms.skipped == {"of Telegram itself": 1, "with this bot": 1}


def test_only_the_chats_asked_for_are_read(tmp_path: Path) -> None:
    """By name, whatever its case, or by id."""
    chats = [chat(said(1, "a")), chat(said(2, "b"), name="Мама", id=902), chat(said(3, "c"), name="Work", id=903)]
    path = dump(tmp_path / "result.json", {"chats": {"list": chats}})
    terms = ReadOptions(OWNER, chats=frozenset({"мама", "903"}))
    assert [part.text for part in segments(path, terms)] == ["b", "c"]
    assert terms.skipped == {"of other chats": 1}


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"text": ["Дивись ", {"type": "bold", "text": "сюди"}, "!"]}, "Дивись сюди!"),
        ({"text": [{"type": "text_link", "text": "тут", "href": "https://x.org"}]}, "тут (https://x.org)"),
        ({"text": [{"type": "link", "text": "https://x.org"}]}, "https://x.org"),
        ({"text": "", "text_entities": [{"type": "plain", "text": "лише сутності"}]}, "лише сутності"),
        ({"photo": "photos/1.jpg", "text": "Ми на морі"}, "Ми на морі\n[photo]"),
        ({"text": "", "media_type": "voice_message", "file": "v.ogg"}, "[voice message]"),
        ({"text": "", "media_type": "sticker", "file": "s.webp", "sticker_emoji": "🎂"}, "[sticker 🎂]"),
        ({"text": "", "file": "f", "file_name": "договор.pdf"}, "[file договор.pdf]"),
        ({"text": "", "contact_information": {"first_name": "Иван", "last_name": "Петров"}}, "[contact Иван Петров]"),
        (
            {"text": "", "location_information": {"latitude": 50.4, "longitude": 30.5}, "place_name": "Офіс"},
            "[location Офіс, 50.4, 30.5]",
        ),
        (
            {"text": "", "poll": {"question": "Коли?", "answers": [{"text": "завтра"}, {"text": "ніколи"}]}},
            "[poll Коли?: завтра | ніколи]",
        ),
        ({"text": "змінено", "edited": "2024-03-02T00:00:00", "edited_unixtime": "1709330400"}, "змінено"),
        ({"text": "відповідь", "reply_to_message_id": 1}, "[reply to an earlier message] відповідь"),
        (
            {"text": "відповідь", "reply_to_message_id": 1, "reply_to_peer_id": "user5"},
            "[reply to a message of another chat] відповідь",
        ),
        ({"text": "half \ud83d surrogate\x00"}, "half ? surrogate"),
    ],
)
def test_what_a_message_holds_is_told_in_words(tmp_path: Path, more: dict[str, Any], text: str) -> None:
    """Formatted text, media, contacts, places, polls; an edited message as it is now, at the time it was sent."""
    path = tmp_path / "result.json"
    path.write_text(json.dumps(chat(said(2, "") | more)), encoding="utf-8")
    [found] = segments(path)
    assert (found.text, found.at) == (text, datetime(2024, 3, 1, 12, tzinfo=UTC))


def test_a_reply_tells_what_it_answers(tmp_path: Path) -> None:
    """Whose message and when it was sent, in the user's zone; not its words, which are not the owner's own."""
    path = dump(
        tmp_path / "result.json",
        chat(
            said(1, "Ты переезжаешь в Берлин?", 901),
            said(2, "Кава?", minute=2),
            said(3, "Нет, в Вену", minute=3, reply_to_message_id=1),
        ),
    )
    answer = segments(path, ReadOptions(OWNER, zone=ZoneInfo("Europe/Kyiv")))[-1]
    assert (answer.text, answer.own) == ("[reply to User 901, 2024-03-01 14:00] Нет, в Вену", True)


def test_only_so_many_messages_are_remembered_for_their_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply to an older one says that it is one; memory stays bounded however long a chat is."""
    monkeypatch.setattr(telegram, "MAX_RECENT", 2)
    early = [said(number, f"слово {number}", minute=number) for number in (1, 2, 3)]
    late = [said(number, "так", minute=number, reply_to_message_id=number - 3) for number in (4, 5)]
    texts = [part.text for part in segments(dump(tmp_path / "result.json", chat(*early, *late)))]
    assert texts[3] == "[reply to an earlier message] так"
    late_answer = [said(6, "ні", minute=6, reply_to_message_id=5)]
    assert segments(dump(tmp_path / "result.json", chat(*early, *late, *late_answer)))[-1].text == (
        "[reply to Олена, 2024-03-01 12:05] ні"
    )


def test_forwards_are_their_authors_words(tmp_path: Path) -> None:
    """Never the owner's own, even if he forwards himself; a hidden author is somebody still."""
    path = dump(
        tmp_path / "result.json",
        chat(
            said(1, "Я переезжаю в Берлин", forwarded_from="Иван Петров"),
            said(2, "чуже", minute=1, forwarded_from=None),
            said(3, "своє", minute=2),
        ),
    )
    assert [(part.own, part.forwarded_from) for part in segments(path)] == [
        (False, "Иван Петров"),
        (False, "an unknown author"),
        (True, None),
    ]


def test_what_is_no_message_is_counted(tmp_path: Path) -> None:
    """Service messages, empty ones and unreadable ones are left out, each by its name."""
    path = dump(
        tmp_path / "result.json",
        chat(
            {"id": 1, "type": "service", "date_unixtime": "1709290800", "action": "phone_call", "text": ""},
            said(2, ""),
            said(3, "x") | {"date": "soon", "date_unixtime": "never"},
            said(4, "x") | {"id": "four"},
            said(5, "ok"),
        ),
    )
    terms = ReadOptions(OWNER)
    assert [part.key for part in segments(path, terms)] == ["telegram:user901:5"]
    assert terms.skipped == {"service": 1, "empty": 1, "unreadable": 2}


def test_old_exports_have_local_times_and_plain_numbers(tmp_path: Path) -> None:
    """Without Unix times the owner's zone counts, and a bare number is a user's id."""
    old = {
        "id": 1,
        "type": "message",
        "date": "2019-07-01T15:00:00",
        "from": "Олена",
        "from_id": OWNER,
        "text": "давно",
    }
    [found] = segments(dump(tmp_path / "result.json", chat(old)), ReadOptions(OWNER, zone=ZoneInfo("Europe/Kyiv")))
    assert (found.at, found.own) == (datetime(2019, 7, 1, 12, tzinfo=UTC), True)


def test_another_account_of_the_owner_can_be_named(tmp_path: Path) -> None:
    """--me with the id of an older account makes those words his own."""
    path = dump(tmp_path / "result.json", chat(said(1, "я", 77)))
    assert [part.own for part in segments(path, ReadOptions(OWNER, me=frozenset({"77"})))] == [True]
    assert [part.own for part in segments(path)] == [False]


def test_deleted_accounts_have_a_name_still(tmp_path: Path) -> None:
    """A chat and a sender without names are told by their ids."""
    [draft] = read(dump(tmp_path / "result.json", chat(said(1, "?", 88) | {"from": None}, name=None)))
    assert (draft.place, draft.segments[0].speaker) == ("chat 901", "user88")


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        ([], "should be a JSON object"),
        ({"a": 1}, "neither messages nor chats"),
        ({"messages": {}}, "should be an array"),
        ({"messages": [], "id": 1}, "id should stand before"),
    ],
)
def test_other_files_are_told(tmp_path: Path, whole: Any, told: str) -> None:
    """What is no export of Telegram Desktop is refused in one line."""
    with pytest.raises(Unreadable, match=told):
        read(dump(tmp_path / "result.json", whole), format_="telegram")


def test_an_empty_chat_is_no_mistake(tmp_path: Path) -> None:
    """It has no episodes."""
    assert read(dump(tmp_path / "result.json", chat())) == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = ("id", "type", "date", "date_unixtime", "from", "from_id", "forwarded_from", "text", "text_entities", "file",
          "photo", "poll", "contact_information", "location_information", "media_type", "sticker_emoji")  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, anything)), max_size=4), anything)
def test_no_message_breaks_the_import(tmp_path: Path, odd: list[dict[str, Any]], header: Any) -> None:
    """Whatever stands in the fields of a message or of a chat, the messages around it are read."""
    messages = [said(1, "перед"), *({"type": "message"} | one for one in odd), said(2, "після", minute=1)]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"name": header, "id": 901, "messages": messages}), encoding="utf-8")
    found = segments(path)
    assert {"перед", "після"} <= {part.text for part in found}
    assert all(part.text and part.key and part.at.tzinfo for part in found)
    for part in found:
        assert f"{part.text}{part.key}{part.speaker}{part.url}{part.forwarded_from}".encode()
