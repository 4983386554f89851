from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from recrawl.errors import BadSettingError
from recrawl.model import DAY_S, HOUR_S, Floats, Ints
from recrawl.simulate.blocks import Piece, block_size
from recrawl.simulate.processes import Bred, Bursty, Daily, Law, Periodic, Poisson, Weekly
from recrawl.simulate.rates import Gamma, Kinds, Lognormal, Rates, trigamma
from recrawl.simulate.recipes import Ingredient, Kin, Recipe, Shared, Text
from recrawl.simulate.texts import words_of
from recrawl.simulate.worlds import Quarter, World, world_from

START_AT = 1_514_764_800.0  # a Monday
DAYS = 200
POISSON = Ingredient(law=Poisson(0.2))


def recipe(*ingredients: Ingredient, days: float = DAYS, **more: object) -> Recipe:
    made = Recipe(ingredients=ingredients or (POISSON,), start_at=START_AT, end_at=START_AT + days * DAY_S)
    return replace(made, **more)  # type: ignore[arg-type]


def piece(made: Recipe, n: int, seed: int = 1) -> Piece:
    return next(World([Quarter(made, n)], seed=seed).pieces(n))


def columns(of: Piece) -> dict[str, Any]:
    traces = {field.name: getattr(of.traces, field.name) for field in fields(of.traces)}
    rest = {field.name: getattr(of, field.name) for field in fields(of) if field.name != "traces"}
    return {**traces, **rest.pop("features"), **rest}


def assert_same(one: Piece, other: Piece) -> None:
    for name, column in columns(one).items():
        assert np.array_equal(column, columns(other)[name], equal_nan=name == "per_day"), name


def daily(of: Piece, days: float = DAYS) -> Ints:
    """Changes of each resource, day by day."""
    traces = of.traces
    row = np.repeat(np.arange(len(traces)), traces.n_changes)
    day = np.ceil((traces.at - START_AT) / DAY_S).astype(np.int64) - 1
    return np.bincount(row * int(days) + day, minlength=len(traces) * int(days)).reshape(-1, int(days))


EVERYTHING = recipe(
    Ingredient(law=Bursty(1.0, 0.5, HOUR_S), rates=Lognormal(0.1, 1.0), p_back=0.3, p_late=0.4),
    Ingredient(law=Bred(Weekly(1.0), 0.3, HOUR_S), rates=Gamma(0.2, 1.0), lifetime_s=60 * DAY_S),
    Ingredient(law=Periodic(9 * DAY_S, phase_s=None), share=0.3, p_noisy=0.2),
    Ingredient(law=Daily(9.0, 600.0), share=0.1),
    per_host=7,
    explained=0.2,
    alike=0.2,
    zones_s=(0.0, HOUR_S),
    shared=Shared(1 / 20, 0.5, spread=0.5),
    kin=Kin(),
)


def everything(seed: int = 1) -> World:
    return World([Quarter(EVERYTHING, 600), Quarter(recipe(per_host=4), 30)], seed=seed)


def test_a_world_is_the_same_however_many_resources_are_read_at_a_time() -> None:
    whole = next(everything().pieces(630))
    assert len(whole.traces) == len(everything()) == 630
    for n in (1, 100, 504, 599, 630, 5000):
        done = 0
        for part in everything().pieces(n):
            assert len(part.traces) == min(n, 630 - done)
            assert_same(part, whole.pick(np.arange(done, done + len(part.traces))))
            done += len(part.traces)
        assert done == 630


def test_a_larger_world_begins_with_the_smaller_one() -> None:
    small = piece(EVERYTHING, 520)
    large = piece(EVERYTHING, 1200)
    assert block_size(EVERYTHING) < 520  # the smaller one ends within a block
    assert_same(small, large.pick(np.arange(520)))


def test_the_seed_decides() -> None:
    assert_same(next(everything().pieces(630)), next(everything().pieces(630)))
    assert not np.array_equal(everything(1).traces().at[:50], everything(2).traces().at[:50])


def test_quarters_have_hosts_numbers_and_addresses_of_their_own() -> None:
    traces = everything().traces()
    assert np.array_equal(np.unique(traces.host), np.arange(86 + 8))
    assert traces.host[600] == 86
    assert len(set(traces.url)) == 630
    assert traces.url[600].startswith("https://h86.test/")


def test_events_lie_on_the_clocks_steps_once_each_within_their_lives() -> None:
    traces = piece(replace(EVERYTHING, resolution_s=2 * HOUR_S), 500).traces
    assert np.all(traces.at % (2 * HOUR_S) == 0)
    assert np.all(traces.at <= EVERYTHING.end_at)
    for i in range(len(traces)):
        own = traces.of(i)
        assert np.all(np.diff(own) > 0)
        assert np.all(own > traces.born_at[i])


