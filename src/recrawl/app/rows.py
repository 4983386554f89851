"""Values as flat rows, for tables, JSON and CSV: instants in ISO 8601, what is not known as None."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from math import isfinite
from typing import Any

from recrawl.app.quantity import iso, written
from recrawl.model import Changed, Changes, Erasure, Plan, Resource, Settings, Standing, Version, Visit

Row = dict[str, Any]
Instant = Callable[[float], Any]  # how a moment is written; None where it is not known

_CHANGED = {Changed.YES: True, Changed.NO: False, Changed.UNKNOWN: None}


def resource_row(
    resource: Resource,
    standing: Standing,
    plan: Plan | None,
    erasure: Erasure | None = None,
    *,
    instant: Instant = iso,
) -> Row:
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
        "include": list(resource.effective.manner.include or ()),
        "ignore": list(resource.effective.manner.ignore or ()),
        "keys": list(resource.effective.manner.keys or ()),
        "main": bool(resource.effective.manner.main),
        "mask": resource.effective.manner.mask is not False,
        "changes": resource.effective.changes.value,
        "tags": list(resource.tags),
        "added_at": instant(resource.added_at),
        "next_visit_at": None if resource.effective.paused else instant(standing.due_at),
        "gap_s": number(standing.gap_s),
        "n_informative": standing.n_informative,
        "n_changes": standing.n_changes,
        "n_failures_in_a_row": standing.n_failures,
        "last_visit_at": instant(standing.last_at),
        "last_change_at": instant(version.at) if version and standing.n_changes else None,
        "gone": bool(version and version.gone),
        "moved_to": standing.moved_to if standing.has_moved and standing.moved_to != resource.url else None,
        "rule": plan.rule if plan else "",
        "depth": resource.depth,
        "sight_at": instant(standing.sight_at),
        "hunch_per_day": number(standing.hunch_per_day),
        "hunch_gap_s": number(standing.hunch_gap_s),
        "erased_at": instant(erasure.at) if erasure else None,
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
        (row["include"], f"only {_chosen(row['include'])}"),
        (row["ignore"], f"without {_chosen(row['ignore'])}"),
        (row["keys"], f"rows by {_chosen(row['keys'])}"),
        (row["main"], "main content only"),
        (not row["mask"], "nothing masked"),
        (row["changes"] != Changes.ANY, f"only {row['changes']} changes count"),
        (row["moved_to"], f"moved to {row['moved_to']}"),
        (row["erased_at"], f"erased {row['erased_at']}"),
    ]
    return [text for holds, text in said if holds]


def _chosen(names: list[str]) -> str:
    if len(names) <= 2:
        return " and ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more"


def visit_row(visit: Visit, url: str, *, changes: Changes = Changes.ANY, instant: Instant = iso) -> Row:
    """`changes` are those that count for the resource."""
    return {
        "url": url,
        "at": instant(visit.at),
        "outcome": visit.outcome.value,
        "status": visit.status,
        "changed": _CHANGED[visit.changed],
        "significant": visit.significant,
        "counts": _CHANGED[visit.counted(changes)],
        "magnitude": visit.magnitude,
        "since_at": instant(visit.since_at),
        "due_at": instant(visit.due_at),
        "event_at": instant(visit.event_at),
        "moments": [instant(at) for at in visit.moments],
        "duration_s": round(visit.duration_s, 3),
        "n_bytes": visit.n_bytes,
        "second_look_bytes": visit.second_bytes,
        "evidence": visit.evidence,
        "moved_to": visit.moved_to,
        "fetch_id": visit.fetch_id,
    }


def verdict(row: Row) -> str:
    """What a visit's row says, for people."""
    if row["outcome"] not in ("ok", "not-modified", "gone"):
        return f"Told nothing ({row['outcome']})"
    said = {True: "Changed", False: "Not changed", None: "Seen"}[row["changed"]]
    if row["changed"] and row["significant"] is not None:
        said += " significantly" if row["significant"] else " slightly"
    return f"{said}, which does not count" if row["changed"] and not row["counts"] else said


def version_row(version: Version, url: str, *, instant: Instant = iso) -> Row:
    return {
        "url": url,
        "seq": version.seq,
        "at": instant(version.at),
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


def erasure_row(erasure: Erasure) -> Row:
    return {
        "url": erasure.url,
        "at": iso(erasure.at),
        "why": erasure.why,
        "done": erasure.done,
        "versions": erasure.n_versions,
        "records": erasure.n_records,
        "bytes": erasure.n_bytes,
        "shared": list(erasure.shared),
    }


def erased_words(erasure: Erasure) -> str:
    """For people, after the name of a resource."""
    why = f" ({erasure.why})" if erasure.why else ""
    done = "were erased" if erasure.done else "are being erased since"
    return f"its contents {done} {iso(erasure.at)}{why}"


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
    if isinstance(value, tuple | list):
        return " and ".join(map(str, value))
    return written(value) if name.endswith("_s") else str(value)


def number(value: float) -> float | None:
    """JSON knows neither NaN nor infinity."""
    return value if isfinite(value) else None
