"""The text of stored lines, and the owner's own messages that state a fact."""

from collections.abc import Collection

from sqlalchemy import Connection

from internal.dialogue import repository as dialogue
from internal.knowledge import episode_repository as episodes, fact_repository, line_repository
from internal.knowledge.claims import repository as claim_repository
from internal.storage import evidence
from internal.storage.evidence import LineRef


def all_lines(connection: Connection, user_id: int, line_refs: Collection[LineRef]) -> set[LineRef]:
    """These lines; a whole episode is replaced by its own lines."""
    whole = {episode_id for episode_id, number in line_refs if number == 0}
    found = {line_ref for line_ref in line_refs if line_ref[1] != 0}
    for episode_id in whole:
        found |= {(episode_id, number) for number in episodes.numbers(connection, user_id, episode_id)}
    return found


def texts_of(connection: Connection, user_id: int, line_refs: Collection[LineRef]) -> list[str]:
    """The text of those of these lines that exist."""
    lines = all_lines(connection, user_id, line_refs)
    found = line_repository.stored_lines(connection, user_id, lines)
    return [found[line_ref].text for line_ref in sorted(found)]


def own_messages(connection: Connection, user_id: int, fact_id: str) -> list[str]:
    """The ids of the owner's own messages that support any version of a fact, oldest first.

    Messages of the bot and forwarded ones are not included. Empty for a fact that is gone.
    """
    versions = [one.fact.id for one in fact_repository.chain(connection, user_id, fact_id)]
    claims = [claim.id for claim in claim_repository.of_edges(connection, user_id, versions)]
    support = evidence.rows(connection, user_id, "claim", claims)
    message_ids = {row.message_id for rows in support.values() for row in rows} - {None}
    messages = dialogue.by_ids(connection, user_id, sorted(message_ids))
    return [one.id for one in messages if one.role == "user" and one.forward is None]
