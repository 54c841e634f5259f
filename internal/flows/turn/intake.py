"""Stores a message: row, number, dialogue state, turn, event and the settled update are committed together (C2)."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import Connection

from internal.access import groups, limits
from internal.access.model import Allowed, Language, TooFast, User, Verdict
from internal.artifacts import repository as artifacts
from internal.artifacts.model import ARTIFACT, FILE, with_marks
from internal.chronicle import service as chronicle
from internal.chronicle.service import OPENING
from internal.config.settings import AccessConfig
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxState, Outgoing, update_key
from internal.dialogue.model import QUOTED_MARK, SPEAKER_MARK, Incoming, Message, Quoted, Reaction, Turn, clock_metadata
from internal.errors import Refused
from internal.events import repository as events
from internal.flows.runs.rerun import after_edit
from internal.flows.sessions import lifecycle
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.flows.turn import instructions
from internal.flows.turn.explain import reply_at
from internal.people import service as people
from internal.scheduling.clock import Clock
from internal.storage.change_log import changes_together
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.types import new_id

log = logging.getLogger(__name__)

TELEGRAM_RESOLUTION = timedelta(seconds=1)
"""Telegram's times are whole seconds, so that messages `group_window` apart may seem a second further apart."""

LONGEST_COLLECTION = timedelta(seconds=30)
"""The longest time that a turn collects messages, however fast its user goes on writing: he waits for an answer."""


ALBUM = timedelta(seconds=1)
"""How long the next picture of an album is waited for if messages are not grouped otherwise."""

FILE_LEFT_TO_TURN = timedelta(minutes=5)
"""How long a file is left to the turn of its message, until a job reads it."""


