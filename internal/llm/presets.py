"""The model servers that are offered by name, and the search for those that answer on this machine."""

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from internal.errors import LaplacedError
from internal.llm.transport import Endpoint

LOOK_FOR_S = 0.3
"""Seconds to wait for a server on this machine, which answers within some milliseconds or is absent."""
LIST_FOR_S = 10.0


@dataclass(frozen=True, slots=True)
class Preset:
    """A model server: `key` is the page for getting a key (empty: it needs none), `model` a good choice."""

    name: str
    title: str
    base_url: str = ""
    key: str = ""
    model: str = ""
    port: int = 0
    port_from: str = ""

    @property
    def url(self) -> str:
        """The address; for a server on this machine with the port from the server's own variable."""
        named = re.search(r"(?:^|:)(\d+)/?$", os.environ.get(self.port_from, "")) if self.port_from else None
        return self.base_url or f"http://127.0.0.1:{named[1] if named else self.port}/v1"


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answers on this machine, and the models it has."""

    preset: Preset
    models: Sequence[str]


@cache
def presets() -> dict[str, Preset]:
    """All presets by name, in the order in which they are offered."""
    read = yaml.safe_load(files(__package__).joinpath("presets.yaml").read_text(encoding="utf-8"))
    return {name: Preset(name, **fields) for name, fields in read.items()}


async def find_local(within: float = LOOK_FOR_S) -> list[Found]:
    """The model servers that answer on this machine within `within` seconds, asked all at once."""
    local = [preset for preset in presets().values() if preset.port]
    models = await asyncio.gather(*(list_models(preset.url, within=within) for preset in local))
    return [Found(preset, listed) for preset, listed in zip(local, models, strict=True) if listed is not None]


async def list_models(base_url: str, api_key: str = "", *, within: float = LIST_FOR_S) -> list[str] | None:
    """The names of the chat models that a server offers; None if it does not answer within `within` seconds."""
    try:
        endpoint = Endpoint(base_url, api_key)
        async with contextlib.aclosing(endpoint), asyncio.timeout(within):
            listed = json.loads(await endpoint.get("models", asyncio.get_running_loop().time() + within))["data"]
            return [str(one["id"]) for one in listed if "embed" not in str(one["id"])]
    except (LaplacedError, TimeoutError, ValueError, TypeError, KeyError):
        return None
