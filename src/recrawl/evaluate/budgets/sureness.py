"""How far off an expected measure may be when it is measured: variances, resource by resource.

rates     no rate is known exactly; each forecast says how well it is
chance    with the rates known, changes fall as they fall, and a week holds only so many
together  resources of one host change together, and more at one time than at another: by how much more
          their changes scatter than single ones would is seen from visits, and taken for the weeks to come
always    of what had changed at every visit nobody knows how often: its rate may be many times as high, or
          a third where it goes by the clock. It is taken to lie between, and from the rate at which so many
          changes in a row were as likely as not
clumps    changes that come one right after the other look like one
model     gaps do not stay as they are when forecasts move with every visit, and worlds are not as forecasts
          have them: by how much more simulated budgets were off than all of the above explains
untold    some changes no visit tells of: see `untold`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, isnan, log, sqrt

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.evaluate.budgets.offers import Lasting
from recrawl.evaluate.budgets.outlook import RATIOS, Expected, Gaps, Outlook, outlook
from recrawl.learn.forecasts import GammaForecasts, Guessed
from recrawl.model import DAY_S, Batch, Bools, Floats, Ints, Seen

MEASURED_S = 7 * DAY_S  # how long the budget is tried
SURE = 1.96  # standard deviations either way: 19 times in 20
# The last of these, as a standard deviation: of the logarithm, or of a share's odds. Recall and delay hang on
# the few that change fastest, which a small change of the forecast gives up or takes up.
MODEL = {"freshness": 0.05, "harmonic": 0.05, "recall": 0.2, "delay_days_mean": 0.12, "within": 0.1}
# More, by the part of those that were given up: when they are taken up again nobody can foresee.
LOST = {"delay_days_mean": 0.35, "harmonic": 0.15}
FASTER = 8.0  # times what is believed: as fast may be what had changed whenever it was looked at …
REGULAR = 1.0 / 3.0  # … or only as fast: what changes by the clock is found changed at every visit too
CLUMP = 4.0  # changes may lie behind each that a visit tells, in a burst, and in the mean …
BURST = 1.5  # … so many: 1.8 were counted on articles of Wikipedia, and hardly more than 1 at random
BETWEEN = sqrt(FASTER * REGULAR)  # in the middle, on a scale of powers
_RECENT = 16  # visits, the newest, that found a change every time …
_FEWEST_SEEN = 4  # … or all there are, so many at least
_N_HALVINGS = 40  # of an interval of rates, from one in 30,000 years to one a second
_KNOWN = 1e9  # a shape so large that the rate is as good as known
_FEWEST = 20  # cells, to say anything about scatter


@dataclass(frozen=True)
class Sureness:
    """What the variances rest on: some of the resources, standing for `times` as many each."""

    forecasts: Forecasts
    times: float
    scatter: float = 1.0

    def intervals(
        self,
        gaps: Gaps,
        within_s: float,
        values: Mapping[str, Sequence[float]],
        hidden: Mapping[str, tuple[float, float]] = {},
    ) -> dict[str, Expected]:
        """For each measure around its value, worked out from all, and around others that follow it: those if
        some are faster than is believed. `hidden` is between which bounds it would be with what no visit has
        told."""
        here = outlook(self.forecasts, gaps, within_s)
        possible = _at_rates(self.forecasts, gaps, within_s)
        return {
            name: self._interval(
                name, gaps, within_s, here, possible, hidden.get(name, (known[0], known[0])), *known
            )
            for name, known in values.items()
        }

    def _interval(
        self,
        name: str,
        gaps: Gaps,
        within_s: float,
        here: Outlook,
        possible: Sequence[tuple[float, Outlook]],
        hidden: tuple[float, float],
        value: float,
        *others: float,
    ) -> Expected:
        above, below, unit = RATIOS[name]
        believed = here.value(name)
        ratio = believed * unit
        total = float(getattr(here, below).sum())
        if not total > 0.0 or isnan(ratio):
            return Expected(value=value, low=np.nan, high=np.nan)
        by_rates = _by_rates(possible, above, below, ratio)
        by_chance = self.scatter * _by_chance(name, here, gaps.long_s, within_s, ratio) / MEASURED_S
        share = name in ("freshness", "recall", "within")
        by_model = MODEL[name] * believed * (1.0 - believed if share else 1.0)
        if not share:
            part = getattr(here, above)
            by_model += LOST[name] * believed * float(part[gaps.given_up].sum() / max(part.sum(), 1e-300))
        off = sqrt(float((by_rates + by_chance).sum()) / self.times) / total / unit
        off = sqrt(off * off + by_model * by_model)
        spans = [(one, SURE * off * (one / believed if believed > 0.0 else 1.0)) for one in (value, *others)]
        # What is hidden has nothing to do with all that: seldom do both go as far as they may.
        down, up = value - min(one - far for one, far in spans), max(one + far for one, far in spans) - value
        ends = (
            value - hypot(down, max(value - hidden[0], 0.0)),
            value + hypot(up, max(hidden[1] - value, 0.0)),
        )
        return Expected(
            value=value,
            low=max(ends[0], 0.0),
            high=min(ends[1], 1.0) if share else ends[1],
        )


def _at_rates(forecasts: Forecasts, gaps: Gaps, within_s: float) -> list[tuple[float, Outlook]]:
    """At some of the rates that are possible, with the weight of each; none where a forecast does not tell
    how well it knows them."""
    gamma = _gamma(forecasts)
    found: list[tuple[float, Outlook]] = []
    if gamma is None:
        return found
    for z, weight in _NODES:
        # Wilson and Hilferty's cube: a Gamma distributed number from a normal one
        cube = 1.0 - 1.0 / (9.0 * gamma.a) + z / (3.0 * np.sqrt(gamma.a))
        rate = np.maximum(cube, 1e-3) ** 3 * gamma.a / gamma.b_s
        found.append((weight, outlook(with_rates(forecasts, rate), gaps, within_s)))
    return found


def _by_rates(possible: Sequence[tuple[float, Outlook]], above: str, below: str, ratio: float) -> Floats:
    """The variance of each one's part in the ratio."""
    parts = [(weight, getattr(one, above) - ratio * getattr(one, below)) for weight, one in possible]
    mean = sum((weight * part for weight, part in parts), np.zeros(1))
    square = sum((weight * part * part for weight, part in parts), np.zeros(1))
    return np.asarray(np.maximum(square - mean * mean, 0.0))


