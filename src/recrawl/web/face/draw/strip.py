"""A strip of visits over time: found a change, found none, or failed; each has its shape and its colour."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from recrawl.model import Bools, Floats, Looked

WIDTH, HEIGHT = 180, 18


def strip(
    looked: Looked,
    from_at: float,
    until_at: float,
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Markup:
    """Visits of one resource, in the order of time. Changes are bars from top to bottom, visits without one
    are ticks on the ground, failed ones are crosses in the middle."""
    x = _places(looked.at, from_at, until_at, width)
    changed, failed = looked.changed == 1, ~looked.informative
    ground, arm = height - 1, height // 6
    cross = f"l{2 * arm} {2 * arm}m0 {-2 * arm}l{-2 * arm} {2 * arm}"
    drawn = [
        ("unchanged", "".join(f"M{at:g} {ground}v{-height // 3}" for at in _once(x, ~changed & ~failed))),
        ("failed", "".join(f"M{at - arm:g} {height // 2 - arm}{cross}" for at in _once(x, failed))),
        ("changed", "".join(f"M{at:g} {ground}V1" for at in _once(x, changed))),
    ]
    marks = Markup().join(
        Markup('<path class="{}" d="{}"/>').format(name, path) for name, path in drawn if path
    )
    return Markup(
        '<svg class="strip" role="img" width="{0}" height="{1}" viewBox="0 0 {0} {1}"><title>{2}</title>'
        '<path class="axis" d="M0 {3}H{0}"/>{4}</svg>'
    ).format(width, height, words(looked), ground, marks)


def words(looked: Looked) -> str:
    """The same for whoever cannot see it.

    >>> import numpy as np
    >>> nothing = np.empty(0)
    >>> none = Looked(
    ...     id=nothing, since_at=nothing, at=nothing, due_at=nothing, informative=nothing.astype(bool),
    ...     changed=nothing.astype(np.int8), event_at=nothing, p_changed=nothing, per_day=nothing,
    ... )
    >>> words(none)
    'No visits of late.'
    """
    n, n_changed = len(looked), int((looked.changed == 1).sum())
    n_failed = int((~looked.informative).sum())
    if not n:
        return "No visits of late."
    said = [f"{n} visit{'s' if n > 1 else ''} of late", f"{n_changed or 'none'} found a change"]
    return ", ".join([*said, f"{n_failed} failed"] if n_failed else said) + "."


def _places(at: Floats, from_at: float, until_at: float, width: int) -> Floats:
    """Half a pixel at a time: what falls together is drawn once."""
    share = (at - from_at) / max(until_at - from_at, 1.0)
    return np.clip(np.round(share * (width - 2) * 2.0) / 2.0 + 1.0, 1.0, width - 1.0)


def _once(x: Floats, chosen: Bools) -> list[float]:
    places: list[float] = np.unique(x[chosen]).tolist()
    return places
