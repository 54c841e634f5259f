"""Works on a slice again, because a message of it was edited or its owner asks for it.

The new reply replaces the old one in the same transaction: what it does not repeat is removed, what it repeats
keeps its ids, and nothing is counted twice.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.dialogue.model import Message
from internal.flows.forgetting import erase
from internal.flows.indexing.fragments import follow_messages
from internal.knowledge import episode_repository as episodes
from internal.people import repository as people, support, support_repository
from internal.people.bio import without_sentences
from internal.people.model import Person
from internal.people.support_repository import LostSupport
from internal.scheduling import run_repository as runs
from internal.scheduling.run import BEHIND, EDITING, Run, RunState
from internal.storage.owner_counters import next_rev

_OPEN: Final = (RunState.DUE, RunState.CLAIMED, RunState.REPLIED)


def after_edit(connection: Connection, message: Message, now: datetime) -> int:
    """Makes the slices of an edited message due again, for each agent that worked on them. Returns their number.

    Slices still to be worked on need nothing: their agents see the new words.
    """
    made = 0
    for episode_id, segment in episodes.lines_of_messages(connection, message.user_id, [message.id]):
        follow_messages(connection, message.user_id, episode_id)
        held = runs.of_slice(connection, message.user_id, episode_id, segment)
        for agent in sorted({run.agent for run in held}):
            latest = [run for run in held if run.agent == agent]
            if latest[-1].state == RunState.APPLIED and not any(run.state in _OPEN for run in latest):
                _replace(connection, latest[-1], now + EDITING, now)
                made += 1
    return made


def again(connection: Connection, user_id: int, agent: str, now: datetime) -> int:
    """Makes every slice on which an agent has worked due again, in order. Returns their number."""
    taken: dict[str, set[int]] = {}
    chosen: list[Run] = []
    for run in reversed(runs.of_agent(connection, user_id, agent)):
        segments = set(range(run.first_n, run.last_n + 1))
        if segments & taken.setdefault(run.episode_id, set()):
            continue  # the last run of a slice counts
        taken[run.episode_id] |= segments
        if run.state == RunState.APPLIED:
            chosen.append(run)
    for run in reversed(chosen):
        _replace(connection, run, now, now)
    return len(chosen)


def known_people(connection: Connection, run: Run) -> list[Person]:
    """The people whom the owner knows, for the archivist's prompt.

    A rerun leaves out the sentences that only this slice supports: the archivist would repeat them, though
    the lines do not say them any more.
    """
    known = people.listing(connection, run.user_id)
    if run.replaces is None:
        return known
    lines = {(run.episode_id, number) for number in (0, *range(run.first_n, run.last_n + 1))}
    supported = support_repository.people_cited(connection, run.user_id, lines)
    return [_without_own(connection, person, lines) if person.id in supported else person for person in known]


def _without_own(connection: Connection, person: Person, lines: set[tuple[str, int]]) -> Person:
    line_refs = support_repository.support_lines(connection, person.user_id, person.id)
    loose = support.loose_parts(connection, person)
    own = [
        part.text
        for key, part in loose.items()
        if part.kind == "bio" and line_refs.get(key) and line_refs[key] <= lines
    ]
    return replace(person, bio=without_sentences(person.bio, own)) if own else person


def take_back_profiles(connection: Connection, run: Run) -> LostSupport:
    """Removes the slice's support from profiles; the new reply restores some of it."""
    numbers = range(run.first_n, run.last_n + 1)
    return support_repository.drop_lines(connection, run.user_id, run.episode_id, list(numbers), run_id=run.replaces)


def settle_profiles(
    connection: Connection, run: Run, lost: LostSupport, mentioned: Collection[int], now: datetime
) -> None:
    """Removes what the new reply does not support again, and people without any support."""
    for person_id in lost.people - set(mentioned):
        if not support_repository.is_cited_in(connection, run.user_id, person_id, run.episode_id):
            support_repository.drop_mentions(connection, run.user_id, run.episode_id, person_id)
    erase.settle_profiles(connection, run.user_id, lost, now=now)


def _replace(connection: Connection, run: Run, due_at: datetime, now: datetime) -> None:
    rev = next_rev(connection, run.user_id) + BEHIND
    runs.replace(connection, run, rev=rev, due_at=due_at, now=now)
    episodes.reopen(connection, run.user_id, run.episode_id)
