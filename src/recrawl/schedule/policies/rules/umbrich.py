"""The strategies of Umbrich, Mrzelj and Polleres 2015 (section 4): fix, dyn, window, state-1, state-2.

Every step takes the rule's numbers `p` (smallest gap, largest gap, then its own), the resource's row, and
whether the visit found a change. What the paper calls a frequency is the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log

from recrawl.model import DAY_S, Floats

WEEK_S = 7 * DAY_S
MONTH_S = 30 * DAY_S

Numbers = Sequence[float] | Floats
Row = list[float] | Floats


def within(gap_s: float, p: Numbers) -> float:
    """The gap, or the bound that it is beyond."""
    return min(max(gap_s, p[0]), p[1])


def agreed(p: Numbers, row: Row, changed: bool) -> float:
    """fix and dyn: when all of the last snapshots at the present gap agree, it is shortened or lengthened.

    `row[1]` counts those in a row that agree: above 0 they changed, below 0 they did not. p[2] is how many
    must; 0: that depends on the gap.
    """
    gap_s = row[0]
    bit = 1.0 if changed else -1.0
    run = row[1] + bit if row[1] * bit > 0.0 else bit
    n_needed = p[2] if p[2] > 0.0 else n_snapshots(gap_s)
    if abs(run) >= n_needed:
        factor = 1.5 if gap_s > MONTH_S else 2.0
        row[0] = within(gap_s / factor if changed else gap_s * factor, p)
    row[1] = run if row[0] == gap_s else 0.0  # another gap begins without snapshots
    return row[0]


def n_snapshots(gap_s: float) -> float:
    """How many snapshots `dyn` looks at: the rarer they are, the fewer."""
    if gap_s > 2 * MONTH_S:
        return 1.0
    if gap_s > MONTH_S:
        return 2.0
    return 3.0 if gap_s > WEEK_S else 4.0


def windowed(p: Numbers, row: Row, changed: bool) -> float:
    """window: by the share of changes in the last ten snapshots, or in half of them while there are fewer.

    `row[1]` counts snapshots, up to ten; `row[2]` holds the last ten change bits, the newest lowest.
    """
    n = min(row[1] + 1.0, 10.0)
    bits = (int(row[2]) << 1 | (1 if changed else 0)) & 1023
    row[1] = n
    row[2] = float(bits)
    n_looked_at = 10 if n >= 10.0 else max(1, int(n) // 2)
    n_changed = 0
    for place in range(n_looked_at):
        n_changed += (bits >> place) & 1
    row[0] = within(row[0] * stretched(n_changed / n_looked_at), p)
    return row[0]


def stretched(share: float) -> float:
    """What the gap is multiplied by, given the share (or the likelihood) of changes."""
    if share > 0.6:
        return 1.0 / 3.0 if share > 0.9 else 0.5 if share > 0.75 else 1.0 / 1.5
    if share < 0.4:
        return 3.0 if share < 0.1 else 2.0 if share < 0.25 else 1.5
    return 1.0


def chained(p: Numbers, row: Row, changed: bool) -> float:
    """state-1 and state-2: by the likelihood of a change after the last p[2] states, from counts of what
    followed them at this gap.

    `row[1]` holds those states as bits, none of them a change to begin with. Then comes a table for each rung
    of gaps: for every state, how often no change followed it, and how often one did.
    """
    n_states = 1 << int(p[2])
    table = 2 + rung(row[0], p) * 2 * n_states
    before = int(row[1])
    bit = 1 if changed else 0
    row[table + 2 * before + bit] += 1.0
    state = (before << 1 | bit) & (n_states - 1)
    row[1] = float(state)
    n_not, n_changed = row[table + 2 * state], row[table + 2 * state + 1]
    if n_not + n_changed > 0.0:  # else nothing is known of what follows, and the gap stays
        row[0] = within(row[0] * stretched(n_changed / (n_not + n_changed)), p)
    return row[0]


def rung(gap_s: float, p: Numbers) -> int:
    """Gaps share a table with those nearest to the same power of 1.5, the smallest step: a step up or down
    always leads to another table."""
    return floor(log(gap_s / p[0]) / log(1.5) + 0.5)