KINDS = Kinds(days=(300.0, 30.0, 2.0), shares=(0.5, 0.3, 0.2))


@pytest.mark.parametrize("rates", [Lognormal(0.1, 1.2), Gamma(0.1, 0.8), KINDS])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_features_explain_the_share_of_the_rates_that_was_asked_for(rates: Rates, share: float) -> None:
    made = piece(recipe(Ingredient(law=Poisson(1.0), rates=rates), days=1.0, explained=share), 8000)
    table = [
        np.ones(8000),
        made.features["depth"],
        *(np.log(made.features[f]) for f in ("links", "bytes", "words")),
    ]
    design, wanted = np.column_stack(table), np.log(made.per_day)
    fitted = design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
    assert np.var(fitted) / np.var(wanted) == pytest.approx(share, abs=0.03)
    if not isinstance(rates, Kinds):
        spread = 1.2 if isinstance(rates, Lognormal) else np.sqrt(trigamma(0.8))
        assert np.std(wanted) == pytest.approx(spread, rel=0.04)


def test_kinds_have_their_rates_and_shares_and_are_not_explained_beyond_what_can_be() -> None:
    def drawn(share: float) -> Floats:
        law = Ingredient(law=Poisson(1.0), rates=KINDS)
        return piece(recipe(law, days=1.0, explained=share), 8000).per_day

    days = 1.0 / drawn(0.6)
    for kind, share in zip(KINDS.days, KINDS.shares, strict=True):
        of_it = np.abs(np.log(days / kind)) < 0.7
        assert of_it.mean() == pytest.approx(share, abs=0.02)
        assert np.std(np.log(days[of_it])) == pytest.approx(KINDS.spread, rel=0.05)
    with pytest.raises(BadSettingError, match=r"ask for at most 0\.75"):
        drawn(0.95)


def test_gamma_rates_keep_their_mean_and_lognormal_ones_their_median() -> None:
    def drawn(rates: Rates) -> Floats:
        return piece(recipe(Ingredient(law=Poisson(1.0), rates=rates), days=1.0, explained=0.2), 8000).per_day

    assert drawn(Gamma(0.3, 2.0)).mean() == pytest.approx(0.3, rel=0.05)
    assert np.median(drawn(Lognormal(0.3, 1.0))) == pytest.approx(0.3, rel=0.05)


def test_trigamma_has_its_known_values() -> None:
    assert [trigamma(x) for x in (1.0, 0.5)] == pytest.approx([np.pi**2 / 6, np.pi**2 / 2], rel=1e-9)


def test_resources_of_a_host_are_as_alike_as_asked() -> None:
    made = piece(recipe(Ingredient(law=Poisson(1.0), rates=Lognormal(0.1, 1.0)), days=1.0, alike=0.4), 8000)
    wanted = np.log(made.per_day).reshape(-1, 10)
    of_hosts = wanted.mean(axis=1).var() - wanted.var(axis=1, ddof=1).mean() / 10
    assert of_hosts == pytest.approx(0.4, abs=0.05)


def test_shared_events_make_a_host_change_together() -> None:
    made = piece(recipe(per_host=5, shared=Shared(0.1, share=0.8, within_s=600.0)), 500)
    found = np.asarray(np.corrcoef(daily(made)))
    host = made.traces.host
    same = (host[:, None] == host) & ~np.eye(500, dtype=bool)
    # Of the 0.28 changes a day, 0.08 are shared, and 0.064 with any given other one.
    assert found[same].mean() == pytest.approx(0.064 / 0.28, abs=0.04)
    assert abs(found[host[:, None] != host].mean()) < 0.01


def test_a_batch_is_over_within_its_minutes_and_leaves_some_out() -> None:
    made = piece(
        recipe(Ingredient(law=Poisson(0.0)), per_host=50, shared=Shared(0.05, share=0.6, within_s=600.0)), 500
    )
    for host in range(10):
        mine = made.traces.pick(made.traces.host == host)
        at = np.sort(mine.at)
        batches = np.split(at, np.flatnonzero(np.diff(at) > 600) + 1)
        alone = [batch for batch in batches if len(batch) <= 50]  # two may overlap
        assert np.mean([len(batch) for batch in alone]) == pytest.approx(30, abs=6)
    assert len(made.traces.at) / 500 == pytest.approx(0.05 * 0.6 * DAYS, rel=0.15)


def test_hosts_batches_may_differ_in_rate() -> None:
    made = piece(
        recipe(Ingredient(law=Poisson(0.0)), per_host=1, shared=Shared(1.0, share=1.0, spread=1.0)), 2000
    )
    rates = np.log(np.maximum(made.traces.n_changes, 1) / DAYS)
    assert np.median(rates) == pytest.approx(0.0, abs=0.08)
    assert rates.std() == pytest.approx(1.0, rel=0.06)


