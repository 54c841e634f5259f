"""The Bot API methods that the local Telegram offers, by lower-case name."""

from bot.simulator.methods import chats, commands, files, messages, polling
from bot.simulator.methods.registry import METHODS, Method

__all__ = ["METHODS", "Method", "chats", "commands", "files", "messages", "polling"]
