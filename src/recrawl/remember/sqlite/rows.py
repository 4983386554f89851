"""Rows of the file as values of the model, and back. NaN goes in as NULL and comes out as NaN."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from recrawl.model import (
    SILENCE,
    Batch,
    Changed,
    Changes,
    Completion,
    Effective,
    Floats,
    Kind,
    NewResource,
    Outcome,
    Plan,
    Resource,
    Standing,
    Version,
    Visit,
)
from recrawl.remember.sqlite.noise import noise_of, noise_text
from recrawl.remember.sqlite.settings import Row, manner_of, settings_of, settings_values

BOUNDS = {-1: "min", 0: "", 1: "max", 2: "relook"}
_FLOAT64 = np.dtype("<f8")


def new_values(new: NewResource) -> dict[str, object]:
    found = {"depth": new.depth, "changefreq": new.changefreq or None, "lastmod_at": new.lastmod_at}
    return {"url": new.url, "host": new.host, **found, **settings_values(new.settings)}


def resource_of(row: Row) -> Resource:
    return Resource(
        id=row["id"],
        url=row["url"],
        host_id=row["host_id"],
        host=row["host"],
        added_at=row["added_at"],
        settings=settings_of(row, "said_"),
        effective=Effective(
            kind=Kind(row["kind"]),
            weight=row["weight"],
            min_gap_s=row["min_gap_s"],
            max_gap_s=row["max_gap_s"],
            paused=bool(row["paused"]),
            allow_private=bool(row["allow_private"]),
            manner=manner_of(row["manner"]),
            changes=Changes(row["changes"]),
        ),
        tags=tuple(sorted(json.loads(row["tags"]))),
        depth=row["depth"],
        changefreq=row["changefreq"] or "",
        lastmod_at=row["lastmod_at"],
    )


def standing_of(row: Row) -> Standing:
    return Standing(
        since_at=real(row["since_at"]),
        last_at=real(row["last_at"]),
        gap_s=real(row["gap_s"]),
        due_at=real(row["due_at"]),
        n_informative=row["n_informative"],
        n_changes=row["n_changes"],
        n_failures=row["n_failures"],
        bits=row["bits"] & 0xFFFF_FFFF_FFFF_FFFF,
        etag=row["etag"],
        last_modified=row["last_modified"],
        memory=tuple(np.frombuffer(row["memory"] or b"", _FLOAT64).tolist()),
        moved_to=row["moved_to"],
        moved_since_at=real(row["moved_since_at"]),
        version=None if row["version_seq"] is None else version_of(row, resource_id=row["id"]),
        noise=SILENCE if row["noise"] is None else noise_of(row["noise"]),
        told_at=real(row["told_at"]),
        told_by=row["told_by"] or 0,
        sight_at=real(row["sight_at"]),
        hunch_per_day=real(row["hunch_per_day"]),
        hunch_gap_s=real(row["hunch_gap_s"]),
    )


def plan_of(row: Row) -> Plan:
    return Plan(
        resource_id=row["id"],
        due_at=real(row["due_at"]),
        gap_s=real(row["plan_gap_s"]),
        price=real(row["price"]),
        p_changed=real(row["p_changed"]),
        per_day=real(row["per_day"]),
        rule=row["rule"],
        bound=row["bound"],
        planned_at=real(row["planned_at"]),
    )


def standing_values(done: Completion, last_seq: int, version_seq: int | None) -> dict[str, object]:
    """The plan's `due_at` is the one that holds."""
    standing, plan = done.standing, done.plan
    return {
        "id": done.lease.resource.id,
        "since_at": standing.since_at,
        "last_at": standing.last_at,
        "gap_s": standing.gap_s,
        "due_at": plan.due_at,
        "n_informative": standing.n_informative,
        "n_changes": standing.n_changes,
        "n_failures": standing.n_failures,
        "bits": standing.bits - (1 << 64) if standing.bits >> 63 else standing.bits,
        "etag": standing.etag,
        "last_modified": standing.last_modified,
        "memory": np.asarray(standing.memory, _FLOAT64).tobytes() if standing.memory else None,
        "moved_to": standing.moved_to,
        "moved_since_at": standing.moved_since_at,
        "last_seq": last_seq,
        "version_seq": version_seq,
        "plan_gap_s": plan.gap_s,
        "price": plan.price,
        "p_changed": plan.p_changed,
        "per_day": plan.per_day,
        "rule": plan.rule,
        "bound": plan.bound,
        "planned_at": plan.planned_at,
        "noise": noise_text(standing.noise),
    }


