"""The pages: each module has a `router`."""

from __future__ import annotations

from fastapi import APIRouter

from recrawl.web.face.pages import api, plan

PAGES: tuple[APIRouter, ...] = (plan.router, api.router)
