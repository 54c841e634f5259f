"""The owner's own messages that state a fact: they stay when it is forgotten, unless they are forgotten too."""

from sqlalchemy import Connection

from internal.dialogue import repository as dialogue
from internal.knowledge import fact_repository
from internal.knowledge.claims import repository as claim_repository
from internal.storage import evidence


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
