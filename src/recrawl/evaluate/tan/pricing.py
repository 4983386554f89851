"""The price at which there are as many visits as are asked for."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isinf, log

from recrawl.evaluate.tan.measures import Watched

_WITHIN = 0.005  # of the visits that were asked for
_N_TRIES = 60
_STRIDE = 3.0  # in logarithms of prices, while one side is open
_CLOSE = 1e-9


def priced(run: Callable[[float], Watched], n_visits: float, guess: float = 1.0) -> Watched:
    """The dearer, the fewer visits. What comes nearest to the number: few visits go by steps."""
    n_visits = max(n_visits, 0.5)  # none are asked for where nobody made any
    low, n_low, high, n_high = -inf, inf, inf, 0.0  # logarithms of prices: too many visits, and too few
    at = log(guess)
    best = found = run(guess)
    for _ in range(_N_TRIES):
        n = float(found.n_visits.sum())
        if abs(n - n_visits) < abs(float(best.n_visits.sum()) - n_visits):
            best = found
        if abs(n - n_visits) <= _WITHIN * n_visits or high - low < _CLOSE:
            break
        if n > n_visits:
            low, n_low = at, n
        else:
            high, n_high = at, n
        if isinf(low) or isinf(high):
            at = high - _STRIDE if isinf(low) else low + _STRIDE
        else:  # on a straight line of the logarithms, and never too near to either
            share = log(n_low / n_visits) / log(n_low / max(n_high, 0.5))
            at = low + min(max(share, 0.1), 0.9) * (high - low)
        found = run(exp(at))
    return best
