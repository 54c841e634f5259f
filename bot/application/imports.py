"""What an import needs to know of an installation."""

from internal.config import Config


def import_agents(config: Config) -> list[str]:
    """The agents that work on what is imported."""
    return ["archivist"] if config.agents.archivist.enabled else []
