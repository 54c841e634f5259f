"""How exact stated dates are; empty JSON is NULL; comments are about the answer they reply to"""

import sqlalchemy as sa
from alembic import op

from migrations.kinds import TEXT

revision = "0010"
down_revision = "0009"

_EMPTIED = {
    "messages": ("user_metadata", "forward", "attachments"),
    "events": ("links",),
    "runs": ("snapshot",),
    "model_calls": ("prompt", "links"),
}


def upgrade() -> None:
    for table in ("claims", "facts"):
        for column in ("valid_precision", "invalid_precision"):
            op.add_column(table, sa.Column(column, TEXT, nullable=True))
    for table, columns in _EMPTIED.items():
        for column in columns:
            op.execute(f"UPDATE {table} SET {column} = NULL WHERE CAST({column} AS TEXT) = 'null'")
    op.execute("""
        UPDATE chronicle SET answers_n = (
            SELECT max(answer.n) FROM messages m
            JOIN outbox o
                ON o.user_id = m.user_id AND o.bot_id = m.bot_id AND o.chat_id = m.chat_id AND o.tg_id = m.reply_to
            JOIN chronicle answer
                ON answer.user_id = m.user_id AND answer.message_id = o.message_id AND answer.label = 'Response'
            WHERE m.user_id = chronicle.user_id AND m.id = chronicle.message_id
        )
        WHERE label = 'Feedback' AND answers_n IS NULL
    """)
