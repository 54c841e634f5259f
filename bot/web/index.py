"""What a person sees who opens the server's address in a browser: where to go from there."""

from __future__ import annotations

from fastapi import APIRouter


def index_router(chat_page: str | None, mcp: str | None) -> APIRouter:
    """`chat_page` is the local Telegram's address, if that is what the bot talks to; `mcp` the MCP server's."""
    router = APIRouter()
    places = {"health": "/healthz", "readiness": "/readyz", "metrics": "/metrics", "people": "/people?user_id=ID"}
    places |= {"rest": "/openapi.json", "docs": "/docs"}

    @router.get("/")
    async def index() -> dict[str, str]:
        chat = {} if chat_page is None else {"chat": chat_page}
        key = "Authorization: Bearer <server.api_key>, for all but health, readiness and metrics"
        offered = {} if mcp is None else {"mcp": mcp}
        return {"name": "Laplaced", **chat, **places, **offered, "key": key}

    return router
