"""`/`: links to everything at the server's address."""

from fastapi import Request
from fastapi.responses import RedirectResponse

from bot.web.http.routers import APIRouter


def index_router(chat_page: str | None, mcp: str | None, console: str | None) -> APIRouter:
    """`chat_page` is the local Telegram's address, if the bot uses it; `mcp` is the MCP server's.

    With a `console` every caller is redirected there, except those who accept JSON.
    """
    router = APIRouter()
    paths = {"health": "/healthz", "readiness": "/readyz", "metrics": "/metrics", "people": "/people?user_id=ID"}
    paths |= {"rest": "/openapi.json", "docs": "/docs"}

    @router.get("/", response_model=dict[str, str])
    async def index(request: Request) -> dict[str, str] | RedirectResponse:
        if console is not None and "application/json" not in request.headers.get("accept", ""):
            return RedirectResponse(console)
        chat = {} if chat_page is None else {"chat": chat_page}
        key = "Authorization: Bearer <server.api_key>, for all but health, readiness and metrics"
        offered = {name: url for name, url in (("mcp", mcp), ("console", console)) if url is not None}
        return {"name": "Laplaced", **chat, **paths, **offered, "key": key}

    return router
