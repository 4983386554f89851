"""The rhythm: a belief about each resource's rate, in its own time.

What it knows beyond the Gamma filter: that rates change (`learn.rhythms.rates`), what resources do after a
change (`learn.rhythms.habits`), when those of one group are stirred together (`learn.rhythms.stirs`), which
of them heed that (`learn.rhythms.steps`), at which hours and on which days they change
(`learn.rhythms.calendars`), how far those are to be believed who tell of others' changes
(`learn.rhythms.signals`), and who goes with whom (`learn.rhythms.kin`). All of it is learned while it runs,
from visits alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from recrawl.compiled import can_compile, plain
from recrawl.errors import UnknownPartError
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.histories import known_after_s
from recrawl.learn.predictors.gamma import GammaFilter, known
from recrawl.learn.rhythms.accounts import accounted, p_silent
from recrawl.learn.rhythms.beats import heeds, nothing_in_common
from recrawl.learn.rhythms.calendars import more_calendars
from recrawl.learn.rhythms.forecasts import Rhythms, scatter
from recrawl.learn.rhythms.habits import Habits
from recrawl.learn.rhythms.hearsay import before
from recrawl.learn.rhythms.kin import all_told_by_kin, more_ties, tied
from recrawl.learn.rhythms.lessons import SEVERAL, all_overheard, learned
from recrawl.learn.rhythms.lore import joined, lessened, lore_of, taught
from recrawl.learn.rhythms.rates import LEAN, gammas_of, rates_of
from recrawl.learn.rhythms.rows import (
    BLANK,
    CHANGED_AT,
    HABIT,
    HEED,
    RATES,
    SCALE,
    SHARE,
    WIDTH,
    T,
    X,
    sound,
)
from recrawl.learn.rhythms.signals import Register, Sources, all_believed
from recrawl.learn.rhythms.stirs import Stirs, with_room
from recrawl.learn.rhythms.told import Told
from recrawl.model import DAY_S, Batch, Floats, Ints, KinTable, Priors, Seen

# So many visits are taken in by plain Python, within ten seconds in all: the loop's own thread does not stop
# for a compiler then, which may take longer the first time.
N_PLAIN = 10_000
PARTS = ("rates", "habits", "stirs", "heed", "scouts", "calendar", "signals", "kin")


class Rhythm:
    """Predictor `rhythm`. `shape`, `scale_days` and `forgetting` are the Gamma filter's; `without` names
    those of `PARTS` that are left out, to see what each brings."""

    width = WIDTH
    forebears = ((GammaFilter.__qualname__, GammaFilter.width), ("Rhythm", RATES))  # the latter had no rates

    def __init__(
        self,
        *,
        shape: float = 0.5,
        scale_days: float = 10.0,
        forgetting: float = 0.05,
        without: Collection[str] = (),
    ) -> None:
        if unknown := set(without) - set(PARTS):
            raise UnknownPartError(
                f"A rhythm has no part called {min(unknown)!r}; leave out some of: {', '.join(PARTS)}."
            )
        self.priors = Priors(shape=shape, scale_s=scale_days * DAY_S)
        self.forgetting = forgetting
        self.n_heard = 500_000 if can_compile() else 20_000  # some seconds either way
        self._n_taken = 0  # visits
        self._heeds_signals = "signals" not in without
        self._heeds_kin = "kin" not in without
        self._register = Register()
        self.scouts = "scouts" not in without
        self.common = nothing_in_common(0)._replace(
            forms="habits" not in without,
            lean=0.0 if "rates" in without else LEAN,
            marks="calendar" not in without,
            heed=0.0 if "stirs" in without else 1.0 if "heed" in without else np.nan,
        )
        self._rows = np.empty((0, WIDTH))
        self._slot = np.empty(0, dtype=np.int64)  # of each group: where its stirs are; -1: it has none
        self._member = np.empty(0, dtype=np.int64)  # the only one of each group that was seen

    @property
    def habits(self) -> Habits:
        return self.common.habits

    @property
    def stirs(self) -> Stirs:
        return self.common.stirs

    @property
    def sources(self) -> Sources:
        return self.common.sources

    def ground(self, priors: Priors) -> None:
        """Believe this of resources before they were seen; what was seen of them stays."""
        self.priors = priors

    def know_kin(self, table: KinTable) -> None:
        """Go by this table; what was checked of pairs that stay is kept."""
        if self._heeds_kin:
            self._reach(int(max(table.id.max(initial=0), table.of.max(initial=0))))
            self.common = self.common._replace(ties=tied(self.common.ties, table))

    def lore(self) -> Floats:
        """The counts of habits, and of everybody's calendar."""
        return lore_of(self.common)

    def take_lore(self, lore: Floats) -> None:
        """Go by these counts; what no predictor of this kind counted is passed over."""
        self.common = taught(self.common, lore)

    def joined(self, noted: Floats, since: Floats) -> Floats:
        return joined(noted, self.lore(), since)

    def lessened(self, lore: Floats, share: float) -> Floats:
        return lessened(lore, share)

    def overhear(self, seen: Seen) -> None:
        """Take in what visits tell of their groups, where somebody else has learned from them."""
        if not len(seen):
            return
        seen = self._ready(seen)
        ids, first, of = np.unique(seen.id, return_index=True, return_inverse=True)
        shape, scale_s = self.priors.of(seen.group, seen.hunch_per_day)
        source = self._sources(seen)
        heard = all_overheard if self._many(seen) else plain(all_overheard)
        heard(
            before(self._rows[ids], seen.since_at[first]),
            of.astype(np.int64),
            self.common,
            self._slot,
            self._member,
            seen.id,
            seen.group,
            seen.since_at,
            seen.at,
            seen.changed == 1,
            known_after_s(seen),
            shape,
            scale_s,
            source,
        )

    def learn(self, seen: Seen) -> None:
        """Take in visits in the order of their times: each may teach all that come after it."""
        if not len(seen):
            return
        seen = self._ready(seen)
        shape, scale_s = self.priors.of(seen.group, seen.hunch_per_day)
        source = self._sources(seen)
        taught = learned if self._many(seen) else plain(learned)
        taught(
            self._rows,
            self.common,
            self._slot,
            self._member,
            seen.id,
            seen.group,
            seen.since_at,
            seen.at,
            seen.changed == 1,
            known_after_s(seen),
            shape,
            scale_s,
            self.forgetting,
            source,
        )

    def state(self, ids: Ints, group: Ints, hunch_per_day: Floats | None = None) -> tuple[Floats, Floats]:
        """Shape and seconds of evidence, in own time."""
        shape, scale_s = self.priors.of(group, hunch_per_day)
        self._reach(int(ids.max(initial=0)))
        return gammas_of(self._rows[ids], self.common.lean, shape, scale_s)

    def forecast(self, batch: Batch, now: float) -> Rhythms | Told:
        rhythms = self.rhythms(batch)
        told = (batch.told_at <= now) & np.isfinite(batch.since_at) & self._heeds_signals
        by_kin, kin_at = all_told_by_kin(self.common.ties, batch.id, batch.since_at, now)
        if not told.any() and not by_kin.any():
            return rhythms
        belief = np.where(told, all_believed(self.sources, self._register.rows(batch.told_by)), 0.0)
        told_s = np.where(told, batch.told_at - batch.since_at, np.inf)
        kin_s = np.where(by_kin > 0.0, kin_at - batch.since_at, np.inf)
        return Told(rhythms, told_s, belief, kin_s, by_kin)

    def rhythms(self, batch: Batch) -> Rhythms:
        """The forecasts, whatever anybody has told."""
        gamma = GammaForecasts(*self.state(batch.id, batch.group, batch.hunch_per_day))
        shape, scale_s = self.priors.of(batch.group, batch.hunch_per_day)
        rows = self._rows[batch.id]
        since_at = np.where(np.isnan(batch.since_at), 0.0, batch.since_at)
        anchor_at, unit_s = rows[:, CHANGED_AT], rows[:, SCALE]
        slot = self._slots(batch.group)
        heed = np.where(slot >= 0, heeds(self.common, rows[:, HEED]), 0.0)
        return Rhythms(
            gamma,
            self.habits,
            self.stirs,
            self.common.calendars,
            since_at,
            # who was visited since the batch was made may have changed after it: no age is below 0
            np.where(np.isnan(anchor_at), since_at, np.minimum(anchor_at, since_at)),
            np.where(unit_s > 0.0, unit_s, scale_s / shape),
            rows[:, HABIT].astype(np.int64),
            heed,
            slot,
            scatter(self.stirs, slot, heed) if self.scouts else np.zeros(len(slot)),
        )

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:
        """What the forecasts rest on."""
        shape, scale_s = self.priors.of(batch.group, batch.hunch_per_day)
        a, b_s = self.state(batch.id, batch.group, batch.hunch_per_day)
        told = (batch.told_at <= now) & self._heeds_signals
        belief = all_believed(self.sources, self._register.rows(batch.told_by))
        by_kin, _ = all_told_by_kin(self.common.ties, batch.id, batch.since_at, now)
        return {
            **known(a, b_s, shape, scale_s, self._rows[batch.id, SHARE]),
            **accounted(self.rhythms(batch), self.common, np.isfinite(batch.since_at), now),
            "signal_belief": np.where(told, belief, np.nan),
            "kin_belief": np.where(by_kin > 0.0, by_kin, np.nan),
        }

    def silences(self, batch: Batch, until_at: Floats) -> tuple[Floats, Floats]:
        """When each was last seen to change, and how probable it was then that it would be quiet so long."""
        rows, (shape, _) = self.memory(batch.id), self.priors.of(batch.group, batch.hunch_per_day)
        changed_at = np.where(np.isnan(rows[:, CHANGED_AT]), until_at, rows[:, CHANGED_AT])
        since = self.rhythms(replace(batch, since_at=changed_at))
        return p_silent(since, batch, rows, until_at, shape, self.forgetting)

    def memory(self, ids: Ints) -> Floats:
        if len(ids):
            self._reach(int(ids.max()))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; rows of NaN stand for "nothing kept" and are passed over, and so is
        what no predictor of this kind wrote. Of what the Gamma filter kept the rate is taken over, and so it
        is of rows from before there were rates."""
        if len(ids) and rows.shape[1] in (GammaFilter.width, RATES):
            whole = np.tile(np.array(BLANK), (len(rows), 1))
            whole[:, : rows.shape[1]] = rows
            shape, scale_s = self.priors.shape, self.priors.scale_s
            a, b_s = whole[:, X] + whole[:, SHARE] * shape, whole[:, T] + whole[:, SHARE] * scale_s
            whole[:, RATES:] = rates_of(a, b_s, shape, scale_s)
            rows = whole
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = sound(rows)
        self._rows[ids[kept]] = rows[kept]

    def _ready(self, seen: Seen) -> Seen:
        """Room for all that these visits tell; they come back in the order of their times."""
        seen = seen.pick(np.lexsort((seen.at, seen.id, seen.visit_at)))
        self._reach(int(seen.id.max()))
        self._gather(seen)
        return seen

    def _sources(self, seen: Seen) -> Ints:
        """Whose record each visit is for; -1: nobody had told of it."""
        told = np.isfinite(seen.told_at) & self._heeds_signals
        sources, rows = self._register.enrolled(self.sources, told, seen.told_by)
        self.common = self.common._replace(sources=sources)
        return rows

    def _many(self, seen: Seen) -> bool:
        """Whether there is so much to do that a compiler is worth waiting for."""
        self._n_taken += len(seen)
        return self._n_taken > N_PLAIN

    def _slots(self, group: Ints) -> Ints:
        known = group < len(self._slot)
        return np.where(known, self._slot[np.where(known, group, 0)] if len(self._slot) else -1, -1)

    def _gather(self, seen: Seen) -> None:
        """Room for the stirs of every group of which a second member comes now."""
        most = int(seen.group.max())
        if most >= len(self._slot):
            more = max(1024, 2 * len(self._slot), most + 1) - len(self._slot)
            self._slot = np.concatenate([self._slot, np.full(more, -1, dtype=np.int64)])
            self._member = np.concatenate([self._member, np.zeros(more, dtype=np.int64)])
        pairs = np.unique(np.column_stack([seen.group, seen.id]), axis=0)
        known = self._member[pairs[:, 0]]
        new = pairs[(known != SEVERAL) & (known != pairs[:, 1]) & (pairs[:, 0] > 0)]
        groups, n_new = np.unique(new[:, 0], return_counts=True)
        groups = groups[(n_new > 1) | (self._member[groups] > 0)]
        groups = groups[self._slot[groups] < 0]
        used = int(self._slot.max(initial=-1)) + 1
        if used + len(groups) > len(self.stirs.level):
            room = max(16, 2 * len(self.stirs.level), used + len(groups))
            self.common = self.common._replace(
                stirs=with_room(self.stirs, room), calendars=more_calendars(self.common.calendars, room + 1)
            )
        self._slot[groups] = used + np.arange(len(groups))

    def _reach(self, highest: int) -> None:
        """Room for this id; of whoever is new nothing is known but the prior."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.tile(np.array(BLANK), (room, 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown
        self.common = self.common._replace(ties=more_ties(self.common.ties, room))
