"""Reads received files: fetched, stored under their hash, read by the reader of their kind, written in one transaction.

The message is stored first (C2), and a file is due until its text is written: a process that is killed meanwhile
reads it again. A file during which the process ends repeatedly is given up.
"""

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import Language, User
from internal.artifacts import repository as artifacts
from internal.artifacts.model import (
    ARTIFACT,
    FAILED,
    READ,
    SPOKEN,
    Artifact,
    FileSource,
    FileText,
    FileUnavailable,
    Part,
    Reader,
    Reason,
    Received,
    UnreadableFile,
    mark_of,
)
from internal.artifacts.sections import CHAPTERS, SHEETS, SLIDES
from internal.artifacts.store import ArtifactStore
from internal.config.media import MediaConfig
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import Message
from internal.errors import ModelError, StorageError
from internal.events import repository as events
from internal.events.trigger import caused_by
from internal.flows.archival.ingestion import add_episode
from internal.flows.artifacts import exports, transcripts
from internal.flows.artifacts.transcripts import Buttons
from internal.flows.runs.rerun import after_edit
from internal.flows.turn.files import Keyboard, Progress, failure_line, unseen
from internal.flows.turn.intake import IntakePhrases
from internal.knowledge.model import OF_FILE, Segment
from internal.language.text.passages import passages
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 4
"""The most attempts at one file, including those during which the process ended."""

LONGEST_IN_MESSAGE: Final = 12_000
"""The most characters of a transcript in its message, as the start of a longer one, which is an episode too."""

ARCHIVED: Final = 60
"""The most passages of a file that the archivist reads, some 30 pages: the people of a novel are no acquaintances."""

AT_ONCE: Final = 4
"""Files of one turn that are read in parallel: an album has up to ten pictures."""

_PAUSES: Final = timedelta(seconds=1), timedelta(seconds=8)
_PUT_OFF: Final = timedelta(minutes=5), timedelta(hours=6)
_PATIENT: Final = timedelta(days=2)
"""How long an outage is waited for after the user was notified of it."""
_MAY_PASS: Final[frozenset[Reason]] = frozenset({"unavailable", "slow"})
"""Reasons for which another attempt may succeed."""

_BATCH: Final = 20
_PART_WORDS: Final[dict[Language, tuple[str, str, str, str, str]]] = {
    "en": ("p.", "slide", "sheet", "row", "ch."),
    "ru": ("с.", "слайд", "лист", "строка", "гл."),
    "uk": ("с.", "слайд", "аркуш", "рядок", "розд."),
}


