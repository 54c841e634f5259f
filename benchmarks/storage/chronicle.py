"""The cost of the chronicle of one owner: time added to the transactions of a turn, and disk space.

    python -m benchmarks.storage.chronicle [--turns 400] [--rounds 5]

An owner asks, is answered, and falls silent after every tenth turn. The transactions are the product's own (C2, C4 and
C7) on its own database thread; rounds with and without the chronicle alternate. It counts processor time, which other
load changes little, the statements and bytes of a turn, and the time to audit the whole chronicle and to show one
session.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event, insert

from benchmarks.shared import figures
from benchmarks.shared.bot_process import circumstances
from bot.telegram.i18n import phrase
from internal.access import repository as users
from internal.chronicle import audit, repository, view
from internal.chronicle.model import ChronicleEvent
from internal.config.settings import AccessConfig, DialogueConfig
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.buffers import DialogueBuffers
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.model import Incoming, TurnState
from internal.flows.archival.publication import Publication
from internal.flows.sessions.lifecycle import SessionLifecycle
from internal.flows.turn.intake import Intake
from internal.flows.turn.prompt import freeze
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import users as users_table
from internal.testing import FIRST_MOMENT, FrozenClock

OWNER, BOT, A_SESSION = 1, 7, 10
WORDS = ("Кто такой Петров?", "Коли ми зустрічались востаннє?", "What did I promise to bring?")


class Silent(SessionLifecycle):
    """No chronicle at all."""

    def heard(self, *_: Any, **__: Any) -> bool:
        return False

    def answered(self, *_: Any, **__: Any) -> ChronicleEvent | None:  # type: ignore[override] # there is no event
        return None

    def close(self, *_: Any, **__: Any) -> None:  # type: ignore[override] # there is no session
        return None


@dataclass
class Talk:
    """Turns of one owner in a store of their own."""

    database: Database
    lifecycle: SessionLifecycle
    clock: FrozenClock = field(default_factory=FrozenClock)
    sent: int = 0
    seconds: list[float] = field(default_factory=list)
    statements: int = 0

    def __post_init__(self) -> None:
        config, window = AccessConfig(messages_per_minute=0, daily_cost_usd=0), timedelta()
        buffers = DialogueBuffers()
        self.intake = Intake(self.database, self.clock, buffers, config, phrase, window, self.lifecycle)
        self.publication = Publication(self.database, self.clock, buffers, DialogueConfig(), [], self.lifecycle)

    async def begin(self) -> None:
        await self.database.exclusive(migrate)
        row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Olena", "lang": "uk", "tz": "Europe/Kyiv"}
        await self.database.write(
            lambda c: c.execute(insert(users_table).values(**row, settings={}, created_at=FIRST_MOMENT))
        )

    async def take_turns(self, count: int) -> None:
        """Notes the processor's seconds of a turn."""
        await self.database.exclusive(self._watch)
        began = time.process_time()
        for _ in range(count):
            self.sent += 1
            self.clock.advance(60)
            await self.database.write(self._turn)
            if self.sent % A_SESSION == 0:
                self.clock.advance(1_801)
                await self.publication.publish_due()
        self.seconds.append((time.process_time() - began) / count)

    def _watch(self, connection: Connection) -> None:
        if self.sent == 0:
            event.listen(connection.engine, "after_cursor_execute", self._count)

    def _count(self, *_: Any) -> None:
        self.statements += 1

    def _turn(self, connection: Connection) -> None:
        now, words = self.clock.now(), WORDS[self.sent % len(WORDS)]
        [row] = mailbox.receive(connection, BOT, [(self.sent, "{}")], now)
        incoming = Incoming(OWNER, BOT, OWNER, self.sent, words, now)
        taken, _ = self.intake._take(connection, row.n, users.get(connection, OWNER), incoming, now, answer=True)
        assert taken.turn is not None
        question = freeze(connection, taken.turn)
        assert question is not None
        turns.finish(connection, taken.turn, TurnState.ANSWERED)
        message = dialogue.add(
            connection, OWNER, "assistant", f"Answer {self.sent}.", now=now, turn_id=taken.turn.id, delivery="sent"
        )
        dialogue.record_activity(connection, OWNER, now)
        self.lifecycle.answered(connection, message, question.asked, tz="Europe/Kyiv", now=now)

    def size(self) -> int:
        return self.database.path.stat().st_size


async def measure(folder: Path, count: int, rounds: int) -> None:
    async with Database.open(folder / "with.db") as kept, Database.open(folder / "without.db") as bare:
        kept_talk, silent = Talk(kept, SessionLifecycle()), Talk(bare, Silent())
        for talk in (kept_talk, silent):
            await talk.begin()
        for _ in range(rounds):
            for talk in (kept_talk, silent):
                await talk.take_turns(count)
        for talk in (kept_talk, silent):
            await talk.database.exclusive(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())
        with_, without = statistics.median(kept_talk.seconds), statistics.median(silent.seconds)
        all_turns = count * rounds
        print(f"a turn: {with_ * 1e3:.2f} ms with the chronicle, {without * 1e3:.2f} ms without: ", end="")
        print(f"{(with_ - without) * 1e3:.2f} ms more ({with_ / without:.2f}x)")
        figures.keep("a turn with it to one without", with_ / without)
        more = (kept_talk.statements - silent.statements) / all_turns
        print(f"statements of a turn: {silent.statements / all_turns:.1f} and {more:.1f} more")
        figures.keep("statements more", more, unit="a turn")
        print(f"bytes of a turn: +{(kept_talk.size() - silent.size()) / all_turns:.0f}")
        await _read(kept_talk, all_turns)


async def _read(kept_talk: Talk, turns_: int) -> None:
    sessions = await kept_talk.database.read(lambda c: repository.listing(c, OWNER))
    one = sessions[len(sessions) // 2].id
    shown = await _timed(kept_talk, lambda c: view.of_session(c, OWNER, one))
    audited = await _timed(kept_talk, lambda c: audit.examine(c, OWNER))
    whole = await _timed(kept_talk, lambda c: view.of_owner(c, OWNER))
    print(
        f"one session of {A_SESSION} turns as graph: {shown * 1e3:.1f} ms; all {2 * turns_} events: {whole:.2f} s; ",
        end="",
    )
    print(f"their audit: {audited:.2f} s")


async def _timed(kept_talk: Talk, work: Callable[[Connection], Any]) -> float:
    began = time.process_time()
    await kept_talk.database.read(work)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=400, help="turns of a round")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(circumstances())
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), asked.turns, asked.rounds))


if __name__ == "__main__":
    main()
