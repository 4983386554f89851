"""How late posts are found by predictors at equal visits, driven by the simulator.

Each draw is a random quarter of the corpus, with up to --threads threads in which somebody spoke in the month
before it. The first visits tell of all posts up to then, and every further one of those since the one
before it (`--untimed`: only that there were some). All predictors go by policy `index` with goal `prompt`,
gaps of 5 minutes to 180 days, and the price at which they make as many visits as are asked for. Prints the
mean delay in minutes, and by how much it is below that of the first predictor named, with an interval: 95 %
of bootstrap samples of the draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.corpora.opened import opened
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import predictor_named
from recrawl.model import DAY_S, Floats, Ints
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.columns import walk_columns
from recrawl.simulate.traces import Traces, Visits

BUDGETS = (0.5, 1.0, 2.0)  # visits per post
MIN_GAP_S, MAX_GAP_S = 300.0, 180 * DAY_S
QUARTER_S, LATELY_S = 90 * DAY_S, 30 * DAY_S
FEWEST = 100  # posts in a quarter that measures anything
TOLERANCE = 0.02  # of the number of visits
GUESS = 1e5  # a price to begin with: posts times seconds
N_SAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Draw:
    traces: Traces
    start_at: float
    phase: Floats

    @property
    def end_at(self) -> float:
        return self.start_at + QUARTER_S

    @property
    def inside(self) -> tuple[Floats, Ints]:
        """The posts of the quarter, and whose they are."""
        of = np.repeat(np.arange(len(self.traces)), self.traces.n_changes)
        at = self.traces.at
        kept = (at > self.start_at) & (at <= self.end_at)
        return at[kept], of[kept]


def drawn(traces: Traces, n_threads: int, rng: np.random.Generator) -> Draw:
    """A quarter in which something was said."""
    while True:
        start_at = float(rng.uniform(traces.born_at.min() + LATELY_S, traces.at.max() - QUARTER_S))
        of = np.repeat(np.arange(len(traces)), traces.n_changes)
        lately = (traces.at <= start_at) & (traces.at > start_at - LATELY_S)
        rows = np.unique(of[lately])
        if len(rows) > n_threads:
            rows = np.sort(rng.choice(rows, n_threads, replace=False))
        draw = Draw(traces.pick(rows), start_at, rng.random(len(rows)))
        if len(draw.inside[0]) >= FEWEST:
            return draw


def delays_s(draw: Draw, visits: Visits) -> Floats:
    """From each post of the quarter to the visit that finds it, or to its end."""
    at, of = draw.inside
    return np.array(
        [_found_at(visits.of(row), one, draw.end_at) - one for one, row in zip(at, of, strict=True)]
    )


def _found_at(visit_at: Floats, at: float, end_at: float) -> float:
    place = int(np.searchsorted(visit_at, at))
    return float(visit_at[place]) if place < len(visit_at) else end_at


def run(name: str, draw: Draw, moments: bool) -> Callable[[float], Visits]:
    def at(price: float) -> Visits:
        return walk_columns(
            predictor_named(name),
            Index(Prompt()),
            draw.traces,
            start_at=draw.start_at,
            end_at=draw.end_at,
            first_gap_s=draw.phase * DAY_S,
            min_gap_s=MIN_GAP_S,
            max_gap_s=MAX_GAP_S,
            price=price,
            moments=moments,
        )

    return at


def below(mean: Floats, first: Floats, rng: np.random.Generator) -> str:
    """By how much the mean over draws is below that of the first, with an interval."""
    rows = rng.integers(0, len(mean), (N_SAMPLES, len(mean)))
    low, high = np.quantile(1.0 - mean[rows].sum(axis=1) / first[rows].sum(axis=1), [0.025, 0.975])
    return f"{100 * (1 - mean.sum() / first.sum()):5.1f} % below [{100 * low:.1f} to {100 * high:.1f}]"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--corpus", default="builtin:threads")
    asked.add_argument("--host", help="threads of this host alone, by its number")
    asked.add_argument("--predictors", default="rhythm,thread")
    asked.add_argument("--draws", type=int, default=3)
    asked.add_argument("--threads", type=int, default=30)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--untimed", action="store_true")
    said = asked.parse_args()
    traces = opened(said.corpus).traces()
    if said.host is not None:
        traces = traces.pick(traces.host == int(said.host))
    rng = np.random.default_rng(said.seed)
    draws = [drawn(traces, said.threads, rng) for _ in range(said.draws)]
    n_posts = [len(draw.inside[0]) for draw in draws]
    n_threads = sum(len(draw.traces) for draw in draws)
    print(f"{said.corpus}: {len(draws)} draws, {n_threads} threads, {sum(n_posts)} posts", flush=True)
    names = said.predictors.split(",")
    sums: dict[tuple[str, float], list[float]] = {}
    n_visits: dict[tuple[str, float], int] = {}
    for number, (draw, n) in enumerate(zip(draws, n_posts, strict=True)):
        for name in names:
            known: dict[float, Visits] = {}
            for budget in BUDGETS:
                _, visits = bid(run(name, draw, not said.untimed), round(budget * n), GUESS, TOLERANCE, known)
                late_s = delays_s(draw, visits)
                sums.setdefault((name, budget), []).append(float(late_s.sum()))
                n_visits[name, budget] = n_visits.get((name, budget), 0) + len(visits)
                print(f"  draw {number}: {budget:4} {name:20} {late_s.mean() / 60.0:8.0f} min", flush=True)
    for budget in BUDGETS:
        for name in names:
            own, first = np.array(sums[name, budget]), np.array(sums[names[0], budget])
            mean = own.sum() / sum(n_posts) / 60.0
            n_each = n_visits[name, budget] / sum(n_posts)
            than = below(own, first, rng)
            print(f"{budget:4} {name:20} {mean:8.0f} min, {n_each:.3f} visits per post, {than}")


if __name__ == "__main__":
    main()
