"""The in-memory buffers of each user's messages that are in no fragment yet. The database can rebuild them."""

from array import array
from collections.abc import Iterable
from datetime import datetime

from internal.dialogue.model import DialogueState, Message


class DialogueBuffers:
    """One `DialogueState` for each active dialogue, changed only after the commit of the mirrored rows.

    If other processes write into the store too, nothing is kept here: only the store is up to date.
    """

    def __init__(self, *, kept: bool = True) -> None:
        self.kept = kept
        self._states: dict[int, DialogueState] = {}

    def restore(self, state: DialogueState) -> None:
        if self.kept:
            self._states[state.user_id] = state

    def add(self, message: Message, now: datetime) -> None:
        """Adds a message stored at `now`; one that is there already is ignored."""
        if not self.kept:
            return
        state = self._states.setdefault(
            message.user_id, DialogueState(message.user_id, array("q"), now, is_active=True)
        )
        if not state.buffer or state.buffer[-1] < message.seq:
            state.buffer.append(message.seq)
        state.last_activity, state.is_active = now, True

    def publish(self, user_id: int, last_seq: int, *, closes: bool) -> None:
        """Removes the messages of a published fragment, or the whole state if the dialogue is over."""
        state = self._states.get(user_id)
        if state is None:
            return
        state.buffer = array("q", (seq for seq in state.buffer if seq > last_seq))
        state.is_active = not closes
        if closes and not state.buffer:
            del self._states[user_id]

    def forget(self, user_id: int) -> None:
        self._states.pop(user_id, None)

    def of(self, user_id: int) -> list[int]:
        """The `seq` of each message in the user's buffer, oldest first."""
        state = self._states.get(user_id)
        return list(state.buffer) if state else []

    def states(self) -> list[DialogueState]:
        """Copies of all states, in no order."""
        return [
            DialogueState(s.user_id, array("q", s.buffer), s.last_activity, s.is_active) for s in self._states.values()
        ]

    def full(self, size: int) -> Iterable[int]:
        """Users whose buffer holds at least `size` messages."""
        return [user_id for user_id, state in self._states.items() if len(state.buffer) >= size]

    def __len__(self) -> int:
        return len(self._states)
