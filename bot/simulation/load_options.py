"""How much load is wanted. By itself: the command line knows it before it imports the bot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """How much: so many `users`, together `rate` messages a second on average, for `seconds`."""

    users: int
    rate: float
    seconds: float
    seed: int = 0
