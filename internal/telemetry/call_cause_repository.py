"""Model calls by what they were made for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, String, cast, or_, select

from internal.storage.tables import model_calls

_MOST_CAUSES = 100
"""More turns and runs than this lie behind no event that anybody looks at."""


def made_for(connection: Connection, user_id: int, causes: Collection[str], *, limit: int) -> list[Row[Any]]:
    """The owner's calls for one of these turns or runs, oldest first, without prompt and reply.

    They are found in an index that holds the links: beside the prompts, they would be read with them.
    """
    links = cast(model_calls.c.links, String)
    named = [links.contains(f'"{cause}"', autoescape=True) for cause in sorted(causes)[:_MOST_CAUSES]]
    if not named:
        return []
    found = select(model_calls.c.n).where(model_calls.c.user_id == user_id, or_(*named))
    told = [column for column in model_calls.c if column.name not in {"prompt", "reply"}]
    ours = (model_calls.c.user_id == user_id) & model_calls.c.n.in_(found.scalar_subquery())
    query = select(*told).where(ours).order_by(model_calls.c.n)
    return list(connection.execute(query.limit(limit)))