def _gamma(forecasts: Forecasts) -> GammaForecasts | None:
    """What is believed of each one's rate, in own time where it has such."""
    if isinstance(forecasts, Lasting) and isinstance(forecasts.usual, Guessed):
        return forecasts.usual.gamma
    return forecasts if isinstance(forecasts, GammaForecasts) else None


def rates(forecasts: Forecasts) -> Floats | None:
    """Changes a second that are believed, in own time; None where a forecast does not tell."""
    gamma = _gamma(forecasts)
    return None if gamma is None else np.asarray(gamma.a / gamma.b_s)


def with_rates(forecasts: Forecasts, rate: Floats) -> Forecasts:
    """As if these were the rates, and known."""
    return _at_rate(forecasts, GammaForecasts(np.full(len(rate), _KNOWN), _KNOWN / rate))


def _at_rate(forecasts: Forecasts, known: GammaForecasts) -> Forecasts:
    if isinstance(forecasts, Lasting) and isinstance(forecasts.usual, Guessed):
        return Lasting(forecasts.usual.with_gamma(known))
    return known


def always_changed(batch: Batch) -> Bools:
    """Whose rate has no upper bound that visits could tell."""
    newest = (batch.bits[:, None] >> np.arange(_RECENT, dtype=np.uint64)) & np.uint64(1)
    n_changed = newest.sum(axis=1).astype(np.int64)
    n_seen = np.minimum(batch.n_informative - 1, _RECENT)  # the first visit has nothing to be compared with
    return np.asarray((n_seen >= _FEWEST_SEEN) & (n_changed >= n_seen))


def others(forecasts: Forecasts, rows: Bools) -> list[Forecasts]:
    """As if these changed many times as often, and as if they changed once in each gap, like clockwork."""
    gamma = _gamma(forecasts)
    if gamma is None:
        return []
    return [
        _at_rate(forecasts, replace(gamma, b_s=np.where(rows, gamma.b_s / times, gamma.b_s)))
        for times in (FASTER, REGULAR)
    ]


