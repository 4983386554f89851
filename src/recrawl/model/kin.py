"""Who is kin of whom, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recrawl.model.columns import Floats, Ints, _Columns


def _none() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class KinTable(_Columns):
    """Pairs: when `of` is seen to change, `id` may have changed too; `weight` says how likely that is beyond
    what is usual."""

    id: Ints = field(default_factory=_none)
    of: Ints = field(default_factory=_none)
    weight: Floats = field(default_factory=lambda: np.empty(0))
