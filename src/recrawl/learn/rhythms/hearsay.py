"""Visits that somebody else learned from: what they tell of their groups.

The rows stay as they are, since whoever made the visit has written them; so each resource's rate is the one
that is known of it now. Where it stood in its habit is followed from visit to visit.
"""

from __future__ import annotations

from math import exp, isfinite, isnan, log1p

from recrawl.compiled import quick
from recrawl.learn.predictors.gamma import TELLING
from recrawl.learn.rhythms.beats import Common, beat_of, own_s
from recrawl.learn.rhythms.calendars import calendar_of, mark, shown_at
from recrawl.learn.rhythms.habits import row_after
from recrawl.learn.rhythms.kin import check_kin, see_kin
from recrawl.learn.rhythms.rates import gamma_of
from recrawl.learn.rhythms.rows import BLANK, CHANGED_AT, HABIT, VERDICTS
from recrawl.learn.rhythms.signals import heard
from recrawl.learn.rhythms.steps import rouse
from recrawl.model import Floats


def before(rows: Floats, since_at: Floats) -> Floats:
    """Copies of the rows, each as it was when its resource had last been looked at then, as far as is known:
    of whoever has changed since, nobody knows what habit it was in."""
    rows = rows.copy()
    later = rows[:, CHANGED_AT] > since_at
    for column in (CHANGED_AT, HABIT, VERDICTS):
        rows[later, column] = BLANK[column]
    return rows


@quick
def overheard(
    row: Floats,
    common: Common,
    slot: int,
    since_at: float,
    at: float,
    changed: bool,
    after_s: float,
    shape: float,
    scale_s: float,
    source: int,
    id_: int,
) -> None:
    habits, stirs = common.habits, common.stirs
    beat = beat_of(common, row, since_at, slot, scale_s / shape)
    shown_now = shown_at(common.calendars.shown[calendar_of(slot)], at)
    gap_s = max(shown_now - beat.since_at, 1e-3)
    a, b_s = gamma_of(row, common.lean, shape, scale_s)
    exact = after_s == 0.0
    per_s = a / b_s if exact else min(a / b_s, TELLING / gap_s)
    passed_s = max(own_s(habits, stirs, beat, shown_now), 1e-6 * gap_s)
    due = 1.0 if source < 0 else heard(common.sources, source, a, b_s, passed_s, changed)
    due = 1.0 if exact else due
    check_kin(common.ties, id_, since_at, at, exp(-a * log1p(passed_s / b_s)), changed)
    if slot >= 0:
        rouse(habits, stirs, beat, shown_now, changed, exact, per_s, a, b_s, due)
    if isnan(row[CHANGED_AT]):
        row[CHANGED_AT] = since_at
    elif common.marks and slot >= 0:
        its, b = calendar_of(slot), a / per_s
        mark(common.calendars, its, since_at, at, changed, passed_s, a, b, due, False, exact)
    if changed:
        row[CHANGED_AT] = at - after_s if isfinite(after_s) else at
        row[HABIT] = float(row_after(int(row[VERDICTS])))
        see_kin(common.ties, id_, at - after_s if isfinite(after_s) else since_at, at)
    row[VERDICTS] = float((2 * int(row[VERDICTS]) + (1 if changed else 0)) & 7)
