"""Reads a form that was sent."""

from typing import Any

from aiohttp import web


async def form_fields(request: web.Request) -> dict[str, Any]:
    """The fields of a form; of a file its name, type and size."""
    fields: dict[str, Any] = {}
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            with value.file:
                fields[name] = {"name": value.filename, "mime": value.content_type, "size": len(value.file.read())}
        else:
            fields[name] = value
    return fields
