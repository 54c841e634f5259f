"""The running bot as virtual users see it: its chat, its clock, and whether it has anything left to do."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.runtime.bot import RunningBot
from bot.simulation import idle_repository as resting
from bot.simulator.client import ControlClient
from bot.simulator.clock import SimulatedClock
from bot.simulator.repository import Json
from bot.simulator.scenarios.model import VirtualUser
from internal.events import repository as events

log = logging.getLogger(__name__)

SOURCE = "system:simulator"

_LOOK_S = 0.02
_PATIENCE_S = 120.0
"""Real seconds in which the bot must become idle; then the simulation continues and reports it.

Agents with longer configured timeouts get those: a model on a processor takes minutes.
"""

_FOLLOWING_S = 1800.0

_LATEST = 10
"""Messages of a chat that are searched for buttons."""

_ALL = 1_000_000
_DAYS_KEPT = 36_500
_SIGNS = "✓✕« "


class Stage:
    """One running bot, one local Telegram, one clock for both."""

    def __init__(self, running: RunningBot, people: ControlClient, clock: SimulatedClock) -> None:
        self.app, self.clock = running.app, clock
        self._side, self._people = running.side, people
        self.restless = 0
        running.app.recorder.kept = timedelta(days=_DAYS_KEPT)  # the report counts the calls of all weeks
        limits = [one.timeout.total_seconds() for _, one in running.app.config.agents.each() if one.timeout]
        self._patience = max([_PATIENCE_S, *limits])
        self._looked_at: dict[int, int] = {}

    async def add_users(self, users: Sequence[VirtualUser]) -> None:
        """Adds the virtual users to the local Telegram; nothing is sent yet."""
        await self._people.request("PUT", "/flood", {"enabled": False})
        for user in users:
            await self._people.add_user(
                user.first_name,
                id=user.id,
                last_name=user.last_name,
                username=user.username,
                language_code=user.language,
            )

    async def move(self, to: datetime, until: datetime) -> None:
        """Moves both clocks to a moment; they will stop at `until`."""
        now = self.clock.advance(to, until=until)
        moments = {"now": now.isoformat(), "until": max(now, until).isoformat()}
        await self._people.request("PUT", "/clock", moments)
        self._side.sender.wake()

    async def release(self) -> None:
        """Lets time pass in real time from now on, unless the simulation is ahead of it."""
        now = self.clock.release()
        await self._people.request("PUT", "/clock", {"now": now.isoformat()})
        self._side.sender.wake()

    async def say(self, user_id: int, text: str) -> int:
        """Sends a message. Returns its id."""
        return int((await self._people.say(user_id, text))["message_id"])

    async def edit(self, user_id: int, message_id: int, text: str) -> None:
        await self._people.edit(user_id, message_id, text)

    async def press(self, user_id: int, labels: Sequence[str]) -> bool:
        """Presses the first button that begins with one of the labels, in the newest message that has one."""
        for message in reversed(await self._messages(user_id, _LATEST)):
            for button in _buttons(message):
                if any(button["text"].casefold().lstrip(_SIGNS).startswith(label) for label in labels):
                    await self._people.press(user_id, message["message_id"], button["callback_data"])
                    return True
        return False

    async def tap_offered(self, user: VirtualUser) -> bool:
        """Presses the buttons that this user always presses, in messages since the last call; returns if any was."""
        tapped, seen = False, self._looked_at.get(user.id, 0)
        for message in await self._messages(user.id, _LATEST):
            if message["message_id"] <= seen:
                continue
            self._looked_at[user.id] = message["message_id"]
            for button in _buttons(message):
                if button["text"] in user.taps:
                    await self._people.press(user.id, message["message_id"], button["callback_data"])
                    tapped = True
                    break
        return tapped

    async def bot_messages(self, user_id: int, after: int = 0) -> list[Json]:
        """The bot's messages in a private chat with ids above `after`, oldest first."""
        return [message for message in await self._messages(user_id, _ALL) if message["message_id"] > after]

    async def answers(self, user_id: int, question: int) -> list[Json]:
        """The bot's messages after a question. Waits for one: Telegram may get it a moment after the bot is done."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while not (found := await self.bot_messages(user_id, question)):  # noqa: ASYNC110 - as above
                    await asyncio.sleep(_LOOK_S)
                return found
        except TimeoutError:
            self._give_up("an answer")
            return []

    async def _messages(self, user_id: int, limit: int) -> list[Json]:
        """The bot's messages among the last `limit` of a private chat, oldest first."""
        found = await self._people.request("GET", f"/chats/{user_id}/messages", limit=limit)
        return [message for message in found["messages"] if message["from"]["is_bot"]]

    async def wait_until_answered(self) -> None:
        """Waits until every message is answered and every answer has arrived."""
        try:
            async with asyncio.timeout(self._patience):
                while await self._unanswered():  # noqa: ASYNC110 - another process is waited for
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            self._give_up("answers")

    async def wait_until_idle(self) -> None:
        """Waits until everything due is done: a complete check finds nothing and causes no event."""
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    before = await self.app.database.read(events.last_position)
                    await self.app.ticker.round()
                    if not await self._busy() and before == await self.app.database.read(events.last_position):
                        return
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            self._give_up("work")

    async def wait_until_indexed(self) -> None:
        """Waits until every text has its terms and its vector."""
        try:
            async with asyncio.timeout(_FOLLOWING_S):
                while (progress := await self.app.vectors.progress()).done < progress.total:
                    await self.app.ticker.round()
        except TimeoutError:
            self._give_up("vectors")

    async def next_due(self) -> datetime | None:
        now, idle = self.clock.now(), self.app.config.dialogue.idle_timeout + timedelta(seconds=1)
        return await self.app.database.read(lambda c: resting.next_due(c, now, idle))

    async def note(self, event_type: str, users: Sequence[int], payload: dict[str, Any]) -> None:
        """Records an event for each virtual user, so that it is in everybody's timeline."""
        now = self.clock.now()

        def work(connection: Any) -> None:
            for user_id in users:
                events.append(connection, event_type, source=SOURCE, now=now, user_id=user_id, payload=payload)

        await self.app.database.write(work)

    async def _unanswered(self) -> int:
        now = self.clock.now()
        pending = (await self._people.request("GET", "/state"))["pending_updates"]
        return int(pending) + await self.app.database.read(lambda c: resting.unanswered(c, now))

    async def _busy(self) -> int:
        now = self.clock.now()
        return await self._unanswered() + await self.app.database.read(lambda c: resting.count_working_runs(c, now))

    def _give_up(self, what: str) -> None:
        self.restless += 1
        log.warning("simulation_restless", extra={"waited_for": what, "at": self.clock.now().isoformat()})


def _buttons(message: Json) -> list[Json]:
    rows = (message.get("reply_markup") or {}).get("inline_keyboard") or []
    return [button for row in rows for button in row if "callback_data" in button]
