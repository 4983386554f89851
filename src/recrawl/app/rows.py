"""Values as flat rows, for tables, JSON and CSV: instants in ISO 8601, what is not known as None."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

from recrawl.app.quantity import iso, written
from recrawl.model import Changed, Plan, Resource, Settings, Standing, Version, Visit

Row = dict[str, Any]

_CHANGED = {Changed.YES: True, Changed.NO: False, Changed.UNKNOWN: None}


def resource_row(resource: Resource, standing: Standing, plan: Plan | None) -> Row:
    version = standing.version
    return {
        "url": resource.url,
        "host": resource.host,
        "kind": resource.effective.kind.value,
        "weight": resource.effective.weight,
        "min_gap_s": resource.effective.min_gap_s,
        "max_gap_s": resource.effective.max_gap_s,
        "paused": resource.effective.paused,
        "allow_private": resource.effective.allow_private,
        "insecure": bool(resource.effective.manner.insecure),
        "render": bool(resource.effective.manner.render),
        "max_bytes": resource.effective.manner.max_bytes,
        "page_rows": resource.effective.manner.page_rows,
        "user_agent": resource.effective.manner.user_agent,
        "tags": list(resource.tags),
        "added_at": iso(resource.added_at),
        "next_visit_at": None if resource.effective.paused else iso(standing.due_at),
        "gap_s": number(standing.gap_s),
        "n_informative": standing.n_informative,
        "n_changes": standing.n_changes,
        "n_failures_in_a_row": standing.n_failures,
        "last_visit_at": iso(standing.last_at),
        "last_change_at": iso(version.at) if version and standing.n_changes else None,
        "gone": bool(version and version.gone),
        "moved_to": standing.moved_to if standing.has_moved and standing.moved_to != resource.url else None,
        "rule": plan.rule if plan else "",
    }


def deviations(row: Row) -> list[str]:
    """How a resource is looked at where that is not as usual, for people; what weakens safety comes first."""
    said = [
        (row["insecure"], "insecure: certificate not verified"),
        (row["allow_private"], "private addresses allowed"),
        (row["render"], "through a browser"),
        (row["max_bytes"], f"up to {row['max_bytes']} bytes"),
        (row["page_rows"], f"{row['page_rows']} rows at a time"),
        (row["user_agent"], f"as {row['user_agent']}"),
        (row["moved_to"], f"moved to {row['moved_to']}"),
    ]
    return [text for holds, text in said if holds]


def visit_row(visit: Visit, url: str) -> Row:
    return {
        "url": url,
        "at": iso(visit.at),
        "outcome": visit.outcome.value,
        "status": visit.status,
        "changed": _CHANGED[visit.changed],
        "significant": visit.significant,
        "magnitude": visit.magnitude,
        "since_at": iso(visit.since_at),
        "due_at": iso(visit.due_at),
        "event_at": iso(visit.event_at),
        "duration_s": round(visit.duration_s, 3),
        "n_bytes": visit.n_bytes,
        "evidence": visit.evidence,
        "moved_to": visit.moved_to,
        "fetch_id": visit.fetch_id,
    }


def version_row(version: Version, url: str) -> Row:
    return {
        "url": url,
        "seq": version.seq,
        "at": iso(version.at),
        "digest": version.digest,
        "media_type": version.media_type,
        "charset": version.charset,
        "status": version.status,
        "n_bytes": version.n_bytes,
        "gone": version.gone,
        "flag": version.flag,
        "detector": version.detector,
        "file": version.file,
        "offset": version.offset,
        "length": version.length,
    }


def plan_row(plan: Plan) -> Row:
    return {
        "next_visit_at": iso(plan.due_at),
        "gap_s": number(plan.gap_s),
        "rule": plan.rule,
        "bound": plan.bound,
        "price": number(plan.price),
        "p_changed": number(plan.p_changed),
        "changes_per_day": number(plan.per_day),
        "planned_at": iso(plan.planned_at),
    }


def settings_row(settings: Settings) -> Row:
    """What this layer says, and nothing else; each part of a manner by its own name."""
    said = asdict(settings)
    said |= said.pop("manner") or {}
    return {name: value for name, value in said.items() if value is not None}


def said_words(row: Row) -> list[str]:
    """A settings row for people, by the names of the options that say it."""
    return [f"{name.removesuffix('_s').replace('_', '-')} {_word(name, row[name])}" for name in row]


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return written(value) if name.endswith("_s") else str(value)


def number(value: float) -> float | None:
    """JSON knows neither NaN nor infinity."""
    return value if isfinite(value) else None
