"""The console: pages of what the house remembers and does. A process of its own, and a client of the REST API."""
