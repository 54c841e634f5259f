"""What a start of the bot reads besides its modules, and what its first message makes, the same each time.

Texts, the offline models and the vocabulary are read; aiogram's models are built, of which one update takes 0.2 s.

A copy starts its own children by fork as well.
"""

from __future__ import annotations

import os
from functools import cache

import falkordb  # noqa: F401
import numpy.ma  # noqa: F401
import uvicorn.protocols.http.auto  # noqa: F401
from aiogram import methods, types
from support.product.forked_process import ADDRESSES, Starter, start_children_by_fork

from bot.shared.phrases import bundle
from bot.telegram.i18n import LOCALES
from internal.access.model import LANGUAGES
from internal.agents.analyst import offline as _analyst  # noqa: F401
from internal.agents.archivist.offline import agent as _archivist  # noqa: F401
from internal.agents.context_manager import offline as _context_manager  # noqa: F401
from internal.agents.responder.offline import agent as _responder  # noqa: F401
from internal.agents.task_manager import offline as _task_manager  # noqa: F401
from internal.llm import tokens

for language in LANGUAGES:
    bundle(LOCALES, language)
tokens.load()
for model in (
    types.Update, methods.SendMessage, methods.SendMessageDraft, methods.EditMessageText, methods.SetMyCommands,
    methods.SetChatMenuButton, methods.AnswerCallbackQuery, methods.SendChatAction, methods.DeleteMessage,
):  # fmt: skip
    model.model_rebuild()

_CONNECT_WITHIN_S = 60.0
_OTHERS = {name.removeprefix(ADDRESSES): value for name, value in os.environ.items() if name.startswith(ADDRESSES)}


@cache
def _starter(program: str) -> Starter | None:
    try:
        return Starter.at("\0" + _OTHERS[program], _CONNECT_WITHIN_S)
    except (OSError, ValueError):  # nobody needed one yet
        return None


start_children_by_fork(_starter, os.environ["PYTHONPATH"])
