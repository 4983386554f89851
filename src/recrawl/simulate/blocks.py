"""Worlds are drawn block by block: some whole hosts at a time, each block from a seed of its own.

What lies in a block depends on the recipe, the seed and the block's number alone: neither on the size of the
world nor on how many resources somebody reads at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from recrawl.model import Bools, Floats, Ints
from recrawl.model.columns import Bits
from recrawl.simulate.contents import contents
from recrawl.simulate.processes import Bred, Clocked, Dying, Law, Periodic, Poisson, Rated, Weekly
from recrawl.simulate.processes.columns import bounds_of
from recrawl.simulate.rates import features
from recrawl.simulate.recipes import Kin, Recipe, Shared
from recrawl.simulate.sights import sights
from recrawl.simulate.traces import Traces, picked

_ABOUT = 256  # resources in a block


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some resources of a generated world, with what nobody could know who only looks at them."""

    traces: Traces
    ingredient: Ints  # of the recipe
    per_day: Floats  # the rate drawn for it; NaN where its law has its own
    features: dict[str, Ints]
    follows: Ints  # the leader's number in the world, or -1
    lag_s: Floats  # how long after it; 0 where nobody is followed, or none for good
    content: Ints  # after each event
    noise: Bools  # of each event: it means nothing

    def pick(self, rows: Ints) -> Piece:
        _, taken = picked(self.traces.bounds, rows)
        return Piece(
            traces=self.traces.pick(rows),
            ingredient=self.ingredient[rows],
            per_day=self.per_day[rows],
            features={name: column[rows] for name, column in self.features.items()},
            follows=self.follows[rows],
            lag_s=self.lag_s[rows],
            content=self.content[taken],
            noise=self.noise[taken],
        )


