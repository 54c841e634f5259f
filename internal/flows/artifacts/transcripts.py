"""Transcripts below the recordings of the owner, who can correct them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.access.model import User
from internal.artifacts import repository as artifacts
from internal.artifacts.model import ARTIFACT, READ, SPOKEN, Artifact, mark_of
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import Message
from internal.errors import expect_found
from internal.events import repository as events
from internal.flows.runs.rerun import after_edit
from internal.flows.sessions import lifecycle
from internal.flows.turn import instructions

MOST_SHOWN: Final = 3_800
"""The most characters of a transcript below its message: Telegram accepts 4,096."""

Buttons = Callable[[User, str], list[list[dict[str, Any]]]]
"""The buttons below the transcript of an artifact, in Bot API form."""


def show(
    connection: Connection, user: User, artifact: Artifact, message: Message, text: str, buttons: Buttons,
    now: datetime, *, late: bool = False,
) -> None:  # fmt: skip
    """Sends the transcript as a reply to the recording.

    A `late` one replaces the line that the recording cannot be heard now, and its words are answered.
    """
    if artifact.kind in SPOKEN and message.bot_id is not None and message.chat_id is not None:
        shown = _transcript_message(user, artifact, message, text, buttons)
        note = mailbox.by_dedupe(connection, user.user_id, f"turn:{message.turn_id}:0") if late else None
        if note is not None and note.outgoing.message_id is None:  # a line of the program, not an answer
            shown = replace(shown, kind="edit", replaces=f"turn:{message.turn_id}:0", reply_to=None)
        mailbox.enqueue(connection, shown, now)
        if late:
            turns.ask_again(connection, message, now)


def correct(
    connection: Connection, user: User, artifact_id: str, text: str, buttons: Buttons, now: datetime
) -> Message:
    """Replaces a transcript by the owner's words, as if he had edited his message. Raises NotFound."""
    artifact = expect_found(artifacts.find(connection, user.user_id, artifact_id), "the recording is gone")
    found = dialogue.by_ids(connection, user.user_id, [artifact.message_id])
    message = expect_found(found[0] if found else None, "the message is gone")
    mark = mark_of(artifact.kind, artifact.name, text)
    held = next((str(one[READ]) for one in message.attachments if one.get(ARTIFACT) == artifact_id), "")
    attachments = [one | {READ: mark} if one.get(ARTIFACT) == artifact_id else one for one in message.attachments]
    content = message.content.replace(held, mark, 1)
    changed = dialogue.put_file_text(connection, message, content, attachments)
    update_derived(connection, changed, now)
    shown = _transcript_message(user, artifact, changed, text, buttons, correction=True)
    mailbox.enqueue(connection, shown, now)
    events.append(
        connection,
        "transcript_corrected",
        source=f"user:{user.user_id}",
        now=now,
        user_id=user.user_id,
        payload={"message": message.id, "artifact": artifact_id},
        links={"message": message.id},
    )
    return changed


def update_derived(connection: Connection, message: Message, now: datetime) -> None:
    """Updates everything that is derived from a message by its new words."""
    after_edit(connection, message, now)
    lifecycle.after_edit(connection, message, now)
    instructions.keep_again(connection, message, now)


def _transcript_message(
    user: User, artifact: Artifact, message: Message, text: str, buttons: Buttons, *, correction: bool = False
) -> Outgoing:
    words = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN].rstrip()} …"
    shown = f"🎙 {words}"
    quotation = {"type": "expandable_blockquote", "offset": 0, "length": len(shown.encode("utf-16-le")) // 2}
    key = f"transcript:{artifact.id}"
    assert message.bot_id is not None
    assert message.chat_id is not None
    return Outgoing(
        user_id=user.user_id,
        bot_id=message.bot_id,
        chat_id=message.chat_id,
        thread_id=message.thread_id,
        text=shown,
        entities=[quotation],
        dedupe=f"{key}:{message.rev}" if correction else key,
        kind="edit" if correction else "send",
        replaces=key if correction else None,
        reply_to=None if correction else message.tg_id,
        keyboard=buttons(user, artifact.id),
        links={"message": message.id},
    )
