"""The API: each module has a `router`; all are mounted under one path, and are in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from recrawl.web.face.api import changes, hosts, notices, overview, plans, resource, resource_deeds, resources


class Problem(BaseModel):
    """What every refusal looks like."""

    error: str = Field(description="What is wrong, and what to do about it.")


class Working(BaseModel):
    """What stands in place of an answer that takes longer than anybody may wait."""

    working: str = Field(description="Ask again after `Retry-After` seconds.")


PROBLEMS: dict[int | str, dict[str, Any]] = {
    202: {"model": Working, "description": "It is being worked out; Retry-After says when to ask again."},
    400: {"model": Problem, "description": "What was asked for makes no sense."},
    401: {"model": Problem, "description": "No token, or not one of this place."},
    403: {"model": Problem, "description": "This token may not do that."},
    404: {"model": Problem, "description": "There is no such thing."},
    409: {"model": Problem, "description": "It does not go with how things stand, or with itself."},
    413: {"model": Problem, "description": "More than 1 MiB."},
    422: {"model": Problem, "description": "A value does not fit."},
    503: {"model": Problem, "description": "The store or the archive cannot be used now."},
}
API: tuple[APIRouter, ...] = (
    overview.router,
    changes.router,
    hosts.router,
    plans.router,
    notices.router,
    resources.router,  # before those of one resource, which take any word for a number
    resource.router,
    resource_deeds.router,
)
