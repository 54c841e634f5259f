"""Telegram: intake, lanes, commands, delivery. Whatever is imported of it, aiogram is loaded first, and lightly."""

from bot.telegram.library import load_aiogram

load_aiogram()
