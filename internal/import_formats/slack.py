"""Reads a Slack export, folder or zip: a thread becomes one episode, other messages are split at silences."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable, clean, conversations, parse_time
from internal.import_formats.sources import ExportFiles
from internal.knowledge.model import Segment

LISTS = ("channels.json", "groups.json", "mpims.json", "dms.json")
"""The files that list channels, private channels, group conversations and direct messages."""

_MESSAGE_SUBTYPES = {
    None,
    "thread_broadcast",
    "reply_broadcast",
    "file_share",
    "file_comment",
    "me_message",
    "bot_message",
}
"""Subtypes with a person's words; joining, leaving and renaming have none."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_MARKUP = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
_NEVER = timedelta.max


@dataclass(frozen=True, slots=True)
class _Channel:
    id: str
    name: str
    days: Sequence[str]

    def link(self, ts: str, thread: str | None, workspace: str | None) -> str:
        """Slack's permalink; without the workspace's name Slack finds it for signed-in users."""
        host = f"{workspace}.slack.com" if workspace else "slack.com"
        address = f"https://{host}/archives/{self.id}/p{ts.replace('.', '')}"
        return f"{address}?thread_ts={thread}&cid={self.id}" if thread not in {None, ts} else address


def is_slack(files: Sequence[str]) -> bool:
    return "users.json" in files and any(name in files for name in LISTS)


def day_files(export: ExportFiles) -> list[str]:
    """The files that hold messages."""
    return [file for file in export.files if _DAY.fullmatch(file.rsplit("/", 1)[-1]) and file.count("/") == 1]


def read(export: ExportFiles, terms: ReadOptions) -> Iterator[EpisodeDraft]:
    """Yields the episodes of an export, channel by channel; the threads of one channel are held in memory.

    Raises Unreadable.
    """
    if not is_slack(export.files):
        raise Unreadable(f"{export.name} is no Slack export: it has no users.json beside {' or '.join(LISTS)}")
    names = _people(export)
    for channel in _channels(export, names):
        if not terms.is_selected(channel.name, channel.id, channel.name.removeprefix("#")):
            terms.skipped["of other chats"] += sum(1 for _ in _messages(export, channel))
            continue
        yield from _episodes(export, channel, names, terms)


def _episodes(
    export: ExportFiles, channel: _Channel, names: Mapping[str, str], terms: ReadOptions
) -> Iterator[EpisodeDraft]:
    threads: dict[str, list[Segment]] = {}

    def outside() -> Iterator[Segment]:
        for message in _messages(export, channel):
            segment = _segment(message, channel, names, terms)
            if isinstance(segment, str):
                terms.skipped[segment] += 1
            elif isinstance(message.get("thread_ts"), str):
                threads.setdefault(message["thread_ts"], []).append(segment)
            else:
                yield segment

    for segments in conversations(outside()):
        yield _draft(channel, "Slack", segments, terms)
    for thread in threads.values():
        thread.sort(key=lambda segment: segment.at)
        address = _thread_address(thread[0].url)
        for segments in conversations(thread, _NEVER):
            yield replace(_draft(channel, "Slack thread in", segments, terms), source_url=address)


def _draft(channel: _Channel, what: str, segments: tuple[Segment, ...], terms: ReadOptions) -> EpisodeDraft:
    first = segments[0]
    return EpisodeDraft(
        name=f"{channel.name} {first.at.astimezone(terms.zone):%Y-%m-%d %H:%M}",
        source_description=f"{what} {channel.name}",
        source_url=first.url,
        place=channel.name,
        segments=segments,
    )


def _thread_address(address: str | None) -> str | None:
    """The thread's own permalink, even if its first message is missing from the export."""
    match = re.fullmatch(r"(.+/p)\d+\?thread_ts=([\d.]+)&cid=\w+", address or "")
    return f"{match[1]}{match[2].replace('.', '')}" if match else address


def _messages(export: ExportFiles, channel: _Channel) -> Iterator[Mapping[str, Any]]:
    for day in channel.days:
        yield from (item for item in _items(export, day) if isinstance(item, dict))


def _items(export: ExportFiles, file: str) -> Iterator[Any]:
    with export.open(file) as reader:
        stream = reader.json()
        if stream.peek() != "[":
            raise Unreadable(f"{reader.name} is no part of a Slack export: it should be a JSON array")
        for _ in stream.elements():
            yield stream.value()
        stream.end()


