"""How often each fault is tried: a few times in every run of the tests, at its full count in `make faults`.

RECRAWL_FAULT_COUNT is the number of kills of a run, 200 when full; all other counts go with it.
"""

from __future__ import annotations

import os
from math import ceil

ASKED = os.environ.get("RECRAWL_FAULT_COUNT")
FULL = ASKED is not None
ALL = 200


def n_times(full: int, short: int) -> int:
    return short if ASKED is None else max(1, ceil(full * int(ASKED) / ALL))
