"""Files that came with a question: read before it is answered, and what the program itself says of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from internal.access.model import Language, User
from internal.artifacts.model import FAILED, READ, due
from internal.dialogue.model import Message
from internal.flows.turn.intake import Phrases
from internal.flows.turn.prompt import Question, read_question
from internal.storage.database import Database


class Files(Protocol):
    """Reads the files that came with messages."""

    async def read_of(self, user: User, messages: Sequence[Message]) -> datetime:
        """Returns when each of their files is read, or never will be: the time of that."""


def unread(question: Question) -> list[Message]:
    """The messages of a question with files that nothing is known of yet."""
    return [message for message in question.asked if due(message.attachments)]


async def with_files(question: Question, files: Files, database: Database) -> Question:
    """The question with the text of its files, which are read first."""
    now = await files.read_of(question.user, unread(question))
    return await database.read(lambda c: read_question(c, question.turn, now))


def of_files_alone(asked: Sequence[Message], phrases: Phrases, lang: Language) -> str | None:
    """What there is to say to files without a word: that they are kept, or why one cannot be read.

    None if something was said, be it in a file of a voice.
    """
    attachments = [one for message in asked for one in message.attachments]
    marks = [str(one[READ]) for one in attachments if one.get(READ)]
    words = "\n".join(message.content for message in asked if message.content.strip())
    if words != "\n".join(marks) or any(not mark.startswith("[file ") for mark in marks):
        return None
    kept = [
        phrases(lang, "artifact-kept", name=str(one.get("name") or ""), pages=int(one.get("pages") or 0))
        for one in attachments
        if one.get(READ)
    ]
    kinds = [str(one.get("kind")) for one in attachments]
    lines = "\n".join(filter(None, (*kept, unread_lines(asked, phrases, lang))))
    return lines or phrases(lang, "cannot-read", kind=kinds[0] if kinds else "other")


def unread_lines(asked: Sequence[Message], phrases: Phrases, lang: Language) -> str:
    """A line for each file that could not be read."""
    failed = [one for message in asked for one in message.attachments if FAILED in one]
    return "\n".join(
        phrases(lang, "artifact-failed", reason=str(one[FAILED]), name=str(one.get("name") or one["kind"]))
        for one in failed
    )
