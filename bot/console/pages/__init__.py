"""The pages, in the order of the navigation."""

from typing import Final

from bot.console.page_context import Page
from bot.console.pages.calls import CALLS
from bot.console.pages.changes import CHANGES
from bot.console.pages.context import CONTEXT
from bot.console.pages.control import CONTROL
from bot.console.pages.costs import COSTS
from bot.console.pages.facts import FACTS
from bot.console.pages.graph import GRAPH
from bot.console.pages.health import HEALTH
from bot.console.pages.memory import MEMORY
from bot.console.pages.notifications import NOTIFICATIONS
from bot.console.pages.people import PEOPLE
from bot.console.pages.sessions import SESSIONS
from bot.console.pages.tasks import TASKS
from bot.console.pages.today import TODAY

PAGES: Final[tuple[Page, ...]] = (
    CONTROL,
    PEOPLE,
    GRAPH,
    FACTS,
    SESSIONS,
    MEMORY,
    TODAY,
    TASKS,
    NOTIFICATIONS,
    CHANGES,
    CONTEXT,
    CALLS,
    COSTS,
    HEALTH,
)
