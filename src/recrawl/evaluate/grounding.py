"""What a replayed forecast begins from: priors fitted to the visits that the replay has made so far.

A run fits them every day (`recrawl.grounds`), and sooner while little was seen. A replay is made over and
over until its price is found: so it fits them whenever it has gone on for three times as long, by fewer
resources.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from recrawl.evaluate.protocol import Window
from recrawl.grounds import N_NEWEST
from recrawl.learn.histories import Histories
from recrawl.learn.priors import DOUBT, SCALE_DAYS, SHAPE, doubted, fitted
from recrawl.model import DAY_S, Ints, Priors
from recrawl.simulate.rhythms import Fits
from recrawl.simulate.traces import Traces, Visits, picked

FIRST_S, TIMES = DAY_S, 3.0
N_SAMPLED = 1_000  # resources


def fits(traces: Traces, window: Window, doubt: float = DOUBT) -> Fits:
    """When priors are fitted in a window, and to what."""
    times = [window.start_at + FIRST_S]
    while times[-1] < window.end_at:
        times.append(window.start_at + TIMES * (times[-1] - window.start_at))
    return Fits(times, partial(_fitted, traces, window.start_at, doubt))


def _fitted(traces: Traces, start_at: float, doubt: float, made: Visits) -> Priors:
    rows = np.flatnonzero(np.diff(made.bounds) > 0)
    if len(rows) > N_SAMPLED:
        rows = np.sort(np.random.default_rng(len(rows)).choice(rows, N_SAMPLED, replace=False))
    if not len(rows):
        return Priors(shape=SHAPE, scale_s=SCALE_DAYS * DAY_S)
    group = traces.host[rows].astype(np.int64) + 1
    return doubted(fitted(told(traces, made, rows, start_at), group), doubt)


def told(traces: Traces, made: Visits, rows: Ints, start_at: float) -> Histories:
    """What the newest visits to these resources found; each had a copy when the replay began. Every one of
    them must have been visited."""
    bounds, places = picked(made.bounds, rows)
    row, at = np.repeat(np.arange(len(rows)), np.diff(bounds)), made.at[places]
    since_at = np.concatenate([[start_at], at[:-1]])
    since_at[bounds[:-1]] = start_at
    ends, places = picked(traces.bounds, rows)
    change_at = traces.at[places]
    # resources one after the other on one line: how many changes lie before each visit
    far_s = (
        max(at.max(), change_at.max(initial=start_at)) - min(start_at, change_at.min(initial=start_at)) + 1.0
    )
    line = np.repeat(np.arange(len(rows)), np.diff(ends)) * far_s + change_at
    upto, before = (np.searchsorted(line, row * far_s + moment, side="right") for moment in (at, since_at))
    new = np.repeat(bounds[1:], np.diff(bounds)) - np.arange(len(at)) <= N_NEWEST
    return Histories(
        n=len(rows),
        row=row[new],
        gap_s=np.maximum(at - since_at, 1e-3)[new],
        changed=(upto > before)[new],
        after_s=np.full(int(new.sum()), np.nan),
    )
