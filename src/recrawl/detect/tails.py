"""How far out in the tail of a distribution a figure lies; over columns, with NumPy alone."""

from __future__ import annotations

import numpy as np

from recrawl.model import Bools, Floats

_TINY = 1e-300
_NEAR = 1e-14  # a step that adds less ends a sum
_SHIFT = 10  # from here on Stirling's series is as good as a double can be
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def chi_squared(statistic: Floats, df: Floats) -> Floats:
    """P(at least this much), where there are so many degrees of freedom."""
    return gamma(np.asarray(df) / 2.0, np.asarray(statistic) / 2.0)


def gamma(shape: Floats, x: Floats) -> Floats:
    """P(X > x) of a Gamma distribution of scale 1: the regularised upper incomplete gamma function."""
    shape, x = np.broadcast_arrays(np.asarray(shape, dtype=np.float64), np.asarray(x, dtype=np.float64))
    out = np.ones(shape.shape)
    below = (x > 0.0) & (x < shape + 1.0)
    above = x >= shape + 1.0
    out[below] = 1.0 - _series(shape[below], x[below])
    out[above] = _fraction(shape[above], x[above])
    return np.clip(out, 0.0, 1.0)


def log_gamma(a: Floats) -> Floats:
    """Of numbers above 0."""
    a = np.asarray(a, dtype=np.float64)
    factor = np.ones(a.shape)
    for i in range(_SHIFT):
        factor = factor * np.where(a < _SHIFT, a + i, 1.0)
    z = np.where(a < _SHIFT, a + _SHIFT, a)
    series, power = np.zeros(a.shape), 1.0 / z
    for coefficient in _STIRLING:
        series = series + coefficient * power
        power = power / (z * z)
    out: Floats = (z - 0.5) * np.log(z) - z + 0.5 * np.log(2.0 * np.pi) + series - np.log(factor)
    return out


def log_choose(n: Floats, k: Floats) -> Floats:
    """The logarithm of the number of ways to take k out of n."""
    return log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0)


def _front(a: Floats, x: Floats) -> Floats:
    out: Floats = np.exp(a * np.log(x) - x - log_gamma(a))
    return out


def _series(a: Floats, x: Floats) -> Floats:
    """The lower part, as a sum; about the root of `a` steps of which each is smaller than the last."""
    total = 1.0 / a
    term, step = total.copy(), a.copy()
    rows = np.arange(len(a))
    while len(rows):
        step[rows] += 1.0
        term[rows] *= x[rows] / step[rows]
        total[rows] += term[rows]
        rows = rows[term[rows] > _NEAR * total[rows]]
    return total * _front(a, x)


def _fraction(a: Floats, x: Floats) -> Floats:
    """The upper part, as a continued fraction (Lentz's way to work it out from its beginning)."""
    b = x + 1.0 - a
    c = np.full(len(a), 1.0 / _TINY)
    d = 1.0 / b
    out = d.copy()
    rows, i = np.arange(len(a)), 0
    while len(rows):
        i += 1
        an = -i * (i - a[rows])
        b[rows] += 2.0
        d[rows] = 1.0 / _off_zero(an * d[rows] + b[rows])
        c[rows] = _off_zero(b[rows] + an / c[rows])
        factor = c[rows] * d[rows]
        out[rows] *= factor
        rows = rows[_moved(factor)]
    return out * _front(a, x)


def _moved(factor: Floats) -> Bools:
    return np.asarray(np.abs(factor - 1.0) > _NEAR)


def _off_zero(x: Floats) -> Floats:
    return np.where(np.abs(x) < _TINY, _TINY, x)
