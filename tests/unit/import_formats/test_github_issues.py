"""GitHub issues with their comments: as `gh` writes them, and as the REST API does."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.agents.export_files import OWNER, dump, read

from internal.import_formats import formats
from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable
from internal.import_formats.sources import open_export

GH = {
    "number": 12,
    "title": "Падает при запуске",
    "body": "Після оновлення не стартує.",
    "author": {"login": "olena", "is_bot": False},
    "createdAt": "2024-03-01T12:00:00Z",
    "url": "https://github.com/acme/bot/issues/12",
    "comments": [
        {
            "id": "IC_1",
            "author": {"login": "bob"},
            "body": "Which version?",
            "createdAt": "2024-03-02T12:00:00Z",
            "url": "https://github.com/acme/bot/issues/12#issuecomment-77",
        }
    ],
}
REST = {
    "number": 12,
    "title": "Падает при запуске",
    "body": "Після оновлення не стартує.",
    "user": {"login": "olena"},
    "created_at": "2024-03-01T12:00:00Z",
    "url": "https://api.github.com/repos/acme/bot/issues/12",
    "html_url": "https://github.com/acme/bot/issues/12",
    "comments": 1,
}
COMMENT = {
    "id": 77,
    "body": "Which version?",
    "user": {"login": "bob"},
    "created_at": "2024-03-02T12:00:00Z",
    "issue_url": "https://api.github.com/repos/acme/bot/issues/12",
    "html_url": "https://github.com/acme/bot/issues/12#issuecomment-77",
}


def together(*paths: Path, terms: ReadOptions | None = None) -> list[EpisodeDraft]:
    with contextlib.ExitStack() as stack:
        exports = [stack.enter_context(open_export(path)) for path in paths]
        assert {formats.detect_format(export) for export in exports} == {"github"}
        return list(formats.drafts("github", exports, terms or ReadOptions(OWNER, me=frozenset({"olena"}))))


def test_an_issue_is_an_episode_with_its_comments(tmp_path: Path) -> None:
    """Title and body first, then who answered; both forms of the export give the same."""
    from_gh = read(dump(tmp_path / "issues.json", [GH]), ReadOptions(OWNER, me=frozenset({"olena"})))
    [draft] = from_gh
    assert (draft.name, draft.source_description, draft.source_url) == (
        "acme/bot#12 Падает при запуске",
        "GitHub issue acme/bot#12",
        "https://github.com/acme/bot/issues/12",
    )
    assert [(part.speaker, part.own, part.text, part.key, part.at) for part in draft.segments] == [
        (
            "olena",
            True,
            "Падает при запуске\n\nПісля оновлення не стартує.",
            "github:acme/bot/issues/12",
            datetime(2024, 3, 1, 12, tzinfo=UTC),
        ),
        (
            "bob",
            False,
            "Which version?",
            "github:acme/bot/issues/12#issuecomment-77",
            datetime(2024, 3, 2, 12, tzinfo=UTC),
        ),
    ]
    assert together(dump(tmp_path / "a.json", [REST]), dump(tmp_path / "b.json", [COMMENT])) == from_gh
    assert together(dump(tmp_path / "b.json", [COMMENT]), dump(tmp_path / "a.json", REST)) == from_gh


@pytest.mark.parametrize("written", ["{0}\n{1}\n", "[{0}][{1}]", "[{0}, {1}]"])
def test_paginated_output_is_read(tmp_path: Path, written: str) -> None:
    """JSON lines, arrays one after another, or one array."""
    other = GH | {"number": 13, "title": "Друга", "url": "https://github.com/acme/bot/issues/13", "comments": []}
    path = tmp_path / "issues.json"
    path.write_text(written.format(json.dumps(GH), json.dumps(other)), encoding="utf-8")
    assert [draft.source_url for draft in read(path)] == [GH["url"], other["url"]]


def test_comments_without_their_issue_are_kept(tmp_path: Path) -> None:
    """They are an episode that links to the first of them."""
    [draft] = together(dump(tmp_path / "comments.json", [COMMENT, COMMENT]))
    assert draft.source_url == COMMENT["html_url"]
    assert [part.text for part in draft.segments] == ["Which version?"]


def test_a_long_body_becomes_passages(tmp_path: Path) -> None:
    """Each can be pointed to; a deleted account and an empty comment are no obstacles."""
    body = "Шаг за шагом. " * 600
    comments = [{"author": None, "body": "", "createdAt": "2024-03-02T12:00:00Z"}, {"author": None, "body": "ok"}]
    terms = ReadOptions(OWNER)
    [draft] = read(dump(tmp_path / "issues.json", [GH | {"body": body, "author": None, "comments": comments}]), terms)
    assert len(draft.segments) > 8
    assert draft.segments[1].key == "github:acme/bot/issues/12/2"
    assert draft.segments[0].speaker == "a deleted account"
    assert terms.skipped == {"empty": 1, "unreadable": 1}


def test_only_the_repositories_asked_for_are_read(tmp_path: Path) -> None:
    """By their full or short name."""
    other = GH | {"url": "https://github.com/acme/site/issues/3", "number": 3}
    terms = ReadOptions(OWNER, chats=frozenset({"acme/site"}))
    assert [draft.place for draft in read(dump(tmp_path / "i.json", [GH, other]), terms)] == ["acme/site"]


@pytest.mark.parametrize("content", [[], [1, "x"], {"number": 1}, [{"title": "x"}]])
def test_what_holds_no_issue_is_told(tmp_path: Path, content: Any) -> None:
    """An empty list is no export either: the filter of whoever made it was wrong."""
    with pytest.raises(Unreadable, match="no GitHub issue is in there"):
        read(dump(tmp_path / "issues.json", content), format_="github")
