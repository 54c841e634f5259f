"""Imports aiogram without the four seconds in which it builds 444 validators, of which a run needs some dozens.

aiogram resolves and rebuilds every model of the Bot API while it is imported. Here it is deferred: a model whose names
are not resolved yet is built by pydantic when it is first used, and finds the names in the module it stands in.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pydantic import BaseModel

_MODELS: Final = ("aiogram.types.", "aiogram.methods.")
_REBUILD: Final = "model_rebuild"


def load_aiogram() -> None:
    """Loads aiogram the fast way. Must run before anything imports aiogram; later calls do nothing."""
    if "aiogram" in sys.modules:
        return
    with _without_rebuilding():
        from aiogram import types
    names = {name: getattr(types, name) for name in types.__all__}
    for name, module in list(sys.modules.items()):
        if name.startswith(_MODELS):
            namespace = vars(module)
            namespace.update({name: model for name, model in names.items() if name not in namespace})


@contextmanager
def _without_rebuilding() -> Iterator[None]:
    rebuild = vars(BaseModel)[_REBUILD]
    setattr(BaseModel, _REBUILD, classmethod(lambda _model, **_options: None))
    try:
        yield
    finally:
        setattr(BaseModel, _REBUILD, rebuild)