class ArtifactReading:
    """Reads each file once: for a turn before it is answered, others in a job."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        store: ArtifactStore,
        readers: Sequence[Reader],
        source: FileSource,
        limits: MediaConfig,
        phrases: IntakePhrases,
        buttons: Buttons,
        offers: Buttons,
        again: Buttons,
        agents: Sequence[str] = (),
    ) -> None:
        """`buttons` are below a transcript, `offers` below the question whether to import an export, `again` below
        the line that a recording cannot be heard during an outage.

        `agents` work on the text of a file if it is an episode.
        """
        self._database, self._clock, self._store, self._source = database, clock, store, source
        self._limits, self._phrases, self._agents, self._buttons = limits, phrases, agents, buttons
        self._offers, self._again = offers, again
        self._readers = {kind: reader for reader in readers for kind in reader.kinds}

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of attachments that can be read."""
        return frozenset(self._readers)

    async def read_of(self, user: User, messages: Sequence[Message], progress: Progress) -> datetime:
        """Reads the due files of these messages and notes each outcome in its message. Returns the time."""
        ids = [message.id for message in messages]
        found = await self._database.read(lambda c: artifacts.of_messages(c, user.user_id, ids))
        at_once = asyncio.Semaphore(AT_ONCE)

        async def read(artifact: Artifact) -> None:
            async with at_once:
                await self._read(user, artifact, progress)

        async with asyncio.TaskGroup() as reading:
            for artifact in found:
                reading.create_task(read(artifact))
        return self._clock.now()

    def below(self, user: User, messages: Sequence[Message]) -> Keyboard:
        """The buttons below the line that a recording in these messages cannot be heard now; None if all were."""
        found = (one for message in messages for one in message.attachments)
        hidden = next((one for one in found if one.get("kind") in SPOKEN and one.get(FAILED) in _MAY_PASS), None)
        return None if hidden is None else self._again(user, str(hidden[ARTIFACT]))

    async def read_waiting(self) -> int:
        """Reads the files that no turn read in time. Returns their number."""
        now = self._clock.now()
        found = await self._database.read(lambda c: artifacts.due_artifacts(c, now, limit=_BATCH))
        for artifact in found:
            with acting_for(artifact.user_id), caused_by(turn=artifact.message_id):
                user = await self._database.read(lambda c, one=artifact: users.get(c, one.user_id))  # type: ignore[misc]
                await self._read(user, artifact)
        return len(found)

    async def _read(self, user: User, artifact: Artifact, progress: Progress = unseen) -> None:
        while True:
            later = self._clock.now() + 2 * self._patience(artifact)
            begun = await self._database.write(lambda c, at=later: artifacts.begin(c, artifact, at))  # type: ignore[misc]
            if begun is None:
                return None
            reason = await self._attempt(user, begun, progress)
            if reason is None:
                return None
            if reason != "unavailable" or begun.attempts >= MOST_ATTEMPTS:
                return await self._fail(user, begun, reason)
            await asyncio.sleep(retry_delay(begun.attempts, *_PAUSES).total_seconds())

    def _patience(self, artifact: Artifact) -> timedelta:
        own: timedelta | None = getattr(self._readers[artifact.kind], "patience", None)
        return own or self._limits.timeout

    async def _attempt(self, user: User, artifact: Artifact, progress: Progress) -> Reason | None:
        """Makes one attempt. Returns the reason why the file was not read, or None."""
        if artifact.attempts > MOST_ATTEMPTS:
            return "damaged"
        try:
            async with asyncio.timeout(self._patience(artifact).total_seconds()):
                async with asyncio.timeout(self._limits.timeout.total_seconds()):
                    kept, content = await self._content(artifact)
                said = await self._database.read(lambda c: _file_words(c, artifact))

                async def show(part: int, parts: int) -> None:
                    await progress(self._phrases(user.lang, "artifact-progress", part=part, parts=parts))

                received = Received(kept, content, user.lang, said, show)
                found = await self._readers[artifact.kind].read(received)
        except UnreadableFile as error:
            return error.reason
        except TimeoutError:
            return "slow"
        except (FileUnavailable, ModelError, StorageError) as error:
            log.warning("artifact_waits", extra={"artifact": artifact.id, "error": str(error)})
            return "unavailable"
        if not (any(map(str.isalnum, found.text)) or found.in_message or found.export):
            return "empty"
        await self._database.write(lambda c: self._settle(c, user, kept, found))
        return None

    async def _content(self, artifact: Artifact) -> tuple[Artifact, bytes]:
        """The bytes, from the store if an earlier attempt got that far, and the artifact with their hash."""
        if artifact.size is not None and artifact.size > self._limits.max_bytes:
            raise UnreadableFile("large")
        content = await self._store.get(artifact.sha256) if artifact.sha256 else None
        if content is not None:
            return artifact, content
        content = await self._source.fetch(artifact, self._limits.max_bytes)
        sha256, now = hashlib.sha256(content).hexdigest(), self._clock.now()
        if not await self._database.write(lambda c: artifacts.keep_file(c, artifact, sha256, len(content), now)):
            raise FileUnavailable("equal bytes are being deleted")
        await self._store.put(sha256, content)
        return replace(artifact, sha256=sha256, size=len(content)), content

    async def _fail(self, user: User, artifact: Artifact, reason: Reason) -> None:
        log.info("artifact_unreadable", extra={"artifact": artifact.id, "reason": reason})

        def work(connection: Connection) -> None:
            later = self._later(artifact) if reason == "unavailable" else None
            if later is not None:
                artifacts.put_off(connection, artifact, later, MOST_ATTEMPTS - 2)
            elif not artifacts.fail(connection, artifact, reason):
                return
            message = self._note(connection, artifact, "", {FAILED: reason})
            if message is not None and message.turn_id is None:  # no turn will report it
                self._tell(connection, user, artifact, message, reason)

        await self._database.write(work)

    def _later(self, artifact: Artifact) -> datetime | None:
        """When speech that an outage hides is read again, with a doubled delay each time; None = given up."""
        now = self._clock.now()
        age = now - artifact.added_at
        soonest, latest = _PUT_OFF
        return now + min(max(age, soonest), latest) if artifact.kind in SPOKEN and age < _PATIENT else None

    def _tell(self, connection: Connection, user: User, artifact: Artifact, message: Message, reason: Reason) -> None:
        if message.bot_id is None or message.chat_id is None:
            return
        text = failure_line(self._phrases, user.lang, artifact.kind, artifact.name, reason)
        line = Outgoing(message.user_id, message.bot_id, message.chat_id, text, f"file:{artifact.id}")
        line = replace(line, thread_id=message.thread_id, keyboard=self.below(user, [message]))
        mailbox.enqueue(connection, line, self._clock.now())

    def _settle(self, connection: Connection, user: User, artifact: Artifact, found: FileText) -> None:
        if not artifacts.mark_read(connection, artifact, pages=found.pages):
            return
        text = found.text
        shown = text if len(text) <= LONGEST_IN_MESSAGE else f"{text[:LONGEST_IN_MESSAGE].rstrip()} …"
        mark = mark_of(artifact.kind, artifact.name, shown if found.in_message else None)
        outcome: dict[str, object] = {READ: mark, "pages": found.pages}
        outcome |= {key: value for key, value in (("export", found.export), (FAILED, found.failed)) if value}
        message = self._note(connection, artifact, mark, outcome)
        if message is None:
            return
        now = self._clock.now()
        if found.export is not None:
            asked = exports.offer(user, artifact, message, found.export, self._phrases, self._offers)
            if asked is not None:
                mailbox.enqueue(connection, asked, now)
        elif not found.in_message or shown != text:
            self._add_episode(connection, artifact, found, message)
        elif message.turn_id is not None:  # in a group, only messages to the bot
            late = artifact.reason is not None and len(message.attachments) == 1
            transcripts.show(connection, user, artifact, message, text, self._buttons, now, late=late)
        if artifact.kind in SPOKEN:
            transcripts.update_derived(connection, message, now)
        events.append(
            connection,
            "artifact_read",
            source="system:artifacts",
            now=now,
            user_id=artifact.user_id,
            payload={"artifact": artifact.id, "kind": artifact.kind, "pages": found.pages, "size": artifact.size},
            links={"message": artifact.message_id},
        )

    def _note(
        self, connection: Connection, artifact: Artifact, mark: str, outcome: dict[str, object]
    ) -> Message | None:
        """Writes the outcome for its file into the message. None if it was forgotten meanwhile."""
        found = dialogue.by_ids(connection, artifact.user_id, [artifact.message_id])
        if not found:
            return None
        [message] = found
        own = next((one for one in message.attachments if one.get(ARTIFACT) == artifact.id), {})
        if outcome.items() <= own.items():  # said before
            return None
        changed_one = {key: value for key, value in own.items() if key != FAILED} | outcome
        attachments = [changed_one if one is own else one for one in message.attachments]
        content = "\n".join(filter(None, (message.content, mark)))
        changed = dialogue.put_file_text(connection, message, content, attachments)
        after_edit(connection, changed, self._clock.now())
        return changed

    def _add_episode(self, connection: Connection, artifact: Artifact, found: FileText, message: Message) -> None:
        lang = users.get(connection, artifact.user_id).lang
        pieces = [(piece, part) for part in found.parts for piece in passages(part.text)]
        segments = [
            Segment(n, message.timestamp, text, None, speaker=part_label(artifact, part, lang), own=found.in_message)
            for n, (text, part) in enumerate(pieces, start=1)
        ]
        add_episode(
            connection,
            artifact.user_id,
            source="text",
            name=artifact.name,
            segments=segments,
            source_description=OF_FILE,
            source_url=None,
            reference_time=message.timestamp,
            dedupe=None,
            agents=self._agents,
            now=self._clock.now(),
            episode_id=artifact.id,
            archived=ARCHIVED,
        )


def part_label(artifact: Artifact, part: Part, lang: Language) -> str:
    """The position of a passage, as prompts, citations and the archivist name it.

    `contract.pdf, p. 3`, `costs.xlsx, sheet 1 (May), row 12`.
    """
    page, slide, sheet, row, chapter = _PART_WORDS[lang]
    if part.page is None:
        return f"{artifact.name}, {part.title}" if part.title else artifact.name
    suffix = artifact.name.rpartition(".")[2].casefold()
    unit = slide if suffix in SLIDES else sheet if suffix in SHEETS else chapter if suffix in CHAPTERS else page
    title = f" ({part.title})" if part.title else ""
    return f"{artifact.name}, {unit} {part.page}{title}" + (f", {row} {part.row}" if part.row else "")


def _file_words(connection: Connection, artifact: Artifact) -> str:
    found = dialogue.by_ids(connection, artifact.user_id, [artifact.message_id])
    return found[0].content if found else ""
