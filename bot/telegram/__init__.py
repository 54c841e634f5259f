"""Telegram: intake, lanes, commands, delivery. Importing it loads aiogram first, without its slow parts."""

from bot.telegram.aiogram_import import load_aiogram

load_aiogram()