def test_kin_repeat_what_their_leader_does_after_a_while() -> None:
    made = piece(recipe(Ingredient(law=Poisson(0.1)), kin=Kin(share=0.3, p_follow=0.6, lag_s=HOUR_S)), 1000)
    followers = np.flatnonzero(made.follows >= 0)
    assert len(followers) == pytest.approx(300, abs=50)
    assert np.all(made.follows[followers] < followers)
    assert np.all(made.follows[made.follows[followers]] == -1)

    def p_echoed(leaders: Ints) -> float:
        echoed: list[bool] = []
        for follower, leader in zip(followers.tolist(), leaders.tolist(), strict=True):
            at, own = made.traces.of(leader), made.traces.of(follower)
            next_at = np.append(own, np.inf)[np.searchsorted(own, at, "right")]
            echoed.extend(next_at - at < 5 * HOUR_S)
        return float(np.mean(echoed))

    assert p_echoed(made.follows[followers]) == pytest.approx(0.61, abs=0.04)
    assert p_echoed(np.roll(made.follows[followers], 1)) < 0.1
    assert made.traces.n_changes[followers].mean() == pytest.approx(0.16 * DAYS, rel=0.05)


def test_kin_with_a_lag_of_their_own_keep_to_it_and_tell_the_same_stories() -> None:
    kin = Kin(share=0.6, p_follow=1.0, lags_s=(0.0, 2 * DAY_S), p_own=0.0)
    made = piece(recipe(Ingredient(law=Poisson(0.2)), kin=kin, resolution_s=DAY_S), 60)
    text = Text(n_words=30, n_told=20)
    followers = np.flatnonzero(made.follows >= 0).tolist()
    assert {made.lag_s[i] for i in followers} == {0.0, 2 * DAY_S}
    assert not made.lag_s[made.follows < 0].any()
    for i in followers:
        leader, lag_s = int(made.follows[i]), made.lag_s[i]
        at = made.traces.of(leader) + lag_s
        n = int((at <= START_AT + DAYS * DAY_S).sum())
        assert np.array_equal(made.traces.of(i), at[:n])
        theirs, own = (words_of(text, made, row, row, seed=1)[1 : n + 1, 10:] for row in (leader, i))
        assert np.array_equal(theirs, own)
    one, other = (words_of(text, made, row, row, seed=1) for row in np.flatnonzero(made.follows < 0)[:2])
    assert len(np.unique(one[1, 10:])) == 2  # a story says each of its words ten times
    assert not np.array_equal(one[1, 10:], other[1, 10:])


def test_hosts_keep_to_the_hours_of_their_time_zone() -> None:
    ingredient = Ingredient(law=Bred(Weekly(1.0), 0.2, 60.0), rates=Lognormal(3.0, 0.1))
    made = piece(recipe(ingredient, zones_s=(0.0, 8 * HOUR_S)), 200)
    row = np.repeat(np.arange(200), made.traces.n_changes)
    hour = made.traces.at / HOUR_S % 24
    east = made.traces.host[row] % 2 == 1
    assert 12 < np.median(hour[~east]) < 14
    assert 4 < np.median(hour[east]) < 6  # the middle of a working day is one in the afternoon


def test_late_ones_are_born_within_the_span_and_the_short_lived_stop() -> None:
    ingredient = Ingredient(law=Periodic(HOUR_S), p_late=0.5, lifetime_s=5 * DAY_S)
    traces = piece(recipe(ingredient), 4000).traces
    late = traces.born_at > START_AT
    assert late.mean() == pytest.approx(0.5, abs=0.03)
    assert ((traces.born_at[late] - START_AT) / DAY_S).mean() == pytest.approx(DAYS / 2, rel=0.05)
    assert traces.n_changes[~late].mean() == pytest.approx(5 * 24, rel=0.05)


def test_the_loop_can_visit_a_generated_history() -> None:
    traces = piece(recipe(), 30).traces
    world = world_from(traces)
    assert [resource.url for resource in world.resources] == list(traces.url)
    own = traces.of(3)
    assert world.n_changes(3, START_AT, own[1]) == 2
    assert world.version(3, own[1] - 1) == 1
    assert world_from(replace(traces, url=())).resources[3].url == "http://h0.test/3"


LAW: Law = Daily(1.0)


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: Ingredient(law=LAW, share=0.0),
        lambda: Ingredient(law=LAW, p_back=1.1),
        lambda: Ingredient(law=LAW, rates=Lognormal(1.0, 1.0)),
        lambda: recipe(explained=0.6, alike=0.5),
        lambda: recipe(days=0.0),
        lambda: Shared(1.0, share=2.0),
        lambda: Kin(p_follow=-0.1),
        lambda: Text(changed=1.0),
    ],
)
def test_an_impossible_recipe_is_refused_with_what_to_choose(impossible: Callable[[], object]) -> None:
    with pytest.raises(BadSettingError, match="choose one"):
        impossible()
