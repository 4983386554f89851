"""The rules of crawlers that adapt: Apache Nutch, Apache StormCrawler, Heritrix 1, and hydra's ladder."""

from __future__ import annotations

from math import floor

from recrawl.model import HOUR_S
from recrawl.schedule.policies.rules.umbrich import Numbers, Row, within

LADDER_S = (12 * HOUR_S, 24 * HOUR_S, 168 * HOUR_S, 720 * HOUR_S)


def multiplied(p: Numbers, row: Row, changed: bool) -> float:
    """The gap times p[2] after a visit without a change, times p[3] after one with (Heritrix 1)."""
    row[0] = within(row[0] * (p[3] if changed else p[2]), p)
    return row[0]


def synchronised(p: Numbers, row: Row, at: float, elapsed_s: float, changed: bool) -> float:
    """Nutch's adaptive schedule. p: …, inc rate, dec rate, sync delta (1 or 0), sync delta rate.

    `row[1]` is Nutch's interval, `row[2]` the time of the last change seen, once `row[3]` says that it is
    known. The next visit is counted from a moment that lies back towards that change.
    """
    interval_s = row[1] if row[3] > 0.0 else row[0]
    modified_at = row[2] if row[3] > 0.0 else at - elapsed_s  # at first, when the first copy was taken
    if changed:
        interval_s *= 1.0 - p[3]
        modified_at = at
    else:
        interval_s *= 1.0 + p[2]
    offset_s = 0.0
    if p[4] > 0.0:
        delta_ms = floor((at - modified_at) * 1000.0 + 0.5)
        interval_s = max(interval_s, float(delta_ms // 1000))
        offset_ms = floor(delta_ms * p[5] + 0.5)
        if delta_ms > 0 and offset_ms > p[1] * 1000.0:
            # Meant as a share of the largest gap; in whole numbers a fraction is 0, and so is this.
            offset_ms = offset_ms // delta_ms * floor(p[1] * 1000.0)
        offset_s = offset_ms / 1000.0
    interval_s = float(floor(within(interval_s, p) + 0.5))  # whole seconds are kept
    row[1] = interval_s
    row[2] = modified_at
    row[3] = 1.0
    row[0] = within(interval_s - offset_s, p)
    return row[0]


def halved(p: Numbers, row: Row, changed: bool) -> float:
    """StormCrawler's adaptive scheduler, in whole minutes. p: …, inc rate, dec rate."""
    minutes, least = floor(row[0] / 60.0 + 1e-9), p[0] / 60.0
    longer, shorter = minutes * (1.0 + p[2]), (1.0 - p[3]) * minutes + p[3] * least
    row[0] = within(floor(shorter if changed else longer) * 60.0, p)
    return row[0]


def climbed(p: Numbers, row: Row, changed: bool) -> float:
    """hydra: every visit without a change climbs a rung of the ladder, a change leads back to the lowest.

    `row[1]` is the rung's own gap; the one asked for is within the bounds.
    """
    gap_s = row[1] if row[1] > 0.0 else row[0]
    if changed:
        row[1] = LADDER_S[0]
    else:
        row[1] = LADDER_S[3]
        for place in range(3, -1, -1):
            if LADDER_S[place] > gap_s:
                row[1] = LADDER_S[place]
    row[0] = within(row[1], p)
    return row[0]
