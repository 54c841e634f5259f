"""What a start of the bot reads besides modules, and reads the same each time: texts and the offline models."""

from __future__ import annotations

from bot.telegram.i18n import bundle
from internal.access.model import LANGUAGES
from internal.agents.analyst import offline as _analyst  # noqa: F401
from internal.agents.archivist.offline import agent as _archivist  # noqa: F401
from internal.agents.context_manager import offline as _context_manager  # noqa: F401
from internal.agents.responder import offline as _responder  # noqa: F401
from internal.agents.task_manager import offline as _task_manager  # noqa: F401

for language in LANGUAGES:
    bundle(language)
