"""The control room: users on the left, events in the middle, the chosen event on the right."""

from bot.console.page_context import Page
from bot.console.pages.control.control_room import build

CONTROL = Page("control", "/", "space_dashboard", "c", build, everybody=True, wide=True)
