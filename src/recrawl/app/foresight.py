"""What other budgets would buy, from what is believed of each resource: no visit is replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.app.budgets import budgets_here, failing
from recrawl.app.policies import policy_of
from recrawl.app.quantity import visits_per_day
from recrawl.app.rows import Row
from recrawl.app.untold import N_EACH, doubts_of
from recrawl.errors import BadInputError, ConflictError
from recrawl.evaluate.budgets.curve import MEASURES, Bought, Moved, Needed, grid
from recrawl.evaluate.budgets.offers import OVER
from recrawl.evaluate.budgets.outlook import OF_GOAL
from recrawl.evaluate.budgets.sureness import BURST
from recrawl.evaluate.budgets.untold import Doubts, Why
from recrawl.model import HOUR_S, Ints
from recrawl.schedule.reason import percent, rounded

if TYPE_CHECKING:
    from recrawl.app.build import House

N_MOVED = 5
N_LOOKED_INTO = 300  # resources whose newest visits are read: do they tell of changes, and of how many?
FEWEST_TOLD = 10  # resources of which two visits have told something
ASSUMES = (
    "Resources go on as they did, and gaps have had time to settle.",
    f"Behind each change that a visit tells lie {BURST:g} in the mean, since changes come in bursts.",
    'Unless visits have shown better, of the servers that have said nothing but "not modified" one in ten '
    "lies, of masks one in four hides all changes, and of what never changed one in fifty is an old copy.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    rule: str
    goal: str  # whose measure is drawn
    n_resources: int
    n_asked: int
    scatter: float
    present: float  # the budget in force; without one, what is asked for without limit
    limited: bool
    points: Sequence[Bought]
    needed: Needed | None
    more: tuple[float, Sequence[tuple[str, Moved]]]  # a larger budget, and whom it helps most
    less: tuple[float, Sequence[tuple[str, Moved]]]
    untold: Doubts
    notes: Sequence[str]
    assumes: Sequence[str] = ASSUMES

    @property
    def measure(self) -> str:
        return OF_GOAL.get(self.goal, "freshness")

    def row(self) -> Row:
        return {
            "rule": self.rule,
            "goal": self.goal,
            "measure": self.measure,
            "resources": self.n_resources,
            "resources_asked": self.n_asked,
            "scatter": self.scatter,
            "present_per_day": self.present,
            "limited": self.limited,
            "points": [one.document() for one in self.points],
            "needed": None if self.needed is None else self.needed.document(),
            "gain": {"per_day": self.more[0], "resources": [_moved(*one) for one in self.more[1]]},
            "lose": {"per_day": self.less[0], "resources": [_moved(*one) for one in self.less[1]]},
            "untold": self.untold.document(),
            "notes": list(self.notes),
            "assumes": list(self.assumes),
        }


def _moved(url: str, one: Moved) -> Row:
    return {
        "url": url,
        "gap_s": one.gap_s,
        "other_gap_s": one.other_gap_s,
        "value": one.value,
        "other_value": one.other_value,
    }


def budgets_of(text: str) -> list[float]:
    """Rates with commas between them; the last one's unit is that of those without.

    >>> budgets_of("500,1000/day"), budgets_of("10, 20/h")
    ([500.0, 1000.0], [240.0, 480.0])
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    unit = words[-1].partition("/")[2] if words else ""
    rates = [visits_per_day(word if "/" in word or not unit else f"{word}/{unit}") for word in words]
    if not rates or min(rates) <= 0.0:
        raise BadInputError(f"{text!r} names no budgets to compare; write them as 500,1000,2000/day.")
    return sorted(set(rates))


def share_of(text: str) -> float:
    """
    >>> share_of("95%"), share_of("0.9")
    (0.95, 0.9)
    """
    word = text.replace(" ", "")
    try:
        share = float(word.removesuffix("%")) / (100.0 if word.endswith("%") else 1.0)
    except ValueError:
        share = float("nan")
    if not 0.0 < share < 1.0:
        raise BadInputError(f"{text!r} is no share of changes; write it as 95% or 0.95, below all of them.")
    return share


