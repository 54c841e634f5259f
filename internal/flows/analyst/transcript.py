"""The numbered lines of a closed session for the analyst, within a budget, and the choice of answers to judge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from internal.access.model import User
from internal.agents.analyst.reactions import reactions
from internal.agents.model import TranscriptLine
from internal.chronicle import repository as sessions
from internal.chronicle.model import EventLabel
from internal.dialogue import repository as dialogue
from internal.flows.runs.slices import message_line
from internal.flows.visibility.pending_forgettings import hidden_messages, quotes_shown
from internal.llm.tokens import count_tokens

MAX_TOKENS: Final = 24_000
"""The most tokens of a transcript: 300 messages of 250 characters. A session has one call, however long it is."""

_AROUND: Final = 25
"""Tokens of a line besides its text: number, time, speaker."""

_CUTS: Final = (4_000, 2_000, 1_000, 500, 250)
"""Lengths in characters to which long lines are cut; the first that fits is taken, rather than leaving lines out."""

_HEAD: Final = 10
"""Lines at the beginning that always stay: they say what the session is about."""


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A message of a session as a line, and its event."""

    shown: TranscriptLine
    event_id: str
    message_id: str
    message_rev: int


def read_session(connection: Connection, user: User, session_id: str, persona: str) -> tuple[SessionLine, ...]:
    """The messages of a session, numbered from 1, without those about to be forgotten."""
    hidden = hidden_messages(connection, user.user_id)
    events = [
        event
        for event in sessions.events_of_session(connection, user.user_id, session_id)
        if event.label is not EventLabel.ANALYSIS and not hidden.hides(event)
    ]
    ids = [event.message_id for event in events if event.message_id is not None]
    said = quotes_shown(connection, user.user_id, dialogue.by_ids(connection, user.user_id, ids))
    messages = {message.id: message for message in said}
    there = [(event, messages[event.message_id or ""]) for event in events if event.message_id in messages]
    return tuple(
        SessionLine(message_line(number, message, user, persona), event.id, message.id, message.rev)
        for number, (event, message) in enumerate(there, start=1)
    )


def fitted(lines: Sequence[TranscriptLine], budget: int = MAX_TOKENS) -> list[TranscriptLine]:
    """The lines within a token budget: long ones are cut in the middle, then lines of the middle left out.

    Numbers stay. Pure.
    """
    shown, costs = list(lines), [_cost(line) for line in lines]
    for longest in _CUTS:
        if sum(costs) <= budget:
            return shown
        for index, line in enumerate(lines):
            if len(shown[index].text) > longest:
                shown[index] = _shortened(line, longest)
                costs[index] = _cost(shown[index])
    tail, left = len(shown), budget - sum(costs[:_HEAD])
    while tail > _HEAD and costs[tail - 1] <= left:
        tail -= 1
        left -= costs[tail]
    return [*shown[:_HEAD], *shown[max(tail, _HEAD) :]]


def responses_to_judge(lines: Sequence[TranscriptLine], most: int) -> list[int]:
    """The numbers of at most `most` answers, first those on which the owner commented. Pure."""
    found = reactions(lines)
    order = sorted(found, key=lambda number: (found[number] in ("none", "thanked"), -number))
    return order[:most]


def has_feedback(lines: Sequence[TranscriptLine]) -> bool:
    """Whether the owner corrected, complained of, commented on or asked again after an answer. Pure.

    Otherwise a model would know no more than the rules: nothing speaks against the answers.
    """
    return any(reaction not in ("none", "thanked") for reaction in reactions(lines).values())


def _shortened(line: TranscriptLine, longest: int) -> TranscriptLine:
    """The line without its middle: a question is at the beginning or the end."""
    if len(line.text) <= longest:
        return line
    end = longest // 3
    return replace(line, text=f"{line.text[: longest - end].rstrip()} … {line.text[-end:].lstrip()}")


def _cost(line: TranscriptLine) -> int:
    return count_tokens(line.text) + _AROUND
