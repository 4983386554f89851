"""At which hours of the week a resource was looked at, and was found changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.app.rows import Row
from recrawl.contracts import Store
from recrawl.model import DAY_S, HOUR_S, Floats, Ints, Resource

N_VISITS = 5_000  # the newest that tell something: more than a year of hourly ones would be too old to matter
FEWEST_TIMES = 10  # own times that make a map of their own …
LEAST_KNOWN = 0.5  # … where they are of so large a share of the changes
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """Counts by weekday and hour, Monday first.

    Where the content tells when each change was, `n_told` counts those times. Else all that is known of a
    change is that it came before the visit that found it: then `n_changed` beside `n_visits` says how often
    a look at that hour found one.
    """

    zone_s: float  # ahead of UTC
    n_visits: Ints
    n_changed: Ints
    n_told: Ints
    own: bool  # whether the resource's own times are to be believed

    def row(self) -> Row:
        return {
            "zone_s": self.zone_s,
            "visits": self.n_visits.tolist(),
            "visits_that_found_a_change": self.n_changed.tolist(),
            "changes_by_their_own_times": self.n_told.tolist(),
            "own_times": self.own,
        }


def hours(store: Store, resource: Resource, zone_s: float = 0.0) -> Hours:
    seen = store.lately(np.array([resource.id], dtype=np.int64), N_VISITS)
    told_at = seen.event_at[(seen.changed == 1) & np.isfinite(seen.event_at)]
    visits = seen.folded()
    changed = visits.changed == 1
    own_s = np.isfinite(visits.event_at[changed])
    return Hours(
        zone_s=zone_s,
        n_visits=_counted(visits.at, zone_s),
        n_changed=_counted(visits.at[changed], zone_s),
        n_told=_counted(told_at, zone_s),
        own=len(told_at) >= FEWEST_TIMES and own_s.mean() >= LEAST_KNOWN if len(own_s) else False,
    )


def _counted(at: Floats, zone_s: float) -> Ints:
    local = at + zone_s
    hour = np.floor(local / HOUR_S).astype(np.int64) % 24
    weekday = (np.floor(local / DAY_S).astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    counts = np.zeros((7, 24), dtype=np.int64)
    np.add.at(counts, (weekday, hour), 1)
    return counts
