"""Why a resource is looked at next when it is: the plan's reason, the forecast, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan

import numpy as np

from recrawl.app.budgets import Otherwise
from recrawl.app.build import House
from recrawl.app.everybody import Everybody
from recrawl.app.quantity import iso
from recrawl.app.relatives import Relative, relatives
from recrawl.app.rows import Row, erased_words, number, plan_row, resource_row, visit_row
from recrawl.app.silence import Silence, silence_of
from recrawl.app.spending import free_at
from recrawl.app.watchlist import url_of, watched
from recrawl.contracts import Accountable, Forecasts, Store
from recrawl.learn.credible import interval
from recrawl.model import DAY_S, Erasure, Floats, Hunch, Plan, Resource, Standing, Visit
from recrawl.schedule.reason import reason
from recrawl.terms import Terms, noted_terms

N_POINTS = 61
BEYOND = 1.5  # gaps: so far the curve goes …
FURTHEST = 4.0  # … and up to so far to show where now is
SHARE = 0.9  # of the interval of the rate
TIMES = (1.0, 0.5, 2.0)  # the budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The probability of having changed, by the time since the last visit that told something. The moments
    are NaN where there is none: of whoever was never looked at the time counts from the first look."""

    t_s: Floats
    p_changed: Floats
    since_at: float
    now: float
    due_at: float

    def place_s(self, at: float) -> float:
        """Where a moment is on it; the last place stands for all that is later, NaN for none."""
        return nan if isnan(at - self.since_at) else min(max(at - self.since_at, 0.0), float(self.t_s[-1]))

    def marks(self) -> list[tuple[float, str]]:
        """What is where on it, for people."""
        if isnan(self.since_at):
            return [(0.0, "the first look")]
        found = [(0.0, f"last look {iso(self.since_at)}")]
        end_at = self.since_at + float(self.t_s[-1])
        for at, text in ((self.now, "now"), (self.due_at, f"next visit {iso(self.due_at)}")):
            if isfinite(at):
                found.append((self.place_s(at), f"{text}, later than this shows" if at > end_at else text))
        return sorted(found)

    def row(self) -> Row:
        return {
            "since_at": iso(self.since_at),
            "t_s": [round(t_s, 3) for t_s in self.t_s.tolist()],
            "p_changed": [round(p, 6) for p in self.p_changed.tolist()],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """All that can be said of one resource's next visit."""

    resource: Resource
    standing: Standing
    plan: Plan | None
    last: Visit | None
    erasure: Erasure | None
    now: float
    free_at: float  # when the budget has a visit free; NaN: it has one now
    sentence: str
    curve: Curve
    p_now: float  # that it has changed since the last look
    basis: Mapping[str, float]  # what the forecast rests on, by the names of `Accountable`
    per_day: tuple[float, float]  # the rate lies between these with probability SHARE; NaN: not known
    told_by: str  # the address of whoever told of a change since; empty: nobody
    n_heard: int  # visits of its group that were heard
    terms: Terms | None  # of the last pricing
    otherwise: list[Otherwise]
    silence: Silence | None
    hunches: Sequence[tuple[str, float, Hunch]]  # of the last models, each with its name and when that was
    heeded: bool  # its hunch, by the forecast
    kin: Sequence[Relative]

    def row(self) -> Row:
        low, high = self.per_day
        return {
            **resource_row(self.resource, self.standing, self.plan, self.erasure),
            "free_at": iso(self.free_at),
            "reason": self.sentence,
            "plan": plan_row(self.plan) if self.plan else None,
            "last_visit": visit_row(self.last, self.resource.url, changes=self.resource.effective.changes)
            if self.last
            else None,
            "p_changed_now": number(self.p_now),
            "forecast": self.curve.row(),
            "rests_on": {name: number(value) for name, value in self.basis.items()},
            "changes_per_day": {"share": SHARE, "low": number(low), "high": number(high)},
            "first_sight": {
                "at": iso(self.standing.sight_at),
                "changes_per_day": number(self.standing.hunch_per_day),
                "gap_s": number(self.standing.hunch_gap_s),
                "heeded": self.heeded,
                "models": [
                    {"model": name, "at": iso(at), "changes_per_day": number(one.per_day)}
                    for name, at, one in self.hunches
                ],
            },
            "told_at": iso(self.standing.told_at),
            "told_by": self.told_by or None,
            "kin": [
                {"url": one.url, "weight": number(one.weight), "told_at": iso(one.told_at)}
                for one in self.kin
            ],
            "group_visits_heard": self.n_heard,
            "in_the_long_run": [
                {
                    "times_the_budget": one.times,
                    "gap_s": number(one.gap_s),
                    "price": number(one.price),
                    "full_host": one.full,
                    "resources_asked": one.n_asked,
                    "error": round(one.error, 4),
                }
                for one in self.otherwise
            ],
            "silence": self.silence.row() if self.silence else None,
        }


def account(house: House, url: str, everybody: Everybody | None = None) -> Account:
    """Of a watched resource; nothing is changed by asking. Whoever keeps `everybody` is answered sooner, by
    what was believed of the others then."""
    store, now = house.store, house.clock.now()
    resource = watched(store, url)
    standing, plan = store.standing(resource.id)
    erasure = next(iter(store.erasures(resource.url)), None)
    everybody = everybody or Everybody(house)
    beliefs = everybody.of_group(resource.host_id)
    one = beliefs.one(resource, standing)
    # asked before the group is heard, as of all others: a list of who is silent cannot wait for every group,
    # and neither can a plan for all
    silence = silence_of(beliefs, resource, standing, one, now)
    otherwise = everybody.gaps(resource.id, TIMES)
    n_heard = beliefs.hear(everybody.batch, resource.host_id)
    forecast = beliefs.predictor.forecast(one, now)
    basis: dict[str, float] = {}
    if isinstance(beliefs.predictor, Accountable):
        columns = beliefs.predictor.account(one, now)
        basis = {name: float(column[0]) for name, column in columns.items()}
    rate = (nan, nan)
    if isfinite(basis.get("shape", nan)) and "evidence_s" in basis:
        low, high = interval(basis["shape"], basis["evidence_s"], SHARE)
        rate = (low * DAY_S, high * DAY_S)
    heeded = beliefs.heeds_hunches and isfinite(standing.hunch_per_day)
    told = standing if heeded else replace(standing, hunch_per_day=nan)  # no reason what was not heeded
    paused, passed_s = resource.effective.paused, np.array([max(now - standing.since_at, 0.0)])
    return Account(
        resource=resource,
        standing=standing,
        plan=plan,
        last=next(store.visits(resource.id, 1), None),
        erasure=erasure,
        now=now,
        free_at=free_at(house, now),
        sentence=sentence(store, resource, told, plan, erasure),
        curve=_curve(forecast, standing, nan if plan is None or paused else standing.due_at, now),
        p_now=nan if isnan(standing.since_at) else 1.0 - float(forecast.survival(passed_s)[0]),
        basis=basis,
        per_day=rate,
        told_by=url_of(store, standing.told_by) if standing.told_by else "",
        n_heard=n_heard,
        terms=beliefs.terms,
        otherwise=otherwise,
        silence=silence,
        hunches=store.hunches_of(resource.id),
        heeded=heeded,
        kin=relatives(store, resource.id, standing.since_at),
    )


def sentence(
    store: Store, resource: Resource, standing: Standing, plan: Plan | None, erasure: Erasure | None
) -> str:
    """Why it is looked at next when it is."""
    said = resource.effective
    if not said.paused:
        if plan is None:
            return "Nothing is planned for it."
        terms = noted_terms(store)
        by_size = terms is not None and terms.mix > 0.0
        scarce = "its host" if full_host(terms, resource) else "the budget"
        return reason(
            plan,
            standing,
            said.changes,
            weight=said.weight,
            by_size=by_size,
            scarce=scarce,
            bounds_s=(said.min_gap_s, said.max_gap_s),
        )
    paused = "Paused: it is not looked at until `recrawl resume`"
    return f"{paused}." if erasure is None else f"{paused}; {erased_words(erasure)}."


def full_host(terms: Terms | None, resource: Resource) -> bool:
    """Whether its host has less room than the budget."""
    return terms is not None and isfinite(terms.price) and str(resource.host_id) in terms.dear


def _curve(forecast: Forecasts, standing: Standing, due_at: float, now: float) -> Curve:
    known = [gap for gap in (standing.gap_s, due_at - standing.since_at) if isfinite(gap) and gap > 0.0]
    gap_s = max(known) if known else DAY_S * 7
    passed_s = now - standing.since_at
    end_s = BEYOND * gap_s
    if passed_s < FURTHEST * gap_s:
        end_s = max(end_s, 1.05 * passed_s)
    t_s = np.linspace(0.0, end_s, N_POINTS)
    p = 1.0 - forecast.survival(t_s[:, None])[:, 0]
    return Curve(t_s=t_s, p_changed=p, since_at=standing.since_at, now=now, due_at=due_at)
