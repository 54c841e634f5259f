"""Telegram: intake, lanes, commands, delivery. Whatever is imported of it, aiogram is loaded first, and lightly."""

from bot.telegram.aiogram_import import load_aiogram

load_aiogram()
