"""A corpus cut into pieces that fit in memory, each with its share of every window.

Where everything fits at once there is one piece. The draws are the same either way (see `protocol`), and so
are the figures of every policy that looks at each resource alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from recrawl.corpora.native import NO_VERSIONS
from recrawl.corpora.opened import Histories
from recrawl.corpora.significant import SignificantCorpus
from recrawl.errors import BadInputError
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.intervals import groups_of
from recrawl.evaluate.protocol import Window, windows
from recrawl.evaluate.sums import MOST_GROUPS
from recrawl.model import DAY_S, Bools, Ints
from recrawl.simulate.traces import Traces

T = TypeVar("T")
Tell = Callable[[float, str], None]
MOST_VISITS = 2e7  # in a window, of a rule that always takes the smallest gap
_ALIKE = 0.8  # of the most resources in a window must be in the least one, or that is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Those resources of a piece that are in one window. `window.rows` are 0, 1, 2, … here."""

    draw: int
    traces: Traces
    window: Window
    group: Ints

    def pick(self, mask: Bools) -> Population:
        rows = np.flatnonzero(mask)
        return Population(
            draw=self.draw,
            traces=self.traces.pick(rows),
            window=replace(self.window, rows=np.arange(len(rows)), first_gap_s=self.window.first_gap_s[rows]),
            group=self.group[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    traces: Traces
    windows: Sequence[Window]
    group: Ints  # of each resource: what is resampled together
    n_groups: int  # in the whole corpus
    grouped_by: str
    share: float  # of all resources that lie before it

    def population(self, draw: int) -> Population:
        window = self.windows[draw]
        rows = window.rows
        return Population(
            draw=draw,
            traces=self.traces.pick(rows),
            window=replace(window, rows=np.arange(len(rows))),
            group=self.group[rows],
        )


def pieces(corpus: Histories, ask: Ask) -> Iterator[Piece]:
    span = (corpus.about.start_at, corpus.about.end_at)
    first_row = 0
    by = ""
    n_groups = min(len(corpus), MOST_GROUPS)
    for traces in corpus.chunks(ask.n_at_once):
        if not len(traces):
            continue
        drawn = list(
            windows(traces, days=ask.days, n_draws=ask.n_draws, seed=ask.seed, span=span, first_row=first_row)
        )
        group, found = groups_of(traces)
        by = by or found  # as the first piece is, so are all
        numbered = traces.host if by == "host" else first_row + group
        yield Piece(
            traces=traces,
            windows=drawn,
            group=numbered % n_groups,
            n_groups=n_groups,
            grouped_by=by,
            share=first_row / max(len(corpus), 1),
        )
        first_row += len(traces)


def adapted(corpus: Histories, ask: Ask) -> tuple[Ask, list[str]]:
    """What the corpus allows of what is asked, and what the reader must be told about that."""
    about, notes = corpus.about, []
    if not len(corpus):
        raise BadInputError(f"{about.name} has no resources; import a corpus that has some.")
    finest_s = about.finest_s
    if finest_s > ask.min_gap_s:
        notes.append(
            f"Changes in {about.name} are known to {_span(finest_s)}: gaps are never shorter than that, "
            f"not {_span(ask.min_gap_s)}."
        )
        ask = replace(ask, min_gap_s=finest_s, max_gap_s=max(finest_s, ask.max_gap_s))
    if about.observation == "visits":
        notes.append(
            f"{about.name} was looked at now and then: what happened between two looks is not in it, "
            "and each change counts from the look that found it."
        )
    return ask, notes


def spared(held: Piece, ask: Ask, notes: list[str]) -> Ask:
    """Rules that come to take the smallest gap always must not look without end."""
    longest = max(len(window.rows) * window.length_s for window in held.windows)
    least_s = longest / MOST_VISITS
    if ask.min_gap_s >= least_s:
        return ask
    notes.append(
        f"Gaps are never shorter than {least_s / 60:.0f} minutes: with less, a rule that always takes the "
        f"smallest would make more than {MOST_VISITS / 1e6:.0f} million visits."
    )
    return replace(ask, min_gap_s=least_s, max_gap_s=max(least_s, ask.max_gap_s))


def counted(corpus: Histories) -> list[str]:
    """What there is to say of changes that do not count; it is known when they were read."""
    return corpus.said() if isinstance(corpus, SignificantCorpus) else []


def measured_days(windows: Sequence[Window], notes: list[str]) -> float:
    """How long the windows are, in the mean; what there is to say about it is noted."""
    notes += dict.fromkeys(window.note for window in windows if window.note)
    return float(np.mean([window.days for window in windows]))


def uneven(n_population: Ints) -> list[str]:
    """What there is to say where the windows hold very different numbers of resources."""
    least, most = int(n_population.min()), int(n_population.max())
    if least >= _ALIKE * most:
        return []
    return [
        f"The windows hold from {least:,} to {most:,} resources, since many came only after the earliest had "
        "begun; shorter windows (--days, --years) are more alike."
    ]


def nobody(corpus: Histories, days: float) -> BadInputError:
    """Once it was read, why nobody is in a window."""
    if corpus.skipped.get(NO_VERSIONS, 0) >= len(corpus):
        return BadInputError(
            f"No resource of {corpus.about.name} has a version: nothing can be measured. `recrawl corpus "
            "check` tells what its files lack; mend them, or import it anew."
        )
    return BadInputError(
        f"No resource of {corpus.about.name} had a version before the window of {days:.0f} days began: "
        f"nothing can be measured. It spans {corpus.about.days:.0f} days; ask for fewer --days or "
        "--years."
    )


def each(task: Callable[[int], T], n: int, n_cores: int | None) -> Iterator[T]:
    """The results of `task(0)`, `task(1)`, … in that order, worked out on several cores.

    Threads will do: the loops are compiled and let other threads run meanwhile.
    """
    n_threads = min(n, n_cores or os.cpu_count() or 1)
    if n_threads <= 1:
        yield from map(task, range(n))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(task, range(n))


def _span(length_s: float) -> str:
    for size_s, name in ((DAY_S, "day"), (3_600.0, "hour"), (60.0, "minute")):
        if length_s >= size_s:
            figure = f"{length_s / size_s:.3g}"
            return f"{figure} {name}" if figure == "1" else f"{figure} {name}s"
    return f"{length_s:.3g} seconds"
