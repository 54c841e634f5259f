"""Routers whose calls cost nothing until they are made, and how they are joined."""

from collections.abc import Callable
from typing import Any

import fastapi
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import compile_path


class _Call(APIRoute):
    """A call whose parameters are looked at when it is made, or described, for the first time.

    Looking at all of them at the start takes a tenth of a second.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        self.path, self.endpoint, self._described = path, endpoint, described
        self.methods, self.name = {*(described["methods"] or ["GET"])}, described["name"] or endpoint.__name__
        self.include_in_schema = described["include_in_schema"]
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)

    def __getattr__(self, name: str) -> Any:
        described = self.__dict__.pop("_described", None)
        if described is None:
            raise AttributeError(name)
        super().__init__(self.path, self.endpoint, **described)
        return getattr(self, name)


class APIRouter(fastapi.APIRouter):
    """FastAPI's own, with such calls."""

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=_Call, **options)


def join(to: FastAPI | fastapi.APIRouter, *routers: fastapi.APIRouter) -> None:
    """Adds the calls of these routers as they are.

    `include_router` would build each of them a second time, to merge in options of the inclusion, of which there are
    none here. That is half of the time that all calls take.
    """
    routes = to.router.routes if isinstance(to, FastAPI) else to.routes
    for router in routers:
        routes.extend(router.routes)