def block_size(recipe: Recipe) -> int:
    return recipe.per_host * max(1, _ABOUT // recipe.per_host)


def block(recipe: Recipe, rng: np.random.Generator) -> Piece:
    """A block's resources and events; hosts are numbered from 0 and digests are left to the world."""
    n = block_size(recipe)
    host = np.arange(n) // recipe.per_host
    share = np.array([ingredient.share for ingredient in recipe.ingredients])
    which = rng.choice(len(recipe.ingredients), size=n, p=share / share.sum())
    table, known = sights(n, rng) if recipe.sighted else features(n, rng)
    alike = rng.standard_normal(host[-1] + 1)[host]
    told = recipe.explained + recipe.alike
    if told:
        known = (np.sqrt(recipe.explained) * known + np.sqrt(recipe.alike) * alike) / np.sqrt(told)
    born_at, stop_at = _lives(recipe, which, rng)
    zone_s = np.array(recipe.zones_s)[host % len(recipe.zones_s)]
    per_day = np.full(n, np.nan)
    rows: list[Ints] = []
    times: list[Floats] = []
    for number, ingredient in enumerate(recipe.ingredients):
        mine = np.flatnonzero(which == number)
        law = ingredient.law
        if ingredient.rates is not None:
            per_day[mine] = ingredient.rates.draw(known[mine], told, rng)
            law = cast(Rated, law).at_rates(per_day[mine])  # the recipe has seen to it
        bounds, at = _zoned(law, zone_s[mine]).draw(born_at[mine], stop_at[mine], rng)
        rows.append(np.repeat(mine, np.diff(bounds)))
        times.append(at)
    row, at = np.concatenate(rows), np.concatenate(times)
    if recipe.shared is not None:
        row, at = _with(row, at, *_together(recipe, recipe.shared, rng))
    follows, lag_s = np.full(n, -1, dtype=np.int64), np.zeros(n)
    if recipe.kin is not None:
        follows = _leaders(recipe.kin, n, rng)
        if recipe.kin.lags_s:
            lag_s = np.where(follows >= 0, rng.choice(recipe.kin.lags_s, n), 0.0)
        if recipe.kin.p_own < 1.0:
            stay = (follows[row] < 0) | (rng.random(len(row)) < recipe.kin.p_own)
            row, at = row[stay], at[stay]
        row, at = _with(row, at, *_repeated(recipe.kin, follows, lag_s, row, at, rng))
    row, at, noise = _settled(recipe, which, born_at, stop_at, row, at, rng)
    bounds = bounds_of(np.bincount(row, minlength=n))
    p_back = np.array([ingredient.p_back for ingredient in recipe.ingredients])[which]
    noisy = np.zeros(n, dtype=bool)
    noisy[row[noise]] = True  # its digest would not be the old one, whatever the content
    back = (rng.random(len(row)) < p_back[row]) & ~noisy[row]
    return Piece(
        traces=Traces(
            born_at=born_at,
            bounds=bounds,
            at=at,
            digest=np.zeros(len(at), dtype=np.uint64),
            first_digest=np.zeros(n, dtype=np.uint64),
            host=host,
            weight=np.ones(n),
        ),
        ingredient=which,
        per_day=per_day,
        features=table,
        follows=follows,
        lag_s=lag_s,
        content=contents(bounds, back),
        noise=noise,
    )


def joined(pieces: list[Piece]) -> Piece:
    """One after the other."""
    if len(pieces) == 1:
        return pieces[0]
    traces = [piece.traces for piece in pieces]

    def column(name: str) -> Floats:
        return np.concatenate([getattr(one, name) for one in traces])

    digest: Bits = np.concatenate([one.digest for one in traces])
    return Piece(
        traces=Traces(
            born_at=column("born_at"),
            bounds=bounds_of(np.concatenate([one.n_changes for one in traces])),
            at=column("at"),
            digest=digest,
            first_digest=np.concatenate([one.first_digest for one in traces]),
            host=np.concatenate([one.host for one in traces]),
            weight=column("weight"),
            url=[url for one in traces for url in one.url],
        ),
        ingredient=np.concatenate([piece.ingredient for piece in pieces]),
        per_day=np.concatenate([piece.per_day for piece in pieces]),
        features={
            name: np.concatenate([piece.features[name] for piece in pieces]) for name in pieces[0].features
        },
        follows=np.concatenate([piece.follows for piece in pieces]),
        lag_s=np.concatenate([piece.lag_s for piece in pieces]),
        content=np.concatenate([piece.content for piece in pieces]),
        noise=np.concatenate([piece.noise for piece in pieces]),
    )


def _of_each(recipe: Recipe, which: Ints, name: str) -> Floats:
    return np.array([float(getattr(ingredient, name)) for ingredient in recipe.ingredients])[which]


def _lives(recipe: Recipe, which: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """When each is born, and when its last change may come."""
    late = rng.random(len(which)) < _of_each(recipe, which, "p_late")
    span_s = recipe.end_at - recipe.start_at
    born_at = recipe.start_at + np.where(late, span_s * rng.random(len(which)), 0.0)
    step_s = recipe.resolution_s
    born_at = np.maximum(np.floor(born_at / step_s) * step_s, recipe.start_at)
    lifetime_s = rng.standard_exponential(len(which)) * _of_each(recipe, which, "lifetime_s")
    return born_at, np.minimum(born_at + lifetime_s, recipe.end_at)


def _zoned(law: Law, zone_s: Floats) -> Law:
    """The same by the local clocks."""
    if isinstance(law, Weekly | Clocked):
        return replace(law, zone_s=zone_s)
    if isinstance(law, Bred | Dying):
        return replace(law, of=cast(Rated, _zoned(law.of, zone_s)))
    return law


def _with(row: Ints, at: Floats, more_row: Ints, more_at: Floats) -> tuple[Ints, Floats]:
    return np.concatenate([row, more_row]), np.concatenate([at, more_at])


def _together(recipe: Recipe, shared: Shared, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """What happens to whole hosts: every event, to each resource that it hits."""
    n_hosts = block_size(recipe) // recipe.per_host
    per_day = shared.per_day * np.exp(shared.spread * rng.standard_normal(n_hosts))
    bounds, at = Poisson(per_day).draw(
        np.full(n_hosts, recipe.start_at), np.full(n_hosts, recipe.end_at), rng
    )
    host = np.repeat(np.arange(n_hosts), np.diff(bounds))
    event, member = np.nonzero(rng.random((len(at), recipe.per_host)) < shared.share)
    late_s = shared.within_s * rng.random(len(event))
    return host[event] * recipe.per_host + member, at[event] + late_s


def _leaders(kin: Kin, n: int, rng: np.random.Generator) -> Ints:
    """Whom each follows, or -1: somebody before it who follows nobody, so that a shorter world has it too."""
    alone = rng.random(n) >= kin.share
    alone[0] = True
    leaders = np.flatnonzero(alone)
    before = np.cumsum(alone)
    chosen = leaders[(before * rng.random(n)).astype(np.int64)]
    return np.where(alone, -1, chosen).astype(np.int64)


def _repeated(
    kin: Kin, follows: Ints, lag_s: Floats, row: Ints, at: Floats, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """The leaders' events once more, at those who follow."""
    order = np.argsort(row, kind="stable")
    bounds = bounds_of(np.bincount(row, minlength=len(follows)))
    followers = np.flatnonzero(follows >= 0)
    sizes, taken = picked(bounds, follows[followers])
    kept = rng.random(len(taken)) < kin.p_follow
    again = np.repeat(followers, np.diff(sizes))[kept]
    later_s = lag_s[again] if kin.lags_s else rng.exponential(kin.lag_s, len(again))
    return again, at[order[taken[kept]]] + later_s


def _settled(
    recipe: Recipe,
    which: Ints,
    born_at: Floats,
    stop_at: Floats,
    row: Ints,
    at: Floats,
    rng: np.random.Generator,
) -> tuple[Ints, Floats, Bools]:
    """Events within their resources' lives, noise among them, on the clock's steps, one at a time."""
    lived = (at > born_at[row]) & (at <= stop_at[row])
    row, at = row[lived], at[lived]
    mine = np.flatnonzero(rng.random(len(which)) < _of_each(recipe, which, "p_noisy"))
    every = Periodic(_of_each(recipe, which, "noise_s")[mine], phase_s=None)
    bounds, noise_at = every.draw(born_at[mine], np.full(len(mine), recipe.end_at), rng)
    noise = np.arange(len(row) + len(noise_at)) >= len(row)
    row, at = _with(row, at, np.repeat(mine, np.diff(bounds)), noise_at)
    at = np.ceil(at / recipe.resolution_s) * recipe.resolution_s
    order = np.lexsort((noise, at, row))
    order = order[(at[order] > born_at[row[order]]) & (at[order] <= recipe.end_at)]
    row, at, noise = row[order], at[order], noise[order]
    kept = np.ones(len(row), dtype=bool)
    kept[1:] = (np.diff(row) > 0) | (np.diff(at) > 0)  # of one moment the first: no noise, where it can be
    return row[kept], at[kept], noise[kept]