def _people(export: ExportFiles) -> dict[str, str]:
    """Names by user id."""
    names = {}
    for user in _items(export, "users.json"):
        if isinstance(user, dict) and isinstance(user.get("id"), str):
            names[user["id"]] = _name_of(user) or user["id"]
    return names


def _name_of(user: Mapping[str, Any]) -> str:
    profile = user.get("profile")
    profile = profile if isinstance(profile, dict) else {}
    names = [profile.get("real_name"), user.get("real_name"), profile.get("display_name"), user.get("name")]
    return next((clean(name) for name in names if isinstance(name, str) and name.strip()), "")


def _channels(export: ExportFiles, names: Mapping[str, str]) -> Iterator[_Channel]:
    days: dict[str, list[str]] = {}
    for file in day_files(export):
        days.setdefault(file.split("/", 1)[0], []).append(file)
    for list_file in LISTS:
        if list_file not in export.files:
            continue
        for item in _items(export, list_file):
            if not isinstance(item, dict) or not isinstance(item.get("id"), str):
                continue
            folder = item["id"] if list_file == "dms.json" else str(item.get("name") or item["id"])
            day_files_of_channel = sorted(days.pop(folder, ()) or days.pop(item["id"], ()))
            if day_files_of_channel:
                yield _Channel(item["id"], _channel_name(list_file, item, names), day_files_of_channel)
    for folder, remaining in sorted(days.items()):  # a channel missing from the lists
        yield _Channel(folder, f"#{folder}", sorted(remaining))


def _channel_name(list_file: str, item: Mapping[str, Any], names: Mapping[str, str]) -> str:
    if list_file in {"dms.json", "mpims.json"}:
        members = item.get("members") if isinstance(item.get("members"), list) else []
        return ", ".join(names.get(str(member), str(member)) for member in members or ()) or item["id"]
    return f"#{clean(str(item.get('name') or item['id']))}"


def _segment(
    message: Mapping[str, Any], channel: _Channel, names: Mapping[str, str], terms: ReadOptions
) -> Segment | str:
    """The message as a segment, or the reason why it is skipped."""
    ts, at = message.get("ts"), parse_time(message.get("ts"))
    if message.get("type") != "message" or message.get("subtype") not in _MESSAGE_SUBTYPES:
        return "service"
    if not isinstance(ts, str) or at is None:
        return "unreadable"
    text = clean("\n".join(part for part in (_text(message, names), _files(message)) if part))
    if not text:
        return "empty"
    user = message.get("user") if isinstance(message.get("user"), str) else None
    speaker = _speaker(message, user, names)
    thread = message.get("thread_ts") if isinstance(message.get("thread_ts"), str) else None
    return Segment(
        n=0,
        at=at,
        text=text,
        message_id=None,
        speaker=speaker,
        own=message.get("subtype") != "bot_message" and terms.is_me(user, names.get(user or "")),
        url=channel.link(ts, thread, terms.workspace),
        key=f"slack:{channel.id}:{ts}",
    )


def _speaker(message: Mapping[str, Any], user: str | None, names: Mapping[str, str]) -> str:
    profile = message.get("user_profile")
    candidates = [
        names.get(user or ""),
        _name_of({"profile": profile}) if isinstance(profile, dict) else None,
        message.get("username"),
        user,
        message.get("bot_id"),
    ]
    return next((clean(name) for name in candidates if isinstance(name, str) and name.strip()), "somebody")


def _text(message: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The words with Slack's markup resolved: `<@U1>` is `@Name`, `<https://x|here>` is `here (https://x)`."""

    def resolve(match: re.Match[str]) -> str:
        target, label = match[1], match[2]
        if target.startswith("@"):
            return f"@{label or names.get(target[1:], target[1:])}"
        if target.startswith("#"):
            return f"#{label or target[1:]}"
        if target.startswith("!"):
            return label or f"@{target[1:].split('^', 1)[0]}"
        return f"{label} ({target})" if label and label != target else target

    text = message.get("text")
    return html.unescape(_MARKUP.sub(resolve, text)) if isinstance(text, str) else ""


def _files(message: Mapping[str, Any]) -> str:
    files = message.get("files")
    titles = (
        [file.get("title") or file.get("name") or "" for file in files or () if isinstance(file, dict)]
        if isinstance(files, list)
        else []
    )
    return " ".join(f"[file {name}]" if name else "[file]" for name in titles)
