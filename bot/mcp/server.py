"""The MCP server over the tools. The official SDK takes a second and a half to import, so only serving imports this."""

import json
import logging
from importlib.metadata import version
from typing import Any

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool as Offered,
    ToolAnnotations,
)
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request

from bot.mcp.tools import TASK_TOOLS, TOOLS, McpTool
from bot.web.client import CallFailed, RestClient
from bot.web.http.fields import fault_words
from bot.web.http.guard import CALLER

log = logging.getLogger(__name__)

_INSTRUCTIONS = """The user's long-term memory: people, entities, facts with their times and sources, and the episodes
they come from. Search before you answer a question about the user's life or work, and cite what you found. group_id is
the user's id as a string; leave it out if there is only one user. Everything you add must be the user's own words or a
document, never your own conclusions."""

_Context = ServerRequestContext[dict[str, Any], Request]

_TOOLS = (*TOOLS, *TASK_TOOLS)
_BY_NAME = {tool.name: tool for tool in _TOOLS}


def mcp_server(rest: RestClient) -> Server[dict[str, Any]]:
    """A server whose tools call this REST, over HTTP with the key that their caller sent."""
    listed = [_described(tool) for tool in _TOOLS]
    reading = [_described(tool) for tool in _TOOLS if tool.changes == "nothing"]

    async def list_tools(context: _Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=reading if _only_reads(context) else listed)

    async def call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name}; there are {', '.join(_BY_NAME)}")
        if tool.changes != "nothing" and _only_reads(context):
            return _refused("this key may only read")
        own = rest if context.request is None else rest.under(context.request.headers["authorization"])
        return await _call(tool, own, params.arguments or {})

    return Server(
        "laplaced",
        version=version("laplaced"),
        title="Laplaced",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _only_reads(context: _Context) -> bool:
    caller = None if context.request is None else context.request.scope.get(CALLER)
    return caller is not None and caller.read_only


def application(rest: RestClient, path: str, largest_body: int) -> tuple[Starlette, StreamableHTTPSessionManager]:
    """The server over streamable HTTP, and its session manager, which must run while it serves.

    Calls need no session: each answer is one JSON body, and a restart interrupts no client.
    """
    server = mcp_server(rest)
    app = server.streamable_http_app(
        streamable_http_path=path,
        json_response=True,
        stateless_http=True,
        max_request_body_size=largest_body,
        # The guard has checked the host names that the owner allows.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return app, server.session_manager


async def _call(tool: McpTool, rest: RestClient, arguments: dict[str, Any]) -> CallToolResult:
    """Calls a tool and returns its result. A refusal is a result too: the model reads it and tries another call."""
    try:
        request = tool.takes.model_validate(arguments)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, one['loc']))}: {fault_words(one['msg'])}" for one in error.errors())
        return _refused("; ".join(faults))
    try:
        answer = dict(await tool.call(rest, request))
    except CallFailed as error:
        return _refused(str(error))
    except Exception:  # outermost handler of a call: one that fails must not end the connection
        log.exception("tool_failed", extra={"tool": tool.name})
        return _refused("something went wrong; the log says more")
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer)


def _refused(why: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=why)], is_error=True)


def _described(tool: McpTool) -> Offered:
    return Offered(
        name=tool.name,
        description=tool.about,
        input_schema=tool.takes.model_json_schema(),
        output_schema=tool.gives.model_json_schema(mode="serialization"),
        annotations=ToolAnnotations(
            read_only_hint=tool.changes == "nothing",
            destructive_hint=tool.changes == "replaces",
            idempotent_hint=tool.changes != "replaces" and tool.repeatable,
            open_world_hint=False,
        ),
    )