def visit_of(row: sqlite3.Row) -> Visit:
    return Visit(
        fetch_id=row["fetch_id"],
        resource_id=row["resource_id"],
        at=row["at"],
        since_at=real(row["since_at"]),
        due_at=real(row["due_at"]),
        outcome=Outcome(row["outcome"]),
        status=row["status"],
        changed=Changed(row["changed"]),
        significant=None if row["significant"] is None else bool(row["significant"]),
        magnitude=real(row["magnitude"]),
        event_at=real(row["event_at"]),
        moments=tuple(np.frombuffer(row["moments"] or b"", _FLOAT64).tolist()),
        duration_s=real(row["duration_s"]),
        n_bytes=row["n_bytes"],
        second_bytes=row["second_bytes"],
        evidence=row["evidence"],
        moved_to=row["moved_to"],
    )


def visit_values(visit: Visit) -> dict[str, object]:
    return {
        "fetch_id": visit.fetch_id,
        "resource_id": visit.resource_id,
        "at": visit.at,
        "since_at": visit.since_at,
        "due_at": visit.due_at,
        "outcome": visit.outcome.value,
        "informative": visit.informative,
        "status": visit.status,
        "changed": int(visit.changed),
        "significant": visit.significant,
        "magnitude": visit.magnitude,
        "event_at": visit.event_at,
        "moments": np.array(visit.moments, _FLOAT64).tobytes() or None,
        "duration_s": visit.duration_s,
        "n_bytes": visit.n_bytes,
        "second_bytes": visit.second_bytes,
        "evidence": visit.evidence,
        "moved_to": visit.moved_to,
    }


def version_of(row: Row, *, resource_id: int) -> Version:
    return Version(
        resource_id=resource_id,
        seq=row["seq"],
        at=row["at"],
        digest=row["digest"],
        fingerprint=row["fingerprint"],
        detector=row["detector"],
        media_type=row["media_type"],
        charset=row["charset"],
        status=row["status"],
        n_bytes=row["n_bytes"],
        gone=bool(row["gone"]),
        flag=row["flag"],
        url=row["answer_url"],
        file=row["file"],
        offset=row["offset"],
        length=row["length"],
    )


def version_values(version: Version, *, resource_id: int, seq: int) -> dict[str, object]:
    return {
        "resource_id": resource_id,
        "seq": seq,
        "at": version.at,
        "digest": version.digest,
        "fingerprint": version.fingerprint,
        "detector": version.detector,
        "media_type": version.media_type,
        "charset": version.charset,
        "status": version.status,
        "n_bytes": version.n_bytes,
        "gone": version.gone,
        "flag": version.flag,
        "answer_url": version.url,
        "file": version.file,
        "offset": version.offset,
        "length": version.length,
    }


def batch_of(rows: Sequence[tuple[Any, ...]]) -> tuple[Batch, Floats]:
    ids, groups, *columns, bits, memory = zip(*rows, strict=True) if rows else [()] * 14
    reals = (np.array(column, np.float64) for column in columns[:7])  # NumPy reads None as NaN
    counts = (np.array(column, np.int64) for column in columns[7:])
    batch = Batch(
        id=np.array(ids, np.int64),
        weight=next(reals),
        min_gap_s=next(reals),
        max_gap_s=next(reals),
        since_at=next(reals),
        gap_s=next(reals),
        hunch_per_day=next(reals),
        hunch_gap_s=next(reals),
        n_informative=next(counts),
        n_changes=next(counts),
        n_failures=next(counts),
        bits=np.array(bits, np.int64).view(np.uint64),
        group=np.array(groups, np.int64),
    )
    return batch, _memory_rows(memory)


def _memory_rows(blobs: Sequence[bytes | None]) -> Floats:
    """One row each; what is missing, or shorter than the longest, is NaN."""
    n_bytes = max((len(blob) for blob in blobs if blob), default=0)
    empty = np.full(n_bytes // _FLOAT64.itemsize, nan, _FLOAT64).tobytes()
    packed = b"".join(blob + empty[len(blob) :] if blob else empty for blob in blobs)
    return np.frombuffer(packed, _FLOAT64).reshape(len(blobs), -1 if packed else 0).astype(np.float64)


def real(value: float | None) -> float:
    return nan if value is None else value
