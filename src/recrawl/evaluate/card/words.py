"""The report card in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from math import isnan

from recrawl.evaluate.card.card import FEW_CHANGES, FEW_FORECASTS, UNLIKELY
from recrawl.evaluate.card.figures import Calibration, Card
from recrawl.evaluate.card.past import FEW_VISITS
from recrawl.evaluate.card.rivals import Rival
from recrawl.evaluate.report.table import count, share
from recrawl.schedule.budget import Allowance
from recrawl.schedule.reason import span

OVER = 1.02  # times the budget is still the budget: days are counted from any moment


def title(card: Card) -> str:
    length = span(card.until_at - card.from_at)
    return f"The {length} up to {moment(card.until_at)} UTC" + (f", by {card.rule}" if card.rule else "")


def words(card: Card) -> list[tuple[str, str]]:
    """The card in lines, each with its name."""
    return [
        ("visits", _visits(card)),
        ("changes", _changes(card)),
        ("delay", _delay(card)),
        ("wasted", _wasted(card)),
        *_missed(card),
        ("forecasts", foretold(card)),
        ("against", compared(card)),
        ("hosts", _hosts(card)),
    ]


def _visits(card: Card) -> str:
    on = f"on {card.n_visited:,} of {card.n_resources:,} resources"
    told = f"; {card.n_failed:,} told nothing" if card.n_failed else ""
    made, n = f"{card.n_visits:,}", card.n_charged
    if card.n_second:
        made += f" and {card.n_second:,} second look{'' if card.n_second == 1 else 's'}"
    if isnan(card.budget):
        always = all(isnan(day.budget) for day in card.days)
        return f"{made} {on}{told}; {'no' if always else 'not always a'} budget of visits was set"
    budget = round(card.budget)
    if n <= max(budget, OVER * card.budget):
        kept = n / card.budget if card.budget else 0.0
        charged = f"{made}: {n:,}" if card.n_second else made
        return f"{charged} of {budget:,} in the budget ({percent(kept)}), {on}{told}"
    # a new house begins with as much as can be saved up; how much there was later nobody has noted
    first = card.days[0]
    most = int(Allowance(first.budget / first.days, 0.0, card.from_at).most)
    saved = min(n - budget, most)
    beyond = n - budget - saved
    more = f" and {beyond:,} beyond it" if beyond else ""
    spent = f"{budget:,} in the budget of that time, {saved:,} of up to {most:,} saved up before{more}"
    return f"{made} ({spent}), {on}{told}"


def _changes(card: Card) -> str:
    waste = card.waste
    if not waste.n_looked:
        return "none yet: a change shows at the second visit to a resource"
    part = card.n_changes / waste.n_looked
    return (
        f"{card.n_changes:,} caught, by {percent(part)} of the {waste.n_looked:,} visits that could find one"
    )


def _delay(card: Card) -> str:
    late = card.delay
    if late is None:
        return f"too little to judge: fewer than {FEW_CHANGES} changes were found"
    bounds = (
        ""
        if late.n_exact == late.n_changes
        else (f" (between {span(late.mean_least_s)} and {span(late.mean_most_s)})")
    )
    exact = f"; {late.n_exact:,} of {late.n_changes:,} say their own time" if late.n_exact else ""
    return f"{span(late.mean_s)} in the mean{bounds}, for half of them at most {span(late.median_s)}{exact}"


def _wasted(card: Card) -> str:
    waste = card.waste
    if not waste.n_looked:
        return "no visit could find a change yet"
    text = f"{waste.n_nothing:,} visits found nothing ({percent(waste.n_nothing / waste.n_looked)})"
    if waste.n_forecast:
        of = "" if waste.n_forecast == waste.n_looked else f" of {waste.n_forecast:,} with a forecast"
        text += (
            f"; {count(waste.expected)}{of} were expected to; {waste.n_unlikely:,} had a chance of "
            f"{percent(UNLIKELY)} at most"
        )
    return text


def _missed(card: Card) -> list[tuple[str, str]]:
    lost = card.missed
    if lost is None:
        few = f"too little to judge: fewer than {FEW_CHANGES} changes were found, or nothing was forecast"
        return [("missed", few)]
    lines = []
    if lost.n_found:
        caught, least, most = (percent(part) for part in lost.share_caught)
        about = f"about {count(lost.expected)} [{count(lost.least)} to {count(lost.most)}]"
        lines.append(
            ("missed", f"{about} changes, followed by another; {caught} [{least} to {most}] were caught")
        )
    if lost.n_crowded:
        found = f"{lost.n_crowded:,} changes were found where every visit finds one"
        lines.append(("crowded", f"{found}; at least {count(lost.crowded_least)} more were missed there"))
    return lines


def foretold(card: Card) -> str:
    good = card.calibration
    if good is None:
        return (
            f"too little to judge: fewer than {FEW_FORECASTS} visits came at the time of a plan whose "
            "forecast was kept"
        )
    return (
        f"{verdict(good)}: {percent(good.forecast)} said, {percent(good.happened)} "
        f"[{percent(good.least)} to {percent(good.most)}] happened; {share(good.error)} off in the mean; "
        f"Brier {good.brier:.3f} ({good.brier_of_share:.3f} by the share alone), log-loss {good.log_loss:.3f}"
    )


def verdict(good: Calibration) -> str:
    if good.forecast < good.least:
        return "too low"
    return "too high" if good.forecast > good.most else "right on the whole"


def compared(card: Card) -> str:
    if not card.rivals:
        return f"too little to judge: fewer than {FEW_VISITS} visits to resources with a forecast"
    name, figure = _OF_GOAL.get(card.rule.partition(":")[2], _OF_GOAL["fresh"])
    ours, even, best = (figure(rival) for rival in card.rivals)
    return f"{name} {ours}; uniform visits {even}, the best that known rates allow {best}"


# what a goal is about
_OF_GOAL: Mapping[str, tuple[str, Callable[[Rival], str]]] = {
    "fresh": ("freshness", lambda rival: share(rival.freshness)),
    "fresh-harmonic": ("freshness", lambda rival: share(rival.freshness)),
    "capture": ("recall", lambda rival: share(rival.recall)),
    "prompt": ("mean wait", lambda rival: span(rival.wait_s)),
}


def _hosts(card: Card) -> str:
    return f"{card.n_troubled:,} in trouble" if card.n_troubled else "none in trouble"


def percent(value: float) -> str:
    return "-" if isnan(value) else f"{100.0 * value:.0f} %" if value >= 0.0995 else f"{100.0 * value:.2g} %"


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
