"""The smallest valid object of any of aiogram's types, as Telegram would send it."""

from __future__ import annotations

import typing
from datetime import datetime
from typing import Any

from aiogram.types import Chat, Message, User
from pydantic import BaseModel


def sample(kind: Any, user: int) -> Any:
    """JSON of a value of `kind`: required fields only, in the private chat of `user`."""
    person: dict[str, Any] = {"id": user, "first_name": "Olena"}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        known: dict[type[BaseModel], dict[str, Any]] = {
            Message: {"from": person | {"is_bot": False}, "text": "Hi"},
            Chat: person | {"type": "private"},
            User: person | {"is_bot": False},
        }
        return _fields(kind, user) | known.get(kind, {})
    arguments, origin = typing.get_args(kind), typing.get_origin(kind)
    if origin is typing.Literal:
        return getattr(arguments[0], "value", arguments[0])
    if arguments and origin is not list:  # a union, or a type with a note
        return sample(next(one for one in arguments if one is not type(None)), user)
    return {bool: False, int: 1, float: 1.0, datetime: 1_780_000_000, None: "x"}.get(kind, [] if origin else "x")


def _fields(model: type[BaseModel], user: int) -> dict[str, Any]:
    model.model_rebuild()
    fixed = {name: field.default for name, field in model.model_fields.items() if name in {"type", "status", "source"}}
    known = {name: value for name, value in fixed.items() if isinstance(value, str)}
    return known | {
        field.alias or name: sample(field.annotation, user)
        for name, field in model.model_fields.items()
        if field.is_required()
    }
