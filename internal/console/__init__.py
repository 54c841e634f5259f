"""Who looks at the memory in a browser: one-time links from the bot, and the sessions that stand for a login."""
