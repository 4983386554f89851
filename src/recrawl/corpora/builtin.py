"""Corpora that need no data at hand: worlds drawn from recipes, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from recrawl.corpora.about import About
from recrawl.corpora.kitchen import (
    DISHES,
    MIX_RESOLUTION_S,
    MIX_RESOURCES,
    MIX_SHARES,
    MIX_TITLE,
    MIX_YEARS,
    YEAR_S,
)
from recrawl.errors import BadInputError
from recrawl.simulate.traces import Traces
from recrawl.simulate.worlds import Quarter, World

MIX = "mix"
BUILTIN: Mapping[str, str] = MappingProxyType(
    {**{name: dish.title for name, dish in DISHES.items()}, MIX: MIX_TITLE}
)
_START_AT = 1_514_764_800.0  # 2018-01-01, a Monday


class Builtin:
    """A generated corpus; it is read like one from a folder, and nothing in it is ever skipped."""

    def __init__(self, about: About, world: World) -> None:
        self.about = about
        self.world = world
        self.skipped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.world)

    @property
    def has_texts(self) -> bool:
        """Whether its versions say something; else there are times alone."""
        return any(quarter.recipe.text is not None for quarter in self.world.quarters)

    def traces(self) -> Traces:
        return self.world.traces()

    def chunks(self, n_resources: int) -> Iterator[Traces]:
        return self.world.chunks(n_resources)


def builtin(
    name: str, *, seed: int = 1, n_resources: int | None = None, years: float | None = None
) -> Builtin:
    """The corpus of that name, in its own size or another. Nothing is drawn before it is read."""
    if name not in BUILTIN:
        known = ", ".join(f"builtin:{one}" for one in BUILTIN)
        raise BadInputError(f"There is no built-in corpus {name!r}; use one of {known}.")
    if n_resources is not None and n_resources < 1:
        raise BadInputError("A corpus needs resources; choose at least 1.")
    if years is not None and not 0 < years <= 100:
        raise BadInputError("A corpus spans some years; choose more than 0 and at most 100.")
    if seed < 0:
        raise BadInputError("A seed is a whole number; choose one of at least 0.")
    long = years or (MIX_YEARS if name == MIX else DISHES[name].years)
    hours = max(1, round(long * YEAR_S / 21_600)) * 6  # whole steps of all resolutions
    end_at = _START_AT + hours * 3_600.0
    quarters = _mixed(n_resources, end_at) if name == MIX else _plain(name, n_resources, end_at)
    about = About(
        name=name,
        kind="page" if name == MIX else DISHES[name].kind,
        observation="every-change",
        start_at=_START_AT,
        end_at=end_at,
        title=BUILTIN[name],
        resolution_s=max(quarter.recipe.resolution_s for quarter in quarters),
        licence="CC0-1.0",
        source=f"generated: builtin:{name}, seed {seed}",
    )
    return Builtin(about, World(quarters, seed=seed))


def _plain(name: str, n_resources: int | None, end_at: float) -> list[Quarter]:
    dish = DISHES[name]
    return [Quarter(dish.recipe(_START_AT, end_at), n_resources or dish.n_resources)]


def _mixed(n_resources: int | None, end_at: float) -> list[Quarter]:
    left = n_resources or MIX_RESOURCES
    shares = dict(MIX_SHARES)
    quarters = []
    for name in MIX_SHARES:
        n = round(left * shares[name] / sum(shares.values()))
        del shares[name]
        left -= n
        recipe = DISHES[name].recipe(_START_AT, end_at)
        recipe = replace(recipe, resolution_s=MIX_RESOLUTION_S, text=None, talk=None)
        if n:
            quarters.append(Quarter(recipe, n))
    return quarters
