"""The enricher's reply format."""

from internal.agents.json_reply import read_object
from internal.agents.prompts import unescaped
from internal.errors import ModelReplyInvalid
from internal.llm.model import ReplySchema

MAX_QUERY = 1000
"""Most characters. More is no question but a summary of the dialogue, and would blur the search."""

REPLY_SCHEMA = ReplySchema(
    "enricher_reply",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)


def parse(text: str) -> str:
    """The question that stands alone, on one line. ModelReplyInvalid if there is none."""
    query = read_object(text, ("query",), bare="queries").get("query")
    if not isinstance(query, str) or not query.strip():
        raise ModelReplyInvalid("the reply holds no query")
    return " ".join(unescaped(query).split())[:MAX_QUERY]
