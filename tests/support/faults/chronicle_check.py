"""What the chronicle of a killed bot must be like, read from outside: one line of all that its log holds.

Plain SQL on purpose, as in the verdict.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from itertools import pairwise

_SAID = "SELECT id, role, turn_id FROM messages WHERE user_id = ? AND role IN ('user', 'assistant') ORDER BY seq"
_EVENTS = "SELECT n, session_id, label, message_id, answers_n FROM chronicle WHERE user_id = ? ORDER BY n"
_SESSIONS = "SELECT id, closed_at FROM sessions WHERE user_id = ?"


def broken_line(database: sqlite3.Connection, user: int) -> list[str]:
    """Every way in which an owner's chronicle is not one line with an event for each message, in the log's order."""
    said = database.execute(_SAID, (user,)).fetchall()
    events = database.execute(_EVENTS, (user,)).fetchall()
    sessions = dict(database.execute(_SESSIONS, (user,)).fetchall())
    return [
        *_beside_log(user, [row[0] for row in said], [row[3] for row in events if row[3] is not None]),
        *_sessions(user, sessions, events),
        *_answers(user, {row[0]: row[2] for row in said}, events),
    ]


def _beside_log(user: int, said: list[str], told: list[str]) -> list[str]:
    found = [f"message {one} of {user} has {count} events" for one, count in Counter(told).items() if count > 1]
    found += [f"message {one} of {user} has no event" for one in said if one not in told]
    found += [f"an event of {user} tells message {one}, which is not there" for one in told if one not in said]
    steps = set(pairwise(told))
    return found + [
        f"NEXT of {user} does not lead from {one} to {two}" for one, two in pairwise(said) if (one, two) not in steps
    ]


def _sessions(user: int, sessions: dict[str, int | None], events: list[tuple[int, str, str, str, int]]) -> list[str]:
    labels: dict[str, list[str]] = defaultdict(list)
    for _, session, label, _, _ in events:
        labels[session] += [label] if label in ("Request", "Feedback") else []
    found = [f"{user} has {count} open sessions" for count in [list(sessions.values()).count(None)] if count > 1]
    found += [f"session {one} of {user} holds nothing" for one in sessions if not labels[one]]
    found += [f"an event of {user} is part of no session" for one in labels if one not in sessions]
    return found + [
        f"session {one} of {user} goes {said}" for one, said in labels.items()
        if said != ["Request", *["Feedback"] * (len(said) - 1)]
    ]  # fmt: skip


def _answers(user: int, turns: dict[str, str], events: list[tuple[int, str, str, str, int]]) -> list[str]:
    """Each Response answers the last question of its turn, in the session of that."""
    asked = {
        turns.get(message): (n, session) for n, session, label, message, _ in events if label in ("Request", "Feedback")
    }
    return [
        f"the answer {message} of {user} answers {answers} in {session}, not {asked.get(turns.get(message))}"
        for _, session, label, message, answers in events
        if label == "Response" and asked.get(turns.get(message)) != (answers, session)
    ]
