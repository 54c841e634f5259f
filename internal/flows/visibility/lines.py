"""The words of stored lines, whichever concept they belong to."""

from collections.abc import Collection

from sqlalchemy import Connection

from internal.knowledge import episode_repository as episodes
from internal.knowledge import line_repository

Place = tuple[str, int]
"""An episode and the number of a segment in it; 0 stands for all of it."""


def all_lines(connection: Connection, user_id: int, places: Collection[Place]) -> set[Place]:
    """These lines, with a whole episode replaced by its own lines."""
    whole = {episode_id for episode_id, number in places if number == 0}
    found = {place for place in places if place[1] != 0}
    for episode_id in whole:
        found |= {(episode_id, number) for number in episodes.numbers(connection, user_id, episode_id)}
    return found


def texts_of(connection: Connection, user_id: int, places: Collection[Place]) -> list[str]:
    """The text of these lines, as far as they exist."""
    lines = all_lines(connection, user_id, places)
    found = line_repository.stored_lines(connection, user_id, lines)
    return [found[place].text for place in sorted(found)]
