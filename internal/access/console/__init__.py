"""The console's one-time login links, and the sessions of those logged in."""
