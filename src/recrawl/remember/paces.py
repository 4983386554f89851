"""How long visits took and what is due when, as columns; in memory."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Any

import numpy as np

from recrawl.model import Changed, Hosts, Outcome, Planned, Standing, Took, Visit
from recrawl.remember.watchlist import MemoryWatchlist

_TOLD_OFF = 429


def took_of(rows: Iterable[tuple[Any, ...]]) -> Took:
    """From rows of resource, host, at, due_at, took_s, troubled, changed, the newest first; None is NaN."""
    ids, groups, at, due_at, took_s, troubled, changed = list(zip(*rows, strict=True)) or [()] * 7
    return Took(
        id=np.array(ids[::-1], np.int64),
        group=np.array(groups[::-1], np.int64),
        at=np.array(at[::-1], np.float64),
        due_at=np.array(due_at[::-1], np.float64),
        took_s=np.array(took_s[::-1], np.float64),
        troubled=np.array(troubled[::-1], np.bool_),
        changed=np.array(changed[::-1], np.bool_),
    )


def hosts_of(rows: Iterable[tuple[Any, ...]]) -> Hosts:
    """From rows of number, name, rest_s, gate_at and n_failures; None is NaN."""
    ids, names, rest_s, gate_at, n_failures = list(zip(*rows, strict=True)) or [()] * 5
    return Hosts(
        id=np.array(ids, np.int64),
        name=tuple(names),
        rest_s=np.array(rest_s, np.float64),
        gate_at=np.array(gate_at, np.float64),
        n_failures=np.array(n_failures, np.int64),
    )


def planned_of(rows: Iterable[tuple[Any, ...]]) -> Planned:
    """From rows of resource, host, due_at, n_failures and fresh."""
    ids, groups, due_at, n_failures, fresh = list(zip(*rows, strict=True)) or [()] * 5
    return Planned(
        id=np.array(ids, np.int64),
        group=np.array(groups, np.int64),
        due_at=np.array(due_at, np.float64),
        n_failures=np.array(n_failures, np.int64),
        fresh=np.array(fresh, np.bool_),
    )


class MemoryPaces(MemoryWatchlist):
    def took(self, limit: int) -> Took:
        made = [
            (record.host.id, visit)
            for record in self._watched.records.values()
            for visit in record.visits
            if visit.duration_s > 0.0
        ]
        newest = sorted(made, key=lambda one: (one[1].at, one[1].resource_id), reverse=True)[:limit]
        return took_of(
            (
                *(visit.resource_id, host_id, visit.at, visit.due_at, visit.duration_s),
                *(_troubled(visit), visit.changed is Changed.YES),
            )
            for host_id, visit in newest
        )

    def hosts(self) -> Hosts:
        return hosts_of(
            (host.id, host.name, nan if host.rest_s is None else host.rest_s, host.gate_at, host.n_failures)
            for host in self._watched.hosts.values()
        )

    def planned(self) -> Planned:
        found = ((self._watched.records[resource_id], at) for resource_id, at in self._line.due_at.items())
        rows = [
            (record.resource.id, record.host.id, at, record.standing.n_failures, _fresh(record.standing))
            for record, at in found
        ]
        return planned_of(sorted(rows, key=lambda row: (row[1], row[2], row[0])))


def _fresh(standing: Standing) -> bool:
    return standing.n_informative > 0 and standing.n_changes == 0


def _troubled(visit: Visit) -> bool:
    status = visit.status or 0
    return visit.outcome is Outcome.NET_ERROR or status == _TOLD_OFF or status >= 500
