"""The console: pages that show what the bot remembers and does. A process of its own and a client of the REST API."""
