"""Conversation files as they come: both shapes, lists of them, sloppy evidence, and files that are none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation import locomo
from bot.evaluation.locomo import ConversationsUnreadable

SESSIONS: dict[str, Any] = {
    "speaker_a": "Ann",
    "speaker_b": "Bob",
    "session_10_date_time": "12:09 am on 13 September, 2023",
    "session_10": [{"speaker": "Bob", "dia_id": "D10:1", "text": "Late again."}],
    "session_2_date_time": "1:56 pm on 8 May, 2023",
    "session_2": [
        {"speaker": "Ann", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a red boat", "img_url": ["x"]},
        {"speaker": "Bob", "dia_id": "D2:2", "text": "Nice."},
    ],
    "session_3_date_time": "5:00 pm on 9 May, 2023",
}


def file_of(folder: Path, whole: Any, name: str = "one.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


@pytest.mark.parametrize("inside", [False, True])
def test_turns_come_in_the_order_of_their_sessions(tmp_path: Path, inside: bool) -> None:
    """Sessions stand at the top or under "conversation"; they are ordered by number, and each turn has its time."""
    whole = {"conversation": SESSIONS, "qa": [], "sample_id": "c"} if inside else SESSIONS | {"qa": []}
    [read] = locomo.read([file_of(tmp_path, whole)])
    assert [(turn.dia_id, turn.session, turn.speaker, turn.caption) for turn in read.turns] == [
        ("D2:1", 2, "Ann", "a red boat"),
        ("D2:2", 2, "Bob", ""),
        ("D10:1", 10, "Bob", ""),
    ]
    assert [turn.at for turn in read.turns] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 57, tzinfo=UTC),
        datetime(2023, 9, 13, 0, 9, tzinfo=UTC),
    ]


def test_a_file_may_hold_several_conversations(tmp_path: Path) -> None:
    """The public file is a list; all of it stands under the one base name."""
    path = file_of(tmp_path, [{"conversation": SESSIONS, "qa": []}, SESSIONS], "locomo10.json")
    assert [(one.file, len(one.turns)) for one in locomo.read([path])] == [("locomo10.json", 3), ("locomo10.json", 3)]


@pytest.mark.parametrize(
    ("told", "evidence"),
    [
        (["D2:1", "D2:1"], ("D2:1",)),
        (["D2:1; D10:1"], ("D2:1", "D10:1")),
        (["D2:1 D2:2", "D10:1"], ("D2:1", "D2:2", "D10:1")),
        (["D:10:1"], ("D10:1",)),
        (["D10:01"], ("D10:1",)),
        ("D2:2", ("D2:2",)),
        ([{"dia_id": "D2:2"}, {"text": "?"}], ("D2:2",)),
        (["D9:36"], ("D9:36",)),
        (["D"], ()),
        ([], ()),
        (None, ()),
    ],
)
def test_evidence_is_understood_in_every_form_it_has(tmp_path: Path, told: Any, evidence: tuple[str, ...]) -> None:
    """Several ids in one entry, a colon too many, leading zeros; what names no turn at all is no evidence."""
    asked = [{"question": "What?", "evidence": told, "category": 4, "answer": "?", "tags": ["plain"]}]
    [read] = locomo.read([file_of(tmp_path, SESSIONS | {"qa": asked})])
    [question] = read.questions
    assert (question.text, question.category, question.evidence, question.tags) == ("What?", 4, evidence, ("plain",))


def test_conversations_with_a_bot_say_who_speaks(tmp_path: Path) -> None:
    """The roles that exist are kept, others are none; a kind of question may be a word."""
    lines = [{"dia_id": f"D1:{n}", "text": "Hm.", "role": role} for n, role in enumerate(("user", "Assistant", "tool"))]
    asked = [{"question": "?", "evidence": ["D1:1"], "category": "knowledge_update"}]
    [read] = locomo.read([file_of(tmp_path, {"session_1": lines, "qa": asked})])
    assert [turn.role for turn in read.turns] == ["user", "assistant", None]
    assert read.questions[0].category == "knowledge_update"


def test_ids_stay_as_the_file_spells_them(tmp_path: Path) -> None:
    """A turn "D1:07" is the evidence "D1:7", and is told as "D1:07"."""
    whole = {"session_1": [{"dia_id": "D1:07", "text": "Hm."}], "qa": [{"question": "?", "evidence": ["D1:7"]}]}
    [read] = locomo.read([file_of(tmp_path, whole)])
    assert read.questions[0].evidence == ("D1:07",) == (read.turns[0].dia_id,)


def test_a_session_without_a_time_follows_the_one_before(tmp_path: Path) -> None:
    """A day later, so that it is a session of its own."""
    whole = SESSIONS | {"session_11": [{"speaker": "Ann", "dia_id": "D11:1", "text": "And?"}]}
    assert locomo.read([file_of(tmp_path, whole)])[0].turns[-1].at == datetime(2023, 9, 14, 0, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stated", "begun"),
    [
        ("1:56 pm on 8 May, 2023 (Monday)", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023/05/30 (Tue) 23:40", datetime(2023, 5, 30, 23, 40, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("08.05.2023 13:56", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00+03:00", datetime(2023, 5, 8, 10, 56, tzinfo=UTC)),
        ("в 13:56 8 мая 2023 года", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("8 травня 2023", datetime(2023, 5, 8, tzinfo=UTC)),
        (1683554160, datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("soon", datetime(2023, 1, 1, 12, tzinfo=UTC)),
        (["?"], datetime(2023, 1, 1, 12, tzinfo=UTC)),
    ],
)
def test_the_time_of_a_session_is_read_in_many_forms(tmp_path: Path, stated: Any, begun: datetime) -> None:
    """One that nobody can read counts as none: the conversation is read all the same."""
    whole = {"session_1": [{"dia_id": "D1:1", "text": "Hm."}], "session_1_date_time": stated}
    assert locomo.read([file_of(tmp_path, whole)])[0].turns[0].at == begun


def test_a_picture_may_have_no_text(tmp_path: Path) -> None:
    """Null, or nothing at all."""
    lines = [{"dia_id": "D1:1", "text": None, "blip_caption": "a boat"}, {"dia_id": "D1:2"}]
    [read] = locomo.read([file_of(tmp_path, {"session_1": lines})])
    assert [(turn.text, turn.caption) for turn in read.turns] == [("", "a boat"), ("", "")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "one.json is not JSON (line 1)"),
        ("[]", "one.json holds no conversation"),
        ("7", "one.json holds no conversation in the form of LoCoMo"),
        ('{"qa": []}', "no session has turns"),
        ('{"session_1": [{"text": "x"}]}', "session_1, turn 1 has no dia_id or no text"),
        ('{"session_1": [{"dia_id": "D1:1"}], "qa": [{}]}', "qa 1 has no question"),
    ],
)
def test_a_file_of_another_form_is_told_with_its_place(tmp_path: Path, content: str, said: str) -> None:
    """The one line says which file, and where in it."""
    path = tmp_path / "one.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConversationsUnreadable) as told:
        locomo.read([path])
    assert str(path) in str(told.value)
    assert said in str(told.value)


def test_an_absent_file_is_told(tmp_path: Path) -> None:
    """By its name and the system's reason."""
    with pytest.raises(ConversationsUnreadable, match=r"cannot read .*absent\.json: No such file"):
        locomo.read([tmp_path / "absent.json"])
