"""Classes of change rates, from what was seen of one's own resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.app.rows import Row, number
from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.grounds import sampled_priors
from recrawl.learn.estimators import likeliest
from recrawl.learn.groups import KS, Choice, Classes, Grouping, chosen, equal_classes, p_own, report, why_not
from recrawl.learn.histories import histories
from recrawl.model import DAY_S, Floats

N_NEWEST = 64  # visits of each resource
_CHUNK = 10_000
_FEWEST = 2  # resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    n_resources: int
    choice: Choice
    groupings: list[Grouping]
    equal: Classes  # as many of equal size, as nearly as can be
    sure: list[float]  # of each grouping: the mean probability that a resource is of its class
    sure_equal: float
    n_visits: int  # of a resource, in the median

    def row(self) -> Row:
        return {
            "resources": self.n_resources,
            "visits_in_the_median": self.n_visits,
            "k": self.choice.k,
            "why": self.choice.why,
            "groupings": [
                {
                    "k": one.k,
                    "classes": _rows(one.classes),
                    "explained": one.explained,
                    "sure": sure,
                    "fast_classes": one.n_fast,
                    "few": one.few.tolist(),
                    "against": why_not(one) or None,
                }
                for one, sure in zip(self.groupings, self.sure, strict=True)
            ],
            "equal": _rows(self.equal),
            "equal_sure": self.sure_equal,
        }


def grouped(
    store: Store, *, k: int | None = None, now: float, tell: Callable[[str], object] = lambda _: None
) -> Grouped:
    """The best classes for 2 to 6, and which of them to take: k, or what the paper's reasons lead to."""
    if k is not None and k < 2:
        raise BadInputError(f"{k} classes mean nothing; choose 2 or more with --k.")
    per_day, log_error, n_visits = rates(store, now, tell)
    if len(per_day) < _FEWEST:
        raise BadInputError(
            "There are no classes yet: fewer than two resources were looked at twice; let `recrawl run` "
            "visit more, and try again."
        )
    ks = sorted({*KS, *([k] if k is not None else [])})
    groupings = report(per_day, ks)
    choice = chosen([one for one in groupings if one.k in KS]) if k is None else Choice(k, "as was asked for")
    equal = equal_classes(per_day, choice.k)
    return Grouped(
        n_resources=len(per_day),
        choice=choice,
        groupings=groupings,
        equal=equal,
        sure=[p_own(one.classes, per_day, log_error) for one in groupings],
        sure_equal=p_own(equal, per_day, log_error),
        n_visits=int(np.median(n_visits)),
    )


def rates(
    store: Store, now: float, tell: Callable[[str], object] = lambda _: None
) -> tuple[Floats, Floats, Floats]:
    """Changes a day of all that were looked at twice and are not paused, the standard error of their
    logarithms, and after how many visits. Gaps may have any lengths: a rate is what the visits and the prior,
    fitted to all of them, make likeliest, so that none is 0 or infinite."""
    batch, _ = store.batch()
    ids = np.sort(batch.id[batch.n_informative > 1])
    if not len(ids):
        return np.empty(0), np.empty(0), np.empty(0)
    priors = sampled_priors(store, batch, now)
    found = []
    for start in range(0, len(ids), _CHUNK):
        seen, _ = histories(store.lately(ids[start : start + _CHUNK], N_NEWEST))
        made = likeliest(seen, priors.shape, priors.scale_s)
        found.append((made.per_s * DAY_S, made.log_error, seen.n_visits))
        tell(f"{min(start + _CHUNK, len(ids)):,} of {len(ids):,} resources")
    per_day, log_error, n_visits = (np.concatenate(column) for column in zip(*found, strict=True))
    return per_day, log_error, n_visits


def _rows(made: Classes) -> list[Row]:
    columns = zip(made.interval_s.tolist(), made.n.tolist(), strict=True)
    return [{"interval_days": number(interval_s / DAY_S), "n": n} for interval_s, n in columns]
