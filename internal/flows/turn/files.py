"""Files that came with a question: read before it is answered, and the program's own lines about them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.access.model import Language, Role, User
from internal.agents.model import PassageLine, RecalledPassage
from internal.artifacts.model import FAILED, READ, SPOKEN, due
from internal.dialogue.model import Message
from internal.flows.turn.intake import IntakePhrases
from internal.flows.turn.prompt import PromptInputs, read_question
from internal.flows.views import artifacts as view
from internal.language.text.spelling import unquoted
from internal.storage.database import Database

LONGEST: Final = 8_000
"""The most characters of a file that a tool reads at once."""

_QUOTED: Final = 300
"""The most characters of the words in a picture that are quoted."""

Keyboard = list[list[dict[str, Any]]] | None
"""Buttons in Bot API form."""

Progress = Callable[[str], Awaitable[None]]
"""Shows the progress of reading."""


async def unseen(line: str) -> None:
    """Ignores progress."""


class Files(Protocol):
    """Reads the files of messages."""

    async def read_of(self, user: User, messages: Sequence[Message], progress: Progress) -> datetime:
        """Waits until each of their files is read or has failed. Returns the time of that."""

    def below(self, user: User, messages: Sequence[Message]) -> Keyboard:
        """The buttons below the line that a recording in these messages cannot be heard now."""


def has_file(message: Message) -> bool:
    """Whether a file of a message was read successfully."""
    return any(one.get(READ) for one in message.attachments)


def unread_files(question: PromptInputs) -> list[Message]:
    """The messages of a question with files that were not read yet."""
    return [message for message in question.asked if due(message.attachments)]


async def with_files(question: PromptInputs, files: Files, database: Database, progress: Progress) -> PromptInputs:
    """Reads the files of a question and returns it with their text."""
    await files.read_of(question.user, unread_files(question), progress)
    return await database.read(lambda c: read_question(c, question.turn))


def read_file(
    connection: Connection, user_id: int, name: str, first: int | None, last: int | None
) -> tuple[RecalledPassage, str] | None:
    """Pages of a file as a passage without a number, and the pages left to read; None if they do not exist."""
    file = view.artifact_by_name(connection, user_id, name)
    parts = [] if file is None else view.text_of(connection, user_id, file)
    chosen = [one for one in parts if first is None or (one.page is not None and first <= one.page <= (last or first))]
    if file is None or not chosen:
        return None
    room, rest = LONGEST, ""
    lines: list[PassageLine] = []
    for part in chosen:
        room -= len(part.text)
        if room < 0 and lines:
            rest = "There is more" + (f" from page {part.page} on." if part.page else ", which search_history finds.")
            break
        lines.append(PassageLine(file.added_at, part.position, part.text[:LONGEST], "other"))
    return RecalledPassage(0, "episode", file.id, lines), rest


def of_files_alone(asked: Sequence[Message], phrases: IntakePhrases, user: User) -> str | None:
    """The reply to files without a message: that they are stored, or why one cannot be read.

    None if there are words, in the message or in a recording.
    """
    attachments = [one for message in asked for one in message.attachments]
    marks = [str(one[READ]) for one in attachments if one.get(READ)]
    words = "\n".join(message.content for message in asked if message.content.strip())
    if words != "\n".join(marks) or any(one.get(READ) and not _says_nothing(one) for one in attachments):
        return None
    kept = [
        phrases(
            user.lang,
            "artifact-kept" if not one.get("export") else "artifact-export",
            name=str(one.get("name") or ""),
            pages=int(one.get("pages") or 0),
        )
        for one in attachments
        if str(one.get(READ)).startswith(_FILE)
    ]
    kinds = [str(one.get("kind")) for one in attachments]
    if lines := "\n".join(filter(None, (*kept, unread_lines(asked, phrases, user)))):
        return lines
    kind = kinds[0] if kinds else "other"
    return f"{phrases(user.lang, 'cannot-read', kind=kind)} {_setting(phrases, user, kind)}".rstrip()


def unread_lines(asked: Sequence[Message], phrases: IntakePhrases, user: User) -> str:
    """A line for each file that could not be read; for a picture without description, with the words in it."""
    failed = [one for message in asked for one in message.attachments if FAILED in one]
    words = [_words_in(one)[:_QUOTED] for one in failed if one[FAILED] == "unseen" and _words_in(one)]
    said = [_seen_line(" · ".join(words), phrases, user)] if words else []
    rest = [one for one in failed if not (words and one[FAILED] == "unseen")]
    return "\n".join(dict.fromkeys([*said, *(_unread_line(one, phrases, user) for one in rest)]))


def _seen_line(words: str, phrases: IntakePhrases, user: User) -> str:
    return f"{phrases(user.lang, 'photo-words', words=words)} {_setting(phrases, user, 'photo')}".rstrip()


def _unread_line(attachment: Mapping[str, Any], phrases: IntakePhrases, user: User) -> str:
    kind, reason, name = str(attachment["kind"]), str(attachment[FAILED]), str(attachment.get("name") or "")
    line = failure_line(phrases, user.lang, kind, name, reason)
    return f"{line} {_setting(phrases, user, kind)}".rstrip() if reason == "unseen" else line


def _words_in(attachment: Mapping[str, Any]) -> str:
    return str(attachment.get(READ) or "").partition(" | ")[2]


def _setting(phrases: IntakePhrases, user: User, kind: str) -> str:
    """A hint for the bot owner: the setting for reading such files."""
    setting = "media.transcription" if kind in SPOKEN else "media.vision" if kind == "photo" else ""
    return phrases(user.lang, "cannot-read-setting", setting=setting) if setting and user.role is Role.OWNER else ""


def failure_line(phrases: IntakePhrases, lang: Language, kind: str, name: str, reason: str) -> str:
    """The line that says why a file could not be read, or not completely."""
    if kind in SPOKEN:
        return phrases(lang, "voice-failed", reason=reason)
    if kind == "photo":
        return phrases(lang, "photo-failed", reason=reason)
    return phrases(lang, "artifact-failed", reason=reason, name=name or kind)


def _says_nothing(attachment: Mapping[str, Any]) -> bool:
    """Whether it came without words: a file, or a picture without description and without words in it."""
    mark = str(attachment[READ])
    return mark.startswith(_FILE) or (FAILED in attachment and mark == f"[{attachment['kind']}]")


_FILE: Final = "[file "


def _of_others(one: Message) -> bool:
    """Whether a message contains words of somebody else."""
    quotes = one.quoted is not None and one.quoted.by == "other"
    read = any(each.get(READ) and each.get("kind") not in ("voice", "video_note") for each in one.attachments)
    own = one.content.removeprefix("[voice] ").removeprefix("[video_note] ")
    return one.role == "user" and (one.forward is not None or quotes or read or unquoted(own) != own)


def beside_others(question: PromptInputs, passages: Sequence[RecalledPassage]) -> bool:
    """Whether a prompt contains words of somebody else: a group, forwards, quotes, files, imports, pages."""
    theirs = any(one.kind != "message" or any(line.kind == "other" for line in one.lines) for one in passages)
    return theirs or question.turn.chat_id < 0 or any(map(_of_others, (*question.asked, *question.earlier)))
