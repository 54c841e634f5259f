"""Reads GitHub issues with comments, as from `gh issue list --json` or the REST API: an issue is an episode."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from internal.import_formats.json_stream import JsonStream
from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable, clean, conversations, parse_time
from internal.import_formats.sources import ExportFiles
from internal.knowledge.model import Segment

_ADDRESS = re.compile(r"https?://([^/]+)/(?:api/v3/)?(?:repos/)?([^/]+/[^/]+)/(?:issues|pull|pulls)/(\d+)(#.*)?")
_NEVER = timedelta.max

Item = Mapping[str, Any]


def is_issue(item: object) -> bool:
    return isinstance(item, dict) and "number" in item and "title" in item


def is_comment(item: object) -> bool:
    return isinstance(item, dict) and "body" in item and "issue_url" in item


def read(exports: Sequence[ExportFiles], terms: ReadOptions) -> Iterator[EpisodeDraft]:
    """Yields the episodes of all these files together, because the REST API returns comments in separate files.

    Those comments are held in memory, issues are not. Raises Unreadable.
    """
    comments: dict[str, list[Item]] = {}
    recognised = 0
    for item in _all(exports):
        recognised += is_issue(item) or is_comment(item)
        if is_comment(item):
            comments.setdefault(_address(str(item["issue_url"])), []).append(item)
    if not recognised:
        raise Unreadable(f"{', '.join(export.name for export in exports)}: no GitHub issue is in there")
    for item in _all(exports):
        if is_issue(item):
            yield from _episode(item, comments, terms)
        elif not is_comment(item):
            terms.skipped["unreadable"] += 1
    for address, orphans in comments.items():
        yield from _drafts(address, f"issue {address}", None, _comments(orphans, address, terms), terms)


def _episode(issue: Item, comments: dict[str, list[Item]], terms: ReadOptions) -> Iterator[EpisodeDraft]:
    link = _link(issue)
    address = _address(link) if link else f"#{issue['number']}"
    title = clean(str(issue.get("title") or ""))
    repository = address.split("/issues/")[0]
    at = _at(issue, terms)
    if at is None:
        terms.skipped["unreadable"] += 1
        return
    if not terms.is_selected(repository, repository.rsplit("/", 1)[-1], address):
        terms.skipped["of other chats"] += 1
        return
    opening = _segment(issue, at, address, link, terms, title)
    own_comments = issue.get("comments")
    comment_items = [*(own_comments if isinstance(own_comments, list) else []), *comments.pop(address, [])]
    yield from _drafts(address, title, link, [opening, *_comments(comment_items, address, terms)], terms)


def _drafts(
    address: str, title: str, link: str | None, segments_in_order: Sequence[Segment], terms: ReadOptions
) -> Iterator[EpisodeDraft]:
    repository, _, number = address.partition("/issues/")
    for segments in conversations(segments_in_order, _NEVER):
        yield EpisodeDraft(
            name=f"{address.replace('/issues/', '#')} {title}".strip(),
            source_description=f"GitHub issue {repository}#{number}" if number else f"GitHub issue {address}",
            source_url=link or segments[0].url,
            place=repository,
            segments=segments,
        )


def _comments(items: Sequence[object], address: str, terms: ReadOptions) -> list[Segment]:
    by_key = {}
    for item in items:
        at = _at(item, terms) if isinstance(item, dict) else None
        if at is None or not isinstance(item, dict):
            terms.skipped["unreadable"] += 1
        elif not clean(str(item.get("body") or "")):
            terms.skipped["empty"] += 1
        else:
            segment = _segment(item, at, address, _link(item), terms)
            by_key[segment.key] = segment
    return sorted(by_key.values(), key=lambda segment: segment.at)


def _segment(item: Item, at: datetime, address: str, link: str | None, terms: ReadOptions, title: str = "") -> Segment:
    login = _login(item)
    match = _ADDRESS.match(link or "")
    anchor = (match[4] or "") if match else ""
    key = f"github:{address}{anchor or _number(item, title)}"
    body = clean(str(item.get("body") or ""))
    return Segment(
        n=0,
        at=at,
        text="\n\n".join(part for part in (title, body) if part),
        message_id=None,
        speaker=login or "a deleted account",
        own=terms.is_me(login),
        url=link,
        key=key,
    )


def _number(item: Item, title: str) -> str:
    return "" if title else f"#{item.get('id', item.get('createdAt', item.get('created_at')))}"


def _login(item: Item) -> str:
    author = item.get("user") or item.get("author")
    login = author.get("login") if isinstance(author, dict) else author
    return clean(login) if isinstance(login, str) else ""


def _at(item: Item, terms: ReadOptions) -> datetime | None:
    return parse_time(item.get("created_at") or item.get("createdAt"), terms.zone)


def _link(item: Item) -> str | None:
    """The page for people; `url` only if it is not the API's."""
    for key in ("html_url", "url"):
        link = item.get(key)
        if isinstance(link, str) and link.startswith("http") and "//api." not in link and "/api/v3/" not in link:
            return link
    return None


def _address(link: str) -> str:
    """The form `owner/repo/issues/12` of any address of an issue, pull request or comment."""
    match = _ADDRESS.match(link)
    return f"{match[2]}/issues/{match[3]}" if match else link


def _all(exports: Sequence[ExportFiles]) -> Iterator[Any]:
    for export in exports:
        for file in (file for file in export.files if file.endswith((".json", ".jsonl", ".ndjson"))):
            with export.open(file) as reader:
                yield from items(reader.json())


def items(stream: JsonStream) -> Iterator[Any]:
    """Yields the objects of an array, of several values one after another, or of JSON lines."""
    while opening := stream.peek():
        if opening == "[":
            for _ in stream.elements():
                yield stream.value()
        else:
            yield stream.value()
