"""Numbers by their value, whatever their spelling, and without losing a digit."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, InvalidOperation

_MOST_DIGITS = 400  # before or after the point; more are never written out in full: 1e999999999


def spelt(text: str) -> str:
    """One text for one value; what is no number, or none with an end, stays as it is.

    >>> spelt("1.50"), spelt("15e-1"), spelt("-0.0"), spelt("1E+2"), spelt("1e999999999")
    ('1.5', '1.5', '0', '100', '1e999999999')
    """
    exact = Context(prec=len(text) + 1, Emax=MAX_EMAX, Emin=MIN_EMIN)  # the usual one rounds to 28 digits
    try:
        value = exact.create_decimal(text)
    except InvalidOperation:
        return text
    if not value.is_finite():
        return text
    if value == 0:
        return "0"
    plain = exact.normalize(value)
    return f"{plain:f}" if abs(plain.adjusted()) <= _MOST_DIGITS else f"{plain:e}".replace("e+", "e")
