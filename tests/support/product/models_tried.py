"""A model that answers whatever an agent asks: an object of the form asked for, or words."""

from __future__ import annotations

from typing import Any, Final

from internal.testing.script import Asked

MODEL: Final = "qwen3:8b"

AGENTS: Final = ["responder", "archivist", "task_manager", "context_manager", "analyst", "enricher", "reranker"]

REPLIES: Final[dict[str, Any]] = {
    "people_operations": [],
    "tasks": [],
    "snapshot": {"who": [{"text": "Tom Baker lives in Lisbon", "from": [], "evidence": [1]}]},
    "topic": "Tom",
    "responses": [{"message": 2, "verdict": "correct"}],
    "session_summary": {"verdict": "correct", "summary": "Tom moved"},
    "query": "Since when does Tom live in Lisbon?",
    "people": [{"id": 1, "reason": "lives there"}],
}


def answers(asked: Asked) -> Any:
    """What a good model says to an agent's small request."""
    if "response_format" not in asked.body:
        return "Tom lives in Lisbon."
    schema = asked.body["response_format"].get("json_schema")
    keys = schema["schema"]["properties"] if schema else [key for key in REPLIES if f'"{key}":' in asked.system]
    return {key: value for key, value in REPLIES.items() if key in keys}
