"""The Bot API methods that the local Telegram offers, by lower-case name."""

from bot.simulator.methods import (
    administration,
    chats,
    commands,
    contents,
    copies,
    edits,
    files,
    inline,
    media,
    messages,
    polling,
    unsupported,
)
from bot.simulator.methods.registry import METHODS, Method

__all__ = [
    "METHODS", "Method", "administration", "chats", "commands", "contents", "copies", "edits", "files", "inline",
    "media", "messages", "polling", "unsupported",
]  # fmt: skip
