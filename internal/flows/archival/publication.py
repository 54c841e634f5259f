"""Publishes an idle or full dialogue as a fragment: an episode, its runs and the cursor, in one transaction (C7)."""

import itertools
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from internal.access import repository as users
from internal.chronicle import repository as chronicle
from internal.chronicle.model import Session, SessionCommand
from internal.chronicle.service import CLOSING
from internal.config.settings import DialogueConfig
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.model import Message, own_words, visible
from internal.errors import Refused
from internal.events import bus
from internal.events.bus import EventTopic
from internal.flows.indexing.fragments import follow_messages
from internal.flows.runs import rerun
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode, Segment
from internal.memory import service as memory
from internal.scheduling import run_repository as runs
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.owner_counters import next_rev
from internal.storage.types import new_id

log = logging.getLogger(__name__)

SLICE = 60
"""The most messages of one model call; with more, replies would be cut by their length limit."""

IDLE_BATCH = 200
"""The most dialogues checked in one tick; the rest follow at the next."""


LOOKED_BACK = timedelta(minutes=10)
"""How far before the last check messages are checked again, since the clocks of several machines differ."""


@dataclass(frozen=True, slots=True)
class Published:
    """One publication: `count` messages up to `last_seq`, of which `said` are the owner's own.

    `closed`: the dialogue is over.
    """

    count: int
    said: int
    last_seq: int
    closed: bool


NOTHING_LEFT = Published(0, 0, 0, closed=True)
"""The dialogue is over, and everything was published before."""


