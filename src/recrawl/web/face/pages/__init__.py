"""The pages: each module has a `router`."""

from __future__ import annotations

from fastapi import APIRouter

from recrawl.web.face.pages import (
    add,
    api,
    changes,
    health,
    hosts,
    notices,
    overview,
    plan,
    resource,
    resource_deeds,
    resources,
)

PAGES: tuple[APIRouter, ...] = (
    overview.router,
    changes.router,
    hosts.router,
    health.router,
    plan.router,
    notices.router,
    resources.router,  # before those of one resource, which take any word for a number
    add.router,
    resource.router,
    resource_deeds.router,
    api.router,
)
