"""What a forecast rests on, in words: line by line, each under its name."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, isnan, nan

from recrawl.app.account import SHARE, Account, full_host
from recrawl.app.quantity import iso
from recrawl.model import DAY_S
from recrawl.schedule.reason import looks_like, percent, price_words, rounded, span
from recrawl.schedule.reason import rate as rated

_RARE = 1.0 / 36_500  # a day: less than once in a century
_IN_YEARS = 1.0 / 730
_SLIGHT = 0.05  # what runs so little faster or slower than usual is not worth a line


def basis(found: Account) -> Iterator[tuple[str, str]]:
    """As far as its predictor says so."""
    basis, (low, high) = found.basis, found.per_day
    if isfinite(high):
        mean = rate(basis["shape"] / basis["evidence_s"] * DAY_S)
        yield (
            "rate",
            f"{mean}; with {SHARE:.0%} probability from {rate(low)} to {rate(high)}".replace("%", " %"),
        )
    if isfinite(basis.get("prior_share", nan)):
        usual = rate(basis["prior_shape"] / basis["prior_scale_s"] * DAY_S)
        whose = "as is usual of what looks so" if found.heeded else "as is usual there"
        yield (
            "prior",
            f"{usual}, {whose}; {percent(basis['prior_share'])} of its weight is left",
        )
    if isfinite(found.standing.hunch_per_day):
        seen_at = f"; seen {iso(found.standing.sight_at)}" if isfinite(found.standing.sight_at) else ""
        heeded = "" if found.heeded else "; not heeded, since looks have not told enough here yet"
        yield "first sight", f"{looks_like(found.standing.hunch_per_day)}{seen_at}{heeded}"
    if isfinite(said_at := basis.get("last_post_at", nan)):
        yield from _posts(found, said_at)
    if isfinite(pace := basis.get("habit_pace", nan)):
        yield "habit", f"{rounded(pace)} times its mean rate, so long after its last change"
    if isfinite(pace := basis.get("group_pace", nan)):
        visits = "1 visit" if found.n_heard == 1 else f"{found.n_heard:,} visits"
        heed = f"it goes with that by {percent(basis['heed'])}"
        yield "group", f"{_pace(pace)} since the last look, by {visits} of its host; {heed}"
    if abs((pace := basis.get("calendar_pace", 1.0)) - 1.0) > _SLIGHT:
        believed = percent(basis.get("calendar_belief", 1.0))
        yield "calendar", f"{_pace(pace)} at this hour of the week; believed by {believed}"
    if found.told_by:
        belief = basis.get("signal_belief", nan)
        believed_words = "" if isnan(belief) else f"; believed by {percent(belief)}"
        yield "told", f"{found.told_by} told of a change {iso(found.standing.told_at)}{believed_words}"
    for one in found.kin:
        told_words = f"; seen to change {iso(one.told_at)}" if isfinite(one.told_at) else ""
        yield "kin", f"{one.url}, whose changes come with one here by {percent(one.weight)}{told_words}"
    if isfinite(belief := basis.get("kin_belief", nan)):
        yield "told by kin", f"of a change since the last look; believed by {percent(belief)}"
    if (words := _price(found)) is not None:
        yield "price", words


def _price(found: Account) -> str | None:
    """The very figure that decided, for who wants to reckon with it."""
    plan = found.plan
    goal = plan.rule.partition(":")[2] if plan else ""
    if plan is not None and plan.price == inf and plan.bound == "max":
        return _no_price(found)
    if plan is None or not goal or not isfinite(plan.price) or plan.price <= 0.0:
        return None
    weight = found.resource.effective.weight
    times = "" if weight == 1.0 else f", times its weight of {weight:g},"
    return f"{price_words(goal, plan.price)}: a visit comes when what it is worth{times} reaches this"


def _no_price(found: Account) -> str:
    """Why none is high enough, and how late visits come."""
    if found.terms is None or full_host(found.terms, found.resource):
        words = "none: the largest gaps on its host alone ask for more visits than that can serve"
    else:
        n = f"{rounded(found.terms.demand_per_day, 3)} visits a day"
        words = f"none: the largest gaps alone ask for {n}, more than the budget has"
    return f"{words}; visits come about every {span(found.otherwise[0].gap_s)}" if found.otherwise else words


def _posts(found: Account, said_at: float) -> Iterator[tuple[str, str]]:
    """Of a thread: how lively it is beside others, when somebody last spoke, and what is to come."""
    basis = found.basis
    n, due, lively = basis["posts_lately"], basis["posts_due"], basis["liveliness"]
    beside = "as lively as" if abs(lively - 1.0) <= _SLIGHT else f"{rounded(lively)} times as lively as"
    yield (
        "posts",
        f"lately {rounded(n)} where {rounded(due)} were to be expected: {beside} others of its board",
    )
    yield "last post", f"{iso(said_at)}, {span(max(found.now - said_at, 0.0))} ago"
    yield "expected", f"{rounded(basis['posts_a_day'])} posts within the next day"


def budgets(found: Account) -> str:
    """What other budgets mean to it."""
    if not found.otherwise:
        return "without a limit, or not priced yet"
    gaps = {one.times: span(one.gap_s) for one in found.otherwise}
    words = (
        f"in the long run a gap of {gaps[1.0]}; with half of it {gaps[0.5]}, with twice as much {gaps[2.0]}"
    )
    if any(one.full for one in found.otherwise):
        words += "; its host can serve no more"
    first = found.otherwise[0]
    if not first.error:
        return words
    return f"{words} (by {first.n_asked:,} resources: give or take {200.0 * first.error:.1g} %)"


def rate(per_day: float) -> str:
    """A rate of change, however small.

    >>> rate(2.0), rate(1e-3), rate(1e-9)
    ('2 a day', 'one in 2.7 years', 'hardly ever')
    """
    if per_day < _RARE:
        return "hardly ever"
    return rated(per_day) if per_day > _IN_YEARS else f"one in {1.0 / 365.0 / per_day:.2g} years"


def _pace(pace: float) -> str:
    return "as fast as usual" if abs(pace - 1.0) <= _SLIGHT else f"{rounded(pace)} times as fast as usual"


def silent_words(p: float, length_s: float) -> str:
    """How long it has been silent, and how improbable that was."""
    chance = percent(p) if p >= 0.0005 else "less than 0.1 %"
    return f"no change seen for {span(length_s)}, which had a probability of {chance}"


def small(p: float) -> str:
    """A small probability, of which one digit would not tell enough.

    >>> small(0.0042), small(3e-9)
    ('0.42 %', 'less than 0.0001 %')
    """
    return f"{100.0 * p:.2g} %" if p >= 1e-6 else "less than 0.0001 %"
