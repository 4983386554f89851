"""Other budgets, by what is believed here: what they buy, and what they mean to one resource."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.contracts import Forecasts, Policy
from recrawl.evaluate.budgets.curve import Budgets
from recrawl.evaluate.budgets.offers import Offers, lasting, served
from recrawl.evaluate.budgets.sureness import expected, scatter
from recrawl.model import DAY_S, HOUR_S, Batch, Bools, Floats, Ints
from recrawl.pricing import costed
from recrawl.schedule.retry import n_retries

if TYPE_CHECKING:
    from recrawl.app.build import House

N_HEARD = 200  # resources whose newest visits tell how far changes come together, host by host
N_ASKED = 50  # resources whose newest visits tell how many of them tell nothing, and how long one takes
N_EACH = 16  # of those visits
FAILING = 3  # visits in a row
MONTH_S = 30 * DAY_S


def failing(batch: Batch) -> Bools:
    """Whose newest visits all failed: these are tried again in gaps that no price decides."""
    return np.asarray(batch.n_failures >= FAILING)


def retries_per_day(batch: Batch) -> float:
    """What the failing take of any budget, should they go on so: less and less, so a month tells."""
    n_failures = np.where(failing(batch), batch.n_failures, 0)
    return n_retries(n_failures, batch.gap_s, batch.max_gap_s, MONTH_S) * DAY_S / MONTH_S


def budgets_here(
    house: House,
    beliefs: Beliefs,
    batch: Batch,
    *,
    policy: Policy | None = None,
    within_s: float = HOUR_S,
    n_bytes: Floats | None = None,
) -> Budgets:
    """Of these resources, with the policy of the last run or another one. `n_bytes` is what each one's visit
    weighs, where that matters."""
    forecasts = lasting(beliefs.predictor.forecast(batch, house.clock.now()))
    useful, took_s = _useful(beliefs, batch)
    limits = served(batch, *_busy(house, beliefs, took_s))
    return Budgets(
        Offers(batch, forecasts, policy or beliefs.policy, limits, n_bytes=n_bytes),
        within_s=within_s,
        scatter=_scatter(beliefs, batch, forecasts),
        useful=useful,
    )


@dataclass(frozen=True, slots=True)
class Otherwise:
    times: float  # the budget
    n_asked: int
    gap_s: float
    price: float
    full: bool  # whether its host can serve no more
    error: float  # about the standard error of the gap, as a share: 0 where all were asked


def long_run(house: House, beliefs: Beliefs, batch: Batch) -> Budgets | None:
    """Budgets for these resources, in the long run; None where there is none to change. At this moment gaps
    may be others: by the price of the day ahead."""
    terms, budget = beliefs.terms, beliefs.budget
    if terms is None or not len(batch) or (budget.visits_per_day, budget.bytes_per_day) == (None, None):
        return None
    n_bytes = None if beliefs.costs is None else beliefs.costs.n_bytes(batch.id)
    return budgets_here(house, beliefs, costed(batch, n_bytes, terms.mix, terms.mean_bytes), n_bytes=n_bytes)


def gaps_at(
    beliefs: Beliefs, found: Budgets, resource_id: int, times: tuple[float, ...], retries: float = 0.0
) -> list[Otherwise]:
    """A resource's gap at so many times the budget, of which so many visits a day go to those that fail."""
    visits, weight = beliefs.budget.visits_per_day or inf, beliefs.budget.bytes_per_day or inf
    tried_bytes = retries * (1.0 if beliefs.terms is None else beliefs.terms.mean_bytes)
    n_asked = len(found.asking(resource_id).batch)
    left = [(_left(factor * visits, retries), _left(factor * weight, tried_bytes)) for factor in times]
    return [
        Otherwise(factor, n_asked, *found.gap_of(resource_id, *both))
        for factor, both in zip(times, left, strict=True)
    ]


def _left(per_day: float, retries: float) -> float:
    """Retries that want more than half of a budget wait in line, as when a run finds its price."""
    return max(per_day - retries, per_day / 2.0)


def _busy(house: House, beliefs: Beliefs, took_s: float) -> tuple[dict[int, float], float]:
    """How long a visit keeps each host, as far as is known, and any other: what it takes, and the rest after
    it that the host asks for or that it is given anyway."""
    rest_s = house.config.fetching.min_delay
    hosts = house.store.hosts()
    busy_s = {
        host: took_s + max(asked_s, rest_s)
        for host, asked_s in zip(hosts.id.tolist(), hosts.rest_s.tolist(), strict=True)
        if isfinite(asked_s)
    }
    if beliefs.terms is not None:
        busy_s |= {int(host): known_s for host, known_s in beliefs.terms.busy_s.items()}
    return busy_s, took_s + rest_s


def _useful(beliefs: Beliefs, batch: Batch) -> tuple[float, float]:
    """The share of what was paid for that told something: others fail, and second looks cost a visit too. And
    how long a visit takes."""
    seen = np.flatnonzero(np.isfinite(batch.since_at))
    rows = seen[np.unique(np.linspace(0, len(seen) - 1, min(N_ASKED, len(seen))).astype(np.int64))]
    newest = [visit for key in batch.id[rows].tolist() for visit in beliefs.store.visits(key, N_EACH)]
    if not newest:
        return 1.0, 0.0
    share = max(sum(visit.informative for visit in newest) / len(newest), 0.05)
    took_s = sum(visit.duration_s for visit in newest) / len(newest)
    from_at = float(np.nanmax(batch.since_at)) - DAY_S  # nobody need be running now
    n_visits, n_second = beliefs.store.n_visits_since(from_at), beliefs.store.n_second_since(from_at)
    return (share * n_visits / (n_visits + n_second) if n_visits else share), took_s


def _scatter(beliefs: Beliefs, batch: Batch, forecasts: Forecasts) -> float:
    """From the newest visits of some hosts' resources, whole hosts at a time."""
    told = np.flatnonzero(np.isfinite(batch.since_at))
    groups = np.random.default_rng(len(told)).permutation(np.unique(batch.group[told]))
    place = np.empty(int(batch.group.max(initial=0)) + 1, dtype=np.int64)
    place[groups] = np.arange(len(groups))
    rows: Ints = told[np.argsort(place[batch.group[told]], kind="stable")[:N_HEARD]]
    seen = beliefs.store.lately(batch.id[rows], N_EACH).folded()
    at = np.sort(rows)
    row = at[np.searchsorted(batch.id[at], seen.id)]
    return scatter(seen, expected(forecasts.pick(row), seen.at - seen.since_at))