class Publication:
    """Publishes fragments. `agents` are the names of the agents that get a run for each slice.

    A dialogue that ends closes its session. One that was closed by a command is published up to its end.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        buffers: DialogueBuffers,
        config: DialogueConfig,
        agents: Sequence[str],
        lifecycle: SessionLifecycle = UNJUDGED,
    ) -> None:
        self._database, self._clock, self._buffers = database, clock, buffers
        self._config, self._lifecycle = config, lifecycle
        self._agents = self.agents = agents
        self._ended: set[int] = set()
        self._looked: datetime | None = None

    async def publish_due(self) -> int:
        """Publishes every idle and every full dialogue. Returns the number of fragments."""
        moment = self._clock.now() - self._config.idle_timeout
        idle = await self._database.read(lambda c: dialogue.idle_since(c, moment, limit=IDLE_BATCH))
        fragments = 0
        for user_id in idle:
            fragments += await self._guarded(user_id, self._publish_all(user_id, closes=True, idle_before=moment))
        for user_id in await self._full():
            fragments += await self._guarded(user_id, self._publish_all(user_id, closes=False, most=1))
        return fragments + await self.publish_ended()

    async def _full(self) -> list[int]:
        if self._buffers.kept:
            return list(self._buffers.full(self._config.max_messages))
        looked = self._clock.now()
        since, size = self._looked, self._config.max_messages
        full = await self._database.read(lambda c: dialogue.full_since(c, since, size))
        self._looked = looked - LOOKED_BACK  # not before the read, which is repeated if it fails
        return full

    async def publish_ended(self) -> int:
        """Publishes the sessions that this process saw end. Returns the number of fragments."""
        fragments = 0
        while self._ended:
            user_id = self._ended.pop()
            fragments += await self._guarded(user_id, self._publish_all(user_id, closes=False, ended=True))
        return fragments

    def session_ended(self, user_id: int) -> None:
        """Marks closed sessions for publication at the next tick; after a crash the idle timeout does it."""
        self._ended.add(user_id)

    async def close_session(
        self, user_id: int, command: SessionCommand | None = CLOSING, thread_id: int = 0
    ) -> Session | None:
        """Closes a topic's open session (`/ss`, or `/db` if None) and publishes what it can. None if none is open.

        An answer that is being written still joins it, and its question is published after the idle timeout.
        """
        now = self._clock.now()
        with acting_for(user_id):
            closed = await self._database.write(
                lambda c: self._lifecycle.close(c, user_id, now, command=command, thread_id=thread_id), point="C7"
            )
        if closed is not None:
            await self._publish_all(user_id, closes=False, ended=True)
        return closed

    async def _guarded(self, user_id: int, publishing: Awaitable[list[Published]]) -> int:
        try:
            return len(await publishing)
        except Exception:  # outermost handler of one dialogue: it stays due, and must not delay the others
            log.exception("publication_failed", extra={"user_id": user_id})
            return 0

    async def publish_now(self, user_id: int) -> Sequence[Published]:
        """Publishes buffered messages without ending the dialogue. Returns the fragments."""
        return await self._publish_all(user_id, closes=False)

    async def backfill(self, agent: str, user_ids: Sequence[int], *, again: bool = False) -> int:
        """Gives an agent the fragments, or closed sessions, that it never worked on. Returns their number.

        With `again` it works once more on all others too, and its new results replace the old ones. Raises
        Refused("agent").
        """
        known = [*self._agents, *self._lifecycle.agents]
        if agent not in known:
            raise Refused("agent", f"there is no agent {agent}; there are {', '.join(known)}")
        count = 0
        for user_id in user_ids:
            with acting_for(user_id):
                count += await self._database.write(lambda c, u=user_id: self._backfill(c, u, agent, again))  # type: ignore[misc]
        return count

    def _backfill(self, connection: Connection, user_id: int, agent: str, again: bool) -> int:
        now = self._clock.now()
        if agent in self._lifecycle.agents:
            return self._lifecycle.backfill(connection, user_id, now, again=again)
        repeated = rerun.again(connection, user_id, agent, now) if again else 0
        missing = runs.episodes_without(connection, user_id, agent)
        for episode_id, length in missing:
            rev = next_rev(connection, user_id)
            runs.create(connection, user_id, agent, episode_id, slices(length), rev=rev, now=now)
            episodes.reopen(connection, user_id, episode_id)
        return len(missing) + repeated

    async def _publish_all(
        self,
        user_id: int,
        *,
        closes: bool,
        ended: bool = False,
        idle_before: datetime | None = None,
        most: int | None = None,
    ) -> list[Published]:
        fragments: list[Published] = []
        while most is None or len(fragments) < most:
            published = await self._publish_once(user_id, closes=closes, ended=ended, idle_before=idle_before)
            if published is None or not published.count:
                break
            fragments.append(published)
        return fragments

    async def _publish_once(
        self, user_id: int, *, closes: bool, ended: bool, idle_before: datetime | None
    ) -> Published | None:
        now = self._clock.now()
        with acting_for(user_id):
            published = await self._database.write(
                lambda c: self._publish(c, user_id, now, closes=closes, ended=ended, idle_before=idle_before),
                point="C7",
            )
        if published is not None:
            self._buffers.publish(user_id, published.last_seq, closes=published.closed)
        if published is not None and published.count:
            log.info("fragment_published", extra={"user_id": user_id, "messages": published.count})
        return published

    def _publish(
        self,
        connection: Connection,
        user_id: int,
        now: datetime,
        *,
        closes: bool,
        ended: bool,
        idle_before: datetime | None,
    ) -> Published | None:
        """Publishes a fragment; `ended`: only closed sessions, and the dialogue is over if no session is open."""
        state = dialogue.get_dialogue_state(connection, user_id)
        if state is None or (idle_before is not None and state.last_activity > idle_before):
            return None
        if everything_asked(connection, user_id) is not None:
            return None  # nothing new is derived from messages that are about to be forgotten
        size = self._config.max_messages
        opened = {one.id for one in chronicle.open_sessions(connection, user_id)} if ended else set()
        closes = closes or (ended and not opened)
        waiting = dialogue.unpublished_messages(connection, user_id, limit=2 * size)
        if closes and not waiting:
            self._close(connection, user_id, now)
            return NOTHING_LEFT
        bot_id = users.read_setting(connection, "bot_id")
        said_in = chronicle.session_of_messages(connection, user_id, [message.id for message in waiting])
        fragment = fragment_of(waiting, turns.first_open_seq(connection, user_id, bot_id), size, said_in)
        if not fragment or said_in.get(fragment[-1].id) in opened:
            return None
        return self._write_fragment(connection, user_id, fragment, now, closes=closes)

    def _close(self, connection: Connection, user_id: int, now: datetime) -> None:
        dialogue.close_dialogue(connection, user_id)
        self._lifecycle.close_all(connection, user_id, now)

    def _write_fragment(
        self, connection: Connection, user_id: int, fragment: list[Message], now: datetime, *, closes: bool
    ) -> Published:
        first, last = fragment[0], fragment[-1]
        episode = Episode(
            user_id=user_id,
            id=new_id(),
            source="message",
            name=f"dialogue {first.timestamp:%Y-%m-%d %H:%M}",
            content="",
            source_description="Telegram dialogue",
            source_url=None,
            reference_time=first.timestamp,
            created_at=now,
            first_seq=first.seq,
            last_seq=last.seq,
        )
        evidence = [m for m in visible(fragment) if m.role != "system"]
        parts = [Segment(n, m.timestamp, None, m.id) for n, m in enumerate(evidence, start=1)]
        episodes.add_episode(connection, episode, parts)
        rev = next_rev(connection, user_id)
        # Messages on the bot's own initiative without an answer say nothing about the owner.
        alone = all(message.notification_id is not None for message in evidence)
        for agent in () if alone else self._agents:
            runs.create(connection, user_id, agent, episode.id, slices(len(parts)), rev=rev, now=now)
        episodes.mark_processed(connection, user_id, episode.id, now)  # if no agent works on it
        bus.publish(
            connection,
            EventTopic.RAW,
            source="agent:DialogueAgent",
            now=now,
            user_id=user_id,
            payload={"episode": episode.id, "messages": len(fragment), "first_seq": first.seq, "last_seq": last.seq},
            links={"fragment": episode.id},
            about={"messages": [message.id for message in fragment]},
        )
        dialogue.publish_cursor(connection, user_id, episode.id, last, first.seq, closes=False)
        follow_messages(connection, user_id, episode.id)
        memory.publish(connection, user_id, {m.id: (episode.id, n) for n, m in enumerate(evidence, start=1)})
        closed = closes and not dialogue.unpublished_messages(connection, user_id, limit=1)
        if closed:
            self._close(connection, user_id, now)
        return Published(len(fragment), len(own_words(fragment)), last.seq, closed)


def slices(count: int) -> list[tuple[int, int]]:
    """The numbers 1..count in ranges of at most SLICE, as even as possible, as (first, last) pairs."""
    if count == 0:
        return []
    pieces = -(-count // SLICE)
    borders = [round(count * piece / pieces) for piece in range(pieces + 1)]
    return [(begin + 1, end) for begin, end in itertools.pairwise(borders)]


def fragment_of(
    waiting: Sequence[Message], open_seq: int | None, size: int, said_in: Mapping[str, str] | None = None
) -> list[Message]:
    """The longest prefix of at most `size` messages before `open_seq` in which every turn is complete.

    `open_seq` is the first message of an unanswered turn. A turn longer than `size` is cut all the same.
    `said_in` are the sessions of messages: the fragment ends where another one begins, unless turns of both overlap.
    """
    ends = {message.turn_id or "": index for index, message in enumerate(waiting)}
    settled = [message for message in waiting if open_seq is None or message.seq < open_seq][:size]
    end = reach = 0
    for index, message in enumerate(settled):
        reach = max(reach, ends[message.turn_id] if message.turn_id is not None else index)
        if reach == index:
            end = index + 1
            if said_in and _changes_session(waiting, index, said_in):
                break
    if not end and len(settled) == size:
        end = size
    return settled[:end]


def _changes_session(waiting: Sequence[Message], index: int, said_in: Mapping[str, str]) -> bool:
    """Whether another session of the same topic begins after this position; messages without an event begin none."""
    following = next((one for one in waiting[index + 1 :] if one.id in said_in), None)
    if following is None:
        return False
    topic = (one for one in reversed(waiting[: index + 1]) if one.thread_id == following.thread_id)
    here = next((said_in[one.id] for one in topic if one.id in said_in), None)
    return here not in (None, said_in[following.id])
