"""The recipes of the built-in corpora.

Their figures are round ones, of the order that papers about such sources report; none is fitted to data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recrawl.model import DAY_S, HOUR_S
from recrawl.simulate.processes import (
    Ageing,
    Bred,
    Bursty,
    Clocked,
    Drifting,
    Law,
    Periodic,
    Poisson,
    Switching,
    Weekly,
    week_of,
    working_hours,
)
from recrawl.simulate.rates import Gamma, Kinds, Lognormal, Rates
from recrawl.simulate.recipes import Ingredient, Kin, Recipe, Shared, Talk, Text

YEAR_S = 365.25 * DAY_S
_MONTH_S = YEAR_S / 12
_NIGHT, _MORNING = [0.1, 0.1, 0.1, 0.1, 0.2, 0.5], [1.0, 1.4, 1.5, 1.5, 1.5, 1.5]
_AFTERNOON, _EVENING = [1.4, 1.4, 1.5, 1.5, 1.6, 1.6], [1.4, 1.2, 1.0, 0.8, 0.5, 0.3]
_NEWS_DAY = [*_NIGHT, *_MORNING, *_AFTERNOON, *_EVENING]
_FREE_DAY = [*_NIGHT, *([0.8] * 6), *([1.2] * 4), *([1.8] * 6), 1.0, 0.5]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """A built-in corpus: what it is, how large, and what it is made of."""

    title: str
    kind: str
    n_resources: int
    years: float
    recipe: Callable[[float, float], Recipe]  # from when to when


def _wiki(start_at: float, end_at: float) -> Recipe:
    """Articles on some editions, founded over the years: edits in sessions, waves of attention, reverts."""
    rates = Lognormal(1 / 50, 1.6)
    return Recipe(
        ingredients=(
            Ingredient(share=0.5, law=Bursty(1.0, 0.6, HOUR_S), rates=rates, p_late=0.5, p_back=0.07),
            Ingredient(
                share=0.35,
                law=Bred(Switching(1.0, times=15.0, slow_s=120 * DAY_S, fast_s=7 * DAY_S), 0.4, HOUR_S),
                rates=rates,
                p_late=0.5,
                p_back=0.1,
            ),
            Ingredient(
                share=0.15, law=Bred(Drifting(1.0, 0.6), 0.4, HOUR_S), rates=rates, p_late=0.5, p_back=0.05
            ),
        ),
        start_at=start_at,
        end_at=end_at,
        per_host=25,
        explained=0.3,
    )


def _news(start_at: float, end_at: float) -> Recipe:
    """Front and section pages of sites in some time zones: days, weeks, and stories that others take up."""
    rhythm = Bred(Weekly(1.0, week_of(_NEWS_DAY, weekend=0.6)), 0.3, HOUR_S)
    return Recipe(
        ingredients=(
            Ingredient(share=0.25, law=rhythm, rates=Lognormal(8.0, 0.4)),
            Ingredient(share=0.6, law=rhythm, rates=Lognormal(2.5, 0.7)),
            Ingredient(share=0.15, law=Weekly(1.0), rates=Lognormal(0.25, 0.8)),
        ),
        start_at=start_at,
        end_at=end_at,
        per_host=8,
        explained=0.4,
        alike=0.2,
        zones_s=(0.0, HOUR_S, 2 * HOUR_S, -5 * HOUR_S),
        shared=Shared(1 / 90, share=0.9, within_s=4 * HOUR_S),
        kin=Kin(share=0.35, p_follow=0.4, lag_s=2 * HOUR_S),
        text=Text(n_words=60, changed=0.25),
        resolution_s=2 * HOUR_S,
    )


def _data(start_at: float, end_at: float) -> Recipe:
    """Files of open data portals: batches, timetables, a slow tail, and files that nobody keeps up."""
    return Recipe(
        ingredients=(
            _file(0.1, Periodic(DAY_S, HOUR_S, phase_s=None)),
            _file(0.12, Periodic(7 * DAY_S, DAY_S, phase_s=None)),
            _file(0.13, Periodic(_MONTH_S, 3 * DAY_S, phase_s=None, drift_s=DAY_S)),
            _file(0.15, Weekly(1.0, working_hours()), Gamma(1 / 20, 1.0)),
            _file(0.5, Poisson(1.0), Lognormal(1 / 300, 1.2)),
        ),
        start_at=start_at,
        end_at=end_at,
        per_host=15,
        explained=0.2,
        alike=0.3,
        shared=Shared(1 / 90, share=0.6, within_s=600.0, spread=1.3),
        resolution_s=60.0,
    )


def _file(share: float, law: Law, rates: Rates | None = None) -> Ingredient:
    return Ingredient(share=share, law=law, rates=rates, p_late=0.4, lifetime_s=4 * YEAR_S)


def _policies(start_at: float, end_at: float) -> Recipe:
    """Terms and policies of services: slow; some flap between two contents, some differ at every look."""
    return Recipe(
        ingredients=(
            Ingredient(share=0.75, law=Poisson(1.0), rates=Lognormal(1 / 150, 1.1), p_back=0.1),
            Ingredient(
                share=0.12,
                law=Switching(1.0, times=50.0, slow_s=90 * DAY_S, fast_s=10 * DAY_S),
                rates=Lognormal(1 / 15, 0.8),
                p_back=0.95,
            ),
            Ingredient(share=0.08, law=Drifting(1.0), rates=Lognormal(1 / 60, 1.0), p_back=0.2),
            Ingredient(
                share=0.05, law=Poisson(1.0), rates=Lognormal(1 / 150, 1.1), p_noisy=1.0, noise_s=DAY_S
            ),
        ),
        start_at=start_at,
        end_at=end_at,
        per_host=3,
        explained=0.2,
        alike=0.3,
        shared=Shared(1 / 400, share=0.8, within_s=DAY_S),
        text=Text(n_words=150, changed=0.08),
        resolution_s=6 * HOUR_S,
    )


def _threads(start_at: float, end_at: float) -> Recipe:
    """Threads on some boards, which wake and sleep: most fade within days, few go on for months, answers come
    in bursts."""
    week = week_of(_FREE_DAY, weekend=1.3)
    return Recipe(
        ingredients=(
            Ingredient(
                share=0.8,
                law=Clocked(Bred(Ageing(1.0, 4 * DAY_S), 0.6, 2 * HOUR_S), week),
                rates=Lognormal(2.0, 1.1),
                p_late=0.97,
            ),
            Ingredient(
                share=0.2,
                law=Clocked(Bred(Ageing(1.0, 60 * DAY_S), 0.8, 2 * HOUR_S), week),
                rates=Lognormal(1.5, 1.0),
                p_late=0.9,
            ),
        ),
        start_at=start_at,
        end_at=end_at,
        per_host=50,
        explained=0.1,
        alike=0.1,
        talk=Talk(),
        resolution_s=60.0,
    )


def _pages(start_at: float, end_at: float) -> Recipe:
    """Pages of many sites, made anew every day, every few days, every month or hardly ever; their
    look tells much of it."""
    kinds = Kinds(days=(1_000.0, 31.0, 3.0, 0.7), shares=(0.35, 0.2, 0.2, 0.25))
    return Recipe(
        ingredients=(Ingredient(law=Poisson(1.0), rates=kinds),),
        start_at=start_at,
        end_at=end_at,
        per_host=32,
        explained=0.6,
        sighted=True,
        resolution_s=HOUR_S,
    )


def _kin(start_at: float, end_at: float) -> Recipe:
    """Pages that tell the stories of others, at once or a day later, beside some of their own."""
    return Recipe(
        ingredients=(Ingredient(law=Bursty(1.0, 0.3, 0.5 * DAY_S), rates=Lognormal(0.4, 0.2)),),
        start_at=start_at,
        end_at=end_at,
        kin=Kin(share=0.9, p_follow=0.95, lags_s=(0.0, DAY_S), p_own=0.3),
        text=Text(n_words=60, changed=0.02, n_known=1_000, n_told=40),
        resolution_s=DAY_S,
    )


DISHES = {
    "wiki": Dish(
        title="Articles of a wiki: every edit",
        kind="page",
        n_resources=500,
        years=6.5,
        recipe=_wiki,
    ),
    "news": Dish(
        title="News front and section pages, seen every two hours",
        kind="page",
        n_resources=160,
        years=0.35,
        recipe=_news,
    ),
    "data": Dish(
        title="Open data files that change in batches, by timetables, seldom or no more",
        kind="data",
        n_resources=300,
        years=5.0,
        recipe=_data,
    ),
    "policies": Dish(
        title="Terms and policies: slow pages, flapping ones and noisy ones",
        kind="page",
        n_resources=300,
        years=4.0,
        recipe=_policies,
    ),
    "threads": Dish(
        title="Discussion threads: every post",
        kind="thread",
        n_resources=1500,
        years=3.0,
        recipe=_threads,
    ),
    "pages": Dish(
        title="Pages whose look tells how often they change: what a first visit shows is known",
        kind="page",
        n_resources=2_400,
        years=1.0,
        recipe=_pages,
    ),
    "kin": Dish(
        title="Pages that tell the stories of others, some a day later: whose kin are known",
        kind="page",
        n_resources=200,
        years=0.5,
        recipe=_kin,
    ),
}
MIX_TITLE = "A bit of all the others"
MIX_YEARS = 2.0
MIX_SHARES = {"wiki": 0.25, "news": 0.1, "data": 0.2, "policies": 0.2, "threads": 0.25}
MIX_RESOURCES = 800
MIX_RESOLUTION_S = HOUR_S
