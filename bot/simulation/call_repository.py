"""What the model was asked in a simulation. Reads only."""

from sqlalchemy import Connection, func, select

from bot.simulator.scenarios.report import AgentCalls
from internal.storage.tables import model_calls


def calls_by_agent(connection: Connection) -> list[AgentCalls]:
    """The calls of each agent; an answer that another agent's call brought along is none of its own."""
    calls = model_calls.c
    sums = (calls.prompt_tokens, calls.completion_tokens, calls.cached_tokens, calls.duration_s)
    query = select(calls.agent, func.count(), *map(func.sum, sums)).where(calls.prompt_tokens > 0)
    return [AgentCalls(*row) for row in connection.execute(query.group_by(calls.agent).order_by(calls.agent))]