class IntakePhrases(Protocol):
    def __call__(self, lang: Language, key: str, **values: str | int | float) -> str:
        """The localised sentence of that key, as Markdown."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """What C2 stored: the message, and the turn that will answer it, or None without one.

    `closed`: it opened a session and closed the one before.
    """

    message: Message | None
    turn: Turn | None
    closed: bool = False


class Intake:
    """Stores incoming messages. Messages over a limit are stored too, and get a plain answer instead of a turn."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        buffers: DialogueBuffers,
        access_config: AccessConfig,
        phrases: IntakePhrases,
        group_window: timedelta,
        lifecycle: SessionLifecycle = UNJUDGED,
        reads: frozenset[str] = frozenset(),
    ) -> None:
        """Files of kinds that it `reads` become artifacts."""
        self._reads = reads
        self._database, self._clock, self._buffers = database, clock, buffers
        self._access_config, self._phrases, self._window = access_config, phrases, group_window
        self._lifecycle = lifecycle

    async def take(self, update_n: int, user: User, incoming: Incoming, *, answer: bool = True) -> StoredMessage:
        """Stores a new message, once. Without `answer` it opens no turn, as a handler replies to it."""
        now = self._clock.now()
        with acting_for(user.user_id):
            taken, refusal = await self._database.write(
                changes_together(lambda c: self._take(c, update_n, user, incoming, now, answer=answer)), point="C2"
            )
        if refusal is not None:  # the message is kept all the same, as it belongs to its owner
            log.info("author_not_stored", extra={"reason": refusal})
        if taken.message is not None:
            self._buffers.add(taken.message, now)
        return taken

    def keeps(self, attachments: Sequence[dict[str, Any]]) -> bool:
        """Whether any of these becomes an artifact."""
        return any(FILE in one and one["kind"] in self._reads for one in attachments)

    async def edit(self, update_n: int, incoming: Incoming) -> Message | None:
        """Gives a stored message its new text and returns it; None if it was never stored or says the same."""
        now = self._clock.now()
        with acting_for(incoming.user_id):
            return await self._database.write(lambda c: self._edit(c, update_n, incoming, now))

    async def react(self, update_n: int, reaction: Reaction) -> None:
        """Stores a reaction to an answer as Feedback on it; a reaction to another message is settled without effect."""
        now = self._clock.now()
        with acting_for(reaction.user_id):
            await self._database.write(lambda c: _react(c, update_n, reaction, now))

    def _take(
        self, connection: Connection, update_n: int, user: User, incoming: Incoming, now: datetime, *, answer: bool
    ) -> tuple[StoredMessage, str | None]:
        """The stored message and turn, and the reason why the author of a forward was refused."""
        update_id = mailbox.mark_processed(connection, update_n, InboxState.INGESTED, user_id=user.user_id)
        if update_id is None:
            return StoredMessage(None, None), None
        verdict = self._verdict(connection, user, incoming) if answer else Allowed()
        metadata: dict[str, Any] = {**clock_metadata(incoming.timestamp, user.tz)}
        if incoming.quoted is not None:
            metadata[QUOTED_MARK] = asdict(_with_words(connection, incoming, incoming.quoted))
        incoming, files = self._files_of(incoming)
        if incoming.speaker is not None:
            metadata[SPEAKER_MARK] = incoming.speaker.name
        answered = answer and isinstance(verdict, Allowed)
        lane = (user.user_id, incoming.bot_id, incoming.lane)
        open_turn = turns.collecting(connection, *lane) if answered else None
        joins = open_turn is not None and self._belongs(connection, open_turn, incoming, now)
        turn_id = open_turn.id if open_turn is not None and joins else new_id()
        message = dialogue.add_incoming(connection, incoming, metadata=metadata, turn_id=turn_id if answered else None)
        if message is None:
            return StoredMessage(None, None), None
        for artifact_id, (kind, file) in files.items():
            due_at = now + (FILE_LEFT_TO_TURN if answer else timedelta(0))
            address = (artifact_id, message.id, incoming.bot_id)
            artifacts.add(connection, user.user_id, *address, kind=kind, file=file, now=now, due_at=due_at)
        dialogue.record_activity(connection, user.user_id, now)
        refusal = _remember_authors(connection, incoming, now)
        turn = None
        if answer:
            instructions.keep(connection, message, now)
        if isinstance(verdict, Allowed):
            turn = self._turn_for(connection, incoming, message, open_turn, now) if answer else None
        else:
            update = update_key(incoming.bot_id, update_n)
            mailbox.enqueue(connection, self._limit_reached(user, incoming, verdict, update, now), now)
        about = _answer_to(connection, incoming)
        closed = not incoming.aside and self._lifecycle.heard(
            connection, message, tz=user.tz, now=now, command=incoming.command, about=about
        )
        limit = None if isinstance(verdict, Allowed) else type(verdict).__name__
        _append_event(connection, "message_received", (update_n, update_id), message, now, turn=turn, limit=limit)
        return StoredMessage(message, turn, closed), refusal

    def _files_of(self, incoming: Incoming) -> tuple[Incoming, dict[str, tuple[str, dict[str, Any]]]]:
        """The message with an artifact for each file that can be read, and these files; none if there is no reader.

        The message does not contain how a file is fetched.
        """
        if not any(FILE in one for one in incoming.attachments):
            return incoming, {}
        files: dict[str, tuple[str, dict[str, Any]]] = {}
        attachments = []
        for one in incoming.attachments:
            kept = {key: value for key, value in one.items() if key != FILE}
            if FILE in one and one["kind"] in self._reads:
                kept[ARTIFACT] = new_id()
                files[kept[ARTIFACT]] = one["kind"], one[FILE]
            attachments.append(kept)
        return replace(incoming, attachments=attachments), files

    def _verdict(self, connection: Connection, user: User, incoming: Incoming) -> Verdict:
        return limits.may_speak(
            connection,
            user,
            incoming.timestamp,
            messages_per_minute=0 if groups.is_group(user.user_id) else self._access_config.messages_per_minute,
            daily_cost_usd=self._access_config.daily_cost_usd,
        )

    def _turn_for(
        self, connection: Connection, incoming: Incoming, message: Message, turn: Turn | None, now: datetime
    ) -> Turn:
        """The lane's collecting `turn` if this message belongs to it, else a new one."""
        window = max(self._window, ALBUM) if incoming.album else self._window
        if turn is not None and turn.id == message.turn_id:
            return turns.extend(connection, turn, close_at=min(now + window, self._longest(turn)), seq=message.seq)
        if turn is not None:
            turns.freeze(connection, turn)
        close_at = now + window
        return turns.open_turn(connection, incoming, now=now, close_at=close_at, seq=message.seq, id=message.turn_id)

    def _belongs(self, connection: Connection, turn: Turn, incoming: Incoming, now: datetime) -> bool:
        """Compares Telegram's times: messages sent together are answered together, however late they are received."""
        if not (self._window or incoming.album) or now > self._longest(turn) or incoming.command == OPENING:
            return False  # a message that opens a session is answered in it, earlier ones in the session before
        last = dialogue.between(connection, turn.user_id, turn.last_seq, turn.last_seq)
        if last and incoming.speaker is not None and last[0].sender_id != incoming.speaker.id:
            return False
        if not self._window:
            return bool(last) and any(one.get("album") == incoming.album for one in last[0].attachments)
        return not last or incoming.timestamp - last[0].timestamp <= self._window + TELEGRAM_RESOLUTION

    def _longest(self, turn: Turn) -> datetime:
        return turn.opened_at + max(LONGEST_COLLECTION, self._window)

    def _limit_reached(self, user: User, incoming: Incoming, verdict: Verdict, update: str, now: datetime) -> Outgoing:
        if isinstance(verdict, TooFast):
            text = self._phrases(user.lang, "too-fast", limit=verdict.limit, seconds=verdict.retry_after_s)
            dedupe = f"too-fast:{user.user_id}:{int(now.timestamp()) // 60}"
        else:
            text = self._phrases(user.lang, "daily-cost-reached", limit=self._access_config.daily_cost_usd)
            dedupe = f"daily-cost:{user.user_id}:{incoming.chat_id}:{incoming.tg_id}"
        address = (user.user_id, incoming.bot_id, incoming.chat_id)
        return Outgoing(*address, text, dedupe, thread_id=incoming.thread_id, links={"update": update})

    @staticmethod
    def _edit(connection: Connection, update_n: int, incoming: Incoming, now: datetime) -> Message | None:
        update_id = mailbox.mark_processed(connection, update_n, InboxState.INGESTED, user_id=incoming.user_id)
        if update_id is None:
            return None
        message = dialogue.find_incoming(connection, incoming)
        text = incoming.text if message is None else with_marks(incoming.text, message.attachments)
        if message is None or message.content == text:
            return None
        message = dialogue.edit(connection, message, text, incoming.edited_at or now)
        after_edit(connection, message, now)
        lifecycle.after_edit(connection, message, now)
        instructions.keep_again(connection, message, now)
        _append_event(connection, "message_edited", (update_n, update_id), message, now)
        return message


