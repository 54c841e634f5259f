"""Model calls by what they were made for."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, String, cast, or_, select

from internal.storage.tables import model_calls

_MOST_CAUSES = 100
"""An event with more turns, runs and notifications behind it is looked at by nobody."""


def made_for(connection: Connection, user_id: int, causes: Collection[str], *, limit: int) -> list[Row[Any]]:
    """The owner's calls for one of these turns, runs or notifications, oldest first, without prompt and reply.

    Found in an index that holds the links: a lookup in the table would read the prompts too.
    """
    links = cast(model_calls.c.links, String)
    named = [links.contains(f'"{cause}"', autoescape=True) for cause in sorted(causes)[:_MOST_CAUSES]]
    if not named:
        return []
    found = select(model_calls.c.n).where(model_calls.c.user_id == user_id, or_(*named))
    columns = [column for column in model_calls.c if column.name not in {"prompt", "reply"}]
    ours = (model_calls.c.user_id == user_id) & model_calls.c.n.in_(found.scalar_subquery())
    query = select(*columns).where(ours).order_by(model_calls.c.n)
    return list(connection.execute(query.limit(limit)))
