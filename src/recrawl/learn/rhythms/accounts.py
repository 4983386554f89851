"""What a rhythm's forecasts rest on, and how probable a resource's silence was; as columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recrawl.learn.rhythms.beats import Common
from recrawl.learn.rhythms.calendars import paces, shown_many
from recrawl.learn.rhythms.clocks import clocks
from recrawl.learn.rhythms.forecasts import Rhythms
from recrawl.learn.rhythms.rows import CHANGED_AT, SCALE, SHARE, X
from recrawl.learn.silence import firmness, p_quiet
from recrawl.model import Batch, Bools, Floats


def accounted(rhythms: Rhythms, common: Common, seen: Bools, now: float) -> Mapping[str, Floats]:
    """Paces are times the mean: of the habit at this moment, of the calendar in this hour, of the group's
    clock from the last visit to now. `seen`: who was ever looked at; the others have neither habit nor group.
    """
    calendar = rhythms.slot + 1
    since = shown_many(rhythms.shown, calendar, rhythms.since_at)
    shown_s = shown_many(rhythms.shown, calendar, np.full(len(since), now)) - since
    passed_s = np.maximum(shown_s, 1.0)
    bin_, row = rhythms.usual.bins(passed_s)
    wholly = clocks(rhythms.stirs, rhythms.slot, np.ones(len(since)), since)
    group_pace = (wholly.shown_s(passed_s) - wholly.shown_s(np.zeros(len(since)))) / passed_s
    grouped = seen & (rhythms.slot >= 0)
    return {
        "habit_pace": np.where(seen, rhythms.usual.factor[row, bin_], np.nan),
        "group_pace": np.where(grouped, group_pace, np.nan),
        "heed": np.where(grouped, rhythms.heed, np.nan),
        "calendar_pace": paces(rhythms.shown, calendar, np.full(len(since), now)),
        "calendar_belief": common.calendars.belief[calendar],
    }


def p_silent(
    rhythms: Rhythms, batch: Batch, rows: Floats, until_at: Floats, shape: Floats, forgetting: float
) -> tuple[Floats, Floats]:
    """When each was last seen to change, and how probable it was then that nothing more would be seen until
    this moment; NaN of whoever never changed. The forecasts are those from that change on."""
    changed = rows[:, SCALE] > 0.0
    changed_at = np.where(changed, rows[:, CHANGED_AT], np.nan)
    own_s = rhythms.own_s(np.where(changed, np.maximum(until_at - rhythms.since_at, 0.0), 0.0))
    firm = firmness(batch, rows[:, X] + rows[:, SHARE] * shape, shape, forgetting)
    p = p_quiet(firm, np.where(changed, rows[:, SCALE], 1.0), own_s)
    return changed_at, np.where(changed, p, np.nan)
