"""The options of the load generator, in a module of their own: the command line needs them before importing the bot."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """The load: `users`, together `rate` messages a second on average, for `seconds`."""

    users: int
    rate: float
    seconds: float
    seed: int = 0
