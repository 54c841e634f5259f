"""The in-memory buffers: what each user said that is in no fragment yet. The database can always rebuild them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from internal.dialogue.model import DialogueState, Message


class DialogueBuffers:
    """One `DialogueState` a user, changed only after the commit of what it mirrors."""

    def __init__(self) -> None:
        self._states: dict[int, DialogueState] = {}

    def restore(self, state: DialogueState) -> None:
        self._states[state.user_id] = state

    def add(self, message: Message) -> None:
        """Takes in a stored message; one that is there already is not taken twice."""
        state = self._states.setdefault(
            message.user_id, DialogueState(message.user_id, [], message.timestamp, is_active=True)
        )
        if not state.buffer or state.buffer[-1].seq < message.seq:
            state.buffer.append(message)
        state.last_activity, state.is_active = max(state.last_activity, message.timestamp), True

    def edit(self, user_id: int, seq: int, text: str, edited_at: datetime) -> None:
        state = self._states.get(user_id)
        if state is not None:
            state.buffer = [replace(m, content=text, edited_at=edited_at) if m.seq == seq else m for m in state.buffer]

    def publish(self, user_id: int, last_seq: int, *, closes: bool) -> None:
        """Drops what went into a fragment."""
        state = self._states.get(user_id)
        if state is None:
            return
        state.buffer = [message for message in state.buffer if message.seq > last_seq]
        state.is_active = not closes
        if closes and not state.buffer:
            del self._states[user_id]

    def forget(self, user_id: int) -> None:
        self._states.pop(user_id, None)

    def of(self, user_id: int) -> list[Message]:
        """A copy of the user's buffer, oldest first."""
        state = self._states.get(user_id)
        return list(state.buffer) if state else []

    def full(self, size: int) -> Iterable[int]:
        """Users whose buffer holds at least `size` messages."""
        return [user_id for user_id, state in self._states.items() if len(state.buffer) >= size]

    def __len__(self) -> int:
        return len(self._states)
