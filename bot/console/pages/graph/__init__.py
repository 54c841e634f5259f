"""The graph of an owner's memory, expanded node by node."""

from bot.console.page_context import Page
from bot.console.pages.graph.explorer import build

GRAPH = Page("graph", "/graph", "hub", "r", build, wide=True)
