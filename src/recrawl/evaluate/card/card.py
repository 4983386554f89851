"""All that the report card says, worked out from columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np

from recrawl.evaluate.calibration import (
    brier,
    calibration_error,
    log_loss,
    reliability,
)
from recrawl.evaluate.card.delays import delay
from recrawl.evaluate.card.figures import Calibration, Card, Day, Trouble, Waste
from recrawl.evaluate.card.missed import missed
from recrawl.evaluate.card.past import Judged, Past
from recrawl.evaluate.card.past import judged as judged_of
from recrawl.evaluate.card.rates import gammas
from recrawl.evaluate.card.rivals import Rival, rivals
from recrawl.model import DAY_S, Bools, Floats, Hosts, Ints, Looked, Prospects
from recrawl.schedule.optimum import GOALS

UNLIKELY = 0.1  # who had at most this chance of a change could not be expected to have any
FEW_CHANGES = 10  # with fewer, delays and missed changes are a matter of luck
FEW_FORECASTS = 50
MOST_HOSTS = 10


def card(past: Past, notes: Sequence[str] = ()) -> Card:
    said, every = list(notes), past.every
    if every > 1:
        said.append(
            f"There are many visits. They and the changes found are counted; what else is said of them is "
            f"estimated from one resource in {every}."
        )
    # each visit that was read stands for so many
    n_read = len(past.looked)
    times = int(past.tally[:, 0].sum()) / n_read if every > 1 and n_read else 1.0
    seen = judged_of(past)
    looked, rows, judged, believed = seen.looked, seen.rows, seen.judged, seen.believed
    found = np.flatnonzero(judged & (looked.changed == 1))
    p = forecast_at(looked)
    p[~judged] = nan
    late = missed_in = None
    if len(found) >= FEW_CHANGES:
        known = believed.known[rows[found]]
        late = delay(looked.pick(found), believed.gamma.pick(rows[found]), known)
        if known.any():
            some = found[known]
            gap_s = looked.at[some] - looked.since_at[some]
            missed_in = missed(gap_s, rows[some], believed.gamma).times(times)
        if 0 < known.sum() < len(found):
            n = int((~known).sum())
            said.append(f"Of {n:,} changes no rate is known: what was missed beside them is not counted.")
    compared, n_compared = _compared(seen, said)
    troubles, n_troubled = _troubles(looked, rows, seen.prospects, past.hosts)
    return Card(
        from_at=past.from_at,
        until_at=past.until_at,
        rule=past.rule,
        per_day=past.per_day,
        n_resources=len(past.prospects),
        n_paused=int(past.prospects.paused.sum()),
        n_visited=min(len(np.unique(rows)) * every, len(past.prospects)),
        days=_days(past),
        waste=_waste(judged, looked.changed == 1, p).times(times),
        n_changes=int(past.tally[:, 1].sum()),
        delay=late,
        missed=missed_in,
        calibration=_calibration(p, looked.changed == 1),
        rivals=compared,
        n_compared=n_compared,
        troubles=troubles,
        n_troubled=n_troubled,
        notes=said,
    )


def forecast_at(looked: Looked) -> Floats:
    """The chance of a change that the plan had forecast, at the moment of the visit: it goes on growing where
    that came late. NaN where no forecast led to it, or where it came before its time."""
    planned_s, gap_s = looked.due_at - looked.since_at, looked.at - looked.since_at
    usable = np.isfinite(looked.p_changed) & (planned_s > 0.0) & (gap_s >= planned_s * (1.0 - 1e-6) - 1.0)
    p = np.full(len(looked), nan)
    rows = np.flatnonzero(usable)
    some = looked.p_changed[rows]
    per_day = looked.per_day[rows]
    alone = -np.log1p(-np.minimum(some, 1.0 - 1e-9)) / planned_s[rows] * DAY_S  # what the chance alone means
    per_day = np.where(np.isfinite(per_day), per_day, alone)
    late = 1.0 - gammas(some, per_day, planned_s[rows]).survival(gap_s[rows])
    p[rows] = np.clip(np.where(gap_s[rows] > planned_s[rows], np.maximum(late, some), some), 0.0, 1.0)
    return p


def _days(past: Past) -> list[Day]:
    """Days of 24 hours, the last of them ends now."""
    days = []
    for i, (n_visits, n_changes, n_failed, n_second) in reversed(list(enumerate(past.tally.tolist()))):
        at = max(past.until_at - (i + 1) * DAY_S, past.from_at)
        until_at = past.until_at - i * DAY_S
        days.append(
            Day(
                at=at,
                days=(until_at - at) / DAY_S,
                n_visits=n_visits,
                n_changes=n_changes,
                n_failed=n_failed,
                n_second=n_second,
                budget=past.budget(at, until_at),
            )
        )
    return days


def _waste(judged: Bools, changed: Bools, p: Floats) -> Waste:
    forecast = np.isfinite(p)
    return Waste(
        n_looked=int(judged.sum()),
        n_nothing=int((judged & ~changed).sum()),
        n_forecast=int(forecast.sum()),
        n_unlikely=int((forecast & ~changed & (p <= UNLIKELY)).sum()),
        expected=float((1.0 - p[forecast]).sum()),
    )


def _calibration(p: Floats, changed: Bools) -> Calibration | None:
    rows = np.flatnonzero(np.isfinite(p))
    p, changed = p[rows], changed[rows]
    if len(rows) < FEW_FORECASTS:
        return None
    whole, curve = reliability(p, changed, 1)[0], reliability(p, changed)
    return Calibration(
        n=len(rows),
        forecast=float(p.mean()),
        happened=float(changed.mean()),
        least=whole.least,
        most=whole.most,
        brier=brier(p, changed),
        log_loss=log_loss(p, changed),
        error=calibration_error(curve),
        curve=curve,
    )


def _compared(seen: Judged, notes: list[str]) -> tuple[list[Rival], int]:
    spent = seen.spent()
    if spent is None:
        return [], 0
    n_left_out = len(seen.prospects) - int(seen.prospects.paused.sum()) - len(spent.prospects)
    if n_left_out:
        notes.append(f"{n_left_out:,} resources without a forecast are left out of the comparison.")
    goal = seen.past.rule.partition(":")[2] or "fresh"
    if goal not in GOALS:
        notes.append(f"The optimum is that for goal fresh: for {goal} none is known.")
        goal = "fresh"
    return rivals(spent, goal), len(spent.prospects)


def _troubles(looked: Looked, rows: Ints, prospects: Prospects, hosts: Hosts) -> tuple[list[Trouble], int]:
    """Hosts half of whose visits told nothing, or that are in trouble now; the worst first."""
    group = prospects.group[rows]
    n = np.bincount(group, minlength=1)
    failed = np.bincount(group, weights=~looked.informative, minlength=1)
    known = np.zeros(len(n), dtype=np.int64)
    mine = hosts.id < len(n)
    known[hosts.id[mine]] = hosts.n_failures[mine]
    bad = np.flatnonzero((failed > 0) & ((2 * failed >= n) & (failed > 1) | (known > 0)))
    worst = bad[np.lexsort((bad, -failed[bad]))][:MOST_HOSTS]
    names = dict(zip(hosts.id.tolist(), hosts.name, strict=True))
    return [
        Trouble(
            host=names.get(int(host), str(host)),
            n_visits=int(n[host]),
            n_failed=int(failed[host]),
            n_in_a_row=int(known[host]),
        )
        for host in worst
    ], len(bad)