def even_odds(seen: Seen) -> tuple[Ints, Floats]:
    """Whose visits these are, and the rate at which as many changes as visits are as likely as not, had there
    been one at each of them. More may be behind it than a prior fitted to slower ones can believe."""
    ids, row = np.unique(seen.id, return_inverse=True)
    gap_s = np.maximum(seen.at - seen.since_at, 1.0)
    low, high = np.full(len(ids), 1e-12), np.ones(len(ids))
    for _ in range(_N_HALVINGS):
        middle = np.sqrt(low * high)
        logs = np.bincount(row, np.log(-np.expm1(-middle[row] * gap_s)), minlength=len(ids))
        more = logs > -log(2.0)
        low, high = np.where(more, low, middle), np.where(more, middle, high)
    return ids, np.sqrt(low * high)


def clumped(found: Outlook, times: float = CLUMP) -> Outlook:
    """As if every change that is told apart stood for a few that came one right after the other."""
    more = sum(min(times - n + 1.0, 1.0) / n for n in range(2, ceil(times) + 1))
    return replace(
        found,
        changes=times * found.changes,
        waiting=times * found.waiting,
        soon=times * found.soon,
        harmonic=found.harmonic + more * (1.0 - found.fresh),
    )


def _nodes() -> list[tuple[float, float]]:
    places, weights = np.polynomial.hermite_e.hermegauss(5)
    return list(zip(places.tolist(), (weights / weights.sum()).tolist(), strict=True))


_NODES = _nodes()


def _by_chance(name: str, here: Outlook, gap_s: Floats, within_s: float, ratio: float) -> Floats:
    """The variance of each one's part in a second, had the rates been known: changes as if Poisson, cycle by
    cycle. N is the number of changes in a gap, p the chance of any."""
    n = np.maximum(here.changes * gap_s, 1e-12)
    p = here.caught * gap_s
    if name == "recall":
        cycle = p * (1.0 - p) + ratio * ratio * n - 2.0 * ratio * n * (1.0 - p)
    elif name == "delay_days_mean":
        cycle = n * (gap_s * gap_s / 3.0 - ratio * gap_s + ratio * ratio)
    elif name == "within":
        q = np.clip(np.minimum(within_s / gap_s, 1.0), 0.0, 1.0)
        cycle = n * (q * (1.0 - 2.0 * ratio) + ratio * ratio)
    else:  # the time to the first change, cut off at the gap
        mean_s = -np.expm1(-n) / n * gap_s
        square = 2.0 * (1.0 - np.exp(-n) * (1.0 + n)) / (n * n) * gap_s * gap_s
        cycle = np.maximum(square - mean_s * mean_s, 0.0)
        if name == "harmonic":  # counts further changes too, and scatters as much more
            stale = np.maximum(1.0 - here.fresh, 1e-12)
            cycle = cycle * (here.harmonic / stale) ** 2
    return np.asarray(np.maximum(cycle, 0.0) / gap_s)


def scatter(seen: Seen, p_change: Floats) -> float:
    """How many times the variance of single changes those of one host in one week have; 1 at least.

    `p_change` is what was expected of each visit."""
    spread = np.maximum(p_change * (1.0 - p_change), 1e-6)
    cell = np.unique(
        np.column_stack([seen.group, np.floor(seen.at / MEASURED_S).astype(np.int64)]),
        axis=0,
        return_inverse=True,
    )[1].ravel()
    if not len(cell) or int(cell.max()) + 1 < _FEWEST:
        return 1.0
    off = np.bincount(cell, (seen.changed == 1) - p_change)
    expected = np.bincount(cell, spread)
    return max(1.0, float((off * off).sum() / expected.sum()))


def expected(forecasts: Forecasts, gap_s: Floats) -> Floats:
    """How likely a change was in these gaps, by what is believed by now: one for each resource."""
    gamma = _gamma(forecasts)
    return np.asarray(1.0 - (forecasts if gamma is None else gamma).survival(gap_s))