def foreseen(
    house: House,
    *,
    budgets: Sequence[float] = (),
    goal: str | None = None,
    within_s: float | None = None,
    share: float = 0.95,
) -> Foresight:
    beliefs = Beliefs(house)
    batch = beliefs.all()
    if not len(batch):
        raise ConflictError(
            "Nothing is watched that could be planned for; add something with `recrawl add`, and let "
            "`recrawl run` visit it for a while."
        )
    out = failing(batch)
    batch = batch.pick(~out)
    seen = np.isfinite(batch.since_at)
    n_told = int((batch.n_informative > 1).sum())
    if n_told < min(FEWEST_TOLD, max(int(seen.sum()), 1)):
        raise ConflictError(
            f"Of {len(out):,} resources {n_told:,} were looked at twice; a plan rests on what visits have "
            "told, so let `recrawl run` visit them for a while."
        )
    policy, rule, notes = beliefs.policy, beliefs.rule, _notes(beliefs)
    if out.any():
        notes.append(f"Left out, since their last visits all failed: {int(out.sum()):,} resources.")
    if not seen.all():
        notes.append(
            f"{int((~seen).sum()):,} of {len(batch):,} resources were never seen: what is usual for others, "
            "those of their hosts first, is expected of them."
        )
    if goal is not None:
        policy, rule = policy_of(rule.partition(":")[0], goal, asked=True)
    found = budgets_here(
        house, beliefs, batch, policy=policy, within_s=HOUR_S if within_s is None else within_s
    )
    ids = found.some.batch.id
    found.recount(house.store.lately(_some(ids[found.always]), N_EACH).folded())
    # what was never seen can have hidden nothing yet: those that were stand for it
    doubts = doubts_of(house.store, _some(ids[np.isfinite(found.some.batch.since_at)]))
    found.doubt(doubts)
    notes += _doubted(doubts)
    if found.useful < 0.995:
        lost = percent(1.0 - found.useful)
        notes.append(f"Of what is paid for {lost} tells nothing: failed visits, second looks.")
    most = found.most_per_day
    if not most > found.least_per_day * 1.001:
        raise ConflictError(
            f"The policy {rule} makes as many visits at any price, so there is no budget to plan; "
            "use policy index, or gaps that leave it room."
        )
    per_day = beliefs.budget.visits_per_day
    present = most if per_day is None else per_day
    names = MEASURES if within_s is None else (*MEASURES, "within")
    wanted = sorted({*(budgets or grid(per_day, most)), present})
    other = rule.partition(":")[2]
    points = [found.bought(one, names) for one in wanted]
    if wanted[0] < found.least_per_day / OVER:
        least = f"{rounded(found.least_per_day, 3)} visits a day"
        notes.append(
            f"The largest gaps alone ask for {least}. With fewer the longest overdue come first, so visits "
            "are late, all by as much; the gaps are those that come of it."
        )
    if beliefs.budget.bytes_per_day is not None:
        notes.append("The limit in bytes is left out: budgets here are visits.")
    if found.n_always:
        notes.append(
            f"{found.n_always:,} of {len(batch):,} resources had changed at every visit of late: they may "
            "change many times as often as anybody can know. The intervals reach that far."
        )
    if len(found.some.batch) < len(batch):
        notes.append(
            f"Worked out on {len(found.some.batch):,} of {len(batch):,} resources, taken evenly over all "
            "rates of change."
        )
    higher = next((one for one in wanted if one > present * 1.001), 2.0 * present)
    lower = next((one for one in reversed(wanted) if one < present * 0.999), present / 2.0)
    moves = [(one, found.moved(present, one, other, N_MOVED)) for one in (higher, lower)]
    urls = _urls(house, [moved.id for _, some in moves for moved in some])
    more, less = ((one, [(urls[m.id], m) for m in some if m.id in urls]) for one, some in moves)
    return Foresight(
        rule=rule,
        goal=other,
        n_resources=len(batch),
        n_asked=len(found.some.batch),
        scatter=found.scatter,
        present=present,
        limited=per_day is not None,
        points=points,
        needed=None if within_s is None else found.needed(share),
        more=more,
        less=less,
        untold=doubts,
        notes=notes,
    )


def _some(ids: Ints) -> Ints:
    return ids[np.unique(np.linspace(0, len(ids) - 1, N_LOOKED_INTO).astype(np.int64))] if len(ids) else ids


def _doubted(doubts: Doubts) -> list[str]:
    """Whose changes may go unseen; what is merely quiet may too, but tells no more of itself."""
    n_silent = doubts.n(Why.DENIED) + doubts.n(Why.DENOUNCED)
    words = {
        'whose servers have said nothing but "not modified"': n_silent,
        "whose servers denied a change": doubts.n(Why.CAUGHT),
        "with parts that count as noise": doubts.n(Why.MASKED),
    }
    said = [f"{n:,} {whose}" for whose, n in words.items() if n]
    if not said:
        return []
    return [
        f"Of {doubts.n_asked:,} resources there are {', '.join(said)}: their changes may go unseen. The "
        "intervals allow for that."
    ]


def _notes(beliefs: Beliefs) -> list[str]:
    if beliefs.budget.visits_per_day is None:
        return ["There is no budget in force: the point marked is every visit that the gap bounds allow."]
    return []


def _urls(house: House, ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for wanted in set(ids):
        for resource, _, _ in house.store.resources(after=wanted - 1, limit=1):
            if resource.id == wanted:
                found[wanted] = resource.url
    return found
