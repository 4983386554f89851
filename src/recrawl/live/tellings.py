"""What a visit tells of other resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from recrawl.contracts import Detector
from recrawl.model import Learned, Snapshot, Telling, Visit

_TellingOf = Callable[[Snapshot, Snapshot], tuple[Telling, ...]]


def tells(detector: Detector, earlier: Snapshot | str, after: Snapshot, visit: Visit) -> tuple[Telling, ...]:
    """Of the newest version and what came now: a change of the list tells of all that is new or differs.

    A time that moved on every visit is masked as a clock. It may be the time of something that changes as
    often: whether to believe it is learned elsewhere. So it is looked at without such masks too, and all that
    was modified since the last visit is told of, whether the list counts as changed or not.
    """
    told_of = _telling(detector)
    if told_of is None or isinstance(earlier, str):
        return ()
    found = told_of(earlier, after) if visit.changed == 1 else ()
    if _clocks(after):
        masks = tuple(mask for mask in after.lens.masks if mask.learned is not Learned.HISTORY)
        lens = replace(after.lens, masks=masks)
        behind = told_of(replace(earlier, lens=lens), replace(after, lens=lens))
        known = {one.url for one in found}
        found += tuple(one for one in behind if one.event_at > visit.since_at and one.url not in known)
    # nothing changed in a time that is still to come
    return tuple(one if not one.event_at > visit.at else Telling(one.url) for one in found)


def may_tell(detector: Detector, after: Snapshot) -> bool:
    """Whether it may tell of others although nothing that counts is new in it."""
    return _telling(detector) is not None and _clocks(after)


def _telling(detector: Detector) -> _TellingOf | None:
    """Whatever lists other resources has this method."""
    told_of: _TellingOf | None = getattr(detector, "told_of", None)
    return told_of


def _clocks(after: Snapshot) -> bool:
    return any(mask.learned is Learned.HISTORY for mask in after.lens.masks)
