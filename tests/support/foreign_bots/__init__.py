"""Bots written with other people's libraries, each pointed at a local Telegram."""
