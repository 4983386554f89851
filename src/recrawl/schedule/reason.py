"""A plan's reason: a sentence for people, with the figures it rests on."""

from __future__ import annotations

from math import inf, isfinite

from recrawl.model import ASKED, DAY_S, HOUR_S, Changes, Plan, Standing

NOTHING = 1e-200  # a price below is there only to be none: see schedule/budget.py
N_NEW = 10  # visits: after so many a resource is known by what it did
# What a visit saves under each goal. One more visit saves so much: that is what the index of a goal means.
_SAVED = {"fresh": "stale time", "fresh-harmonic": "being behind", "prompt": "waiting for news"}
_ENDS = {"min": ("smallest", "sooner"), "max": ("largest", "later")}
_JITTERED = 0.2  # so far a gap at a bound may be from it
_UNITS = ((DAY_S, "day"), (HOUR_S, "hour"), (60.0, "minute"), (1.0, "second"))


def reason(
    plan: Plan,
    standing: Standing,
    changes: Changes = Changes.ANY,
    *,
    weight: float = 1.0,
    by_size: bool = False,
    scarce: str = "the budget",
    bounds_s: tuple[float, float] | None = None,
) -> str:
    """Why the resource is looked at next when it is; `changes` are those that count. With `by_size` a visit
    costs what it weighs. `scarce` is what has too little room where no price is high enough; `bounds_s` are
    the smallest and the largest gap by now, where others may have held when the plan was made."""
    if plan.rule == ASKED:
        return "Somebody asked for a visit: it comes in turn with all else that is due."
    if plan.rule == "first-look":
        return "Never looked at yet: due since it was added, in turn with all else that is due."
    if plan.rule == "retry":
        times = "once" if standing.n_failures == 1 else f"{standing.n_failures} times in a row"
        return f"The last visit told nothing ({times}): try again after {span(plan.gap_s)}."
    change = "change" if changes is Changes.ANY else f"{changes} change"
    known = (
        f"{_count(standing.n_changes, change)} seen in {_count(standing.n_informative, 'visit')}, "
        f"about {rate(plan.per_day)} expected"
    )
    if isfinite(plan.p_changed):
        likely = f"{percent(plan.p_changed)} likely to have changed"
        known = f"{known}; {likely} {span(plan.gap_s)} after the last look"
    alike = ""
    if standing.hunch_per_day > 0.0 and standing.n_informative <= N_NEW:
        alike = f"; it {looks_like(standing.hunch_per_day)}"
    told = "; a source has told of a change since" if standing.told_by else ""
    return f"{known}{alike}{told}; {_why(plan, weight, by_size, scarce, bounds_s)}."


def _why(plan: Plan, weight: float, by_size: bool, scarce: str, bounds_s: tuple[float, float] | None) -> str:
    goal = plan.rule.partition(":")[2]
    if plan.bound == "relook":
        return (
            "it changes faster than the budget can follow, and is looked at now and then, two visits at a "
            "time, to find out whether it has slowed down"
        )
    if plan.bound in _ENDS and bounds_s is not None and _was_other(plan, bounds_s):
        return (
            f"{span(plan.gap_s)} was the {_ENDS[plan.bound][0]} gap allowed when this was planned; "
            "`recrawl run` plans it anew by what is allowed now"
        )
    if plan.bound == "max" and plan.price == inf:
        # at such a price nothing is worth a visit, so "later" would be "never"
        unwanted = "no visit is worth the price" if goal else f"{plan.rule} would have it later"
        return (
            f"{unwanted}, but {span(plan.gap_s)} is the largest gap allowed; {scarce} cannot keep it, "
            "and visits come late"
        )
    if plan.bound:
        wanted = "a visit would be worth it" if goal else f"{plan.rule} would have it"
        end, when = _ENDS[plan.bound]
        return f"{wanted} {when}, but {span(plan.gap_s)} is the {end} gap allowed"
    if plan.rule in ("uniform", "round-robin"):
        return "every resource gets the same gap"
    if plan.rule == "proportional":
        return "every resource gets a gap in which as many changes are expected"
    if not goal:
        return f"as the rule {plan.rule} has it"
    if not isfinite(plan.price) or plan.price < NOTHING or weight <= 0.0:
        return f"then a visit is worth it (goal {goal})"
    counted = "" if weight == 1.0 else f" and with its weight of {weight:g}"
    size = " of the usual size" if by_size else ""
    return (
        f"then a visit{size} is worth about {worth(goal, plan.price / weight)}, "
        f"with this budget{counted} the least that one is made for (goal {goal})"
    )


def _was_other(plan: Plan, bounds_s: tuple[float, float]) -> bool:
    bound_s = bounds_s[0] if plan.bound == "min" else bounds_s[1]
    return abs(plan.gap_s - bound_s) > _JITTERED * bound_s


def worth(goal: str, amount: float) -> str:
    """What a visit brings, in what the goal is about.

    >>> worth("fresh", 70812.0), worth("capture", 0.2149)
    ('19.7 hours of stale time saved', 'a 21.5 % chance of a version that would be missed')
    """
    if goal == "capture":
        return f"a {percent(min(amount, 1.0))} chance of a version that would be missed"
    saved = _SAVED.get(goal)
    return f"{rounded(amount, 3)} by its goal" if saved is None else f"{span(amount)} of {saved} saved"


def price_words(goal: str, price: float) -> str:
    """The very figure, with its unit.

    >>> price_words("fresh", 70812.0), price_words("capture", 0.2149)
    ('70,800 seconds of stale time saved', '0.215 versions that would be missed')
    >>> price_words("fresh", 1e-300)
    'next to nothing'
    """
    if 0.0 < price < NOTHING:
        return "next to nothing"
    if goal == "capture":
        return f"{rounded(price, 3)} versions that would be missed"
    saved = _SAVED.get(goal)
    return f"{rounded(price, 3)} " + ("by its goal" if saved is None else f"seconds of {saved} saved")


def span(seconds: float) -> str:
    """A length of time in the unit that reads best: `3.5 days`, `20 minutes`."""
    if not isfinite(seconds):
        return "for ever"
    # a hair below a unit is that unit: 1 hour, neither 60 minutes nor 0.999 hours
    size, name = next((unit for unit in _UNITS if abs(seconds) * 1.001 >= unit[0]), _UNITS[-1])
    hair = size > seconds >= size / 1.001
    figure = "1" if hair else f"{seconds / size:.3g}"
    return f"{figure} {name}" if figure == "1" else f"{figure} {name}s"


def looks_like(per_day: float) -> str:
    """What first sight made one expect.

    >>> looks_like(1 / 3), looks_like(24.0)
    ('looks like pages that change every 3 days', 'looks like pages that change every hour')
    """
    gap = span(DAY_S / per_day)
    return f"looks like pages that change every {gap.removeprefix('1 ')}"


def rate(per_day: float) -> str:
    """A rate of change as a person would say it."""
    if not isfinite(per_day) or per_day <= 0.0:
        return "no change"
    return f"{rounded(per_day)} a day" if per_day >= 1.0 else f"one in {span(DAY_S / per_day)}"


def percent(share: float) -> str:
    """A share, in the one form that all pages and sentences have.

    >>> percent(0.8163), percent(1.0)
    ('81.6 %', '100.0 %')
    """
    return f"{100.0 * share:.1f} %"


def rounded(value: float, digits: int = 2) -> str:
    """To so many figures that count, written out.

    >>> rounded(7234.0), rounded(2.449), rounded(70812.0, 3)
    ('7,200', '2.4', '70,800')
    """
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
