"""Priors about hunches: how rates lie about them, as multiples, fitted to visits of resources that had no
part in the hunches.

Not all hunches are equally sure. Of what looks fast most is fast; what looks slow may be that slow, or a
hundred times slower or faster, and one width for both is wrong for each. So priors may be bent: bands of
hunches have a shape and a mean of their own. There are as many bands as foretell what was held out better
than fewer do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from recrawl.learn.histories import Histories
from recrawl.learn.priors import fitted, fitted_to, foretold_of, laid_out, scaled
from recrawl.learn.sights.splits import standard_error
from recrawl.model import DAY_S, Floats, Ints, Priors

BANDS = (1, 3, 8)  # are tried
N_BAND = 40  # resources: with fewer a band is left to its neighbours


@dataclass(frozen=True, slots=True)
class Hunched:
    """Visits of resources that have hunches, in time that runs as fast as each is expected to change."""

    own_time: Histories
    group: Ints
    per_day: Floats  # the hunches
    likelihood: Floats  # of the visits, laid out

    @classmethod
    def of(cls, seen: Histories, group: Ints, per_day: Floats) -> Hunched:
        own_time = scaled(seen, per_day)
        return cls(own_time, group, per_day, laid_out(own_time))

    def __len__(self) -> int:
        return len(self.group)

    def pick(self, rows: Ints) -> Hunched:
        return Hunched(self.own_time.pick(rows), self.group[rows], self.per_day[rows], self.likelihood[rows])

    def foretold(self, priors: Priors) -> Floats:
        """The logarithm of the probability, in that time, of each resource's visits."""
        return foretold_of(self.likelihood, *priors.about(self.group, self.per_day))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Shape and scale are the default, for where there is little to go by. The shape for all is never above
    the firmest one, a group's never above twice that."""

    shape: float
    scale_days: float
    firmest: float = inf
    now: float = nan

    def about(self, some: Hunched, n_bands: int = 1) -> Priors:
        """Priors of rates in multiples of hunches."""
        bends = self._bends(some, n_bands) if n_bands > 1 else np.empty((0, 3))
        if len(bends) < 2:
            return self._capped(self._fitted(some.likelihood, some.group) if len(some) else self._default)
        nobody = np.zeros(len(some), dtype=np.int64)
        bent = replace(self._fitted(some.likelihood, nobody), bends=bends)
        shapes, scales_s = bent.about(nobody, some.per_day)
        # Groups differ in their means alone: how wide one is, its hunches have told already.
        evened = scaled(some.own_time, shapes / scales_s * DAY_S)
        own = fitted(evened, some.group, shape=bent.shape, scale_days=bent.shape)
        faster = own.shapes / own.scales_s * own.scale_s / own.shape
        alike = np.full(len(faster), bent.shape)
        return self._capped(replace(bent, group=own.group, shapes=alike, scales_s=bent.scale_s / faster))

    def banded(self, some: Hunched, fold: Ints, tried: Sequence[int] = BANDS) -> tuple[int, Floats]:
        """How many bands there are to be; and the logarithm of the probability, in time stretched by its
        hunch, that each resource's visits have by what the other folds taught."""
        n_bands, best = tried[0], np.empty(0)
        for n in tried:
            if len(best) and n * N_BAND > len(some) / 2:
                break
            found = np.empty(len(some))
            for k in np.unique(fold).tolist():
                held = np.flatnonzero(fold == k)
                priors = self.about(some.pick(np.flatnonzero(fold != k)), n)
                found[held] = some.pick(held).foretold(priors)
            gain = found - best if len(best) else found
            if not len(best) or gain.sum() > standard_error(gain, some.group):
                n_bands, best = n, found
        return n_bands, best

    @property
    def _default(self) -> Priors:
        return Priors(shape=self.shape, scale_s=self.scale_days * DAY_S, fitted_at=self.now)

    def _fitted(self, likelihood: Floats, group: Ints) -> Priors:
        return fitted_to(likelihood, group, shape=self.shape, scale_days=self.scale_days, now=self.now)

    def _bends(self, some: Hunched, n_bands: int) -> Floats:
        """By band: the hunch in its middle, and how many times as firm and as fast it is there than in
        all."""
        nobody = np.zeros(len(some), dtype=np.int64)
        whole = self._fitted(some.likelihood, nobody)
        log_hunch = np.log(some.per_day)
        inner = np.quantile(log_hunch, np.linspace(0.0, 1.0, n_bands + 1)[1:-1])
        band = np.searchsorted(np.unique(inner), log_hunch, side="right")
        found = []
        for k in np.unique(band).tolist():
            rows = np.flatnonzero(band == k)
            if len(rows) < N_BAND:
                continue
            default_days = whole.scale_s / DAY_S
            one = fitted_to(some.likelihood[rows], nobody[rows], shape=whole.shape, scale_days=default_days)
            firmer = one.shape / whole.shape
            found.append((np.exp(log_hunch[rows].mean()), firmer, firmer * whole.scale_s / one.scale_s))
        return np.array(found).reshape(-1, 3)

    def _capped(self, found: Priors) -> Priors:
        most = min(1.0, self.firmest / found.shape)
        groups = np.minimum(1.0, 2.0 * self.firmest / found.shapes)
        return replace(
            found,
            shape=found.shape * most,
            scale_s=found.scale_s * most,
            shapes=found.shapes * groups,
            scales_s=found.scales_s * groups,
        )
