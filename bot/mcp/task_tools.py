"""The tools for tasks, over `/tasks`."""

from typing import Annotated, Final, Literal

from pydantic import Field

from bot.mcp.tools import Answer, Most, Tool, body_of, object_of, owner_named, tool
from bot.web.activity.tasks import TaskOut, TaskRequest, TasksOut
from bot.web.client import Rest
from bot.web.http.fields import Owner
from bot.web.http.schemas import Request

TASK_TOOLS: Final[list[Tool]] = []


class TaskListing(Request):
    user_id: Owner | None = Field(None, description="Whose tasks; absent: the sole user's.")
    state: Literal["proposed", "open", "done", "cancelled"] | None = Field("open", description="Null for all.")
    limit: Most = 50


class TaskToAdd(TaskRequest):
    user_id: Annotated[Owner | None, Field(description="Whose task; absent: the sole user's.")] = None  # type: ignore[assignment] # REST needs one


@tool(TASK_TOOLS, TasksOut)
async def list_tasks(rest: Rest, request: TaskListing) -> Answer:
    """List what the user has to do, his reminders and promises, by time; those without a date come last."""
    query = {"user_id": await owner_named(rest, request.user_id), "limit": request.limit}
    return await object_of(rest.get("/tasks", query | ({"state": request.state} if request.state else {})))


@tool(TASK_TOOLS, TaskOut, "adds", repeatable=False)
async def add_task(rest: Rest, request: TaskToAdd) -> Answer:
    """Add something to be done. due_at: a time, or a bare date for a whole day in the user's zone; the user is reminded
    then. recurrence is an RRULE such as FREQ=WEEKLY;BYDAY=MO and needs the first time in due_at.
    """
    owner = await owner_named(rest, request.user_id)
    return await object_of(rest.send("POST", "/tasks", body_of(request) | {"user_id": owner}))
