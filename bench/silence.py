"""How often the living are called silent, and how many of those that stopped are found.

Made-up worlds of 3,000 resources with rates far apart, changing at random or in bursts, over 200 days. Looked
at every so many mean gaps between changes, with gaps that vary by 40 %. For the second table one in twenty
stops changing on the given day. Some ten seconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.silence import silent
from recrawl.model import DAY_S, Batch, Bools, Floats, Seen
from recrawl.simulate.processes import Bursty, Law, Poisson

N, DAYS, START_AT = 3_000, 200.0, 1_700_000_000.0
LOOKS = (0.3, 1.0, 2.0)  # mean gaps between changes from one look to the next
STOPS = (50.0, 100.0, 150.0, 170.0)  # days
LONG = 10.0  # mean gaps


class Looked(NamedTuple):
    found: Bools
    changed: Bools  # at least once
    silent_gaps: Floats  # mean gaps between changes from the stop to the last look


def looked(kind: str, per_gap: float, stops: Floats) -> Looked:
    rng = np.random.default_rng(1)
    per_day = np.clip(rng.gamma(0.8, 0.25, N), 0.02, 3.0)
    law: Law = Poisson(per_day) if kind == "random" else Bursty(per_day, branching=0.6, decay_s=DAY_S / 2)
    bounds, events = law.draw(np.zeros(N), np.full(N, DAYS * DAY_S), rng)
    rows, since_at, bits = [], np.zeros(N), np.zeros(N, dtype=np.uint64)
    n_looks, n_changes = np.zeros(N, dtype=np.int64), np.zeros(N, dtype=np.int64)
    for i in range(N):
        own = events[bounds[i] : bounds[i + 1]]
        gap_s = np.clip(per_gap / per_day[i], 0.25, 30.0) * DAY_S
        at = np.cumsum(gap_s * rng.uniform(0.6, 1.4, int(DAYS * DAY_S / gap_s / 0.6) + 2))
        at = at[at < DAYS * DAY_S]
        changed = np.diff(np.searchsorted(own[own < stops[i] * DAY_S], at)) > 0
        n_looks[i], n_changes[i], since_at[i] = len(at), changed.sum(), at[-1]
        bits[i] = sum(int(bit) << k for k, bit in enumerate(changed[::-1][:64].tolist()))
        rows.append((np.full(len(changed), i + 1), at[:-1], at[1:], changed))
    ids, since, then, verdicts = (np.concatenate(column) for column in zip(*rows, strict=True))
    seen = Seen(
        id=ids,
        since_at=START_AT + since,
        at=START_AT + then,
        changed=verdicts.astype(np.int8),
        event_at=np.full(len(ids), np.nan),
    )
    batch = Batch(
        id=np.arange(1, N + 1),
        weight=np.ones(N),
        min_gap_s=np.full(N, 900.0),
        max_gap_s=np.full(N, 180 * DAY_S),
        since_at=START_AT + since_at,
        gap_s=np.full(N, DAY_S),
        n_informative=n_looks,
        n_changes=n_changes,
        n_failures=np.zeros(N, dtype=np.int64),
        bits=bits,
    )
    rhythm = Rhythm()
    rhythm.learn(seen)
    _, p = rhythm.silences(batch, batch.since_at)
    return Looked(silent(p), np.isfinite(p), (since_at / DAY_S - stops) * per_day)


def main() -> None:
    for kind in ("random", "bursts"):
        for per_gap in LOOKS:
            world = looked(kind, per_gap, np.full(N, np.inf))
            share = world.found[world.changed].mean()
            print(
                f"{kind}, looked at every {per_gap:g} mean gaps: {share:.2%} of the living are called silent"
            )
        for stop in STOPS:
            dead = np.arange(N) % 20 == 0
            world = looked(kind, 1.0, np.where(dead, stop, np.inf))
            long = dead & world.changed & (world.silent_gaps > LONG)
            living, found = (world.found[them].mean() for them in (~dead & world.changed, long))
            print(
                f"{kind}, one in twenty stops on day {stop:g}: {living:.2%} of the living, "
                f"{found:.0%} of {long.sum()} that were silent for more than {LONG:g} mean gaps"
            )


if __name__ == "__main__":
    main()
