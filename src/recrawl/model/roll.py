"""All that is watched as columns, for lists: what people choose and sort by."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model.columns import Bools, Bytes8, Floats, Ints, _Columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll(_Columns):
    """Everything that is watched, paused ones too, in the order of their numbers."""

    id: Ints
    group: Ints  # the host's number
    kind: Bytes8  # its place in `Kind`
    paused: Bools
    gone: Bools  # its newest version is a tombstone
    added_at: Floats
    last_at: Floats  # the last visit of any outcome; NaN: none yet
    changed_at: Floats  # the last change that was seen; NaN: none yet
    due_at: Floats  # the next visit; NaN: none is planned
    per_day: Floats  # changes a day that the plan expects; NaN: it is no forecast's
    n_informative: Ints
    n_failures: Ints  # in a row, up to now
    place: Ints  # in the order of the URLs
