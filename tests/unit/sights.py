"""Resources whose looks tell something of how often they change, with what visits found of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from recrawl.learn.histories import Histories
from recrawl.model import DAY_S, Floats, Ints
from recrawl.simulate.rates import Lognormal, features

TELLING = ("links", "bytes", "words", "depth")


@dataclass(frozen=True, slots=True)
class Sighted:
    names: tuple[str, ...]
    values: Floats
    seen: Histories
    site: Ints
    per_day: Floats


def sighted(n: int, explained: float, *, n_noise: int = 6, n_sites: int = 24, seed: int = 1) -> Sighted:
    """Some are looked at twice and some often; a twentieth of all values is not known."""
    rng = np.random.default_rng(seed)
    table, known = features(n, rng)
    site = rng.integers(0, n_sites, n)
    alike = rng.standard_normal(n_sites)[site]
    told = explained + 0.1
    mixed = (sqrt(explained) * known + sqrt(0.1) * alike) / sqrt(told)
    per_day = Lognormal(0.1, 1.8).draw(mixed, told, rng)
    columns = [table[name].astype(np.float64) for name in TELLING]
    values = np.column_stack([*columns, rng.lognormal(0.0, 1.0, (n, n_noise))])
    values[rng.random(values.shape) < 0.05] = np.nan
    row = np.repeat(np.arange(n), rng.integers(1, 40, n))
    gap_days = rng.exponential(2.0, len(row))
    seen = Histories(
        n=n,
        row=row,
        gap_s=gap_days * DAY_S,
        changed=rng.random(len(row)) < -np.expm1(-per_day[row] * gap_days),
        after_s=np.full(len(row), np.nan),
    )
    names = (*TELLING, *(f"noise_{i}" for i in range(n_noise)))
    return Sighted(names, values, seen, site, per_day)
