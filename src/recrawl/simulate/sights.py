"""What first looks at generated pages show, feature by feature, and how far it tells their rates.

Some figures tell of the rate, each by itself; others only repeat them, or say nothing, as on real pages.
Names and meanings are those of `recrawl.model.sight`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from recrawl.model import Floats, Ints

# mean and spread of the logarithm, and the weight in what tells the rate; 0 tells nothing
_COUNTS = {
    "newest_days": (3.5, 1.6, -0.8),
    "links": (3.6, 0.9, 0.45),
    "in_links": (1.5, 1.1, 0.07),
    "images": (2.2, 0.9, 0.0),
    "text_bytes": (8.3, 1.0, 0.0),
    "scripts": (2.4, 0.7, 0.0),
}
_FLAGS = {  # how many have it, and the weight
    "last_modified": (0.4, -0.3),
    "url_news": (0.15, 0.15),
    "feed_link": (0.3, 0.0),
    "viewport": (0.8, 0.0),
}
_DEEPER, _P_DEEPER = 4, 0.35  # folders below the root, each with this probability
_LEVEL_WEIGHT = -sqrt(1.0 - sum(w * w for *_, w in [*_COUNTS.values(), *_FLAGS.values()]))
_FURTHER, _P_FURTHER = 3, 0.4  # links to follow beyond the level: of little use, as in the paper
_MEAN_EMAILS = 0.5


def sights(n: int, rng: np.random.Generator) -> tuple[dict[str, Ints], Floats]:
    """The table of features of `n` pages; and the mixture of it, of mean 0 and variance 1, that tells."""
    level = rng.binomial(_DEEPER, _P_DEEPER, n)
    spread = sqrt(_DEEPER * _P_DEEPER * (1 - _P_DEEPER))
    known: Floats = np.asarray(_LEVEL_WEIGHT * (level - _DEEPER * _P_DEEPER) / spread, dtype=np.float64)
    table: dict[str, Ints] = {
        "level": level.astype(np.int64) + 1,
        "depth": level.astype(np.int64) + 1 + rng.binomial(_FURTHER, _P_FURTHER, n),
        "emails": rng.poisson(_MEAN_EMAILS, n).astype(np.int64),
    }
    for name, (mean, sd, weight) in _COUNTS.items():
        normal = rng.standard_normal(n)
        table[name] = np.rint(np.exp(mean + sd * normal)).astype(np.int64)
        known = known + weight * normal
    for name, (p, weight) in _FLAGS.items():
        has = rng.random(n) < p
        table[name] = has.astype(np.int64)
        known = known + weight * (has - p) / sqrt(p * (1 - p))
    # what only repeats the others: a learner that takes all for independent counts it twice
    longer = np.exp(0.1 * rng.standard_normal(n))
    table["words"] = np.rint(table["text_bytes"] / 6.0 * longer).astype(np.int64)
    table["internal_links"] = rng.binomial(table["links"], 0.8).astype(np.int64)
    table["elements"] = table["links"] * 6 + rng.poisson(80, n).astype(np.int64)
    return table, known
