"""A Slack export: threads are episodes, everything else is cut at silences."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.agents.export_files import OWNER, dump, posted, read, slack

from internal.import_formats.model import ReadOptions, Unreadable

OLENA = ReadOptions(OWNER, me=frozenset({"олена коваль"}))
DAYS = {
    "general/2024-03-01.json": [
        {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1709290800.000100", "text": "joined"},
        posted("1709290860.000200", "Всем привет, <@U2>! См. <https://x.org|план> &amp; <#C1|general>"),
        posted("1709290920.000300", "Коли реліз?", thread_ts="1709290920.000300", reply_count=2),
        posted("1709290980.000400", "Thanks all", "U2"),
        posted("1709291040.000500", "У п'ятницю", "U2", thread_ts="1709290920.000300"),
    ],
    "general/2024-03-02.json": [
        posted("1709377200.000600", "Перенесли на понеділок", thread_ts="1709290920.000300", edited={"user": "U1"}),
        posted("1709377260.000700", "", "U2", files=[{"name": "план.pdf"}]),
        {
            "type": "message",
            "subtype": "bot_message",
            "username": "CI",
            "text": "<!here> build ok",
            "ts": "1709377320.1",
        },
    ],
    "D1/2024-03-01.json": [posted("1709290870.000100", "тільки тобі", "U2")],
}


def test_threads_are_episodes_and_the_rest_conversations(tmp_path: Path) -> None:
    """A thread over two days is one episode with its permalink; a night's silence parts the rest."""
    drafts = read(slack(tmp_path / "export", DAYS), OLENA)
    assert [(draft.source_description, [part.text for part in draft.segments]) for draft in drafts] == [
        ("Slack #general", ["Всем привет, @Bob Baker! См. план (https://x.org) & #general", "Thanks all"]),
        ("Slack #general", ["[file план.pdf]", "@here build ok"]),
        ("Slack thread in #general", ["Коли реліз?", "У п'ятницю", "Перенесли на понеділок"]),
        ("Slack Олена Коваль, Bob Baker", ["тільки тобі"]),
    ]
    thread = drafts[2]
    assert thread.source_url == "https://slack.com/archives/C1/p1709290920000300"
    assert thread.segments[1].url == (
        "https://slack.com/archives/C1/p1709291040000500?thread_ts=1709290920.000300&cid=C1"
    )
    assert thread.segments[0].at == datetime(2024, 3, 1, 11, 2, 0, 300, UTC)
    assert [part.key for part in drafts[0].segments] == ["slack:C1:1709290860.000200", "slack:C1:1709290980.000400"]
    assert OLENA.skipped == {"service": 1}


def test_the_owner_is_who_is_named(tmp_path: Path) -> None:
    """By name or id; a bot speaks for nobody."""
    for me in ("олена коваль", "u1"):
        drafts = read(slack(tmp_path / me, DAYS), ReadOptions(OWNER, me=frozenset({me})))
        own = {(part.speaker, part.own) for draft in drafts for part in draft.segments}
        assert own == {("Олена Коваль", True), ("Bob Baker", False), ("CI", False)}


def test_a_zip_is_read_like_its_folder(tmp_path: Path) -> None:
    """Also when everything in it lies in one folder."""
    folder = slack(tmp_path / "export", DAYS)
    expected = read(folder, ReadOptions(OWNER))
    for above in ("", "Acme Slack export/"):
        with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            for file in folder.rglob("*.json"):
                packed.write(file, f"{above}{file.relative_to(folder).as_posix()}")
        assert read(tmp_path / "export.zip", ReadOptions(OWNER)) == expected


def test_a_thread_without_its_beginning_has_its_address(tmp_path: Path) -> None:
    """Free plans lose old messages: the replies that are left are an episode of the thread still."""
    days = {"general/2024-03-05.json": [posted("1709640000.000100", "ответ", thread_ts="1700000000.000100")]}
    [draft] = read(slack(tmp_path, days), ReadOptions(OWNER, workspace="acme"))
    assert draft.source_url == "https://acme.slack.com/archives/C1/p1700000000000100"


def test_a_long_thread_is_several_episodes_of_one_address(tmp_path: Path) -> None:
    """At most sixty messages each, however long the pauses."""
    days = {
        "general/2024-03-05.json": [
            posted(f"{1709640000 + 90_000 * n}.000100", f"№{n}", thread_ts="1709640000.000100") for n in range(130)
        ]
    }
    drafts = read(slack(tmp_path, days), ReadOptions(OWNER))
    assert sum(len(draft.segments) for draft in drafts) == 130
    assert len(drafts) >= 3
    assert {draft.source_url for draft in drafts} == {"https://slack.com/archives/C1/p1709640000000100"}


def test_only_the_channels_asked_for_are_read(tmp_path: Path) -> None:
    """With or without the #."""
    folder = slack(tmp_path, DAYS)
    terms = ReadOptions(OWNER, chats=frozenset({"general"}))
    assert {draft.place for draft in read(folder, terms)} == {"#general"}
    assert terms.skipped["of other chats"] == 1


def test_a_channel_that_no_list_names_is_read_all_the_same(tmp_path: Path) -> None:
    """Its folder's name is its name."""
    [draft] = read(slack(tmp_path, {"lost/2024-03-05.json": [posted("1709640000.000100", "тут")]}))
    assert (draft.place, draft.segments[0].key) == ("#lost", "slack:lost:1709640000.000100")


def test_what_is_no_export_is_told(tmp_path: Path) -> None:
    """A folder without the lists, and a day that is no array."""
    with pytest.raises(Unreadable, match=r"no Slack export: it has no users\.json"):
        read(tmp_path, format_="slack")
    broken = slack(tmp_path / "broken", {})
    dump(broken / "general/2024-03-05.json", {"messages": []})
    with pytest.raises(Unreadable, match="should be a JSON array"):
        read(broken)
