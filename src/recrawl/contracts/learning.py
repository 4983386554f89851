"""The plug points for learning, forecasting and choosing gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from recrawl.model import (
    Batch,
    Floats,
    Ints,
    Seen,
)


class Forecasts(Protocol):
    """What may happen within `t_s` seconds after each resource's last informative visit.

    The last axis of `t_s` and of what comes back runs over the resources."""

    def survival(self, t_s: Floats) -> Floats: ...  # S(t) = P(no change within t)
    def survival_integral(self, t_s: Floats) -> Floats: ...  # integral of S from 0 to t
    def survival_slope(self, t_s: Floats) -> Floats: ...  # dS/dt
    def n_expected(self, t_s: Floats) -> Floats: ...  # M(t) = expected number of changes
    def n_expected_integral(self, t_s: Floats) -> Floats: ...  # integral of M from 0 to t
    def pick(self, rows: Ints) -> Forecasts: ...


class UsualForecasts(Forecasts, Protocol):
    """What is to be expected while nothing out of the ordinary is known."""

    def own_s(self, t_s: Floats) -> Floats: ...  # the own time that passes


@runtime_checkable
class Clocked(Forecasts, Protocol):
    """Forecasts of resources that live in a time of their own. An index is read off the `usual` curve; the
    visit is due when as much own time has passed as would have by then, sooner or later than usual."""

    @property
    def usual(self) -> UsualForecasts: ...
    @property
    def scatter(self) -> Floats: ...  # by what share each may come sooner or later, so that some scout
    def due_s(self, own_s: Floats, most_s: Floats, timely: bool, counting: bool) -> Floats:
        """How long after the last visit so much own time has passed, `most_s` at most; for a goal that is
        `timely`, which counts how long a copy is stale, the best moment near that. A goal that is `counting`
        has every change wait by itself: what was told of is then one more, not a change that is likelier."""

    def pick(self, rows: Ints) -> Clocked: ...


@runtime_checkable
class Learner(Protocol):
    """Learns from visits. What it keeps of one resource is a row of `width` numbers, so that the store can
    carry it from run to run and from worker to worker."""

    width: int

    def learn(self, seen: Seen) -> None: ...
    def memory(self, ids: Ints) -> Floats: ...  # shape (n, width)
    def recall(self, ids: Ints, rows: Floats) -> None: ...  # NaN: nothing was kept of this one


class Predictor(Learner, Protocol):
    """Forecasts changes. That changes no state and sees nothing after `now`."""

    def forecast(self, batch: Batch, now: float) -> Forecasts: ...


@runtime_checkable
class Shared(Protocol):
    """A predictor whose resources teach each other: what it knows is more than their rows.

    Of that, `lore` is what adds up over all workers: counts, in any shape. The rest comes from overhearing
    the visits that others learned from."""

    n_heard: int  # visits that it cares to overhear at once: at the first pricing, the newest

    def lore(self) -> Floats: ...  # all that it goes by
    def take_lore(self, lore: Floats) -> None: ...  # go by this instead; nothing but zeros: begin anew
    def overhear(self, seen: Seen) -> None: ...  # rows and lore stay as they are


@runtime_checkable
class Forgetting(Shared, Protocol):
    """One that lets go of what it counted long ago. So its lore may be less than it was."""

    def joined(self, noted: Floats, since: Floats) -> Floats: ...  # noted, and counted here since lore was so
    def lessened(self, lore: Floats, share: float) -> Floats: ...  # with so much of what was counted


@runtime_checkable
class Composed(Protocol):
    """A predictor that is made of others. Each of them keeps rows and lore of its own, under its own name, so
    that it can be exchanged for one of its parts, or stand in for it, and nothing is lost."""

    @property
    def parts(self) -> Sequence[Predictor]: ...


@runtime_checkable
class Heir(Protocol):
    """A predictor that can go on from what another one kept: `recall` takes rows of that width too."""

    forebears: Sequence[tuple[str, int]]  # names of their classes, and how wide their rows are


@runtime_checkable
class Accountable(Protocol):
    """A predictor that can say what its forecasts rest on, by name a column each; NaN: not known.

    Names that are put into words for people: `shape` and `evidence_s` of a Gamma distributed rate (changes,
    and the time that they took), `prior_shape`, `prior_scale_s` and `prior_share` of what it began from and
    what is left of that, `habit_pace`, `group_pace`, `heed`, `calendar_pace`, `calendar_belief` and
    `signal_belief`; of threads `posts_lately` and `posts_due`, `liveliness`, `last_post_at` and `posts_a_day`
    from now on. Others are passed on as they are."""

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]: ...


@runtime_checkable
class Alert(Protocol):
    """A predictor that notices when a resource falls silent."""

    def silences(self, batch: Batch, until_at: Floats) -> tuple[Floats, Floats]:
        """When each was last seen to change, and how probable it was, by what was believed of it then, that
        no change would be seen until this moment; NaN of whoever was never seen to change."""


class Goal(Protocol):
    """The worth U(t) of a visit `t_s` after the last one (DESIGN: one index, four goals, one price)."""

    name: str

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats: ...


class Quote(Protocol):
    """A policy's answer for any price, one for all or one for each: gaps in seconds from the last informative
    visit, within each resource's bounds, never sooner when dearer."""

    def gaps(self, price: float | Floats) -> Floats: ...


@runtime_checkable
class Divisible(Quote, Protocol):
    """A quote that answers for some of its rows too, without being worked out anew."""

    def pick(self, rows: Ints) -> Divisible: ...


class Policy(Protocol):
    """Quotes gaps. What does not depend on the price is worked out once, since the budget tries many
    prices. Pure: one that goes by more than the batch carries is a `Learner` too, decides as it learns and
    quotes what it decided. Rules that know no price quote the same gaps at every one."""

    name: str

    def quote(self, batch: Batch, forecasts: Forecasts) -> Quote: ...
