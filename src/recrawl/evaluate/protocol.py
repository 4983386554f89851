"""Where and when policies are measured: windows of time, and who is in them.

A window ends at a random moment in the last tenth of the corpus's span, and every resource's first visit has
a random phase. A window that ends on an event, and visits that start in step, would make the result of a
fixed rule a matter of luck; so everything is measured over several draws of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recrawl.errors import BadInputError
from recrawl.model import DAY_S, Floats, Ints
from recrawl.simulate.traces import Traces

N_DRAWS = 20
FIRST_GAP_S = 7 * DAY_S  # times the phase
LAST_SHARE = 0.1  # of the span: where windows end


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of time, and the resources measured in it.

    Each of them holds a copy at `start_at` that is not counted, and is first visited `first_gap_s` later.
    """

    start_at: float
    end_at: float
    rows: Ints  # of the corpus's traces: the population
    first_gap_s: Floats  # one for each of these rows
    note: str = ""  # what the reader must know of this window

    @property
    def length_s(self) -> float:
        return self.end_at - self.start_at

    @property
    def days(self) -> float:
        return self.length_s / DAY_S


def whole(n_resources: int, start_at: float, end_at: float) -> Window:
    """A window that was not drawn: all resources, from one moment to the other."""
    return Window(
        start_at=start_at, end_at=end_at, rows=np.arange(n_resources), first_gap_s=np.zeros(n_resources)
    )


def windows(
    traces: Traces,
    *,
    days: float,
    n_draws: int = N_DRAWS,
    seed: int,
    span: tuple[float, float],
    first_row: int = 0,
) -> Iterator[Window]:
    """`n_draws` windows of `days` days, each with its population: what had a version before it began.

    The draws depend on the seed and the span alone, and a resource's phases on its row. So a corpus may come
    in chunks, each with the number of its `first_row`, and still be drawn as one.
    """
    start_at, end_at = span
    length_s, note = _length(days, end_at - start_at)
    if n_draws < 1:
        raise BadInputError(f"{n_draws} draws measure nothing; ask for 1 or more.")
    for stream in np.random.SeedSequence(seed).spawn(n_draws):
        for_end, for_phases = stream.spawn(2)
        until = end_at - LAST_SHARE * (end_at - start_at) * np.random.default_rng(for_end).random()
        since = max(start_at, until - length_s)
        phases = np.random.Generator(np.random.PCG64(for_phases).advance(first_row)).random(len(traces))
        rows = np.flatnonzero(traces.born_at < since)
        yield Window(
            start_at=since, end_at=until, rows=rows, first_gap_s=FIRST_GAP_S * phases[rows], note=note
        )


def _length(days: float, span_s: float) -> tuple[float, str]:
    if not days > 0:
        raise BadInputError(f"A window of {days:g} days holds nothing; ask for more than 0.")
    if not span_s > 0:
        raise BadInputError("The corpus begins and ends at the same moment; give one that spans some time.")
    longest_s = (1 - LAST_SHARE) * span_s  # so that every draw has room before its end
    if days * DAY_S <= longest_s:
        return days * DAY_S, ""
    used_days = longest_s / DAY_S
    return (
        longest_s,
        f"The corpus spans {span_s / DAY_S:.0f} days: windows have {used_days:.0f}, not {days:g}.",
    )
