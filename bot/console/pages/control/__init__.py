"""The control room: who talks with the bot at the left, what happens in the middle, why it happened at the right."""

from __future__ import annotations

from bot.console.page import Page
from bot.console.pages.control.room import build

CONTROL = Page("control", "/", "space_dashboard", "c", build, everybody=True, wide=True)
