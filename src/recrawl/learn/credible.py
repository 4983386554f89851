"""Between which bounds a Gamma distributed rate lies."""

from __future__ import annotations

from math import exp, inf, lgamma, log

_STEPS = 200


def interval(a: float, b_s: float, share: float = 0.9) -> tuple[float, float]:
    """Rates, a second: each end cuts off as much of what the interval leaves out."""
    rest = (1.0 - share) / 2.0
    return quantile(a, rest) / b_s, quantile(a, 1.0 - rest) / b_s


def quantile(a: float, p: float) -> float:
    """Where Gamma(a, 1) has so much of its mass below.

    >>> round(quantile(1.0, 0.5), 6), round(quantile(10.0, 0.95), 4)
    (0.693147, 15.7052)
    """
    # Below x lies less than x^a / Gamma(a + 1): no quantile is smaller than where that is p.
    low = (log(p) + lgamma(a + 1.0)) / a
    high = max(low, 0.0) + 1.0
    while mass_below(a, exp(high)) < p:
        high += 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if mass_below(a, exp(middle)) >= p else (middle, high)
        if high - low < 1e-10:
            break
    return exp(high)


def mass_below(a: float, x: float) -> float:
    """The regularised lower incomplete gamma function: by its series, or by the continued fraction of what
    lies above, whichever converges."""
    if x <= 0.0:
        return 0.0
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1.0:
        term = total = 1.0 / a
        n = a
        while term > 1e-15 * total:
            n += 1.0
            term *= x / n
            total += term
        return front * total
    tiny = 1e-300
    b, c = x + 1.0 - a, inf
    d = fraction = 1.0 / b
    for i in range(1, 10_000):
        step = -i * (i - a)
        b += 2.0
        d = 1.0 / _off_zero(step * d + b, tiny)
        c = _off_zero(b + step / c, tiny)
        fraction *= d * c
        if abs(d * c - 1.0) < 1e-14:
            break
    return 1.0 - front * fraction


def _off_zero(x: float, tiny: float) -> float:
    return tiny if abs(x) < tiny else x