def _with_words(connection: Connection, incoming: Incoming, quoted: Quoted) -> Quoted:
    """The quoted message with what was heard or seen in it: Telegram only reports a recording or picture."""
    if incoming.reply_to is None or not quoted.text.startswith("["):
        return quoted
    there = dialogue.find_incoming(connection, replace(incoming, tg_id=incoming.reply_to))
    return quoted if there is None or not there.content else replace(quoted, text=there.content)


def _answer_to(connection: Connection, incoming: Incoming) -> str | None:
    """The id of the answer to which a message replies, or whose question it replies to."""
    if incoming.reply_to is None:
        return None
    said = reply_at(connection, incoming.user_id, incoming.bot_id, incoming.chat_id, incoming.reply_to)
    return None if said is None else said.id


def _react(connection: Connection, update_n: int, reaction: Reaction, now: datetime) -> None:
    if mailbox.mark_processed(connection, update_n, InboxState.INGESTED, user_id=reaction.user_id) is None:
        return
    address = (reaction.user_id, reaction.bot_id, reaction.chat_id, reaction.tg_id)
    message_id = mailbox.message_shown(connection, *address)
    if message_id is None:
        return
    if chronicle.react(connection, reaction.user_id, message_id, reaction.text, reaction.at, by=reaction.by):
        links = {"message": message_id, "update": update_key(reaction.bot_id, update_n)}
        events.append(
            connection,
            "reaction_received",
            source=f"user:{reaction.user_id}",
            now=now,
            user_id=reaction.user_id,
            payload={"message": message_id, "reaction": reaction.text},
            links=links,
        )


def _append_event(
    connection: Connection,
    kind: str,
    update: tuple[int, int],
    message: Message,
    now: datetime,
    *,
    turn: Turn | None = None,
    **more: str | None,
) -> None:
    links = {"message": message.id, "turn": turn.id if turn else None}
    if message.bot_id is not None:
        links["update"] = update_key(message.bot_id, update[0])
    events.append(
        connection,
        kind,
        source=f"user:{message.user_id}",
        now=now,
        user_id=message.user_id,
        payload={"message": message.id, "seq": message.seq, "update_id": update[1], **more},
        links={name: ref for name, ref in links.items() if ref is not None},
    )


def _remember_authors(connection: Connection, incoming: Incoming, now: datetime) -> str | None:
    """Creates or updates the speaker, and the author of a forward, by Telegram id. Returns the reason of a refusal."""
    origin, speaker, refused = incoming.forward, incoming.speaker, None
    named = [] if speaker is None else [people.TelegramAccount(speaker.id, speaker.name, speaker.username)]
    if origin is not None and origin.user_id is not None:
        named.append(people.TelegramAccount(origin.user_id, origin.name, origin.username))
    for sender in named:
        if sender.telegram_id <= 0 or sender.telegram_id in (incoming.user_id, incoming.bot_id):
            continue
        try:
            people.from_metadata(connection, incoming.user_id, sender, seen_at=incoming.timestamp, now=now)
        except Refused as refusal:
            refused = refusal.reason
    return refused
