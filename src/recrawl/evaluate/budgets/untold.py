"""What visits may not have told: a plan that counts nothing but changes that were seen is too sure of itself.

denied    a server may say "not modified" whatever happens. It is believed where its answers were seen to move
          with the content, or where a look without the question found it to be right. Where it has said
          nothing else since the first visit it may lie: a share of such servers does (`LIARS`, and what was
          seen of those that could be judged). Where a sitemap or feed told of a change at the same time, it
          lies as often as these are right elsewhere
masked    a part that counts as noise may have been what changes (`HIDING`, and what was seen of masks that
          let changes through)
quiet     what was the same at every visit may be an old copy that a cache gives out, or the answer to a
          question that two changes bring back; no visit could show that (`STALE`)

Which ones those are nobody knows. So they are drawn, many times, and the interval reaches as far as the draws
do. What is denied or quiet then changes as others do; what is masked at least as often as it was seen to
differ, and at most once in its smallest gap. Visits stay as they are: nobody finds out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.evaluate.budgets.outlook import RATIOS, Gaps, Outlook, outlook
from recrawl.evaluate.budgets.sureness import BURST, clumped, rates, with_rates
from recrawl.model import Batch, Floats, Ints

# Beta distributions, before anything was seen: one server of ten, one mask of four, one quiet resource of
# fifty. They are guesses; of the first two, what is seen of a few soon counts for more.
LIARS, HIDING, STALE = (1.0, 9.0), (1.0, 3.0), (1.0, 49.0)
N_DRAWS = 1_000
N_RATES = 8  # that something hidden may have
ENDS = (0.025, 0.975)  # 19 times in 20
_SEED = 1  # the same question, the same answer


class Why(IntEnum):
    """Why a resource's visits are not believed to tell all."""

    DENIED = 1
    CAUGHT = 2  # a look without the question has found what its server had denied
    DENOUNCED = 3  # a source has told of a change that its server denied
    MASKED = 4
    QUIET = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Those of some resources whose visits may not tell of their changes."""

    id: Ints
    why: Ints
    differed_per_s: Floats  # of what is masked: how often it was seen to differ
    n_asked: int  # resources, these among them
    n_vouched: int  # servers that say "not modified", and were seen to be right
    n_shown: int  # resources with masks that were seen to change since
    n_right: int  # visits of others that found the change that a source had told of …
    n_wrong: int  # … and that found none

    def n(self, why: Why) -> int:
        return int((self.why == why).sum())

    def document(self) -> dict[str, Any]:
        shares = {why.name.lower(): {"a": a, "b": b} for why, (a, b) in self.shares().items()}
        return {
            "resources_asked": self.n_asked,
            **{why.name.lower(): self.n(why) for why in Why},
            "servers_vouched": self.n_vouched,
            "masked_and_changed": self.n_shown,
            "beta": shares,
        }

    def shares(self) -> dict[Why, tuple[float, float]]:
        """The Beta distributions by what was seen: of all servers that say "not modified", of all masks, and
        of all that is quiet; and of what sources tell."""
        return {
            Why.DENIED: (LIARS[0] + self.n(Why.CAUGHT), LIARS[1] + self.n_vouched),
            Why.MASKED: (HIDING[0], HIDING[1] + self.n_shown),
            Why.QUIET: STALE,
            Why.DENOUNCED: (1.0 + self.n_right, 1.0 + self.n_wrong),
        }

    def drawn(self, n: int, rng: np.random.Generator) -> Floats:
        """How likely each one is to hide changes, in so many draws of those shares."""
        cleared = {Why.DENIED: self.n_vouched, Why.MASKED: self.n_shown}
        p = np.ones((n, len(self.id)))  # who was caught does
        for why, beta in self.shares().items():
            # those that hide anything are among those of whom nothing better is known
            left = 1.0 + cleared.get(why, 0) / max(self.n(why), 1)
            p[:, self.why == why] = np.minimum(left * rng.beta(*beta, (n, 1)), 1.0)
        return p


class Untold:
    """Draws of what is hidden from the visits of these resources, who stand for `times` as many each."""

    def __init__(self, doubts: Doubts, batch: Batch, forecasts: Forecasts, times: float = 1.0) -> None:
        self._rows: Ints = np.searchsorted(batch.id, doubts.id)
        self._each = len(batch) / max(doubts.n_asked, 1)  # so many of these one that was asked stands for
        self._chance = np.sqrt(self._each / times)
        others = np.ones(len(batch), dtype=np.bool_)
        others[self._rows] = False
        believed = rates(forecasts)
        self._possible: list[Forecasts] = []  # as is believed, and at rates that may be hidden
        if believed is None or not len(self._rows) or not others.any():
            return
        some = forecasts.pick(self._rows)
        usual = _means(np.sort(believed[others]))[:, None]
        step = ((np.arange(N_RATES) + 0.5) / N_RATES)[:, None]
        least = np.maximum(doubts.differed_per_s, 1e-12)
        most = np.maximum(1.0 / batch.min_gap_s[self._rows], least)
        hidden = np.where(doubts.why == Why.MASKED, least * (most / least) ** step, usual)
        self._possible = [some, *(with_rates(some, rate) for rate in hidden)]
        rng = np.random.default_rng(_SEED)
        self._p = doubts.drawn(N_DRAWS, rng)
        self._hides = rng.random(self._p.shape) < self._p
        self._which: Ints = rng.integers(N_RATES, size=self._p.shape)

    def ends(
        self, found: Outlook, gaps: Gaps, within_s: float, names: Sequence[str]
    ) -> Mapping[str, tuple[float, float]]:
        """How low and how high each measure may be in truth, where `found` is by what visits tell."""
        if not self._possible:
            return {}
        here = gaps.pick(self._rows)
        seen, *hidden = (clumped(outlook(one, here, within_s), BURST) for one in self._possible)
        sums: dict[str, Floats] = {}

        def more(part: str) -> Floats:
            """What each draw adds to this sum."""
            if part not in sums:
                by = np.stack([getattr(one, part) - getattr(seen, part) for one in hidden])
                drawn = np.where(self._hides, by[self._which, np.arange(len(self._rows))], 0.0).sum(axis=1)
                mean = self._p @ by.mean(axis=0)
                # chance matters less the more resources these stand for
                sums[part] = self._each * mean + self._chance * (drawn - mean)
            return sums[part]

        ends: dict[str, tuple[float, float]] = {}
        for name in names:
            above, below, unit = RATIOS[name]
            total = float(getattr(found, below).sum()) + more(below)
            part = float(getattr(found, above).sum()) + more(above)
            low, high = np.quantile(part / np.maximum(total, 1e-300) / unit, ENDS).tolist()
            ends[name] = low, high
        return ends


def _means(ordered: Floats) -> Floats:
    """Of these, stretch by stretch."""
    return np.asarray(np.repeat(ordered, N_RATES).reshape(N_RATES, -1).mean(axis=1))
