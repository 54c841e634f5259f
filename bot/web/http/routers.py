"""Joins the calls of several routers."""

from fastapi import APIRouter, FastAPI


def join(to: FastAPI | APIRouter, *routers: APIRouter) -> None:
    """Adds the calls of these routers as they are.

    `include_router` would build each of them a second time, to merge in options of the inclusion, of which there are
    none here. That is half of the time that all calls take.
    """
    routes = to.router.routes if isinstance(to, FastAPI) else to.routes
    for router in routers:
        routes.extend(router.routes)
