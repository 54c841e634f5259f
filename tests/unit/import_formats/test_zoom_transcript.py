"""A Zoom transcript: speakers, and times that count from the beginning of the meeting."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies as st
from support.agents.export_files import OWNER, read

from internal.import_formats.model import ReadOptions, Unreadable
from internal.import_formats.zoom import utterances

TRANSCRIPT = """WEBVTT

1
00:00:03.450 --> 00:00:06.000
Олена Коваль: Добрий день, починаємо.

2
00:00:06.500 --> 00:00:09.000
Олена Коваль: Хто був у Львові?

3
00:00:10.000 --> 00:00:12.250
Иван Петров: Я был, вернулся вчера.

4
01:00:00.000 --> 01:00:02.000
Bob: Let&apos;s ship on Friday at 10:30.

5
01:00:30.000 --> 01:00:31.000
(applause)
"""
NAMED = "GMT20240301-120000_Recording.transcript.vtt"


def written(path: Path, text: str = TRANSCRIPT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_meeting_is_an_episode(tmp_path: Path) -> None:
    """What one speaker says without a pause is one segment, at the time it was said."""
    terms = ReadOptions(OWNER, me=frozenset({"олена коваль"}), zone=ZoneInfo("Europe/Kyiv"))
    [draft] = read(written(tmp_path / NAMED), terms)
    assert (draft.name, draft.source_url) == ("Zoom meeting 2024-03-01 14:00", None)
    assert [(part.speaker, part.own, part.text) for part in draft.segments] == [
        ("Олена Коваль", True, "Добрий день, починаємо. Хто був у Львові?"),
        ("Иван Петров", False, "Я был, вернулся вчера."),
        ("Bob", False, "Let's ship on Friday at 10:30."),
        (None, False, "(applause)"),
    ]
    assert draft.segments[0].at == datetime(2024, 3, 1, 12, 0, 3, 450_000, UTC)
    assert draft.segments[2].at == datetime(2024, 3, 1, 13, tzinfo=UTC)
    assert draft.segments[1].key == "zoom:20240301T120000Z:10000"


@pytest.mark.parametrize(
    ("path", "start", "began"),
    [
        (NAMED, None, datetime(2024, 3, 1, 12, tzinfo=UTC)),
        ("2024-03-01 14.00.00 Зустріч/closed_caption.vtt", None, datetime(2024, 3, 1, 12, tzinfo=UTC)),
        ("talk.vtt", datetime(2024, 5, 1, 9, tzinfo=UTC), datetime(2024, 5, 1, 9, tzinfo=UTC)),
        (NAMED, datetime(2024, 5, 1, 9, tzinfo=UTC), datetime(2024, 5, 1, 9, tzinfo=UTC)),
    ],
)
def test_the_beginning_is_told_by_name_or_by_hand(
    tmp_path: Path, path: str, start: datetime | None, began: datetime
) -> None:
    """Cloud recordings by Greenwich, local ones by the owner's zone; what is given counts before both."""
    terms = ReadOptions(OWNER, zone=ZoneInfo("Europe/Kyiv"), start=start)
    [draft] = read(written(tmp_path / path), terms)
    assert (draft.segments[0].at - began).total_seconds() == 3.45


def test_an_untold_beginning_is_asked_for(tmp_path: Path) -> None:
    """No guess: yesterday's meeting would be dated today."""
    for name in ("talk.vtt", "GMT20241399-120000_Recording.vtt"):
        with pytest.raises(Unreadable, match="--start"):
            read(written(tmp_path / name))


def test_voices_styles_and_notes_of_the_format(tmp_path: Path) -> None:
    """`<v Name>` is a speaker, tags and notes are no words, Windows line ends are line ends."""
    text = (
        "\ufeffWEBVTT - a title\n\nNOTE a remark\n\nSTYLE\n::cue{}\n\n"
        "00:01.000 --> 00:02.000 align:start\n<v.loud Софія Бойко>Всі <b>тут</b>?</v>\n\n"
        "00:40.000 --> 00:41.000\n\n"
    )
    [draft] = read(written(tmp_path / NAMED, text.replace("\n", "\r\n")))
    assert [(part.speaker, part.text) for part in draft.segments] == [("Софія Бойко", "Всі тут?")]


def test_other_files_are_told(tmp_path: Path) -> None:
    """Not WebVTT, or not text at all."""
    with pytest.raises(Unreadable, match="does not begin with WEBVTT"):
        read(written(tmp_path / NAMED, "1\n00:00:01,000 --> 00:00:02,000\nsubtitles\n"))
    (tmp_path / NAMED).write_bytes("WEBVTT\n\nПривіт".encode("cp1251"))
    with pytest.raises(Unreadable, match="no text in UTF-8"):
        read(tmp_path / NAMED, format_="zoom")


cues = st.lists(
    st.tuples(
        st.integers(0, 40), st.sampled_from(["Олена", "Bob", None]), st.sampled_from(["так", "слово " * 90, "ні"])
    ),
    max_size=40,
)


@settings(deadline=None)
@given(cues)
def test_no_word_is_lost_however_cues_are_joined(said: list[tuple[int, str | None, str]]) -> None:
    """All words in their order, each by who said it; times never go back."""
    at, lines = 0, ["WEBVTT", ""]
    for pause, speaker, words in said:
        at += pause
        clock = f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"
        lines += [f"{clock}.000 --> {clock}.500", f"{speaker}: {words}" if speaker else words, ""]
    found = list(utterances("\n".join(lines)))
    spoken = [(cue.speaker, word) for cue in found for word in cue.text.split()]
    assert spoken == [(speaker, word) for _, speaker, words in said for word in words.split()]
    assert [cue.begin for cue in found] == sorted(cue.begin for cue in found)


@pytest.mark.parametrize("opening", ["<v ", "<v" + " " * 20_000 + "x", "<a", "</a", "<1"])
def test_tags_without_end_are_read_in_one_go(opening: str) -> None:
    """A row of tags that nobody closes costs no more for each of them than one does."""
    began = time.process_time()
    [cue] = utterances(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{opening * (200_000 // len(opening))}")
    assert cue.speaker is None
    assert time.process_time() - began < 10
