"""What it costs to plan with estimated rates: staleness above that of a plan that knows them.

20,000 resources whose rates are log-normal, visited at exponentially distributed gaps of a day; then the best
even gaps for 0.2 visits a day each are planned with the estimates, and judged by the true rates. All figures
are ratios within one run, but for the microseconds, which are of one core of this machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from recrawl.learn import estimators
from recrawl.learn.histories import Histories
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.priors import fitted
from recrawl.model import DAY_S, Floats, Ints, Priors, Seen
from recrawl.schedule.optimum import expected, optimum

N, PER_VISIT = 20_000, 0.2
COUNTS = (3, 10, 30, 100)
LEAST, MOST = 0.0005 / DAY_S, 7.0 / DAY_S  # where estimates without a prior are kept


def world(n_visits: int, seed: int) -> tuple[Floats, Floats, Histories]:
    """Rates, weights, and visits that tell when the last change was."""
    rng = np.random.default_rng(seed)
    per_day = np.clip(np.exp(rng.normal(np.log(0.15), 1.5, N)), 0.0005, 7.0)
    weight = np.ceil(rng.pareto(1.3, N) * 50 + 1)
    row = np.repeat(np.arange(N), n_visits)
    gap = rng.exponential(1.0, len(row))
    after = rng.exponential(1.0, len(row)) / per_day[row]
    changed = after < gap
    after_s = np.where(changed, after * DAY_S, np.nan)
    return (
        per_day / DAY_S,
        weight,
        Histories(n=N, row=row, gap_s=gap * DAY_S, changed=changed, after_s=after_s),
    )


def untimed(seen: Histories) -> Histories:
    return Histories(
        n=seen.n,
        row=seen.row,
        gap_s=seen.gap_s,
        changed=seen.changed,
        after_s=np.full(len(seen), np.nan),
    )


def filtered(seen: Histories, priors: Priors, group: Ints | None = None) -> Floats:
    """The Gamma filter's mean, without forgetting."""
    groups = np.zeros(seen.n, dtype=np.int64) if group is None else group
    since = np.tile(np.arange(len(seen) // seen.n, dtype=np.float64), seen.n) * 1e9
    gamma = GammaFilter(forgetting=0.0)
    gamma.ground(priors)
    gamma.learn(
        Seen(
            id=seen.row,
            since_at=since,
            at=since + seen.gap_s,
            changed=seen.changed.astype(np.int8),
            event_at=since + seen.gap_s - seen.after_s,
            group=groups[seen.row],
        )
    )
    a, b_s = gamma.state(np.arange(seen.n), groups)
    return a / b_s


def imagined(seen: Histories) -> Floats:
    """One change and one visit without, each after half a day, are added to every history."""
    both = np.arange(seen.n)
    more = Histories(
        n=seen.n,
        row=np.concatenate([seen.row, both, both]),
        gap_s=np.concatenate([seen.gap_s, np.full(2 * seen.n, 0.5 * DAY_S)]),
        changed=np.concatenate([seen.changed, np.arange(2 * seen.n) < seen.n]),
        after_s=np.concatenate([seen.after_s, np.full(2 * seen.n, np.nan)]),
    )
    return estimators.likeliest(more).per_s


def drawn(per_day: Floats, n_visits: int, rng: np.random.Generator) -> Histories:
    row = np.repeat(np.arange(len(per_day)), n_visits)
    gap = rng.exponential(1.0, len(row))
    changed = rng.random(len(row)) < -np.expm1(-per_day[row] * gap)
    no_times = np.full(len(row), np.nan)
    return Histories(n=len(per_day), row=row, gap_s=gap * DAY_S, changed=changed, after_s=no_times)


def grouped(n_groups: int, share: float, n_visits: int) -> tuple[float, float]:
    """Staleness above the best with one prior for all, and with one for each group, which explains a `share`
    of the variance of ln(rate). The priors are fitted to 4,000 others of the same groups, ten visits each."""
    rng = np.random.default_rng(1)
    middle = rng.normal(np.log(0.15), 1.5 * np.sqrt(share), n_groups)

    def rates(group: Ints) -> Floats:
        apart = rng.normal(0.0, 1.5 * np.sqrt(1.0 - share), len(group))
        return np.clip(np.exp(middle[group] + apart), 0.0005, 7.0)

    others, own = rng.integers(0, n_groups, 4_000), rng.integers(0, n_groups, N)
    priors = fitted(drawn(rates(others), 10, rng), others + 1)
    per_day = rates(own)
    weight = np.ceil(rng.pareto(1.3, N) * 50 + 1)
    seen = drawn(per_day, n_visits, rng)
    best = optimum(per_day / DAY_S, PER_VISIT * N, weight=weight)
    worse = []
    for group in (np.zeros(N, dtype=np.int64), own + 1):
        found = np.clip(filtered(seen, priors, group), LEAST, MOST)
        plan = optimum(found, PER_VISIT * N, weight=weight)
        got = expected(per_day / DAY_S, weight, plan.gap_s)
        worse.append((1.0 - got.freshness) / (1.0 - best.freshness) - 1.0)
    return worse[0], worse[1]


def main() -> None:
    names: dict[str, Callable[[Histories, Histories, Priors], Floats]] = {
        "Gamma filter, fitted prior": lambda bits, _, priors: filtered(bits, priors),
        "Gamma filter, fitted prior, times known": lambda _, times, priors: filtered(times, priors),
        "Gamma filter, default prior": lambda bits, _, __: filtered(bits, GammaFilter().priors),
        "MAP, fitted prior": lambda bits, _, p: estimators.likeliest(bits, p.shape, p.scale_s).per_s,
        "MLE with two visits imagined": lambda bits, _, __: imagined(bits),
        "changes over time, at least half a one": lambda bits, _, __: (
            np.maximum(bits.n_changed, 0.5) / bits.sums(bits.gap_s)
        ),
        "Cho and Garcia-Molina, bias reduced": lambda bits, _, __: estimators.regular(bits),
        "Cho and Garcia-Molina, times known": lambda _, times, __: estimators.corrected(times),
        "MLE": lambda bits, _, __: estimators.likeliest(bits).per_s,
        "moments": lambda bits, _, __: estimators.matched(bits),
        "law of large numbers": lambda bits, _, __: estimators.averaged(bits),
        "stochastic approximation": lambda bits, _, __: estimators.approached(bits),
    }
    rows: dict[str, list[str]] = {name: [] for name in names}
    for n_visits in COUNTS:
        per_s, weight, times = world(n_visits, seed=1)
        bits = untimed(times)
        began = time.perf_counter()
        priors = fitted(bits, np.zeros(N, dtype=np.int64))
        took_s = time.perf_counter() - began
        print(
            f"{n_visits:3} visits: prior {priors.shape:.2f} / {priors.scale_s / DAY_S:.1f} days, "
            f"fitted in {took_s:.2f} s"
        )
        best = {
            goal: optimum(per_s, PER_VISIT * N, goal=goal, weight=weight)
            for goal in ("fresh", "fresh-harmonic")
        }
        for name, estimate in names.items():
            began = time.perf_counter()
            found = np.clip(estimate(bits, times, priors), LEAST, MOST)
            each_us = (time.perf_counter() - began) / N * 1e6
            worse = []
            for goal, known in best.items():
                plan = optimum(found, PER_VISIT * N, goal=goal, weight=weight)
                got = expected(per_s, weight, plan.gap_s, plan.price)
                binary = (1.0 - got.freshness) / (1.0 - known.freshness)
                worse.append(binary if goal == "fresh" else got.harmonic / known.harmonic)
            rows[name].append(f"{worse[0] - 1:6.1%} {worse[1] - 1:6.1%} {each_us:6.2f}")
    print(f"{'staleness, harmonic cost above the best; us a resource':42}", *(f"{n:>20}" for n in COUNTS))
    for name, cells in rows.items():
        print(f"{name:42}", *(f"{cell:>20}" for cell in cells))
    counts = (0, 1, 3, 10, 30)
    print(f"{'staleness above the best: one prior, group priors':50}", *(f"{n:>15}" for n in counts))
    for n_groups, share in ((200, 0.6), (200, 0.3), (200, 0.0), (2_000, 0.6)):
        lost = [grouped(n_groups, share, n) for n in counts]
        name = f"{n_groups:,} groups, {share:.0%} of the variance"
        print(f"{name:50}", *(f"{one:7.1%} {each:7.1%}" for one, each in lost))


if __name__ == "__main__":
    main()
